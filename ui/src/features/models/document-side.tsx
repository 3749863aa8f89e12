import { Tag } from "~/components/badge";
import { Fact } from "~/components/fact";
import { Meter } from "~/components/meter";
import { dayTime } from "~/lib/format";
import type { ModelDetail } from "~/platform/bindings";
import { scheduleOf } from "./columns";
import { strings } from "./model-strings";

const words = strings.side;

/** Outline, the facts behind the chosen section, and where the document stands. */
export function DocumentSide({
  detail,
  current,
  onCurrent,
}: {
  detail: ModelDetail;
  current: string | null;
  onCurrent: (section: string) => void;
}) {
  const { sections } = detail.structure;
  const chosen = sections.find(({ id }) => id === current);
  const blocks = new Set(chosen?.blocks.map(({ id }) => id));
  const sources = new Set(
    detail.blame.filter(({ block_id }) => blocks.has(block_id)).flatMap((entry) => entry.sources),
  );
  const facts = detail.based_on.filter(({ id }) => sources.has(id));
  const jump = (id: string) => {
    onCurrent(id);
    document.getElementById(`section-${id}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div className="scroll-quiet min-h-0 flex-1">
      <Head>{words.outline}</Head>
      <ul>
        {sections
          .filter(({ level }) => level > 0)
          .map(({ id, heading, level }) => (
            <li key={id}>
              <button
                type="button"
                data-focus-inside
                aria-current={id === current ? "location" : undefined}
                onClick={() => jump(id)}
                className="w-full truncate border-transparent border-l-2 py-1 pr-4 pl-3.5 text-left text-muted hover:text-text aria-[current=location]:border-accent-text aria-[current=location]:font-semibold aria-[current=location]:text-text"
                style={{ paddingLeft: `${0.875 + Math.max(0, level - 2) * 0.75}rem` }}
              >
                {heading}
              </button>
            </li>
          ))}
      </ul>
      {chosen && (
        <>
          <Head>{words.behind}</Head>
          {facts.map((item, place) => (
            <Fact key={item.id} item={item} bare={place === facts.length - 1} />
          ))}
          {facts.length === 0 && <p className="type-small px-4 text-muted">{words.noneBehind}</p>}
        </>
      )}
      <Head>{words.state}</Head>
      <State detail={detail} />
    </div>
  );
}

function State({ detail }: { detail: ModelDetail }) {
  const { model } = detail;
  const rows: [string, React.ReactNode][] = [
    [words.version, model.version === 0 ? words.none : model.version],
    [words.readTo, model.last_memory_seen_at ? dayTime(model.last_memory_seen_at) : words.none],
    [words.newer, words.facts(model.newer ?? 0)],
    [words.schedule, `${scheduleOf(model)}, ${model.mode}`],
    [words.review, model.review === "manual" ? words.manual : words.auto],
    [
      words.size,
      <span key="size" className="grid gap-1">
        {words.tokens(model.document_tokens, model.max_tokens)}
        <Meter value={model.document_tokens} of={model.max_tokens} className="w-full" />
      </span>,
    ],
  ];
  return (
    <dl className="type-small grid grid-cols-[4.75rem_minmax(0,1fr)] gap-x-2 gap-y-1 px-4 pt-1 pb-4">
      {rows.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {model.tags.length > 0 && (
        <>
          <dt className="text-faint">{words.scope}</dt>
          <dd className="flex flex-wrap gap-x-1.5">
            {model.tags.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
          </dd>
        </>
      )}
    </dl>
  );
}

function Head({ children }: { children: string }) {
  return <h2 className="type-label px-4 pt-4 pb-1 text-faint">{children}</h2>;
}
