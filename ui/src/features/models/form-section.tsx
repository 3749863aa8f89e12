import type { ReactNode } from "react";
import { Controller, type FieldPath, type UseFormReturn } from "react-hook-form";
import { RadioField } from "~/components/field";
import type { FormValues } from "./form-values";

export type Form = UseFormReturn<FormValues>;

/** A group of fields under its heading. */
export function FormSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid gap-4 border-line border-b py-5 last:border-b-0">
      <h2 className="type-strong">{title}</h2>
      {children}
    </section>
  );
}

/** One of a few values of the form, each with a sentence. */
export function FormChoice<N extends FieldPath<FormValues>>({
  form,
  name,
  label,
  options,
}: {
  form: Form;
  name: N;
  label: string;
  options: readonly { value: string; label: string; help?: string; unavailable?: string }[];
}) {
  return (
    <Controller
      control={form.control}
      name={name}
      render={({ field }) => (
        <RadioField
          label={label}
          name={name}
          value={String(field.value)}
          onValue={field.onChange}
          options={options}
        />
      )}
    />
  );
}
