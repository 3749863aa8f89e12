import { useNavigate } from "@tanstack/react-router";
import { File, FolderOpen } from "lucide-react";
import { type FormEvent, useState } from "react";
import { Button } from "~/components/button";
import { RadioField, TextField } from "~/components/field";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { usePlatform } from "~/platform";
import type { BankId, ExtractionMode, ImportFiles, OperationId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
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
  const [path, setPath] = useState("");
  const [fault, setFault] = useState<string | undefined>();
  const [tags, setTags] = useState("");
  const [paths, setPaths] = useState<string[]>([]);
  const [mode, setMode] = useState<ExtractionMode | null>(null);
  const hasModel = useRead("appStatus", []).data?.answering.kind === "llm";
  const chosenMode = mode ?? (hasModel ? "concise" : "chunks");
  const input: ImportFiles = {
    paths,
    mode: chosenMode,
    tags: [
      ...new Set(
        tags
          .split(",")
          .map((tag) => tag.trim().replace(/^#/, ""))
          .filter((tag) => tag !== ""),
      ),
    ],
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
    setPaths([typed]);
  };
  const choose = async (folders: boolean) => {
    const chosen = await platform.chooseFiles({ title: strings.chooseTitle, folders });
    if (!chosen || chosen.length === 0) return;
    setFault(undefined);
    setPath(chosen.join(", "));
    setPaths(chosen);
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
              fault={fault}
              value={path}
              onChange={({ target }) => setPath(target.value)}
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
              onValue={(next) => setMode(next as ExtractionMode)}
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
              help={strings.tagsHelp}
              className="content-start"
              value={tags}
              onChange={({ target }) => setTags(target.value)}
            />
          </div>
          {plan.error && <ReportCard report={plan.error} onRetry={() => void plan.refetch()} />}
          {start.error && <ReportCard report={start.error} />}
          {paths.length > 0 && plan.isPending && <SkeletonRows rows={4} height="2.25rem" />}
          {plan.data && <ImportPlanList plan={plan.data} />}
        </div>
      </ScrollText>
      <div className="flex min-h-(--foot) shrink-0 items-center gap-2 border-line border-t bg-sunken px-4">
        <Button onClick={onLeave}>{strings.cancel}</Button>
        <Button
          kind="primary"
          className="ml-auto"
          disabled={start.isPending}
          unavailable={
            plan.data ? (usable === 0 ? strings.nothingToRead : undefined) : strings.blank
          }
          onClick={() => start.mutate([bank, input], { onSuccess: onStarted })}
        >
          {strings.start(usable)}
        </Button>
      </div>
    </>
  );
}
