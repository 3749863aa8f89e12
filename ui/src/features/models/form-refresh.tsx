import { Controller, useWatch } from "react-hook-form";
import { Checkbox, TextField } from "~/components/field";
import { CronField } from "./cron-field";
import { type Form, FormChoice, FormSection } from "./form-section";
import { strings } from "./form-strings";

/** Text of a whole number or of nothing. */
export function isCount(text: string, least: number): boolean {
  return text.trim() === "" || (/^\d+$/.test(text.trim()) && Number(text) >= least);
}

/** When a model refreshes, how, and who decides. */
export function RefreshFields({ form }: { form: Form }) {
  const { control, register, formState } = form;
  const { errors } = formState;
  const when = useWatch({ control, name: "when" });
  const mode = useWatch({ control, name: "mode" });
  const rebuild = useWatch({ control, name: "rebuild" });
  return (
    <FormSection title={strings.refresh}>
      <FormChoice
        form={form}
        name="when"
        label={strings.when}
        options={[
          { value: "manual", label: strings.manual, help: strings.manualHelp },
          { value: "after", label: strings.after, help: strings.afterHelp },
          { value: "schedule", label: strings.schedule, help: strings.scheduleHelp },
        ]}
      />
      {when === "schedule" && (
        <Controller
          control={control}
          name="cron"
          render={({ field }) => (
            <CronField
              label={strings.cron.label}
              value={field.value}
              fault={errors.cron?.message}
              onValue={field.onChange}
            />
          )}
        />
      )}
      {when !== "manual" && (
        <TextField
          inputMode="numeric"
          label={strings.pause}
          help={strings.pauseHelp}
          fault={errors.pause?.message}
          className="max-w-80"
          {...register("pause", {
            validate: (text) => isCount(text, 0) || strings.invalid.whole,
          })}
        />
      )}
      <FormChoice
        form={form}
        name="mode"
        label={strings.mode}
        options={[
          { value: "delta", label: strings.delta, help: strings.deltaHelp },
          { value: "full", label: strings.full, help: strings.fullHelp },
        ]}
      />
      <Checkbox
        label={strings.rebuild}
        help={mode === "full" ? strings.rebuildOnlyDelta : strings.rebuildHelp}
        disabled={mode === "full"}
        {...register("rebuild")}
      />
      {mode === "delta" && rebuild && (
        <Controller
          control={control}
          name="rebuildCron"
          render={({ field }) => (
            <CronField
              label={strings.cron.rebuildLabel}
              value={field.value}
              fault={errors.rebuildCron?.message}
              onValue={field.onChange}
            />
          )}
        />
      )}
      {mode === "delta" && (
        <>
          <FormChoice
            form={form}
            name="failurePolicy"
            label={strings.failures}
            options={[
              { value: "propose_full", label: strings.proposeFull, help: strings.proposeFullHelp },
              { value: "fail", label: strings.fail, help: strings.failHelp },
            ]}
          />
          <TextField
            inputMode="numeric"
            label={strings.failureLimit}
            fault={errors.failureLimit?.message}
            className="max-w-48"
            {...register("failureLimit", {
              validate: (text) =>
                (text.trim() !== "" && isCount(text, 1)) || strings.invalid.positive,
            })}
          />
        </>
      )}
      <FormChoice
        form={form}
        name="review"
        label={strings.review}
        options={[
          { value: "manual", label: strings.reviewManual, help: strings.reviewManualHelp },
          { value: "auto", label: strings.reviewAuto, help: strings.reviewAutoHelp },
        ]}
      />
    </FormSection>
  );
}
