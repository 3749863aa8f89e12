import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { Pane, PaneEdge, Panes } from "~/components/panes";
import { say } from "~/components/toast";
import { useCommands } from "~/keys/use-commands";
import { useCover } from "~/lib/use-cover";
import type { BankId, FactType, MemoryId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { FactDialog } from "./fact-dialog";
import { MemoriesList } from "./memories-list";
import { MemoryPane } from "./memory-detail";
import { DeleteDialog, InvalidateDialog } from "./memory-dialogs";
import { strings } from "./strings";
import { type Mode, modes, useFound } from "./use-found";

export interface MemoriesView {
  /** Words and tokens. */
  text: string;
  segment: FactType | null;
  mode: Mode;
  /** Whether the dialog that adds a fact opens at once. */
  add: boolean;
}

type Dialog = "add" | "edit" | "invalidate" | "delete" | null;

/** See, find and correct what the bank knows. */
export function MemoriesScreen({
  bank,
  memory,
  view,
  onMemory,
  onView,
}: {
  bank: BankId;
  memory: MemoryId | null;
  view: MemoriesView;
  onMemory: (id: MemoryId | null) => void;
  onView: (view: MemoriesView) => void;
}) {
  const cover = useCover(memory !== null);
  const { narrow, covers } = cover;
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<Dialog>(view.add ? "add" : null);
  const found = useFound(bank, view.text, view.segment, view.mode);
  const detail = useRead("getMemory", memory ? [bank, memory] : null).data;
  const restore = useWrite("restoreMemory");
  const fold = useWrite("consolidateNow");

  useEffect(() => {
    if (view.add) setDialog("add");
  }, [view.add]);
  const close = () => {
    setDialog(null);
    if (view.add) onView({ ...view, add: false });
  };

  const acts = {
    edit: () => setDialog("edit"),
    invalidate: () => setDialog("invalidate"),
    restore: () => {
      if (memory)
        restore.mutate([bank, memory], { onSuccess: () => say(strings.invalidate.restored) });
    },
    remove: () => setDialog("delete"),
    fault: restore.variables?.[1] === memory ? restore.error : null,
  };
  const chosen = detail?.memory;
  const valid = chosen?.state === "valid";
  useCommands({
    "memories.filter": () => document.getElementById("memories-filter")?.focus(),
    "memories.add": () => setDialog("add"),
    "memories.fold": () =>
      fold.mutate([bank, null], { onSuccess: () => say(strings.folding.started) }),
    "memories.import": () => void navigate({ to: "/b/$bank/memories/import", params: { bank } }),
    "memories.retain": () => void navigate({ to: "/b/$bank/memories/retain", params: { bank } }),
    "memories.mode": () => {
      const next = modes[(modes.indexOf(view.mode) + 1) % modes.length] ?? "words";
      onView({ ...view, mode: next });
    },
    ...(chosen && {
      "memories.delete": acts.remove,
      ...(valid && chosen.fact_type !== "observation" && { "memories.edit": acts.edit }),
      "memories.invalidate": valid ? acts.invalidate : acts.restore,
    }),
  });

  const pane = memory && (
    <MemoryPane
      key={memory}
      bank={bank}
      id={memory}
      hit={found.hitOf(memory)}
      acts={acts}
      onOpen={onMemory}
      onClose={narrow ? cover.close : null}
    />
  );
  return (
    <>
      <Panes id={narrow ? "memories-narrow" : "memories"}>
        {covers ? (
          <Pane id="one" label={strings.detail.label}>
            {pane}
          </Pane>
        ) : (
          <Pane id={narrow ? "one" : "list"} label={strings.list}>
            <MemoriesList
              bank={bank}
              found={found}
              view={view}
              onView={onView}
              active={memory}
              onActive={(id, pressed) => {
                onMemory(id);
                if (pressed) cover.look();
              }}
              onOpen={cover.look}
              onAdd={() => setDialog("add")}
              fault={fold.error}
            />
          </Pane>
        )}
        {!narrow && (
          <>
            <PaneEdge label={strings.detailEdge} />
            <Pane
              id="detail"
              as="aside"
              label={strings.detail.label}
              width="376px"
              min="256px"
              max="640px"
            >
              {pane ?? <p className="p-4 text-pretty text-faint">{strings.detail.none}</p>}
            </Pane>
          </>
        )}
      </Panes>
      {dialog === "add" && (
        <FactDialog bank={bank} memory={null} onClose={close} onMade={onMemory} />
      )}
      {dialog === "edit" && chosen && (
        <FactDialog bank={bank} memory={chosen} onClose={close} onMade={onMemory} />
      )}
      {dialog === "invalidate" && memory && (
        <InvalidateDialog bank={bank} id={memory} onClose={close} />
      )}
      {dialog === "delete" && memory && (
        <DeleteDialog bank={bank} id={memory} onClose={close} onDeleted={() => onMemory(null)} />
      )}
    </>
  );
}
