import { useId } from "react";
import { DISPOSITION_PRESETS, type Disposition } from "~/platform/bindings";

type Trait = keyof Disposition;

/** The three traits in the order in which they are told. */
export const traits = ["skepticism", "literalism", "empathy"] as const satisfies readonly Trait[];

/** Level without effect. */
const NEUTRAL = 3;

export const balanced: Disposition = {
  skepticism: NEUTRAL,
  literalism: NEUTRAL,
  empathy: NEUTRAL,
};

interface TraitWords {
  name: string;
  /** Both ends of the scale. */
  ends: [low: string, high: string];
  /** What it does at each level from 1 to 5. */
  effects: [string, string, string, string, string];
}

const nothing = "No extra instruction.";

const dispositionWords = {
  preset: "Preset",
  own: "Of your own",
  presets: {
    balanced: "Balanced",
    customer_support: "Customer support",
    code_review: "Code review",
    legal_analysis: "Legal analysis",
    coach: "Therapist or coach",
    research_assistant: "Research assistant",
  } as Record<string, string>,
  traits: {
    skepticism: {
      name: "Skepticism",
      ends: ["trusting", "doubting"],
      effects: [
        "Takes statements as they are, unless they contradict each other.",
        "Trusts statements; mentions only obvious inconsistencies.",
        nothing,
        "Asks how each important claim is supported, and says where support is thin.",
        "Treats every claim as unproven: counts sources, looks at age and motive, concludes cautiously.",
      ],
    },
    literalism: {
      name: "Literalism",
      ends: ["reads between the lines", "holds to the wording"],
      effects: [
        "Infers intent and implied meaning freely, and says that it does.",
        "Lets context and implication count beside the stated words.",
        nothing,
        "Stays close to the wording and marks whatever is inferred.",
        "Uses only what is stated, and quotes key commitments word for word.",
      ],
    },
    empathy: {
      name: "Empathy",
      ends: ["facts and outcomes", "feelings and circumstances"],
      effects: [
        "Reports facts and outcomes; leaves feelings out unless asked.",
        "Facts first; notes feelings in passing where they matter.",
        nothing,
        "Gives feelings and circumstances real weight in the conclusion.",
        "Leads with the human side: needs, strain, how advice will land.",
      ],
    },
  } satisfies Record<Trait, TraitWords>,
  value: (level: number, effect: string) => `${level} of 5. ${effect}`,
} as const;

const words = dispositionWords;

const same = (a: Disposition, b: Disposition) => traits.every((of) => a[of] === b[of]);

/** Names with their levels; two of one disposition are told by their own names. */
export const presets: readonly [name: string, of: Disposition][] = [
  ["balanced", balanced],
  ...DISPOSITION_PRESETS.map(([name, of]): [string, Disposition] => [name, of]),
];

/** A disposition in a few words: its preset, or its levels. */
export function dispositionName(of: Disposition): string {
  const names = presets.filter(([, each]) => same(each, of)).map(([name]) => words.presets[name]);
  if (names.length > 0) return names.join(" · ");
  return traits.map((each) => `${words.traits[each].name} ${of[each]}`).join(", ");
}

/** Three sliders with their ends, what each level does, and the usual combinations by name. */
export function DispositionFields({
  label,
  value,
  onValue,
}: {
  label: string;
  value: Disposition;
  onValue: (value: Disposition) => void;
}) {
  const id = useId();
  const [chosen] = presets.find(([, each]) => same(each, value)) ?? [""];
  return (
    <fieldset aria-label={label} className="grid gap-4">
      <div className="flex items-center gap-2">
        <label htmlFor={`${id}-preset`} className="type-small font-medium text-muted">
          {words.preset}
        </label>
        <select
          id={`${id}-preset`}
          value={chosen}
          onChange={({ target }) => {
            const preset = presets.find(([name]) => name === target.value);
            if (preset) onValue(preset[1]);
          }}
          className="h-(--control) min-w-0 flex-1 rounded-md border border-control bg-raised px-2"
        >
          {chosen === "" && <option value="">{words.own}</option>}
          {presets.map(([name]) => (
            <option key={name} value={name}>
              {words.presets[name] ?? name}
            </option>
          ))}
        </select>
      </div>
      {traits.map((of) => {
        const { name, ends, effects } = words.traits[of];
        const level = value[of];
        const effect = effects[level - 1] ?? "";
        return (
          <div key={of} className="grid gap-0.5">
            <div className="flex items-baseline justify-between gap-2">
              <label htmlFor={`${id}-${of}`} className="font-medium">
                {name}
              </label>
              <span aria-hidden="true" className="type-small text-muted tabular-nums">
                {level}
              </span>
            </div>
            <input
              id={`${id}-${of}`}
              type="range"
              min={1}
              max={5}
              step={1}
              value={level}
              aria-valuetext={words.value(level, effect)}
              onChange={({ target }) => onValue({ ...value, [of]: Number(target.value) })}
              className="h-6 w-full accent-accent"
            />
            <div
              aria-hidden="true"
              className="type-small -mt-1 flex justify-between gap-4 text-faint"
            >
              <span>{ends[0]}</span>
              <span className="text-right">{ends[1]}</span>
            </div>
            {/* Two lines are kept free, so that nothing jumps under the pointer that drags. */}
            <p className="type-small mt-0.5 min-h-8 text-pretty text-muted">{effect}</p>
          </div>
        );
      })}
    </fieldset>
  );
}
