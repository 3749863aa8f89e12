/**
 * Everything that a call can be refused with, as one `Report`. Commands reject with a `Report`;
 * what the shell itself refuses (an unknown command, a bad argument, a permission) arrives as a
 * string or an `Error` and becomes one with the code `internal`.
 */
import type { Report } from "./bindings";

function isReport(value: unknown): value is Report {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    "reason" in value &&
    "message" in value
  );
}

export function toReport(value: unknown): Report {
  if (isReport(value)) return value;
  const detail = value instanceof Error ? `${value.name}: ${value.message}` : String(value);
  return {
    code: "internal",
    reason: "internal",
    message: "Something in the program went wrong.",
    hint: "Try again; if it comes back, copy the details and report them.",
    fields: [],
    retryable: true,
    detail,
    run: null,
  };
}

/** The sentence about one field, when the report names it. */
export function fieldMessage(report: Report | null | undefined, field: string): string | undefined {
  return report?.fields.find((fault) => fault.field === field)?.message;
}
