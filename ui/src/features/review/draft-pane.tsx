import { lazy, Suspense } from "react";
import { Button } from "~/components/button";
import { Markdown } from "~/components/markdown";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { useDraft } from "~/lib/use-draft";
import { useNarrow } from "~/lib/use-narrow";
import type { BankId, ProposalView, Report } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";
import type { Review } from "./use-review";

const words = strings.draft;

/** Fetched when it is needed first: the editor is larger than all the rest of the screen. */
const MarkdownEditor = lazy(async () => {
  const { MarkdownEditor } = await import("~/components/markdown-editor");
  return { default: MarkdownEditor };
});

/** A whole text of the person's own in the place of single decisions, with what it becomes beside it. */
export function DraftPane({
  bank,
  view,
  review,
  busy,
  report,
  onApprove,
  onLeave,
}: {
  bank: BankId;
  view: ProposalView;
  review: Review;
  busy: boolean;
  report: Report | null;
  /** `after` is called once the text is published. */
  onApprove: (text: string, after: () => void) => void;
  onLeave: () => void;
}) {
  const preview = useRead("previewProposal", view.draft ? null : [bank, view.row.id, "accepted"]);
  const begin = view.draft?.content ?? preview.data?.content;
  if (preview.error) {
    return (
      <div className="p-4">
        <ReportCard report={preview.error} onRetry={() => void preview.refetch()} />
      </div>
    );
  }
  if (begin === undefined) return <SkeletonRows />;
  return (
    <Editing
      view={view}
      review={review}
      begin={begin}
      busy={busy}
      report={report}
      onApprove={onApprove}
      onLeave={onLeave}
    />
  );
}

function Editing({
  view,
  review,
  begin,
  busy,
  report,
  onApprove,
  onLeave,
}: {
  view: ProposalView;
  review: Review;
  begin: string;
  busy: boolean;
  report: Report | null;
  /** `after` is called once the text is published. */
  onApprove: (text: string, after: () => void) => void;
  onLeave: () => void;
}) {
  // What was written and not kept outlives the window; what was kept is the proposal's.
  const draft = useDraft(`proposal ${view.row.id}`, begin);
  const narrow = useNarrow();
  const publish = () => onApprove(draft.text, draft.drop);
  const keep = () =>
    review.draft(draft.text, () => {
      draft.drop();
      say(words.saved);
    });
  useCommands({ "review.approve": publish });
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="type-small flex min-h-9 shrink-0 flex-wrap items-center gap-2 border-line border-b px-4 py-1 text-muted">
        {words.about}
        {draft.found && <span className="font-medium text-text">{words.begun}</span>}
      </div>
      {view.draft && !view.draft.fits && (
        <p className="flex gap-2 border-line border-b bg-warn-soft px-4 py-2">
          <StateMark mark="triangle" tone="warn" className="mt-0.5" />
          {words.outdated}
        </p>
      )}
      {report && (
        <div className="border-line border-b p-3">
          <ReportCard
            report={report}
            onRetry={review.fault === report ? review.retry : undefined}
          />
        </div>
      )}
      <Panes id="review-draft">
        <Pane id="text" label={words.label}>
          <Suspense fallback={<SkeletonRows />}>
            <MarkdownEditor
              label={words.label}
              value={draft.text}
              onChange={draft.set}
              onSave={publish}
            />
          </Suspense>
        </Pane>
        {!narrow && (
          <>
            <PaneEdge label={words.preview} />
            <Pane id="preview" label={words.preview} as="aside">
              <ScrollText label={words.preview} className="px-8 py-6">
                <article className="doc">
                  <Markdown>{draft.text}</Markdown>
                </article>
              </ScrollText>
            </Pane>
          </>
        )}
      </Panes>
      <div className="flex min-h-(--foot) shrink-0 flex-wrap items-center gap-2 border-line border-t bg-sunken px-4 py-1.5">
        <Button onClick={onLeave}>{words.leave}</Button>
        {view.draft && (
          <Button
            kind="plain"
            onClick={() =>
              review.draft(null, () => {
                draft.drop();
                onLeave();
              })
            }
          >
            {words.drop}
          </Button>
        )}
        <Button className="ml-auto" onClick={keep}>
          {words.save}
        </Button>
        <Button kind="primary" command="review.approve" disabled={busy} onClick={publish}>
          {words.approve}
        </Button>
      </div>
    </div>
  );
}
