import { useNavigate } from "@tanstack/react-router";
import { TextQuote } from "lucide-react";
import { Button } from "~/components/button";
import { ScrollText } from "~/components/scroll";
import { StateWord } from "~/components/state";
import type { BankId, ReflectRunView } from "~/platform/bindings";
import { AskFault } from "./ask-fault";
import type { Cited } from "./cite";
import { CitedMarkdown } from "./cited-markdown";
import { Foot, type RunActs } from "./foot";
import { RulesTold } from "./rules-told";
import { strings } from "./strings";
import { Structured } from "./structured";

const words = strings.answer;

/** The answer of a run, with what must be known to judge it, and the ways to keep it. */
export function Answer({
  bank,
  view,
  cited,
  pinned,
  onPin,
  onWiden,
  goesOn,
  onRetry,
  acts,
}: {
  bank: BankId;
  view: ReflectRunView;
  cited: Cited;
  pinned: string | null;
  onPin: (id: string) => void;
  onWiden: (() => void) | null;
  /** Whether another try goes on from what this one found. */
  goesOn: boolean;
  onRetry: () => void;
  acts: RunActs;
}) {
  const { text, trace } = view;
  const nothing = view.confidence === "nothing";
  const notes = [
    ...(text && !nothing && !cited.tied && view.based_on.length > 0 ? [words.wholeOnly] : []),
    ...(trace.dropped_citations?.length ? [words.dropped(trace.dropped_citations.length)] : []),
    ...(trace.pending_consolidation ? [words.pending(trace.pending_consolidation)] : []),
    ...view.warnings.map(({ message }) => message),
  ];
  return (
    <ScrollText label={words.label} className="px-6 py-4 max-[1100px]:px-4">
      {view.extractive && text && <Extractive view={view} />}
      {text && (
        <CitedMarkdown cited={cited} marks={!view.extractive} pinned={pinned} onPin={onPin} />
      )}
      {nothing && <Nothing bank={bank} said={text !== null} onWiden={onWiden} />}
      {view.status === "cancelled" ? (
        // A person wanted it: nothing is wrong.
        <p className="text-muted">{words.cancelled}</p>
      ) : (
        view.report && (
          <AskFault bank={bank} report={view.report} goesOn={goesOn} onRetry={onRetry} />
        )
      )}
      <Structured view={view} />
      {notes.length > 0 && (
        <ul className="type-small mt-4 grid max-w-(--measure) gap-1 text-muted">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <RulesTold bank={bank} view={view} />
      <Foot bank={bank} view={view} acts={acts} />
    </ScrollText>
  );
}

/** How sure an answer without a language model is, and that there was none. */
function Extractive({ view }: { view: ReflectRunView }) {
  const { confidence } = view;
  return (
    <div className="mb-3 max-w-(--measure) border-line border-b pb-2">
      <p className="flex flex-wrap items-center gap-x-3">
        <span className="inline-flex items-center gap-1.5 font-medium">
          <TextQuote aria-hidden="true" className="size-4 text-muted" />
          {words.extractive}
        </span>
        {confidence && (
          <StateWord
            mark={confidence === "found" ? "tick" : confidence === "nearest" ? "half" : "dashed"}
            tone={confidence === "found" ? "ok" : confidence === "nearest" ? "warn" : "muted"}
          >
            {words.confidence[confidence]}
          </StateWord>
        )}
      </p>
      <p className="type-small mt-0.5 text-faint">
        {confidence === "nearest" ? words.nearest : words.extractiveAbout}
      </p>
    </div>
  );
}

function Nothing({
  bank,
  said,
  onWiden,
}: {
  bank: BankId;
  /** The answer itself already says that there is nothing. */
  said: boolean;
  onWiden: (() => void) | null;
}) {
  const navigate = useNavigate();
  return (
    <div className={said ? "mt-3" : undefined}>
      <p className="max-w-(--measure) text-pretty text-muted">
        {said ? words.nothingMore : words.nothing}
      </p>
      <div className="mt-3 flex gap-2">
        {onWiden && <Button onClick={onWiden}>{words.widen}</Button>}
        <Button
          onClick={() =>
            void navigate({
              to: "/b/$bank/memories/{-$memory}",
              params: { bank, memory: undefined },
              search: { add: true },
            })
          }
        >
          {words.addFact}
        </Button>
      </div>
    </div>
  );
}
