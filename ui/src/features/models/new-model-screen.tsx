import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { Button } from "~/components/button";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SchemaBuilder } from "~/components/schema/schema-builder";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import type { BankId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./form-strings";
import { emptyValues, type FormValues, type Given, newModelOf, reviewOf } from "./form-values";
import { ModelFields, useFieldFaults } from "./model-form";
import { Summary } from "./summary";
import { useEmptyScope } from "./use-empty-scope";
import { useFormGate } from "./use-form-gate";
import { useKeptChanges } from "./use-kept-changes";

/** Makes a model: a page, not a dialog, with what it will do at the side. */
export function NewModelScreen({
  bank,
  template,
  given,
}: {
  bank: BankId;
  template: string | undefined;
  given?: Given;
}) {
  const form = useForm<FormValues>({ defaultValues: emptyValues(template, given) });
  const create = useWrite("createModel");
  const navigate = useNavigate();
  const [building, setBuilding] = useState(false);
  // The bank may say who decides on new models; what a person has chosen in the form stays.
  const usual = reviewOf(useRead("bankSettings", [bank]).data);
  useEffect(() => {
    if (usual && !form.getFieldState("review").isDirty) {
      form.resetField("review", { defaultValue: usual });
    }
  }, [form, usual]);
  // What is begun from a template or a question is kept apart from what is begun from nothing.
  const draft = useKeptChanges(form, `new ${bank} ${template ?? ""} ${given?.question ?? ""}`);
  const gate = useFormGate(form);
  const refused = useFieldFaults(form, create.error);
  const scope = useEmptyScope(bank);

  const leave = () => {
    draft.drop();
    void navigate({ to: "/b/$bank/models", params: { bank }, search: {} });
  };
  const save = (values: FormValues) =>
    create.mutate([bank, newModelOf(values)], {
      onSuccess: ({ id }) => {
        draft.drop();
        say(strings.created(values.name));
        void navigate({
          to: "/b/$bank/models/$model/{-$tab}",
          params: { bank, model: id, tab: undefined },
        });
      },
    });
  const send = form.handleSubmit(async (values) => {
    // The form can be sent by other ways than its button.
    if (gate !== null || create.isPending) return;
    await scope.check(values, () => save(values));
  });
  const make = (event?: FormEvent) => {
    // What the engine found before may be mended where the form's own rules do not look.
    form.clearErrors();
    return send(event);
  };
  useCommands({ "model.save": building ? strings.inBuilder : (gate ?? (() => void make())) });

  return (
    <section
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      aria-label={strings.title}
      data-pane
      tabIndex={-1}
    >
      <PaneHead level={1} title={strings.title} />
      {building && (
        <SchemaBuilder
          name={form.getValues("name") || strings.title}
          begin={form.getValues("schema")}
          document=""
          model={null}
          onText={(text) => form.setValue("schema", text, { shouldDirty: true })}
          onBack={() => setBuilding(false)}
        />
      )}
      <form onSubmit={make} className="flex min-h-0 flex-1 flex-col" noValidate hidden={building}>
        <div className="scroll-quiet min-h-0 flex-1">
          <div className="mx-auto grid max-w-[60rem] grid-cols-[minmax(0,1fr)_16rem] gap-8 px-4 max-[1100px]:grid-cols-1">
            <div>
              {refused && <ReportCard report={refused} className="mt-4" />}
              <ModelFields
                form={form}
                bank={bank}
                model={null}
                onSchema={() => setBuilding(true)}
              />
            </div>
            <Summary bank={bank} control={form.control} />
          </div>
        </div>
        <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
          <Button onClick={leave}>{strings.cancel}</Button>
          {draft.begun && <span className="type-small text-muted">{strings.begun}</span>}
          <Button
            type="submit"
            kind="primary"
            command="model.save"
            className="ml-auto"
            unavailable={gate ?? undefined}
            disabled={create.isPending}
          >
            {strings.create}
          </Button>
        </div>
      </form>
      {scope.question}
    </section>
  );
}
