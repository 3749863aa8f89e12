import { Toaster as Sonner, toast } from "sonner";

/** Where toasts appear. Only for what finished elsewhere, or with the way to take an act back. */
export function Toaster() {
  return (
    <Sonner
      position="bottom-right"
      duration={8000}
      offset={16}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            "flex w-(--width) items-center gap-3 rounded-md bg-raised px-3 py-2 text-text shadow-float type-list",
          title: "type-list",
          description: "type-small text-muted",
          actionButton:
            "type-small ml-auto h-(--control-small) shrink-0 rounded-md border border-edge bg-raised px-2 font-medium hover:bg-hover",
        },
      }}
    />
  );
}

/** Says that something happened, with at most one way on: where it leads, or how to take it back. */
export function say(message: string, action?: { label: string; run: () => void }): void {
  toast(message, action ? { action: { label: action.label, onClick: action.run } } : undefined);
}
