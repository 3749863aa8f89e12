import type { ReactNode } from "react";
import { cn } from "~/lib/cn";

/** A mark for each state, drawn on 16 by 16; states differ by outline, not by hue alone. */
const marks: Record<Mark, ReactNode> = {
  turning: (
    <path d="M8 2.8a5.2 5.2 0 1 1-5.2 5.2" className="origin-center motion-safe:animate-spin" />
  ),
  diamond: <path d="M8 1.9L14.1 8 8 14.1 1.9 8z" className="fill-current" stroke="none" />,
  triangle: (
    <>
      <path d="M8 2.4l6 10.8H2z" />
      <path d="M8 6.6v3" />
      <circle cx="8" cy="11.4" r=".8" className="fill-current" stroke="none" />
    </>
  ),
  octagon: (
    <>
      <path d="M5.7 2.5h4.6l3.2 3.2v4.6l-3.2 3.2H5.7l-3.2-3.2V5.7z" />
      <path d="M6.2 6.2l3.6 3.6M9.8 6.2L6.2 9.8" />
    </>
  ),
  pause: (
    <>
      <circle cx="8" cy="8" r="5.2" />
      <path d="M6.6 6v4M9.4 6v4" />
    </>
  ),
  dashed: <circle cx="8" cy="8" r="5.2" strokeDasharray="2.4 1.9" />,
  half: (
    <>
      <circle cx="8" cy="8" r="5.2" />
      <path d="M8 2.8a5.2 5.2 0 0 1 0 10.4z" className="fill-current" stroke="none" />
    </>
  ),
  ring: <circle cx="8" cy="8" r="5.2" />,
  tick: (
    <>
      <circle cx="8" cy="8" r="5.2" />
      <path d="M5.7 8.2l1.6 1.6 3.1-3.4" />
    </>
  ),
};

export type Mark =
  | "turning"
  | "diamond"
  | "triangle"
  | "octagon"
  | "pause"
  | "dashed"
  | "half"
  | "ring"
  | "tick";

export type Tone = "accent" | "ok" | "warn" | "bad" | "muted";

const tones: Record<Tone, string> = {
  accent: "text-accent-text",
  ok: "text-ok",
  warn: "text-warn",
  bad: "text-bad",
  muted: "text-muted",
};

export function StateMark({
  mark,
  tone,
  className,
}: {
  mark: Mark;
  tone: Tone;
  className?: string;
}) {
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={cn(
        "size-4 shrink-0 fill-none stroke-current stroke-[1.5] [stroke-linecap:round] [stroke-linejoin:round]",
        tones[tone],
        className,
      )}
    >
      {marks[mark]}
    </svg>
  );
}

/** Shape, word, colour, in that order. */
export function StateWord({
  mark,
  tone,
  children,
  className,
}: {
  mark: Mark;
  tone: Tone;
  children: ReactNode;
  className?: string;
}) {
  return (
    <span className={cn("inline-flex min-w-0 items-center gap-1.5 whitespace-nowrap", className)}>
      <StateMark mark={mark} tone={tone} />
      <span className="truncate">{children}</span>
    </span>
  );
}
