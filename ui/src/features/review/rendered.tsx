import { MergedWords } from "~/components/diff";
import { keyOf } from "~/components/doc-diff";
import { Checkbox } from "~/components/field";
import { Keys } from "~/components/keys";
import { Markdown } from "~/components/markdown";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import { withHeadings } from "~/lib/headings";
import { shown, shownSpans } from "~/lib/markers";
import type { BankId, DiffEntry, OpView, ProposalView } from "~/platform/bindings";
import type { Desk } from "./desk";
import { decidable } from "./op-words";
import { strings } from "./strings";
import { usePreview } from "./use-preview";

/** The document as it would read, with what came underlined and what went struck. */
export function Rendered({ bank, view, desk }: { bank: BankId; view: ProposalView; desk: Desk }) {
  const preview = usePreview(bank, view, "everything");
  const entries = withHeadings(preview.data?.diff.entries ?? [], view.base);
  const ops = new Map(decidable(view).map((op) => [op.op_id, op]));
  return (
    <>
      <div className="flex min-h-8 shrink-0 items-center gap-2 border-line border-b px-4">
        <Checkbox
          label={
            <>
              {strings.rendered.deletions}
              <Keys of="review.deletions" />
            </>
          }
          checked={desk.deletions}
          onChange={() => desk.toggle("deletions")}
        />
        <span className="type-small ml-auto truncate text-muted">{strings.rendered.about}</span>
      </div>
      {preview.error && (
        <div className="p-4">
          <ReportCard report={preview.error} onRetry={() => void preview.refetch()} />
        </div>
      )}
      {preview.isPending && <SkeletonRows />}
      <Stack
        label={strings.view.rendered}
        items={entries}
        keyOf={keyOf}
        current={entries.findIndex(({ op_ids }) => desk.op && op_ids.includes(desk.op.op_id))}
        moved={desk.moved}
        height={3}
        className="py-5"
      >
        {(entry) => (
          <div className="max-w-[40rem] px-10 pb-1">
            <Entry
              entry={entry}
              ops={entry.op_ids.map((id) => ops.get(id)).filter((op) => op !== undefined)}
              desk={desk}
            />
          </div>
        )}
      </Stack>
    </>
  );
}

function Entry({ entry, ops, desk }: { entry: DiffEntry; ops: OpView[]; desk: Desk }) {
  const dropped =
    ops.length > 0 &&
    ops.every(({ decision }) => decision === "rejected" || decision === "deferred");
  const kind = dropped ? "unchanged" : entry.kind;
  const text = dropped ? entry.old_text : (entry.new_text ?? entry.old_text);
  const goes = kind === "block_removed" || kind === "section_removed";
  if (text === null || (goes && !desk.deletions)) return null;
  const changed = kind !== "unchanged" && kind !== "section_moved";
  const focused = ops.some(({ op_id }) => op_id === desk.op?.op_id);
  const [first] = ops;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: j and k move the focus; a click is the same by pointer
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div
      onClick={() => first && desk.focus(first)}
      className={cn(
        "relative mt-2 rounded-md",
        entry.block_id === null && "mt-6",
        focused && "outline-2 outline-focus outline-offset-4",
      )}
    >
      {changed && <Edge kind={kind} />}
      <Body entry={entry} kind={kind} text={text} deletions={desk.deletions} />
    </div>
  );
}

function Body({
  entry,
  kind,
  text,
  deletions,
}: {
  entry: DiffEntry;
  kind: DiffEntry["kind"];
  text: string;
  deletions: boolean;
}) {
  const heading = entry.block_id === null;
  const look = heading ? "[font:var(--type-doc-2)]" : "type-doc whitespace-pre-wrap";
  if ((kind === "block_changed" || kind === "section_renamed") && entry.words.length > 0) {
    return (
      <div className={look}>
        <MergedWords spans={shownSpans(entry.words)} deletions={deletions} />
      </div>
    );
  }
  if (kind === "block_added" || kind === "section_added") {
    return (
      <ins
        className={cn(
          "block bg-add-bg text-add-text underline decoration-2 decoration-add-bar underline-offset-4",
          look,
        )}
      >
        <span className="sr-only">Inserted: </span>
        {shown(text)}
      </ins>
    );
  }
  if (kind === "block_removed" || kind === "section_removed") {
    return (
      <del className={cn("block bg-del-bg text-del-text line-through decoration-del-bar", look)}>
        <span className="sr-only">Deleted: </span>
        {shown(text)}
      </del>
    );
  }
  return heading ? (
    <h2 className={look}>{text}</h2>
  ) : (
    <div className="doc">
      <Markdown>{text}</Markdown>
    </div>
  );
}

/** The glyph and the bar beside a changed block. */
function Edge({ kind }: { kind: DiffEntry["kind"] }) {
  const comes = kind === "block_added" || kind === "section_added";
  const goes = kind === "block_removed" || kind === "section_removed";
  return (
    <span aria-hidden="true" className="absolute inset-y-0 -left-7 flex gap-2">
      <span className="w-3 text-center font-semibold text-faint">
        {comes ? "+" : goes ? "−" : "±"}
      </span>
      <span
        className={cn(
          "w-[3px] rounded-full",
          comes
            ? "bg-add-bar"
            : goes
              ? "bg-del-bar"
              : "bg-linear-to-b from-50% from-del-bar to-50% to-add-bar",
        )}
      />
    </span>
  );
}
