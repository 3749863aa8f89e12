import { useAnnounce } from "~/components/announce";
import { attend } from "~/components/left-behind";
import { say } from "~/components/toast";
import type { BankId, Directive, Report } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.form;

/** Its name, or the beginning of the rule where it has none. */
export const nameOf = ({ name, content }: Pick<Directive, "name" | "content">): string => {
  if (name !== "") return name;
  return content.length > 40 ? `${content.slice(0, 39).trimEnd()}…` : content;
};

export interface DirectiveActs {
  toggle(of: Directive): void;
  /** One place up or down; a sentence instead where there is none. */
  step(of: Directive, by: -1 | 1): string | (() => void);
  remove(of: Directive, after: () => void): void;
  busy: boolean;
  report: Report | null;
}

/** What can be done with directives without asking for more; each can be taken back. */
export function useActs(bank: BankId, all: readonly Directive[]): DirectiveActs {
  const announce = useAnnounce();
  const update = useWrite("updateDirective");
  const move = useWrite("moveDirective");
  const remove = useWrite("deleteDirective");
  const updateBack = useWrite("updateDirective");
  const moveBack = useWrite("moveDirective");
  const restore = useWrite("restoreDirective");

  const told = (done: string, back: () => Promise<unknown>) => {
    announce(done);
    say(done, { label: strings.undo, run: () => void attend(strings.notUndone, back) });
  };
  const forget = () => {
    // Only the last try is told.
    for (const call of [update, move, remove]) call.reset();
  };

  return {
    toggle: (of) => {
      forget();
      const is_active = !of.is_active;
      update.mutate([bank, of.id, { is_active }], {
        onSuccess: () =>
          told(words.switched(nameOf(of), is_active), () =>
            updateBack.mutateAsync([bank, of.id, { is_active: of.is_active }]),
          ),
      });
    },
    step: (of, by) => {
      const at = all.findIndex(({ id }) => id === of.id);
      const to = at + by;
      if (to < 0) return strings.first;
      if (to >= all.length) return strings.last;
      return () => {
        forget();
        move.mutate([bank, of.id, to], {
          onSuccess: () =>
            told(words.moved(nameOf(of), to + 1, all.length), () =>
              moveBack.mutateAsync([bank, of.id, at]),
            ),
        });
      };
    },
    remove: (of, after) => {
      forget();
      remove.mutate([bank, of.id], {
        onSuccess: (gone) => {
          after();
          told(words.deleted(nameOf(of)), () => restore.mutateAsync([bank, gone]));
        },
      });
    },
    busy: update.isPending || move.isPending || remove.isPending,
    report: update.error ?? move.error ?? remove.error,
  };
}
