/**
 * Schedules as a few simple choices, and as the five-field expression that is stored. What no choice
 * says stays an expression of its own; what is due when is the engine's to say.
 */

export type CronKind = "hourly" | "daily" | "weekly" | "monthly" | "own";

export interface CronChoice {
  kind: CronKind;
  /** `HH:MM`, UTC; for hourly the minute alone counts. */
  time: string;
  /** 0 is Sunday. */
  weekdays: number[];
  /** Day of the month. */
  date: number;
}

const usual: CronChoice = { kind: "daily", time: "07:00", weekdays: [1], date: 1 };

/** The choice that says the same as an expression, else `own`. */
export function choiceOf(expression: string): CronChoice {
  const [minute, hour, date, month, weekday, more] = expression.trim().split(/\s+/);
  const own: CronChoice = { ...usual, kind: "own" };
  if (weekday === undefined || more !== undefined || month !== "*") return own;
  const minutes = number(minute, 59);
  if (minutes === null) return own;
  if (hour === "*" && date === "*" && weekday === "*")
    return { ...usual, kind: "hourly", time: `00:${two(minutes)}` };
  const hours = number(hour, 23);
  if (hours === null) return own;
  const time = `${two(hours)}:${two(minutes)}`;
  if (date === "*" && weekday === "*") return { ...usual, kind: "daily", time };
  if (date === "*") {
    const weekdays = daysOf(weekday);
    return weekdays ? { ...usual, kind: "weekly", time, weekdays } : own;
  }
  const day = number(date, 31);
  return weekday === "*" && day !== null && day > 0
    ? { ...usual, kind: "monthly", time, date: day }
    : own;
}

/** The expression of a choice; null for `own`, which has its own already. */
export function expressionOf({ kind, time, weekdays, date }: CronChoice): string | null {
  const [hour = "0", minute = "0"] = time.split(":");
  const at = `${Number(minute)} ${Number(hour)}`;
  switch (kind) {
    case "hourly":
      return `${Number(minute)} * * * *`;
    case "daily":
      return `${at} * * *`;
    case "weekly":
      return `${at} * * ${weekdays.length > 0 ? weekdays.toSorted((a, b) => a - b).join(",") : 1}`;
    case "monthly":
      return `${at} ${date} * *`;
    default:
      return null;
  }
}

const two = (value: number) => String(value).padStart(2, "0");

function number(field: string | undefined, most: number): number | null {
  if (field === undefined || !/^\d{1,2}$/.test(field)) return null;
  return Number(field) <= most ? Number(field) : null;
}

const names = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

/** The days of a weekday field that is a list of days and ranges. */
function daysOf(field: string): number[] | null {
  const days = new Set<number>();
  for (const part of field.split(",")) {
    const [from, to = from, more] = part.split("-").map((day) => {
      const named = names.indexOf(day.toUpperCase());
      return named >= 0 ? named : number(day, 7);
    });
    if (from == null || to == null || more !== undefined || from > to) return null;
    for (let day = from; day <= to; day++) days.add(day % 7);
  }
  return [...days].toSorted((a, b) => a - b);
}
