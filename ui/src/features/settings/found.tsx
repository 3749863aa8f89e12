import { RotateCw } from "lucide-react";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import type { EndpointView, FoundServer } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Card, Row } from "./card";
import { strings } from "./strings";

const words = strings.models;

/** Servers that answer on this machine and are not set up yet. */
export function Found({
  endpoints,
  onAdd,
}: {
  endpoints: readonly EndpointView[];
  onAdd: (server: FoundServer) => void;
}) {
  const found = useRead("discoverEndpoints", []);
  const fresh = found.data?.filter(
    ({ base_url }) => !endpoints.some((endpoint) => endpoint.base_url === base_url),
  );
  const again = (
    <Button size="small" icon={RotateCw} onClick={() => void found.refetch()}>
      {words.lookAgain}
    </Button>
  );
  return (
    <Card title={words.found}>
      {found.error && (
        <ReportCard className="m-3" report={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.isFetching ? (
        <p role="status" className="flex min-h-13 items-center gap-2 px-4 text-muted">
          <StateMark mark="turning" tone="accent" />
          {words.searching}
        </p>
      ) : (
        fresh?.length === 0 && (
          <Row title={<span className="text-muted">{words.noneFound}</span>}>{again}</Row>
        )
      )}
      {!found.isFetching &&
        fresh?.map((server) => (
          <Row
            key={server.base_url}
            title={<span className="font-semibold">{server.name}</span>}
            about={
              <>
                <span className="type-code">{server.base_url}</span>
                {" · "}
                {words.models(server.llms.length)}
              </>
            }
          >
            <Button size="small" onClick={() => onAdd(server)}>
              {words.addFound}
            </Button>
          </Row>
        ))}
      {!found.isFetching && (fresh?.length ?? 0) > 0 && (
        <div className="flex justify-end px-4 py-2">{again}</div>
      )}
    </Card>
  );
}
