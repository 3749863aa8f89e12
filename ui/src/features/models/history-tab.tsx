import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAnnounce } from "~/components/announce";
import { Keys } from "~/components/keys";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { useCommands } from "~/keys/use-commands";
import { useFolded } from "~/lib/use-narrow";
import type { BankId, ModelDetail, TimelineEntry } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Compare } from "./compare";
import { strings } from "./model-strings";
import { entryId, Timeline } from "./timeline";

const words = strings.history;

type Compared = { a?: number | undefined; b?: number | undefined };

/** All versions, with what published none in between; any two of them side by side. */
export function HistoryTab({
  bank,
  detail,
  compared,
  onCompared,
}: {
  bank: BankId;
  detail: ModelDetail;
  compared: Compared;
  onCompared: (compared: Compared) => void;
}) {
  const loaded = useRead("listVersions", [bank, detail.model.id]);
  const announce = useAnnounce();
  const folded = useFolded();
  const navigate = useNavigate();
  const [active, setActive] = useState<string | null>(null);
  const [marking, setMarking] = useState<"a" | "b">("a");
  const entries = loaded.data ?? [];
  const numbers = entries.flatMap((entry) => (entry.kind === "version" ? [entry.version] : []));
  const newest = numbers[0] ?? 0;
  const b = compared.b ?? newest;
  const a = compared.a ?? numbers.find((version) => version < b) ?? 0;

  const mark = (entry: TimelineEntry) => {
    if (entry.kind !== "version") return;
    const next = marking === "a" ? { a: entry.version, b } : { a, b: entry.version };
    onCompared(next);
    setMarking(marking === "a" ? "b" : "a");
    announce(words.compare(next.a, next.b));
  };
  const open = (entry: TimelineEntry) => {
    if (entry.kind !== "proposal") return mark(entry);
    void navigate({
      to: "/b/$bank/review/{-$proposal}",
      params: { bank, proposal: entry.proposal.id },
      search: {},
    });
  };
  /** A version chosen by pointer or arrows is set against the one before it. */
  const choose = (entry: TimelineEntry) => {
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
  if (entries.length === 0) return <p className="p-4 text-muted">{words.none}</p>;
  return (
    <Panes id="model-history" panes={["versions", "compare"]}>
      <Pane
        id="versions"
        label={words.title}
        width={folded ? "200px" : "280px"}
        min="160px"
        max="400px"
      >
        <PaneHead title={words.title} about={numbers.length} className="px-3">
          <span className="type-small flex items-center gap-1.5 text-muted" title={words.hint}>
            {words.markTwo}
            <Keys of="model.mark" />
          </span>
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
        <Compare
          bank={bank}
          detail={detail}
          a={a}
          b={b}
          onSwap={() => onCompared({ a: b, b: a })}
          onReverted={() => onCompared({})}
        />
      </Pane>
    </Panes>
  );
}
