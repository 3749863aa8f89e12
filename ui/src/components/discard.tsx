import { type ReactNode, useState } from "react";
import { Button } from "./button";
import { Back, Confirm } from "./dialog";

const words = {
  title: "Throw away what you wrote?",
  about: "It has not been kept.",
  back: "Go on writing",
  act: "Throw it away",
} as const;

/**
 * Asks before a form that holds something is left by a key or a press beside it. `leave` goes to
 * whatever closes the form; `question` is drawn inside of it.
 */
export function useDiscard(
  holds: boolean,
  onLeave: () => void,
): { leave: () => void; question: ReactNode } {
  const [asks, setAsks] = useState(false);
  return {
    leave: () => (holds ? setAsks(true) : onLeave()),
    question: asks && (
      <Confirm
        open
        onOpenChange={(open) => !open && setAsks(false)}
        title={words.title}
        about={words.about}
        foot={
          <>
            <Back asChild>
              <Button>{words.back}</Button>
            </Back>
            <Button kind="danger" onClick={onLeave}>
              {words.act}
            </Button>
          </>
        }
      />
    ),
  };
}
