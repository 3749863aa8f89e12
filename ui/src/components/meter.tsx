import { cn } from "~/lib/cn";

/** How much of a budget is used; the number stands beside it, so readers skip the bar. */
export function Meter({ value, of, className }: { value: number; of: number; className?: string }) {
  const share = of > 0 ? Math.min(1, value / of) : 0;
  return (
    <span
      aria-hidden="true"
      className={cn("inline-block h-1 overflow-hidden rounded-full bg-line", className)}
    >
      <span
        className={cn("block h-full", share > 0.95 ? "bg-warn" : "bg-muted")}
        style={{ width: `${share * 100}%` }}
      />
    </span>
  );
}
