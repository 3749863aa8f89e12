import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Button } from "~/components/button";
import { Menu, MenuItem } from "~/components/menu";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SchemaBuilder } from "~/components/schema/schema-builder";
import { SkeletonRows } from "~/components/skeleton";
import { liveSpans, spansOf } from "~/components/trace/spans";
import { words as traceWords } from "~/components/trace/words";
import { useNarrow } from "~/lib/use-narrow";
import type { BankId, RunId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Answer } from "./answer";
import { AskFault } from "./ask-fault";
import { cite } from "./cite";
import { Compare } from "./compare";
import { Expected } from "./cost";
import { Evidence } from "./evidence";
import { type EvidenceKind, firstKind } from "./kinds";
import { Live } from "./live";
import { allKinds, inputOf, type Options, optionsOf, schemaOf, usual } from "./options";
import { OptionsRow } from "./options-row";
import { QuestionBox } from "./question-box";
import { Questions } from "./questions";
import { Samples } from "./samples";
import { strings } from "./strings";
import { TracePane } from "./trace-pane";
import { useAsk } from "./use-ask";
import { useReflectKeys } from "./use-reflect-keys";

/** Ask, watch, verify, keep. */
export function ReflectScreen({
  bank,
  run,
  kind,
  source,
  beside,
  building,
  onRun,
  onKind,
  onSource,
  onBeside,
  onBuilding,
}: {
  bank: BankId;
  run: RunId | null;
  kind: EvidenceKind | null;
  source: string | null;
  /** Another run that this one is compared with. */
  beside: RunId | null;
  /** Whether the builder of fields is open. */
  building: boolean;
  onRun: (run: RunId | null, beside?: RunId | null) => void;
  onKind: (kind: EvidenceKind) => void;
  onSource: (id: string, kind: EvidenceKind) => void;
  onBeside: (beside: RunId | null) => void;
  onBuilding: (on: boolean) => void;
}) {
  const narrow = useNarrow();
  const navigate = useNavigate();
  const box = useRef<HTMLTextAreaElement>(null);
  const [query, setQuery] = useState("");
  const [options, setOptions] = useState<Options>(usual);
  const [moved, setMoved] = useState(0);
  const listed = useRead("listReflectRuns", [bank]);
  const runs = listed.data ?? [];
  /** The run that the next answer is set beside. */
  const against = useRef<RunId | null>(null);
  const asking = useAsk(bank, (next) => {
    onRun(next, against.current);
    against.current = null;
  });
  const busy = asking.input !== null;
  const kept = useRead("getReflectRun", run ? [bank, run] : null);
  const view = run
    ? (kept.data ?? (asking.answered?.id === run ? asking.answered : undefined))
    : undefined;
  const shown = busy ? undefined : view;
  const cited = useMemo(
    () => (view ? cite(view.text ?? "", view.evidence_spans, view.based_on) : null),
    [view],
  );

  // The question of the opened run stands in the box, so that it can be asked again or changed.
  const opened = view?.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another run is opened
  useEffect(() => {
    if (!view) return;
    setQuery(view.request.query);
    setOptions(optionsOf(view.request));
  }, [opened]);

  const tab = kind ?? (shown ? firstKind(shown) : "world");
  const unavailable = whyNot(query, options);
  const ask = (text = query, of = options, other: RunId | null = null) => {
    if (whyNot(text, of) || busy) return;
    against.current = other;
    setQuery(text);
    asking.ask(inputOf(text, of));
  };
  // The question as it was goes on from what was found; a changed one begins anew.
  const goesOn = view?.can_go_on === true && view.request.query === query.trim();
  const retry = () => {
    if (!goesOn) return ask();
    against.current = null;
    asking.goOn(view);
  };
  const fresh = () => {
    asking.forget();
    setQuery("");
    onRun(null);
    box.current?.focus();
  };
  const pin = (id: string) => {
    const item = shown?.based_on.find((each) => each.id === id);
    if (!item) return;
    onSource(id, item.kind as EvidenceKind);
    setMoved((before) => before + 1);
  };
  const save = () => {
    if (!shown?.text) return;
    void navigate({
      to: "/b/$bank/models/new",
      params: { bank },
      search: {
        question: shown.request.query,
        ...(shown.request.tags?.length ? { tags: shown.request.tags } : {}),
        ...(shown.request.response_schema ? { schema: optionsOf(shown.request).schema } : {}),
      },
    });
  };
  const limited =
    options.tags.length > 0 || options.groups !== null || options.kinds.length < allKinds.length;
  useReflectKeys({
    away: building || (beside !== null && !busy),
    busy,
    unavailable,
    ask,
    stop: asking.stop,
    fresh,
    save: shown?.text ? save : null,
    onKind,
  });

  const spans = busy ? liveSpans(asking.heard) : shown ? spansOf(shown.trace) : [];
  const reported = asking.report?.run?.id;
  const middle = () => {
    if (busy) return <Live asking={asking} />;
    if (asking.report && asking.report.reason !== "cancelled" && (!run || reported === run)) {
      return (
        <div className="p-4">
          <AskFault bank={bank} report={asking.report} goesOn={goesOn} onRetry={retry} />
        </div>
      );
    }
    if (!run) return <Samples bank={bank} onAsk={(text) => ask(text)} />;
    if (kept.error)
      return (
        <div className="p-4">
          <ReportCard report={kept.error} onRetry={() => void kept.refetch()} />
        </div>
      );
    if (!shown || !cited) return <SkeletonRows rows={3} />;
    if (shown.status === "running")
      return <p className="p-4 text-muted">{strings.live.elsewhere}</p>;
    return (
      <Answer
        bank={bank}
        view={shown}
        cited={cited}
        pinned={source}
        onPin={pin}
        goesOn={goesOn}
        onRetry={retry}
        acts={{
          others: runs,
          onCompare: onBeside,
          onAgain: () => ask(shown.request.query, optionsOf(shown.request), shown.id),
          onSave: save,
        }}
        onWiden={
          limited
            ? () => {
                const wide = { ...options, tags: [], groups: null, kinds: allKinds };
                setOptions(wide);
                ask(query, wide);
              }
            : null
        }
      />
    );
  };

  if (building) {
    return (
      <WholePane label={strings.options.schema}>
        <SchemaBuilder
          name={strings.options.schemaOf}
          place="question"
          begin={options.schema}
          // Bare statements may be private; only what a language model has written is offered to one.
          document={shown?.extractive ? "" : (shown?.text ?? "")}
          model={null}
          onText={(schema) => setOptions({ ...options, schema })}
          onBack={() => onBuilding(false)}
        />
      </WholePane>
    );
  }
  if (run && beside && !busy) {
    return (
      <WholePane label={strings.compare.title}>
        <Compare bank={bank} left={run} right={beside} onClose={() => onBeside(null)} />
      </WholePane>
    );
  }
  return (
    <Panes id={narrow ? "reflect-narrow" : "reflect"}>
      {!narrow && (
        <>
          <Pane id="questions" label={strings.questions} width="192px" min="144px" max="384px">
            <Questions
              rows={runs}
              report={listed.error}
              onRetry={() => void listed.refetch()}
              run={run}
              onRun={onRun}
              onNew={fresh}
            />
          </Pane>
          <PaneEdge label={strings.stripEdge} />
        </>
      )}
      <Pane id="work" label={strings.work}>
        <h1 className="sr-only">{strings.title}</h1>
        <div className="grid shrink-0 gap-1.5 border-line border-b px-4 pt-3 pb-2">
          <QuestionBox
            box={box}
            value={busy ? (asking.input?.query ?? "") : query}
            onValue={setQuery}
            earlier={[...new Set(runs.map((row) => row.query))]}
            again={shown !== undefined && shown.request.query === query.trim()}
            unavailable={unavailable}
            busy={busy}
            stopping={asking.stopping}
            onAsk={() => ask()}
            onStop={asking.stop}
          />
          <div className="flex items-start gap-3">
            <OptionsRow
              key={opened ?? "new"}
              options={options}
              onOptions={setOptions}
              onSchema={() => onBuilding(true)}
            />
            {narrow && runs.length > 0 && (
              <span className="ml-auto">
                <Menu trigger={<Button size="small">{strings.questions}</Button>}>
                  <MenuItem onSelect={fresh}>{strings.newQuestion}</MenuItem>
                  {runs.slice(0, 20).map((row) => (
                    <MenuItem key={row.id} onSelect={() => onRun(row.id)}>
                      <span className="block max-w-80 truncate">{row.query}</span>
                    </MenuItem>
                  ))}
                </Menu>
              </span>
            )}
          </div>
          <Expected bank={bank} options={options} />
        </div>
        <Panes id="reflect-rows" stacked>
          <Pane id="result" label={strings.work} bare min="20%">
            <Panes id="reflect-result">
              <Pane id="answer" label={strings.reply} min="256px">
                {middle()}
              </Pane>
              {shown && cited && shown.status === "finished" && (
                <>
                  <PaneEdge label={strings.evidenceEdge} />
                  <Pane
                    id="evidence"
                    as="aside"
                    label={strings.evidence.label}
                    width={narrow ? "264px" : "320px"}
                    min="192px"
                    max="576px"
                  >
                    <Evidence
                      view={shown}
                      cited={cited}
                      kind={tab}
                      onKind={onKind}
                      pinned={source}
                      moved={moved}
                    />
                  </Pane>
                </>
              )}
            </Panes>
          </Pane>
          {(shown || busy) && (
            <>
              <PaneEdge label={strings.traceEdge} stacked />
              <Pane
                id="trace"
                label={traceWords.title}
                width={narrow ? "156px" : "252px"}
                min="64px"
                max="70%"
              >
                <TracePane
                  bank={bank}
                  key={busy ? "live" : opened}
                  spans={spans}
                  view={shown ?? null}
                  elapsed={busy ? asking.seconds * 1000 : null}
                />
              </Pane>
            </>
          )}
        </Panes>
      </Pane>
    </Panes>
  );
}

/** Why a question cannot be asked as it stands. */
function whyNot(query: string, options: Options): string | undefined {
  if (query.trim() === "") return strings.empty;
  return schemaOf(options) === undefined ? strings.options.schemaUnusable : undefined;
}

/** What stands in the place of all panes. */
function WholePane({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      aria-label={label}
      data-pane
      tabIndex={-1}
    >
      <h1 className="sr-only">{strings.title}</h1>
      {children}
    </section>
  );
}
