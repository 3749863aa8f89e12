/** The time that a list of work is narrowed to, in words and as the moments that are asked for. */
import type { OperationQuery } from "~/platform/bindings";

export const spans = ["hour", "today", "week", "month"] as const;
export type Span = (typeof spans)[number];

/** Two days of the calendar, as `2026-03-02`; one may be open. Both are whole and count. */
export interface Days {
  from: string | null;
  to: string | null;
}

export type When = Span | Days | null;

const day = /^\d{4}-\d{2}-\d{2}$/;

/** A day as written in an address; null where there is none of that name. */
export function readDay(text: unknown): string | null {
  if (typeof text !== "string" || !day.test(text)) return null;
  const at = start(text);
  return Number.isNaN(at.getTime()) || at.getDate() !== Number(text.slice(8)) ? null : text;
}

/** The local midnight at which a day begins. */
const start = (text: string): Date => new Date(`${text}T00:00:00`);

/** Whether the days are in order; an open end always is. */
export const isForward = ({ from, to }: Days): boolean => !from || !to || from <= to;

/**
 * What the list is asked for, as of a moment. The moment is given, so that pages of one list are cut
 * out of the same time.
 */
export function momentsOf(when: When, now: Date): Pick<OperationQuery, "since" | "until"> {
  if (when === null) return {};
  if (typeof when === "object") {
    const end = when.to === null ? null : start(when.to);
    end?.setDate(end.getDate() + 1);
    return {
      ...(when.from === null ? {} : { since: start(when.from).toISOString() }),
      ...(end === null ? {} : { until: end.toISOString() }),
    };
  }
  const since = new Date(now);
  if (when === "hour") since.setHours(since.getHours() - 1);
  else {
    since.setHours(0, 0, 0, 0);
    // A week is today and the six days before it.
    since.setDate(since.getDate() - { today: 0, week: 6, month: 29 }[when]);
  }
  return { since: since.toISOString() };
}
