import { isForward, type Span, spans, type When } from "./span";
import { strings } from "./strings";

const field = "h-(--control) rounded-md border border-edge bg-raised px-2";

/** Narrows the list to a time: one of a few spans up to now, or from one day to another. */
export function TimeFilter({ when, onWhen }: { when: When; onWhen: (when: When) => void }) {
  const days = typeof when === "object" && when !== null ? when : null;
  const choose = (value: string) => {
    if (value === "between") onWhen({ from: null, to: null });
    else onWhen(value === "" ? null : (value as Span));
  };
  const backwards = days !== null && !isForward(days);
  return (
    <span className="flex flex-wrap items-center gap-2">
      <label className="flex items-center gap-2">
        <span className="type-small text-muted">{strings.time}</span>
        <select
          value={days ? "between" : ((when as Span | null) ?? "")}
          onChange={({ target }) => choose(target.value)}
          className={field}
        >
          <option value="">{strings.times.all}</option>
          {spans.map((span) => (
            <option key={span} value={span}>
              {strings.times[span]}
            </option>
          ))}
          <option value="between">{strings.times.between}</option>
        </select>
      </label>
      {days &&
        (["from", "to"] as const).map((end) => (
          <input
            key={end}
            type="date"
            aria-label={strings[end]}
            title={strings[end]}
            aria-invalid={backwards || undefined}
            value={days[end] ?? ""}
            onChange={({ target }) => onWhen({ ...days, [end]: target.value || null })}
            className={field}
          />
        ))}
      {backwards && (
        <span role="alert" className="type-small text-bad">
          {strings.backwards}
        </span>
      )}
    </span>
  );
}
