import { cn } from "~/lib/cn";

const shapes: Record<string, string> = {
  world: "M8 3.8a4.2 4.2 0 1 1 0 8.4a4.2 4.2 0 0 1 0-8.4z",
  experience: "M3.9 3.9h8.2v8.2H3.9z",
  observation: "M8 2.9l5.5 9.7h-11z",
  "mental-models": "M4 2.5h5.2L12 5.3v8.2H4z",
  directives: "M2.8 8L8 2.8 13.2 8 8 13.2z",
};

const words: Record<string, string> = {
  world: "World",
  experience: "Experience",
  observation: "Observation",
  "mental-models": "Model",
  directives: "Directive",
};

/** What kind of memory it is: a shape, and the word unless it stands in a tight place. */
export function Kind({
  of,
  bare = false,
  className,
}: {
  of: string;
  bare?: boolean;
  className?: string;
}) {
  const word = words[of] ?? of;
  return (
    <span className={cn("inline-flex items-center gap-1 font-medium text-muted", className)}>
      <svg viewBox="0 0 16 16" className="size-3 shrink-0 fill-current" aria-hidden="true">
        <path d={shapes[of] ?? shapes.world} />
      </svg>
      <span className={bare ? "sr-only" : undefined}>{word}</span>
    </span>
  );
}
