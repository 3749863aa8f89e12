import { plural } from "~/lib/format";
import type { KeyStore, Protocol, Theme } from "~/platform/bindings";

/** Words of the settings. */
export const strings = {
  title: "Settings",
  pagesLabel: "Pages of the settings",
  pages: { models: "Language models", look: "Look and keys", data: "Data", about: "About" },

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
    learnt: "Learnt in use",
    learntOf: (n: number) => `Learnt in use: ${plural(n, "thing")}`,
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
    save: "Save",
    saveCheck: "Save and check",
    saved: "Saved.",
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
    copied: "Copied.",
    size: "Size",
    banks: "Banks",
    banksOf: (facts: string, models: string, documents: string) =>
      `${facts}, ${documents}, ${models}`,
    embedder: "Search by meaning",
    embedderReady: (name: string, dim: number) =>
      `${name}, part of the program, ${dim} numbers a memory`,
    backup:
      "To keep a copy, close the program and copy the folder. A copy is made by itself before the data is changed by a newer version.",
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
