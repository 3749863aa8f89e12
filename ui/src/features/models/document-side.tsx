import { Link } from "@tanstack/react-router";
import { Lock, LockOpen } from "lucide-react";
import { Tag } from "~/components/badge";
import { Button } from "~/components/button";
import { Fact } from "~/components/fact";
import { Meter } from "~/components/meter";
import { heldWords } from "~/components/model-state";
import { ReportCard } from "~/components/report";
import { Terms } from "~/components/terms";
import { dayTime } from "~/lib/format";
import type { BankId, BlockBlame, ModelDetail } from "~/platform/bindings";
import { scheduleOf } from "./columns";
import { strings } from "./model-strings";
import type { Chosen } from "./sheet";
import type { Locking } from "./use-lock";

const words = strings.side;

/** Outline, what is behind the chosen section or block, and where the document stands. */
export function DocumentSide({
  bank,
  detail,
  chosen,
  locking,
  onChosen,
}: {
  bank: BankId;
  detail: ModelDetail;
  chosen: Chosen | null;
  locking: Locking;
  onChosen: (chosen: Chosen) => void;
}) {
  const { sections } = detail.structure;
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
                aria-current={id === chosen?.section ? "location" : undefined}
                onClick={() => onChosen({ section: id, block: null })}
                className="w-full truncate border-transparent border-l-2 py-1 pr-4 pl-3.5 text-left text-muted hover:text-text aria-[current=location]:border-accent-text aria-[current=location]:font-semibold aria-[current=location]:text-text"
                style={{ paddingLeft: `${0.875 + Math.max(0, level - 2) * 0.75}rem` }}
              >
                {heading}
              </button>
            </li>
          ))}
      </ul>
      {chosen && <Behind bank={bank} detail={detail} chosen={chosen} locking={locking} />}
      <Head>{words.state}</Head>
      <State detail={detail} />
    </div>
  );
}

/** Who wrote it, what it rests on, and its lock. */
function Behind({
  bank,
  detail,
  chosen,
  locking,
}: {
  bank: BankId;
  detail: ModelDetail;
  chosen: Chosen;
  locking: Locking;
}) {
  const section = detail.structure.sections.find(({ id }) => id === chosen.section);
  if (!section) return null;
  const whole = chosen.block === null;
  const blocks = new Set(whole ? section.blocks.map(({ id }) => id) : [chosen.block]);
  const entries = detail.blame.filter(({ block_id }) => blocks.has(block_id));
  const sources = new Set(entries.flatMap((entry) => entry.sources));
  const facts = detail.based_on.filter(({ id }) => sources.has(id));
  const [entry] = entries;
  return (
    <section aria-label={whole ? words.behind : words.behindBlock}>
      <Head>{whole ? words.behind : words.behindBlock}</Head>
      {!whole && entry && <Written bank={bank} detail={detail} entry={entry} />}
      {facts.map((item, place) => (
        <Fact key={item.id} item={item} bare={place === facts.length - 1} />
      ))}
      {facts.length === 0 && (
        <p className="type-small px-4 text-muted">
          {whole ? words.noneBehind : words.noneBehindBlock}
        </p>
      )}
      <LockLine chosen={chosen} locking={locking} />
    </section>
  );
}

function Written({
  bank,
  detail,
  entry,
}: {
  bank: BankId;
  detail: ModelDetail;
  entry: BlockBlame;
}) {
  const model = detail.model.id;
  return (
    <p className="type-small px-4 pb-1 text-muted">
      {words.author[entry.author]}{" "}
      <Link
        to="/b/$bank/models/$model/{-$tab}"
        params={{ bank, model, tab: "history" }}
        search={{ b: entry.version }}
      >
        {words.inVersion(entry.version)}
      </Link>
      {entry.proposal && (
        <>
          {", "}
          <Link
            to="/b/$bank/review/{-$proposal}"
            params={{ bank, proposal: entry.proposal.id }}
            search={{}}
          >
            {strings.blame.operation(entry.proposal.number, entry.operation)}
          </Link>
        </>
      )}
      , {dayTime(entry.at)}
    </p>
  );
}

function LockLine({ chosen, locking }: { chosen: Chosen; locking: Locking }) {
  const { lock, inherited } = locking.of(chosen);
  return (
    <div className="grid gap-1 px-4 pt-2">
      {lock?.note && <q className="type-small text-muted">{lock.note}</q>}
      {inherited && <p className="type-small text-muted">{words.lockedBySection}</p>}
      {!inherited && (
        <Button
          size="small"
          command="model.lock"
          icon={lock ? LockOpen : Lock}
          className="justify-self-start"
          disabled={locking.busy}
          onClick={() => locking.toggle(chosen)}
        >
          {lock ? words.unlock : chosen.block === null ? words.lockSection : words.lockBlock}
        </Button>
      )}
      <p className="type-small text-faint">{words.lockHelp}</p>
      {locking.fault && <ReportCard report={locking.fault} />}
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
    [words.next, model.next_run ? dayTime(model.next_run) : null],
    [words.held, heldWords(model)],
    [words.rebuilt, detail.last_full_refreshed_at ? dayTime(detail.last_full_refreshed_at) : null],
    [words.review, model.review === "manual" ? words.manual : words.auto],
    [words.file, detail.publish ? words.fileState[detail.publish.state] : null],
    [
      words.size,
      <span key="size" className="grid gap-1">
        {words.tokens(model.document_tokens, model.max_tokens)}
        <Meter value={model.document_tokens} of={model.max_tokens} className="w-full" />
      </span>,
    ],
  ];
  return (
    <Terms rows={rows} className="type-small grid-cols-[4.75rem_minmax(0,1fr)] px-4 pt-1 pb-4">
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
    </Terms>
  );
}

function Head({ children }: { children: string }) {
  return <h2 className="type-label px-4 pt-4 pb-1 text-faint">{children}</h2>;
}
