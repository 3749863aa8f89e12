import { ListFilter } from "lucide-react";
import { useState } from "react";
import { Controller, useWatch } from "react-hook-form";
import { Checkbox, FilterField, SelectField, TextField } from "~/components/field";
import { Shown } from "~/components/shown";
import type { BankId, FactType, ModelId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { isCount } from "./form-refresh";
import { type Form, FormChoice, FormSection } from "./form-section";
import { strings } from "./form-strings";
import { GroupEditor } from "./group-editor";
import { MatchChoice, Reach } from "./reach";

const kinds = Object.keys(strings.kindNames) as FactType[];

/** Which memories a model reads, with how many that are now. */
export function ScopeFields({
  form,
  bank,
  model,
}: {
  form: Form;
  bank: BankId;
  /** The model itself is never read by itself. */
  model: ModelId | null;
}) {
  const { control, register, formState } = form;
  const { errors } = formState;
  const scopeBy = useWatch({ control, name: "scopeBy" });
  return (
    <FormSection title={strings.scope}>
      <FormChoice
        form={form}
        name="scopeBy"
        label={strings.scopeBy}
        options={[
          { value: "tags", label: strings.byTags },
          { value: "groups", label: strings.byGroups, help: strings.byGroupsHelp },
        ]}
      />
      {scopeBy === "tags" ? (
        <MatchChoice form={form} bank={bank} />
      ) : (
        <Controller
          control={control}
          name="groups"
          render={({ field }) => (
            <GroupEditor
              nodes={field.value}
              fault={errors.groups?.message}
              onNodes={field.onChange}
            />
          )}
        />
      )}
      <fieldset className="grid gap-1">
        <legend className="type-small mb-1 font-medium text-muted">{strings.kinds}</legend>
        {kinds.map((kind) => (
          <Checkbox
            key={kind}
            label={strings.kindNames[kind]}
            {...register(`kinds.${kind}`, {
              validate: (_, values) =>
                kinds.some((other) => values.kinds[other]) || strings.kindsNone,
            })}
          />
        ))}
        {errors.kinds && (
          <p className="type-small text-bad">{errors.kinds.message ?? strings.kindsNone}</p>
        )}
      </fieldset>
      <Reach bank={bank} control={control} />
      <Excluded form={form} bank={bank} model={model} />
    </FormSection>
  );
}

/** From so many models on they are looked for by name. */
const many = 20;

/** Other models are left out as a whole, or single ones. */
function Excluded({ form, bank, model }: { form: Form; bank: BankId; model: ModelId | null }) {
  const { control, register } = form;
  const all = useWatch({ control, name: "excludeModels" });
  const models = useRead("listModels", [bank]).data;
  const [words, setWords] = useState("");
  // Those that are left out already come first, so that they are seen among many.
  const [out] = useState(() => new Set(form.getValues("excludeIds")));
  const others = (models ?? []).filter(({ id }) => id !== model);
  const wanted = others
    .filter(({ name }) => name.toLowerCase().includes(words.trim().toLowerCase()))
    .toSorted((a, b) => Number(out.has(b.id)) - Number(out.has(a.id)));
  return (
    <>
      <Checkbox
        label={strings.noModels}
        help={strings.noModelsHelp}
        {...register("excludeModels")}
      />
      {others.length > 0 && !all && (
        <Controller
          control={control}
          name="excludeIds"
          render={({ field }) => (
            <fieldset>
              <legend className="type-small mb-1 font-medium text-muted">{strings.excluded}</legend>
              {others.length > many && (
                <FilterField
                  label={strings.excludedFilter}
                  icon={ListFilter}
                  value={words}
                  onChange={(event) => setWords(event.target.value)}
                  onKeyDown={(event) => {
                    // It is no field of the form, which Enter would send.
                    if (event.key === "Enter") event.preventDefault();
                  }}
                  className="mb-1 max-w-72"
                />
              )}
              <div className="scroll-quiet grid max-h-40 gap-x-4 gap-y-0.5 rounded-md border border-line px-3 py-2 [grid-template-columns:repeat(auto-fill,minmax(11rem,1fr))]">
                <Shown items={wanted}>
                  {({ id, name }) => (
                    <Checkbox
                      key={id}
                      label={<span className="truncate">{name}</span>}
                      checked={field.value.includes(id)}
                      onChange={(event) =>
                        field.onChange(
                          event.target.checked
                            ? [...field.value, id]
                            : field.value.filter((other) => other !== id),
                        )
                      }
                    />
                  )}
                </Shown>
              </div>
            </fieldset>
          )}
        />
      )}
    </>
  );
}

/** How much a refresh reads; empty fields take the bank's values. */
export function ReadingFields({ form }: { form: Form }) {
  const { register, formState } = form;
  const { errors } = formState;
  const tokens = {
    validate: (text: string) => isCount(text, 1) || strings.invalid.positive,
  };
  return (
    <FormSection title={strings.reading}>
      <div className="grid gap-4 [grid-template-columns:repeat(auto-fill,minmax(14rem,1fr))]">
        <SelectField label={strings.budget} options={strings.budgets} {...register("budget")} />
        <TextField
          inputMode="numeric"
          label={strings.recallTokens}
          help={strings.bankValue}
          fault={errors.recallTokens?.message}
          {...register("recallTokens", tokens)}
        />
        <SelectField label={strings.chunks} options={strings.yesNo} {...register("chunks")} />
        <TextField
          inputMode="numeric"
          label={strings.chunkTokens}
          help={strings.bankValue}
          fault={errors.chunkTokens?.message}
          {...register("chunkTokens", tokens)}
        />
        <SelectField
          label={strings.observationEntities}
          options={strings.yesNo}
          {...register("observationEntities")}
        />
        <TextField
          inputMode="numeric"
          label={strings.observationTokens}
          help={strings.bankValue}
          fault={errors.observationTokens?.message}
          {...register("observationTokens", tokens)}
        />
      </div>
    </FormSection>
  );
}
