import { type RefObject, useEffect, useRef } from "react";

/** The focus goes to this element when it is the one looked at and a key has moved there. */
export function useTakesFocus<E extends HTMLElement>(
  focused: boolean,
  moved: number,
): RefObject<E | null> {
  const element = useRef<E>(null);
  useEffect(() => {
    if (!focused || moved === 0) return;
    element.current?.focus({ preventScroll: true });
    element.current?.scrollIntoView({ block: "nearest" });
  }, [focused, moved]);
  return element;
}
