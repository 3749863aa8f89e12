import { useState } from "react";
import { Button } from "~/components/button";
import { CopyButton } from "~/components/copy-button";
import { Empty } from "~/components/empty";
import { ReportCard } from "~/components/report";
import { StructuredValue } from "~/components/schema/structured-value";
import { ScrollText } from "~/components/scroll";
import { Segmented } from "~/components/segmented";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import type { BankId, ModelDetail } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

const words = strings.structured;

/** The fields that were filled from the document, beside the sentences that say them. */
export function StructuredTab({
  bank,
  detail,
  onSettings,
}: {
  bank: BankId;
  detail: ModelDetail;
  onSettings: () => void;
}) {
  const [form, setForm] = useState<"fields" | "json">("fields");
  const extract = useWrite("reextractStructured");
  const value = detail.structured_output;
  const asked = detail.trigger.response_schema != null;
  const again = () => extract.mutate([bank, detail.model.id], { onSuccess: () => say(words.done) });
  const refill = (
    <Button disabled={extract.isPending || detail.model.placeholder} onClick={again}>
      {words.again}
    </Button>
  );
  if (!asked && value === null) {
    return (
      <Empty
        title={words.none}
        actions={
          <Button kind="primary" onClick={onSettings}>
            {words.describe}
          </Button>
        }
      >
        <p>{words.noneAbout}</p>
      </Empty>
    );
  }
  return (
    <>
      {extract.error && (
        <div className="border-line border-b p-3">
          <ReportCard report={extract.error} onRetry={again} />
        </div>
      )}
      {value === null ? (
        <Empty title={words.notYet} actions={refill}>
          <p>{words.notYetAbout}</p>
        </Empty>
      ) : (
        <>
          {detail.structured_stale && (
            <div className="flex shrink-0 flex-wrap items-center gap-2 border-line border-b bg-warn-soft py-2 pr-3 pl-4">
              <StateMark mark="triangle" tone="warn" />
              <p className="min-w-0 flex-1 text-pretty">{words.stale}</p>
              {refill}
            </div>
          )}
          <div className="flex min-h-9 shrink-0 items-center gap-2 border-line border-b px-4">
            <Segmented
              label={words.parts}
              value={form}
              onValue={setForm}
              segments={[
                { value: "fields", label: words.fields },
                { value: "json", label: words.json },
              ]}
            />
            <CopyButton
              size="small"
              className="ml-auto"
              text={() => JSON.stringify(value, null, 2)}
            >
              {words.copy}
            </CopyButton>
          </div>
          <ScrollText label={strings.tabs.structured} className="px-4 py-4">
            {form === "fields" ? (
              <div className="max-w-[44rem]">
                <StructuredValue value={value} text={detail.content} />
              </div>
            ) : (
              <pre className="select-text whitespace-pre-wrap [font:var(--type-code)]">
                {JSON.stringify(value, null, 2)}
              </pre>
            )}
          </ScrollText>
        </>
      )}
    </>
  );
}
