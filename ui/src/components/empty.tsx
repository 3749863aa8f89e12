import type { ReactNode } from "react";

/** A place with nothing in it yet: what belongs here, an example, one thing to do. */
export function Empty({
  title,
  children,
  example,
  actions,
}: {
  title: string;
  children: ReactNode;
  example?: string;
  actions?: ReactNode;
}) {
  return (
    <div className="grid h-full content-center justify-items-center px-8 py-6">
      <div className="grid w-full max-w-[25rem] gap-3">
        <h2 className="type-title">{title}</h2>
        <div className="grid gap-2 text-pretty text-muted">{children}</div>
        {example && (
          <div className="border-l-3 border-edge pl-3">
            <p className="type-small text-faint">For example</p>
            <p>{example}</p>
          </div>
        )}
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  );
}
