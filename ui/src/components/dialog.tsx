import { AlertDialog, Dialog as Radix } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { cn } from "~/lib/cn";

const scrim = "fixed inset-0 z-20 bg-(--scrim)";
const sheet =
  "fixed top-1/2 left-1/2 z-20 grid max-h-[calc(100vh-3rem)] w-[min(32.5rem,calc(100vw-3rem))] -translate-x-1/2 -translate-y-1/2 grid-rows-[minmax(0,1fr)_auto] rounded-large bg-raised shadow-float";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** One sentence under the title. */
  about?: ReactNode;
  children?: ReactNode;
  /** Long and without fields: the body itself takes the focus, so that arrows scroll it. */
  reading?: boolean;
  /** Buttons, the safe one first. */
  foot: ReactNode;
}

/**
 * Where the focus was goes on having it when a dialog closes, unless something else has taken it by
 * then. The dialogs have no trigger of their own that they could return it to.
 */
function useFocusBack() {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus: () => {
      before.current = document.activeElement;
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      const held = before.current;
      if (document.activeElement === document.body && held instanceof HTMLElement) held.focus();
    },
  };
}

/** A question that must be answered: focus starts on the way back. Put it in `foot` with `Back`. */
export function Confirm({ open, onOpenChange, title, about, children, foot }: Props) {
  const focus = useFocusBack();
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={scrim} />
        <AlertDialog.Content className={sheet} {...focus}>
          <div className="scroll-quiet grid content-start gap-3 px-6 py-5">
            <AlertDialog.Title className="type-title">{title}</AlertDialog.Title>
            <AlertDialog.Description asChild>
              <div className={cn("-mt-2 text-muted", !about && "sr-only")}>{about ?? title}</div>
            </AlertDialog.Description>
            {children}
          </div>
          <Foot>{foot}</Foot>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

/** The way back in a `Confirm`. Receives focus when the question opens. */
export const Back = AlertDialog.Cancel;

/** A short form. */
export function FormDialog({ open, onOpenChange, title, about, children, reading, foot }: Props) {
  const focus = useFocusBack();
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={scrim} />
        <Radix.Content className={sheet} {...focus}>
          <div
            className="scroll-quiet grid content-start gap-3 px-6 py-5"
            data-focus-inside
            {...(reading ? { tabIndex: 0, role: "region", "aria-label": title } : {})}
          >
            <Radix.Title className="type-title">{title}</Radix.Title>
            <Radix.Description asChild>
              <div className={cn("-mt-2 text-muted", !about && "sr-only")}>{about ?? title}</div>
            </Radix.Description>
            {children}
          </div>
          <Foot>{foot}</Foot>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

function Foot({ children }: { children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-end gap-2 rounded-b-large border-line border-t bg-sunken px-6 py-3">
      {children}
    </div>
  );
}
