import { useEffect, useRef, useState } from "react";
import { useAnnounce } from "~/components/announce";
import type { Heard } from "~/components/trace/spans";
import { usePlatform } from "~/platform";
import type { BankId, ReflectInput, ReflectRunView, Report, RunId } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./strings";

export interface Asking {
  /** The question that is being answered; null when none is. */
  input: ReflectInput | null;
  /** What was heard of it so far. */
  heard: Heard[];
  /** The answer as far as it has come. */
  text: string;
  /** Seconds since it was asked. */
  seconds: number;
  stopping: boolean;
  /** The last answer that was asked for here. */
  answered: ReflectRunView | undefined;
  report: Report | null;
  /** Why it could not be stopped. */
  stopReport: Report | null;
  ask: (input: ReflectInput) => void;
  /** Asks the question of an ended run once more, from what that one found. */
  goOn: (from: ReflectRunView) => void;
  stop: () => void;
  forget: () => void;
}

/** Asks, listens to how it goes, and can stop it. `onRun` is told the run when it has ended. */
export function useAsk(bank: BankId, onRun: (run: RunId) => void): Asking {
  const platform = usePlatform();
  const call = useWrite("ask");
  const further = useWrite("retryReflect");
  const [from, setFrom] = useState<ReflectRunView | null>(null);
  const cancel = useWrite("cancelReflect");
  const [heard, setHeard] = useState<Heard[]>([]);
  const [stopping, setStopping] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const newest = useRef(0);
  const run = useRef<RunId | null>(null);
  const wanted = useRef(false);
  const announce = useAnnounce();
  const last = from ? further : call;
  const busy = last.isPending;

  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => setSeconds((before) => before + 1), 1000);
    return () => clearInterval(timer);
  }, [busy]);

  const text = heard.map(({ event }) => (event.type === "answer_delta" ? event.text : "")).join("");
  useSpoken(busy ? text : "");

  const halt = (id: RunId) => cancel.mutate([id], { onError: () => setStopping(false) });
  const listen = () => {
    newest.current += 1;
    const own = newest.current;
    const begun = performance.now();
    run.current = null;
    wanted.current = false;
    setHeard([]);
    setSeconds(0);
    setStopping(false);
    cancel.reset();
    const channel = platform.channel((event) => {
      if (own !== newest.current) return;
      if (event.type === "run_started") {
        run.current = event.run_id;
        if (wanted.current) halt(event.run_id);
      }
      setHeard((before) => [...before, { at: performance.now() - begun, event }]);
    });
    const ends = {
      onSuccess: (view: ReflectRunView) => {
        if (own !== newest.current) return;
        announce(view.status === "cancelled" ? strings.live.stopped : strings.live.done);
        onRun(view.id);
      },
      // What ended without an answer has a record too, with its steps as far as they came.
      onError: ({ reason, run: record }: Report) => {
        if (own !== newest.current) return;
        if (reason === "cancelled") announce(strings.live.stopped);
        if (record) onRun(record.id);
      },
    };
    return { channel, ends };
  };
  const ask = (input: ReflectInput) => {
    const { channel, ends } = listen();
    setFrom(null);
    call.mutate([bank, input, channel], ends);
  };
  const goOn = (failed: ReflectRunView) => {
    const { channel, ends } = listen();
    setFrom(failed);
    further.mutate([bank, failed.id, channel], ends);
  };

  return {
    input: busy ? (from?.request ?? call.variables?.[1] ?? null) : null,
    heard,
    text,
    seconds,
    stopping,
    answered: last.data,
    report: last.error,
    stopReport: cancel.error,
    ask,
    goOn,
    stop: () => {
      wanted.current = true;
      setStopping(true);
      if (run.current) halt(run.current);
    },
    forget: () => {
      setFrom(null);
      call.reset();
      further.reset();
    },
  };
}

/** Tells readers each sentence of a growing text once it is whole. */
function useSpoken(text: string): void {
  const announce = useAnnounce();
  const said = useRef(0);
  useEffect(() => {
    if (text === "") said.current = 0;
    const whole = /^[\s\S]*[.!?…。！？](?=\s|$)/.exec(text.slice(said.current))?.[0];
    if (!whole) return;
    said.current += whole.length;
    announce(whole.trim());
  }, [text, announce]);
}
