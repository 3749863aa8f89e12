import { FactGroups } from "~/components/fact-groups";
import { ScrollText } from "~/components/scroll";
import type { ModelDetail } from "~/platform/bindings";
import { strings } from "./model-strings";

const words = strings.evidence;

/** What the document rests on: what it cites, what has gone since, what the next refresh would read. */
export function EvidenceTab({ detail }: { detail: ModelDetail }) {
  return (
    <ScrollText label={strings.tabs.evidence} className="pb-8">
      <FactGroups
        groups={[
          { title: words.gone, items: detail.based_on.filter(({ gone }) => gone) },
          { title: words.newer, items: detail.newer, none: words.noneNewer },
          {
            title: words.cited,
            items: detail.based_on.filter(({ gone }) => !gone),
            none: words.none,
          },
        ]}
      />
    </ScrollText>
  );
}
