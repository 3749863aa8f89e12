import { useMemo } from "react";
import { Button } from "~/components/button";
import { keyOf } from "~/components/doc-diff";
import { Markdown } from "~/components/markdown";
import { Meter } from "~/components/meter";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { Stack } from "~/components/stack";
import { withHeadings } from "~/lib/headings";
import type { BankId, DiffEntry, ProposalView } from "~/platform/bindings";
import { isOpen } from "./op-words";
import { strings } from "./strings";
import { usePreview } from "./use-preview";

/** Exactly the text that approving now would publish, from the engine, block by block. */
export function Result({
  bank,
  view,
  onDraft,
}: {
  bank: BankId;
  view: ProposalView;
  /** Opens the whole text for editing, where something can be decided. */
  onDraft?: () => void;
}) {
  const preview = usePreview(bank, view, "accepted");
  const result = preview.data;
  const { base } = view;
  const parts = useMemo(
    () =>
      withHeadings(result?.diff.entries ?? [], base).filter(
        ({ kind, new_text, old_text }) =>
          kind !== "block_removed" &&
          kind !== "section_removed" &&
          (new_text ?? (kind === "unchanged" ? old_text : null)) !== null,
      ),
    [result, base],
  );
  return (
    <>
      <div className="type-small flex min-h-9 shrink-0 items-center gap-2 border-line border-b px-4 text-muted">
        {strings.result.about}
        {result && result.document_tokens > 0 && (
          <span className="ml-auto inline-flex items-center gap-2">
            {strings.confirm.tokens(result.document_tokens, result.max_tokens)}
            <Meter value={result.document_tokens} of={result.max_tokens} className="w-14" />
          </span>
        )}
        {onDraft && isOpen(view) && (
          <Button size="small" command="review.draft" onClick={onDraft}>
            {strings.draft.open}
          </Button>
        )}
      </div>
      {preview.error && (
        <div className="p-4">
          <ReportCard report={preview.error} onRetry={() => void preview.refetch()} />
        </div>
      )}
      {preview.isPending && <SkeletonRows />}
      {result?.content.trim() === "" ? (
        <p className="p-6 text-muted">{strings.result.empty}</p>
      ) : (
        <Stack
          label={strings.view.result}
          items={parts}
          keyOf={keyOf}
          current={-1}
          moved={0}
          height={3}
          className="py-5"
        >
          {(part) => <Part part={part} />}
        </Stack>
      )}
    </>
  );
}

function Part({ part }: { part: DiffEntry }) {
  const text = part.new_text ?? part.old_text ?? "";
  const heading = part.block_id === null;
  return (
    <div className="px-10" style={{ maxWidth: "calc(var(--measure) + 5rem)" }}>
      <div className={heading ? "doc pt-4 pb-1" : "doc pb-2"}>
        <Markdown>{heading ? `${"#".repeat(Math.max(1, part.level))} ${text}` : text}</Markdown>
      </div>
    </div>
  );
}
