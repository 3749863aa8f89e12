import { useNavigate } from "@tanstack/react-router";
import { File, FolderOpen } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "~/components/button";
import { RadioField, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import { PaneHead } from "~/components/panes";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { tagsIn } from "~/lib/tags";
import { useFormDraft } from "~/lib/use-form-draft";
import { usePlatform } from "~/platform";
import type { BankId, ExtractionMode, ImportFiles, OperationId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { ImportPlanList } from "./import-plan";
import { ImportProgress } from "./import-progress";
import { strings } from "./import-strings";

/** Choose, look at what would be read, start, watch, see what came of it. */
export function ImportScreen({
  bank,
  operation,
  onOperation,
}: {
  bank: BankId;
  /** The import that runs or has ended; null while it is being planned. */
  operation: OperationId | null;
  onOperation: (id: OperationId | null) => void;
}) {
  const navigate = useNavigate();
  const leave = () =>
    void navigate({
      to: "/b/$bank/memories/{-$memory}",
      params: { bank, memory: undefined },
      search: {},
    });
  return (
    <section
      aria-label={strings.title}
      data-pane
      tabIndex={-1}
      data-focus-inside
      className="flex min-h-0 min-w-0 flex-1 flex-col"
    >
      <PaneHead level={1} title={strings.title} />
      {operation ? (
        <ImportProgress
          bank={bank}
          id={operation}
          onAnother={() => onOperation(null)}
          onLeave={leave}
        />
      ) : (
        <Planning bank={bank} onStarted={onOperation} onLeave={leave} />
      )}
    </section>
  );
}

/** What is to be read, as far as it has been chosen. */
interface Choice {
  path: string;
  tags: string;
  paths: string[];
  /** Null until it is chosen: what fits the program then. */
  mode: ExtractionMode | null;
}

const nothing: Choice = { path: "", tags: "", paths: [], mode: null };
const isNothing = ({ path, tags, paths }: Choice): boolean =>
  path.trim() === "" && tags.trim() === "" && paths.length === 0;

function Planning({
  bank,
  onStarted,
  onLeave,
}: {
  bank: BankId;
  onStarted: (id: OperationId) => void;
  onLeave: () => void;
}) {
  const platform = usePlatform();
  const draft = useFormDraft<Choice>(`import ${bank}`, nothing, isNothing);
  const [{ path, tags, paths, mode }, setChoice] = useState(draft.values);
  const [fault, setFault] = useState<string | undefined>();
  const set = (part: Partial<Choice>) => {
    const next = { path, tags, paths, mode, ...part };
    setChoice(next);
    draft.keep(next);
  };
  const hasModel = useRead("appStatus", []).data?.answering.kind === "llm";
  const chosenMode = mode ?? (hasModel ? "concise" : "chunks");
  const input: ImportFiles = {
    paths,
    mode: chosenMode,
    tags: tagsIn(tags),
  };
  const plan = useRead("planImport", paths.length > 0 ? [bank, { paths }] : null);
  const start = useWrite("importFiles");
  const usable = plan.data?.files.filter(({ kind }) => kind !== "left_out").length ?? 0;

  const look = (event: FormEvent) => {
    event.preventDefault();
    const typed = path.trim();
    setFault(typed === "" ? strings.blank : undefined);
    if (typed === "") return;
    if (paths.length === 1 && paths[0] === typed) void plan.refetch();
    set({ paths: [typed] });
  };
  const choose = async (folders: boolean) => {
    const chosen = await platform.chooseFiles({ title: strings.chooseTitle, folders });
    if (!chosen || chosen.length === 0) return;
    setFault(undefined);
    set({ path: chosen.join(", "), paths: chosen });
  };

  return (
    <>
      <ScrollText label={strings.choice} className="px-4">
        <div className="mx-auto grid w-full max-w-[47.5rem] gap-4 py-4">
          <p className="text-pretty text-muted">{strings.about}</p>
          <form onSubmit={look} noValidate className="flex flex-wrap items-start gap-2">
            <TextField
              label={strings.path}
              help={strings.pathHelp}
              fault={fault ?? fieldMessage(plan.error, "paths")}
              value={path}
              onChange={({ target }) => set({ path: target.value })}
              className="min-w-64 flex-1"
              spellCheck={false}
            />
            <div className="flex gap-2 pt-5">
              <Button icon={FolderOpen} onClick={() => void choose(true)}>
                {strings.chooseFolder}
              </Button>
              <Button icon={File} onClick={() => void choose(false)}>
                {strings.chooseFiles}
              </Button>
              <Button type="submit">{strings.look}</Button>
            </div>
          </form>
          <div className="grid grid-cols-2 gap-4 max-[1000px]:grid-cols-1">
            <RadioField
              label={strings.mode}
              name="mode"
              value={chosenMode}
              onValue={(next) => set({ mode: next as ExtractionMode })}
              options={[
                { value: "chunks", label: strings.modes.chunks, help: strings.modeHelp.chunks },
                {
                  value: "concise",
                  label: strings.modes.concise,
                  help: strings.modeHelp.concise,
                  ...(hasModel ? {} : { unavailable: strings.needsModel }),
                },
              ]}
            />
            <TextField
              label={strings.tags}
              fault={fieldMessage(start.error, "tags")}
              help={strings.tagsHelp}
              className="content-start"
              value={tags}
              onChange={({ target }) => set({ tags: target.value })}
            />
          </div>
          <FormReport report={plan.error} placed={["paths"]} onRetry={() => void plan.refetch()} />
          <FormReport report={start.error} placed={["tags"]} />
          {paths.length > 0 && plan.isPending && <SkeletonRows rows={4} height="2.25rem" />}
          {plan.data && <ImportPlanList plan={plan.data} />}
        </div>
      </ScrollText>
      <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
        <Button
          onClick={() => {
            draft.drop();
            onLeave();
          }}
        >
          {strings.cancel}
        </Button>
        <Button
          kind="primary"
          className="ml-auto"
          disabled={start.isPending}
          unavailable={
            plan.data ? (usable === 0 ? strings.nothingToRead : undefined) : strings.blank
          }
          onClick={() =>
            start.mutate([bank, input], {
              onSuccess: (operation) => {
                draft.drop();
                onStarted(operation);
              },
            })
          }
        >
          {strings.start(usable)}
        </Button>
      </div>
    </>
  );
}
