import type { RecallHit, Way } from "~/platform/bindings";
import { strings } from "./strings";

const ways: Way[] = ["semantic", "keyword", "graph", "temporal"];

/** What each way of recall said about a hit: its place there, and its score in the way's own measure. */
export function WhyFound({ hit }: { hit: RecallHit }) {
  return (
    <section className="mt-4">
      <h3 className="type-label pb-1 text-faint">{strings.detail.why}</h3>
      <dl className="grid gap-1">
        {ways.map((way) => {
          const found = hit.ways.find((each) => each.way === way);
          if (!found) return null;
          return (
            <div
              key={way}
              className="grid grid-cols-[5.5rem_minmax(0,1fr)_auto] items-center gap-2"
            >
              <dt>{strings.ways[way]}</dt>
              {/* The bar tells the place: places compare between ways, scores do not. */}
              <dd aria-hidden="true" className="h-1 overflow-hidden rounded-full bg-line">
                <span
                  className="block h-full bg-muted"
                  style={{ width: `${100 / (1 + (found.rank - 1) / 6)}%` }}
                />
              </dd>
              <dd className="type-small text-muted">
                {strings.detail.way(found.rank, scored(found.score))}
              </dd>
            </div>
          );
        })}
        <div className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-2">
          <dt>{strings.detail.overall}</dt>
          <dd className="type-small text-right leading-5 text-muted">{scored(hit.score)}</dd>
        </div>
      </dl>
    </section>
  );
}

const scored = (score: number): string =>
  Math.abs(score) >= 10 ? score.toFixed(1) : score.toFixed(3);
