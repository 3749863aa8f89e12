import { FactGroups } from "~/components/fact-groups";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import type { BankId, EvidenceItem, ProposalView } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { decidable } from "./op-words";
import { strings } from "./strings";

const words = strings.evidenceChange;

/** What the document would rest on: facts that come, facts that only replaced text rested on, facts that stay. */
export function EvidenceChange({ bank, view }: { bank: BankId; view: ProposalView }) {
  const model = useRead("getModel", [bank, view.row.model_id]);
  if (model.error) {
    return (
      <div className="p-4">
        <ReportCard report={model.error} onRetry={() => void model.refetch()} />
      </div>
    );
  }
  if (!model.data) return <SkeletonRows />;
  const cited = model.data.based_on;
  const ops = decidable(view).filter(({ decision }) => decision !== "rejected");
  const known = new Set(cited.map(({ id }) => id));
  const used = new Map(ops.flatMap((op) => op.evidence).map((item) => [item.id, item]));
  const changed = new Set(ops.flatMap((op) => (op.block_id === null ? [] : [op.block_id])));
  const held = new Set(
    model.data.blame
      .filter(({ block_id }) => !changed.has(block_id))
      .flatMap(({ sources }) => sources),
  );
  const replaced = new Set(ops.flatMap((op) => op.old_evidence).map(({ id }) => id));
  const goes = (item: EvidenceItem) =>
    replaced.has(item.id) && !used.has(item.id) && !held.has(item.id);
  return (
    <ScrollText label={words.label} className="pb-6">
      <FactGroups
        groups={[
          { title: words.comes, items: [...used.values()].filter(({ id }) => !known.has(id)) },
          { title: words.goes, items: cited.filter(goes), quiet: true },
          { title: words.stays, items: cited.filter((item) => !goes(item)), quiet: true },
        ]}
      />
    </ScrollText>
  );
}
