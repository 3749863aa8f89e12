import { lazy, Suspense } from "react";
import { Button } from "~/components/button";
import { CopyButton } from "~/components/copy-button";
import { SkeletonRows } from "~/components/skeleton";
import { StateMark } from "~/components/state";
import { nodeAt, placeOf, tidied } from "./json-text";
import { strings } from "./schema-strings";
import type { SchemaText } from "./use-schema-text";

/** Fetched when it is needed first, as every editor is. */
const CodeEditor = lazy(async () => {
  const { CodeEditor } = await import("./code-editor");
  return { default: CodeEditor };
});

/** The schema as it is stored, with what is wrong in it by line. */
export function CodeSide({
  schema,
  chosen,
  onChosen,
}: {
  schema: SchemaText;
  /** Key of the row at hand. */
  chosen: number | null;
  onChosen: (key: number) => void;
}) {
  const { fault, problems, good } = schema;
  const field = schema.fields.find(({ key }) => key === chosen);
  const node = good && field ? nodeAt(good.root, field.path) : undefined;
  const line = fault ? fault.line : good && node ? placeOf(good.text, node.from).line : null;
  return (
    <>
      <Suspense fallback={<SkeletonRows />}>
        <CodeEditor
          label={strings.codeLabel}
          value={schema.text}
          line={line}
          broken={fault !== null}
          onChange={schema.set}
        />
      </Suspense>
      <div
        role="status"
        className="type-small grid shrink-0 gap-1 border-line border-t bg-sunken px-3 py-2"
      >
        {fault && (
          <>
            <p className="flex gap-1.5 text-bad">
              <StateMark mark="octagon" tone="bad" className="size-3.5" />
              {strings.fault(fault.line, fault.column, fault.message)}
            </p>
            {good && (
              <Button
                size="small"
                className="justify-self-start"
                onClick={() => schema.set(good.text)}
              >
                {strings.restore}
              </Button>
            )}
          </>
        )}
        {!fault && problems.length === 0 && (
          <p className="flex gap-1.5 text-muted">
            <StateMark mark="tick" tone="ok" className="size-3.5" />
            {strings.sound}
          </p>
        )}
        {!fault && (
          <p className="-ml-2 flex gap-1">
            <Button
              kind="plain"
              size="small"
              onClick={() => good && schema.set(tidied(good.text, good.root))}
            >
              {strings.tidy}
            </Button>
            <CopyButton kind="plain" size="small" text={() => schema.text}>
              {strings.copyCode}
            </CopyButton>
          </p>
        )}
        {problems.length > 0 && (
          <>
            <p className="text-muted">{strings.problems(problems.length)}</p>
            <ul className="grid max-h-32 gap-1 overflow-auto">
              {problems.map(({ pointer, code, message }) => (
                <li key={`${pointer} ${code}`} className="flex gap-1.5">
                  <StateMark mark="octagon" tone="bad" className="mt-px size-3.5" />
                  <span>
                    {message}{" "}
                    <span className="text-faint">
                      {pointer || "/"}
                      {lineOf(schema, pointer)}
                    </span>{" "}
                    <ToField schema={schema} pointer={pointer} onChosen={onChosen} />
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </>
  );
}

function lineOf(schema: SchemaText, pointer: string): string {
  const place = schema.placeOfPointer(pointer);
  return place ? `, ${strings.problemAt(place.line)}` : "";
}

/** Leads to the row that a problem is about, where one is drawn. */
function ToField({
  schema,
  pointer,
  onChosen,
}: {
  schema: SchemaText;
  pointer: string;
  onChosen: (key: number) => void;
}) {
  const steps = pointer.split("/").slice(1);
  const above = schema.fields.filter(({ path }) => path.every((step, at) => step === steps[at]));
  const field = above.at(-1);
  if (!field) return null;
  return (
    <button
      type="button"
      className="text-accent-text underline underline-offset-2"
      onClick={() => {
        onChosen(field.key);
        document.querySelector<HTMLElement>(`[data-field="${field.id}"] input`)?.focus();
      }}
    >
      {strings.showProblem}
    </button>
  );
}
