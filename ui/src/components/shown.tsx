import { type ReactNode, useState } from "react";
import { count } from "~/lib/format";
import { Button } from "./button";

const more = (n: number) => `Show ${count(n)} more`;
/** How many are drawn at first, and how many come with each press. */
const FIRST = 30;
const STEP = 200;

/** The first of a list that can be long, inside something that scrolls as a whole; the rest by pressing. */
export function Shown<T>({
  items,
  children,
  className,
}: {
  items: readonly T[];
  children: (item: T) => ReactNode;
  className?: string;
}) {
  const [shown, setShown] = useState(FIRST);
  const left = items.length - shown;
  return (
    <>
      {items.slice(0, shown).map(children)}
      {left > 0 && (
        <Button
          kind="plain"
          size="small"
          className={className}
          onClick={() => setShown(shown + STEP)}
        >
          {more(Math.min(left, STEP))}
        </Button>
      )}
    </>
  );
}
