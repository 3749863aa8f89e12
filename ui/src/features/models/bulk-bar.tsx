import { useState } from "react";
import { Button } from "~/components/button";
import { Back, Confirm, FormDialog } from "~/components/dialog";
import { RadioField, TextField } from "~/components/field";
import { ReportCard } from "~/components/report";
import { Shown } from "~/components/shown";
import { say } from "~/components/toast";
import type { BankId, ModelPatch, ModelRow, Report } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { CronField } from "./cron-field";
import { strings as form } from "./form-strings";
import { tagsOf } from "./groups";
import { strings } from "./strings";
import { useExport } from "./use-export";

const words = strings.bulk;

type Asking = "schedule" | "tags" | "clear" | "remove" | null;

/** What can be done with several models at once. */
export function BulkBar({
  bank,
  models,
  busy,
  onRefresh,
  onDryRun,
  onNone,
}: {
  bank: BankId;
  models: ModelRow[];
  busy: boolean;
  onRefresh: () => void;
  /** A sentence where it cannot be done now. */
  onDryRun: string | (() => void);
  onNone: () => void;
}) {
  const [asking, setAsking] = useState<Asking>(null);
  const files = useExport(bank);
  const dialog = { bank, models, onGone: () => setAsking(null) };
  return (
    <div
      role="toolbar"
      aria-label={words.selected(models.length)}
      className="flex min-h-9 flex-wrap items-center gap-2 border-line border-b bg-selected px-4 py-1"
    >
      <span className="font-medium">{words.selected(models.length)}</span>
      <Button size="small" kind="plain" onClick={onNone}>
        {words.none}
      </Button>
      <span className="ml-auto flex flex-wrap gap-2">
        <Button size="small" disabled={busy} onClick={onRefresh}>
          {words.refresh}
        </Button>
        <Button
          size="small"
          {...(typeof onDryRun === "string" ? { unavailable: onDryRun } : { onClick: onDryRun })}
        >
          {words.dryRun}
        </Button>
        <Button size="small" onClick={() => setAsking("schedule")}>
          {words.schedule}
        </Button>
        <Button size="small" onClick={() => setAsking("tags")}>
          {words.tags}
        </Button>
        <Button size="small" disabled={files.busy} onClick={() => void files.run(models)}>
          {words.export}
        </Button>
        <Button size="small" onClick={() => setAsking("clear")}>
          {words.clear}
        </Button>
        <Button size="small" kind="danger" onClick={() => setAsking("remove")}>
          {words.remove}
        </Button>
      </span>
      {files.fault && <ReportCard report={files.fault} className="w-full" />}
      {asking === "schedule" && <ScheduleDialog {...dialog} />}
      {asking === "tags" && <TagsDialog {...dialog} />}
      {asking === "clear" && <ClearDialog {...dialog} />}
      {asking === "remove" && <RemoveDialog {...dialog} onNone={onNone} />}
    </div>
  );
}

interface Dialog {
  bank: BankId;
  models: ModelRow[];
  onGone: () => void;
}

/** Changes each of the models in turn; the first refusal stops and is told. */
function usePatchAll({ bank, models, onGone }: Dialog) {
  const update = useWrite("updateModel");
  const [fault, setFault] = useState<Report | null>(null);
  const [busy, setBusy] = useState(false);
  const run = async (patchOf: (model: ModelRow) => ModelPatch) => {
    setBusy(true);
    try {
      for (const model of models) await update.mutateAsync([bank, model.id, patchOf(model)]);
      say(words.changed(models.length));
      onGone();
    } catch (refused) {
      setFault(toReport(refused));
    } finally {
      setBusy(false);
    }
  };
  return { run, fault, busy };
}

function ScheduleDialog(props: Dialog) {
  const [when, setWhen] = useState("manual");
  const [cron, setCron] = useState("0 7 * * *");
  const patch = usePatchAll(props);
  const save = () =>
    void patch.run(() => ({
      trigger: {
        refresh_after_consolidation: when === "after",
        refresh_cron: when === "schedule" ? cron.trim() : null,
      },
    }));
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && props.onGone()}
      title={words.scheduleTitle(props.models.length)}
      foot={<Ends busy={patch.busy} onBack={props.onGone} onSave={save} />}
    >
      {patch.fault && <ReportCard report={patch.fault} />}
      <RadioField
        label={form.when}
        name="bulk-when"
        value={when}
        onValue={setWhen}
        options={[
          { value: "manual", label: form.manual, help: form.manualHelp },
          { value: "after", label: form.after, help: form.afterHelp },
          { value: "schedule", label: form.schedule, help: form.scheduleHelp },
        ]}
      />
      {when === "schedule" && (
        <CronField
          label={form.cron.label}
          value={cron}
          fault={patch.fault?.fields[0]?.message}
          onValue={setCron}
        />
      )}
    </FormDialog>
  );
}

function TagsDialog(props: Dialog) {
  const [tags, setTags] = useState("");
  const patch = usePatchAll(props);
  const save = () =>
    void patch.run((model) => ({ tags: [...new Set([...model.tags, ...tagsOf(tags)])] }));
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && props.onGone()}
      title={words.tagsTitle(props.models.length)}
      foot={
        <Ends busy={patch.busy || tagsOf(tags).length === 0} onBack={props.onGone} onSave={save} />
      }
    >
      {patch.fault && <ReportCard report={patch.fault} />}
      <TextField
        label={words.tagsField}
        help={words.tagsHelp}
        fault={patch.fault?.fields[0]?.message}
        value={tags}
        onChange={(event) => setTags(event.target.value)}
      />
    </FormDialog>
  );
}

function RemoveDialog({ bank, models, onGone, onNone }: Dialog & { onNone: () => void }) {
  const remove = useWrite("deleteModel");
  return (
    <EachQuestion
      title={words.removeTitle(models.length)}
      about={words.removeAbout}
      act={words.removeAct}
      models={models}
      call={({ id }) => remove.mutateAsync([bank, id])}
      report={remove.error}
      busy={remove.isPending}
      onDone={() => {
        say(words.removed(models.length));
        onNone();
        onGone();
      }}
      onGone={onGone}
    />
  );
}

/** Empties the documents that have been written; what was never written has nothing to lose. */
function ClearDialog({ bank, models, onGone }: Dialog) {
  const clear = useWrite("clearModel");
  const written = models.filter(({ placeholder }) => !placeholder);
  return (
    <EachQuestion
      title={words.clearTitle(written.length)}
      about={words.clearAbout}
      act={words.clearAct}
      models={written}
      call={({ id, version }) => clear.mutateAsync([bank, id, version])}
      report={clear.error}
      busy={clear.isPending}
      onDone={() => {
        say(words.cleared(written.length));
        onGone();
      }}
      onGone={onGone}
    />
  );
}

/** Does one thing to each of the models in turn, once it is confirmed; the first refusal stops it. */
function EachQuestion({
  title,
  about,
  act,
  models,
  call,
  report,
  busy,
  onDone,
  onGone,
}: {
  title: string;
  about: string;
  act: string;
  models: readonly ModelRow[];
  call: (model: ModelRow) => Promise<unknown>;
  report: Report | null;
  busy: boolean;
  onDone: () => void;
  onGone: () => void;
}) {
  const run = async () => {
    try {
      for (const model of models) await call(model);
      onDone();
    } catch {
      // Kept by the mutation and shown in the question.
    }
  };
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onGone()}
      title={title}
      about={about}
      foot={
        <>
          <Back asChild>
            <Button>{words.back}</Button>
          </Back>
          <Button
            kind="danger"
            disabled={busy}
            unavailable={models.length === 0 ? words.nothingWritten : undefined}
            onClick={() => void run()}
          >
            {act}
          </Button>
        </>
      }
    >
      {report && <ReportCard report={report} />}
      <ul className="max-h-48 overflow-auto">
        <Shown items={models}>{({ id, name }) => <li key={id}>{name}</li>}</Shown>
      </ul>
    </Confirm>
  );
}

function Ends({ busy, onBack, onSave }: { busy: boolean; onBack: () => void; onSave: () => void }) {
  return (
    <>
      <Button onClick={onBack}>{words.back}</Button>
      <Button kind="primary" disabled={busy} onClick={onSave}>
        {words.save}
      </Button>
    </>
  );
}
