import type { ReflectRunView } from "~/platform/bindings";

export const evidenceKinds = [
  "world",
  "experience",
  "observation",
  "mental-models",
  "directives",
] as const;

export type EvidenceKind = (typeof evidenceKinds)[number];

export const isEvidenceKind = (value: unknown): value is EvidenceKind =>
  evidenceKinds.some((kind) => kind === value);

/** The first kind of which there is anything. */
export const firstKind = (view: ReflectRunView): EvidenceKind =>
  evidenceKinds.find((kind) => view.based_on.some((item) => item.kind === kind)) ?? "world";
