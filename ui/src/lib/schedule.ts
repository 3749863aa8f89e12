/** A schedule in words, for the few forms that people make here; anything else stays as written. */

const weekdays = [
  "Sundays",
  "Mondays",
  "Tuesdays",
  "Wednesdays",
  "Thursdays",
  "Fridays",
  "Saturdays",
];

/** `Daily at 09:00`, `Mondays at 08:00`, else the expression; all in UTC as it is stored. */
export function scheduleWords(cron: string): string {
  const fields = cron.trim().split(/\s+/);
  const [minute = "", hour = "", date = "", month = "", weekday = ""] = fields;
  const plain = /^\d+$/;
  if (fields.length !== 5 || !plain.test(minute) || date !== "*" || month !== "*") return cron;
  if (hour === "*" && weekday === "*") return `Hourly at :${minute.padStart(2, "0")}`;
  if (!plain.test(hour)) return cron;
  const at = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")} UTC`;
  if (weekday === "*") return `Daily at ${at}`;
  return plain.test(weekday) ? `${weekdays[Number(weekday) % 7]} at ${at}` : cron;
}
