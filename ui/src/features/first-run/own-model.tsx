import { Link } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Button } from "~/components/button";
import { Icon } from "~/components/icon";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import type { BankId, FoundServer } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { FirstCard } from "./first-run-screen";
import { strings } from "./strings";

const words = strings.own;

/** What runs on this machine, one way to add another, and leaving it for later. */
export function OwnModel({ bank }: { bank: BankId | null }) {
  const found = useRead("discoverEndpoints", []);
  const save = useWrite("saveEndpoint");
  const choose = useWrite("chooseEndpoint");
  const check = useWrite("checkEndpoint");
  const [later, setLater] = useState(false);
  const use = (server: FoundServer) =>
    save.mutate(
      [
        {
          id: null,
          name: server.name,
          protocol: server.protocol,
          base_url: server.base_url,
          llm: server.llms[0] ?? null,
          key: null,
          key_fallback: null,
        },
      ],
      {
        onSuccess: ({ id }) => {
          choose.mutate([id]);
          check.mutate([id]);
        },
      },
    );
  const report = found.error ?? save.error ?? choose.error ?? check.error;
  if (later)
    return (
      <FirstCard title={words.title}>
        <p className="text-pretty text-muted">{words.laterDone}</p>
      </FirstCard>
    );
  return (
    <FirstCard title={words.title}>
      <p className="text-pretty text-muted">{words.about}</p>
      {report && <ReportCard report={report} />}
      {save.data ? (
        <p role="status" className="flex gap-2">
          <StateMark mark="tick" tone="ok" className="mt-0.5" />
          {words.using(save.data.llm ?? save.data.name)}
        </p>
      ) : (
        <div className="divide-y divide-line">
          {found.isPending && (
            <p role="status" className="flex min-h-10 items-center gap-2 text-muted">
              <StateMark mark="turning" tone="accent" />
              {words.searching}
            </p>
          )}
          {found.data?.length === 0 && (
            <p className="type-small text-pretty pb-2 text-muted">{words.none}</p>
          )}
          {found.data?.map((server) => (
            <div key={server.base_url} className="flex min-h-11 items-center gap-2 py-1">
              <StateMark mark="tick" tone="ok" />
              <div className="min-w-0 flex-1">
                <p className="truncate">{server.name}</p>
                <p className="type-small text-muted">{words.found(server.llms.length)}</p>
              </div>
              <Button size="small" disabled={save.isPending} onClick={() => use(server)}>
                {words.use}
              </Button>
            </div>
          ))}
          {bank && (
            <div className="flex min-h-11 items-center gap-2 py-1">
              <Icon of={KeyRound} className="text-muted" />
              <p className="min-w-0 flex-1">{words.key}</p>
              <Button size="small" asChild>
                <Link to="/b/$bank/settings/{-$page}" params={{ bank, page: "models" }} data-plain>
                  {words.add}
                </Link>
              </Button>
            </div>
          )}
        </div>
      )}
      {!save.data && (
        <div className="flex items-center gap-2">
          <Button kind="plain" size="small" onClick={() => setLater(true)}>
            {words.later}
          </Button>
          <span className="type-small text-muted">{words.laterAbout}</span>
        </div>
      )}
    </FirstCard>
  );
}
