import { useNavigate } from "@tanstack/react-router";
import { ErrorBoundary } from "react-error-boundary";
import { BrokenPane, ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { Tabs } from "~/components/tabs";
import { useCommands } from "~/keys/use-commands";
import type { BankId, ModelDetail, ModelId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { DocumentTab } from "./document-tab";
import { EvidenceTab } from "./evidence-tab";
import { HistoryTab } from "./history-tab";
import { ModelHead } from "./model-head";
import { strings } from "./model-strings";
import { SettingsTab } from "./settings-tab";
import { StructuredTab } from "./structured-tab";
import type { ModelTab } from "./tabs";
import { TraceTab } from "./trace-tab";
import { useDryRun } from "./use-dry-run";
import { useFileWatch } from "./use-file-watch";
import { useRefresh } from "./use-refresh";

interface Place {
  bank: BankId;
  model: ModelId;
  tab: ModelTab;
  /** The versions that the history compares. */
  compared: { a?: number | undefined; b?: number | undefined };
  /** The document is opened in its editor. */
  editing: boolean;
  onTab: (tab: ModelTab) => void;
  onCompared: (compared: { a?: number | undefined; b?: number | undefined }) => void;
}

export function ModelScreen(place: Place) {
  const loaded = useRead("getModel", [place.bank, place.model]);
  if (loaded.error) {
    return (
      <div className="p-4">
        <ReportCard report={loaded.error} onRetry={() => void loaded.refetch()} />
      </div>
    );
  }
  return loaded.data ? <Loaded {...place} detail={loaded.data} /> : <SkeletonRows />;
}

function Loaded({ detail, ...place }: Place & { detail: ModelDetail }) {
  const { bank, tab, onTab } = place;
  const navigate = useNavigate();
  const list = useRead("listModels", [bank]).data ?? [];
  const versions = useRead("listVersions", [bank, place.model]).data;
  const refresh = useRefresh(bank);
  const dry = useDryRun(bank, detail.model);
  useFileWatch(detail.publish !== null);
  const at = list.findIndex(({ id }) => id === place.model);
  const step = (by: number) => () => {
    const next = list[at + by];
    if (!next) return;
    void navigate({ to: "/b/$bank/models/$model/{-$tab}", params: { bank, model: next.id, tab } });
  };

  useCommands({
    "model.refresh":
      refresh.unavailable(detail.model) ?? (() => void refresh.run(detail.model, false)),
    "model.dryRun": dry.unavailable ?? dry.run,
    "model.history": () => onTab("history"),
    "model.previous": step(-1),
    "model.next": step(1),
    "model.tab1": () => onTab("document"),
    "model.tab2": () => onTab("evidence"),
    "model.tab3": () => onTab("structured"),
    "model.tab4": () => onTab("trace"),
    "model.tab5": () => onTab("history"),
    "model.tab6": () => onTab("settings"),
  });

  return (
    <section
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      aria-label={detail.model.name}
      data-pane
      tabIndex={-1}
      data-focus-inside
    >
      <ModelHead bank={bank} detail={detail} refresh={refresh} dry={dry} />
      <Tabs
        label={strings.tabsLabel}
        value={tab}
        onValue={onTab}
        tabs={[
          { value: "document", label: strings.tabs.document },
          { value: "evidence", label: strings.tabs.evidence, count: detail.based_on.length },
          { value: "structured", label: strings.tabs.structured },
          { value: "trace", label: strings.tabs.trace },
          {
            value: "history",
            label: strings.tabs.history,
            count: versions?.filter(({ kind }) => kind === "version").length,
          },
          { value: "settings", label: strings.tabs.settings },
        ]}
      >
        <ErrorBoundary FallbackComponent={BrokenPane} resetKeys={[tab]}>
          {tab === "document" && (
            <DocumentTab
              bank={bank}
              detail={detail}
              refresh={refresh}
              begins={place.editing}
              onTrace={() => onTab("trace")}
            />
          )}
          {tab === "evidence" && <EvidenceTab detail={detail} />}
          {tab === "structured" && (
            <StructuredTab bank={bank} detail={detail} onSettings={() => onTab("settings")} />
          )}
          {tab === "trace" && <TraceTab bank={bank} detail={detail} />}
          {tab === "history" && (
            <HistoryTab
              bank={bank}
              detail={detail}
              compared={place.compared}
              onCompared={place.onCompared}
              onRuns={() => onTab("trace")}
            />
          )}
          {tab === "settings" && <SettingsTab bank={bank} detail={detail} />}
        </ErrorBoundary>
      </Tabs>
    </section>
  );
}
