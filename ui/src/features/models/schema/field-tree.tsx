import { Plus } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "~/components/button";
import { StateMark } from "~/components/state";
import { cn } from "~/lib/cn";
import { FieldRow } from "./field-row";
import type { Field } from "./fields";
import * as acts from "./fields";
import { strings } from "./schema-strings";
import type { SchemaText } from "./use-schema-text";

/** The fields of the schema as rows; every act is one small edit of its text. */
export function FieldTree({
  schema,
  chosen,
  onChosen,
}: {
  schema: SchemaText;
  chosen: string | null;
  onChosen: (id: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useState<string | null>(null);
  const { fields, good, fault } = schema;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a row that was just made is there after the next reading of the fields
  useEffect(() => {
    if (wanted === null) return;
    const input = place.current?.querySelector<HTMLInputElement>(`[data-field="${wanted}"] input`);
    if (!input) return;
    input.focus();
    input.select();
    setWanted(null);
  }, [wanted, fields]);

  if (!good) {
    return <p className="p-4 text-muted">{strings.stale}</p>;
  }
  const at = { text: good.text, root: good.root };
  /** Changes the text and puts the focus on the row with this id. */
  const change = (text: string, focus?: string) => {
    schema.set(text);
    if (focus !== undefined) setWanted(focus);
  };
  const neighbours = (field: Field) =>
    fields.filter(({ id, level }) => level === field.level && stem(id) === stem(field.id));
  const keys = (field: Field) => (event: KeyboardEvent) => {
    const act = keyAct(event);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    const before = neighbours(field)[field.place - 1];
    if (act === "add") change(acts.addAfter(at, field), sibling(field, 1));
    else if (act === "duplicate") change(acts.duplicate(at, field), sibling(field, 1));
    else if (act === "delete") {
      const next = field.place + 1 < field.of ? field.id : sibling(field, -1);
      change(acts.remove(at, field), next);
    } else if (act === "up" && field.place > 0) {
      change(acts.move(at, field, -1), sibling(field, -1));
    } else if (act === "down" && field.place + 1 < field.of) {
      change(acts.move(at, field, 1), sibling(field, 1));
    } else if (act === "indent" && before?.holds) {
      const path = before.type === "array" ? [...before.path, "items"] : before.path;
      const own = fields.filter(({ id }) => stem(id) === before.id).length;
      change(acts.moveInto(at, field, path, own), `${before.id}.${own}`);
    } else if (act === "outdent" && field.level > 0) {
      const owner = fields.find(({ id }) => id === stem(field.id));
      if (!owner) return;
      change(acts.moveInto(at, field, owner.path.slice(0, -2), owner.place + 1), sibling(owner, 1));
    }
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
        {fields.map((field) => (
          <FieldRow
            key={field.id}
            field={field}
            locked={fault !== null}
            chosen={chosen === field.id}
            at={at}
            taken={neighbours(field).map(({ name }) => name)}
            onChosen={() => onChosen(field.id)}
            onText={(text) => change(text)}
            onKeyDown={keys(field)}
            onAct={(act) => {
              if (act === "child") {
                const own = fields.filter(({ id }) => stem(id) === field.id).length;
                change(acts.addChild(at, field), `${field.id}.${own}`);
              } else if (act === "duplicate") {
                change(acts.duplicate(at, field), sibling(field, 1));
              } else if (act === "delete") change(acts.remove(at, field));
              else change(acts.move(at, field, act === "up" ? -1 : 1));
            }}
          />
        ))}
      </div>
      <div className="grid gap-2 px-4 py-3">
        <Button
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

/** The id of the row above in the tree; empty at the top. */
const stem = (id: string) => id.split(".").slice(0, -1).join(".");

const sibling = (field: Field, by: number) =>
  [...(stem(field.id) === "" ? [] : [stem(field.id)]), Math.max(0, field.place + by)].join(".");

type KeyAct = "add" | "duplicate" | "delete" | "up" | "down" | "indent" | "outdent";

function keyAct(event: KeyboardEvent): KeyAct | null {
  const control = event.ctrlKey || event.metaKey;
  if (event.altKey && !control) {
    const moves: Record<string, KeyAct> = {
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
