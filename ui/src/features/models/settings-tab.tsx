import { useForm } from "react-hook-form";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { ReportCard } from "~/components/report";
import { useCommands } from "~/keys/use-commands";
import { dayTime } from "~/lib/format";
import type { BankId, ModelDetail } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./form-strings";
import { type FormValues, patchOf, valuesOf } from "./form-values";
import { ModelFields, useFieldFaults } from "./model-form";
import { Reach } from "./reach";

/** The same fields as when the model was made. */
export function SettingsTab({ bank, detail }: { bank: BankId; detail: ModelDetail }) {
  const form = useForm<FormValues>({ values: valuesOf(detail) });
  const update = useWrite("updateModel");
  const announce = useAnnounce();
  const { isDirty } = form.formState;
  useFieldFaults(form, update.error);

  const save = form.handleSubmit((values) =>
    update.mutate([bank, detail.model.id, patchOf(values)], {
      onSuccess: (saved) => {
        form.reset(valuesOf(saved));
        announce(strings.saved);
      },
    }),
  );
  useCommands({ "model.save": isDirty ? () => void save() : strings.unchanged });

  return (
    <form onSubmit={save} className="flex min-h-0 flex-1 flex-col" noValidate>
      <div className="scroll-quiet min-h-0 flex-1">
        <div className="max-w-[40rem] px-4">
          {update.error && update.error.fields.length === 0 && (
            <ReportCard report={update.error} className="mt-4" />
          )}
          <ModelFields form={form} reach={<Reach bank={bank} control={form.control} />} />
          {detail.next_runs.length > 0 && (
            <section aria-label={strings.nextRuns} className="pb-6">
              <h2 className="type-small pb-1 font-medium text-muted">{strings.nextRuns}</h2>
              <ul>
                {detail.next_runs.map((at) => (
                  <li key={at} className="type-small flex gap-3">
                    <time dateTime={at}>{dayTime(at)}</time>
                    <span className="text-faint">
                      {new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
      </div>
      <div className="flex min-h-(--foot) shrink-0 items-center justify-end gap-2 border-line border-t bg-sunken px-4">
        <Button
          type="submit"
          kind="primary"
          command="model.save"
          unavailable={isDirty ? undefined : strings.unchanged}
          disabled={update.isPending}
        >
          {strings.save}
        </Button>
      </div>
    </form>
  );
}
