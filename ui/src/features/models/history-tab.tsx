import { useNavigate } from "@tanstack/react-router";
import { ListFilter } from "lucide-react";
import { useMemo, useState } from "react";
import { useAnnounce } from "~/components/announce";
import { Button, IconButton } from "~/components/button";
import { Keys } from "~/components/keys";
import { Menu, MenuCheck, MenuLabel } from "~/components/menu";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { useCommands } from "~/keys/use-commands";
import { useFolded } from "~/lib/use-narrow";
import type { BankId, ModelDetail } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Compare, type VersionEntry } from "./compare";
import {
  everything,
  type HistoryEntry,
  isShown,
  type TimelineFilter,
  withSkips,
} from "./history-entries";
import { strings } from "./model-strings";
import { aboutOf, entryId, Timeline, titleOf } from "./timeline";

const words = strings.history;

type Compared = { a?: number | undefined; b?: number | undefined };

/** All versions, with what published none in between; any two of them side by side. */
export function HistoryTab({
  bank,
  detail,
  compared,
  onCompared,
  onRuns,
}: {
  bank: BankId;
  detail: ModelDetail;
  compared: Compared;
  /** Goes to the records of the runs. */
  onRuns: () => void;
  onCompared: (compared: Compared) => void;
}) {
  const loaded = useRead("listVersions", [bank, detail.model.id]);
  const announce = useAnnounce();
  const folded = useFolded();
  const navigate = useNavigate();
  const [active, setActive] = useState<string | null>(null);
  const [marking, setMarking] = useState<"a" | "b">("a");
  const runs = useRead("listRefreshRuns", [bank, detail.model.id]).data;
  const [shown, setShown] = useState<TimelineFilter>(everything);
  const all = useMemo(() => withSkips(loaded.data ?? [], runs ?? []), [loaded.data, runs]);
  const entries = useMemo(() => all.filter((entry) => isShown(entry, shown)), [all, shown]);
  const numbers = entries.flatMap((entry) => (entry.kind === "version" ? [entry.version] : []));
  const newest = numbers[0] ?? 0;
  const b = compared.b ?? newest;
  const a = compared.a ?? numbers.find((version) => version < b) ?? 0;

  const mark = (entry: HistoryEntry) => {
    if (entry.kind !== "version") return;
    const next = marking === "a" ? { a: entry.version, b } : { a, b: entry.version };
    onCompared(next);
    setMarking(marking === "a" ? "b" : "a");
    announce(words.compare(next.a, next.b));
  };
  const open = (entry: HistoryEntry) => {
    if (entry.kind !== "proposal") return mark(entry);
    void navigate({
      to: "/b/$bank/review/{-$proposal}",
      params: { bank, proposal: entry.proposal.id },
      search: {},
    });
  };
  /** A version chosen by pointer or arrows is set against the one before it. */
  const choose = (entry: HistoryEntry) => {
    setActive(entryId(entry));
    if (entry.kind !== "version") return;
    onCompared({
      a: numbers.find((version) => version < entry.version) ?? 0,
      b: entry.version,
    });
    setMarking("a");
  };
  const current = entries.find((entry) => entryId(entry) === active);
  useCommands({ "model.mark": () => current && mark(current) });

  if (loaded.error) {
    return (
      <div className="p-4">
        <ReportCard report={loaded.error} onRetry={() => void loaded.refetch()} />
      </div>
    );
  }
  if (loaded.isPending) return <SkeletonRows />;
  if (all.length === 0) return <p className="p-4 text-muted">{words.none}</p>;
  return (
    <Panes id="model-history">
      <Pane
        id="versions"
        label={words.title}
        width={folded ? "200px" : "280px"}
        min="160px"
        max="400px"
      >
        <PaneHead title={words.title} about={numbers.length} className="px-3">
          <span className="type-small flex items-center gap-1.5 text-muted" title={words.hint}>
            {!folded && words.markTwo}
            <Keys of="model.mark" />
          </span>
          <FilterMenu shown={shown} onShown={setShown} />
        </PaneHead>
        <Timeline
          bank={bank}
          entries={entries}
          waiting={detail.model.open_proposal}
          active={active}
          a={a}
          b={b}
          onActive={choose}
          onMark={mark}
          onOpen={open}
        />
      </Pane>
      <PaneEdge label={words.title} />
      <Pane id="compare" label={words.compare(a, b)}>
        {current && current.kind !== "version" && (
          <Aside entry={current} onOpen={() => open(current)} onRuns={onRuns} />
        )}
        <Compare
          bank={bank}
          detail={detail}
          a={a}
          b={b}
          entry={all.find(
            (each): each is VersionEntry => each.kind === "version" && each.version === b,
          )}
          onSwap={() => onCompared({ a: b, b: a })}
          onReverted={() => onCompared({})}
        />
      </Pane>
    </Panes>
  );
}

/** Which entries beside the versions are shown. */
function FilterMenu({
  shown,
  onShown,
}: {
  shown: TimelineFilter;
  onShown: (shown: TimelineFilter) => void;
}) {
  const options = [
    ["proposals", words.filterProposals],
    ["failed", words.filterFailed],
    ["skipped", words.filterSkipped],
  ] as const;
  return (
    <Menu trigger={<IconButton small icon={ListFilter} name={words.filter} />}>
      <MenuLabel>{words.filter}</MenuLabel>
      {options.map(([key, label]) => (
        <MenuCheck
          key={key}
          checked={shown[key]}
          onChecked={() => onShown({ ...shown, [key]: !shown[key] })}
        >
          {label}
        </MenuCheck>
      ))}
    </Menu>
  );
}

/** What published nothing: how it ended, and the way to it. */
function Aside({
  entry,
  onOpen,
  onRuns,
}: {
  entry: Exclude<HistoryEntry, VersionEntry>;
  onOpen: () => void;
  onRuns: () => void;
}) {
  const proposal = entry.kind === "proposal";
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b bg-sunken px-4 py-2">
      <div className="min-w-0 flex-1">
        <p className="font-medium">{titleOf(entry)}</p>
        <p className="type-small text-muted">{aboutOf(entry)}</p>
        {proposal && entry.note && <q className="type-small text-muted">{entry.note}</q>}
      </div>
      <Button size="small" onClick={proposal ? onOpen : onRuns}>
        {proposal ? words.openProposal : words.openRuns}
      </Button>
    </div>
  );
}
