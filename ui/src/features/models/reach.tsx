import { useDeferredValue } from "react";
import { type Control, useWatch } from "react-hook-form";
import { Button } from "~/components/button";
import { cn } from "~/lib/cn";
import type { BankId, ScopeReach, TagsMatch } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import type { Form } from "./form-section";
import { strings } from "./form-strings";
import { type FormValues, reachOf } from "./form-values";
import { tagsOf } from "./groups";

/** How far the scope of the form reaches; words that do not move it do not ask anew. */
function useReach(bank: BankId, control: Control<FormValues>): ScopeReach | undefined {
  const values = useDeferredValue(useWatch({ control }) as FormValues);
  return useRead("scopeReach", [bank, reachOf(values)], { keepPrevious: true }).data;
}

/** How many memories the scope of the form reads now. */
export function Reach({ bank, control }: { bank: BankId; control: Control<FormValues> }) {
  const reach = useReach(bank, control);
  if (!reach) return null;
  return (
    <p role="status" className="font-medium">
      {reach.memories === 0 ? strings.reachNone(reach.of) : strings.reach(reach.memories)}
    </p>
  );
}

const ways = Object.keys(strings.matches) as TagsMatch[];

/** The ways to match the tags, each with what it would read now. */
export function MatchChoice({ form, bank }: { form: Form; bank: BankId }) {
  const { control, setValue } = form;
  const reach = useReach(bank, control);
  const chosen = useWatch({ control, name: "match" });
  const tags = tagsOf(useWatch({ control, name: "tags" }));
  const usual: TagsMatch = tags.length > 0 ? "all_strict" : "any";
  const counts = new Map(reach?.by_match.map((way) => [way.tags_match, way.memories]));
  // Without tags four of the ways say the same, so only the two that differ are offered.
  const written = reach?.written_otherwise ?? [];
  const nothing = reach !== undefined && reach.memories === 0;
  // One press to the way that reads the least of those that read anything.
  const other = nothing
    ? reach.by_match.filter((way) => way.memories > 0).sort((a, b) => a.memories - b.memories)[0]
    : undefined;
  const offered = tags.length > 0 ? ways : (["any", "exact"] as const);
  return (
    <fieldset className="grid gap-0.5">
      <legend className="type-small mb-1 font-medium text-muted">{strings.match}</legend>
      {offered.map((way) => {
        const on = (chosen === "" ? usual : chosen) === way;
        return (
          <label
            key={way}
            className={cn(
              "flex min-h-7 max-w-96 items-center gap-2 rounded-small px-1.5",
              on ? "bg-selected" : "hover:bg-hover",
            )}
          >
            <input
              type="radio"
              name="match"
              value={way}
              checked={on}
              className="size-4 shrink-0 accent-accent"
              onChange={() => setValue("match", way === usual ? "" : way, { shouldDirty: true })}
            />
            <span>
              {tags.length > 0
                ? strings.matches[way]
                : way === "any"
                  ? strings.matchAll
                  : strings.matchUntagged}
            </span>
            {way === usual && <span className="type-small text-faint">{strings.matchDefault}</span>}
            <span className="ml-auto text-muted">
              {counts.has(way) && strings.matchCount(counts.get(way) ?? 0)}
            </span>
          </label>
        );
      })}
      {other && tags.length > 0 && (
        <Button
          size="small"
          className="mt-1 justify-self-start"
          onClick={() =>
            setValue("match", other.tags_match === usual ? "" : other.tags_match, {
              shouldDirty: true,
            })
          }
        >
          {strings.reachOther(strings.matches[other.tags_match], other.memories)}
        </Button>
      )}
      {written.map(({ tag, other: known }) => (
        <p key={tag} className="type-small mt-1 text-muted">
          {strings.written(tag, known)}
        </p>
      ))}
    </fieldset>
  );
}
