import { JsonChanges } from "~/components/json-changes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { jsonChanges } from "~/lib/json-changes";
import type { BankId, ProposalView } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.structuredChange;

/** The structured view of everything proposed against the published one, place by place. */
export function StructuredChange({ bank, view }: { bank: BankId; view: ProposalView }) {
  const model = useRead("getModel", [bank, view.row.model_id]);
  if (model.error) {
    return (
      <div className="p-4">
        <ReportCard report={model.error} onRetry={() => void model.refetch()} />
      </div>
    );
  }
  if (!model.data) return <SkeletonRows />;
  if (view.structured_output === null) return <p className="p-4 text-muted">{words.none}</p>;
  const changes = jsonChanges(model.data.structured_output, view.structured_output);
  return (
    <ScrollText label={strings.structure.structured} className="pb-6">
      <p className="type-small px-4 pt-3 text-muted">{words.about}</p>
      {changes.length === 0 ? (
        <p className="p-4 text-muted">{words.same}</p>
      ) : (
        <JsonChanges changes={changes} />
      )}
    </ScrollText>
  );
}
