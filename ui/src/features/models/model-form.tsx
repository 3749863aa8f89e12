import { type ReactNode, useEffect } from "react";
import { Controller, type UseFormReturn, useWatch } from "react-hook-form";
import { Checkbox, RadioField, SelectField, TextArea, TextField } from "~/components/field";
import type { FactType, Report } from "~/platform/bindings";
import { strings } from "./form-strings";
import { type FormValues, fieldOf } from "./form-values";

type Form = UseFormReturn<FormValues>;

/** The fields of a model, for making one and for changing it. Rules live in the engine. */
export function ModelFields({ form, reach }: { form: Form; reach: ReactNode }) {
  const { register, control, formState } = form;
  const { errors } = formState;
  const when = useWatch({ control, name: "when" });
  const cron = useWatch({ control, name: "cron" });
  return (
    <>
      <Section title={strings.general}>
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
            validate: (size) => (size >= 256 && size <= 8192) || strings.invalid.size,
          })}
        />
      </Section>
      <Section title={strings.refresh}>
        <Choice
          form={form}
          name="when"
          label={strings.when}
          options={[
            { value: "manual", label: strings.manual, help: strings.manualHelp },
            { value: "after", label: strings.after, unavailable: strings.notByItself },
            { value: "schedule", label: strings.schedule, unavailable: strings.notByItself },
          ]}
        />
        {when === "schedule" && (
          <SelectField
            label={strings.cron}
            options={strings.presets}
            className="max-w-72"
            {...register("cron")}
          />
        )}
        {when === "schedule" && cron === "own" && (
          <TextField
            label={strings.expression}
            help={strings.expressionHelp}
            fault={errors.ownCron?.message}
            className="max-w-72"
            {...register("ownCron", {
              validate: (text) => text.trim().split(/\s+/).length === 5 || strings.invalid.cron,
            })}
          />
        )}
        <Choice
          form={form}
          name="mode"
          label={strings.mode}
          options={[
            { value: "delta", label: strings.delta, help: strings.deltaHelp },
            { value: "full", label: strings.full, help: strings.fullHelp },
          ]}
        />
        <Choice
          form={form}
          name="review"
          label={strings.review}
          options={[
            { value: "manual", label: strings.reviewManual, help: strings.reviewManualHelp },
            { value: "auto", label: strings.reviewAuto, help: strings.reviewAutoHelp },
          ]}
        />
      </Section>
      <Section title={strings.scope}>
        <fieldset className="grid gap-1">
          <legend className="type-small mb-1 font-medium text-muted">{strings.kinds}</legend>
          {(Object.keys(strings.kindNames) as FactType[]).map((kind) => (
            <Checkbox key={kind} label={strings.kindNames[kind]} {...register(`kinds.${kind}`)} />
          ))}
        </fieldset>
        <Checkbox label={strings.noModels} {...register("excludeModels")} />
        {reach}
      </Section>
      <Section title={strings.diagnostics}>
        <Checkbox label={strings.keepTrace} {...register("keepTrace")} />
      </Section>
    </>
  );
}

function Choice<N extends "when" | "mode" | "review">({
  form,
  name,
  label,
  options,
}: {
  form: Form;
  name: N;
  label: string;
  options: readonly {
    value: FormValues[N];
    label: string;
    help?: string;
    unavailable?: string;
  }[];
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

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid gap-4 border-line border-b py-5 last:border-b-0">
      <h2 className="type-strong">{title}</h2>
      {children}
    </section>
  );
}

/** Puts what the engine found on the fields that it names. */
export function useFieldFaults(form: Form, report: Report | null): void {
  useEffect(() => {
    for (const { field, message } of report?.fields ?? []) {
      const own = fieldOf(field);
      if (own) form.setError(own, { message });
    }
  }, [form, report]);
}
