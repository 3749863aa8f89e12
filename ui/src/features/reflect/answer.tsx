import { useNavigate } from "@tanstack/react-router";
import { BookmarkPlus, Copy, TextQuote } from "lucide-react";
import { Button } from "~/components/button";
import { Menu, MenuItem } from "~/components/menu";
import { ScrollText } from "~/components/scroll";
import { StateMark, StateWord } from "~/components/state";
import { copyText } from "~/lib/copy";
import { duration } from "~/lib/format";
import type { BankId, ReflectRunView } from "~/platform/bindings";
import { AskFault } from "./ask-fault";
import { type Cited, withFootnotes } from "./cite";
import { CitedMarkdown } from "./cited-markdown";
import { RulesTold } from "./rules-told";
import { strings } from "./strings";

const words = strings.answer;

/** The answer of a run, with what must be known to judge it, and the ways to keep it. */
export function Answer({
  bank,
  view,
  cited,
  pinned,
  onPin,
  onWiden,
  onRetry,
  onSave,
}: {
  bank: BankId;
  view: ReflectRunView;
  cited: Cited;
  pinned: string | null;
  onPin: (id: string) => void;
  onWiden: (() => void) | null;
  onRetry: () => void;
  onSave: () => void;
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
      {view.report && <AskFault bank={bank} report={view.report} onRetry={onRetry} />}
      {view.status === "cancelled" && !view.report && (
        <p className="text-muted">{words.cancelled}</p>
      )}
      {view.structured_output !== null && (
        <section className="mt-4" aria-label={words.structured}>
          <h2 className="type-label pb-1 text-faint">{words.structured}</h2>
          <pre className="type-code scroll-quiet select-text rounded-md bg-sunken p-3">
            {JSON.stringify(view.structured_output, null, 2)}
          </pre>
        </section>
      )}
      {view.structured_output_error && (
        <p className="mt-3 flex gap-2 text-muted">
          <StateMark mark="triangle" tone="warn" className="mt-0.5" />
          {view.structured_output_error.message}
        </p>
      )}
      {notes.length > 0 && (
        <ul className="type-small mt-4 grid max-w-(--measure) gap-1 text-muted">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      <RulesTold bank={bank} view={view} />
      {text && <Foot view={view} cited={cited} onSave={onSave} />}
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

function Foot({ view, cited, onSave }: { view: ReflectRunView; cited: Cited; onSave: () => void }) {
  const took =
    view.finished_at === null ? null : Date.parse(view.finished_at) - Date.parse(view.started_at);
  return (
    <div className="type-small mt-5 flex max-w-(--measure) flex-wrap items-center gap-x-3 gap-y-2 border-line border-t pt-3 text-muted">
      {took !== null && <span>{duration(took)}</span>}
      {view.usage.total_tokens > 0 && (
        <span>{words.tokens(view.usage.input_tokens, view.usage.output_tokens)}</span>
      )}
      <span className="ml-auto flex gap-2">
        <Menu
          trigger={
            <Button size="small" icon={Copy}>
              {words.copy}
            </Button>
          }
        >
          <MenuItem onSelect={() => void copyText(view.text ?? "")}>{words.copyText}</MenuItem>
          <MenuItem
            onSelect={() =>
              void copyText(`# ${view.request.query}\n\n${withFootnotes(cited, view.based_on)}\n`)
            }
          >
            {words.copyMarkdown}
          </MenuItem>
          <MenuItem onSelect={() => void copyText(JSON.stringify(view, null, 2))}>
            {words.copyJson}
          </MenuItem>
        </Menu>
        <Button size="small" icon={BookmarkPlus} command="reflect.save" onClick={onSave}>
          {words.save}
        </Button>
      </span>
    </div>
  );
}
