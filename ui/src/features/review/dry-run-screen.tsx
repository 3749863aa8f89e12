import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronLeft, TriangleAlert } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { Badge } from "~/components/badge";
import { Button } from "~/components/button";
import { CopyButton } from "~/components/copy-button";
import { Empty } from "~/components/empty";
import { Icon } from "~/components/icon";
import { attend } from "~/components/left-behind";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { type TabSpec, Tabs } from "~/components/tabs";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { dayTime, duration } from "~/lib/format";
import { useFolded } from "~/lib/use-narrow";
import type {
  BankId,
  DryRunView,
  ModelId,
  Preview,
  ProposalView,
  RunId,
} from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { type Desk, useDesk } from "./desk";
import { EvidencePane } from "./evidence-pane";
import { Rendered } from "./rendered";
import { Result } from "./result";
import { Split } from "./split";
import { strings } from "./strings";
import { Structure } from "./structure";
import { Unified } from "./unified";
import { LookOnly } from "./use-preview";

const words = strings.dry;

type View = "unified" | "split" | "rendered" | "structure" | "result";

const tabs: TabSpec<View>[] = (
  ["unified", "split", "rendered", "structure", "result"] as const
).map((value) => ({ value, label: strings.view[value] }));

interface Place {
  bank: BankId;
  model: ModelId;
  run: RunId;
}

/** What a refresh would do, in the views of a review and without its decisions. */
export function DryRunScreen(place: Place) {
  const loaded = useRead("getDryRun", [place.bank, place.run]);
  if (loaded.error) {
    return (
      <div className="grid content-start gap-3 p-4">
        <ReportCard report={loaded.error} onRetry={() => void loaded.refetch()} />
        <BackLink {...place} />
      </div>
    );
  }
  if (!loaded.data) return <SkeletonRows height="9rem" rows={4} />;
  return <Loaded {...place} dry={loaded.data} />;
}

function BackLink({ bank, model }: Place) {
  return (
    <Link
      to="/b/$bank/models/$model/{-$tab}"
      params={{ bank, model, tab: undefined }}
      search={{}}
      aria-label={words.back}
      title={words.back}
      className="grid size-(--control-small) shrink-0 place-items-center rounded-md text-muted hover:bg-hover"
    >
      <Icon of={ChevronLeft} />
    </Link>
  );
}

function Loaded({ dry, ...place }: Place & { dry: DryRunView }) {
  const preview = useMemo(
    (): Preview => ({
      content: dry.preview_content,
      diff: dry.diff,
      document_tokens: 0,
      max_tokens: 0,
      confirm: [],
      op_ids: [],
    }),
    [dry],
  );
  return (
    <LookOnly value={preview}>
      <section
        aria-label={`${dry.name}, ${words.badge}`}
        className="flex min-h-0 min-w-0 flex-1 flex-col"
        data-pane
        tabIndex={-1}
        data-focus-inside
      >
        <Head dry={dry} place={place} />
        {dry.review ? (
          <Change bank={place.bank} view={dry.review} />
        ) : (
          <Empty title={words.nothing}>
            <p>{words.outcome[dry.outcome] ?? dry.outcome.replaceAll("_", " ")}</p>
            {dry.report && <ReportCard report={dry.report} className="mt-3" />}
          </Empty>
        )}
        <Foot dry={dry} place={place} />
      </section>
    </LookOnly>
  );
}

function Head({ dry, place }: { dry: DryRunView; place: Place }) {
  const sum = (counts: { [key in string]: number }) =>
    Object.values(counts).reduce((all, one) => all + one, 0);
  const would = dry.would_propose ? "propose" : dry.would_persist ? "publish" : "nothing";
  const facts: ReactNode[] = [
    words.mode(dry.effective_mode, dry.requested_mode),
    strings.facts(sum(dry.facts.retrieved), sum(dry.facts.used)),
    words.memories(dry.window.memories ?? 0),
    dry.window.created_before && strings.readTo(dayTime(dry.window.created_before)),
    words.took(duration(dry.duration_ms), dry.usage.total_tokens),
  ];
  return (
    <header className="grid shrink-0 gap-1 border-line border-b pt-2 pr-4 pb-2.5 pl-3">
      <div className="flex min-w-0 items-center gap-2">
        <BackLink {...place} />
        <h1 className="type-title truncate">{dry.name}</h1>
        <Badge kind="accent">{words.badge}</Badge>
        {dry.extractive && <Badge>{strings.extractive}</Badge>}
      </div>
      <div className="grid gap-1 pl-8">
        <p>{words.would[would]}</p>
        <p className="type-small text-muted">{facts.filter(Boolean).join(" · ")}</p>
        {dry.warnings.length > 0 && (
          <ul className="type-small grid gap-0.5">
            {dry.warnings.map(({ code, message }) => (
              <li key={`${code} ${message}`} className="flex gap-1.5 text-muted">
                <Icon of={TriangleAlert} small className="mt-0.5 text-warn" />
                {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </header>
  );
}

function Change({ bank, view }: { bank: BankId; view: ProposalView }) {
  const [shown, setShown] = useState<View>("unified");
  const [op, setOp] = useState<string | null>(null);
  const folded = useFolded();
  const [asked, setAsked] = useState<boolean | null>(null);
  const evidence = asked ?? (shown !== "split" && !folded);
  const desk = useDesk(bank, view, op, setOp, false);
  useLookKeys(desk, setShown, () => setAsked(true));
  return (
    <Panes id="dry-run">
      <Pane id="change" label={strings.proposal} min="300px">
        <Tabs
          label={strings.views}
          value={shown}
          onValue={(next) => {
            setAsked(null);
            setShown(next);
          }}
          tabs={tabs}
        >
          {shown === "unified" && <Unified view={view} desk={desk} />}
          {shown === "split" && <Split bank={bank} view={view} desk={desk} />}
          {shown === "rendered" && <Rendered bank={bank} view={view} desk={desk} />}
          {shown === "structure" && <Structure bank={bank} view={view} desk={desk} />}
          {shown === "result" && <Result bank={bank} view={view} />}
        </Tabs>
      </Pane>
      {evidence && (
        <>
          <PaneEdge label={strings.evidence.title} />
          <Pane
            id="evidence"
            as="aside"
            label={strings.evidence.title}
            width="312px"
            min="200px"
            max="480px"
          >
            <EvidencePane
              op={desk.op}
              onLeave={() => document.querySelector<HTMLElement>("article[aria-current]")?.focus()}
            />
          </Pane>
        </>
      )}
    </Panes>
  );
}

/** The keys of a review that only look. */
function useLookKeys(desk: Desk, onView: (view: View) => void, showEvidence: () => void): void {
  useCommands({
    "review.next": () => desk.move(1),
    "review.previous": () => desk.move(-1),
    "review.context": () => desk.toggle("more"),
    "review.wrap": () => desk.toggle("wrap"),
    "review.deletions": () => desk.toggle("deletions"),
    "review.unified": () => onView("unified"),
    "review.split": () => onView("split"),
    "review.rendered": () => onView("rendered"),
    "review.structure": () => onView("structure"),
    "review.result": () => onView("result"),
    "review.evidence": () => {
      showEvidence();
      setTimeout(() => document.getElementById("evidence-text")?.focus(), 0);
    },
  });
}

/** What becomes of the result: kept, run again, dropped. */
function Foot({ dry, place }: { dry: DryRunView; place: Place }) {
  const { bank, model } = place;
  const navigate = useNavigate();
  const keep = useWrite("keepDryRun");
  const drop = useWrite("dropDryRun");
  const again = useWrite("dryRunModel");
  const fault = keep.error ?? again.error;
  const busy = keep.isPending || drop.isPending || again.isPending;
  const toModel = () =>
    navigate({
      to: "/b/$bank/models/$model/{-$tab}",
      params: { bank, model, tab: undefined },
      search: {},
    });
  const open = (proposal: string) =>
    void navigate({ to: "/b/$bank/review/{-$proposal}", params: { bank, proposal }, search: {} });
  const act = () => {
    if (busy) return;
    if (dry.kept_as) open(dry.kept_as);
    else {
      keep.mutate([bank, dry.dry_run_id], {
        onSuccess: ({ proposal }) => {
          say(words.kept);
          open(proposal);
        },
      });
    }
  };
  const unavailable = dry.review === null ? words.nothingToKeep : undefined;
  useCommands({ "review.approve": unavailable ?? act });
  return (
    <>
      {fault && (
        <div className="border-line border-t p-3">
          <ReportCard report={fault} />
        </div>
      )}
      <div className="flex min-h-(--foot) shrink-0 flex-wrap items-center gap-2 border-line border-t bg-sunken px-4 py-1.5">
        <Button
          disabled={busy}
          onClick={async () => {
            // Left first, so that the result that goes is not asked for again.
            await toModel();
            void attend(words.notDropped, async () => {
              await drop.mutateAsync([bank, dry.dry_run_id]);
              say(words.dropped);
            });
          }}
        >
          {words.drop}
        </Button>
        <Button
          disabled={busy}
          onClick={() =>
            again.mutate([bank, model, null], {
              onSuccess: ({ dry_run_id }) =>
                void navigate({
                  to: "/b/$bank/models/$model/dry-run/$run",
                  params: { bank, model, run: dry_run_id },
                }),
            })
          }
        >
          {words.again}
        </Button>
        <CopyButton kind="plain" text={() => JSON.stringify(dry, null, 2)}>
          {words.copy}
        </CopyButton>
        <Button
          kind="primary"
          command="review.approve"
          className="ml-auto"
          disabled={busy}
          unavailable={unavailable}
          onClick={act}
        >
          {dry.kept_as ? words.openKept : words.keep}
        </Button>
      </div>
    </>
  );
}
