import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import { useTakesFocus } from "~/lib/use-takes-focus";
import type { OpView, ProposalView } from "~/platform/bindings";
import type { Desk } from "./desk";
import { OpEditor, OpNote } from "./op-forms";
import { OpHead, spokenRemarks } from "./op-head";
import { OpLines } from "./op-lines";
import { OpRemarks } from "./op-remarks";
import { decidable, opTitle } from "./op-words";
import { Skipped } from "./skipped";
import { strings } from "./strings";

/** All operations in the order of the document, each with its change between the blocks around it. */
export function Unified({ view, desk }: { view: ProposalView; desk: Desk }) {
  const ops = decidable(view);
  return (
    <div className="flex min-h-0 flex-1 flex-col" data-nowrap={!desk.wrap || undefined}>
      <Stack
        items={ops}
        keyOf={({ op_id }) => op_id}
        current={ops.findIndex(({ op_id }) => op_id === desk.op?.op_id)}
        moved={desk.moved}
        height={9}
        after={<Skipped view={view} />}
      >
        {(op) => <OpCard op={op} of={ops.length} view={view} desk={desk} />}
      </Stack>
    </div>
  );
}

function OpCard({
  op,
  of,
  view,
  desk,
}: {
  op: OpView;
  of: number;
  view: ProposalView;
  desk: Desk;
}) {
  const focused = desk.op?.op_id === op.op_id;
  const card = useTakesFocus<HTMLElement>(focused, desk.moved);
  const open = focused ? desk.form : null;
  const setBack = op.decision === "rejected" || op.decision === "deferred";

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k move the focus; a click is the same by pointer
    <article
      ref={card}
      aria-label={strings.cardName(op.number, of, opTitle(op), op.heading, spokenRemarks(op))}
      aria-current={focused || undefined}
      tabIndex={focused ? 0 : -1}
      data-set-back={setBack || undefined}
      onClick={() => desk.focus(op)}
      className={cn(
        "scroll-my-2 border-line border-b",
        focused && "rounded-[3px] outline-2 -outline-offset-2 outline-focus",
      )}
    >
      <OpHead
        op={op}
        focused={focused}
        view={view}
        onDecide={(decision) => desk.decide([op], decision)}
        onEdit={op.new_text === null ? undefined : () => desk.openForm(op, "edit")}
      />
      {open === "edit" ? (
        <OpEditor
          op={op}
          proposal={view.row.id}
          onSave={(text, after) => desk.saveEdit(op, text, after)}
          onLeave={desk.closeForm}
        />
      ) : (
        <OpLines op={op} base={view.base} more={desk.more} />
      )}
      <OpRemarks op={op} view={view} />
      {open === "note" && (
        <OpNote
          op={op}
          proposal={view.row.id}
          onSave={(note, after) => desk.saveNote(op, note, after)}
          onLeave={desk.closeForm}
        />
      )}
    </article>
  );
}
