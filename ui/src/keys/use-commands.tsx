/**
 * Which commands can run now, and the one listener that calls them. A screen says with `useCommands`
 * what its commands do while it is on show; of two that bind one key, the one that came last answers.
 */
import {
  createContext,
  type ReactNode,
  use,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import { isSingle, isTyping, strokeOf } from "./match";
import { COMMANDS, type CommandId } from "./registry";

/** What a command does; a string instead says why it cannot be done now. */
export type Act = (() => void) | string;
export type Acts = Partial<Record<CommandId, Act>>;

const pause = 1200;

class CommandStore {
  #layers: { acts: Acts }[] = [];
  #listeners = new Set<() => void>();
  #view: ReadonlyMap<CommandId, Act> = new Map();
  singleKeys = true;

  add(layer: { acts: Acts }): () => void {
    this.#layers.push(layer);
    this.changed();
    return () => {
      this.#layers = this.#layers.filter((other) => other !== layer);
      this.changed();
    };
  }

  changed(): void {
    const view = new Map<CommandId, Act>();
    for (const { acts } of this.#layers) {
      for (const [id, act] of Object.entries(acts)) {
        // Taken out first, so that the newest stands last and answers.
        view.delete(id as CommandId);
        view.set(id as CommandId, act);
      }
    }
    this.#view = view;
    for (const listen of this.#listeners) listen();
  }

  subscribe = (listen: () => void): (() => void) => {
    this.#listeners.add(listen);
    return () => this.#listeners.delete(listen);
  };

  view = (): ReadonlyMap<CommandId, Act> => this.#view;

  /** What a command does at this moment: the newest layer that knows it. */
  act(id: CommandId): Act | undefined {
    return this.#layers.findLast(({ acts }) => acts[id] !== undefined)?.acts[id];
  }

  /** The command of these strokes, and whether a longer sequence begins with them. */
  find(strokes: string): { act: Act | undefined; repeats: boolean; more: boolean } {
    let found: CommandId | undefined;
    let more = false;
    for (const id of this.#view.keys()) {
      for (const keys of COMMANDS[id].keys) {
        if (keys === strokes) found = id;
        else if (keys.startsWith(`${strokes} `)) more = true;
      }
    }
    if (found === undefined) return { act: undefined, repeats: false, more };
    return { act: this.act(found), repeats: COMMANDS[found].repeats === true, more };
  }
}

const StoreContext = createContext<CommandStore | null>(null);

function useStore(): CommandStore {
  const store = use(StoreContext);
  if (store === null) throw new Error("useCommands outside of CommandsProvider");
  return store;
}

/** Holds the commands and listens to the keys. `singleKeys` off leaves only those with Ctrl or Alt. */
export function CommandsProvider({
  singleKeys,
  children,
}: {
  singleKeys: boolean;
  children: ReactNode;
}) {
  const store = useMemo(() => new CommandStore(), []);
  store.singleKeys = singleKeys;

  useEffect(() => {
    let begun = "";
    let begunAt = 0;
    const hear = (event: KeyboardEvent) => {
      const stroke = strokeOf(event);
      if (stroke === "" || event.defaultPrevented) return;
      const inside =
        event.target instanceof Element &&
        event.target.closest("[role=dialog],[role=alertdialog],[role=menu]");
      if (inside) return;
      if (isSingle(stroke) && (!store.singleKeys || isTyping(event.target))) {
        begun = "";
        return;
      }
      const strokes =
        begun !== "" && event.timeStamp - begunAt < pause ? `${begun} ${stroke}` : stroke;
      let { act, repeats, more } = store.find(strokes);
      if (act === undefined && !more && strokes !== stroke) {
        ({ act, repeats, more } = store.find(stroke));
      }
      begun = more ? stroke : "";
      begunAt = event.timeStamp;
      if (act === undefined && !more) return;
      event.preventDefault();
      if (typeof act === "function" && (repeats || !event.repeat)) act();
    };
    window.addEventListener("keydown", hear);
    return () => window.removeEventListener("keydown", hear);
  }, [store]);

  return <StoreContext value={store}>{children}</StoreContext>;
}

/** What these commands do while the calling component is on show. */
export function useCommands(acts: Acts): void {
  const store = useStore();
  const layer = useRef({ acts });
  const shape = Object.entries(acts)
    .map(([id, act]) => `${id}:${typeof act === "string" ? act : ""}`)
    .join("|");
  useEffect(() => store.add(layer.current), [store]);
  useEffect(() => {
    layer.current.acts = acts;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: palette and sheet change with what is possible, not with each closure
  useEffect(() => store.changed(), [store, shape]);
}

/** The commands that are on show now, newest last. */
export function useActiveCommands(): ReadonlyMap<CommandId, Act> {
  const store = useStore();
  return useSyncExternalStore(store.subscribe, store.view);
}

/** Runs a command of the screen by its id; used by the palette. */
export function useRunCommand(): (id: CommandId) => void {
  const store = useStore();
  return (id) => {
    const act = store.act(id);
    if (typeof act === "function") act();
  };
}
