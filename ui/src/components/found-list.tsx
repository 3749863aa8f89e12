import { ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { type ReactNode, useState } from "react";
import type { Report } from "~/platform/bindings";
import { TextField } from "./field";
import { Icon } from "./icon";
import { ReportCard } from "./report";

/** How many are listed at once; the rest is found by letters. */
const listed = 60;
/** So many are looked over without letters. */
const few = 8;

/** A button that opens a small sheet below it. */
export function DropSheet({
  trigger,
  label,
  open,
  onOpen,
  children,
}: {
  trigger: ReactNode;
  label: string;
  open: boolean;
  onOpen: (open: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Popover.Root open={open} onOpenChange={onOpen}>
      <Popover.Trigger asChild>{trigger}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label={label}
          align="end"
          sideOffset={4}
          className="z-20 w-72 rounded-md bg-raised p-3 shadow-float"
        >
          {children}
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** The sign that a button opens a sheet. */
export const DropSign = () => <Icon of={ChevronDown} small />;

/** What a read has brought, to be found by letters of its names: the first sixty that match. */
export function FoundList<T>({
  read,
  nameOf,
  sign = "",
  words,
  children,
}: {
  read: { data: T[] | undefined; error: Report | null; refetch: () => unknown };
  nameOf: (item: T) => string;
  /** What people write before a name that is not part of it. */
  sign?: string;
  words: { find: string; none: string; noneFound: string; more: (more: number) => string };
  /** The list of what matches; `all` when no letters narrow it. */
  children: (found: T[], all: boolean) => ReactNode;
}) {
  const [typed, setTyped] = useState("");
  if (read.error) return <ReportCard report={read.error} onRetry={() => void read.refetch()} />;
  if (!read.data) return null;
  if (read.data.length === 0) return <p className="text-muted">{words.none}</p>;
  const plain = typed.trim().toLowerCase();
  const letters = sign !== "" && plain.startsWith(sign) ? plain.slice(sign.length) : plain;
  const found = read.data.filter((item) => nameOf(item).toLowerCase().includes(letters));
  return (
    <div className="grid gap-2">
      {read.data.length > few && (
        <TextField
          label={words.find}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
      {found.length === 0 && <p className="type-small text-muted">{words.noneFound}</p>}
      {children(found.slice(0, listed), letters === "")}
      {found.length > listed && (
        <p className="type-small text-muted">{words.more(found.length - listed)}</p>
      )}
    </div>
  );
}
