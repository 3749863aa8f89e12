import { X } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Button } from "~/components/button";
import { Fact } from "~/components/fact";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { StructuredValue } from "~/components/schema/structured-value";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { spansOf } from "~/components/trace/spans";
import { Waterfall } from "~/components/trace/waterfall";
import { words as traceWords } from "~/components/trace/words";
import { count, dayTime, duration } from "~/lib/format";
import type { BankId, EvidenceItem, ReflectRunView, RunId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { cite } from "./cite";
import { CitedMarkdown } from "./cited-markdown";
import { optionsOf } from "./options";
import { tagsShown } from "./options-row";
import { kindWords, strings } from "./strings";
import { namesOf } from "./structured";

const words = strings.compare;

/** Two runs side by side: how they were asked, what they answered, what that rests on, how it went. */
export function Compare({
  bank,
  left,
  right,
  onClose,
}: {
  bank: BankId;
  left: RunId;
  right: RunId;
  onClose: () => void;
}) {
  const a = useRead("getReflectRun", [bank, left]);
  const b = useRead("getReflectRun", [bank, right]);
  const failed = a.error ? a : b.error ? b : null;
  return (
    <>
      <PaneHead title={words.title}>
        <Button size="small" icon={X} onClick={onClose}>
          {words.close}
        </Button>
      </PaneHead>
      {failed?.error ? (
        <div className="p-4">
          <ReportCard report={failed.error} onRetry={() => void failed.refetch()} />
        </div>
      ) : a.data && b.data ? (
        <Both bank={bank} left={a.data} right={b.data} />
      ) : (
        <SkeletonRows rows={4} />
      )}
    </>
  );
}

function Both({
  bank,
  left,
  right,
}: {
  bank: BankId;
  left: ReflectRunView;
  right: ReflectRunView;
}) {
  const runs = [left, right] as const;
  return (
    <ScrollText label={words.body} className="px-4 pb-6">
      <Figures left={left} right={right} />
      <Heading>{words.answers}</Heading>
      <Columns>
        {runs.map((run, place) => (
          <Answered key={run.id} run={run} side={words.sides[place] ?? ""} />
        ))}
      </Columns>
      <Heading>{words.evidence}</Heading>
      <Sources left={left.based_on} right={right.based_on} />
      <Heading>{traceWords.title}</Heading>
      <Columns>
        {runs.map((run, place) => (
          <Steps key={run.id} bank={bank} run={run} side={words.sides[place] ?? ""} />
        ))}
      </Columns>
    </ScrollText>
  );
}

/** How each was asked and what it took: what differs side by side, what is the same in one line. */
function Figures({ left, right }: { left: ReflectRunView; right: ReflectRunView }) {
  const theirs = figuresOf(right);
  const pairs = figuresOf(left).map(
    ([name, value], place) => [name, value, theirs[place]?.[1] ?? ""] as const,
  );
  const differing = pairs.filter(([, mine, other]) => mine !== other);
  const alike = pairs.filter(([, mine, other]) => mine === other);
  return (
    <>
      <table className="mt-3 w-full table-fixed">
        <caption className="sr-only">{words.asked}</caption>
        <thead className="type-small text-left text-faint">
          <tr className="border-line border-b">
            {words.sides.map((side) => (
              <th key={side} scope="col" className="py-1 font-normal">
                {side}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {differing.map(([name, ...values]) => (
            <tr key={name} className="border-line border-b align-top">
              {values.map((value, side) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: two fixed places
                <td key={side} className="break-words py-1 pr-3">
                  <span className="text-faint">{name}</span> {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {alike.length > 0 && (
        <p className="type-small mt-2 text-muted">
          {words.alike} {alike.map(([name, value]) => `${name.toLowerCase()} ${value}`).join(" · ")}
        </p>
      )}
    </>
  );
}

function figuresOf(run: ReflectRunView): [name: string, value: string][] {
  const options = optionsOf(run.request);
  const { trace, usage } = run;
  const kinds =
    options.kinds.length === 3 ? words.allKinds : options.kinds.map((kind) => kindWords[kind]);
  return [
    [strings.question, run.request.query],
    [words.when, dayTime(run.started_at)],
    [strings.options.budget, strings.options.budgets[options.budget]],
    [strings.options.tags, tagsShown(options)],
    [strings.options.kinds, typeof kinds === "string" ? kinds : kinds.join(", ")],
    [words.by, run.extractive ? words.extractive : words.model],
    [words.rules, (trace.directives ?? []).map(({ name }) => name).join(", ") || words.none],
    [
      words.took,
      run.finished_at === null
        ? words.none
        : duration(Date.parse(run.finished_at) - Date.parse(run.started_at)),
    ],
    [words.calls, count(trace.llm_calls?.length ?? 0)],
    [words.searches, count(trace.tool_calls?.filter(({ tool }) => tool !== "done").length ?? 0)],
    [words.tokens, count(usage.total_tokens)],
    [words.sources, count(run.based_on.length)],
  ];
}

function Answered({ run, side }: { run: ReflectRunView; side: string }) {
  const cited = useMemo(() => cite(run.text ?? "", run.evidence_spans, run.based_on), [run]);
  const [pinned, setPinned] = useState<string | null>(null);
  return (
    <section aria-label={words.answerOf(side)} className="min-w-0">
      {run.text ? (
        <CitedMarkdown
          cited={cited}
          marks={!run.extractive}
          pinned={pinned}
          onPin={(id) => setPinned(id === pinned ? null : id)}
        />
      ) : (
        <p className="text-muted">{run.report?.message ?? words.noAnswer}</p>
      )}
      {run.structured_output !== null && (
        <div className="mt-3 border-line border-t pt-3">
          <StructuredValue
            value={run.structured_output}
            text={run.text ?? ""}
            expected={namesOf(run.request.response_schema)}
          />
        </div>
      )}
    </section>
  );
}

/** What both rest on, and what only one of them does. */
function Sources({ left, right }: { left: EvidenceItem[]; right: EvidenceItem[] }) {
  const has = (items: EvidenceItem[], { id }: EvidenceItem) => items.some((item) => item.id === id);
  const both = left.filter((item) => has(right, item));
  const sides = [
    left.filter((item) => !has(right, item)),
    right.filter((item) => !has(left, item)),
  ];
  return (
    <>
      <Columns>
        {sides.map((items, place) => (
          <Group
            // biome-ignore lint/suspicious/noArrayIndexKey: two fixed places
            key={place}
            title={words.only(words.sides[place] ?? "", items.length)}
            items={items}
          />
        ))}
      </Columns>
      <details className="mt-3">
        <summary className="cursor-pointer text-muted">{words.shared(both.length)}</summary>
        <Group title={null} items={both} />
      </details>
    </>
  );
}

function Group({ title, items }: { title: string | null; items: EvidenceItem[] }) {
  return (
    <section aria-label={title ?? words.evidence} className="min-w-0">
      {title && <h3 className="type-small font-medium text-muted">{title}</h3>}
      <div className="-mx-4">
        {items.map((item, place) => (
          <Fact key={item.id} item={item} bare={place === items.length - 1} />
        ))}
      </div>
    </section>
  );
}

function Steps({ bank, run, side }: { bank: BankId; run: ReflectRunView; side: string }) {
  const spans = useMemo(() => spansOf(run.trace), [run]);
  return (
    <section
      aria-label={words.stepsOf(side)}
      className="flex min-w-0 flex-col rounded-md border border-line"
      style={{ height: `clamp(10rem, ${spans.length * 1.5 + 6}rem, 24rem)` }}
    >
      <Waterfall spans={spans} elapsed={null} of={{ bank, run: run.id }} />
    </section>
  );
}

const Columns = ({ children }: { children: ReactNode }) => (
  <div className="mt-2 grid grid-cols-2 gap-6 max-[1100px]:gap-4">{children}</div>
);

const Heading = ({ children }: { children: string }) => (
  <h2 className="type-label mt-5 border-line border-b pb-1 text-faint">{children}</h2>
);
