import { Link } from "@tanstack/react-router";
import {
  Activity,
  Database,
  FileText,
  Inbox,
  ListChecks,
  type LucideIcon,
  MessageSquareQuote,
  Settings,
} from "lucide-react";
import { Icon } from "~/components/icon";
import { cn } from "~/lib/cn";
import type { BankId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

interface Entry {
  to:
    | "/b/$bank/review/{-$proposal}"
    | "/b/$bank/models"
    | "/b/$bank/reflect/{-$run}"
    | "/b/$bank/memories/{-$memory}"
    | "/b/$bank/directives/{-$directive}"
    | "/b/$bank/activity/{-$operation}"
    | "/b/$bank/settings/{-$page}";
  label: string;
  icon: LucideIcon;
}

/** Groups of screens; a hairline stands between groups. */
const groups: Entry[][] = [
  [
    { to: "/b/$bank/review/{-$proposal}", label: "Review", icon: Inbox },
    { to: "/b/$bank/models", label: "Models", icon: FileText },
    { to: "/b/$bank/reflect/{-$run}", label: "Reflect", icon: MessageSquareQuote },
  ],
  [
    { to: "/b/$bank/memories/{-$memory}", label: "Memories", icon: Database },
    { to: "/b/$bank/directives/{-$directive}", label: "Directives", icon: ListChecks },
  ],
  [
    { to: "/b/$bank/activity/{-$operation}", label: "Activity", icon: Activity },
    { to: "/b/$bank/settings/{-$page}", label: "Settings", icon: Settings },
  ],
];

/** The screens of a bank, each with its word. */
export function Rail({
  bank,
  onGone,
  className,
}: {
  bank: BankId;
  onGone?: () => void;
  className?: string;
}) {
  const waiting = useRead("listProposals", [bank]).data?.length ?? 0;
  return (
    <nav
      aria-label={strings.navigation}
      data-pane
      tabIndex={-1}
      data-focus-inside
      className={cn("flex min-h-0 flex-col gap-px overflow-auto bg-sunken p-2", className)}
    >
      {groups.map((entries) => (
        <div
          key={entries[0]?.label}
          className="grid gap-px not-first:mt-2 not-first:border-line not-first:border-t not-first:pt-2"
        >
          {entries.map(({ to, label, icon }) => (
            <Link
              key={to}
              to={to}
              params={{
                bank,
                proposal: undefined,
                run: undefined,
                memory: undefined,
                directive: undefined,
                operation: undefined,
                page: undefined,
              }}
              search={{}}
              data-plain
              onClick={onGone}
              className="group flex h-(--row) items-center gap-2 rounded-md px-2 text-muted hover:bg-hover aria-[current=page]:bg-selected aria-[current=page]:font-[550] aria-[current=page]:text-text"
            >
              <Icon of={icon} className="group-aria-[current=page]:text-accent-text" />
              {label}
              {label === "Review" && waiting > 0 && (
                <span className="type-small ml-auto font-[650] text-accent-text">
                  {waiting}
                  <span className="sr-only"> waiting</span>
                </span>
              )}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}
