import { cva, type VariantProps } from "class-variance-authority";
import type { LucideIcon } from "lucide-react";
import { Slot } from "radix-ui";
import type { ComponentProps } from "react";
import { ariaKeys } from "~/keys/match";
import { COMMANDS, type CommandId } from "~/keys/registry";
import { cn } from "~/lib/cn";
import { Icon } from "./icon";
import { Keys } from "./keys";

const look = cva(
  "inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-md border transition-colors duration-(--fast) aria-disabled:border-line aria-disabled:bg-sunken aria-disabled:text-faint",
  {
    variants: {
      kind: {
        normal: "border-edge bg-raised font-medium text-text hover:bg-hover",
        primary:
          "border-accent bg-accent font-semibold text-on-accent hover:border-accent-hover hover:bg-accent-hover not-aria-disabled:[&_kbd]:border-transparent not-aria-disabled:[&_kbd]:bg-[oklch(0_0_0/0.2)] not-aria-disabled:[&_kbd]:text-on-accent",
        plain:
          "border-transparent bg-transparent font-medium text-muted hover:bg-hover hover:text-text",
        danger: "border-edge bg-raised font-medium text-bad hover:bg-bad-soft",
      },
      size: {
        normal: "type-list h-(--control) px-2.5",
        small: "type-small h-(--control-small) px-2",
      },
    },
    defaultVariants: { kind: "normal", size: "normal" },
  },
);

type Props = ComponentProps<"button"> &
  VariantProps<typeof look> & {
    icon?: LucideIcon;
    /** Shows the keys of this command and tells them to readers. */
    command?: CommandId;
    /** Draws the look on the child (a link) instead of on a button. */
    asChild?: boolean;
    /** Why it cannot be pressed now. The button stays reachable and says so, and submits nothing. */
    unavailable?: string | undefined;
  };

export function Button({
  kind,
  size,
  icon,
  command,
  asChild = false,
  unavailable,
  className,
  children,
  onClick,
  ...rest
}: Props) {
  const off = unavailable !== undefined;
  const shared = {
    className: cn(look({ kind, size }), className),
    "aria-keyshortcuts": command && ariaKeys(COMMANDS[command].keys[0] ?? ""),
    ...(off ? { "aria-disabled": true, title: unavailable } : {}),
    ...rest,
  };
  if (asChild) {
    return <Slot.Root {...shared}>{children}</Slot.Root>;
  }
  return (
    <button type="button" {...shared} onClick={off ? (event) => event.preventDefault() : onClick}>
      {icon && <Icon of={icon} small />}
      {children}
      {command && <Keys of={command} />}
    </button>
  );
}

/** A button of one drawing. Its name is said to readers and shown on hover. */
export function IconButton({
  icon,
  name,
  small = false,
  command,
  className,
  ...rest
}: Omit<ComponentProps<"button">, "name"> & {
  icon: LucideIcon;
  name: string;
  small?: boolean;
  command?: CommandId;
}) {
  return (
    <button
      type="button"
      aria-label={name}
      aria-keyshortcuts={command && ariaKeys(COMMANDS[command].keys[0] ?? "")}
      title={name}
      className={cn(
        "inline-grid shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-text",
        small ? "size-(--control-small)" : "size-(--control)",
        className,
      )}
      {...rest}
    >
      <Icon of={icon} />
    </button>
  );
}
