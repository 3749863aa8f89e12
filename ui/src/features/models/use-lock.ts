import { useAnnounce } from "~/components/announce";
import type { BankId, LockKind, LockView, ModelDetail, Report } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./model-strings";
import type { Chosen } from "./sheet";

export interface Locking {
  /** The lock of what is chosen; `inherited` when a block lies in a locked section. */
  of(chosen: Chosen): { lock: LockView | undefined; inherited: boolean };
  toggle(chosen: Chosen): void;
  busy: boolean;
  fault: Report | null;
}

/** Locks of blocks and sections against refreshes. */
export function useLock(bank: BankId, detail: ModelDetail): Locking {
  const set = useWrite("setLock");
  const remove = useWrite("removeLock");
  const announce = useAnnounce();
  const find = (kind: LockKind, id: string) =>
    detail.locks.find((lock) => lock.kind === kind && lock.element_id === id);
  const of = ({ section, block }: Chosen) => {
    const around = find("section", section);
    if (block === null) return { lock: around, inherited: false };
    return { lock: find("block", block), inherited: around !== undefined };
  };
  return {
    of,
    toggle: (chosen) => {
      const { lock, inherited } = of(chosen);
      if (inherited || set.isPending || remove.isPending) return;
      const kind: LockKind = chosen.block === null ? "section" : "block";
      const element = chosen.block ?? chosen.section;
      const model = detail.model.id;
      if (lock) {
        remove.mutate([bank, model, kind, element], {
          onSuccess: () => announce(strings.blame.unlocked),
        });
      } else {
        set.mutate([bank, model, kind, element, null], {
          onSuccess: () => announce(strings.blame.nowLocked),
        });
      }
    },
    busy: set.isPending || remove.isPending,
    fault: set.error ?? remove.error,
  };
}
