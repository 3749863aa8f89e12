import { Square } from "lucide-react";
import { type KeyboardEvent, type RefObject, useRef } from "react";
import { Button } from "~/components/button";
import { strings } from "./strings";

/** The question: grows with its text; arrow up at its start brings earlier questions. */
export function QuestionBox({
  box,
  value,
  onValue,
  earlier,
  again,
  unavailable,
  busy,
  stopping,
  onAsk,
  onStop,
  refused,
}: {
  box: RefObject<HTMLTextAreaElement | null>;
  value: string;
  onValue: (value: string) => void;
  /** Earlier questions, newest first. */
  earlier: readonly string[];
  again: boolean;
  /** Why it cannot be asked now. */
  unavailable?: string | undefined;
  busy: boolean;
  stopping: boolean;
  onAsk: () => void;
  onStop: () => void;
  /** Why it cannot be asked now, whatever stands in the box. */
  refused?: string | undefined;
}) {
  const place = useRef(-1);
  const draft = useRef("");
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const { selectionStart, selectionEnd } = event.currentTarget;
    const browsing = place.current >= 0;
    const atStart = selectionStart === 0 && selectionEnd === 0;
    const plain = !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey;
    if (!plain) return;
    if (event.key === "Enter") {
      event.preventDefault();
      if (!busy) onAsk();
      return;
    }
    let next = place.current;
    if (event.key === "ArrowUp" && (atStart || browsing)) next += 1;
    else if (event.key === "ArrowDown" && browsing) next -= 1;
    else return;
    if (next >= earlier.length) return;
    event.preventDefault();
    if (!browsing) draft.current = value;
    place.current = next;
    onValue(next < 0 ? draft.current : (earlier[next] ?? ""));
  };
  return (
    <div className="flex items-end gap-2 rounded-md border border-control bg-raised p-1.5 pl-3 has-[textarea:focus-visible]:outline-2 has-[textarea:focus-visible]:-outline-offset-1 has-[textarea:focus-visible]:outline-focus">
      <div className="type-doc scroll-quiet grid max-h-40 min-w-0 flex-1 py-0.5">
        <div
          aria-hidden="true"
          className="invisible col-start-1 row-start-1 whitespace-pre-wrap break-words"
        >
          {`${value} `}
        </div>
        <textarea
          ref={box}
          rows={1}
          spellCheck
          aria-label={strings.question}
          placeholder={strings.placeholder}
          value={value}
          onChange={(event) => {
            place.current = -1;
            onValue(event.target.value);
          }}
          onKeyDown={onKeyDown}
          className="col-start-1 row-start-1 w-full resize-none overflow-hidden bg-transparent outline-none!"
        />
      </div>
      {busy ? (
        <Button
          icon={Square}
          command="reflect.stop"
          onClick={onStop}
          unavailable={stopping ? strings.live.stopping : undefined}
        >
          {strings.stop}
        </Button>
      ) : (
        <Button
          kind="primary"
          command="reflect.ask"
          onClick={onAsk}
          unavailable={refused ?? unavailable ?? (value.trim() === "" ? strings.empty : undefined)}
        >
          {again ? strings.askAgain : strings.ask}
        </Button>
      )}
    </div>
  );
}
