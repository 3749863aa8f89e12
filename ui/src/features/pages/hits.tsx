import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { List } from "~/components/list";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import type { BankId, NodeId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

/** As many as the engine gives at most. */
const MOST = 50;

/** Pages that the words name or that mean the same, best first. */
export function Hits({
  bank,
  query,
  active,
  onNode,
  onLook,
  onClear,
}: {
  bank: BankId;
  query: string;
  active: NodeId | null;
  onNode: (id: NodeId, pressed: boolean) => void;
  /** Enter on the chosen one. */
  onLook: () => void;
  onClear: () => void;
}) {
  const hits = useRead("searchPages", [bank, query, MOST], { keepPrevious: true });
  const words = strings.noHits;
  if (hits.error)
    return (
      <div className="p-4">
        <ReportCard report={hits.error} onRetry={() => void hits.refetch()} />
      </div>
    );
  if (!hits.data) return <SkeletonRows height="3.25rem" />;
  if (hits.data.length === 0)
    return (
      <Empty title={words.title} actions={<Button onClick={onClear}>{words.clear}</Button>}>
        <p>{words.about}</p>
      </Empty>
    );
  return (
    <List
      label={strings.hits}
      items={hits.data}
      idOf={({ id }) => id}
      active={active}
      onActive={({ id }, pressed) => onNode(id, pressed)}
      onOpen={onLook}
      rowHeight={3.25}
    >
      {({ name, snippet }) => (
        <div className="px-4 py-2">
          <p className="truncate font-medium">{name}</p>
          <p className="type-small truncate text-muted">{snippet}</p>
        </div>
      )}
    </List>
  );
}
