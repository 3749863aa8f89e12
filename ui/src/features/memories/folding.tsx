import { MemoryText } from "~/components/memory-text";
import { Shown } from "~/components/shown";
import { dayTime } from "~/lib/format";
import type { Folding, MemoryId, ObservationChange } from "~/platform/bindings";
import { Part } from "./detail-parts";
import { strings } from "./strings";

const words = strings.folding;

/** How an observation stands, and how it came to say what it says: the newest change first. */
export function FoldingPart({
  folding,
  onOpen,
}: {
  folding: Folding;
  onOpen: (id: MemoryId) => void;
}) {
  return (
    <>
      {folding.is_stale && (
        <p role="note" className="type-small mt-4 text-muted">
          {folding.needs_review ? words.review : words.waits}
        </p>
      )}
      {folding.changes.length > 0 && (
        <Part title={words.changes(folding.changes.length)}>
          <ol>
            <Shown items={folding.changes}>
              {(change) => (
                <Change
                  key={change.changed_at + change.previous_text}
                  change={change}
                  onOpen={onOpen}
                />
              )}
            </Shown>
          </ol>
        </Part>
      )}
    </>
  );
}

/** A fact that folding has set aside, and why. */
export function NotFolded({ why }: { why: string }) {
  return (
    <Part title={words.notFolded}>
      <p className="select-text text-muted">{why}</p>
    </Part>
  );
}

function Change({ change, onOpen }: { change: ObservationChange; onOpen: (id: MemoryId) => void }) {
  return (
    <li className="border-edge border-l-3 py-1 pl-3">
      <p className="type-small text-faint">
        <time dateTime={change.changed_at}>{dayTime(change.changed_at)}</time> {change.reason}
      </p>
      <p className="type-small text-faint">{words.before}</p>
      <p className="select-text whitespace-pre-line text-muted">
        <MemoryText text={change.previous_text} links />
      </p>
      {change.new_sources.length > 0 && (
        <>
          <p className="type-small mt-1 text-faint">{words.since}</p>
          <ul>
            {change.new_sources.map(({ id, text }) => (
              <li key={id}>
                {text === null ? (
                  <span className="text-faint">{words.gone}</span>
                ) : (
                  <button
                    type="button"
                    onClick={() => onOpen(id)}
                    className="w-full rounded-md text-left hover:bg-hover"
                  >
                    <MemoryText text={text} />
                  </button>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </li>
  );
}
