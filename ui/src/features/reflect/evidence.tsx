import { Tabs } from "radix-ui";
import { useState } from "react";
import { Fact } from "~/components/fact";
import { Checkbox } from "~/components/field";
import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import type { EvidenceItem, ReflectRunView } from "~/platform/bindings";
import type { Cited } from "./cite";
import { type EvidenceKind, evidenceKinds } from "./kinds";
import { strings } from "./strings";

const words = strings.evidence;

/** What an answer rests on, by kind; what was found beside it on demand. */
export function Evidence({
  view,
  cited,
  kind,
  onKind,
  pinned,
  moved,
}: {
  view: ReflectRunView;
  cited: Cited;
  kind: EvidenceKind;
  onKind: (kind: EvidenceKind) => void;
  /** The memory whose source was pressed. */
  pinned: string | null;
  /** Grows each time one is pressed. */
  moved: number;
}) {
  const [showUnused, setShowUnused] = useState(false);
  const numberOf = new Map(cited.sources.map(({ id }, place) => [id, place + 1]));
  const used = view.based_on
    .filter((item) => item.kind === kind)
    .sort((a, b) => (numberOf.get(a.id) ?? 1e6) - (numberOf.get(b.id) ?? 1e6));
  const unused = view.unused.filter((item) => item.kind === kind);
  const items = showUnused ? [...used, ...unused] : used;
  return (
    <Tabs.Root
      value={kind}
      onValueChange={(next) => onKind(next as EvidenceKind)}
      activationMode="manual"
      className="flex min-h-0 flex-1 flex-col"
    >
      <Tabs.List
        aria-label={words.label}
        className="flex flex-wrap border-line border-b px-2 py-1.5"
      >
        {evidenceKinds.map((each) => (
          <Tabs.Trigger
            key={each}
            value={each}
            className="type-small inline-flex h-6 items-center gap-1 rounded-md px-2 max-[1100px]:px-1.5 text-muted hover:bg-hover data-[state=active]:bg-selected data-[state=active]:font-semibold data-[state=active]:text-text"
          >
            {words.tabs[each]}
            <span className="font-normal text-faint">
              {view.based_on.filter((item) => item.kind === each).length}
            </span>
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Tabs.Content value={kind} tabIndex={-1} className="flex min-h-0 flex-1 flex-col">
        {items.length === 0 && <p className="px-4 py-3 text-muted">{words.none}</p>}
        <Stack
          label={words.tabs[kind] ?? kind}
          items={items}
          keyOf={({ id }) => id}
          current={items.findIndex(({ id }) => id === pinned)}
          moved={moved}
          height={7}
          after={
            unused.length > 0 && (
              <Checkbox
                className="px-4 py-2 text-muted"
                label={words.unused(unused.length)}
                checked={showUnused}
                onChange={({ target }) => setShowUnused(target.checked)}
              />
            )
          }
        >
          {(item) => (
            <EvidenceFact
              item={item}
              view={view}
              number={numberOf.get(item.id)}
              times={cited.times.get(item.id) ?? 0}
              pinned={item.id === pinned}
              unused={!used.includes(item)}
            />
          )}
        </Stack>
      </Tabs.Content>
    </Tabs.Root>
  );
}

function EvidenceFact({
  item,
  view,
  number,
  times,
  pinned,
  unused,
}: {
  item: EvidenceItem;
  view: ReflectRunView;
  number: number | undefined;
  times: number;
  pinned: boolean;
  unused: boolean;
}) {
  const found = foundBy(item.id, view);
  const line = [
    ...(found.length > 0 ? [words.foundBy(found)] : []),
    unused ? words.notUsed : words.cited(times),
  ].join(", ");
  return (
    <div className={cn("flex border-line border-b", pinned && "bg-accent-soft")}>
      {number !== undefined && (
        <span
          className={cn(
            "type-label mt-2.5 ml-4 grid h-4 min-w-4 shrink-0 place-items-center rounded-small px-1 font-semibold",
            pinned ? "bg-accent text-on-accent" : "bg-accent-soft text-accent-text",
          )}
        >
          {number}
        </span>
      )}
      <div className={cn("min-w-0 flex-1", number !== undefined && "-ml-2")}>
        <Fact item={item} bare quiet={unused}>
          <p className="type-small mt-0.5 text-faint">{line}</p>
        </Fact>
      </div>
    </div>
  );
}

/** The tools whose results held this memory, each once. */
function foundBy(id: string, { trace }: ReflectRunView): string[] {
  const tools = (trace.tool_calls ?? []).filter(
    ({ output }) => output !== null && JSON.stringify(output).includes(id),
  );
  return [...new Set(tools.map(({ tool }) => tool))];
}
