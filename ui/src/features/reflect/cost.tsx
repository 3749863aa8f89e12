import { StateMark } from "~/components/state";
import type { BankId, ReflectEstimate, ReflectRunView } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { inputOf, type Options } from "./options";
import { strings } from "./strings";

const words = strings.cost;

/** What the next question will probably take, and whether the tokens of the day are spent. */
export function Expected({ bank, options }: { bank: BankId; options: Options }) {
  // The wording of the question hardly matters; asked for each letter it would only flicker.
  const told = useRead("estimateReflect", [bank, inputOf("", options), null], {
    keepPrevious: true,
  });
  const spent = useRead("bankSettings", [bank]).data?.ceiling_reached === true;
  if (told.error || !told.data) return null;
  return (
    <p className="type-small flex flex-wrap items-center gap-x-2 text-faint">
      <span>{expectedWords(told.data)}</span>
      {spent && (
        <span className="inline-flex items-center gap-1 text-warn">
          <StateMark mark="triangle" tone="warn" className="size-3.5" />
          {words.ceiling}
        </span>
      )}
    </p>
  );
}

/** What a question took, beside what was expected of it when it was asked. */
export function Spent({ bank, view }: { bank: BankId; view: ReflectRunView }) {
  const calls = view.trace.llm_calls?.length ?? 0;
  const told = useRead("estimateReflect", calls > 0 ? [bank, view.request, view.id] : null);
  if (calls === 0) return <span>{words.nothing}</span>;
  const likely = told.data?.expected?.likely;
  return (
    <>
      <span>{words.took(calls, view.usage.input_tokens, view.usage.output_tokens)}</span>
      {likely && (
        <span className="text-faint">
          {words.expected(likely.calls, likely.input_tokens + likely.output_tokens)}
        </span>
      )}
    </>
  );
}

function expectedWords({ expected, runs }: ReflectEstimate): string {
  if (expected === null) return words.free;
  const { low, likely, high } = expected;
  const tokens = (of: typeof low) => of.input_tokens + of.output_tokens;
  return words.before(
    likely.calls,
    tokens(likely),
    [low.calls, high.calls],
    [tokens(low), tokens(high)],
    runs,
  );
}
