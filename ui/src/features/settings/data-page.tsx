import { Copy } from "lucide-react";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { say } from "~/components/toast";
import { plural, size } from "~/lib/format";
import { useRead } from "~/platform/cache";
import { Card, Row } from "./card";
import { strings } from "./strings";

const words = strings.data;

/** Where the data lies and how much there is. */
export function DataPage() {
  const folder = useRead("dataFolder", []);
  const status = useRead("appStatus", []).data;
  const banks = useRead("listBanks", []).data ?? [];
  const copy = async (path: string) => {
    await navigator.clipboard.writeText(path);
    say(words.copied);
  };
  return (
    <>
      {folder.error && <ReportCard report={folder.error} onRetry={() => void folder.refetch()} />}
      {folder.data && (
        <Card title={words.file}>
          <Row
            title={words.folder}
            about={<span className="type-code select-text break-all">{folder.data.path}</span>}
          >
            <Button size="small" icon={Copy} onClick={() => void copy(folder.data.path)}>
              {words.copy}
            </Button>
          </Row>
          <Row title={words.size}>
            <span className="text-muted">{size(Number(folder.data.size))}</span>
          </Row>
        </Card>
      )}
      <Card title={words.banks}>
        {banks.map((bank) => (
          <Row
            key={bank.id}
            title={bank.name}
            about={words.banksOf(
              plural(bank.facts, "fact"),
              plural(bank.models, "model"),
              plural(bank.documents, "document"),
            )}
          />
        ))}
      </Card>
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
