import { useCommands } from "~/keys/use-commands";
import { type EvidenceKind, evidenceKinds } from "./kinds";
import { strings } from "./strings";

/** What the keys of this screen do. */
export function useReflectKeys({
  away,
  busy,
  unavailable,
  ask,
  stop,
  fresh,
  save,
  onKind,
}: {
  /** Another thing stands in the place of the question: the builder, two runs side by side. */
  away: boolean;
  busy: boolean;
  /** Why the question cannot be asked now. */
  unavailable: string | undefined;
  ask: () => void;
  stop: () => void;
  fresh: () => void;
  save: (() => void) | null;
  onKind: (kind: EvidenceKind) => void;
}): void {
  const tab = (place: number) => () => {
    const kind = evidenceKinds[place];
    if (kind) onKind(kind);
  };
  useCommands(
    away
      ? {}
      : {
          ...(busy ? { "reflect.stop": stop } : { "reflect.ask": unavailable ?? (() => ask()) }),
          "reflect.new": fresh,
          "reflect.save": save ?? strings.answer.noText,
          "reflect.citation": nextCitation,
          "reflect.tab1": tab(0),
          "reflect.tab2": tab(1),
          "reflect.tab3": tab(2),
          "reflect.tab4": tab(3),
          "reflect.tab5": tab(4),
        },
  );
}

/** The focus goes from source to source, round and round. */
function nextCitation(): void {
  const all = [...document.querySelectorAll<HTMLElement>("[data-citation]")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  all[(at + 1) % all.length]?.focus();
}
