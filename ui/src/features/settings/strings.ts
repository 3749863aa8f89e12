import { count, plural } from "~/lib/format";
import type { KeyStore, Protocol, Theme } from "~/platform/bindings";

/** How one setting is told. */
export interface SettingWords {
  title: string;
  about: string;
  /** What its number counts. */
  unit?: string;
  /** How many of the stored unit make one of the shown. */
  per?: number;
  /** The choices of a closed setting. */
  words?: Record<string, string>;
  /** What holds while nothing is stated. */
  none?: string;
}

/** Words of the settings. */
export const strings = {
  pagesLabel: "Pages of the settings",
  pages: {
    models: "Language models",
    work: "Automatic work",
    look: "Look and keys",
    data: "Data",
    about: "About",
  },

  models: {
    about:
      "Which language model answers and writes. Without one, answers and documents are made of the stored statements themselves.",
    endpoints: "Endpoints",
    none: "No endpoint yet. Nothing leaves this computer until you add one that lies elsewhere.",
    add: "Add an endpoint",
    inUse: "In use",
    use: "Use it",
    stopUsing: "Stop using it",
    check: "Check",
    checkAgain: "Check again",
    checking: "Checking",
    edit: "Edit…",
    forget: "Forget what was learnt",
    forgotten: "Forgotten. It is learnt anew.",
    remove: "Remove…",
    more: (name: string) => `More about ${name}`,
    here: "on this computer",
    elsewhere: "elsewhere: what is asked and read is sent there",
    noKey: "no key",
    keySet: (last4: string, store: KeyStore) =>
      `key is set, ends in …${last4.slice(-2)}, ${stores[store]}`,
    noModel: "No model chosen",
    checkedAt: (when: string) => `checked ${when}`,
    notChecked: "Not checked yet. The check takes a few short calls.",
    lines: {
      reach: "Address",
      reachable: "Address",
      auth: "Key",
      model: "Model",
      tool_calls: "Tool calls",
      parallel_tools: "Two tools in one turn",
      forced_tool: "Asking for a tool by name",
      json: "JSON output",
      streaming: "Streaming",
      window: "Context",
      speed: "Speed",
    } as Record<string, string>,
    verdicts: { pass: "Works", warn: "Works in part", fail: "Does not work", skipped: "Not tried" },
    detail: "Details",
    learntOf: (n: number) => `Learnt in use: ${plural(n, "thing")}`,
    learntSince: (when: string) => `Since ${when}`,
    limits: (window: number | null, seconds: number) =>
      [
        window === null ? null : `window of ${count(window)} tokens as you stated it`,
        `one call may take ${plural(seconds, "second")}`,
      ]
        .filter(Boolean)
        .join(", "),
    found: "Found on this computer",
    searching: "Looking for servers on this computer",
    noneFound:
      "No server answers on this computer. Ollama, LM Studio and llama.cpp are found when they run.",
    lookAgain: "Look again",
    models: (n: number) => plural(n, "model"),
    addFound: "Add",
    extractive: "Answers without a language model",
    extractiveOn: "Answer with statements of the bank while no language model is in use",
    extractiveHelp:
      "Part of the program: works without a network, writes no prose of its own, and says so.",
    removeTitle: (name: string) => `Remove “${name}”?`,
    removeAbout: "Its key is deleted with it. Documents and answers that it wrote stay.",
    keep: "Keep it",
    act: "Remove",
    now: "Now answering",
    answering: {
      extractive: "Statements of the bank, no language model",
      nothing: "Nothing: add an endpoint, or turn on the answers without one",
    },
  },

  form: {
    addTitle: "Add an endpoint",
    editTitle: "Edit the endpoint",
    name: "Name",
    protocol: "It speaks",
    protocols: {
      openai: "OpenAI-compatible",
      anthropic: "Anthropic",
      ollama: "Ollama",
    } satisfies Record<Protocol, string>,
    address: "Address",
    addresses: {
      openai: "http://127.0.0.1:8080/v1",
      anthropic: "https://api.anthropic.com",
      ollama: "http://127.0.0.1:11434",
    } satisfies Record<Protocol, string>,
    model: "Model",
    modelHelp: "The name the server knows it by. May be chosen after saving, from its list.",
    limits: "Window and time",
    window: "Window, in tokens",
    windowHelp: {
      openai: "Leave empty where the server tells it. Must be what the server was started with.",
      anthropic: "Leave empty where the server tells it.",
      ollama: "Sent with every request. Empty for 16,384; more needs more memory.",
    } satisfies Record<Protocol, string>,
    callSeconds: "Longest time of one call, in seconds",
    callSecondsHelp: "Empty for 600 on this computer and 120 elsewhere.",
    wholeNumber: "Write a whole number, or leave it empty.",
    key: "Key",
    keyHelp: "Leave empty where none is needed. It is never shown again.",
    keyKept: (last4: string) =>
      `A key that ends in …${last4.slice(-2)} is set. Leave empty to keep it.`,
    keychain: "Kept in the key store of the operating system.",
    noKeychain: "This system offers no key store. Choose what should happen with the key instead.",
    fallback: "Where the key is kept",
    session: "For this run only",
    sessionHelp: "Gone when the program is closed; you enter it again next time.",
    file: "In a file, unprotected",
    fileHelp: "In the data folder, readable by your account, not encrypted.",
    blankName: "Give it a name.",
    blankAddress: "Write the address of the server.",
    cancel: "Cancel",
    saveCheck: "Save and check",
    saved: "Saved.",
  },

  work: {
    about:
      "What starts by itself, how often, and how much it may spend. What you ask for yourself always runs.",
    refreshes: "Refreshes",
    observations: "Observations",
    questions: "Questions",
    now: "Everywhere",
    bank: "this bank",
    program: "all banks",
    reset: "Reset",
    resetOf: (name: string) => `Reset ${name}`,
    usual: (value: string) => `Usually ${value}`,
    saved: "Saved",
    none: "none",
    asUsual: "As usual",
    on: "on",
    off: "off",
    today: (tokens: string) => `${tokens} tokens today`,
    reached: "The limit is reached: automatic work waits until tomorrow.",
    settings: {
      background_paused: {
        title: "Pause everything that starts by itself",
        about: "Schedules, refreshes after new observations, and folding wait until you go on.",
      },
      cron_tick_seconds: {
        title: "Look at the schedules every",
        about: "What was due while the program was closed is caught up once. 0 never looks.",
        unit: "seconds",
      },
      mental_model_min_refresh_interval_seconds: {
        title: "Shortest time between two refreshes of a document",
        about: "What comes earlier waits, and is never lost. A model can state its own.",
        unit: "minutes",
        per: 60,
      },
      review_default: {
        title: "Who decides what a refresh changes in a new model",
        about: "For models made without saying so. Each can be changed in its settings.",
        words: { auto: "It is published at once", manual: "You decide" },
        none: "you decide on models made here, and those of other programs publish at once",
      },
      daily_token_ceiling: {
        title: "Most tokens a day for automatic work",
        about:
          "Counted from midnight UTC. When it is reached, automatic work waits for the next day.",
        unit: "tokens",
      },
      reflect_wall_timeout: {
        title: "Longest time of a question",
        about:
          "All its calls together; 1,800 seconds where the model is on this computer and you say nothing. What was found by then is kept. The longest time of one call is set with its endpoint.",
        unit: "seconds",
      },
      enable_observations: {
        title: "Fold facts into observations",
        about: "Facts that say the same become one belief that names them all.",
      },
      enable_auto_consolidation: {
        title: "Fold by itself when facts come or go",
        about: "Off, facts wait until you fold them from the memories.",
      },
      observations_mission: {
        title: "What is worth an observation",
        about: "In your words, for the language model that folds. Empty for what is notable.",
      },
      consolidation_llm_batch_size: {
        title: "Facts that are folded in one step",
        about: "Fewer are safer with a small language model.",
        unit: "facts",
      },
      max_observations_per_scope: {
        title: "Most observations with the same tags",
        about: "−1 for no limit. Observations without tags are never limited.",
      },
      invalidate: {
        title: "When a fact under an observation goes",
        about: "What happens to what was folded from it.",
        words: {
          strict: "The observation goes, and the other facts are folded anew",
          surgical: "It stays, marked, and is rewritten from the facts that are left",
        },
      },
    } as Record<string, SettingWords>,
  },

  look: {
    about: "How the program looks, and which keys work.",
    look: "Look",
    theme: "Theme",
    themes: {
      system: "As the system",
      light: "Light",
      dark: "Dark",
    } satisfies Record<Theme, string>,
    size: "Text size",
    sizeHelp: "From 50 to 300 percent. Ctrl + and Ctrl − change it anywhere.",
    smaller: "Smaller",
    larger: "Larger",
    reset: "Reset",
    percent: (zoom: number) => `${zoom} %`,
    keys: "Keys",
    single: "Single letters work as keys",
    singleHelp: "While nothing is being typed. Keys with Ctrl or Alt always work.",
  },

  data: {
    about: "Everything is in one file on this computer.",
    file: "The file",
    folder: "Folder",
    copy: "Copy the path",
    size: "Size",
    banks: "Banks",
    banksOf: (facts: string, models: string, documents: string) =>
      `${facts}, ${documents}, ${models}`,
    open: "Open",
    sample: "Sample",
    remove: "Delete…",
    removeOf: (name: string) => `Delete ${name}`,
    noSample: "The sample bank",
    noSampleAbout: "An invented team over six weeks, with a change to review.",
    restore: "Bring it back",
    restored: "The sample bank is back.",
    embedder: "Search by meaning",
    embedderReady: (name: string, dim: number) =>
      `${name}, part of the program, ${dim} numbers a memory`,
    backup:
      "To keep a copy, close the program and copy the folder. A copy is made by itself before the data is changed by a newer version.",
  },

  removeBank: {
    title: (name: string) => `Delete “${name}” for good?`,
    about: "There is no way back, and nothing of it is kept anywhere else.",
    lost: "What is lost",
    facts: (n: number) => plural(n, "fact"),
    observations: (n: number) => plural(n, "observation"),
    documents: (n: number) => plural(n, "document"),
    models: (n: number) =>
      n === 0 ? plural(n, "model") : `${plural(n, "model")} with every version of their documents`,
    reviews: (n: number) => `${plural(n, "change")} that wait${n === 1 ? "s" : ""} for review`,
    runs: "The questions that were asked, and their answers",
    again: "The sample bank can be brought back on this page, as it was at first.",
    type: (name: string) => `Write “${name}” to confirm`,
    mismatch: "Write the name of the bank first",
    keep: "Keep it",
    act: "Delete the bank",
    done: (name: string) => `“${name}” was deleted.`,
  },

  about: {
    about: "Living documents written from memory, reviewed before they change.",
    version: "Version",
    licence: "Licence",
    licenceName: "MIT",
    leaves: "What leaves this computer",
    nothing:
      "Nothing. There is no account and no telemetry. Only an endpoint that you add yourself is ever spoken to.",
    notices: "Third-party notices",
    showNotices: "Show",
    hideNotices: "Hide",
    loading: "Loading",
  },
} as const;

const stores: Record<KeyStore, string> = {
  keychain: "kept in the system’s key store",
  file: "kept in an unprotected file",
  env: "taken from the environment",
  session: "kept for this run only",
};
