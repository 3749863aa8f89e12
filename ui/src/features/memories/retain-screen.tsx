import { useNavigate } from "@tanstack/react-router";
import { useForm } from "react-hook-form";
import { Button } from "~/components/button";
import { SelectField, TextArea, TextField } from "~/components/field";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { say } from "~/components/toast";
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

/** Keeps a text: left the text, right what is said about it. */
export function RetainScreen({ bank }: { bank: BankId }) {
  const navigate = useNavigate();
  const hasModel = useRead("appStatus", []).data?.answering.kind === "llm";
  const retain = useWrite("retainText");
  const { register, handleSubmit, formState } = useForm<Values>({
    defaultValues: {
      text: "",
      title: "",
      context: "",
      written: "",
      tags: "",
      mode: hasModel ? "concise" : "chunks",
    },
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
          tags: values.tags
            .split(",")
            .map((tag) => tag.trim().replace(/^#/, ""))
            .filter((tag) => tag !== ""),
          mode: values.mode,
        },
      ],
      {
        onSuccess: () => {
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
            {report && report.fields.length === 0 && (
              <ReportCard report={report} className="mb-3" />
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
              <TextField label={words.name} {...register("title")} />
              <TextField label={words.context} help={words.contextHelp} {...register("context")} />
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
          <Button onClick={leave}>{strings.cancel}</Button>
          <Button type="submit" kind="primary" className="ml-auto" disabled={retain.isPending}>
            {words.act}
          </Button>
        </div>
      </form>
    </section>
  );
}
