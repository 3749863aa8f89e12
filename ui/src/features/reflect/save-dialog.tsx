import { FolderOpen } from "lucide-react";
import { type FormEvent, useId, useState } from "react";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { DraftDialog } from "~/components/draft-dialog";
import { RadioField, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import { say } from "~/components/toast";
import { usePlatform } from "~/platform";
import type { BankId, RunId, RunPart } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { strings } from "./strings";

const words = strings.file;

/** Writes an answer or the whole record into a folder, and says where it is. */
export function SaveDialog({
  bank,
  run,
  onClose,
}: {
  bank: BankId;
  run: RunId;
  onClose: () => void;
}) {
  const platform = usePlatform();
  const announce = useAnnounce();
  const form = useId();
  const save = useWrite("saveReflectRun");
  const [part, setPart] = useState<RunPart>("answer");
  const [folder, setFolder] = useState("");
  const [blank, setBlank] = useState(false);
  const choose = async () => {
    const [chosen] =
      (await platform.chooseFiles({ title: words.chooseTitle, folders: true })) ?? [];
    if (chosen) setFolder(chosen);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBlank(folder.trim() === "");
    if (folder.trim() === "" || save.isPending) return;
    save.mutate([bank, run, part, folder.trim()], {
      onSuccess: ({ path, withheld }) => {
        const told = [words.saved(path), withheld > 0 && strings.withheld(withheld)];
        announce(words.saved(path));
        say(told.filter(Boolean).join(" "));
        onClose();
      },
    });
  };
  return (
    <DraftDialog
      title={words.title}
      about={words.about}
      holds={false}
      back={words.cancel}
      onClose={onClose}
      act={
        <Button kind="primary" type="submit" form={form} disabled={save.isPending}>
          {words.act}
        </Button>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <FormReport report={save.error} placed={["folder"]} />
        <RadioField
          label={words.part}
          name="run-part"
          value={part}
          onValue={(next) => setPart(next as RunPart)}
          options={(["answer", "record"] as const).map((value) => ({
            value,
            label: words.parts[value],
            help: words.partsHelp[value],
          }))}
        />
        <div className="grid gap-2">
          <TextField
            label={words.folder}
            help={words.folderHelp}
            spellCheck={false}
            value={folder}
            fault={blank ? words.blank : fieldMessage(save.error, "folder")}
            onChange={({ target }) => {
              setFolder(target.value);
              setBlank(false);
              if (save.error) save.reset();
            }}
          />
          <Button icon={FolderOpen} className="justify-self-start" onClick={() => void choose()}>
            {words.choose}
          </Button>
        </div>
      </form>
    </DraftDialog>
  );
}
