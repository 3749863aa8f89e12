import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { Checkbox } from "~/components/field";
import { StateMark } from "~/components/state";
import { cn } from "~/lib/cn";
import { tagsIn } from "~/lib/tags";
import { useTyped } from "~/lib/use-typed";
import type { BankId, Directive, DirectivesInScope, TagsMatch } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.check;

/** Tags that are offered at once. */
const OFFERED = 12;

/** A question that is thought of: its tags, how they are compared, and whether all rules hold. */
export interface Scope {
  tags: string[];
  match: TagsMatch;
  all: boolean;
}

/** Asks for a scope and says how many rules it leaves in force; each row says it for itself. */
export function ScopeCheck({
  bank,
  scope,
  onScope,
  directives,
  told,
}: {
  bank: BankId;
  scope: Scope;
  onScope: (scope: Scope) => void;
  directives: readonly Directive[];
  told: DirectivesInScope | undefined;
}) {
  const id = useId();
  const extractive = useRead("appStatus", []).data?.answering.kind === "extractive";
  const known = [...new Set(directives.flatMap(({ tags }) => tags))].sort();
  const typed = useTyped(
    scope.tags.join(", "),
    (text) => tagsIn(text).join(", "),
    (text) => onScope({ ...scope, tags: tagsIn(text) }),
  );
  const toggle = (tag: string) =>
    onScope({
      ...scope,
      tags: scope.tags.includes(tag)
        ? scope.tags.filter((each) => each !== tag)
        : [...scope.tags, tag],
    });
  const because = (reason: string) =>
    told?.held_back.filter((held) => held.reason === reason).length ?? 0;
  return (
    <section aria-label={words.label} className="grid gap-2 border-line border-b px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <label htmlFor={id} className="shrink-0 text-muted">
          {words.tags}
        </label>
        <input
          id={id}
          {...typed.props}
          placeholder={words.placeholder}
          spellCheck={false}
          autoComplete="off"
          className="h-(--control) min-w-32 flex-1 rounded-md border border-control bg-raised px-2 focus-visible:outline-offset-[-1px]"
        />
        <select
          aria-label={words.match}
          value={scope.match}
          onChange={({ target }) => onScope({ ...scope, match: target.value as TagsMatch })}
          className="h-(--control) max-w-52 rounded-md border border-control bg-raised px-2"
        >
          {Object.entries(words.matches).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <Checkbox
          label={words.all}
          checked={scope.all}
          onChange={({ target }) => onScope({ ...scope, all: target.checked })}
        />
      </div>
      {known.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form of its own in this line
        <div role="group" aria-label={words.known} className="flex flex-wrap gap-1.5">
          {known.slice(0, OFFERED).map((tag) => {
            const chosen = scope.tags.includes(tag);
            return (
              <button
                key={tag}
                type="button"
                aria-pressed={chosen}
                onClick={() => toggle(tag)}
                className={cn(
                  "type-small inline-flex h-6 max-w-48 items-center rounded-small border px-1.5",
                  chosen
                    ? "border-accent bg-accent-soft font-medium text-accent-text"
                    : "border-edge text-muted hover:bg-hover",
                )}
              >
                <span className="truncate">#{tag}</span>
              </button>
            );
          })}
        </div>
      )}
      <p role="status" className="type-small text-muted">
        {told && words.told(told.in_force.length, because("scope"), because("inactive"))}
      </p>
      {extractive && (
        <p className="type-small flex gap-2 text-muted">
          <StateMark mark="triangle" tone="warn" />
          <span className="text-pretty">
            {words.extractive}{" "}
            <Link to="/b/$bank/settings/{-$page}" params={{ bank, page: "models" }}>
              {words.toModels}
            </Link>
          </span>
        </p>
      )}
    </section>
  );
}
