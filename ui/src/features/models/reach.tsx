import { useDeferredValue } from "react";
import { type Control, useWatch } from "react-hook-form";
import type { BankId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./form-strings";
import { type FormValues, newModelOf } from "./form-values";

/** How many memories the scope of the form reads now. */
export function Reach({ bank, control }: { bank: BankId; control: Control<FormValues> }) {
  const values = useDeferredValue(useWatch({ control }) as FormValues);
  const { name, source_query, ...scope } = newModelOf(values);
  // Words do not change the scope; left out, they do not ask anew with each letter.
  const asked = { ...scope, name: "scope", source_query: "scope" };
  const reach = useRead("scopeReach", [bank, asked], { keepPrevious: true });
  if (!reach.data) return null;
  return (
    <p role="status" className="text-muted">
      {reach.data.memories === 0 ? strings.reachNone : strings.reach(reach.data.memories)}
    </p>
  );
}
