import type { ReactNode } from "react";
import { cn } from "~/lib/cn";

/** A text that scrolls. Reachable by Tab, so that arrows can scroll it; a region with a name. */
export function ScrollText({
  label,
  id,
  className,
  children,
}: {
  label: string;
  id?: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section
      id={id}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
      tabIndex={0}
      data-focus-inside
      className={cn("scroll-quiet min-h-0 flex-1", className)}
    >
      {children}
    </section>
  );
}
