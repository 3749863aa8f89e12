import type { LucideIcon } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";
import { cn } from "~/lib/cn";
import { Icon } from "./icon";

const box =
  "w-full min-w-0 rounded-md border border-control bg-raised px-2 text-text focus-visible:outline-offset-[-1px] aria-invalid:border-bad";

interface Around {
  label: string;
  /** A sentence under the field. */
  help?: ReactNode;
  /** What is wrong with its value, from `Report.fields` or the form. */
  fault?: string | undefined;
  className?: string | undefined;
}

function useAround({ help, fault }: Around) {
  const id = useId();
  const described = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return {
    id,
    aria: {
      id,
      "aria-invalid": fault ? true : undefined,
      "aria-describedby": described || undefined,
    },
  } as const;
}

function Frame({
  id,
  label,
  help,
  fault,
  className,
  children,
}: Around & { id: string; children: ReactNode }) {
  return (
    <div className={cn("grid gap-1", className)}>
      <label htmlFor={id} className="type-small font-medium text-muted">
        {label}
      </label>
      {children}
      {fault && (
        <p id={`${id}-fault`} className="type-small text-bad">
          {fault}
        </p>
      )}
      {help && (
        <p id={`${id}-help`} className="type-small text-faint">
          {help}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  help,
  fault,
  className,
  ...rest
}: Around & ComponentProps<"input">) {
  const { id, aria } = useAround({ label, help, fault });
  return (
    <Frame {...{ id, label, help, fault, className }}>
      <input {...aria} {...rest} className={cn(box, "h-(--control)")} />
    </Frame>
  );
}

export function TextArea({
  label,
  help,
  fault,
  className,
  ...rest
}: Around & ComponentProps<"textarea">) {
  const { id, aria } = useAround({ label, help, fault });
  return (
    <Frame {...{ id, label, help, fault, className }}>
      <textarea rows={3} spellCheck {...aria} {...rest} className={cn(box, "resize-y py-1")} />
    </Frame>
  );
}

export function SelectField({
  label,
  help,
  fault,
  className,
  options,
  ...rest
}: Around & ComponentProps<"select"> & { options: readonly { value: string; label: string }[] }) {
  const { id, aria } = useAround({ label, help, fault });
  return (
    <Frame {...{ id, label, help, fault, className }}>
      <select {...aria} {...rest} className={cn(box, "h-(--control)")}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}

/** A field in a bar of filters: its label is read, not shown. */
export function FilterField({
  label,
  icon,
  className,
  after,
  ...rest
}: ComponentProps<"input"> & { label: string; icon?: LucideIcon; after?: ReactNode }) {
  return (
    <label
      className={cn(
        "flex h-(--control) min-w-0 items-center gap-2 rounded-md border border-control bg-raised px-2 has-[:focus-visible]:outline-2 has-[:focus-visible]:-outline-offset-1 has-[:focus-visible]:outline-focus",
        className,
      )}
    >
      {icon && <Icon of={icon} className="text-muted" />}
      <span className="sr-only">{label}</span>
      <input
        placeholder={label}
        {...rest}
        className="min-w-0 flex-1 bg-transparent outline-none!"
      />
      {after}
    </label>
  );
}

export function Checkbox({
  label,
  help,
  className,
  ...rest
}: Omit<ComponentProps<"input">, "type"> & { label: ReactNode; help?: string }) {
  const id = useId();
  return (
    <div className={cn("flex min-h-6 gap-2", help ? "items-start" : "items-center", className)}>
      <input
        id={id}
        type="checkbox"
        aria-describedby={help ? `${id}-help` : undefined}
        className={cn("size-4 shrink-0 accent-accent", help && "mt-0.5")}
        {...rest}
      />
      <div>
        <label htmlFor={id} className="inline-flex items-center gap-2">
          {label}
        </label>
        {help && (
          <p id={`${id}-help`} className="type-small text-faint">
            {help}
          </p>
        )}
      </div>
    </div>
  );
}

/** One of a few, each with a sentence of what it means. */
export function RadioField({
  label,
  name,
  value,
  onValue,
  options,
}: {
  label: string;
  name: string;
  value: string;
  onValue: (value: string) => void;
  options: readonly { value: string; label: string; help?: string; unavailable?: string }[];
}) {
  const id = useId();
  return (
    <fieldset className="grid gap-1.5">
      <legend className="type-small mb-1 font-medium text-muted">{label}</legend>
      {options.map((option) => {
        const note = option.unavailable ?? option.help;
        const own = `${id}-${option.value}`;
        return (
          <div key={option.value} className="flex min-h-6 items-start gap-2">
            <input
              id={own}
              type="radio"
              name={name}
              value={option.value}
              checked={value === option.value}
              disabled={option.unavailable !== undefined}
              onChange={() => onValue(option.value)}
              aria-describedby={note ? `${own}-note` : undefined}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <div>
              <label htmlFor={own}>{option.label}</label>
              {note && (
                <p id={`${own}-note`} className="type-small text-faint">
                  {note}
                </p>
              )}
            </div>
          </div>
        );
      })}
    </fieldset>
  );
}
