import { useEffect } from "react";
import { useWatch } from "react-hook-form";
import { Button } from "~/components/button";
import { Checkbox, TextArea, TextField } from "~/components/field";
import { fieldsOf } from "~/components/schema/fields";
import { readJson } from "~/components/schema/json-text";
import type { BankId, ModelId, Report } from "~/platform/bindings";
import { RefreshFields } from "./form-refresh";
import { ReadingFields, ScopeFields } from "./form-scope";
import { type Form, FormSection } from "./form-section";
import { strings } from "./form-strings";
import { fieldOf } from "./form-values";

/** The fields of a model, for making one and for changing it. Rules live in the engine. */
export function ModelFields({
  form,
  bank,
  model,
  onSchema,
}: {
  form: Form;
  bank: BankId;
  model: ModelId | null;
  /** Opens the builder of the schema, which needs the whole width. */
  onSchema: () => void;
}) {
  const { register, formState } = form;
  const { errors } = formState;
  return (
    <>
      <FormSection title={strings.general}>
        <TextField
          label={strings.name}
          fault={errors.name?.message}
          {...register("name", { validate: (text) => text.trim() !== "" || strings.invalid.name })}
        />
        <TextArea
          label={strings.question}
          help={strings.questionHelp}
          fault={errors.question?.message}
          {...register("question", {
            validate: (text) => text.trim() !== "" || strings.invalid.question,
          })}
        />
        <TextField
          label={strings.tags}
          help={strings.tagsHelp}
          fault={errors.tags?.message}
          {...register("tags")}
        />
        <TextField
          type="number"
          label={strings.size}
          help={strings.sizeHelp}
          fault={errors.size?.message}
          className="max-w-48"
          {...register("size", {
            valueAsNumber: true,
            validate: (size) =>
              (Number.isInteger(size) && size >= 256 && size <= 8192) || strings.invalid.size,
          })}
        />
      </FormSection>
      <RefreshFields form={form} />
      <ScopeFields form={form} bank={bank} model={model} />
      <ReadingFields form={form} />
      <FormSection title={strings.output}>
        <Output form={form} onSchema={onSchema} />
      </FormSection>
      <FormSection title={strings.diagnostics}>
        <Checkbox
          label={strings.keepTrace}
          help={strings.keepTraceHelp}
          {...register("keepTrace")}
        />
      </FormSection>
    </>
  );
}

/** Names shown before the rest is counted. */
const named = 6;

/** What the schema asks for in one line, and the way to its builder. */
function Output({ form, onSchema }: { form: Form; onSchema: () => void }) {
  const text = useWatch({ control: form.control, name: "schema" });
  const fault = form.formState.errors.schema?.message;
  const none = text.trim() === "";
  const { node } = readJson(text);
  const names = node
    ? fieldsOf(text, node)
        .filter(({ level }) => level === 0)
        .map(({ name }) => name)
    : [];
  const said = none
    ? strings.outputNone
    : node
      ? strings.outputFields(names.slice(0, named), names.length - named)
      : strings.outputBroken;
  return (
    <div className="grid gap-2">
      <p className="text-muted">{strings.outputHelp}</p>
      <p>{said}</p>
      {fault && <p className="type-small text-bad">{fault}</p>}
      <Button className="justify-self-start" onClick={onSchema}>
        {none ? strings.outputMake : strings.outputChange}
      </Button>
    </div>
  );
}

/** Puts what the engine found on the fields that it names, and gives back what belongs to none. */
export function useFieldFaults(form: Form, report: Report | null): Report | null {
  useEffect(() => {
    for (const { field, message } of report?.fields ?? []) {
      const own = fieldOf(field, form.getValues());
      if (own) form.setError(own, { message }, { shouldFocus: true });
    }
  }, [form, report]);
  if (report === null) return null;
  const left = report.fields.filter(({ field }) => !fieldOf(field, form.getValues()));
  return report.fields.length > 0 && left.length === 0 ? null : { ...report, fields: left };
}
