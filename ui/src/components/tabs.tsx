import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "~/lib/cn";

export interface TabSpec<V extends string> {
  value: V;
  label: string;
  count?: number | undefined;
}

/** Tabs with their panel. The chosen one belongs into the address, so the caller keeps it. */
export function Tabs<V extends string>({
  label,
  value,
  onValue,
  tabs,
  after,
  children,
  className,
}: {
  label: string;
  value: V;
  onValue: (value: V) => void;
  tabs: readonly TabSpec<V>[];
  /** Stands at the end of the row. */
  after?: ReactNode;
  /** The panel of the chosen tab. */
  children: ReactNode;
  className?: string;
}) {
  return (
    <Radix.Root
      value={value}
      onValueChange={(next) => onValue(next as V)}
      activationMode="manual"
      className={cn("flex min-h-0 flex-1 flex-col", className)}
    >
      <div className="flex min-h-9 shrink-0 items-stretch border-line border-b px-4">
        <Radix.List aria-label={label} className="flex gap-4">
          {tabs.map((tab) => (
            <Radix.Trigger
              key={tab.value}
              value={tab.value}
              data-focus-inside
              className="-mb-px flex items-center gap-1.5 whitespace-nowrap border-transparent border-b-2 pt-0.5 text-muted hover:text-text data-[state=active]:border-accent-text data-[state=active]:font-semibold data-[state=active]:text-text"
            >
              {tab.label}
              {tab.count !== undefined && (
                <span className="type-small font-normal text-faint">{tab.count}</span>
              )}
            </Radix.Trigger>
          ))}
        </Radix.List>
        {after && <div className="ml-auto flex min-w-0 items-center gap-2">{after}</div>}
      </div>
      <Radix.Content value={value} tabIndex={-1} className="flex min-h-0 flex-1 flex-col">
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}
