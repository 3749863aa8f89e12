import { memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { foldBlocks, markWords, type Node } from "~/lib/inline";
import { OutsideLink, schema } from "./markdown";

/** A text that has none of these is shown as it stands, without a parser. */
const signs = /[*_`~#>|<&\\[\]!\n]|^\s*(?:[-+]|\d+[.)])\s|https?:|www\./;

const inRow: Components = { a: ({ children }) => <span>{children}</span> };
const inText: Components = { a: OutsideLink };

/**
 * What a memory says, without the signs of Markdown that a passage was written with. It is data:
 * no raw HTML, no images, and a link only where one may be pressed. Line ends between blocks are
 * kept as such; a place that shows several lines sets `whitespace-pre-line`.
 */
export const MemoryText = memo(function MemoryText({
  text,
  mark,
  links = false,
}: {
  text: string;
  /** Words to mark: the piece that a claim rests on. */
  mark?: string | undefined;
  /** Whether links can be pressed; never inside a row that is itself pressed. */
  links?: boolean;
}) {
  if (!mark && !signs.test(text)) return text;
  return (
    <ReactMarkdown
      remarkPlugins={[remarkGfm]}
      rehypePlugins={[
        [rehypeSanitize, schema],
        [fold, mark],
      ]}
      disallowedElements={["img"]}
      components={links ? inText : inRow}
    >
      {text}
    </ReactMarkdown>
  );
});

/** The step of the renderer that folds blocks and marks words. */
function fold(mark: string | undefined) {
  return (root: Node) => {
    foldBlocks(root);
    if (mark) markWords(root, mark);
  };
}
