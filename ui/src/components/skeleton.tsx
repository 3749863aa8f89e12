import { useEffect, useState } from "react";

/** Rows that keep their height while they are fetched. Shown after 150 ms, never for a blink. */
export function SkeletonRows({ rows = 8, height = "3.25rem" }: { rows?: number; height?: string }) {
  const late = useLate();
  return (
    <div role="status" aria-label="Loading" aria-busy="true">
      {late &&
        Array.from({ length: rows }, (_, row) => row).map((row) => (
          <div
            key={row}
            className="grid content-center gap-2 border-line border-b px-4"
            style={{ height }}
          >
            <div
              className="h-3 rounded-small bg-hover"
              style={{ width: `${34 + ((row * 17) % 40)}%` }}
            />
            <div className="h-2 w-3/5 rounded-small bg-hover" />
          </div>
        ))}
    </div>
  );
}

function useLate(): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return late;
}
