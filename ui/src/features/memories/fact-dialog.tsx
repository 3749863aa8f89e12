import { useId } from "react";
import { useForm } from "react-hook-form";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { useDiscard } from "~/components/discard";
import { SelectField, TextArea, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import { attend } from "~/components/left-behind";
import { say } from "~/components/toast";
import { namesIn, tagsIn } from "~/lib/tags";
import type { BankId, EditFact, MemoryId, MemoryRow, NewFact } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { instantOf } from "./filter";
import { strings } from "./strings";

const words = strings.factForm;

/** Fields that show their own fault; those of a new fact alone come last. */
const placed = ["text", "tags", "occurred_start", "occurred_end"];
const placedNew = [...placed, "fact_type", "entities", "context"];

interface Values {
  text: string;
  kind: "world" | "experience";
  context: string;
  from: string;
  to: string;
  tags: string;
  entities: string;
}

const dated = (text: string) => text.trim() === "" || instantOf(text) !== null || words.badDate;
const dayOf = (instant: string | null | undefined) => instant?.slice(0, 10) ?? "";

/** Makes a fact, or changes one when `memory` is given. */
export function FactDialog({
  bank,
  memory,
  onClose,
  onMade,
}: {
  bank: BankId;
  memory: MemoryRow | null;
  onClose: () => void;
  onMade: (id: MemoryId) => void;
}) {
  const add = useWrite("addMemory");
  const edit = useWrite("editMemory");
  const remove = useWrite("deleteMemory");
  const change = useWrite("editMemory");
  const announce = useAnnounce();
  const form = useId();
  const { register, handleSubmit, formState } = useForm<Values>({
    defaultValues: {
      text: memory?.text ?? "",
      kind: memory?.fact_type === "experience" ? "experience" : "world",
      context: memory?.context ?? "",
      from: dayOf(memory?.occurred_start),
      to: dayOf(memory?.occurred_end),
      tags: memory?.tags.join(", ") ?? "",
      entities: memory?.entities.join(", ") ?? "",
    },
  });
  const { errors, isDirty } = formState;
  const { leave, question } = useDiscard(isDirty, onClose);
  const report = add.error ?? edit.error;
  const busy = add.isPending || edit.isPending;

  const done = (row: MemoryRow, message: string, undo: () => void) => {
    announce(message);
    say(message, { label: words.undo, run: undo });
    onMade(row.id);
    onClose();
  };
  const submit = handleSubmit((values) => {
    const from = instantOf(values.from);
    const to = instantOf(values.to);
    if (memory) {
      const edited: EditFact = {
        text: values.text.trim(),
        tags: tagsIn(values.tags),
        occurred_start: from,
        occurred_end: to,
      };
      edit.mutate([bank, memory.id, edited], {
        onSuccess: (row) =>
          done(row, words.saved, () => {
            const { text, tags, occurred_start, occurred_end } = memory;
            void attend(strings.notUndone, () =>
              change.mutateAsync([bank, memory.id, { text, tags, occurred_start, occurred_end }]),
            );
          }),
      });
      return;
    }
    const fact: NewFact = {
      text: values.text.trim(),
      fact_type: values.kind,
      context: values.context.trim() || null,
      occurred_start: from,
      occurred_end: to,
      tags: tagsIn(values.tags),
      entities: namesIn(values.entities),
    };
    add.mutate([bank, fact], {
      onSuccess: (row) =>
        done(row, words.added, () => {
          void attend(strings.notUndone, () => remove.mutateAsync([bank, row.id]));
        }),
    });
  });

  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && leave()}
      title={memory ? words.editTitle : words.addTitle}
      about={memory ? words.editAbout : words.addAbout}
      foot={
        <>
          <Button onClick={leave}>{words.cancel}</Button>
          <Button kind="primary" type="submit" form={form} disabled={busy}>
            {memory ? words.save : words.add}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-3">
        <FormReport report={report} placed={memory ? placed : placedNew} />
        <TextArea
          label={words.text}
          fault={errors.text?.message ?? fieldMessage(report, "text")}
          {...register("text", { validate: (text) => text.trim() !== "" || words.blank })}
        />
        {!memory && (
          <SelectField
            label={words.kind}
            fault={fieldMessage(report, "fact_type")}
            options={[
              { value: "world", label: words.world },
              { value: "experience", label: words.experience },
            ]}
            {...register("kind")}
          />
        )}
        <div className="grid grid-cols-2 items-start gap-3">
          <TextField
            label={words.from}
            help={words.dateHelp}
            className="content-start"
            fault={errors.from?.message ?? fieldMessage(report, "occurred_start")}
            {...register("from", { validate: dated })}
          />
          <TextField
            label={words.to}
            className="content-start"
            fault={errors.to?.message ?? fieldMessage(report, "occurred_end")}
            {...register("to", { validate: dated })}
          />
        </div>
        <TextField
          label={words.tags}
          help={words.tagsHelp}
          fault={fieldMessage(report, "tags")}
          {...register("tags")}
        />
        {!memory && (
          <>
            <TextField
              label={words.entities}
              help={words.entitiesHelp}
              fault={fieldMessage(report, "entities")}
              {...register("entities")}
            />
            <TextField
              label={words.context}
              fault={fieldMessage(report, "context")}
              {...register("context")}
            />
          </>
        )}
      </form>
      {question}
    </FormDialog>
  );
}
