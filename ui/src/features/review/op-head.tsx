import {
  Ban,
  Check,
  CircleAlert,
  Clock,
  MessageSquare,
  Pencil,
  Ruler,
  User,
  X,
} from "lucide-react";
import { use } from "react";
import { Badge } from "~/components/badge";
import { IconButton } from "~/components/button";
import { Segmented } from "~/components/segmented";
import { cn } from "~/lib/cn";
import type { Decision, OpView, ProposalView } from "~/platform/bindings";
import { isOpen, opTitle } from "./op-words";
import { strings } from "./strings";
import { LookOnly } from "./use-preview";

/** The head of an operation: what it does where, what to know about it, and the decision. */
export function OpHead({
  op,
  focused,
  view,
  onDecide,
  onEdit,
  className,
}: {
  op: OpView;
  focused: boolean;
  view: ProposalView;
  onDecide: (decision: Decision) => void;
  onEdit?: (() => void) | undefined;
  className?: string;
}) {
  const look = use(LookOnly) !== null;
  return (
    <header
      className={cn(
        "flex min-h-9 flex-wrap items-center gap-x-1.5 gap-y-1 py-1 pr-3 pl-4",
        focused ? "bg-accent-soft" : "bg-sunken",
        className,
      )}
    >
      <span className="w-4 shrink-0 font-medium text-faint tracking-tight">{op.number}</span>
      <h2 className="type-strong whitespace-nowrap">{opTitle(op)}</h2>
      {op.heading && (
        <span className="min-w-8 max-w-48 shrink truncate text-faint">{op.heading}</span>
      )}
      <span className="ml-auto flex flex-wrap items-center justify-end gap-1.5">
        <OpBadges op={op} whole={view.whole} />
        {!look && !isOpen(view) && <Badge>{strings.decided[op.decision]}</Badge>}
        {!look && isOpen(view) && op.conflict === null && (
          <span className="flex items-center gap-1">
            <DecisionChoice op={op} focused={focused} onDecide={onDecide} />
            {onEdit && (
              <IconButton
                small
                icon={Pencil}
                name={`${strings.edit} ${op.number}`}
                command={focused ? "review.edit" : undefined}
                onClick={onEdit}
              />
            )}
          </span>
        )}
      </span>
    </header>
  );
}

function DecisionChoice({
  op,
  focused,
  onDecide,
}: {
  op: OpView;
  focused: boolean;
  onDecide: (decision: Decision) => void;
}) {
  const word = (decision: "accepted" | "rejected" | "deferred") =>
    op.decision === decision ? strings.decided[decision] : strings.decide[decision];
  const keys = (key: string) => (focused ? key : undefined);
  return (
    <Segmented
      label={`${strings.decision} ${op.number}`}
      value={op.decision === "undecided" ? null : op.decision}
      onValue={onDecide}
      segments={[
        { value: "accepted", label: word("accepted"), icon: Check, tone: "ok", keys: keys("y") },
        { value: "rejected", label: word("rejected"), icon: X, tone: "bad", keys: keys("n") },
        { value: "deferred", label: word("deferred"), icon: Clock, keys: keys("d") },
      ]}
      className="max-[1100px]:[&_kbd]:hidden"
    />
  );
}

function OpBadges({ op, whole }: { op: OpView; whole: boolean }) {
  const { badges } = strings;
  return (
    <>
      {op.human_touch && (
        <Badge kind="warn" icon={User}>
          {badges.human}
        </Badge>
      )}
      {op.unsupported && (
        <Badge kind="warn" icon={CircleAlert}>
          {badges.unsupported}
        </Badge>
      )}
      {op.oversized && (
        <Badge kind="warn" icon={Ruler}>
          {badges.oversized}
        </Badge>
      )}
      {op.proposed_text !== null && (
        <Badge kind="accent" icon={Pencil}>
          {badges.edited}
        </Badge>
      )}
      {(op.marker === "reworded" || op.marker === "already_done" || op.marker === "carried") && (
        <Badge kind={op.marker === "reworded" ? "warn" : "quiet"}>{badges[op.marker]}</Badge>
      )}
      {op.note && <Badge icon={MessageSquare}>{badges.noted}</Badge>}
      {whole && <Badge icon={Ban}>{badges.whole}</Badge>}
    </>
  );
}

/** Everything worth hearing about an operation before its text, for the name of its article. */
export function spokenRemarks(op: OpView): string[] {
  return [
    strings.decided[op.decision].toLowerCase(),
    op.unsupported && strings.badges.unsupported.toLowerCase(),
    op.human_touch && strings.badges.human.toLowerCase(),
    op.conflict && (strings.conflict.kind[op.conflict.kind] ?? op.conflict.kind).toLowerCase(),
  ].filter((remark) => typeof remark === "string");
}
