import { Plus, Search } from "lucide-react";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { FilterField } from "~/components/field";
import { Keys } from "~/components/keys";
import { List } from "~/components/list";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { ReportCard } from "~/components/report";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import { useCommands } from "~/keys/use-commands";
import { useCover } from "~/lib/use-cover";
import type { BankId, Directive, DirectiveId, HeldBackReason } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { DirectiveForm, nothing, type Values } from "./directive-form";
import { DirectiveRow } from "./directive-row";
import { type Scope, ScopeCheck } from "./scope-check";
import { Stance } from "./stance";
import { strings } from "./strings";
import { useActs } from "./use-acts";

/** What the right side shows, where there is room for one side only. */
export type Part = "directives" | "stance";

/** Stands for a directive that is not made yet. */
const NEW = "new";

/** Rules, disposition, missions: what an answer of this bank has to keep, and in which temper. */
export function DirectivesScreen({
  bank,
  directive: chosen,
  scope,
  part,
  onDirective,
  onScope,
  onPart,
  onCompare,
}: {
  bank: BankId;
  directive: DirectiveId | null;
  scope: Scope;
  part: Part;
  onDirective: (id: DirectiveId | null) => void;
  onScope: (scope: Scope) => void;
  onPart: (part: Part) => void;
  onCompare: () => void;
}) {
  const cover = useCover(chosen !== null);
  const { narrow } = cover;
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const [begin, setBegin] = useState<Values>(nothing);
  const [forms, setForms] = useState(0);
  const read = useRead("listDirectives", [bank]);
  const all = read.data ?? none;
  const asked = useDeferredValue(scope);
  const told = useRead(
    "directivesInScope",
    [bank, { tags: asked.tags, tags_match: asked.match, apply_all_directives: asked.all }],
    { keepPrevious: true },
  );
  const held = useMemo(
    () => new Map((told.data?.held_back ?? []).map(({ id, reason }) => [id, reason])),
    [told.data],
  );
  const acts = useActs(bank, all);
  const found = useMemo(() => matching(all, typed), [all, typed]);
  const directive = all.find(({ id }) => id === chosen);
  const isNew = chosen === NEW;

  const add = (of: Values = nothing) => {
    setBegin(of);
    setForms((before) => before + 1);
    cover.look();
    onDirective(NEW as DirectiveId);
  };
  const close = () => {
    cover.close();
    onDirective(null);
  };
  const remove = (of: Directive) => {
    const at = found.findIndex(({ id }) => id === of.id);
    const next = found[at + 1] ?? found[at - 1];
    acts.remove(of, () => {
      // The neighbour takes its place, so that the keys go on where they were.
      if (chosen === of.id) {
        if (narrow) close();
        else onDirective(next?.id ?? null);
      }
    });
  };
  const own = (act: (of: Directive) => void) =>
    directive ? () => act(directive) : strings.noneChosen;
  const step = (by: -1 | 1) => (directive ? acts.step(directive, by) : strings.noneChosen);
  useCommands({
    "directives.new": () => add(),
    "directives.find": () => field.current?.focus(),
    "directives.edit": own(() => cover.look()),
    "directives.toggle": own(acts.toggle),
    "directives.up": step(-1),
    "directives.down": step(1),
    "directives.delete": own(remove),
    "directives.compare": onCompare,
  });

  const form = (isNew || directive) && (
    <DirectiveForm
      key={directive?.id ?? `new ${forms}`}
      bank={bank}
      directive={directive ?? null}
      begin={begin}
      acts={acts}
      onMade={onDirective}
      onClose={close}
      onRemove={remove}
    />
  );
  const lost = chosen !== null && !isNew && !directive && read.data !== undefined;
  const side =
    form ||
    (lost ? (
      <Empty
        title={strings.gone.title}
        actions={<Button onClick={close}>{strings.gone.back}</Button>}
      >
        <p>{strings.gone.about}</p>
      </Empty>
    ) : (
      <Stance bank={bank} />
    ));

  const body = () => {
    if (read.error)
      return (
        <div className="p-4">
          <ReportCard report={read.error} onRetry={() => void read.refetch()} />
        </div>
      );
    if (read.isPending) return <SkeletonRows height="4.5rem" />;
    if (all.length === 0) return <NoRules onAdd={add} />;
    if (found.length === 0)
      return (
        <Empty
          title={strings.notFound.title}
          actions={<Button onClick={() => setTyped("")}>{strings.notFound.clear}</Button>}
        >
          <p>{strings.notFound.about}</p>
        </Empty>
      );
    return (
      <List
        label={strings.list}
        items={found}
        idOf={({ id }) => id}
        active={chosen}
        onActive={({ id }, pressed) => {
          onDirective(id);
          if (pressed) cover.look();
        }}
        onOpen={cover.look}
        onSpace={acts.toggle}
        rowHeight={4.75}
      >
        {(row) => <DirectiveRow directive={row} held={reasonOf(row, held)} />}
      </List>
    );
  };
  const list = (
    <>
      {all.length > 0 && (
        <>
          <ScopeCheck
            bank={bank}
            scope={scope}
            onScope={onScope}
            directives={all}
            told={told.data}
          />
          {told.error && (
            <div className="border-line border-b p-4">
              <ReportCard report={told.error} onRetry={() => void told.refetch()} />
            </div>
          )}
          <div className="border-line border-b px-4 py-2">
            <FilterField
              ref={field}
              label={strings.find}
              icon={Search}
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
              onKeyDown={({ key }) => {
                if (key === "Escape") setTyped("");
              }}
              after={<Keys of="directives.find" />}
            />
          </div>
        </>
      )}
      {acts.report && (
        <div className="border-line border-b p-4">
          <ReportCard report={acts.report} />
        </div>
      )}
      {body()}
    </>
  );
  const head = (
    <PaneHead
      level={1}
      title={narrow ? <span className="sr-only">{strings.title}</span> : strings.title}
    >
      {narrow && (
        <Segmented<Part>
          label={strings.parts}
          value={part}
          onValue={onPart}
          segments={[
            { value: "directives", label: strings.part.directives },
            { value: "stance", label: strings.part.stance },
          ]}
        />
      )}
      <Button
        // One primary action a screen: an empty one has its own further down.
        kind={read.data?.length === 0 ? "normal" : "primary"}
        icon={Plus}
        command="directives.new"
        onClick={() => add()}
      >
        {strings.add}
      </Button>
    </PaneHead>
  );

  return (
    <Panes id={narrow ? "directives-narrow" : "directives"}>
      {cover.covers && (form || lost) ? (
        <Pane id="one" label={strings.detail}>
          {side}
        </Pane>
      ) : (
        <Pane id={narrow ? "one" : "list"} label={strings.list}>
          {head}
          {narrow && part === "stance" ? <Stance bank={bank} /> : list}
        </Pane>
      )}
      {!narrow && (
        <>
          <PaneEdge label={strings.edge} />
          <Pane
            id="one"
            as="aside"
            label={form ? strings.detail : strings.stance}
            width="432px"
            min="320px"
            max="720px"
          >
            {side}
          </Pane>
        </>
      )}
    </Panes>
  );
}

const none: readonly Directive[] = [];

/** Why a rule is held back; null when it applies. */
function reasonOf(
  { id, is_active }: Directive,
  held: ReadonlyMap<string, HeldBackReason>,
): HeldBackReason | null {
  // The list may be newer than the verdict by a moment.
  return is_active ? (held.get(id) ?? null) : "inactive";
}

/** Rules whose name, text or tags hold what was typed. */
function matching(all: readonly Directive[], typed: string): readonly Directive[] {
  const letters = typed.trim().toLowerCase();
  if (letters === "") return all;
  return all.filter(({ name, content, tags }) =>
    [name, content, ...tags.map((tag) => `#${tag}`)].some((text) =>
      text.toLowerCase().includes(letters),
    ),
  );
}

function NoRules({ onAdd }: { onAdd: (begin: Values) => void }) {
  const words = strings.empty;
  return (
    <Empty title={words.title}>
      <p>{words.about}</p>
      <p className="type-small mt-1 text-faint">{words.examples}</p>
      <ul className="-mt-1 grid gap-3 text-text">
        {words.rules.map((rule) => (
          <li key={rule.name} className="border-edge border-l-3 pl-3">
            <p className="font-medium">{rule.name}</p>
            <p className="text-muted">{rule.content}</p>
            <p className="type-small text-faint">
              {rule.tags === "" ? strings.row.everywhere : strings.row.only([rule.tags])}
            </p>
            <Button
              size="small"
              className="mt-1.5"
              aria-label={words.use(rule.name)}
              onClick={() => onAdd({ ...nothing, ...rule })}
            >
              {words.begin}
            </Button>
          </li>
        ))}
      </ul>
    </Empty>
  );
}
