import { createContext, use } from "react";
import type { BankId, Preview, PreviewOf, ProposalView, Report } from "~/platform/bindings";
import { useRead } from "~/platform/cache";

/** Set where a change is only looked at: its result is known, and nothing of it can be decided. */
export const LookOnly = createContext<Preview | null>(null);

export interface Previewed {
  data: Preview | undefined;
  error: Report | null;
  isPending: boolean;
  refetch(): unknown;
}

/** What would be published of a proposal; of a dry run what it told. */
export function usePreview(bank: BankId, view: ProposalView, of: PreviewOf): Previewed {
  const fixed = use(LookOnly);
  const asked = useRead("previewProposal", fixed ? null : [bank, view.row.id, of], {
    keepPrevious: true,
  });
  return fixed ? { data: fixed, error: null, isPending: false, refetch: () => {} } : asked;
}
