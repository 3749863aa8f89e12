import { Stack } from "~/components/stack";
import { StateMark, StateWord } from "~/components/state";
import type { ImportedPages } from "~/platform/bindings";
import { strings } from "./strings";

const words = strings.import;

/** What became of a file. */
interface Fate {
  file: string;
  fate: "left" | "replaced" | "made";
  /** Why it was left out, or what it is called now. */
  note: string;
}

/** What an import did with each file. What was left out comes first. */
export function ImportResult({ done: { imported, skipped } }: { done: ImportedPages }) {
  const fates: Fate[] = [
    ...skipped.map(({ file, reason }): Fate => ({ file, fate: "left", note: reason })),
    ...imported.map(
      ({ file, name, replaced }): Fate => ({
        file,
        fate: replaced ? "replaced" : "made",
        note: words.called(name),
      }),
    ),
  ];
  const hasModels = imported.some(({ page_id }) => page_id === null);
  const nothing = imported.length === 0;
  return (
    <>
      <p role="status" className="type-strong">
        <StateWord mark={nothing ? "triangle" : "tick"} tone={nothing ? "warn" : "ok"}>
          {words.result(imported, skipped.length)}
        </StateWord>
      </p>
      {fates.length === 0 && <p className="text-muted">{words.noneFound}</p>}
      {hasModels && <p className="text-muted">{words.inTheList}</p>}
      {skipped.length > 0 && <p className="text-muted">{words.leftNext}</p>}
      {fates.length > 0 && (
        <div className="flex max-h-64 rounded-md border border-line">
          <Stack
            label={words.files}
            items={fates}
            keyOf={({ file, fate, note }) => `${fate} ${file} ${note}`}
            current={-1}
            moved={0}
            height={3.25}
          >
            {({ file, fate, note }) => (
              <div className="grid grid-cols-[1rem_minmax(0,1fr)_auto] items-center gap-x-2 px-3 py-1.5">
                <StateMark
                  mark={fate === "left" ? "triangle" : "tick"}
                  tone={fate === "left" ? "warn" : "ok"}
                />
                <span className="truncate" title={file}>
                  {file}
                </span>
                <span className="type-small text-muted">{words.fates[fate]}</span>
                <span className="type-small col-span-2 col-start-2 break-words text-muted">
                  {note}
                </span>
              </div>
            )}
          </Stack>
        </div>
      )}
    </>
  );
}
