import { useState } from "react";
import { StructuredValue } from "~/components/schema/structured-value";
import { Segmented } from "~/components/segmented";
import { StateMark } from "~/components/state";
import type { ReflectRunView } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.answer;

/** The fields that were asked for, each beside the sentence that says it, or as JSON. */
export function Structured({ view }: { view: ReflectRunView }) {
  const [shape, setShape] = useState<"fields" | "json">("fields");
  const { structured_output: value, structured_output_error: error, request } = view;
  if (error) {
    return (
      <p className="mt-4 flex max-w-(--measure) gap-2 text-muted">
        <StateMark mark="triangle" tone="warn" className="mt-0.5" />
        <span>
          {words.noFields} {error.message}
        </span>
      </p>
    );
  }
  if (!request.response_schema || view.status !== "finished") return null;
  return (
    <section className="mt-5 max-w-(--measure)" aria-label={words.structured}>
      <div className="flex items-center gap-3 pb-2">
        <h2 className="type-label text-faint">{words.structured}</h2>
        {value !== null && (
          <span className="ml-auto">
            <Segmented
              label={words.shape}
              value={shape}
              onValue={setShape}
              segments={[
                { value: "fields", label: words.shapes.fields },
                { value: "json", label: words.shapes.json },
              ]}
            />
          </span>
        )}
      </div>
      {value === null ? (
        <p className="text-muted">{words.nothingMatches}</p>
      ) : shape === "json" ? (
        <pre className="type-code scroll-quiet select-text overflow-x-auto rounded-md bg-sunken p-3">
          {JSON.stringify(value, null, 2)}
        </pre>
      ) : (
        <StructuredValue
          value={value}
          text={view.text ?? ""}
          expected={namesOf(request.response_schema)}
        />
      )}
    </section>
  );
}

/** The names of a schema at its top. */
export function namesOf(schema: unknown): string[] {
  const properties = (schema as { properties?: unknown } | null)?.properties;
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}
