import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "~/components/button";
import { Menu, MenuItem } from "~/components/menu";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { liveSpans, spansOf } from "~/components/trace/spans";
import { words as traceWords } from "~/components/trace/words";
import { useNarrow } from "~/lib/use-narrow";
import type { BankId, RunId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Answer } from "./answer";
import { AskFault } from "./ask-fault";
import { cite } from "./cite";
import { Evidence } from "./evidence";
import { type EvidenceKind, firstKind } from "./kinds";
import { Live } from "./live";
import { allKinds, inputOf, type Options, optionsOf, usual } from "./options";
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
  onRun,
  onKind,
  onSource,
}: {
  bank: BankId;
  run: RunId | null;
  kind: EvidenceKind | null;
  source: string | null;
  onRun: (run: RunId | null) => void;
  onKind: (kind: EvidenceKind) => void;
  onSource: (id: string, kind: EvidenceKind) => void;
}) {
  const narrow = useNarrow();
  const navigate = useNavigate();
  const box = useRef<HTMLTextAreaElement>(null);
  const [query, setQuery] = useState("");
  const [options, setOptions] = useState<Options>(usual);
  const [moved, setMoved] = useState(0);
  const listed = useRead("listReflectRuns", [bank]);
  const runs = listed.data ?? [];
  const asking = useAsk(bank, onRun);
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
  const ask = (text = query, of = options) => {
    if (text.trim() === "" || busy) return;
    setQuery(text);
    asking.ask(inputOf(text, of));
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
      },
    });
  };
  const limited = options.tags.length > 0 || options.kinds.length < allKinds.length;
  useReflectKeys({
    busy,
    query,
    ask,
    stop: asking.stop,
    fresh,
    save: shown?.text ? save : null,
    onKind,
  });

  const spans = busy ? liveSpans(asking.heard) : shown ? spansOf(shown.trace) : [];
  const middle = () => {
    if (busy) return <Live asking={asking} />;
    if (asking.report && (!run || asking.report.run?.id === run)) {
      return (
        <div className="p-4">
          <AskFault bank={bank} report={asking.report} onRetry={() => ask()} />
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
        onRetry={() => ask()}
        onSave={save}
        onWiden={
          limited
            ? () => {
                const wide = { ...options, tags: [], kinds: allKinds };
                setOptions(wide);
                ask(query, wide);
              }
            : null
        }
      />
    );
  };

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
            busy={busy}
            stopping={asking.stopping}
            onAsk={() => ask()}
            onStop={asking.stop}
          />
          <div className="flex items-start gap-3">
            <OptionsRow key={opened ?? "new"} options={options} onOptions={setOptions} />
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
