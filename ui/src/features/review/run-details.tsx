import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { TraceSteps } from "~/components/trace-steps";
import { dayTime } from "~/lib/format";
import type { ProposalView, ReviewEvent } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.run;

/** The run behind a proposal and what has happened to it since: steps, tokens, events. */
export function RunDetails({ view }: { view: ProposalView }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="text-accent-text underline-offset-2 hover:underline"
        onClick={() => setOpen(true)}
      >
        {words.open}
      </button>
      {open && <Details view={view} onLeave={() => setOpen(false)} />}
    </>
  );
}

function Details({ view, onLeave }: { view: ProposalView; onLeave: () => void }) {
  const { row } = view;
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onLeave()}
      title={words.title(row.model_name, row.number)}
      reading
      foot={<Button onClick={onLeave}>{words.close}</Button>}
    >
      {view.supersedes.length > 0 && (
        <p className="text-muted">
          {words.supersedes}{" "}
          {view.supersedes.map(({ id, number }, place) => (
            <span key={id}>
              {place > 0 && ", "}
              <Link from="/b/$bank" to="/b/$bank/review/{-$proposal}" params={{ proposal: id }}>
                {words.proposal(number)}
              </Link>
            </span>
          ))}
        </p>
      )}
      {view.events.length > 0 && (
        <section aria-label={words.events}>
          <h3 className="type-label pb-1 text-faint">{words.events}</h3>
          <ol className="grid gap-1">
            {view.events.map((event) => (
              <Event key={`${event.at} ${event.kind} ${event.operations.join()}`} event={event} />
            ))}
          </ol>
        </section>
      )}
      {view.trace === null ? (
        <p className="text-muted">{words.none}</p>
      ) : (
        <TraceSteps trace={view.trace} />
      )}
    </FormDialog>
  );
}

function Event({ event }: { event: ReviewEvent }) {
  const rest = [
    event.operations.length > 0 && words.operations(event.operations),
    event.decision && strings.decided[event.decision].toLowerCase(),
    event.version !== null && words.version(event.version),
    event.conflicts !== null && event.conflicts > 0 && words.conflicts(event.conflicts),
  ].filter(Boolean);
  return (
    <li className="flex gap-3">
      <time dateTime={event.at} className="type-small mt-0.5 w-24 shrink-0 text-faint">
        {dayTime(event.at)}
      </time>
      <span>
        {words.event[event.kind] ?? event.kind.replaceAll("_", " ")}
        {rest.length > 0 && <span className="text-muted">: {rest.join(", ")}</span>}
        {event.note && <q className="block text-muted">{event.note}</q>}
      </span>
    </li>
  );
}
