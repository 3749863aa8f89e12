import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { Button } from "~/components/button";
import {
  balanced,
  DispositionFields,
  dispositionName,
  presets,
  traits,
} from "~/components/disposition";
import { PaneHead } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { StateMark } from "~/components/state";
import { useCommands } from "~/keys/use-commands";
import { duration } from "~/lib/format";
import type {
  BankId,
  Disposition,
  JsonValue,
  ReflectRunView,
  RunId,
  SettingValues,
} from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { AskFault } from "./ask-fault";
import { cite } from "./cite";
import { CitedMarkdown } from "./cited-markdown";
import type { EvidenceKind } from "./kinds";
import { Live } from "./live";
import { QuestionBox } from "./question-box";
import { strings } from "./strings";
import { type Asking, useAsk } from "./use-ask";

const words = strings.twoMinds;

type Side = "left" | "right";

/** One question under two dispositions, side by side: what each makes of the same statements. */
export function TwoMinds({
  bank,
  left,
  right,
  onRun,
}: {
  bank: BankId;
  left: RunId | null;
  right: RunId | null;
  onRun: (side: Side, run: RunId | null) => void;
}) {
  const box = useRef<HTMLTextAreaElement>(null);
  const settings = useRead("bankSettings", [bank]);
  const answering = useRead("appStatus", []).data?.answering.kind;
  const earlier = useRead("listReflectRuns", [bank]).data ?? [];
  const asking = {
    left: useAsk(bank, (run) => onRun("left", run)),
    right: useAsk(bank, (run) => onRun("right", run)),
  };
  const kept = {
    left: useRead("getReflectRun", left ? [bank, left] : null),
    right: useRead("getReflectRun", right ? [bank, right] : null),
  };
  const views = {
    left: left ? kept.left.data : undefined,
    right: right ? kept.right.data : undefined,
  };
  const [query, setQuery] = useState<string | null>(null);
  const [chosen, setChosen] = useState<Partial<Record<Side, Disposition>>>({});
  const own = settings.data ? dispositionOf(settings.data) : balanced;
  const of = (side: Side): Disposition =>
    chosen[side] ?? views[side]?.request.disposition ?? (side === "left" ? own : contrary(own));
  const text = query ?? views.left?.request.query ?? views.right?.request.query ?? "";
  const busy = asking.left.input !== null || asking.right.input !== null;
  const alike = traits.every((each) => of("left")[each] === of("right")[each]);
  // Statements that are put in order have no temper; a difference would be an invention.
  const unavailable =
    answering !== undefined && answering !== "llm"
      ? words.noModel
      : alike
        ? words.alike
        : undefined;

  useEffect(() => {
    if (left === null && right === null) box.current?.focus();
  }, [left, right]);

  const ask = () => {
    if (busy || unavailable !== undefined || text.trim() === "") return;
    for (const side of sides) {
      // Said aloud, so that each answer keeps the disposition it was given under.
      setChosen((before) => ({ ...before, [side]: of(side) }));
      onRun(side, null);
      asking[side].ask({ query: text.trim(), disposition: of(side) });
    }
  };
  const stop = () => {
    for (const side of sides) if (asking[side].input !== null) asking[side].stop();
  };
  useCommands({
    ...(busy
      ? { "reflect.stop": stop }
      : {
          "reflect.ask": unavailable ?? (text.trim() === "" ? strings.empty : ask),
        }),
  });

  return (
    <section
      aria-label={words.title}
      data-pane
      tabIndex={-1}
      data-focus-inside
      className="flex min-h-0 min-w-0 flex-1 flex-col"
    >
      <PaneHead level={1} title={words.title}>
        <Button asChild kind="plain">
          <Link
            to="/b/$bank/directives/{-$directive}"
            params={{ bank, directive: undefined }}
            data-plain
          >
            {words.back}
          </Link>
        </Button>
      </PaneHead>
      <div className="grid shrink-0 gap-1.5 border-line border-b px-4 py-2.5">
        <QuestionBox
          box={box}
          value={text}
          onValue={setQuery}
          earlier={[...new Set(earlier.map((row) => row.query))]}
          again={false}
          busy={busy}
          stopping={asking.left.stopping || asking.right.stopping}
          onAsk={ask}
          onStop={stop}
          refused={unavailable}
        />
        {unavailable === undefined ? (
          <p className="type-small text-faint">{words.about}</p>
        ) : (
          <p className="type-small flex gap-2 text-muted">
            <StateMark mark="triangle" tone="warn" />
            <span>
              {unavailable}{" "}
              {unavailable === words.noModel && (
                <Link
                  to="/b/$bank/settings/{-$page}"
                  params={{ bank, page: "models" }}
                  className="underline underline-offset-2"
                >
                  {strings.settings}
                </Link>
              )}
            </span>
          </p>
        )}
      </div>
      <div className="grid min-h-0 flex-1 grid-cols-2 divide-x divide-line">
        {sides.map((side) => (
          <Mind
            key={side}
            bank={bank}
            label={words.sides[side]}
            run={side === "left" ? left : right}
            value={of(side)}
            onValue={(next) => setChosen((before) => ({ ...before, [side]: next }))}
            asking={asking[side]}
            view={views[side]}
            other={views[side === "left" ? "right" : "left"]}
            fault={kept[side].error}
            onRetry={() => void kept[side].refetch()}
            onAsk={ask}
          />
        ))}
      </div>
    </section>
  );
}

const sides = ["left", "right"] as const;

/** The disposition that the bank has. */
function dispositionOf({ effective }: SettingValues): Disposition {
  const values = effective as Record<string, JsonValue>;
  const level = (of: (typeof traits)[number]) => {
    const value = values[`disposition_${of}`];
    return typeof value === "number" ? value : balanced[of];
  };
  return {
    skepticism: level("skepticism"),
    literalism: level("literalism"),
    empathy: level("empathy"),
  };
}

/** Of the named dispositions the one that lies farthest from this one. */
function contrary(own: Disposition): Disposition {
  const away = (of: Disposition) =>
    traits.reduce((sum, each) => sum + Math.abs(of[each] - own[each]), 0);
  return presets.map(([, of]) => of).reduce((far, of) => (away(of) > away(far) ? of : far));
}

function Mind({
  bank,
  label,
  run,
  value,
  onValue,
  asking,
  view,
  other,
  fault,
  onRetry,
  onAsk,
}: {
  bank: BankId;
  label: string;
  run: RunId | null;
  value: Disposition;
  onValue: (value: Disposition) => void;
  asking: Asking;
  view: ReflectRunView | undefined;
  other: ReflectRunView | undefined;
  fault: Parameters<typeof ReportCard>[0]["report"] | null;
  onRetry: () => void;
  onAsk: () => void;
}) {
  const [open, setOpen] = useState(run === null);
  const busy = asking.input !== null;
  // What was asked for is looked at now; the sliders have said what they had to.
  useEffect(() => {
    if (busy) setOpen(false);
  }, [busy]);
  const shown = busy || (open && run === null) ? undefined : view;
  const body = () => {
    if (busy) return <Live asking={asking} />;
    if (asking.report && run === null)
      return (
        <div className="p-4">
          <AskFault bank={bank} report={asking.report} onRetry={onAsk} />
        </div>
      );
    if (fault)
      return (
        <div className="p-4">
          <ReportCard report={fault} onRetry={onRetry} />
        </div>
      );
    if (run === null) return null;
    return shown ? (
      <Said bank={bank} label={label} view={shown} other={other} onAsk={onAsk} />
    ) : (
      <SkeletonRows rows={3} />
    );
  };
  return (
    <section aria-label={label} className="flex min-h-0 min-w-0 flex-col">
      <div className="flex min-h-9 shrink-0 items-center gap-2 border-line border-b px-4">
        <h2 className="type-strong min-w-0 truncate">{dispositionName(value)}</h2>
        {(run !== null || busy) && (
          <Button
            kind="plain"
            size="small"
            className="ml-auto"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? words.hide : words.change}
          </Button>
        )}
      </div>
      {(open || (run === null && !busy)) && (
        <div className="scroll-quiet max-h-[70%] shrink-0 border-line border-b px-4 py-3">
          <DispositionFields label={label} value={value} onValue={onValue} />
        </div>
      )}
      {body()}
    </section>
  );
}

/** What one side said, what it rests on, and which sources the other side left out. */
function Said({
  bank,
  label,
  view,
  other,
  onAsk,
}: {
  bank: BankId;
  /** Which of the two sides it is. */
  label: string;
  view: ReflectRunView;
  other: ReflectRunView | undefined;
  onAsk: () => void;
}) {
  const id = useId();
  const navigate = useNavigate();
  const cited = useMemo(() => cite(view.text ?? "", view.evidence_spans, view.based_on), [view]);
  const alone = other
    ? view.based_on.filter(({ id }) => !other.based_on.some((item) => item.id === id))
    : [];
  const took =
    view.finished_at === null ? null : Date.parse(view.finished_at) - Date.parse(view.started_at);
  return (
    <ScrollText label={words.answerOf(label)} className="px-4 py-3">
      {view.text && (
        <CitedMarkdown
          cited={cited}
          marks={!view.extractive}
          pinned={null}
          onPin={(id) => {
            const item = view.based_on.find((each) => each.id === id);
            void navigate({
              to: "/b/$bank/reflect/{-$run}",
              params: { bank, run: view.id },
              search: { source: id, ...(item ? { kind: item.kind as EvidenceKind } : {}) },
            });
          }}
        />
      )}
      {view.report && <AskFault bank={bank} report={view.report} onRetry={onAsk} />}
      {view.status === "cancelled" && !view.report && (
        <p className="text-muted">{strings.answer.cancelled}</p>
      )}
      {other && view.text && (
        <div className="mt-4 max-w-(--measure)">
          <h3 id={`${id}-alone`} className="type-label text-faint">
            {words.alone}
          </h3>
          {alone.length === 0 ? (
            <p className="type-small text-muted">{words.sameSources}</p>
          ) : (
            <ul aria-labelledby={`${id}-alone`} className="type-small mt-1 grid gap-1 text-muted">
              {alone.map(({ id: own, text }) => (
                <li key={own} className="line-clamp-2">
                  {text}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
      <p className="type-small mt-4 flex max-w-(--measure) flex-wrap items-center gap-x-3 gap-y-1 border-line border-t pt-2 text-muted">
        {took !== null && <span>{duration(took)}</span>}
        {view.usage.total_tokens > 0 && (
          <span>{strings.answer.tokens(view.usage.input_tokens, view.usage.output_tokens)}</span>
        )}
        <Link
          to="/b/$bank/reflect/{-$run}"
          params={{ bank, run: view.id }}
          search={{}}
          className="ml-auto"
        >
          {words.whole}
        </Link>
      </p>
    </ScrollText>
  );
}
