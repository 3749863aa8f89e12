import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { Button } from "~/components/button";
import { SelectField, TextArea, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import { PaneHead } from "~/components/panes";
import { ScrollText } from "~/components/scroll";
import { say } from "~/components/toast";
import { tagsIn } from "~/lib/tags";
import { useFormDraft } from "~/lib/use-form-draft";
import type { BankId, ExtractionMode } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { instantOf } from "./filter";
import { strings } from "./import-strings";

const words = strings.retain;

interface Values {
  text: string;
  title: string;
  context: string;
  written: string;
  tags: string;
  mode: ExtractionMode;
}

/** Fields that show their own fault. */
const placed = ["text", "title", "context", "timestamp", "tags", "mode"];

/** Whether nothing has been written that would be missed. */
const isBlank = ({ text, title, context, written, tags }: Values): boolean =>
  [text, title, context, written, tags].every((each) => each.trim() === "");

/** Keeps a text: left the text, right what is said about it. */
export function RetainScreen({ bank }: { bank: BankId }) {
  const navigate = useNavigate();
  const hasModel = useRead("appStatus", []).data?.answering.kind === "llm";
  const retain = useWrite("retainText");
  const [begin] = useState<Values>({
    text: "",
    title: "",
    context: "",
    written: "",
    tags: "",
    mode: hasModel ? "concise" : "chunks",
  });
  const draft = useFormDraft(`retain ${bank}`, begin, isBlank);
  const [begun, setBegun] = useState(draft.begun);
  const form = useForm<Values>({ defaultValues: draft.values });
  const { register, handleSubmit, reset, watch, formState } = form;
  useEffect(() => {
    const { unsubscribe } = watch((values) => draft.keep(values as Values));
    return unsubscribe;
  });
  const { errors } = formState;
  const leave = () =>
    void navigate({
      to: "/b/$bank/memories/{-$memory}",
      params: { bank, memory: undefined },
      search: {},
    });
  const submit = handleSubmit((values) =>
    retain.mutate(
      [
        bank,
        {
          text: values.text,
          title: values.title.trim() || null,
          context: values.context.trim() || null,
          timestamp: instantOf(values.written),
          tags: tagsIn(values.tags),
          mode: values.mode,
        },
      ],
      {
        onSuccess: () => {
          draft.drop();
          say(words.kept(values.title.trim() || words.untitled));
          leave();
        },
      },
    ),
  );
  const report = retain.error;
  return (
    <section
      aria-label={words.title}
      data-pane
      tabIndex={-1}
      data-focus-inside
      className="flex min-h-0 min-w-0 flex-1 flex-col"
    >
      <PaneHead level={1} title={words.title} about={words.about} />
      <form onSubmit={submit} noValidate className="flex min-h-0 flex-1 flex-col">
        <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)_18rem]">
          <div className="flex min-h-0 flex-col px-4 py-3">
            {begun && (
              <p role="status" className="type-small mb-2 flex items-center gap-2 text-muted">
                {words.begun}
                <Button
                  kind="plain"
                  size="small"
                  onClick={() => {
                    reset(begin);
                    draft.drop();
                    setBegun(false);
                  }}
                >
                  {words.anew}
                </Button>
              </p>
            )}
            {report && (
              <div className="mb-3">
                <FormReport report={report} placed={placed} />
              </div>
            )}
            <TextArea
              label={words.text}
              fault={errors.text?.message ?? fieldMessage(report, "text")}
              className="type-doc min-h-0 flex-1 grid-rows-[auto_minmax(0,1fr)_auto] [&_textarea]:h-full [&_textarea]:resize-none [&_textarea]:px-3 [&_textarea]:py-2"
              {...register("text", { validate: (text) => text.trim() !== "" || words.blank })}
            />
          </div>
          <ScrollText label={words.options} className="border-line border-l px-4 py-3">
            <div className="grid gap-3">
              <TextField
                label={words.name}
                fault={fieldMessage(report, "title")}
                {...register("title")}
              />
              <TextField
                label={words.context}
                help={words.contextHelp}
                fault={fieldMessage(report, "context")}
                {...register("context")}
              />
              <TextField
                label={words.written}
                help={words.dateHelp}
                fault={errors.written?.message ?? fieldMessage(report, "timestamp")}
                {...register("written", {
                  validate: (text) =>
                    text.trim() === "" || instantOf(text) !== null || words.badDate,
                })}
              />
              <TextField
                label={strings.tags}
                help={strings.tagsHelp}
                fault={fieldMessage(report, "tags")}
                {...register("tags")}
              />
              <SelectField
                label={strings.mode}
                fault={fieldMessage(report, "mode")}
                help={hasModel ? undefined : words.modeOnly}
                options={[
                  { value: "chunks", label: strings.modes.chunks },
                  ...(hasModel ? [{ value: "concise", label: strings.modes.concise }] : []),
                ]}
                {...register("mode")}
              />
            </div>
          </ScrollText>
        </div>
        <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
          <Button
            onClick={() => {
              draft.drop();
              leave();
            }}
          >
            {strings.cancel}
          </Button>
          <Button type="submit" kind="primary" className="ml-auto" disabled={retain.isPending}>
            {words.act}
          </Button>
        </div>
      </form>
    </section>
  );
}
