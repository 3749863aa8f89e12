import type { LucideIcon } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import type { CommandId } from "~/keys/registry";
import { cn } from "~/lib/cn";
import { Icon } from "./icon";
import { Keys } from "./keys";

const surface =
  "z-20 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 overflow-auto rounded-md bg-raised p-1 shadow-float";
const row =
  "flex h-(--row) items-center gap-2 rounded-small px-2 outline-none data-highlighted:bg-selected data-disabled:text-faint";

export function Menu({
  trigger,
  align = "end",
  children,
}: {
  trigger: ReactNode;
  align?: "start" | "end";
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content align={align} sideOffset={4} className={surface}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function MenuItem({
  icon,
  command,
  danger = false,
  disabled,
  onSelect,
  children,
}: {
  icon?: LucideIcon;
  command?: CommandId;
  danger?: boolean;
  disabled?: boolean;
  onSelect: () => void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.Item
      disabled={disabled}
      onSelect={onSelect}
      className={cn(row, danger && "text-bad")}
    >
      {icon && <Icon of={icon} className={danger ? undefined : "text-muted"} />}
      <span className="flex-1">{children}</span>
      {command && <Keys of={command} />}
    </DropdownMenu.Item>
  );
}

/** One of several in a menu that filters. */
export function MenuCheck({
  checked,
  onChecked,
  children,
}: {
  checked: boolean;
  onChecked: (checked: boolean) => void;
  children: ReactNode;
}) {
  return (
    <DropdownMenu.CheckboxItem
      checked={checked}
      onCheckedChange={onChecked}
      onSelect={(event) => event.preventDefault()}
      className={row}
    >
      <span className="grid size-4 place-items-center rounded-small border border-control">
        <DropdownMenu.ItemIndicator className="size-2 rounded-[2px] bg-accent-text" />
      </span>
      {children}
    </DropdownMenu.CheckboxItem>
  );
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="mx-1 my-1 h-px bg-line" />;
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return (
    <DropdownMenu.Label className="type-label px-2 pt-1.5 pb-1 text-faint">
      {children}
    </DropdownMenu.Label>
  );
}
