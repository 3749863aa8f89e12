import { File, FolderOpen } from "lucide-react";
import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { useDiscard } from "~/components/discard";
import { RadioField, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import { attend } from "~/components/left-behind";
import { say } from "~/components/toast";
import { usePlatform } from "~/platform";
import type { BankId, ImportPages, NodeId, OnConflict, Review } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { ImportResult } from "./import-result";
import { strings } from "./strings";

const words = strings.import;

/** Fields that show their own fault. */
const placed = ["paths"];

type Kind = "pages" | "models";

/** Takes Markdown files in as pages or models, and says what came of each. */
export function ImportDialog({
  bank,
  into,
  onShow,
  onClose,
}: {
  bank: BankId;
  /** The folder that pages are put into; null is the top level. */
  into: { id: NodeId; name: string } | null;
  /** Shows a page that was taken in. */
  onShow: (id: NodeId) => void;
  onClose: () => void;
}) {
  const platform = usePlatform();
  const take = useWrite("importPages");
  const form = useId();
  const [path, setPath] = useState("");
  /** What was chosen; a path that is typed is one path. */
  const [paths, setPaths] = useState<string[]>([]);
  const [fault, setFault] = useState<string | undefined>();
  const [kind, setKind] = useState<Kind>("pages");
  const [conflict, setConflict] = useState<OnConflict>("skip");
  const [review, setReview] = useState<Review>("manual");
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);
  const { data: done, error, isPending } = take;
  const field = useRef<HTMLInputElement>(null);
  const end = useRef<HTMLButtonElement>(null);
  const wasDone = useRef(false);
  // What held the focus goes with the form, and comes back with it.
  useEffect(() => {
    if (done) end.current?.focus();
    else if (wasDone.current) field.current?.focus();
    wasDone.current = done !== undefined;
  }, [done]);
  const { leave, question } = useDiscard(path.trim() !== "" && !done && !isPending, onClose);

  const set = (text: string, chosen: string[]) => {
    setPath(text);
    setPaths(chosen);
    setFault(undefined);
    if (error) take.reset();
  };
  const choose = async (folders: boolean) => {
    const chosen = await platform.chooseFiles({
      title: words.chooseTitle,
      folders,
      ...(folders ? {} : { endings: ["md", "markdown"] }),
    });
    if (chosen && chosen.length > 0) set(chosen.join(", "), chosen);
  };
  const read = async (input: ImportPages) => {
    try {
      const { imported, skipped } = await take.mutateAsync([bank, input]);
      if (isLeft.current) say(words.result(imported, skipped.length));
    } catch (refused) {
      // While the dialog is there it says so itself.
      if (isLeft.current) throw refused;
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    if (paths.length === 0) {
      setFault(words.blank);
      field.current?.focus();
      return;
    }
    const asPages = kind === "pages";
    const parent_id = asPages ? (into?.id ?? null) : null;
    const input = { paths, as_pages: asPages, parent_id, on_conflict: conflict, review };
    void attend(words.notRead, () => read(input));
  };
  const again = () => {
    take.reset();
    set("", []);
  };
  const finish = () => {
    const first = done?.imported.find(({ page_id }) => page_id !== null)?.page_id;
    if (first) onShow(first);
    onClose();
  };

  if (done)
    return (
      <FormDialog
        open
        onOpenChange={(open) => !open && finish()}
        title={done.imported.length === 0 ? words.nothing : words.done}
        foot={
          <>
            <Button onClick={again}>{words.another}</Button>
            <Button ref={end} kind="primary" onClick={finish}>
              {words.finish}
            </Button>
          </>
        }
      >
        <ImportResult done={done} />
      </FormDialog>
    );
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && leave()}
      title={words.title}
      about={words.about}
      foot={
        <>
          {isPending && (
            <p role="status" className="type-small mr-auto text-muted">
              {words.goesOn}
            </p>
          )}
          <Button onClick={leave}>{isPending ? words.close : strings.form.cancel}</Button>
          <Button kind="primary" type="submit" form={form} disabled={isPending}>
            {isPending ? words.reading : words.act}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-4">
        <FormReport report={error} placed={placed} />
        <div className="grid gap-2">
          <TextField
            ref={field}
            label={words.path}
            help={words.pathHelp}
            fault={fault ?? fieldMessage(error, "paths")}
            value={path}
            onChange={({ target: { value } }) => set(value, value.trim() ? [value.trim()] : [])}
            spellCheck={false}
          />
          <div className="flex flex-wrap gap-2">
            <Button icon={FolderOpen} onClick={() => void choose(true)}>
              {words.chooseFolder}
            </Button>
            <Button icon={File} onClick={() => void choose(false)}>
              {words.chooseFiles}
            </Button>
          </div>
        </div>
        <RadioField
          label={words.kind}
          name="import-kind"
          value={kind}
          onValue={(next) => setKind(next as Kind)}
          options={[
            { value: "pages", label: words.pages, help: words.pagesHelp(into?.name) },
            { value: "models", label: words.models, help: words.modelsHelp },
          ]}
        />
        <RadioField
          label={words.conflict[kind]}
          name="import-conflict"
          value={conflict}
          onValue={(next) => setConflict(next as OnConflict)}
          options={[
            { value: "skip", label: words.skip, help: words.skipHelp },
            { value: "replace", label: words.replace, help: words.replaceHelp },
            { value: "new_id", label: words.twin, help: words.twinHelp[kind] },
          ]}
        />
        <RadioField
          label={strings.form.review}
          name="import-review"
          value={review}
          onValue={(next) => setReview(next as Review)}
          options={[
            { value: "manual", label: strings.form.manual, help: words.manualHelp },
            { value: "auto", label: strings.form.auto, help: strings.form.autoHelp },
          ]}
        />
      </form>
      {question}
    </FormDialog>
  );
}
