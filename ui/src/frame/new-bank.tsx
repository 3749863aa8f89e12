import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { TextField } from "~/components/field";
import { FormReport } from "~/components/form-report";
import type { BankRow } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { fieldMessage } from "~/platform/errors";
import { strings } from "./strings";

const words = strings.newBank;

/** Makes a bank and opens it where its first memories are added. */
export function NewBank({
  onClose,
  onMade,
}: {
  onClose: () => void;
  /** Called once the new bank is open. */
  onMade?: (bank: BankRow) => void;
}) {
  const create = useWrite("createBank");
  const remember = useWrite("openBank");
  const navigate = useNavigate();
  const form = useId();
  const [name, setName] = useState("");
  const [blank, setBlank] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setBlank(name.trim() === "");
    if (name.trim() === "") return;
    create.mutate([{ name: name.trim(), id: null }], {
      onSuccess: (bank) => {
        remember.mutate([bank.id]);
        void navigate({
          to: "/b/$bank/memories/{-$memory}",
          params: { bank: bank.id, memory: undefined },
          search: {},
        }).then(() => onMade?.(bank));
        onClose();
      },
    });
  };
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={words.title}
      about={words.about}
      foot={
        <>
          <Button onClick={onClose}>{words.cancel}</Button>
          <Button kind="primary" type="submit" form={form} disabled={create.isPending}>
            {words.make}
          </Button>
        </>
      }
    >
      <form id={form} onSubmit={submit} noValidate className="grid gap-3">
        <FormReport report={create.error} placed={["name"]} />
        <TextField
          label={words.name}
          placeholder={words.example}
          value={name}
          onChange={({ target }) => setName(target.value)}
          fault={blank ? words.blank : fieldMessage(create.error, "name")}
        />
      </form>
    </FormDialog>
  );
}
