import { cn } from "~/lib/cn";

/**
 * How much of a budget is used, or how far work is; the number stands beside it, so readers skip
 * the bar.
 */
export function Meter({
  value,
  of,
  budget = true,
  className,
}: {
  value: number;
  of: number;
  /** Whether coming near the end is a warning. */
  budget?: boolean;
  className?: string;
}) {
  const share = of > 0 ? Math.min(1, value / of) : 0;
  return (
    <span
      aria-hidden="true"
      className={cn("inline-block h-1 overflow-hidden rounded-full bg-line", className)}
    >
      <span
        className={cn(
          "block h-full",
          !budget ? "bg-accent-text" : share > 0.95 ? "bg-warn" : "bg-muted",
        )}
        style={{ width: `${share * 100}%` }}
      />
    </span>
  );
}
