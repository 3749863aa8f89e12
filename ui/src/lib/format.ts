/**
 * How moments, numbers and spans of time are written. Moments arrive as ISO 8601 and are shown in
 * the reader's own time; every function takes `now` or a locale where its answer depends on one.
 */

const locale = "en-GB";

const dayMonth = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short" });
const dayMonthYear = new Intl.DateTimeFormat(locale, {
  day: "numeric",
  month: "short",
  year: "numeric",
});
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const whole = new Intl.NumberFormat("en");

/** `12 Mar`, with the year when it is not the present one. */
export function day(instant: string, now: Date = new Date()): string {
  const at = new Date(instant);
  return (at.getFullYear() === now.getFullYear() ? dayMonth : dayMonthYear).format(at);
}

/** `12 Mar 09:14`. */
export function dayTime(instant: string, now: Date = new Date()): string {
  return `${day(instant, now)} ${clock.format(new Date(instant))}`;
}

/** `09:14`. */
export function time(instant: string): string {
  return clock.format(new Date(instant));
}

/** `just now`, `5 min`, `5 h`, `2 d`: how long ago, in one unit. */
export function age(instant: string, now: Date = new Date()): string {
  const minutes = Math.floor((now.getTime() - new Date(instant).getTime()) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** `1,212`. */
export function count(value: number): string {
  return whole.format(value);
}

/** `1 fact`, `3 facts`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `340 ms`, `1.8 s`, `2 min 5 s`, `3 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const rest = whole % 60;
  return `${Math.floor(whole / 60)} min${rest === 0 ? "" : ` ${rest} s`}`;
}

/** `340 B`, `12 KB`, `1.4 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** `a, b and c`. */
export function series(words: string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
