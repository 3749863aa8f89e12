import { type ReactNode, useId } from "react";

/** A group of settings with its heading. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="type-strong mb-2">
        {title}
      </h2>
      <div className="divide-y divide-line rounded-large border border-line bg-raised">
        {children}
      </div>
    </section>
  );
}

/** One row of a card: what it is, and the control or value at the end. */
export function Row({
  title,
  about,
  children,
}: {
  title: ReactNode;
  about?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="flex min-h-13 flex-wrap items-center gap-x-4 gap-y-2 px-4 py-2">
      <div className="min-w-40 flex-1">
        <p>{title}</p>
        {about && <p className="type-small text-muted">{about}</p>}
      </div>
      {children}
    </div>
  );
}
