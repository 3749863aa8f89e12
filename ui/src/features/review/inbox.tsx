import { List } from "~/components/list";
import { PaneHead } from "~/components/panes";
import { type Mark, StateWord, type Tone } from "~/components/state";
import { age } from "~/lib/format";
import type { ProposalRow, ProposalState } from "~/platform/bindings";
import { strings } from "./strings";

const looks: Record<ProposalState, { mark: Mark; tone: Tone }> = {
  open: { mark: "diamond", tone: "muted" },
  in_review: { mark: "diamond", tone: "accent" },
  conflicted: { mark: "triangle", tone: "warn" },
  approved: { mark: "tick", tone: "ok" },
  partially_approved: { mark: "tick", tone: "ok" },
  rejected: { mark: "octagon", tone: "muted" },
  superseded: { mark: "dashed", tone: "muted" },
};

/** What waits for a decision, oldest first. */
export function Inbox({
  rows,
  active,
  onActive,
  onOpen,
}: {
  rows: readonly ProposalRow[];
  active: string | null;
  onActive: (row: ProposalRow) => void;
  onOpen: () => void;
}) {
  return (
    <>
      <PaneHead title={strings.waiting} about={rows.length} className="px-3" />
      <List
        label={strings.inbox}
        items={rows}
        idOf={({ id }) => id}
        active={active}
        onActive={onActive}
        onOpen={onOpen}
        rowHeight={4.75}
      >
        {(row) => <InboxRow row={row} />}
      </List>
    </>
  );
}

function InboxRow({ row }: { row: ProposalRow }) {
  const { mark, tone } = looks[row.state];
  return (
    <div className="px-3 pt-2 pb-2.5">
      <p className="flex items-baseline gap-2">
        <span className="type-strong min-w-0 flex-1 truncate">{row.model_name}</span>
        <span className="type-small text-faint">
          {row.operations}
          <span className="sr-only"> operations</span>
        </span>
      </p>
      <p className="type-small mt-0.5 line-clamp-2 text-muted">{whyShort(row)}</p>
      <p className="type-small mt-0.5 flex items-center text-muted">
        <StateWord mark={mark} tone={tone} className="[&_svg]:size-3">
          {strings.state[row.state]}
        </StateWord>
        {row.newer > 0 && (
          <span className="ml-1.5 truncate text-warn">{strings.newerWaiting(row.newer)}</span>
        )}
        <time dateTime={row.created_at} className="ml-auto pl-1.5 text-faint">
          {age(row.created_at)}
        </time>
      </p>
    </div>
  );
}

/** Why it is here, in half a line: an unusual reason, else the cause; then how much is new. */
function whyShort(row: ProposalRow): string {
  const why = strings.reason[row.reason] ?? causeOf(row);
  return [why, row.facts_read > 0 && strings.newerFacts(row.facts_read)]
    .filter(Boolean)
    .join(" · ");
}

export function causeOf(row: ProposalRow): string {
  const [first = ""] = row.triggered_by;
  return strings.cause[first] ?? first.replaceAll("_", " ");
}
