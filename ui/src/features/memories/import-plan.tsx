import { FileText, ListTree } from "lucide-react";
import { Icon } from "~/components/icon";
import { Stack } from "~/components/stack";
import { StateMark } from "~/components/state";
import { cn } from "~/lib/cn";
import { size } from "~/lib/format";
import type { ImportPlan } from "~/platform/bindings";
import { strings } from "./import-strings";

const order = { left_out: 0, facts: 1, document: 2 } as const;

/** What would be read, and what would not and why. What is left out comes first. */
export function ImportPlanList({ plan: { files } }: { plan: ImportPlan }) {
  const of = (kind: keyof typeof order) => files.filter((file) => file.kind === kind).length;
  const shown = [...files].sort((a, b) => order[a.kind] - order[b.kind]);
  return (
    <section aria-label={strings.plan} className="rounded-md border border-line">
      <div className="flex items-baseline gap-3 border-line border-b px-3 py-2">
        <h2 className="type-strong">{strings.plan}</h2>
        <p role="status" className="type-small text-muted">
          {files.length === 0
            ? strings.emptyPlan
            : strings.planOf(of("document"), of("facts"), of("left_out"))}
        </p>
      </div>
      {files.length > 0 && (
        <div className="flex max-h-80">
          <Stack
            label={strings.files}
            items={shown}
            keyOf={({ path }) => path}
            current={-1}
            moved={0}
            height={2.25}
          >
            {(file) => {
              const out = file.kind === "left_out";
              return (
                <div className="grid min-h-9 grid-cols-[1rem_minmax(0,1fr)_6rem_4.5rem] items-center gap-x-2 px-3 py-1.5">
                  {out ? (
                    <StateMark mark="triangle" tone="warn" />
                  ) : (
                    <Icon of={file.kind === "facts" ? ListTree : FileText} className="text-muted" />
                  )}
                  <span className={cn("truncate", out && "text-muted")} title={file.path}>
                    {file.name}
                  </span>
                  <span className={cn("type-small", out ? "text-warn" : "text-muted")}>
                    {strings.kinds[file.kind]}
                  </span>
                  <span className="type-small text-right text-faint">{size(file.size)}</span>
                  {file.problem && (
                    <span className="type-small col-span-3 col-start-2 text-muted">
                      {file.problem}
                    </span>
                  )}
                </div>
              );
            }}
          </Stack>
        </div>
      )}
    </section>
  );
}
