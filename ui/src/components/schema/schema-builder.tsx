import { ArrowLeft, Redo2, Trash2, Undo2 } from "lucide-react";
import { useState } from "react";
import { Button, IconButton } from "~/components/button";
import { Pane, PaneEdge, PaneHead, Panes } from "~/components/panes";
import { Segmented } from "~/components/segmented";
import { useCommands } from "~/keys/use-commands";
import { useFolded, useNarrow } from "~/lib/use-narrow";
import type { BankId, ModelId } from "~/platform/bindings";
import { CodeSide } from "./code-side";
import { FieldTree } from "./field-tree";
import { SchemaStart } from "./schema-start";
import { type Place, strings } from "./schema-strings";
import { TrySide } from "./try-side";
import { useSchemaText } from "./use-schema-text";

type Part = "fields" | "code" | "try";

/** Fields and code of one schema in step, and what comes of it on a real text. */
export function SchemaBuilder({
  name,
  place = "model",
  begin,
  document,
  model,
  onText,
  onBack,
}: {
  /** What the fields are of. */
  name: string;
  place?: Place;
  /** The text to begin with; empty for none. */
  begin: string;
  /** The present document or answer, to try on. */
  document: string;
  /** Whose it is; null before the model is made. */
  model: [BankId, ModelId] | null;
  onText: (text: string) => void;
  onBack: () => void;
}) {
  const schema = useSchemaText(begin, onText);
  const folded = useFolded();
  const narrow = useNarrow();
  const [part, setPart] = useState<Part>("fields");
  const [chosen, setChosen] = useState<number | null>(null);
  const parts: Part[] = folded
    ? [part]
    : narrow
      ? part === "try"
        ? ["fields", "try"]
        : ["fields", "code"]
      : ["fields", "code", "try"];
  const empty = schema.text.trim() === "";
  useCommands({
    "schema.side": () => setPart(part === "code" ? "fields" : "code"),
    "schema.back": onBack,
  });

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: undo of the fields inside, heard on its way up
    <div
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      onKeyDown={(event) => {
        if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
        if (event.defaultPrevented) return;
        const act = event.shiftKey ? schema.redo : schema.undo;
        event.preventDefault();
        event.stopPropagation();
        act?.();
      }}
    >
      <PaneHead title={strings.title} about={strings.of(name)}>
        {folded || narrow ? (
          <Segmented
            label={strings.parts}
            value={part}
            onValue={setPart}
            segments={[
              { value: "fields", label: strings.fields },
              { value: "code", label: strings.code },
              { value: "try", label: strings.try },
            ]}
          />
        ) : null}
        <IconButton
          small
          icon={Undo2}
          name={strings.undo}
          disabled={!schema.undo}
          onClick={() => schema.undo?.()}
        />
        <IconButton
          small
          icon={Redo2}
          name={strings.redo}
          disabled={!schema.redo}
          onClick={() => schema.redo?.()}
        />
        <IconButton
          small
          icon={Trash2}
          name={strings.remove}
          disabled={empty}
          onClick={() => schema.set("")}
        />
        <Button size="small" icon={ArrowLeft} onClick={onBack}>
          {strings.places[place].back}
        </Button>
      </PaneHead>
      {empty ? (
        <SchemaStart place={place} onText={schema.set} />
      ) : (
        <Panes id={`schema-${parts.join("-")}`}>
          {parts.map((each, nth) => (
            <PartPane
              key={each}
              part={each}
              first={nth === 0}
              width={each === "fields" ? undefined : each === "code" ? "32%" : "28%"}
            >
              {each === "fields" && (
                <FieldTree schema={schema} chosen={chosen} onChosen={setChosen} />
              )}
              {each === "code" && <CodeSide schema={schema} chosen={chosen} onChosen={setChosen} />}
              {each === "try" && (
                <TrySide schema={schema} place={place} document={document} model={model} />
              )}
            </PartPane>
          ))}
        </Panes>
      )}
    </div>
  );
}

function PartPane({
  part,
  first,
  width,
  children,
}: {
  part: Part;
  first: boolean;
  width: string | undefined;
  children: React.ReactNode;
}) {
  return (
    <>
      {!first && <PaneEdge label={strings[part]} />}
      <Pane id={part} label={strings[part]} min="240px" {...(width ? { width } : {})}>
        {children}
      </Pane>
    </>
  );
}
