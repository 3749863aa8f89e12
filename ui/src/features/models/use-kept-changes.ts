import { useEffect, useState } from "react";
import type { Form } from "./form-section";
import type { FormValues } from "./form-values";
import { renewed } from "./groups";

type Changes = Partial<FormValues>;

/**
 * What was changed in a form and not saved outlives the screen and the window. Only what differs from
 * the values that the form began with is kept, so that the rest still follows the model.
 */
export function useKeptChanges(form: Form, key: string): { begun: boolean; drop: () => void } {
  const stored = `draft.form ${key}`;
  const [found] = useState(() => read(stored));
  const [begun, setBegun] = useState(found !== null);
  useEffect(() => {
    for (const [name, value] of Object.entries(found ?? {})) {
      form.setValue(name as keyof FormValues, value as never, { shouldDirty: true });
    }
    return form.subscribe({
      formState: { values: true },
      callback: ({ values, defaultValues }) => {
        const changes = changesOf(values, defaultValues as FormValues);
        if (Object.keys(changes).length === 0) localStorage.removeItem(stored);
        else localStorage.setItem(stored, JSON.stringify(changes));
      },
    });
  }, [form, found, stored]);
  const drop = () => {
    setBegun(false);
    localStorage.removeItem(stored);
  };
  return { begun, drop };
}

function changesOf(values: FormValues, begin: FormValues): Changes {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(begin[name as keyof FormValues]),
    ),
  );
}

function read(stored: string): Changes | null {
  const kept = localStorage.getItem(stored);
  if (kept === null) return null;
  try {
    const { groups, ...changes }: Changes = JSON.parse(kept);
    return groups ? { ...changes, groups: renewed(groups) } : changes;
  } catch {
    return null;
  }
}
