import type { ReactNode } from "react";
import { Button } from "./button";
import { FormDialog } from "./dialog";
import { useDiscard } from "./discard";

/**
 * A sheet that a person writes in. Leaving it, by its button, a key or a press beside it, asks first
 * when something would be lost.
 */
export function DraftDialog({
  title,
  about,
  holds,
  back,
  act,
  onClose,
  children,
}: {
  title: string;
  about?: ReactNode;
  /** Whether something was written that is not kept. */
  holds: boolean;
  /** Words of the button that leaves. */
  back: string;
  /** What stands beside that button: the one that does it. */
  act: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const { leave, question } = useDiscard(holds, onClose);
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && leave()}
      title={title}
      about={about}
      foot={
        <>
          <Button onClick={leave}>{back}</Button>
          {act}
        </>
      }
    >
      {children}
      {question}
    </FormDialog>
  );
}
