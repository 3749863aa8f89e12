import { Plus } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "~/components/button";
import { StateMark } from "~/components/state";
import { cn } from "~/lib/cn";
import { FieldRow, type RowAct } from "./field-row";
import * as acts from "./fields";
import { type Row, stem } from "./rows";
import { strings } from "./schema-strings";
import { useDrag } from "./use-drag";
import type { SchemaText } from "./use-schema-text";

/** The fields of the schema as rows; every act is one small edit of its text. */
export function FieldTree({
  schema,
  chosen,
  onChosen,
}: {
  schema: SchemaText;
  /** Key of the row at hand. */
  chosen: number | null;
  onChosen: (key: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const add = useRef<HTMLButtonElement>(null);
  // Where the focus goes once the rows are drawn anew: a row by its place, or what had it before.
  const [wanted, setWanted] = useState<string | Element | null>(null);
  /** Keys of the rows whose inner fields are put away. */
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const { fields, good, fault } = schema;

  useEffect(() => {
    if (wanted === null) return;
    setWanted(null);
    const found =
      typeof wanted === "string"
        ? place.current?.querySelector(`[data-field="${wanted}"] input`)
        : wanted.isConnected && wanted;
    const target = found || add.current;
    if (!(target instanceof HTMLElement)) return;
    target.focus();
    if (typeof wanted === "string" && target instanceof HTMLInputElement) target.select();
  }, [wanted]);

  const drag = useDrag(place, fields, (row, to) => {
    if (good) schema.set(acts.moveTo(good, row, to));
  });

  if (!good) {
    return <p className="p-4 text-muted">{strings.stale}</p>;
  }
  const at = { text: good.text, root: good.root };
  /** Changes the text; the focus goes to the row at this place, or back to what had it. */
  const change = (text: string, focus: string | Element | null) => {
    schema.set(text);
    setWanted(focus);
  };
  const neighbours = (field: Row) =>
    fields.filter(({ id, level }) => level === field.level && stem(id) === stem(field.id));
  const inside = (field: Row) => fields.filter(({ id }) => stem(id) === field.id).length;
  const hidden = (field: Row) =>
    fields.some(({ id, key }) => folded.has(key) && field.id.startsWith(`${id}.`));
  const fold = ({ key }: Row) =>
    setFolded((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  const act = (field: Row, name: RowAct) => {
    // What is put into a field must be in view.
    if (name === "child" && folded.has(field.key)) fold(field);
    const had = document.activeElement;
    const before = neighbours(field)[field.place - 1];
    if (name === "add") change(acts.addAfter(at, field), sibling(field, 1));
    else if (name === "child") {
      change(acts.addChild(at, field), `${field.id}.${inside(field)}`);
    } else if (name === "duplicate") change(acts.duplicate(at, field), sibling(field, 1));
    else if (name === "delete") change(acts.remove(at, field), afterwards(field));
    else if (name === "up" && field.place > 0) change(acts.moveTo(at, field, field.place - 1), had);
    else if (name === "down" && field.place + 1 < field.of)
      change(acts.moveTo(at, field, field.place + 1), had);
    else if (name === "indent" && before?.holds) {
      const path = before.type === "array" ? [...before.path, "items"] : before.path;
      const own = inside(before);
      change(acts.moveInto(at, field, path, own), `${before.id}.${own}`);
    } else if (name === "outdent" && field.level > 0) {
      const owner = fields.find(({ id }) => id === stem(field.id));
      if (!owner) return;
      change(acts.moveInto(at, field, owner.path.slice(0, -2), owner.place + 1), sibling(owner, 1));
    }
  };
  const keys = (field: Row) => (event: KeyboardEvent) => {
    const name = keyAct(event);
    if (!name) return;
    event.preventDefault();
    event.stopPropagation();
    act(field, name);
  };

  return (
    <div ref={place} className="scroll-quiet min-h-0 flex-1" data-focus-inside>
      {fault && (
        <p role="status" className="flex gap-2 border-line border-b bg-warn-soft px-4 py-2">
          <StateMark mark="triangle" tone="warn" className="mt-0.5" />
          {strings.stale}
        </p>
      )}
      <div
        role="treegrid"
        aria-label={strings.tree}
        aria-readonly={fault ? true : undefined}
        className={cn(fault && "opacity-55")}
      >
        {fields
          .filter((field) => !hidden(field))
          .map((field) => (
            <FieldRow
              key={field.key}
              field={field}
              locked={fault !== null}
              inside={inside(field)}
              folded={folded.has(field.key)}
              onFold={() => fold(field)}
              chosen={chosen === field.key}
              at={at}
              taken={neighbours(field).map(({ name }) => name)}
              onChosen={() => onChosen(field.key)}
              onText={schema.set}
              onKeyDown={keys(field)}
              onAct={(name) => act(field, name)}
              into={neighbours(field)[field.place - 1]?.holds === true}
              grip={drag.grip(field)}
              dragged={drag.isDragged(field)}
              edge={drag.edgeOf(field)}
            />
          ))}
      </div>
      <div className="grid gap-2 px-4 py-3">
        <Button
          ref={add}
          size="small"
          icon={Plus}
          className="justify-self-start"
          disabled={fault !== null}
          onClick={() =>
            change(
              acts.addAfter(at, null),
              String(fields.filter(({ level }) => level === 0).length),
            )
          }
        >
          {strings.add}
        </Button>
        <p className="type-small text-faint">{strings.hint}</p>
      </div>
    </div>
  );
}

const sibling = (field: Row, by: number) =>
  [...(stem(field.id) === "" ? [] : [stem(field.id)]), Math.max(0, field.place + by)].join(".");

/** Where the focus goes when a field is deleted: the next, else the one before, else the one above. */
function afterwards(field: Row): string {
  if (field.place + 1 < field.of) return field.id;
  return field.place > 0 ? sibling(field, -1) : stem(field.id);
}

function keyAct(event: KeyboardEvent): RowAct | null {
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey && !control) {
    const moves: Record<string, RowAct> = {
      ArrowUp: "up",
      ArrowDown: "down",
      ArrowRight: "indent",
      ArrowLeft: "outdent",
    };
    return moves[event.key] ?? null;
  }
  if (control && event.key === "Backspace") return "delete";
  if (control && event.key.toLowerCase() === "d") return "duplicate";
  const typing = event.target instanceof HTMLInputElement && event.target.type === "text";
  return event.key === "Enter" && !control && !event.shiftKey && typing ? "add" : null;
}
