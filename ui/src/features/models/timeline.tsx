import { Link } from "@tanstack/react-router";
import { Badge } from "~/components/badge";
import { List } from "~/components/list";
import { cn } from "~/lib/cn";
import { day } from "~/lib/format";
import type { BankId, ChangeSize, OpenProposal } from "~/platform/bindings";
import type { HistoryEntry } from "./history-entries";
import { strings } from "./model-strings";

const words = strings.history;

/** An entry's own name within the history of its model. */
export function entryId(entry: HistoryEntry): string {
  if (entry.kind === "version") return `v${entry.version}`;
  if (entry.kind === "proposal") return `p${entry.proposal.number}`;
  return `${entry.kind === "failed_run" ? "f" : "s"}${entry.at}`;
}

export function Timeline({
  bank,
  entries,
  waiting,
  active,
  a,
  b,
  onActive,
  onMark,
  onOpen,
}: {
  bank: BankId;
  entries: readonly HistoryEntry[];
  waiting: OpenProposal | null;
  active: string | null;
  a: number;
  b: number;
  onActive: (entry: HistoryEntry) => void;
  onMark: (entry: HistoryEntry) => void;
  /** Enter opens what can be opened: a proposal; on a version it marks. */
  onOpen: (entry: HistoryEntry) => void;
}) {
  return (
    <>
      {waiting && (
        <Link
          to="/b/$bank/review/{-$proposal}"
          params={{ bank, proposal: waiting.id }}
          search={{}}
          data-plain
          data-focus-inside
          className="relative block shrink-0 border-line border-b py-2 pr-3 pl-10 text-text hover:bg-hover"
        >
          <Dot />
          <span className="type-strong block">{words.proposal(waiting.number)}</span>
          <span className="type-small block text-muted">{words.waiting(waiting.operations)}</span>
        </Link>
      )}
      <List
        label={words.title}
        items={entries}
        idOf={entryId}
        active={active ?? `v${b}`}
        onActive={onActive}
        onOpen={onOpen}
        onSpace={onMark}
        rowHeight={4.5}
        plain
      >
        {(entry) => <Row entry={entry} mark={markOf(entry, a, b)} />}
      </List>
    </>
  );
}

function markOf(entry: HistoryEntry, a: number, b: number): "A" | "B" | null {
  if (entry.kind !== "version") return null;
  return entry.version === a ? "A" : entry.version === b ? "B" : null;
}

function Row({ entry, mark }: { entry: HistoryEntry; mark: "A" | "B" | null }) {
  const back = entry.kind !== "version";
  return (
    <div className="relative min-h-[4.5rem] py-2 pr-3 pl-10">
      <span aria-hidden="true" className="absolute top-0 bottom-0 left-[1.3125rem] w-px bg-edge" />
      <Dot mark={mark} hollow={back} />
      <p className="flex items-baseline gap-2">
        <span className={cn("truncate", back ? "text-faint" : "type-strong")}>
          {titleOf(entry)}
        </span>
        {entry.kind === "version" && entry.pinned && <Badge>{words.pinned}</Badge>}
        <time dateTime={entry.at} className="type-small ml-auto shrink-0 text-faint">
          {day(entry.at)}
        </time>
      </p>
      <p className={cn("type-small truncate", back ? "text-faint" : "text-muted")}>
        {aboutOf(entry)}
      </p>
      {entry.kind === "version" && <Size change={entry.change} />}
      {entry.kind === "proposal" && entry.note && (
        <p className="type-small truncate text-faint">“{entry.note}”</p>
      )}
    </div>
  );
}

export function titleOf(entry: HistoryEntry): string {
  if (entry.kind === "version") return words.version(entry.version);
  if (entry.kind === "failed_run") return words.failed;
  if (entry.kind === "skipped_run") return words.skipped;
  return entry.state === "rejected" ? words.rejected : words.superseded;
}

export function aboutOf(entry: HistoryEntry): string {
  if (entry.kind === "failed_run")
    return (
      entry.report?.message ??
      strings.trace.outcomes[entry.outcome] ??
      entry.outcome.replaceAll("_", " ")
    );
  if (entry.kind === "skipped_run") {
    const why = strings.trace.skips[entry.reason ?? ""] ?? entry.reason?.replaceAll("_", " ");
    return [why, entry.times > 1 && strings.trace.times(entry.times)].filter(Boolean).join(", ");
  }
  if (entry.kind === "proposal") return words.declined(entry.proposal.number, entry.decisions);
  if (entry.proposal && entry.decisions) {
    const said = words.decided(entry.proposal.number, entry.decisions);
    return [said, entry.note && `“${entry.note}”`].filter(Boolean).join(", ");
  }
  const cause = words.cause[entry.cause] ?? entry.cause.replaceAll("_", " ");
  const actor = entry.actor === "person" ? null : words.actor[entry.actor];
  return [cause, actor, entry.note && `“${entry.note}”`].filter(Boolean).join(", ");
}

/** `+3 −1 ±2 blocks`, signs before colours. */
function Size({ change }: { change: ChangeSize }) {
  const { added, removed, changed } = words.change(change);
  return (
    <p className="type-small">
      {added > 0 && <span className="text-ok">+{added} </span>}
      {removed > 0 && <span className="text-bad">−{removed} </span>}
      {changed > 0 && <span className="text-muted">±{changed} </span>}
      <span className="text-muted">{words.blocks}</span>
    </p>
  );
}

function Dot({ mark = null, hollow = false }: { mark?: "A" | "B" | null; hollow?: boolean }) {
  if (mark) {
    return (
      <span className="type-label absolute top-2 left-3 grid size-5 place-items-center rounded-full bg-accent font-semibold text-on-accent">
        {mark}
      </span>
    );
  }
  return (
    <span
      aria-hidden="true"
      className={cn(
        "absolute top-3.5 left-[1.125rem] size-2 rounded-full ring-3 ring-ground",
        hollow ? "border border-faint bg-ground" : "bg-faint",
      )}
    />
  );
}
