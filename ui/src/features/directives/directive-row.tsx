import { StateWord } from "~/components/state";
import { cn } from "~/lib/cn";
import type { Directive, HeldBackReason } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.row;

/** One rule of the list: what it says, for what it holds, and whether it would apply. */
export function DirectiveRow({
  directive,
  held,
}: {
  directive: Directive;
  /** Why it is held back in the scope that is thought of; null when it applies. */
  held: HeldBackReason | null;
}) {
  const { name, content, tags, priority, is_active } = directive;
  return (
    <div className="grid gap-0.5 px-4 py-2">
      <div className="flex items-center gap-3">
        <span className={cn("type-strong truncate", name === "" && "font-normal text-faint")}>
          {name === "" ? words.unnamed : name}
        </span>
        {priority !== 0 && (
          <span className="type-small shrink-0 text-faint">{words.priority(priority)}</span>
        )}
        <StateWord
          mark={!is_active ? "pause" : held === null ? "tick" : "dashed"}
          tone={held === null ? "ok" : "muted"}
          className="type-small ml-auto shrink-0 text-muted"
        >
          {held === null ? words.applies : words.held[held]}
        </StateWord>
      </div>
      <p
        className={cn(
          "line-clamp-2 text-pretty break-words",
          held === null ? "text-text" : "text-muted",
        )}
      >
        {content}
      </p>
      <p className="type-small truncate text-faint">
        {tags.length === 0 ? words.everywhere : words.only(tags)}
      </p>
    </div>
  );
}
