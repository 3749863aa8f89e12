import { Link } from "@tanstack/react-router";
import type { BankId, HeldBackReason, ReflectRunView } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.rules;
const reasons = Object.keys(words.held) as HeldBackReason[];

/** Which rules this answer kept, and which were held back and why. */
export function RulesTold({ bank, view }: { bank: BankId; view: ReflectRunView }) {
  const { directives, directives_held_back: held } = view.trace;
  const lines = [
    { word: words.applied, rules: directives ?? [] },
    ...reasons.map((reason) => ({
      word: words.held[reason],
      rules: (held ?? []).filter((each) => each.reason === reason),
    })),
  ].filter(({ rules }) => rules.length > 0);
  if (lines.length === 0) return null;
  return (
    <dl
      aria-label={words.label}
      className="type-small mt-4 grid max-w-(--measure) grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5"
    >
      {lines.map(({ word, rules }) => (
        <div key={word} className="contents">
          <dt className="text-faint">{word}</dt>
          <dd className="flex flex-wrap gap-x-2 text-muted">
            {rules.map(({ id, name }) => (
              <Link
                key={id}
                to="/b/$bank/directives/{-$directive}"
                params={{ bank, directive: id }}
                search={view.request.tags?.length ? { tags: view.request.tags } : {}}
              >
                {name || words.unnamed}
              </Link>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
