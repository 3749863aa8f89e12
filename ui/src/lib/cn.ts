import { type ClassValue, clsx } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

const merge = extendTailwindMerge({
  extend: {
    classGroups: {
      "font-size": [
        {
          type: ["label", "small", "list", "strong", "diff", "doc", "title", "code"],
        },
      ],
      h: [{ h: ["bar", "control"] }],
    },
  },
});

/** Joins class names; of two that say the same thing, the later one wins. */
export function cn(...names: ClassValue[]): string {
  return merge(clsx(names));
}
