import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { CornerDownRight, Database, FileText, Folder, type LucideIcon, Search } from "lucide-react";
import { Dialog } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { Icon } from "~/components/icon";
import { Cap, Strokes } from "~/components/keys";
import { MemoryText } from "~/components/memory-text";
import { ReportCard } from "~/components/report";
import { COMMANDS, type CommandId, type Group } from "~/keys/registry";
import { useActiveCommands, useRunCommand } from "~/keys/use-commands";
import type { BankId, ModelId, PaletteHit, PaletteKind } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { Found } from "./found";
import { strings } from "./strings";

const words = strings.palette;

const drawings: Record<PaletteKind, LucideIcon> = {
  model: FileText,
  memory: Database,
  bank: Folder,
  document: Folder,
};

const headings: [PaletteKind, string][] = [
  ["model", words.models],
  ["memory", words.memories],
  ["document", words.documents],
  ["bank", words.banks],
];

/** One field over commands, places and things. `>` leaves commands only, `@` models only. */
export function Palette({
  bank,
  open,
  onOpenChange,
}: {
  bank: BankId;
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-20 bg-(--scrim)" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[min(5.5rem,12vh)] left-1/2 z-20 w-[min(40rem,calc(100vw-4rem))] -translate-x-1/2 overflow-hidden rounded-large bg-raised shadow-float"
        >
          <Dialog.Title className="sr-only">{words.title}</Dialog.Title>
          <PaletteBody bank={bank} close={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteBody({ bank, close }: { bank: BankId; close: () => void }) {
  const [typed, setTyped] = useState("");
  const prefix = /^[>@]/.exec(typed)?.[0];
  const query = typed.replace(/^[>@]\s*/, "").trim();
  const asked = useDeferredValue(query);
  const found = useRead(
    "paletteSearch",
    asked.length > 1 && prefix !== ">" ? [bank, asked] : null,
    {
      keepPrevious: true,
    },
  );
  const hits = asked.length > 1 ? (found.data ?? []) : [];
  const active = useActiveCommands();
  const run = useRunCommand();
  const commands = [...active.keys()].filter(
    (id) => !COMMANDS[id].keysOnly && prefix !== "@" && matches(COMMANDS[id].words, query),
  );
  const sections: [string, CommandId[]][] = [
    [words.here, commands.filter((id) => !isGeneral(COMMANDS[id].group))],
    [words.goTo, commands.filter((id) => COMMANDS[id].group === "Go to")],
    [words.everywhere, commands.filter((id) => COMMANDS[id].group === "Everywhere")],
  ];
  const total = commands.length + hits.length;

  return (
    <Command shouldFilter={false} loop label={words.title}>
      <div className="type-doc flex h-12 items-center gap-2 border-line border-b px-4">
        <Icon of={Search} className="text-muted" />
        <Command.Input
          value={typed}
          onValueChange={setTyped}
          placeholder={strings.search}
          className="min-w-0 flex-1 bg-transparent outline-none!"
        />
        <span role="status" className="type-small shrink-0 text-faint">
          {words.results(total)}
        </span>
      </div>
      <Command.List className="scroll-quiet max-h-[min(24rem,60vh)] px-2 pb-2">
        {found.error && (
          <div className="py-2">
            <ReportCard report={found.error} onRetry={() => void found.refetch()} />
          </div>
        )}
        {total === 0 && !found.error && <p className="px-2 py-4 text-muted">{words.none}</p>}
        {sections.map(([heading, ids]) =>
          ids.length === 0 ? null : (
            <Command.Group key={heading} heading={heading} className={headingLook}>
              {ids.map((id) => (
                <CommandRow
                  key={id}
                  id={id}
                  query={query}
                  reason={reasonOf(active.get(id))}
                  onSelect={() => {
                    close();
                    // After the dialog has given the focus back, so that an act may take it.
                    setTimeout(() => run(id), 0);
                  }}
                />
              ))}
            </Command.Group>
          ),
        )}
        <Hits
          hits={prefix === "@" ? hits.filter(({ kind }) => kind === "model") : hits}
          query={query}
          bank={bank}
          close={close}
        />
      </Command.List>
      <div
        aria-hidden
        className="type-small flex h-9 items-center gap-4 border-line border-t bg-sunken px-4 text-muted"
      >
        <Hint caps={["↑", "↓"]}>{words.choose}</Hint>
        <Hint caps={["↵"]}>{words.run}</Hint>
        <Hint caps={[">"]}>{words.commandsOnly}</Hint>
        <Hint caps={["@"]}>{words.modelsOnly}</Hint>
        <span className="ml-auto">
          <Hint caps={["Esc"]}>{words.close}</Hint>
        </span>
      </div>
    </Command>
  );
}

const headingLook =
  "[&_[cmdk-group-heading]]:[font:var(--type-label)] [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-faint";
const rowLook =
  "flex h-8 items-center gap-2 rounded-md px-2 aria-disabled:text-faint aria-selected:bg-selected";

function CommandRow({
  id,
  query,
  reason,
  onSelect,
}: {
  id: CommandId;
  query: string;
  reason: string | undefined;
  onSelect: () => void;
}) {
  return (
    <Command.Item
      value={id}
      disabled={reason !== undefined}
      onSelect={onSelect}
      className={rowLook}
    >
      <Icon of={CornerDownRight} className="text-muted" />
      <span className="min-w-0 flex-1 truncate">
        <Found text={COMMANDS[id].words} query={query} />
      </span>
      {reason && <span className="type-small truncate">{reason}</span>}
      <Strokes keys={COMMANDS[id].keys[0] ?? ""} />
    </Command.Item>
  );
}

function Hits({
  hits,
  query,
  bank,
  close,
}: {
  hits: PaletteHit[];
  query: string;
  bank: BankId;
  close: () => void;
}) {
  const navigate = useNavigate();
  const open = (hit: PaletteHit) => {
    close();
    if (hit.kind === "model") {
      void navigate({
        to: "/b/$bank/models/$model/{-$tab}",
        params: { bank, model: hit.id as ModelId, tab: undefined },
      });
    } else if (hit.kind === "memory") {
      void navigate({
        to: "/b/$bank/memories/{-$memory}",
        params: { bank, memory: hit.id },
        search: {},
      });
    } else if (hit.kind === "document") {
      void navigate({
        to: "/b/$bank/memories/{-$memory}",
        params: { bank, memory: undefined },
        search: { q: `doc:"${hit.title}"` },
      });
    } else if (hit.kind === "bank") {
      void navigate({
        to: "/b/$bank/review/{-$proposal}",
        params: { bank: hit.id as BankId, proposal: undefined },
      });
    }
  };
  return headings.map(([kind, heading]) => {
    const own = hits.filter((hit) => hit.kind === kind);
    if (own.length === 0) return null;
    return (
      <Command.Group key={kind} heading={heading} className={headingLook}>
        {own.map((hit) => (
          <Command.Item
            key={hit.id}
            value={`${kind}:${hit.id}`}
            onSelect={() => open(hit)}
            className={rowLook}
          >
            <Icon of={drawings[kind]} className="text-muted" />
            <span className="min-w-0 flex-1 truncate">
              {hit.kind === "memory" ? (
                <MemoryText text={hit.title} mark={query} />
              ) : (
                <Found text={hit.title} query={query} />
              )}
            </span>
            <span className="type-small shrink-0 text-faint">{hit.place}</span>
          </Command.Item>
        ))}
      </Command.Group>
    );
  });
}

function Hint({ caps, children }: { caps: string[]; children: string }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      {caps.map((cap) => (
        <Cap key={cap}>{cap}</Cap>
      ))}
      {children}
    </span>
  );
}

function matches(text: string, query: string): boolean {
  const lower = text.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

function isGeneral(group: Group): boolean {
  return group === "Go to" || group === "Everywhere";
}

function reasonOf(act: unknown): string | undefined {
  return typeof act === "string" ? act : undefined;
}
