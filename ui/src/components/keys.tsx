import { capsOf } from "~/keys/match";
import { COMMANDS, type CommandId } from "~/keys/registry";
import { cn } from "~/lib/cn";

/** One key cap. */
export function Cap({ children, className }: { children: string; className?: string }) {
  return (
    <kbd
      className={cn(
        "type-label inline-grid h-4 min-w-4 place-items-center rounded-small border border-edge px-1 text-faint",
        className,
      )}
    >
      {children}
    </kbd>
  );
}

/** The keys of a command, from the registry. Hidden from readers: `aria-keyshortcuts` tells them. */
export function Keys({ of, className }: { of: CommandId; className?: string }) {
  return <Strokes keys={COMMANDS[of].keys[0] ?? ""} className={className} />;
}

export function Strokes({ keys, className }: { keys: string; className?: string }) {
  if (keys === "") return null;
  return (
    <span aria-hidden className={cn("inline-flex shrink-0 gap-0.5", className)}>
      {capsOf(keys).map((cap) => (
        <Cap key={cap}>{cap}</Cap>
      ))}
    </span>
  );
}
