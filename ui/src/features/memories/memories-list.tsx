import { useNavigate } from "@tanstack/react-router";
import { FileText, FolderInput, Plus } from "lucide-react";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { List } from "~/components/list";
import { ReportCard } from "~/components/report";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import { cn } from "~/lib/cn";
import { count, day } from "~/lib/format";
import type { BankId, FactType, MemoryId, Report } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { type Token, writeToken } from "./filter";
import { FilterField } from "./filter-field";
import type { MemoriesView } from "./memories-screen";
import { MemoryLine } from "./memory-row";
import { strings } from "./strings";
import { TagMenu } from "./tag-menu";
import { type Found, type Mode, modes } from "./use-found";

const segments: (FactType | null)[] = [null, "world", "experience", "observation"];

/** The filter and what it finds. */
export function MemoriesList({
  bank,
  found,
  view,
  onView,
  active,
  onActive,
  onOpen,
  onAdd,
  fault,
}: {
  bank: BankId;
  found: Found;
  view: MemoriesView;
  onView: (view: MemoriesView) => void;
  active: MemoryId | null;
  onActive: (id: MemoryId, pressed: boolean) => void;
  /** Enter on the chosen one. */
  onOpen: () => void;
  onAdd: () => void;
  /** Why what was asked of the whole list was refused. */
  fault: Report | null;
}) {
  const navigate = useNavigate();
  const documents = useRead("listDocuments", [bank]).data ?? [];
  const tags = useRead("listTags", [bank]).data ?? [];
  const row = useRead("listBanks", []).data?.find(({ id }) => id === bank);
  const toImport = () => void navigate({ to: "/b/$bank/memories/import", params: { bank } });
  const toRetain = () => void navigate({ to: "/b/$bank/memories/retain", params: { bank } });
  const suggest = (name: Token["name"]): readonly string[] => {
    if (name === "kind") return ["world", "experience", "observation"];
    if (name === "state") return ["valid", "invalidated"];
    if (name === "doc") return documents.map(({ title }) => title);
    if (name === "tag") return tags.map(({ name: tag }) => tag);
    if (name === "entity") return sorted(found.rows.flatMap(({ entities }) => entities));
    return [];
  };
  const empty = !found.narrowed && !found.pending && !found.waiting && found.total === 0;
  return (
    <>
      <div className="grid shrink-0 gap-2 border-line border-b px-4 pt-2 pb-2">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <h1 className="sr-only">{strings.title}</h1>
          <Segmented<Mode>
            label={strings.mode}
            value={view.mode}
            onValue={(mode) => onView({ ...view, mode })}
            segments={modes.map((value) => ({ value, label: strings.modes[value] }))}
          />
          <span role="status" className="type-small min-w-0 truncate text-faint">
            {status(found, row ? row.facts + row.observations : null)}
          </span>
          <span className="ml-auto flex gap-2">
            <Button kind="plain" icon={FileText} onClick={toRetain} className="max-[1100px]:hidden">
              {strings.keep}
            </Button>
            <Button icon={FolderInput} onClick={toImport}>
              {strings.importFiles}
            </Button>
            {/* One primary action a screen: an empty one has its own further down. */}
            <Button
              {...(empty ? {} : { kind: "primary" as const })}
              icon={Plus}
              command="memories.add"
              onClick={onAdd}
            >
              {strings.add}
            </Button>
          </span>
        </div>
        <FilterField
          id="memories-filter"
          value={view.text}
          onValue={(text) => onView({ ...view, text })}
          suggest={suggest}
          onDown={() =>
            document.querySelector<HTMLElement>("#content [role=listbox][tabindex]")?.focus()
          }
        />
        <Remarks found={found} />
        {fault && <ReportCard report={fault} />}
      </div>
      <SegmentRow bank={bank} found={found} view={view} onView={onView} />
      {found.report && found.rows.length === 0 ? (
        <div className="p-4">
          <ReportCard report={found.report} onRetry={found.retry} />
        </div>
      ) : found.pending ? (
        <SkeletonRows height="3.5rem" />
      ) : empty ? (
        <Empty
          title={strings.empty.title}
          example={strings.empty.example}
          actions={
            <>
              <Button kind="primary" onClick={onAdd}>
                {strings.add}
              </Button>
              <Button onClick={toImport}>{strings.importFiles}</Button>
              <Button onClick={toRetain}>{strings.keep}</Button>
            </>
          }
        >
          <p>{strings.empty.about}</p>
        </Empty>
      ) : found.waiting ? (
        <p className="p-4 text-pretty text-muted">
          {strings.ask[view.mode === "meaning" ? "meaning" : "recall"]}
        </p>
      ) : found.rows.length === 0 ? (
        <NoneFound view={view} onView={onView} />
      ) : (
        <List
          label={strings.list}
          items={found.rows}
          idOf={({ id }) => id}
          active={active}
          onActive={({ id }, pressed) => onActive(id, pressed)}
          onOpen={onOpen}
          rowHeight={3.75}
          onEnd={found.more}
          after={
            found.report && (
              <div className="p-4">
                <ReportCard report={found.report} onRetry={found.retry} />
              </div>
            )
          }
        >
          {(memory) => (
            <MemoryLine
              row={memory}
              rank={view.mode !== "words" ? found.rows.indexOf(memory) + 1 : null}
            />
          )}
        </List>
      )}
    </>
  );
}

const sorted = (values: string[]): string[] => [...new Set(values)].sort();

function status(found: Found, all: number | null): string {
  if (found.recalled) return strings.found(found.total, found.recalled.duration_ms);
  if (found.pending || found.waiting) return "";
  return strings.of(found.total, found.narrowed && all !== null ? all : found.total);
}

/** What the search leaves out, and how it has read the words. */
function Remarks({ found }: { found: Found }) {
  const window = found.recalled?.window;
  const lines = [
    ...found.unusable.map((token) => strings.unusable(writeToken(token))),
    ...(found.resting ? [strings.recallUses] : []),
    ...(window ? [strings.window(day(window.start), day(window.end))] : []),
    ...(found.recalled?.skipped ?? []).map(({ way, reason }) =>
      strings.skipped(strings.ways[way].toLowerCase(), reason),
    ),
  ];
  if (lines.length === 0) return null;
  return (
    <ul className="type-small text-muted">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function SegmentRow({
  bank,
  found: { counts },
  view,
  onView,
}: {
  bank: BankId;
  found: Found;
  view: MemoriesView;
  onView: (view: MemoriesView) => void;
}) {
  const total = counts ? counts.world + counts.experience + counts.observation : null;
  return (
    <div className="flex h-9 shrink-0 items-center justify-between gap-2 border-line border-b px-4">
      <fieldset aria-label={strings.segments} className="flex items-center gap-1">
        {segments.map((segment) => {
          const on = view.segment === segment;
          const number = segment === null ? total : (counts?.[segment] ?? null);
          return (
            <button
              key={segment ?? "all"}
              type="button"
              aria-pressed={on}
              onClick={() => onView({ ...view, segment })}
              className={cn(
                "flex h-6 items-center gap-1 rounded-md px-2",
                on ? "bg-selected font-semibold" : "text-muted hover:bg-hover",
              )}
            >
              {segment === null ? strings.all : strings.kinds[segment]}
              {number !== null && (
                <span className="type-small font-normal text-faint">{count(number)}</span>
              )}
            </button>
          );
        })}
      </fieldset>
      <TagMenu bank={bank} text={view.text} onText={(text) => onView({ ...view, text })} />
    </div>
  );
}

function NoneFound({ view, onView }: { view: MemoriesView; onView: (view: MemoriesView) => void }) {
  return (
    <Empty
      title={strings.none.title}
      actions={
        <>
          <Button onClick={() => onView({ ...view, text: "", segment: null })}>
            {strings.none.clear}
          </Button>
          {view.mode === "words" && view.text.trim() !== "" && (
            <Button onClick={() => onView({ ...view, mode: "recall" })}>
              {strings.none.recall}
            </Button>
          )}
        </>
      }
    >
      <p>{strings.none.about}</p>
    </Empty>
  );
}
