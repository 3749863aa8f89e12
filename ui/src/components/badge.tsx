import { cva, type VariantProps } from "class-variance-authority";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Icon } from "./icon";

const look = cva(
  "type-label inline-flex h-[1.125rem] shrink-0 items-center gap-1 whitespace-nowrap rounded-small px-1.5",
  {
    variants: {
      kind: {
        quiet: "bg-hover text-muted",
        accent: "bg-accent-soft text-accent-text",
        ok: "bg-ok-soft text-ok",
        warn: "bg-warn-soft text-warn",
        bad: "bg-bad-soft text-bad",
      },
    },
    defaultVariants: { kind: "quiet" },
  },
);

/** A short remark about the thing it stands beside. */
export function Badge({
  kind,
  icon,
  children,
}: VariantProps<typeof look> & { icon?: LucideIcon; children: ReactNode }) {
  return (
    <span className={look({ kind })}>
      {icon && <Icon of={icon} small />}
      {children}
    </span>
  );
}

export function Tag({ children }: { children: string }) {
  return (
    <span className="type-small text-muted">
      <span className="text-faint">#</span>
      {children}
    </span>
  );
}
