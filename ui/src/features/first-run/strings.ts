import { plural } from "~/lib/format";

/** Words of the first minute. */
export const strings = {
  title: "Documents that keep up, and ask before they change",
  lead: "Palimpsest remembers what you give it and keeps documents about it current. Every change shows what it rests on and waits for you. Nothing leaves this computer unless you connect a language model elsewhere.",
  review: "Review the waiting change",
  empty: "Start an empty bank",
  restore: "Bring the sample back",

  sample: {
    title: "A sample to look round in",
    badge: "Sample",
    about:
      "Six weeks of an invented team. No language model is needed: texts in it are made of its own statements.",
    counts: {
      facts: (n: number) => plural(n, "fact").replace(/^\S+ /, ""),
      observations: (n: number) => plural(n, "observation").replace(/^\S+ /, ""),
      documents: (n: number) => plural(n, "document").replace(/^\S+ /, ""),
      models: (n: number) => plural(n, "model").replace(/^\S+ /, ""),
    },
    waiting: "A change that waits",
    making: "Being laid out: notes, documents, and a change to review.",
    preparing: "Laying out the sample",
  },

  own: {
    title: "Your own language model",
    about:
      "Not needed to begin. Without one, documents are made of the stored statements themselves.",
    searching: "Looking for one on this computer",
    none: "None runs on this computer. Ollama, LM Studio and llama.cpp are found when they do.",
    found: (n: number) => `${plural(n, "model")} found`,
    use: "Use it",
    using: (llm: string) => `Using ${llm}. It is being checked; the result stands in the settings.`,
    key: "Another one, with an address or a key",
    add: "Add",
    later: "Later",
    laterAbout: "It stays in Settings, Language models",
    laterDone: "You find it in Settings, Language models, whenever you like.",
  },

  tour: {
    label: "Tour",
    steps: [
      {
        title: "Each change shows what it rests on",
        text: "The statements behind the change in focus stand here, with their dates and where they come from. Move on with `J`.",
      },
      {
        title: "Decide each change on its own",
        text: "Press `Y` to accept or `N` to reject. Nothing is written until you approve.",
      },
      {
        title: "Look at the result first",
        text: "Press `5` to see the document as it will be, with what you have accepted so far.",
      },
      {
        title: "Approve what you accepted",
        text: "`Ctrl Enter` makes a new version of it. What you left out is not lost: the history keeps every version.",
      },
    ],
    of: (step: number, total: number) => `${step} of ${total}`,
    next: "Next",
    finish: "Finish",
    end: "End tour",
    nothing: "Nothing waits for review in the sample bank",
    noSample: "The tour belongs to the sample bank; Settings, Data brings it back",
  },
} as const;
