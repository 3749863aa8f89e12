import { type FormEvent, useId } from "react";
import { useForm, useWatch } from "react-hook-form";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { Back, Confirm, FormDialog } from "~/components/dialog";
import { useDiscard } from "~/components/discard";
import { RadioField, TextArea, TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import { attend } from "~/components/left-behind";
import { ReportCard } from "~/components/report";
import { say } from "~/components/toast";
import { tagsIn } from "~/lib/tags";
import type { BankId, NodeId, TreeNode } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { strings } from "./strings";
import { within } from "./tree";

const words = strings.form;

/** Where something new goes; null is the top level. */
interface Into {
  id: NodeId;
  name: string;
}

interface Making {
  bank: BankId;
  into: Into | null;
  onMade: (id: NodeId) => void;
  onClose: () => void;
}

/** Names a new folder. */
export function FolderDialog({ bank, into, onMade, onClose }: Making) {
  const create = useWrite("createFolder");
  return (
    <NameDialog
      title={words.newFolder}
      about={words.into(into?.name ?? strings.root)}
      act={words.make}
      name=""
      call={create}
      onClose={onClose}
      onName={(name) =>
        create.mutate([bank, { name, parent_id: into?.id ?? null }], {
          onSuccess: ({ id }) => {
            say(strings.acts.madeFolder(name));
            onMade(id);
            onClose();
          },
        })
      }
    />
  );
}

/** Gives a folder or page another name, with the way back. */
export function RenameDialog({
  bank,
  node,
  onClose,
}: {
  bank: BankId;
  node: TreeNode;
  onClose: () => void;
}) {
  const update = useWrite("updateNode");
  const back = useWrite("updateNode");
  return (
    <NameDialog
      title={words.rename(node.name)}
      about={node.page ? words.renamePage : undefined}
      act={words.save}
      name={node.name}
      call={update}
      onClose={onClose}
      onName={(name) => {
        if (name === node.name) return onClose();
        update.mutate([bank, node.id, { name }], {
          onSuccess: () => {
            say(strings.acts.renamed(name), {
              label: strings.acts.undo,
              run: () => {
                void attend(strings.acts.notUndone, () =>
                  back.mutateAsync([bank, node.id, { name: node.name }]),
                );
              },
            });
            onClose();
          },
        });
      }}
    />
  );
}

function NameDialog({
  title,
  about,
  act,
  name,
  call: { error, isPending },
  onName,
  onClose,
}: {
  title: string;
  about: string | undefined;
  act: string;
  name: string;
  call: Pick<ReturnType<typeof useWrite<"updateNode" | "createFolder">>, "error" | "isPending">;
  onName: (name: string) => void;
  onClose: () => void;
}) {
  const form = useId();
  const { register, handleSubmit, formState } = useForm({ defaultValues: { name } });
  const { leave, question } = useDiscard(formState.isDirty, onClose);
  const submit = handleSubmit((values) => onName(values.name.trim()));
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && leave()}
      title={title}
      about={about}
      foot={
        <>
          <Button onClick={leave}>{words.cancel}</Button>
          <Button kind="primary" type="submit" form={form} disabled={isPending}>
            {act}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-3">
        <FormReport report={error} placed={["name"]} />
        <TextField
          label={words.name}
          fault={formState.errors.name?.message ?? fieldMessage(error, "name")}
          {...register("name", { validate: (text) => text.trim() !== "" || words.blankName })}
        />
      </form>
      {question}
    </FormDialog>
  );
}

/** Fields of a page that show their own fault. */
const placed = ["name", "source_query", "tags", "review"];

/** Makes a page with its model. */
export function PageDialog({ bank, into, onMade, onClose }: Making) {
  const create = useWrite("createPage");
  const announce = useAnnounce();
  const form = useId();
  const { register, handleSubmit, setValue, control, formState } = useForm({
    defaultValues: { name: "", question: "", tags: "", review: "manual" as "manual" | "auto" },
  });
  const review = useWatch({ control, name: "review" });
  const { errors, isDirty } = formState;
  const { leave, question } = useDiscard(isDirty, onClose);
  const submit = handleSubmit((values) => {
    const name = values.name.trim();
    const input = {
      name,
      source_query: values.question.trim(),
      parent_id: into?.id ?? null,
      tags: tagsIn(values.tags),
      review: values.review,
    };
    create.mutate([bank, input], {
      onSuccess: ({ page_id }) => {
        announce(strings.acts.madePage(name));
        say(strings.acts.madePage(name));
        onMade(page_id);
        onClose();
      },
    });
  });
  const send = (event: FormEvent) => void submit(event);
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && leave()}
      title={words.newPage}
      about={words.into(into?.name ?? strings.root)}
      foot={
        <>
          <Button onClick={leave}>{words.cancel}</Button>
          <Button kind="primary" type="submit" form={form} disabled={create.isPending}>
            {words.make}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={send} noValidate className="grid gap-3">
        <FormReport report={create.error} placed={placed} />
        <TextField
          label={words.name}
          fault={errors.name?.message ?? fieldMessage(create.error, "name")}
          {...register("name", { validate: (text) => text.trim() !== "" || words.blankName })}
        />
        <TextArea
          label={words.question}
          help={words.questionHelp}
          fault={errors.question?.message ?? fieldMessage(create.error, "source_query")}
          {...register("question", {
            validate: (text) => text.trim() !== "" || words.blankQuestion,
          })}
        />
        <TextField
          label={words.tags}
          help={words.tagsHelp}
          fault={fieldMessage(create.error, "tags")}
          {...register("tags")}
        />
        <RadioField
          label={words.review}
          name="page-review"
          value={review}
          onValue={(next) =>
            setValue("review", next === "auto" ? "auto" : "manual", { shouldDirty: true })
          }
          options={[
            { value: "manual", label: words.manual, help: words.manualHelp },
            { value: "auto", label: words.auto, help: words.autoHelp },
          ]}
        />
      </form>
      {question}
    </FormDialog>
  );
}

/** Deletes a node with everything in it, after saying what that is. */
export function RemoveDialog({
  bank,
  nodes,
  node,
  onGone,
  onClose,
}: {
  bank: BankId;
  nodes: readonly TreeNode[];
  node: TreeNode;
  onGone: () => void;
  onClose: () => void;
}) {
  const remove = useWrite("deleteNode");
  const announce = useAnnounce();
  const inside = within(nodes, node.id).filter(({ id }) => id !== node.id);
  const pages = inside.filter(({ kind }) => kind === "page").length;
  const act = () =>
    remove.mutate([bank, node.id], {
      onSuccess: () => {
        announce(strings.acts.removed(node.name));
        say(strings.acts.removed(node.name));
        onGone();
        onClose();
      },
    });
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={strings.remove.title(node.name)}
      about={
        node.kind === "page"
          ? strings.remove.page
          : strings.remove.folder(pages, inside.length - pages)
      }
      foot={
        <>
          <Back asChild>
            <Button>{strings.remove.keep}</Button>
          </Back>
          <Button kind="danger" disabled={remove.isPending} onClick={act}>
            {strings.remove.act}
          </Button>
        </>
      }
    >
      {remove.error && <ReportCard report={remove.error} onRetry={act} />}
      <p className="text-muted">{strings.remove.stays}</p>
    </Confirm>
  );
}
