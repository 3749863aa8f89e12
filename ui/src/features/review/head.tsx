import {
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  Inbox as InboxIcon,
  PanelRight,
  TriangleAlert,
} from "lucide-react";
import { Fragment } from "react";
import { Badge } from "~/components/badge";
import { Button, IconButton } from "~/components/button";
import { Icon } from "~/components/icon";
import { Menu, MenuItem } from "~/components/menu";
import { dayTime } from "~/lib/format";
import type { ProposalId, ProposalRow, ProposalView } from "~/platform/bindings";
import { causeOf } from "./inbox";
import { RunDetails } from "./run-details";
import { strings } from "./strings";

/** What this proposal is about, why it was made and what it has read. */
export function Head({
  view,
  rows,
  folded,
  onProposal,
  onEvidence,
}: {
  view: ProposalView;
  rows: readonly ProposalRow[];
  /** The inbox is folded into a menu. */
  folded: boolean;
  onProposal: (id: ProposalId) => void;
  onEvidence: () => void;
}) {
  const { row } = view;
  const at = rows.findIndex(({ id }) => id === row.id);
  const why = [
    causeOf(row),
    strings.reason[row.reason] ??
      (row.origin === "full" && view.base_version > 0 ? strings.rebuilt : null),
    // What a person wrote into the file was not read from facts.
    row.origin === "file" ? null : strings.facts(row.facts_read, row.facts_used),
    view.read_to &&
      (view.read_from
        ? strings.readBetween(dayTime(view.read_from), dayTime(view.read_to))
        : strings.readTo(dayTime(view.read_to))),
  ].filter((part) => typeof part === "string" && part !== "");
  const step = (by: number) => {
    const next = rows[at + by];
    if (next) onProposal(next.id);
  };
  return (
    <header className="grid shrink-0 gap-1 border-line border-b px-4 pt-2.5 pb-3">
      <div className="flex min-w-0 items-center gap-2">
        {folded && (
          <Menu
            align="start"
            trigger={
              <Button
                size="small"
                aria-label={`${strings.inbox}, ${strings.position(at + 1, rows.length)}`}
              >
                <Icon of={InboxIcon} />
                {strings.position(at + 1, rows.length)}
                <Icon of={ChevronDown} small />
              </Button>
            }
          >
            {near(rows, at).map((other) => (
              <MenuItem key={other.id} onSelect={() => onProposal(other.id)}>
                <span className="flex gap-3">
                  {other.model_name}
                  <span className="type-small ml-auto text-faint">
                    {strings.state[other.state]}
                  </span>
                </span>
              </MenuItem>
            ))}
          </Menu>
        )}
        <h1 className="type-title max-w-[60%] shrink-0 truncate">{row.model_name}</h1>
        <span className="min-w-0 truncate text-muted">
          {strings.subject(view.base_version, row.number)}
        </span>
        {view.extractive && (
          <span title={strings.extractiveHint} className="max-[1100px]:hidden">
            <Badge>{strings.extractive}</Badge>
          </span>
        )}
        <span className="ml-auto flex items-center gap-1">
          <IconButton
            small
            icon={ChevronLeft}
            name={strings.previous}
            command="review.previousProposal"
            disabled={at <= 0}
            onClick={() => step(-1)}
          />
          <IconButton
            small
            icon={ChevronRight}
            name={strings.next}
            command="review.nextProposal"
            disabled={at < 0 || at >= rows.length - 1}
            onClick={() => step(1)}
          />
          <IconButton
            small
            icon={PanelRight}
            name={strings.evidence.title}
            command="review.evidence"
            onClick={onEvidence}
          />
        </span>
      </div>
      <p className="type-small flex flex-wrap gap-x-1.5 gap-y-0.5 text-muted">
        {why.map((part, place) => (
          <Fragment key={part}>
            {place > 0 && <span aria-hidden="true">·</span>}
            <span>{part}</span>
          </Fragment>
        ))}
        <RunDetails view={view} />
      </p>
      <Warnings view={view} />
    </header>
  );
}

/** As many as a menu can hold, around the one at hand; the rest is reached from these by key. */
const near = (rows: readonly ProposalRow[], at: number) =>
  rows.slice(Math.max(0, at - 20), Math.max(0, at - 20) + 41);

/** What is worth knowing about the run, in words. */
function Warnings({ view }: { view: ProposalView }) {
  if (view.warnings.length === 0) return null;
  return (
    <ul className="type-small grid gap-0.5">
      {view.warnings.map(({ code, message }) => (
        <li key={`${code} ${message}`} className="flex gap-1.5 text-muted">
          <Icon of={TriangleAlert} small className="mt-0.5 text-warn" />
          {message}
        </li>
      ))}
    </ul>
  );
}
