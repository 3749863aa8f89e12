import { useState } from "react";
import { Button } from "~/components/button";
import { TextArea } from "~/components/field";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { Segmented } from "~/components/segmented";
import { useCommands } from "~/keys/use-commands";
import type { BankId, ModelId, SchemaTry } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { type Place, strings } from "./schema-strings";
import { StructuredValue } from "./structured-value";
import type { SchemaText } from "./use-schema-text";

/** Tries that are kept for comparing. */
const keptTries = 5;

/** What the schema as it stands makes of a text: each value beside the sentence it came from. */
export function TrySide({
  schema,
  place,
  document,
  model,
}: {
  schema: SchemaText;
  place: Place;
  document: string;
  /** Whose document it is: one that rests on private memories is read on this computer alone. */
  model: [BankId, ModelId] | null;
}) {
  const words = strings.places[place];
  const [source, setSource] = useState<"document" | "own">(
    document.trim() === "" ? "own" : "document",
  );
  const [own, setOwn] = useState("");
  const [tries, setTries] = useState<{ number: number; text: string; result: SchemaTry }[]>([]);
  const [shown, setShown] = useState<number | null>(null);
  const attempt = useWrite("trySchema");
  const text = source === "document" ? document : own;
  const usable = schema.fault === null && schema.problems.length === 0;
  const unavailable = !usable ? strings.cannotSave : text.trim() === "" ? words.none : undefined;
  const run = () => {
    if (unavailable || attempt.isPending) return;
    attempt.mutate([source === "document" ? model : null, JSON.parse(schema.text), text], {
      onSuccess: (result) => {
        const number = (tries[0]?.number ?? 0) + 1;
        setTries([{ number, text, result }, ...tries].slice(0, keptTries));
        setShown(number);
      },
    });
  };
  useCommands({ "schema.try": unavailable ?? run });
  const current = tries.find(({ number }) => number === shown);

  return (
    <>
      <div className="grid shrink-0 gap-2 border-line border-b px-4 py-3">
        <p className="type-small text-muted">{strings.tryAbout}</p>
        <Segmented
          label={strings.tryText}
          value={source}
          onValue={setSource}
          segments={[
            { value: "document", label: words.document },
            { value: "own", label: strings.tryOwn },
          ]}
        />
        {source === "own" && (
          <TextArea
            label={strings.tryText}
            rows={5}
            value={own}
            onChange={(event) => setOwn(event.target.value)}
          />
        )}
        <Button
          command="schema.try"
          className="justify-self-start"
          unavailable={unavailable}
          disabled={attempt.isPending}
          onClick={run}
        >
          {attempt.isPending
            ? strings.tryRunning
            : source === "own"
              ? strings.tryOwnAct
              : words.act}
        </Button>
      </div>
      <ScrollText label={strings.results} className="px-4 py-3">
        {attempt.error && <ReportCard report={attempt.error} onRetry={run} />}
        {tries.length > 1 && (
          <label className="type-small mb-3 grid gap-1 text-muted">
            {strings.tries}
            <select
              value={shown ?? ""}
              onChange={(event) => setShown(Number(event.target.value))}
              className="h-6 rounded-small border border-control bg-raised px-1 text-text"
            >
              {tries.map(({ number, result }) => (
                <option key={number} value={number}>
                  {strings.tryAt(number, result.tokens, result.duration_ms)}
                </option>
              ))}
            </select>
          </label>
        )}
        {current && current.result.value === null && (
          <p className="text-muted">{strings.tryNone}</p>
        )}
        {current && current.result.value !== null && (
          <StructuredValue
            value={current.result.value}
            text={current.text}
            expected={schema.fields.filter(({ level }) => level === 0).map(({ name }) => name)}
          />
        )}
      </ScrollText>
    </>
  );
}
