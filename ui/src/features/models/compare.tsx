import { ArrowLeftRight, ArrowRight } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "~/components/button";
import { keyOf, runsOf, SplitEntry, UnchangedSplit, UnifiedDiff } from "~/components/doc-diff";
import { Fact } from "~/components/fact";
import { Checkbox } from "~/components/field";
import { Icon } from "~/components/icon";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import { Tabs } from "~/components/tabs";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { withHeadings } from "~/lib/headings";
import type {
  BankId,
  DiffEntry,
  EvidenceItem,
  ModelDetail,
  VersionDiff,
} from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

const words = strings.history;

/** Two versions set against each other, and the way back to the older one. */
export function Compare({
  bank,
  detail,
  a,
  b,
  onSwap,
  onReverted,
}: {
  bank: BankId;
  detail: ModelDetail;
  a: number;
  b: number;
  onSwap: () => void;
  onReverted: () => void;
}) {
  const [part, setPart] = useState<"document" | "evidence">("document");
  const [layout, setLayout] = useState<"unified" | "split">("unified");
  const compared = useRead("diffVersions", [bank, detail.model.id, a, b], { keepPrevious: true });
  const diff = compared.data;
  return (
    <>
      <div className="flex min-h-bar shrink-0 flex-wrap items-center gap-2 border-line border-b px-4 py-1">
        <Side letter="A" version={a} />
        <Icon of={ArrowRight} small className="text-faint" />
        <Side letter="B" version={b} />
        <IconButton small icon={ArrowLeftRight} name={words.swap} onClick={onSwap} />
        <Revert bank={bank} detail={detail} to={a} onReverted={onReverted} />
      </div>
      {compared.error && (
        <div className="p-4">
          <ReportCard report={compared.error} onRetry={() => void compared.refetch()} />
        </div>
      )}
      {compared.isPending && <SkeletonRows />}
      {diff && (
        <Tabs
          label={words.compare(a, b)}
          value={part}
          onValue={setPart}
          tabs={[
            { value: "document", label: words.document, count: changesOf(diff.diff.entries) },
            {
              value: "evidence",
              label: words.evidence,
              count: diff.evidence_new.length + diff.evidence_gone.length,
            },
          ]}
          after={
            part === "document" && (
              <Segmented
                label={words.layout}
                value={layout}
                onValue={setLayout}
                segments={[
                  { value: "unified", label: words.unified },
                  { value: "split", label: words.split },
                ]}
              />
            )
          }
        >
          <ScrollText label={words.document} className="pb-6">
            {part === "evidence" ? (
              <Evidence diff={diff} />
            ) : (
              <Document detail={detail} diff={diff} layout={layout} />
            )}
          </ScrollText>
        </Tabs>
      )}
    </>
  );
}

function Side({ letter, version }: { letter: string; version: number }) {
  return (
    <span className="inline-flex items-center gap-2 whitespace-nowrap">
      <span className="type-label grid size-5 place-items-center rounded-full bg-accent font-semibold text-on-accent">
        {letter}
      </span>
      {version === 0 ? words.nothing : words.version(version)}
    </span>
  );
}

function Document({
  detail,
  diff,
  layout,
}: {
  detail: ModelDetail;
  diff: VersionDiff;
  layout: "unified" | "split";
}) {
  const { entries } = diff.diff;
  if (changesOf(entries) === 0) return <p className="p-4 text-muted">{words.same}</p>;
  if (layout === "split") {
    return runsOf(withHeadings(entries, detail.structure)).map((run) => {
      const [first] = run;
      if (!first) return null;
      return first.kind === "unchanged" ? (
        <UnchangedSplit key={keyOf(first)} entries={run} />
      ) : (
        <SplitEntry key={keyOf(first)} entry={first} />
      );
    });
  }
  return <UnifiedDiff entries={entries} headings={headingsOf(detail, entries)} />;
}

function Evidence({ diff }: { diff: VersionDiff }) {
  const groups: [string, EvidenceItem[]][] = [
    [words.evidenceNew, diff.evidence_new],
    [words.evidenceGone, diff.evidence_gone],
  ];
  if (groups.every(([, items]) => items.length === 0)) {
    return <p className="p-4 text-muted">{words.evidenceSame}</p>;
  }
  return groups.map(([title, items]) =>
    items.length === 0 ? null : (
      <section key={title} aria-label={title} className="max-w-[44rem]">
        <h3 className="type-label px-4 pt-3 text-faint">{title}</h3>
        {items.map((item) => (
          <Fact key={item.id} item={item} />
        ))}
      </section>
    ),
  );
}

/** Brings a version back as a new one. No question: it can be taken back the same way. */
function Revert({
  bank,
  detail,
  to,
  onReverted,
}: {
  bank: BankId;
  detail: ModelDetail;
  to: number;
  onReverted: () => void;
}) {
  const [readAgain, setReadAgain] = useState(false);
  const revert = useWrite("revertModel");
  const { id, version } = detail.model;
  const possible = to > 0 && to < version;
  const act = async () => {
    const reverted = await revert.mutateAsync([bank, id, to, readAgain]);
    onReverted();
    say(words.reverted(to, reverted.model.version), {
      label: words.undo,
      run: () => revert.mutate([bank, id, version, false]),
    });
  };
  useCommands(possible ? { "model.revert": () => void act() } : {});
  if (!possible) return null;
  return (
    <span className="ml-auto flex flex-wrap items-center gap-3">
      <span title={words.readAgainHelp}>
        <Checkbox
          className="type-small"
          label={words.readAgain}
          checked={readAgain}
          onChange={(event) => setReadAgain(event.target.checked)}
        />
      </span>
      <Button size="small" disabled={revert.isPending} onClick={() => void act()}>
        {words.revert(to)}
      </Button>
    </span>
  );
}

const changesOf = (entries: readonly DiffEntry[]) =>
  entries.filter(({ kind }) => kind !== "unchanged").length;

/** Headings by section: of the present document, and of sections that came or went. */
function headingsOf(detail: ModelDetail, entries: readonly DiffEntry[]): Map<string, string> {
  const headings = new Map(detail.structure.sections.map(({ id, heading }) => [id, heading]));
  for (const entry of entries) {
    const heading = entry.new_text ?? entry.old_text;
    if (entry.block_id === null && heading !== null) headings.set(entry.section_id, heading);
  }
  return headings;
}
