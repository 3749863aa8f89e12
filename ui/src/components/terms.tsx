import type { ReactNode } from "react";
import { cn } from "~/lib/cn";

/** Names and what they stand for, one under the other. What is null is not known and left out. */
export function Terms({
  rows,
  className,
  children,
}: {
  rows: readonly (readonly [name: string, value: ReactNode])[];
  /** The width of the names, as columns of the grid, and what else the place asks for. */
  className: string;
  /** Further names, as `dt` and `dd`. */
  children?: ReactNode;
}) {
  return (
    <dl className={cn("grid gap-x-2 gap-y-1", className)}>
      {rows.map(([name, value]) =>
        value === null ? null : (
          <div key={name} className="contents">
            <dt className="text-faint">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ),
      )}
      {children}
    </dl>
  );
}
