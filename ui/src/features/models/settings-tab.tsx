import { type FormEvent, useState } from "react";
import { useForm } from "react-hook-form";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { SchemaBuilder } from "~/components/schema/schema-builder";
import { useCommands } from "~/keys/use-commands";
import type { BankId, ModelDetail } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./form-strings";
import { type FormValues, patchOf, valuesOf } from "./form-values";
import { Guidance } from "./guidance";
import { ModelFields, useFieldFaults } from "./model-form";
import { PublishCard } from "./publish-card";
import { Summary } from "./summary";
import { useEmptyScope } from "./use-empty-scope";
import { useFormGate } from "./use-form-gate";
import { useKeptChanges } from "./use-kept-changes";

/** The same fields as when the model was made. */
export function SettingsTab({ bank, detail }: { bank: BankId; detail: ModelDetail }) {
  // Taken once: a refresh that ends meanwhile must not undo what a person has typed.
  const form = useForm<FormValues>({ defaultValues: valuesOf(detail) });
  const update = useWrite("updateModel");
  const announce = useAnnounce();
  const [building, setBuilding] = useState(false);
  const draft = useKeptChanges(form, `settings ${bank} ${detail.model.id}`);
  const gate = useFormGate(form);
  const { isDirty } = form.formState;
  const unavailable = gate ?? (isDirty ? undefined : strings.unchanged);
  const refused = useFieldFaults(form, update.error);
  const scope = useEmptyScope(bank);

  const send = form.handleSubmit(async (values) => {
    // The form can be sent by other ways than its button.
    if (unavailable !== undefined || update.isPending) return;
    await scope.check(values, () =>
      update.mutate([bank, detail.model.id, patchOf(values)], {
        onSuccess: (saved) => {
          form.reset(valuesOf(saved));
          draft.drop();
          announce(strings.saved);
        },
      }),
    );
  });
  const save = (event?: FormEvent) => {
    // What the engine found before may be mended where the form's own rules do not look.
    form.clearErrors();
    return send(event);
  };
  useCommands({
    "model.save": building ? strings.inBuilder : (unavailable ?? (() => void save())),
  });

  return (
    <>
      {building && (
        <SchemaBuilder
          name={detail.model.name}
          begin={form.getValues("schema")}
          document={detail.content}
          model={[bank, detail.model.id]}
          onText={(text) => form.setValue("schema", text, { shouldDirty: true })}
          onBack={() => setBuilding(false)}
        />
      )}
      <form onSubmit={save} className="flex min-h-0 flex-1 flex-col" noValidate hidden={building}>
        <div className="scroll-quiet min-h-0 flex-1">
          <div className="grid max-w-[60rem] grid-cols-[minmax(0,1fr)_16rem] gap-8 px-4 max-[1100px]:grid-cols-1">
            <div>
              {refused && <ReportCard report={refused} className="mt-4" />}
              <ModelFields
                form={form}
                bank={bank}
                model={detail.model.id}
                onSchema={() => setBuilding(true)}
              />
              <PublishCard bank={bank} detail={detail} />
              <Guidance bank={bank} detail={detail} />
            </div>
            <Summary bank={bank} control={form.control} />
          </div>
        </div>
        <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
          <Button
            disabled={!isDirty}
            onClick={() => {
              form.reset(valuesOf(detail));
              draft.drop();
            }}
          >
            {strings.discard}
          </Button>
          {draft.begun && <span className="type-small text-muted">{strings.begun}</span>}
          <Button
            type="submit"
            kind="primary"
            command="model.save"
            className="ml-auto"
            unavailable={unavailable}
            disabled={update.isPending}
          >
            {strings.save}
          </Button>
        </div>
      </form>
      {scope.question}
    </>
  );
}
