import { PanelRight, Pencil } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Button, IconButton } from "~/components/button";
import { Empty } from "~/components/empty";
import { Checkbox } from "~/components/field";
import { Keys } from "~/components/keys";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { useCommands } from "~/keys/use-commands";
import { editKey } from "~/lib/kept-edit";
import { isBegun } from "~/lib/use-draft";
import { useNarrow } from "~/lib/use-narrow";
import type { BankId, ModelDetail } from "~/platform/bindings";
import { DocumentSide } from "./document-side";
import { strings } from "./model-strings";
import { type Chosen, Sheet } from "./sheet";
import { useLock } from "./use-lock";
import type { Refresh } from "./use-refresh";

const words = strings.document;

/** Fetched when it is needed first: the editor is larger than all the rest of the screen. */
const DocumentEditor = lazy(async () => {
  const { DocumentEditor } = await import("./document-editor");
  return { default: DocumentEditor };
});

/** The document as it is read, with who wrote what beside it and the facts of a section at the side. */
export function DocumentTab({
  bank,
  detail,
  refresh,
  begins,
  onTrace,
}: {
  bank: BankId;
  detail: ModelDetail;
  refresh: Refresh;
  /** Opens the editor at once, with a text that was handed over if there is one. */
  begins: boolean;
  onTrace: () => void;
}) {
  const [editing, setEditing] = useState(begins);
  const [blame, setBlame] = useState(true);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [jumped, setJumped] = useState(0);
  const locking = useLock(bank, detail);
  const narrow = useNarrow();
  // In a narrow window the side comes when it is asked for, or when a block is asked about.
  const [asked, setAsked] = useState<boolean | null>(null);
  const side = asked ?? !narrow;
  const { model } = detail;
  const failure =
    model.state === "failed" || model.state === "needs_attention" ? detail.last_run?.report : null;

  useCommands({
    "model.edit": () => setEditing(true),
    "model.blame": () => setBlame(!blame),
    "model.lock": chosen ? () => locking.toggle(chosen) : words.chooseFirst,
  });

  if (editing) {
    return (
      <Suspense fallback={<SkeletonRows />}>
        <DocumentEditor bank={bank} detail={detail} onDone={() => setEditing(false)} />
      </Suspense>
    );
  }
  const sections = detail.structure.sections;
  const [first] = sections;
  const current = chosen ?? (first ? { section: first.id, block: null } : null);

  return (
    <Panes id="model-document">
      <Pane id="document" label={strings.tabs.document}>
        <div className="type-small flex min-h-bar shrink-0 items-center gap-2 border-line border-b px-4 text-muted">
          {!model.placeholder && (
            <Checkbox
              checked={blame}
              onChange={(event) => setBlame(event.target.checked)}
              label={
                <>
                  {words.blame}
                  <Keys of="model.blame" />
                </>
              }
            />
          )}
          <Button
            size="small"
            icon={Pencil}
            command="model.edit"
            className="ml-auto"
            onClick={() => setEditing(true)}
          >
            {isBegun(editKey(bank, model.id)) ? words.goOn : words.edit}
          </Button>
          <IconButton
            small
            icon={PanelRight}
            name={strings.side.label}
            aria-pressed={side}
            onClick={() => setAsked(!side)}
          />
        </div>
        {locking.fault && !side && (
          <div className="px-4 pt-4">
            <ReportCard report={locking.fault} />
          </div>
        )}
        {failure && (
          <div className="px-4 pt-4">
            <ReportCard
              report={failure}
              onRetry={() => void refresh.run(model, false)}
              actions={
                <Button kind="plain" onClick={onTrace}>
                  {words.trace}
                </Button>
              }
            >
              {words.failedAbout(model.version)}
            </ReportCard>
          </div>
        )}
        {sections.length === 0 ? (
          <Empty
            title={words.empty}
            actions={
              <Button
                kind="primary"
                command="model.refresh"
                unavailable={refresh.unavailable(model)}
                disabled={refresh.busy}
                onClick={() => void refresh.run(model, false)}
              >
                {strings.refresh}
              </Button>
            }
          >
            <p>{words.emptyAbout}</p>
          </Empty>
        ) : (
          <Sheet
            detail={detail}
            blame={blame}
            chosen={chosen}
            jumped={jumped}
            onChosen={setChosen}
            onAsk={() => setAsked(true)}
          />
        )}
      </Pane>
      {side && (
        <>
          <PaneEdge label={strings.side.label} />
          <Pane
            id="side"
            as="aside"
            label={strings.side.label}
            width="248px"
            min="200px"
            max="400px"
          >
            <DocumentSide
              bank={bank}
              detail={detail}
              chosen={current}
              locking={locking}
              onChosen={(next) => {
                setChosen(next);
                setJumped((count) => count + 1);
              }}
            />
          </Pane>
        </>
      )}
    </Panes>
  );
}
