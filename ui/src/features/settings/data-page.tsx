import { useState } from "react";
import { Badge } from "~/components/badge";
import { Button } from "~/components/button";
import { CopyButton } from "~/components/copy-button";
import { ReportCard } from "~/components/report";
import { Shown } from "~/components/shown";
import { say } from "~/components/toast";
import { plural, size } from "~/lib/format";
import type { BankId, BankRow } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { Card, Row } from "./card";
import { RemoveBank } from "./remove-bank";
import { strings } from "./strings";

const words = strings.data;

/** Where the data lies, how much there is, and the banks in it. */
export function DataPage({ bank: current }: { bank: BankId }) {
  const folder = useRead("dataFolder", []);
  const status = useRead("appStatus", []).data;
  const listed = useRead("listBanks", []);
  const banks = listed.data ?? [];
  const restore = useWrite("restoreSample");
  const [removing, setRemoving] = useState<BankRow | null>(null);
  const bringBack = () => restore.mutate([], { onSuccess: () => say(words.restored) });
  return (
    <>
      {folder.error && <ReportCard report={folder.error} onRetry={() => void folder.refetch()} />}
      {folder.data && (
        <Card title={words.file}>
          <Row
            title={words.folder}
            about={<span className="type-code select-text break-all">{folder.data.path}</span>}
          >
            <CopyButton size="small" text={() => folder.data.path}>
              {words.copy}
            </CopyButton>
          </Row>
          <Row title={words.size}>
            <span className="text-muted">{size(Number(folder.data.size))}</span>
          </Row>
        </Card>
      )}
      <Card title={words.banks}>
        {listed.error && (
          <ReportCard className="m-3" report={listed.error} onRetry={() => void listed.refetch()} />
        )}
        <Shown items={banks} className="m-2">
          {(bank) => (
            <Row
              key={bank.id}
              title={
                <span className="flex flex-wrap items-center gap-x-2">
                  {bank.name}
                  {bank.id === current && <Badge kind="accent">{words.open}</Badge>}
                  {bank.id === status?.sample_bank && <Badge>{words.sample}</Badge>}
                </span>
              }
              about={words.banksOf(
                plural(bank.facts, "fact"),
                plural(bank.models, "model"),
                plural(bank.documents, "document"),
              )}
            >
              <Button
                size="small"
                aria-label={words.removeOf(bank.name)}
                onClick={() => setRemoving(bank)}
              >
                {words.remove}
              </Button>
            </Row>
          )}
        </Shown>
        {status?.sample_bank === null && (
          <Row
            title={<span className="text-muted">{words.noSample}</span>}
            about={words.noSampleAbout}
          >
            <Button size="small" disabled={restore.isPending} onClick={bringBack}>
              {words.restore}
            </Button>
          </Row>
        )}
        {restore.error && <ReportCard className="m-3" report={restore.error} onRetry={bringBack} />}
      </Card>
      {removing && (
        <RemoveBank
          bank={removing}
          isSample={removing.id === status?.sample_bank}
          isOpen={removing.id === current}
          onClose={() => setRemoving(null)}
        />
      )}
      {status && (
        <Card title={words.embedder}>
          {status.embedder.problem ? (
            <ReportCard report={status.embedder.problem} className="m-3" />
          ) : (
            <Row title={words.embedderReady(status.embedder.name, status.embedder.dim)} />
          )}
        </Card>
      )}
      <p className="type-small max-w-(--measure) text-pretty text-muted">{words.backup}</p>
    </>
  );
}
