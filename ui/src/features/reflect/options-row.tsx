import { ChevronDown, ChevronRight } from "lucide-react";
import { Popover } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Checkbox, RadioField, SelectField, TextField } from "~/components/field";
import { Icon } from "~/components/icon";
import { tagsIn } from "~/lib/tags";
import type { Budget, TagsMatch } from "~/platform/bindings";
import { allKinds, type Options, schemaOf } from "./options";
import { kindWords, matchWords, strings } from "./strings";
import { namesOf } from "./structured";

const words = strings.options;

/** What is asked beside the question, in one line; each part opens to be changed. */
export function OptionsRow({
  options,
  onOptions,
  onSchema,
}: {
  options: Options;
  onOptions: (options: Options) => void;
  /** Opens the builder of fields. */
  onSchema: () => void;
}) {
  const set = (part: Partial<Options>) => onOptions({ ...options, ...part });
  return (
    <fieldset aria-label={words.label} className="flex flex-wrap items-center gap-x-3 gap-y-0.5">
      <Option name={words.budget} shown={words.budgets[options.budget]}>
        <RadioField
          label={words.budget}
          name="budget"
          value={options.budget}
          onValue={(budget) => set({ budget: budget as Budget })}
          options={(["low", "mid", "high"] as const).map((value) => ({
            value,
            label: words.budgets[value],
            help: words.budgetHelp[value],
          }))}
        />
      </Option>
      <Option name={words.tags} shown={tagsShown(options)}>
        <TagFields options={options} set={set} />
      </Option>
      <Option name={words.kinds} shown={words.kindsShown(options.kinds)}>
        <fieldset className="grid gap-1">
          <legend className="type-small mb-1 font-medium text-muted">{words.kindsField}</legend>
          {allKinds.map((kind) => (
            <Checkbox
              key={kind}
              label={kindWords[kind]}
              checked={options.kinds.includes(kind)}
              // One kind at least: a question over nothing has no answer.
              disabled={options.kinds.length === 1 && options.kinds[0] === kind}
              onChange={({ target }) =>
                set({
                  kinds: allKinds.filter((each) =>
                    each === kind ? target.checked : options.kinds.includes(each),
                  ),
                })
              }
            />
          ))}
        </fieldset>
      </Option>
      <Option name={words.tokens} shown={words.tokensShown(options.tokens)}>
        <TextField
          type="number"
          min={64}
          max={16384}
          label={words.tokensField}
          help={words.tokensHelp}
          value={options.tokens ?? ""}
          onChange={({ target }) =>
            set({ tokens: target.value === "" ? null : Math.round(Number(target.value)) })
          }
        />
      </Option>
      <button
        type="button"
        onClick={onSchema}
        className="type-small inline-flex h-6 max-w-64 items-center gap-1 rounded-small text-muted hover:text-text"
      >
        {/* The blank keeps the words apart for those who hear them. */}
        <span className="shrink-0">{words.schema} </span>
        <span className="truncate font-medium text-text">{schemaShown(options)}</span>
        <Icon of={ChevronRight} small />
      </button>
      <Checkbox
        className="type-small text-muted"
        label={words.excludeModels}
        checked={options.excludeModels}
        onChange={({ target }) => set({ excludeModels: target.checked })}
      />
      <Checkbox
        className="type-small text-muted"
        label={words.allRules}
        checked={options.allRules}
        onChange={({ target }) => set({ allRules: target.checked })}
      />
    </fieldset>
  );
}

/** Which memories are read: by tags, or by the expression that the question was asked with. */
export const tagsShown = ({ tags, match, groups }: Options): string =>
  groups !== null && tags.length === 0 ? words.byGroups : words.tagsShown(tags, match);

function schemaShown(options: Options): string {
  const schema = schemaOf(options);
  if (schema === null) return words.schemaNone;
  return schema === undefined ? words.schemaBroken : words.schemaFields(namesOf(schema).length);
}

function TagFields({ options, set }: { options: Options; set: (part: Partial<Options>) => void }) {
  const [typed, setTyped] = useState(options.tags.join(", "));
  return (
    <div className="grid gap-3">
      {options.groups !== null && options.tags.length === 0 && (
        <p className="type-small text-muted">
          {words.byGroupsAbout}{" "}
          <button
            type="button"
            className="text-accent-text underline underline-offset-2"
            onClick={() => set({ groups: null })}
          >
            {words.dropGroups}
          </button>
        </p>
      )}
      <TextField
        label={words.tagsField}
        help={words.tagsHelp}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          set({ tags: tagsIn(target.value) });
        }}
      />
      <SelectField
        label={words.match}
        value={options.match}
        onChange={({ target }) => set({ match: target.value as TagsMatch })}
        options={Object.entries(matchWords).map(([value, label]) => ({ value, label }))}
      />
    </div>
  );
}

function Option({ name, shown, children }: { name: string; shown: string; children: ReactNode }) {
  return (
    <Popover.Root>
      <Popover.Trigger className="type-small inline-flex h-6 max-w-64 items-center gap-1 rounded-small text-muted hover:text-text">
        <span className="shrink-0">{name} </span>
        <span className="truncate font-medium text-text">{shown}</span>
        <Icon of={ChevronDown} small />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label={name}
          align="start"
          sideOffset={4}
          className="z-20 w-72 rounded-md bg-raised p-3 shadow-float"
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
