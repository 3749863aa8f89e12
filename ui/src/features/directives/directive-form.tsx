import { ArrowDown, ArrowUp, Trash2, X } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { useForm } from "react-hook-form";
import { useAnnounce } from "~/components/announce";
import { Button, IconButton } from "~/components/button";
import { TextArea, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import { Keys } from "~/components/keys";
import { PaneHead } from "~/components/panes";
import { StateWord } from "~/components/state";
import { useCommands } from "~/keys/use-commands";
import { tagsIn } from "~/lib/tags";
import { useFormDraft } from "~/lib/use-form-draft";
import type { BankId, Directive, DirectiveId } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { strings } from "./strings";
import { type DirectiveActs, nameOf } from "./use-acts";

const words = strings.form;
const placed = ["name", "content", "tags", "priority"];

export interface Values {
  name: string;
  content: string;
  tags: string;
  priority: string;
}

export const nothing: Values = { name: "", content: "", tags: "", priority: "0" };

const valuesOf = ({ name, content, tags, priority }: Directive): Values => ({
  name,
  content,
  tags: tags.join(", "),
  priority: `${priority}`,
});

const whole = (text: string) => /^[-−]?\d{1,9}$/.test(text.trim()) || words.notWhole;

/** Makes a rule, or changes one. What is typed stays on this machine until it is saved. */
export function DirectiveForm({
  bank,
  directive,
  begin,
  acts,
  onMade,
  onClose,
  onRemove,
}: {
  bank: BankId;
  /** Null for a new one. */
  directive: Directive | null;
  /** What a new one begins with. */
  begin: Values;
  acts: DirectiveActs;
  onMade: (id: DirectiveId) => void;
  onClose: () => void;
  onRemove: (of: Directive) => void;
}) {
  const id = useId();
  const box = useRef<HTMLFormElement>(null);
  const create = useWrite("createDirective");
  const update = useWrite("updateDirective");
  const announce = useAnnounce();
  const stored = directive ? valuesOf(directive) : begin;
  const same = (values: Values) => JSON.stringify(values) === JSON.stringify(stored);
  const draft = useFormDraft(`directive ${bank} ${directive?.id ?? "new"}`, stored, same);
  const [begun, setBegun] = useState(draft.begun);
  const form = useForm<Values>({ defaultValues: stored, values: undefined });
  const { register, handleSubmit, reset, watch, formState } = form;
  // biome-ignore lint/correctness/useExhaustiveDependencies: an earlier draft is laid over what is stored, once
  useEffect(() => {
    if (draft.begun) reset(draft.values, { keepDefaultValues: true });
  }, []);
  useEffect(() => {
    const { unsubscribe } = watch((values) => draft.keep({ ...stored, ...values }));
    return unsubscribe;
  });
  const { errors, isDirty } = formState;
  const report = create.error ?? update.error;
  const unavailable = directive && !isDirty ? words.unchanged : undefined;

  const submit = handleSubmit((values) => {
    if (unavailable !== undefined || create.isPending || update.isPending) return;
    const fields = {
      name: values.name.trim(),
      content: values.content.trim(),
      tags: tagsIn(values.tags),
      priority: Number(values.priority.trim().replace("−", "-")),
    };
    const done = (row: Directive, said: string) => {
      draft.drop();
      setBegun(false);
      reset(valuesOf(row));
      announce(said);
    };
    if (directive) {
      update.mutate([bank, directive.id, fields], {
        onSuccess: (row) => done(row, words.saved(nameOf(row))),
      });
    } else {
      create.mutate([bank, fields], {
        onSuccess: (row) => {
          done(row, words.made(nameOf(row)));
          onMade(row.id);
        },
      });
    }
  });
  useCommands({
    "directives.save": unavailable ?? (() => void submit()),
    "directives.edit": () => box.current?.querySelector("textarea")?.focus(),
    "directives.close": onClose,
  });
  const step = (by: -1 | 1) => {
    const act = directive ? acts.step(directive, by) : "";
    return typeof act === "string"
      ? { unavailable: act, onClick: undefined }
      : { unavailable: undefined, onClick: act };
  };

  return (
    <>
      <PaneHead title={directive ? nameOf(directive) : words.newTitle}>
        <IconButton icon={X} name={words.close} command="directives.close" onClick={onClose} />
      </PaneHead>
      <form
        ref={box}
        id={id}
        onSubmit={submit}
        noValidate
        className="scroll-quiet flex min-h-0 flex-1 flex-col"
      >
        <div className="grid gap-3 px-4 py-3">
          {directive && (
            <div className="flex flex-wrap items-center gap-2">
              <StateWord
                mark={directive.is_active ? "tick" : "pause"}
                tone={directive.is_active ? "ok" : "muted"}
                className="mr-auto"
              >
                {directive.is_active ? words.on : words.off}
              </StateWord>
              <Button
                size="small"
                command="directives.toggle"
                onClick={() => acts.toggle(directive)}
              >
                {directive.is_active ? words.switchOff : words.switchOn}
              </Button>
            </div>
          )}
          {begun && (
            <p role="status" className="type-small flex items-center gap-2 text-muted">
              {words.begun}
              <Button
                kind="plain"
                size="small"
                onClick={() => {
                  reset(stored);
                  draft.drop();
                  setBegun(false);
                }}
              >
                {words.discard}
              </Button>
            </p>
          )}
          <FormReport report={report} placed={placed} />
          <TextField
            label={words.name}
            help={words.nameHelp}
            fault={fieldMessage(report, "name")}
            autoFocus={!directive}
            {...register("name")}
          />
          <TextArea
            label={words.content}
            help={words.contentHelp}
            rows={5}
            fault={errors.content?.message ?? fieldMessage(report, "content")}
            {...register("content", { validate: (text) => text.trim() !== "" || words.blank })}
          />
          <TextField
            label={words.tags}
            help={words.tagsHelp}
            fault={fieldMessage(report, "tags")}
            spellCheck={false}
            {...register("tags")}
          />
          <TextField
            label={words.priority}
            help={words.priorityHelp}
            inputMode="numeric"
            fault={errors.priority?.message ?? fieldMessage(report, "priority")}
            {...register("priority", { validate: whole })}
          />
          {directive && (
            <div className="flex flex-wrap gap-2">
              <Button size="small" icon={ArrowUp} {...step(-1)}>
                {words.up}
                <Keys of="directives.up" />
              </Button>
              <Button size="small" icon={ArrowDown} {...step(1)}>
                {words.down}
                <Keys of="directives.down" />
              </Button>
              <Button
                size="small"
                kind="danger"
                icon={Trash2}
                className="ml-auto"
                disabled={acts.busy}
                onClick={() => onRemove(directive)}
              >
                {words.delete}
              </Button>
            </div>
          )}
        </div>
      </form>
      <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
        <Button
          unavailable={isDirty ? undefined : words.unchanged}
          onClick={() => {
            reset(stored);
            draft.drop();
            setBegun(false);
          }}
        >
          {words.discard}
        </Button>
        <Button
          type="submit"
          form={id}
          kind="primary"
          command="directives.save"
          className="ml-auto"
          unavailable={unavailable}
          disabled={create.isPending || update.isPending}
        >
          {directive ? words.save : words.create}
        </Button>
      </div>
    </>
  );
}
