import { memo, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize, { defaultSchema } from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { usePlatform } from "~/platform";

/** Raw HTML never gets this far; the schema is a second wall. Images are left out: they would be fetched. */
export const schema = {
  ...defaultSchema,
  tagNames: (defaultSchema.tagNames ?? []).filter((name) => name !== "img"),
  protocols: { ...defaultSchema.protocols, href: ["http", "https"] },
};

/** Markdown as it is read. Text comes from memories and models: nothing of it is trusted. */
export const Markdown = memo(function Markdown({
  children,
  components,
}: {
  children: string;
  components?: Components;
}) {
  return (
    <ReactMarkdown
      remarkPlugins={[remarkGfm]}
      rehypePlugins={[[rehypeSanitize, schema]]}
      disallowedElements={["img"]}
      components={{ a: OutsideLink, ...components }}
    >
      {children}
    </ReactMarkdown>
  );
});

/** A link out of the program: its full address is shown before anything is opened. */
export function OutsideLink({ href, children }: { href?: string; children?: ReactNode }) {
  const platform = usePlatform();
  if (!href || !/^https?:/i.test(href)) return <span>{children}</span>;
  return (
    <a
      href={href}
      title={`Opens ${href} in your browser`}
      onClick={(event) => {
        event.preventDefault();
        void platform.openOutside(href);
      }}
    >
      {children}
    </a>
  );
}
