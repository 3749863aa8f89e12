import { ChevronDown, ChevronRight, Ellipsis, GripVertical, Lock } from "lucide-react";
import type { KeyboardEvent, ReactNode } from "react";
import { IconButton } from "~/components/button";
import { Icon } from "~/components/icon";
import { Menu, MenuItem, MenuSeparator } from "~/components/menu";
import { cn } from "~/lib/cn";
import { useTyped } from "~/lib/use-typed";
import * as acts from "./fields";
import { type Field, type FieldType, fieldTypes } from "./fields";
import type { JsonNode } from "./json-text";
import { strings } from "./schema-strings";
import type { Grip } from "./use-drag";

export type RowAct =
  | "add"
  | "child"
  | "duplicate"
  | "delete"
  | "up"
  | "down"
  | "indent"
  | "outdent";

/** One field: its name, type and meaning, and below them what its type can say more. */
export function FieldRow({
  field,
  at,
  taken,
  chosen,
  locked,
  inside,
  folded,
  onFold,
  onChosen,
  onText,
  onKeyDown,
  onAct,
  into,
  grip,
  dragged,
  edge,
}: {
  field: Field;
  at: { text: string; root: JsonNode };
  /** Names of its neighbours. */
  taken: string[];
  chosen: boolean;
  /** The code cannot be read, so nothing can be changed here. */
  locked: boolean;
  /** How many fields stand in it. */
  inside: number;
  folded: boolean;
  onFold: () => void;
  onChosen: () => void;
  onText: (text: string) => void;
  onKeyDown: (event: KeyboardEvent) => void;
  onAct: (act: RowAct) => void;
  /** Whether the field above can take it in. */
  into: boolean;
  grip: Grip;
  dragged: boolean;
  /** Where a field that is being dragged would be put down. */
  edge: "before" | "after" | null;
}) {
  const typeName = field.type === null ? strings.typeWritten : strings.types[field.type];
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a tree that can be edited
    // biome-ignore lint/a11y/useFocusableInteractive: its fields take the focus
    <div
      role="row"
      aria-level={field.level + 1}
      aria-posinset={field.place + 1}
      aria-setsize={field.of}
      aria-selected={chosen}
      aria-expanded={inside > 0 ? !folded : undefined}
      aria-label={strings.row(field.name, typeName, field.required)}
      data-field={field.id}
      onFocus={onChosen}
      onKeyDown={onKeyDown}
      className={cn(
        "border-line border-b py-2 pr-3 [contain-intrinsic-size:auto_5rem] [content-visibility:auto]",
        chosen && "bg-selected",
        dragged && "opacity-55",
        edge === "before" && "shadow-[inset_0_2px_var(--accent)]",
        edge === "after" && "shadow-[inset_0_-2px_var(--accent)]",
      )}
      style={{ paddingLeft: `${1 + field.level * 1.25}rem` }}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="gridcell" className="grid gap-1.5">
        <div className="flex flex-wrap items-center gap-1.5">
          {!locked && (
            <span
              aria-hidden="true"
              data-grip
              title={strings.grip}
              className="-ml-3 grid h-6 w-4 cursor-grab touch-none place-items-center text-faint hover:text-text active:cursor-grabbing"
              {...grip}
            >
              <Icon of={GripVertical} small />
            </span>
          )}
          {inside > 0 && (
            <button
              type="button"
              aria-label={folded ? strings.unfold(field.name) : strings.fold(field.name)}
              onClick={onFold}
              className="-mx-1 grid size-6 place-items-center text-faint hover:text-text"
            >
              <Icon of={folded ? ChevronRight : ChevronDown} small />
            </button>
          )}
          <NameInput field={field} at={at} taken={taken} locked={locked} onText={onText} />
          {field.type === null ? (
            <Kept>{strings.typeWritten}</Kept>
          ) : (
            <TypeSelect
              label={`${strings.type}, ${field.name}`}
              value={field.type}
              locked={locked}
              onValue={(type) => onText(acts.setType(at, field, type))}
            />
          )}
          {field.type === "array" && (field.itemType !== null || !field.kept.includes("items")) && (
            <span className="inline-flex items-center gap-1">
              <span className="type-small text-faint">{strings.itemType}</span>
              <TypeSelect
                label={`${strings.itemType}, ${field.name}`}
                value={field.itemType ?? "string"}
                locked={locked}
                onValue={(type) => onText(acts.setItemType(at, field, type))}
              />
            </span>
          )}
          <label className="type-small inline-flex min-h-6 items-center gap-1 text-muted">
            <input
              type="checkbox"
              checked={field.required}
              disabled={locked}
              className="size-4 accent-accent"
              onChange={(event) => onText(acts.setRequired(at, field, event.target.checked))}
            />
            {strings.required}
          </label>
          {inside > 0 && <span className="type-small text-faint">{strings.inside(inside)}</span>}
          <RowMenu field={field} into={into} locked={locked} onAct={onAct} />
        </div>
        <Small
          label={strings.description}
          of={field.name}
          value={field.description}
          locked={locked}
          onValue={(text) => onText(acts.setWord(at, field, "description", text || null))}
        />
        <Details field={field} at={at} shown={chosen} locked={locked} onText={onText} />
        {field.kept.map((word) => (
          <p key={word} className="type-small flex min-w-0 items-center gap-1.5 text-muted">
            <Icon of={Lock} small className="text-faint" />
            {strings.kept}:
            <code className="min-w-0 truncate [font:var(--type-code)]">
              {word}: {acts.keptText(at, field, word)}
            </code>
          </p>
        ))}
      </div>
    </div>
  );
}

const box =
  "h-6 min-w-0 rounded-small border border-control bg-raised px-1.5 text-text focus-visible:outline-offset-[-1px] aria-invalid:border-bad";

/** A name takes effect as it is typed, unless it is empty or taken. */
function NameInput({
  field,
  at,
  taken,
  locked,
  onText,
}: {
  field: Field;
  at: { text: string; root: JsonNode };
  taken: string[];
  locked: boolean;
  onText: (text: string) => void;
}) {
  const { props, refused } = useTyped(
    field.name,
    (text) => (text.trim() === "" || (text !== field.name && taken.includes(text)) ? null : text),
    (text) => onText(acts.rename(at, field, text)),
  );
  return (
    <input
      type="text"
      aria-label={strings.name}
      aria-invalid={refused || undefined}
      disabled={locked}
      spellCheck={false}
      className={cn(box, "w-36 font-medium [font:var(--type-code)]")}
      {...props}
    />
  );
}

function TypeSelect({
  label,
  value,
  locked,
  onValue,
}: {
  label: string;
  value: FieldType;
  locked: boolean;
  onValue: (type: FieldType) => void;
}) {
  return (
    <select
      aria-label={label}
      value={value}
      disabled={locked}
      className={cn(box, "type-small")}
      onChange={(event) => onValue(event.target.value as FieldType)}
    >
      {fieldTypes.map((type) => (
        <option key={type} value={type}>
          {strings.types[type]}
        </option>
      ))}
    </select>
  );
}

/** A line of text in a row; its label is its placeholder and is read. */
function Small({
  label,
  of,
  value,
  locked,
  read = same,
  onValue,
  className,
}: {
  label: string;
  of: string;
  value: string;
  locked: boolean;
  /** What the value will show once this text is taken; null for a text that cannot be taken. */
  read?: (text: string) => string | null;
  onValue: (text: string) => void;
  className?: string;
}) {
  const { props, refused } = useTyped(value, read, onValue);
  return (
    <input
      type="text"
      aria-label={`${label}, ${of}`}
      aria-invalid={refused || undefined}
      placeholder={label}
      disabled={locked}
      className={cn(box, "type-small w-full", className)}
      {...props}
    />
  );
}

const same = (text: string) => text;

/** Allowed values, format and limits: shown where something is stated, and on the row at hand. */
function Details({
  field,
  at,
  shown,
  locked,
  onText,
}: {
  field: Field;
  at: { text: string; root: JsonNode };
  shown: boolean;
  locked: boolean;
  onText: (text: string) => void;
}) {
  const numeric = field.type === "number" || field.type === "integer";
  const scalar = field.type === "string" || numeric;
  if (!scalar) return null;
  const limit = (word: "minimum" | "maximum") => (
    <Small
      label={strings[word]}
      of={field.name}
      value={field[word]}
      locked={locked}
      className="w-24"
      read={acts.limitText}
      onValue={(text) => onText(acts.setLimit(at, field, word, text))}
    />
  );
  return (
    <div className="flex flex-wrap gap-1.5">
      {(shown || field.choices.length > 0) && !field.kept.includes("enum") && (
        <Small
          label={strings.choices}
          of={field.name}
          value={field.choices.join(", ")}
          read={(text) => acts.choicesText(field, text)}
          locked={locked}
          className="min-w-40 flex-1"
          onValue={(text) => onText(acts.setChoices(at, field, text))}
        />
      )}
      {field.type === "string" && (shown || field.format !== "") && (
        <Small
          label={strings.format}
          of={field.name}
          value={field.format}
          locked={locked}
          className="w-44"
          read={(text) => text.trim()}
          onValue={(text) => onText(acts.setWord(at, field, "format", text.trim() || null))}
        />
      )}
      {numeric && (shown || field.minimum !== "") && limit("minimum")}
      {numeric && (shown || field.maximum !== "") && limit("maximum")}
    </div>
  );
}

function RowMenu({
  field,
  into,
  locked,
  onAct,
}: {
  field: Field;
  into: boolean;
  locked: boolean;
  onAct: (act: RowAct) => void;
}) {
  return (
    <Menu
      trigger={
        <IconButton
          small
          icon={Ellipsis}
          name={strings.more(field.name)}
          disabled={locked}
          className="ml-auto"
        />
      }
    >
      {field.holds && (
        <>
          <MenuItem onSelect={() => onAct("child")}>{strings.addChild}</MenuItem>
          <MenuSeparator />
        </>
      )}
      <MenuItem disabled={field.place === 0} onSelect={() => onAct("up")}>
        {strings.up}
      </MenuItem>
      <MenuItem disabled={field.place + 1 === field.of} onSelect={() => onAct("down")}>
        {strings.down}
      </MenuItem>
      <MenuItem disabled={!into} onSelect={() => onAct("indent")}>
        {strings.indent}
      </MenuItem>
      <MenuItem disabled={field.level === 0} onSelect={() => onAct("outdent")}>
        {strings.outdent}
      </MenuItem>
      <MenuItem onSelect={() => onAct("duplicate")}>{strings.duplicate}</MenuItem>
      <MenuSeparator />
      <MenuItem danger onSelect={() => onAct("delete")}>
        {strings.delete}
      </MenuItem>
    </Menu>
  );
}

function Kept({ children }: { children: ReactNode }) {
  return (
    <span className="type-small inline-flex h-6 items-center gap-1 rounded-small bg-hover px-1.5 text-muted">
      <Icon of={Lock} small />
      {children}
    </span>
  );
}
