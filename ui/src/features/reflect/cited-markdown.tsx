import { HoverCard } from "radix-ui";
import { Children, createContext, type ReactNode, use, useMemo } from "react";
import type { Components } from "react-markdown";
import { Fact } from "~/components/fact";
import { Markdown } from "~/components/markdown";
import { cn } from "~/lib/cn";
import { type Cited, cut, hasSign } from "./cite";
import { strings } from "./strings";

interface Pins {
  cited: Cited;
  /** Whether paragraphs without a source are marked; an answer of bare statements claims nothing else. */
  marks: boolean;
  pinned: string | null;
  onPin: (id: string) => void;
}

const PinContext = createContext<Pins | null>(null);

/** An answer whose signs are buttons. Paragraphs without any are marked softly. */
export function CitedMarkdown({ cited, marks, pinned, onPin }: Pins) {
  const pins = useMemo(() => ({ cited, marks, pinned, onPin }), [cited, marks, pinned, onPin]);
  return (
    <PinContext value={pins}>
      <div className="doc">
        <Markdown components={components}>{cited.markdown}</Markdown>
      </div>
    </PinContext>
  );
}

const plain = (tag: "td" | "th" | "strong" | "em" | "del" | "h1" | "h2" | "h3" | "h4") => {
  const Tag = tag;
  return ({ children }: { children?: ReactNode }) => (
    <Tag>
      <Signed>{children}</Signed>
    </Tag>
  );
};

const components: Components = {
  p: ({ children, node }) => (
    <p>
      <Claim text={textOf(node)}>{children}</Claim>
    </p>
  ),
  li: ({ children, node }) => (
    <li>
      {node?.children.some((child) => child.type === "element" && child.tagName === "p") ? (
        children
      ) : (
        <Claim text={textOf(node)}>{children}</Claim>
      )}
    </li>
  ),
  td: plain("td"),
  th: plain("th"),
  strong: plain("strong"),
  em: plain("em"),
  del: plain("del"),
  h1: plain("h1"),
  h2: plain("h2"),
  h3: plain("h3"),
  h4: plain("h4"),
  code: ({ children, className }) => (
    <code className={className}>
      <Signed>{children}</Signed>
    </code>
  ),
};

interface Tree {
  type: string;
  value?: string;
  children?: Tree[];
}

function textOf(node: unknown): string {
  const { value = "", children = [] } = (node ?? {}) as Tree;
  return value + children.map(textOf).join("");
}

/** A paragraph or item. A line that only leads into a list claims nothing. */
function Claim({ text, children }: { text: string; children: ReactNode }) {
  const pins = use(PinContext);
  if (
    !pins?.marks ||
    !pins.cited.tied ||
    hasSign(text) ||
    text.trim() === "" ||
    text.trimEnd().endsWith(":")
  ) {
    return <Signed>{children}</Signed>;
  }
  return (
    <>
      <span className="underline decoration-warn decoration-dotted underline-offset-4">
        {children}
      </span>{" "}
      <span className="type-small whitespace-nowrap text-warn">{strings.answer.noSource}</span>
    </>
  );
}

/** The pieces of a text with buttons where signs stand; the last word stays beside its button. */
function Signed({ children }: { children: ReactNode }) {
  return Children.map(children, (child) => {
    if (typeof child !== "string" || !hasSign(child)) return child;
    const pieces = cut(child);
    return pieces.map((piece, place) => {
      const key = `${place}`;
      if (typeof piece !== "string") return <Sources key={key} numbers={piece} />;
      return <span key={key}>{piece}</span>;
    });
  });
}

function Sources({ numbers }: { numbers: number[] }) {
  return (
    <span className="whitespace-nowrap">
      {"\u2060"}
      {numbers.map((number) => (
        <Source key={number} number={number} />
      ))}
    </span>
  );
}

/** One source: pointed at or focused it shows the memory, pressed it stays marked in the evidence. */
function Source({ number }: { number: number }) {
  const pins = use(PinContext);
  const item = pins?.cited.sources[number - 1];
  if (!pins || !item) return null;
  const on = pins.pinned === item.id;
  return (
    <HoverCard.Root openDelay={120} closeDelay={80}>
      <HoverCard.Trigger asChild>
        <button
          type="button"
          data-citation
          aria-label={strings.answer.source(number, item.text)}
          aria-pressed={on}
          onClick={() => pins.onPin(item.id)}
          className={cn(
            // The drawn part is small; what can be hit is 24 by 24.
            "type-label relative mx-0.5 inline-grid h-4 min-w-4 place-items-center rounded-small px-1 align-[0.125em] font-semibold after:absolute after:-inset-1",
            on ? "bg-accent text-on-accent" : "bg-accent-soft text-accent-text hover:bg-selected",
          )}
        >
          {number}
        </button>
      </HoverCard.Trigger>
      <HoverCard.Portal>
        <HoverCard.Content
          side="bottom"
          align="start"
          sideOffset={6}
          collisionPadding={12}
          aria-hidden="true"
          className="type-list z-20 w-80 rounded-md bg-raised py-1 shadow-float"
        >
          <Fact item={item} bare />
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  );
}
