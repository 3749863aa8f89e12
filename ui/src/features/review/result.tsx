import { Markdown } from "~/components/markdown";
import { Meter } from "~/components/meter";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import type { BankId, ProposalView } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

/** Exactly the text that approving now would publish, from the engine. */
export function Result({ bank, view }: { bank: BankId; view: ProposalView }) {
  const preview = useRead("previewProposal", [bank, view.row.id, "accepted"], {
    keepPrevious: true,
  });
  const result = preview.data;
  return (
    <>
      <div className="type-small flex min-h-8 shrink-0 items-center gap-2 border-line border-b px-4 text-muted">
        {strings.result.about}
        {result && (
          <span className="ml-auto inline-flex items-center gap-2">
            {strings.confirm.tokens(result.document_tokens, result.max_tokens)}
            <Meter value={result.document_tokens} of={result.max_tokens} className="w-14" />
          </span>
        )}
      </div>
      {preview.error && (
        <div className="p-4">
          <ReportCard report={preview.error} onRetry={() => void preview.refetch()} />
        </div>
      )}
      {preview.isPending && <SkeletonRows />}
      <ScrollText label={strings.view.result}>
        {result?.content.trim() === "" && <p className="p-6 text-muted">{strings.result.empty}</p>}
        <article className="doc px-10 py-6" style={{ maxWidth: "calc(var(--measure) + 5rem)" }}>
          <Markdown>{result?.content ?? ""}</Markdown>
        </article>
      </ScrollText>
    </>
  );
}
