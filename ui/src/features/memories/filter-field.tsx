import { Search, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Icon } from "~/components/icon";
import { cn } from "~/lib/cn";
import { readTokens, type Token, tokenNames, writeAll, writeToken } from "./filter";
import { strings } from "./strings";

/** Words and tokens in one field. A token becomes a chip once a blank or Enter follows it. */
export function FilterField({
  id,
  value,
  onValue,
  suggest,
  onDown,
}: {
  id: string;
  value: string;
  onValue: (value: string) => void;
  /** Known values of a token, for example all tags. */
  suggest: (name: Token["name"]) => readonly string[];
  /** Arrow down, where no suggestions are open: on to the list. */
  onDown: () => void;
}) {
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const split = readTokens(value, true);
  const [typed, setTyped] = useState(split.words);
  const [chosen, setChosen] = useState(-1);
  const [open, setOpen] = useState(false);
  const { tokens } = split;
  // The address can change without typing: back, forward, "Clear filters".
  useEffect(() => {
    setTyped((before) =>
      readTokens(before, true).words.trim() === split.words.trim() ? before : split.words,
    );
  }, [split.words]);

  const commit = (text: string, whole: boolean, kept: readonly Token[] = tokens) => {
    const read = readTokens(text, whole);
    setTyped(read.words);
    setChosen(-1);
    // One that is still being typed is no filter yet.
    onValue(writeAll([...kept, ...read.tokens], readTokens(read.words, true).words));
  };
  const options = open ? suggestions(typed, suggest) : [];
  const take = (option: string) => {
    const start = typed.slice(0, typed.length - lastWord(typed).length);
    if (option.endsWith(":")) setTyped(start + option);
    else commit(`${start}${option} `, true);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const { selectionStart, selectionEnd } = event.currentTarget;
    const atStart = selectionStart === 0 && selectionEnd === 0;
    const last = tokens.at(-1);
    if (event.key === "ArrowDown") {
      if (options.length > 0) setChosen((before) => Math.min(before + 1, options.length - 1));
      else onDown();
    } else if (event.key === "ArrowUp" && options.length > 0) {
      setChosen((before) => Math.max(before - 1, -1));
    } else if (event.key === "Enter") {
      const option = options[chosen];
      if (option === undefined) commit(typed, true);
      else take(option);
    } else if (event.key === "Backspace" && atStart && last) {
      setTyped(`${writeToken(last)}${typed}`);
      onValue(writeAll(tokens.slice(0, -1), split.words));
    } else if (event.key === "Escape" && (options.length > 0 || value !== "")) {
      if (options.length > 0) setOpen(false);
      else {
        setTyped("");
        onValue("");
      }
    } else return;
    event.preventDefault();
  };

  return (
    <div className="relative">
      <div className="flex min-h-(--control) flex-wrap items-center gap-1 rounded-md border border-control bg-raised px-2 py-0.5 has-[input:focus-visible]:outline-2 has-[input:focus-visible]:-outline-offset-1 has-[input:focus-visible]:outline-focus">
        <Icon of={Search} className="mr-1 text-muted" />
        {tokens.map((token) => {
          const others = tokens.filter((other) => other !== token);
          return (
            <Chip
              key={writeToken(token)}
              token={token}
              onEdit={() => {
                setTyped(`${typed.trim() === "" ? "" : `${typed.trim()} `}${writeToken(token)}`);
                onValue(writeAll(others, split.words));
                input.current?.focus();
              }}
              onRemove={() => onValue(writeAll(others, split.words))}
            />
          );
        })}
        <input
          ref={input}
          id={id}
          role="combobox"
          aria-label={strings.filterLabel}
          aria-expanded={options.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={chosen >= 0 ? `${list}-${chosen}` : undefined}
          placeholder={tokens.length === 0 ? strings.filter : undefined}
          value={typed}
          onChange={({ target }) => {
            setOpen(true);
            commit(target.value, false);
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
          className="h-6 min-w-32 flex-1 bg-transparent outline-none!"
        />
      </div>
      <div
        id={list}
        role="listbox"
        aria-label={strings.suggestions}
        hidden={options.length === 0}
        className="absolute top-full left-0 z-20 mt-1 max-h-64 min-w-56 overflow-auto rounded-md bg-raised p-1 shadow-float"
      >
        {options.map((option, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field, which holds the focus
          // biome-ignore lint/a11y/useFocusableInteractive: told by aria-activedescendant
          <div
            key={option}
            id={`${list}-${place}`}
            role="option"
            aria-selected={place === chosen}
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(option)}
            className={cn(
              "flex h-(--row) items-center truncate rounded-small px-2",
              place === chosen ? "bg-selected" : "hover:bg-hover",
            )}
          >
            {option}
          </div>
        ))}
      </div>
    </div>
  );
}

const lastWord = (text: string): string => /(?:[a-z]+:"[^"]*|\S*)$/i.exec(text)?.[0] ?? "";

/** Names of tokens while one is begun, then its known values. */
function suggestions(typed: string, suggest: (name: Token["name"]) => readonly string[]): string[] {
  const word = lastWord(typed);
  const at = word.indexOf(":");
  if (at < 0) {
    if (word.length < 2) return [];
    return tokenNames
      .filter((name) => name.startsWith(word.toLowerCase()))
      .map((name) => `${name}:`);
  }
  const name = tokenNames.find((each) => each === word.slice(0, at).toLowerCase());
  if (!name) return [];
  const begun = word
    .slice(at + 1)
    .replace(/^"/, "")
    .toLowerCase();
  return suggest(name)
    .filter((value) => value.toLowerCase().includes(begun))
    .slice(0, 12)
    .map((value) => writeToken({ name, value }));
}

function Chip({
  token: { name, value },
  onEdit,
  onRemove,
}: {
  token: Token;
  onEdit: () => void;
  onRemove: () => void;
}) {
  return (
    <span className="type-small inline-flex h-6 max-w-64 items-center rounded-small bg-selected">
      <button
        type="button"
        aria-label={strings.token(name, value)}
        onClick={onEdit}
        className="flex h-6 min-w-0 items-center gap-1 rounded-small pl-1.5"
      >
        <span className="text-muted">{name}</span>
        <span className="truncate font-semibold">{value}</span>
      </button>
      <button
        type="button"
        aria-label={strings.removeToken(name, value)}
        onClick={onRemove}
        className="grid size-6 place-items-center rounded-small text-muted hover:text-text"
      >
        <Icon of={X} small />
      </button>
    </span>
  );
}
