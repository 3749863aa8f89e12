import type { LucideIcon } from "lucide-react";

/** A drawing beside a word. Never the only carrier of a meaning, hence always hidden from readers. */
export function Icon({
  of: Drawing,
  small = false,
  className,
}: {
  of: LucideIcon;
  small?: boolean;
  className?: string;
}) {
  return (
    <Drawing
      aria-hidden
      size={small ? "0.75rem" : "1rem"}
      strokeWidth={small ? 2.4 : 2}
      className={`shrink-0 ${className ?? ""}`}
    />
  );
}
