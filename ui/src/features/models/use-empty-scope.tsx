import { type ReactNode, useState } from "react";
import { Button } from "~/components/button";
import { Back, Confirm } from "~/components/dialog";
import { usePlatform } from "~/platform";
import type { BankId } from "~/platform/bindings";
import { strings } from "./form-strings";
import { type FormValues, reachOf } from "./form-values";

const words = strings.emptyScope;

/** Asks before a scope is saved that reads nothing of a bank which holds something. */
export function useEmptyScope(bank: BankId): {
  check(values: FormValues, save: () => void): Promise<void>;
  /** What stands open; drawn by the caller. */
  question: ReactNode;
} {
  const { commands } = usePlatform();
  const [asked, setAsked] = useState<{ of: number; save: () => void } | null>(null);
  return {
    check: async (values, save) => {
      // Where it cannot be told, saving says what is wrong.
      const reach = await commands.scopeReach(bank, reachOf(values)).catch(() => null);
      if (reach !== null && reach.memories === 0 && reach.of > 0) setAsked({ of: reach.of, save });
      else save();
    },
    question: asked && (
      <Confirm
        open
        onOpenChange={(open) => !open && setAsked(null)}
        title={words.title}
        about={words.about(asked.of)}
        foot={
          <>
            <Back asChild>
              <Button>{words.back}</Button>
            </Back>
            <Button
              kind="primary"
              onClick={() => {
                setAsked(null);
                asked.save();
              }}
            >
              {words.act}
            </Button>
          </>
        }
      />
    ),
  };
}
