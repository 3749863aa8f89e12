/**
 * The platform over fixtures: component tests and the browser preview use it. Every command that
 * no fixture answers rejects, so that a test notices instead of seeing an empty screen.
 */

import type { Channel } from "@tauri-apps/api/core";
import {
  type Changed,
  type OperationProgress,
  READS,
  type Report,
  type RunEvent,
  WRITES,
} from "./bindings";
import type { WriteName } from "./cache";
import { toReport } from "./errors";
import { answers } from "./fixtures/answers";
import { type Store, startStore } from "./fixtures/store";
import type { Commands, Platform } from "./index";

export interface MemoryPlatform extends Platform {
  /** What the fixtures hold now; tests look at it and change it. */
  store: Store;
  /** Sends news as the program would. */
  emit: { changed(news: Changed): void; progress(news: OperationProgress): void };
  /** Every call so far: name and arguments. */
  calls: [name: string, ...args: unknown[]][];
}

export type Overrides = Partial<{ [N in keyof Commands]: Commands[N] }>;

/** A fresh platform. `overrides` replace single commands, for the states of a screen. */
export function memory(overrides: Overrides = {}): MemoryPlatform {
  const store = startStore();
  const own: Overrides = { ...answers(store), ...overrides };
  const changed = new Set<(news: Changed) => void>();
  const progress = new Set<(news: OperationProgress) => void>();
  const calls: MemoryPlatform["calls"] = [];

  const commands = new Proxy({} as Commands, {
    get:
      (_, name: string) =>
      async (...args: unknown[]) => {
        calls.push([name, ...args]);
        const answer = own[name as keyof Commands] as ((...args: unknown[]) => unknown) | undefined;
        if (!answer) throw toReport(`no fixture answers ${name}`);
        const given = await answer(...args);
        if (name in WRITES) {
          const tags = [...WRITES[name as WriteName]];
          for (const hear of changed) hear({ bank: null, tags });
        }
        // A copy, as over the wire: nothing of the page may point into the store.
        return structuredClone(given);
      },
  });

  return {
    commands,
    store,
    calls,
    emit: {
      changed: (news) => {
        for (const hear of changed) hear(news);
      },
      progress: (news) => {
        for (const hear of progress) hear(news);
      },
    },
    onChanged: (hear) => subscribe(changed, hear),
    onProgress: (hear) => subscribe(progress, hear),
    channel: (hear) => ({ onmessage: hear }) as Channel<RunEvent>,
    chooseFiles: async () => null,
    openOutside: async (url) => {
      calls.push(["openOutside", url]);
    },
    dressWindow: async (theme, zoom) => {
      calls.push(["dressWindow", theme, zoom]);
    },
    reportDrawn: async () => {},
  };
}

function subscribe<T>(to: Set<T>, hear: T): () => void {
  to.add(hear);
  return () => {
    to.delete(hear);
  };
}

/** A refusal as the program words it; for tests of error states. */
export function refusal(rest: Partial<Report> = {}): Report {
  return {
    code: "provider_unreachable",
    reason: "llm_unreachable",
    message: "The language model could not be reached.",
    hint: "Check that it runs, or choose another one in the settings.",
    fields: [],
    retryable: true,
    detail: "connection refused (127.0.0.1:11434)",
    run: null,
    ...rest,
  };
}

/** The names of all commands that the table of tags knows. */
export const knownCommands = [...Object.keys(READS), ...Object.keys(WRITES)];
