import { createContext, type ReactNode, use, useCallback, useState } from "react";

const AnnounceContext = createContext<(message: string) => void>(() => {});

/** Holds the polite live region. A message that repeats is said again. */
export function Announcer({ children }: { children: ReactNode }) {
  const [message, setMessage] = useState("");
  const announce = useCallback((next: string) => {
    setMessage((before) => (before === next ? `${next}\u00a0` : next));
  }, []);
  return (
    <AnnounceContext value={announce}>
      {children}
      <div role="status" aria-live="polite" className="sr-only" data-testid="announcer">
        {message}
      </div>
    </AnnounceContext>
  );
}

/** Tells readers of the screen what an act has led to. */
export function useAnnounce(): (message: string) => void {
  return use(AnnounceContext);
}
