import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Button } from "~/components/button";
import { StateWord } from "~/components/state";
import type { JsonValue, Report, SettingInfo } from "~/platform/bindings";
import { toReport } from "~/platform/errors";
import { type SettingWords, strings } from "./strings";

const texts = strings.work;

const box =
  "rounded-md border border-control bg-raised px-2 text-text aria-invalid:border-bad focus-visible:outline-offset-[-1px]";

/** One setting: what it is, where it holds, its value, and the way back to the usual one. */
export function Setting({
  info,
  words,
  scope,
  value,
  isStated,
  onSet,
}: {
  info: SettingInfo;
  words: SettingWords;
  /** Where it holds, in words. */
  scope: string;
  /** What is in force. */
  value: JsonValue;
  /** Whether it is stated here; else it follows the program. */
  isStated: boolean;
  /** Null takes it back. */
  onSet: (value: JsonValue) => Promise<unknown>;
}) {
  const id = useId();
  const [report, setReport] = useState<Report | null>(null);
  const [saved, setSaved] = useState(false);
  const set = (next: JsonValue) => {
    setReport(null);
    setSaved(false);
    onSet(next).then(
      () => setSaved(true),
      (refused: unknown) => setReport(toReport(refused)),
    );
  };
  const control = {
    id,
    "aria-describedby": `${id}-about`,
    "aria-invalid": report ? (true as const) : undefined,
  };
  const long = info.kind === "text";
  return (
    <div className="flex flex-wrap items-start gap-x-4 gap-y-2 px-4 py-3">
      <div className="min-w-56 flex-1">
        <label htmlFor={id}>{words.title}</label>
        <p id={`${id}-about`} className="type-small text-pretty text-muted">
          {words.about}
        </p>
        <p className="type-small mt-0.5 flex min-h-6 flex-wrap items-center gap-x-1.5 text-faint">
          {texts.usual(shown(info, words, info.default))} · {scope}
          {isStated && (
            <Button
              kind="plain"
              size="small"
              aria-label={texts.resetOf(words.title)}
              onClick={() => {
                set(null);
                // This button goes with the value it takes back.
                document.getElementById(id)?.focus();
              }}
            >
              {texts.reset}
            </Button>
          )}
          <span role="status">
            {saved && (
              <StateWord mark="tick" tone="ok">
                {texts.saved}
              </StateWord>
            )}
          </span>
        </p>
        {report && (
          <p role="alert" className="type-small mt-1 text-bad">
            {report.fields[0]?.message ?? report.message}
          </p>
        )}
      </div>
      <div className={long ? "grid w-full gap-2" : "flex items-center gap-2"}>
        {info.kind === "flag" ? (
          <input
            {...control}
            type="checkbox"
            checked={value === true}
            onChange={({ target }) => set(target.checked)}
            className="size-4 accent-accent"
          />
        ) : info.kind === "word" ? (
          <select
            {...control}
            value={typeof value === "string" ? value : ""}
            onChange={({ target }) => set(target.value)}
            className={`${box} h-(--control) max-w-64`}
          >
            {value === null && <option value="">{texts.asUsual}</option>}
            {info.words.map((word) => (
              <option key={word} value={word}>
                {words.words?.[word] ?? word}
              </option>
            ))}
          </select>
        ) : long ? (
          <LongText control={control} value={typeof value === "string" ? value : ""} onSet={set} />
        ) : (
          <NumberBox control={control} words={words} value={value} onSet={set} />
        )}
      </div>
    </div>
  );
}

/** A value as it is told in a sentence. */
function shown(info: SettingInfo, words: SettingWords, value: JsonValue): string {
  if (value === null || value === "") return words.none ?? texts.none;
  if (typeof value === "boolean") return value ? texts.on : texts.off;
  if (typeof value === "number") {
    const number = value / (words.per ?? 1);
    return words.unit ? `${number.toLocaleString("en")} ${words.unit}` : `${number}`;
  }
  const word = String(value);
  return info.kind === "word" ? (words.words?.[word] ?? word).toLowerCase() : word;
}

interface Control {
  id: string;
  "aria-describedby": string;
  "aria-invalid": true | undefined;
}

/**
 * What is typed into a field. It is kept when the field is left, in whatever way, and gives way to
 * what is in force once that has changed.
 */
function useTyped(before: string, keep: (text: string) => void) {
  const [state, setState] = useState({ text: before, over: before });
  const text = state.over === before ? state.text : before;
  const asked = useRef({ text: before, over: before });
  const leave = () => {
    const now = text.trim();
    if (now === before.trim()) return;
    // Enter and leaving the field are one wish.
    if (asked.current.text === now && asked.current.over === before) return;
    asked.current = { text: now, over: before };
    keep(now);
  };
  const last = useRef(leave);
  useEffect(() => {
    last.current = leave;
  });
  // Going back in the history takes the field away without leaving it first.
  useEffect(() => () => last.current(), []);
  return { text, set: (next: string) => setState({ text: next, over: before }), leave };
}

/** A number, kept when the field is left or Enter is pressed. Empty takes it back. */
function NumberBox({
  control,
  words,
  value,
  onSet,
}: {
  control: Control;
  words: SettingWords;
  value: JsonValue;
  onSet: (value: JsonValue) => void;
}) {
  const per = words.per ?? 1;
  const typed = useTyped(typeof value === "number" ? `${value / per}` : "", (text) => {
    const number = Number(text.replace("−", "-"));
    if (text === "") onSet(null);
    // What is no number is refused by the program, in its own words.
    else onSet(Number.isFinite(number) ? Math.round(number * per) : text);
  });
  return (
    <>
      <input
        {...control}
        inputMode="numeric"
        value={typed.text}
        placeholder={texts.none}
        onChange={({ target }) => typed.set(target.value)}
        onBlur={typed.leave}
        onKeyDown={(event) => {
          if (event.key === "Enter") typed.leave();
        }}
        className={`${box} h-(--control) w-24 text-right`}
      />
      {words.unit && <span className="text-muted">{words.unit}</span>}
    </>
  );
}

/** A text of several lines, kept when the field is left or Ctrl Enter is pressed. */
function LongText({
  control,
  value,
  onSet,
}: {
  control: Control;
  value: string;
  onSet: (value: JsonValue) => void;
}) {
  const typed = useTyped(value, (text) => onSet(text === "" ? null : text));
  return (
    <textarea
      {...control}
      rows={3}
      value={typed.text}
      onChange={({ target }) => typed.set(target.value)}
      onBlur={typed.leave}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) typed.leave();
      }}
      className={`${box} w-full resize-y py-1.5`}
    />
  );
}
