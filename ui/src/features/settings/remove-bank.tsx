import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useId, useState } from "react";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { Back, Confirm } from "~/components/dialog";
import { TextField } from "~/components/field";
import { ReportCard } from "~/components/report";
import { say } from "~/components/toast";
import type { BankRow } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.removeBank;

/** Deletes a bank: says what is lost, and asks for its name. */
export function RemoveBank({
  bank,
  isSample,
  isOpen,
  onClose,
}: {
  bank: BankRow;
  isSample: boolean;
  /** Whether it is the bank of this screen, which then has to be left. */
  isOpen: boolean;
  onClose: () => void;
}) {
  const form = useId();
  const navigate = useNavigate();
  const announce = useAnnounce();
  const remove = useWrite("deleteBank");
  const [typed, setTyped] = useState("");
  const named = typed.trim() === bank.name.trim();
  const lost = [
    words.facts(bank.facts),
    ...(bank.observations > 0 ? [words.observations(bank.observations)] : []),
    words.documents(bank.documents),
    words.models(bank.models),
    ...(bank.waiting_reviews > 0 ? [words.reviews(bank.waiting_reviews)] : []),
    words.runs,
  ];
  const act = (event?: FormEvent) => {
    event?.preventDefault();
    if (!named || remove.isPending) return;
    remove.mutate([bank.id], {
      onSuccess: () => {
        announce(words.done(bank.name));
        say(words.done(bank.name));
        onClose();
        if (isOpen) void navigate({ to: "/", replace: true });
      },
    });
  };
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onClose()}
      title={words.title(bank.name)}
      about={words.about}
      foot={
        <>
          <Back asChild>
            <Button>{words.keep}</Button>
          </Back>
          <Button
            kind="danger"
            type="submit"
            form={form}
            disabled={remove.isPending}
            unavailable={named ? undefined : words.mismatch}
          >
            {words.act}
          </Button>
        </>
      }
    >
      {remove.error && <ReportCard report={remove.error} onRetry={() => act()} />}
      <section aria-label={words.lost} className="rounded-md bg-bad-soft px-4 py-3">
        <h3 className="type-strong">{words.lost}</h3>
        <ul className="mt-1 list-disc pl-4">
          {lost.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </section>
      {isSample && <p className="text-muted">{words.again}</p>}
      <form id={form} onSubmit={act} noValidate>
        <TextField
          label={words.type(bank.name)}
          value={typed}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
        />
      </form>
    </Confirm>
  );
}
