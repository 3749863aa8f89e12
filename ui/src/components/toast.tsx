import { Toaster as Sonner, toast } from "sonner";

/** How long a notice stays; one that can be taken back stays longer (milliseconds). */
const SHORT = 4000;
const WITH_ACTION = 8000;

/**
 * Where notices appear: in the bar at the top, over the search field, which a key opens as well.
 * Everything else of a screen can hold an action that somebody is about to press, so nothing else is
 * ever covered. Only for what finished elsewhere, or with the way to take an act back.
 */
export function Toaster() {
  return (
    <Sonner
      position="top-center"
      duration={SHORT}
      visibleToasts={1}
      offset={place}
      mobileOffset={place}
      gap={8}
      style={{ "--width": "30rem" } as React.CSSProperties}
      toastOptions={{
        unstyled: true,
        closeButton: true,
        closeButtonAriaLabel: "Dismiss",
        classNames: {
          toast:
            "flex w-(--width) items-center gap-2 rounded-md bg-raised py-0.5 pr-1 pl-3 text-text shadow-float type-list",
          title: "type-list",
          description: "type-small text-muted",
          content: "min-w-0 flex-1",
          actionButton:
            "type-small h-(--control-small) shrink-0 rounded-md border border-edge bg-raised px-2 font-medium hover:bg-hover",
          closeButton:
            "order-last grid size-6 shrink-0 place-items-center rounded-small text-muted hover:bg-hover hover:text-text",
        },
      }}
    />
  );
}

/** Within the bar, clear of the edge of the window. */
const place = { top: "0.25rem" };

/** Says that something happened, with at most one way on: where it leads, or how to take it back. */
export function say(message: string, action?: { label: string; run: () => void }): void {
  toast(
    message,
    action
      ? { duration: WITH_ACTION, action: { label: action.label, onClick: action.run } }
      : undefined,
  );
}
