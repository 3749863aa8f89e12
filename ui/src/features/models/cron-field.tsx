import { useDeferredValue, useState } from "react";
import { SelectField, TextField } from "~/components/field";
import { dayTime } from "~/lib/format";
import { useTyped } from "~/lib/use-typed";
import { useRead } from "~/platform/cache";
import { type CronChoice, type CronKind, choiceOf, expressionOf } from "./cron";
import { strings } from "./form-strings";

const words = strings.cron;
const kinds = Object.entries(words.kinds).map(([value, label]) => ({ value, label }));

/** A schedule by simple choices and by its expression, in step, with the runs that come of it. */
export function CronField({
  label,
  value,
  fault,
  onValue,
}: {
  label: string;
  value: string;
  fault?: string | undefined;
  onValue: (expression: string) => void;
}) {
  // A person who chose to write an expression keeps that, though it reads as one of the choices.
  const [writes, setWrites] = useState(false);
  const read = choiceOf(value);
  const choice: CronChoice = writes ? { ...read, kind: "own" } : read;
  const asked = useDeferredValue(value);
  const runs = useRead("nextRuns", [asked], { keepPrevious: true });

  const take = (change: Partial<CronChoice>) => {
    const next = { ...read, ...change };
    setWrites(next.kind === "own");
    const expression = expressionOf(next);
    if (expression !== null) onValue(expression);
  };
  const [, minute = "00"] = choice.time.split(":");

  return (
    <div className="grid gap-3 rounded-md border border-line bg-sunken p-3">
      <div className="flex flex-wrap gap-3">
        <SelectField
          label={label}
          options={kinds}
          value={choice.kind}
          className="w-48"
          onChange={(event) => take({ kind: event.target.value as CronKind })}
        />
        {choice.kind === "hourly" && (
          <NumberField
            label={words.minute}
            least={0}
            most={59}
            value={Number(minute)}
            onValue={(value) => take({ time: `00:${value}` })}
          />
        )}
        {["daily", "weekly", "monthly"].includes(choice.kind) && (
          <TimeField value={choice.time} onValue={(time) => take({ time })} />
        )}
        {choice.kind === "monthly" && (
          <NumberField
            label={words.date}
            help={choice.date > 28 ? words.dateHelp : undefined}
            least={1}
            most={31}
            value={choice.date}
            onValue={(date) => take({ date })}
          />
        )}
      </div>
      {choice.kind === "weekly" && (
        <Weekdays chosen={choice.weekdays} onChosen={(weekdays) => take({ weekdays })} />
      )}
      <TextField
        label={words.expression}
        help={words.expressionHelp}
        fault={fault ?? runs.data?.fault?.message}
        value={value}
        spellCheck={false}
        className="max-w-72 [&_input]:[font:var(--type-code)]"
        onChange={(event) => {
          setWrites(true);
          onValue(event.target.value);
        }}
      />
      {runs.data && runs.data.at.length > 0 && <Runs at={runs.data.at} />}
    </div>
  );
}

/** A whole number, taken as soon as it is within its bounds. */
function NumberField({
  label,
  help,
  least,
  most,
  value,
  onValue,
}: {
  label: string;
  help?: string | undefined;
  least: number;
  most: number;
  value: number;
  onValue: (value: number) => void;
}) {
  const { props } = useTyped(
    String(value),
    (text) => {
      const fine = /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;
      return fine ? String(Number(text)) : null;
    },
    (text) => onValue(Number(text)),
  );
  return (
    <TextField
      type="number"
      min={least}
      max={most}
      label={label}
      help={help}
      className="w-36"
      {...props}
    />
  );
}

/** A time of day on 24 hours, taken as soon as it is whole. */
function TimeField({ value, onValue }: { value: string; onValue: (time: string) => void }) {
  const { props } = useTyped(
    value,
    (text) => (/^([01]?\d|2[0-3]):([0-5]\d)$/.test(text) ? text.padStart(5, "0") : null),
    (text) => onValue(text.padStart(5, "0")),
  );
  return <TextField label={words.time} placeholder="07:00" className="w-24" {...props} />;
}

function Weekdays({
  chosen,
  onChosen,
}: {
  chosen: readonly number[];
  onChosen: (days: number[]) => void;
}) {
  // Weeks begin on Monday here; the expression counts from Sunday.
  const week = [1, 2, 3, 4, 5, 6, 0];
  return (
    <fieldset>
      <legend className="type-small mb-1 font-medium text-muted">{words.weekdays}</legend>
      <div className="flex flex-wrap gap-x-3 gap-y-1">
        {week.map((day) => (
          <label key={day} className="inline-flex min-h-6 items-center gap-1.5">
            <input
              type="checkbox"
              aria-label={words.dayNames[day]}
              checked={chosen.includes(day)}
              className="size-4 accent-accent"
              onChange={(event) => {
                const next = event.target.checked
                  ? [...chosen, day]
                  : chosen.filter((other) => other !== day);
                if (next.length > 0) onChosen(next);
              }}
            />
            {words.days[day]}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The next runs in the reader's own time and in the time that the expression means. */
function Runs({ at }: { at: readonly string[] }) {
  return (
    <table className="type-small w-fit">
      <caption className="pb-1 text-left font-medium text-muted">{words.next}</caption>
      <thead className="sr-only">
        <tr>
          <th scope="col">{words.local}</th>
          <th scope="col">{words.utc}</th>
        </tr>
      </thead>
      <tbody>
        {at.map((moment) => (
          <tr key={moment}>
            <td className="pr-4">
              <time dateTime={moment}>
                {weekday.format(new Date(moment))} {dayTime(moment)}
              </time>
            </td>
            <td className="text-faint">{utc(moment)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short" });

const utc = (moment: string) =>
  `${new Date(moment).toISOString().slice(0, 16).replace("T", " ")} UTC`;
