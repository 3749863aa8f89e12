import { ChevronRight } from "lucide-react";
import { Collapsible } from "radix-ui";
import { Icon } from "~/components/icon";
import { MemoryText } from "~/components/memory-text";
import { Shown } from "~/components/shown";
import type { ProposalView } from "~/platform/bindings";
import { opTitle } from "./op-words";
import { strings } from "./strings";

/** What the engine refused to do, with the reason of each; nothing here can be decided. */
export function Skipped({ view }: { view: ProposalView }) {
  const skipped = view.ops.filter(({ status }) => status === "skipped");
  if (skipped.length === 0) return null;
  return (
    <Collapsible.Root className="border-line border-b">
      <Collapsible.Trigger
        data-focus-inside
        className="group flex h-9 w-full items-center gap-2 px-4 text-muted hover:bg-hover"
      >
        <Icon
          of={ChevronRight}
          small
          className="transition-transform group-data-[state=open]:rotate-90"
        />
        {strings.skipped}
        <span className="text-faint">{skipped.length}</span>
      </Collapsible.Trigger>
      <Collapsible.Content>
        <ul className="grid gap-2 pr-4 pb-3 pl-9">
          <Shown items={skipped}>
            {(op) => (
              <li key={op.op_id} className="type-small text-muted">
                {opTitle(op)}:{" "}
                {strings.skipReason[op.reason ?? ""] ?? op.reason?.replaceAll("_", " ")}
                {op.new_text && (
                  <p className="whitespace-pre-line text-faint">
                    <MemoryText text={op.new_text} />
                  </p>
                )}
              </li>
            )}
          </Shown>
        </ul>
      </Collapsible.Content>
    </Collapsible.Root>
  );
}
