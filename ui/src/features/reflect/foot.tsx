import { BookmarkPlus, Columns2, Copy, FileDown, RotateCw } from "lucide-react";
import { useState } from "react";
import { Button } from "~/components/button";
import { attend } from "~/components/left-behind";
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "~/components/menu";
import { say } from "~/components/toast";
import { copyText } from "~/lib/copy";
import { dayTime, duration } from "~/lib/format";
import type { BankId, ReflectRow, ReflectRunView, RunId, RunPart } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { Spent } from "./cost";
import { SaveDialog } from "./save-dialog";
import { strings } from "./strings";

const words = strings.answer;

/** Earlier questions that the menu offers to compare with. */
const offered = 12;

/** What can be done with a run: take it out, set it beside another, keep it as a model. */
export interface RunActs {
  /** Other questions of the bank, newest first. */
  others: readonly ReflectRow[];
  onCompare: (other: RunId) => void;
  /** Asks the same again and sets the two side by side. */
  onAgain: () => void;
  onSave: () => void;
}

/** What an answer took, and what can be done with it. */
export function Foot({ bank, view, acts }: { bank: BankId; view: ReflectRunView; acts: RunActs }) {
  const [saving, setSaving] = useState(false);
  const took =
    view.finished_at === null ? null : Date.parse(view.finished_at) - Date.parse(view.started_at);
  return (
    <div className="type-small mt-5 grid max-w-(--measure) gap-2 border-line border-t pt-3 text-muted">
      <p className="flex flex-wrap items-center gap-x-3">
        {took !== null && <span>{duration(took)}</span>}
        <Spent bank={bank} view={view} />
      </p>
      <p className="flex flex-wrap gap-2">
        {view.text && <CopyMenu bank={bank} view={view} />}
        <CompareMenu view={view} acts={acts} />
        <Button size="small" icon={FileDown} onClick={() => setSaving(true)}>
          {strings.file.open}
        </Button>
        {view.text && (
          <Button size="small" icon={BookmarkPlus} command="reflect.save" onClick={acts.onSave}>
            {words.save}
          </Button>
        )}
      </p>
      {saving && <SaveDialog bank={bank} run={view.id} onClose={() => setSaving(false)} />}
    </div>
  );
}

function CopyMenu({ bank, view }: { bank: BankId; view: ReflectRunView }) {
  const told = useWrite("reflectRunText");
  const copy = (part: RunPart) =>
    attend(words.notCopied, async () => {
      const { text, withheld } = await told.mutateAsync([bank, view.id, part]);
      await copyText(text);
      if (withheld > 0) say(strings.withheld(withheld));
    });
  return (
    <Menu
      align="start"
      trigger={
        <Button size="small" icon={Copy}>
          {words.copy}
        </Button>
      }
    >
      <MenuItem onSelect={() => void copyText(view.text ?? "")}>{words.copyText}</MenuItem>
      <MenuItem onSelect={() => void copy("answer")}>{words.copyMarkdown}</MenuItem>
      <MenuItem onSelect={() => void copy("record")}>{words.copyJson}</MenuItem>
    </Menu>
  );
}

function CompareMenu({ view, acts }: { view: ReflectRunView; acts: RunActs }) {
  const others = acts.others.filter(({ id, status }) => id !== view.id && status !== "running");
  const same = others.filter(({ query }) => query === view.request.query);
  // The same question first; it is what comparing is mostly for.
  const listed = [...same, ...others.filter((row) => !same.includes(row))].slice(0, offered);
  return (
    <Menu
      align="start"
      trigger={
        <Button size="small" icon={Columns2}>
          {strings.compare.open}
        </Button>
      }
    >
      <MenuItem icon={RotateCw} onSelect={acts.onAgain}>
        {strings.compare.again}
      </MenuItem>
      {listed.length > 0 && (
        <>
          <MenuSeparator />
          <MenuLabel>{strings.compare.with}</MenuLabel>
        </>
      )}
      {listed.map((row) => (
        <MenuItem key={row.id} onSelect={() => acts.onCompare(row.id)}>
          <span className="flex max-w-96 gap-2">
            <span className="truncate">{row.query}</span>
            <span className="ml-auto shrink-0 text-faint">{dayTime(row.started_at)}</span>
          </span>
        </MenuItem>
      ))}
    </Menu>
  );
}
