import { ArrowLeftRight, ArrowRight, Pin, PinOff } from "lucide-react";
import { useMemo, useState } from "react";
import { Button, IconButton } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { SplitDiff, UnifiedDiff } from "~/components/doc-diff";
import { FactGroups } from "~/components/fact-groups";
import { Checkbox, TextArea } from "~/components/field";
import { Icon } from "~/components/icon";
import { JsonChanges } from "~/components/json-changes";
import { attend } from "~/components/left-behind";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import { Tabs } from "~/components/tabs";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { withHeadings } from "~/lib/headings";
import { useDraft } from "~/lib/use-draft";
import { useNarrow } from "~/lib/use-narrow";
import type {
  BankId,
  DiffEntry,
  JsonChange,
  ModelDetail,
  ModelId,
  TimelineEntry,
  VersionDiff,
} from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

const words = strings.history;

type Part = "document" | "evidence" | "structured" | "settings";

export type VersionEntry = Extract<TimelineEntry, { kind: "version" }>;

/** Two versions set against each other, and the way back to the older one. */
export function Compare({
  bank,
  detail,
  a,
  b,
  entry,
  onSwap,
  onReverted,
}: {
  bank: BankId;
  detail: ModelDetail;
  a: number;
  b: number;
  /** The newer side in the history, for pinning it and writing about it. */
  entry: VersionEntry | undefined;
  onSwap: () => void;
  onReverted: () => void;
}) {
  const [part, setPart] = useState<Part>("document");
  const [layout, setLayout] = useState<"unified" | "split">("unified");
  const compared = useRead("diffVersions", [bank, detail.model.id, a, b], { keepPrevious: true });
  const diff = compared.data;
  const narrow = useNarrow();
  const layouts = (
    <Segmented
      label={words.layout}
      value={layout}
      onValue={setLayout}
      segments={[
        { value: "unified", label: words.unified },
        { value: "split", label: words.split },
      ]}
    />
  );
  return (
    <>
      <div className="flex min-h-bar shrink-0 flex-wrap items-center gap-2 border-line border-b px-4 py-1">
        <Side letter="A" version={a} />
        <Icon of={ArrowRight} small className="text-faint" />
        <Side letter="B" version={b} />
        <IconButton small icon={ArrowLeftRight} name={words.swap} onClick={onSwap} />
        <Keeping bank={bank} model={detail.model.id} entry={entry} />
        {narrow && part === "document" && layouts}
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
            { value: "structured", label: words.structured, count: diff.structured.length },
            { value: "settings", label: words.settings, count: diff.settings.length },
          ]}
          after={part === "document" && !narrow && layouts}
        >
          {part === "document" && <Document detail={detail} diff={diff} layout={layout} />}
          {part === "evidence" && (
            <ScrollText label={words.evidence} className="pb-6">
              <Evidence diff={diff} />
            </ScrollText>
          )}
          {part === "structured" && (
            <Values
              label={words.structured}
              changes={diff.structured}
              same={words.structuredSame}
            />
          )}
          {part === "settings" && (
            <Values
              label={words.settings}
              changes={diff.settings}
              same={words.settingsSame}
              nameOf={settingName}
            />
          )}
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
  const { structure } = detail;
  const headed = useMemo(() => withHeadings(entries, structure), [entries, structure]);
  const headings = useMemo(() => headingsOf(structure, entries), [structure, entries]);
  if (changesOf(entries) === 0) return <p className="p-4 text-muted">{words.same}</p>;
  return layout === "split" ? (
    <SplitDiff label={words.document} entries={headed} />
  ) : (
    <UnifiedDiff label={words.document} entries={entries} headings={headings} />
  );
}

function Evidence({ diff }: { diff: VersionDiff }) {
  const same = diff.evidence_new.length + diff.evidence_gone.length === 0;
  return (
    <>
      {same && <p className="p-4 pb-0 text-muted">{words.evidenceSame}</p>}
      <FactGroups
        groups={[
          { title: words.evidenceNew, items: diff.evidence_new },
          { title: words.evidenceGone, items: diff.evidence_gone },
          { title: words.evidenceKept, items: diff.evidence_kept, quiet: true },
        ]}
      />
    </>
  );
}

/** Values that differ, place by place. */
function Values({
  label,
  changes,
  same,
  nameOf,
}: {
  label: string;
  changes: readonly JsonChange[];
  same: string;
  nameOf?: (pointer: string) => string;
}) {
  if (changes.length === 0) return <p className="p-4 text-muted">{same}</p>;
  return (
    <ScrollText label={label} className="pb-6">
      <JsonChanges changes={changes} {...(nameOf ? { nameOf } : {})} />
    </ScrollText>
  );
}

/** A setting by its name in the form, with the place inside it when there is one. */
function settingName(pointer: string): string {
  const known = Object.keys(words.settingName)
    .filter((own) => pointer === own || pointer.startsWith(`${own}/`))
    .sort((one, other) => other.length - one.length)[0];
  if (known === undefined) return pointer.slice(1).replaceAll("_", " ").replaceAll("/", ", ");
  const rest = pointer.slice(known.length + 1).replaceAll("/", ", ");
  return [words.settingName[known], rest].filter(Boolean).join(", ");
}

/** Pins a version, so that it is kept beyond the limit, and keeps a person's words about it. */
function Keeping({
  bank,
  model,
  entry,
}: {
  bank: BankId;
  model: ModelId;
  entry: VersionEntry | undefined;
}) {
  const pin = useWrite("pinVersion");
  const [noting, setNoting] = useState(false);
  if (!entry) return null;
  return (
    <>
      <IconButton
        small
        icon={entry.pinned ? PinOff : Pin}
        name={entry.pinned ? words.unpin : words.pin}
        aria-pressed={entry.pinned}
        disabled={pin.isPending}
        onClick={() => pin.mutate([bank, model, entry.version, !entry.pinned])}
      />
      {pin.error && <ReportCard report={pin.error} className="order-last basis-full" />}
      <Button size="small" kind="plain" onClick={() => setNoting(true)}>
        {words.noteAct}
      </Button>
      {noting && (
        <NoteDialog bank={bank} model={model} entry={entry} onLeave={() => setNoting(false)} />
      )}
    </>
  );
}

function NoteDialog({
  bank,
  model,
  entry,
  onLeave,
}: {
  bank: BankId;
  model: ModelId;
  entry: VersionEntry;
  onLeave: () => void;
}) {
  const draft = useDraft(`version ${bank} ${model} ${entry.version}`, entry.note ?? "");
  const note = useWrite("noteVersion");
  const leave = () => {
    draft.drop();
    onLeave();
  };
  const save = () =>
    note.mutate([bank, model, entry.version, draft.text.trim() || null], { onSuccess: leave });
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onLeave()}
      title={words.noteTitle(entry.version)}
      foot={
        <>
          <Button onClick={leave}>{words.noteBack}</Button>
          <Button kind="primary" disabled={note.isPending} onClick={save}>
            {words.noteSave}
          </Button>
        </>
      }
    >
      {note.error && <ReportCard report={note.error} />}
      <TextArea
        label={words.noteField}
        value={draft.text}
        onChange={(event) => draft.set(event.target.value)}
      />
    </FormDialog>
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
  const act = () => {
    if (revert.isPending) return;
    revert.mutate([bank, id, to, readAgain], {
      onSuccess: (reverted) => {
        onReverted();
        say(words.reverted(to, reverted.model.version), {
          label: words.undo,
          run: () =>
            void attend(words.notUndone(to), () => revert.mutateAsync([bank, id, version, false])),
        });
      },
    });
  };
  useCommands(possible ? { "model.revert": act } : {});
  if (!possible) return null;
  return (
    <>
      {revert.error && <ReportCard report={revert.error} className="order-last basis-full" />}
      <span className="ml-auto flex flex-wrap items-center gap-3">
        <span title={words.readAgainHelp}>
          <Checkbox
            className="type-small"
            label={words.readAgain}
            checked={readAgain}
            onChange={(event) => setReadAgain(event.target.checked)}
          />
        </span>
        <Button size="small" disabled={revert.isPending} onClick={act}>
          {words.revert(to)}
        </Button>
      </span>
    </>
  );
}

const changesOf = (entries: readonly DiffEntry[]) =>
  entries.filter(({ kind }) => kind !== "unchanged").length;

/** Headings by section: of the present document, and of sections that came or went. */
function headingsOf(
  structure: ModelDetail["structure"],
  entries: readonly DiffEntry[],
): Map<string, string> {
  const headings = new Map(structure.sections.map(({ id, heading }) => [id, heading]));
  for (const entry of entries) {
    const heading = entry.new_text ?? entry.old_text;
    if (entry.block_id === null && heading !== null) headings.set(entry.section_id, heading);
  }
  return headings;
}
