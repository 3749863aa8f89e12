import { CircleAlert, Quote } from "lucide-react";
import { Icon } from "~/components/icon";
import type { JsonValue } from "~/platform/bindings";
import { strings } from "./schema-strings";

/** A structured value name by name, each plain value beside the sentence of the text that says it. */
export function StructuredValue({
  value,
  text,
  expected = [],
}: {
  value: JsonValue;
  /** The text it was read from. */
  text: string;
  /** Names that the schema has at the top; those without a value are told. */
  expected?: string[];
}) {
  const sentences = sentencesOf(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return <Plain value={value} sentences={sentences} />;
  }
  const missing = expected.filter((name) => value[name] === undefined || value[name] === null);
  return (
    <div className="grid gap-3">
      <Members value={value} sentences={sentences} />
      {missing.map((name) => (
        <p key={name} className="type-small flex items-center gap-1.5 text-warn">
          <Icon of={CircleAlert} small />
          <code className="[font:var(--type-code)]">{name}</code>
          {strings.missing}
        </p>
      ))}
    </div>
  );
}

function Members({
  value,
  sentences,
}: {
  value: { [key: string]: JsonValue };
  sentences: string[];
}) {
  return (
    <dl className="grid gap-2.5">
      {Object.entries(value)
        .filter(([, own]) => own !== null)
        .map(([name, own]) => (
          <div key={name}>
            <dt className="type-small font-medium text-muted">{name.replaceAll("_", " ")}</dt>
            <dd>
              <Plain value={own} sentences={sentences} />
            </dd>
          </div>
        ))}
    </dl>
  );
}

function Plain({ value, sentences }: { value: JsonValue; sentences: string[] }) {
  if (Array.isArray(value)) {
    if (value.length === 0) return <p className="text-faint">{strings.nothing}</p>;
    return (
      <ul className="grid gap-1.5 border-line border-l pl-3">
        {keyed(value).map(({ key, item }) => (
          <li key={key}>
            <Plain value={item} sentences={sentences} />
          </li>
        ))}
      </ul>
    );
  }
  if (typeof value === "object" && value !== null) {
    return (
      <div className="border-line border-l pl-3">
        <Members value={value} sentences={sentences} />
      </div>
    );
  }
  const said = String(value);
  const sentence = typeof value === "boolean" ? undefined : foundIn(sentences, said);
  return (
    <>
      <p className="select-text">{said}</p>
      {sentence && sentence !== said && (
        <p className="type-small flex gap-1.5 text-faint">
          <Icon of={Quote} small className="mt-0.5" />
          <span>
            <span className="sr-only">{strings.found}: </span>
            {sentence}
          </span>
        </p>
      )}
    </>
  );
}

/** Equal items are told apart by how often they came before. */
function keyed(items: JsonValue[]): { key: string; item: JsonValue }[] {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const text = JSON.stringify(item);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return { key: `${text} ${times}`, item };
  });
}

const sentencesOf = (text: string) =>
  text
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.replace(/^(?:[-*+]|#{1,6}|\d+[.)])\s+/, "").trim())
    .filter((sentence) => sentence !== "");

/** The first sentence that says these words, whatever their case. */
function foundIn(sentences: string[], words: string): string | undefined {
  const wanted = words.toLowerCase().trim();
  if (wanted.length < 2) return undefined;
  return sentences.find((sentence) => sentence.toLowerCase().includes(wanted));
}
