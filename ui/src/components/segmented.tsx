import type { LucideIcon } from "lucide-react";
import { RadioGroup } from "radix-ui";
import { cn } from "~/lib/cn";
import { Icon } from "./icon";
import { Strokes } from "./keys";

export interface Segment<V extends string> {
  value: V;
  label: string;
  icon?: LucideIcon;
  /** Key shown inside the segment. */
  keys?: string | undefined;
  tone?: "ok" | "bad" | "warn";
}

const tones = {
  ok: "data-[state=checked]:bg-ok-soft data-[state=checked]:text-ok",
  bad: "data-[state=checked]:bg-bad-soft data-[state=checked]:text-bad",
  warn: "data-[state=checked]:bg-warn-soft data-[state=checked]:text-warn",
};

/** One of a few, all in view. A radio group: arrows move the choice. */
export function Segmented<V extends string>({
  label,
  value,
  onValue,
  segments,
  className,
}: {
  label: string;
  /** The chosen one; null when none is. */
  value: V | null;
  onValue: (value: V) => void;
  segments: readonly Segment<V>[];
  className?: string;
}) {
  return (
    <RadioGroup.Root
      aria-label={label}
      orientation="horizontal"
      value={value ?? ""}
      onValueChange={(next) => onValue(next as V)}
      className={cn("inline-flex shrink-0 rounded-md border border-edge bg-ground", className)}
    >
      {segments.map(({ value: own, label: words, icon, keys, tone }) => (
        <RadioGroup.Item
          key={own}
          value={own}
          className={cn(
            "type-small inline-flex h-[1.625rem] items-center gap-1 whitespace-nowrap px-2 text-muted first:rounded-l-[5px] last:rounded-r-[5px] not-first:border-l not-first:border-line hover:bg-hover focus-visible:z-1",
            "data-[state=checked]:font-semibold",
            tone ? tones[tone] : "data-[state=checked]:bg-selected data-[state=checked]:text-text",
          )}
        >
          {icon && <Icon of={icon} small />}
          {words}
          {keys && (
            <Strokes
              keys={keys}
              className="[&_kbd]:min-w-0 [&_kbd]:border-0 [&_kbd]:pr-0 [&_kbd]:pl-0.5 [&_kbd]:text-current"
            />
          )}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
