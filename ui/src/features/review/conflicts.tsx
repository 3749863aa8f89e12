import { TriangleAlert } from "lucide-react";
import { Fragment, useState } from "react";
import { Badge } from "~/components/badge";
import { Button } from "~/components/button";
import { Stack } from "~/components/stack";
import { cn } from "~/lib/cn";
import { shown } from "~/lib/markers";
import { useTakesFocus } from "~/lib/use-takes-focus";
import type { ConflictView, OpView, ProposalId, ProposalView } from "~/platform/bindings";
import type { Desk } from "./desk";
import { OpEditor } from "./op-forms";
import { spokenRemarks } from "./op-head";
import { conflictsOf, decidable, opTitle } from "./op-words";
import { strings } from "./strings";

const words = strings.conflict;

/** What no longer fits the document: the three texts of each, and the ways to settle it. */
export function Conflicts({ view, desk }: { view: ProposalView; desk: Desk }) {
  const conflicts = conflictsOf(view);
  const all = decidable(view).length;
  return (
    <Stack
      items={conflicts}
      keyOf={({ op_id }) => op_id}
      current={conflicts.findIndex(({ op_id }) => op_id === desk.op?.op_id)}
      moved={desk.moved}
      height={14}
      after={<p className="px-4 py-2 text-muted">{words.fit(all - conflicts.length)}</p>}
    >
      {(op) => <ConflictCard op={op} of={all} proposal={view.row.id} desk={desk} />}
    </Stack>
  );
}

function ConflictCard({
  op,
  of,
  proposal,
  desk,
}: {
  op: OpView;
  of: number;
  proposal: ProposalId;
  desk: Desk;
}) {
  const [editing, setEditing] = useState(false);
  const focused = desk.op?.op_id === op.op_id;
  const card = useTakesFocus<HTMLElement>(focused, desk.moved);
  const { conflict } = op;
  if (!conflict) return null;
  const open = editing || (focused && desk.form === "edit");
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: j and k move the focus; a click is the same by pointer
    <article
      ref={card}
      aria-label={strings.cardName(op.number, of, opTitle(op), op.heading, spokenRemarks(op))}
      aria-current={focused || undefined}
      tabIndex={focused ? 0 : -1}
      onClick={() => desk.focus(op)}
      className={cn(
        "border-line border-b",
        focused && "rounded-[3px] outline-2 -outline-offset-2 outline-focus",
      )}
    >
      <header
        className={cn(
          "flex min-h-9 items-center gap-1.5 pr-3 pl-4",
          focused ? "bg-accent-soft" : "bg-sunken",
        )}
      >
        <span className="w-4 shrink-0 font-medium text-faint">{op.number}</span>
        <h2 className="type-strong whitespace-nowrap">{opTitle(op)}</h2>
        <span className="truncate text-faint">
          {conflict.moved_to === null ? op.heading : words.movedTo(conflict.moved_to)}
        </span>
        <span className="ml-auto">
          <Badge kind="warn" icon={TriangleAlert}>
            {words.kind[conflict.kind] ?? conflict.kind}
          </Badge>
        </span>
      </header>
      <Texts conflict={conflict} />
      {open ? (
        <OpEditor
          op={{ ...op, old_text: conflict.current }}
          proposal={proposal}
          onSave={(text, after) => {
            setEditing(false);
            desk.closeForm();
            if (text === null) after();
            else desk.review.resolve(op, { kind: "edit", text }, after);
          }}
          onLeave={() => {
            setEditing(false);
            desk.closeForm();
          }}
        />
      ) : (
        <Ways op={op} conflict={conflict} desk={desk} onEdit={() => setEditing(true)} />
      )}
    </article>
  );
}

/** Base, current and proposed under one another, each with its edge. */
function Texts({ conflict }: { conflict: ConflictView }) {
  const withdrawn = conflict.kind === "evidence_withdrawn";
  const rows = [
    {
      label: withdrawn ? words.restedOn : words.base,
      text: conflict.base,
      look: withdrawn ? "del" : "base",
    },
    {
      label: words.current,
      text: withdrawn ? conflict.current : (conflict.current ?? words.gone),
      look: "now",
    },
    { label: words.proposed, text: conflict.proposed, look: "add" },
  ] as const;
  return (
    <dl className="type-diff grid grid-cols-[6rem_3px_1.5rem_minmax(0,1fr)] pt-1 pb-2">
      {rows.map(({ label, text, look }) =>
        text === null ? null : (
          <Fragment key={label}>
            <dt className="type-small py-1 pr-2 pl-4 leading-[1.375rem] text-muted">{label}</dt>
            <span
              aria-hidden="true"
              className={cn(
                look === "add" && "bg-add-bar",
                look === "del" && "bg-del-bar",
                look === "now" &&
                  "bg-[repeating-linear-gradient(var(--text-muted)_0_4px,transparent_4px_7px)]",
              )}
            />
            <span aria-hidden="true" className={cn("py-1 text-center font-semibold", tint[look])}>
              {look === "add" ? "+" : look === "del" ? "−" : ""}
            </span>
            <dd
              className={cn(
                "whitespace-pre-wrap py-1 pr-4",
                tint[look],
                look === "base" && "text-muted",
              )}
            >
              {shown(text)}
            </dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}

const tint = {
  base: "",
  now: "",
  add: "bg-add-bg text-add-text",
  del: "bg-del-bg text-del-text",
};

function Ways({
  op,
  conflict,
  desk,
  onEdit,
}: {
  op: OpView;
  conflict: ConflictView;
  desk: Desk;
  onEdit: () => void;
}) {
  const take: Record<string, string> = {
    moved: words.applyThere,
    evidence_withdrawn: words.keepUnsourced,
  };
  const keeps = conflict.kind === "text_changed" ? words.keepMine : words.drop;
  const choose = (kind: "keep_mine" | "take_proposed") => desk.review.resolve(op, { kind });
  return (
    <div className="flex flex-wrap gap-1 px-4 pb-2.5">
      <Button size="small" onClick={() => choose("keep_mine")}>
        {keeps}
      </Button>
      <Button
        size="small"
        unavailable={conflict.can_take ? undefined : words.cannotTake}
        onClick={() => choose("take_proposed")}
      >
        {take[conflict.kind] ?? words.take}
      </Button>
      {conflict.proposed !== null && conflict.can_take && (
        <Button
          size="small"
          command={desk.op?.op_id === op.op_id ? "review.edit" : undefined}
          onClick={onEdit}
        >
          {words.edit}
        </Button>
      )}
    </div>
  );
}
