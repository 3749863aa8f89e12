import {
  CircleAlert,
  Eraser,
  History,
  Layers,
  type LucideIcon,
  MessageCircleQuestion,
  Scissors,
  User,
} from "lucide-react";
import { Button } from "~/components/button";
import { Back, Confirm } from "~/components/dialog";
import { TextField } from "~/components/field";
import { Icon } from "~/components/icon";
import { MemoryText } from "~/components/memory-text";
import { ReportCard } from "~/components/report";
import { dayTime } from "~/lib/format";
import { shown } from "~/lib/markers";
import { useDraft } from "~/lib/use-draft";
import type { Preview, ProposalView, Report } from "~/platform/bindings";
import { decidable } from "./op-words";
import { strings } from "./strings";

const words = strings.confirm;

const points: Record<string, { icon: LucideIcon; title: string }> = {
  large_removal: { icon: Scissors, title: words.large_removal },
  human_touch: { icon: User, title: words.human_touch },
  unsupported_claim: { icon: CircleAlert, title: words.unsupported_claim },
  empty_result: { icon: Eraser, title: words.empty_result },
  query_changed: { icon: MessageCircleQuestion, title: words.query_changed },
  scope_changed: { icon: Layers, title: words.scope_changed },
  draft_outdated: { icon: History, title: words.draft_outdated },
};

/** The summary before publishing when something asks for a second look. Focus starts on the way back. */
export function ApproveDialog({
  view,
  preview,
  draft,
  report,
  busy,
  onPublish,
  onLeave,
}: {
  view: ProposalView;
  preview: Preview;
  /** A whole text of the person's own is published, not the decisions. */
  draft: boolean;
  report: Report | null;
  busy: boolean;
  /** `after` is called once it is published. */
  onPublish: (withoutStructuredOutput: boolean, note: string | null, after: () => void) => void;
  onLeave: () => void;
}) {
  const { row } = view;
  const version = view.base_version + 1;
  const blocked = report?.code === "structured_output_failed";
  const note = useDraft(`approve ${row.id}`, "");
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onLeave()}
      title={words.title(version, row.model_name)}
      about={
        preview.confirm.length > 0 &&
        (draft
          ? words.aboutDraft(preview.confirm.length)
          : words.about(row.decisions.accepted, row.operations, preview.confirm.length))
      }
      foot={
        <>
          <Back asChild>
            <Button>{words.back}</Button>
          </Back>
          <Button
            kind="primary"
            disabled={busy}
            onClick={() => onPublish(blocked, note.text.trim() || null, note.drop)}
          >
            {blocked ? words.withoutView : words.publish(version)}
          </Button>
        </>
      }
    >
      {report && <ReportCard report={report} />}
      <ul className="divide-y divide-line border-line border-y">
        {preview.confirm.map((code) => (
          <Point key={code} code={code} quotes={quotesFor(view, code)} />
        ))}
      </ul>
      <dl className="type-small grid grid-cols-[6rem_minmax(0,1fr)] gap-x-2 gap-y-1">
        <dt className="text-faint">{words.size}</dt>
        <dd>{words.tokens(preview.document_tokens, preview.max_tokens)}</dd>
        {view.read_to && (
          <>
            <dt className="text-faint">{words.readTo}</dt>
            <dd>{dayTime(view.read_to)}</dd>
          </>
        )}
        <dt className="text-faint">{words.takeBack}</dt>
        <dd>{words.takeBackHow(view.base_version)}</dd>
      </dl>
      <TextField
        label={words.note}
        value={note.text}
        onChange={(event) => note.set(event.target.value)}
      />
      {!draft && row.decisions.undecided > 0 && (
        <p className="type-small text-muted">{words.left(row.decisions.undecided)}</p>
      )}
    </Confirm>
  );
}

function Point({ code, quotes }: { code: string; quotes: string[] }) {
  const point = points[code];
  return (
    <li className="grid grid-cols-[1rem_minmax(0,1fr)] gap-x-2 gap-y-0.5 py-2.5">
      <Icon of={point?.icon ?? CircleAlert} className="mt-0.5 text-warn" />
      <span className="type-strong">{point?.title ?? code.replaceAll("_", " ")}</span>
      {quotes.map((quote) => (
        <q key={quote} className="col-start-2 line-clamp-2 text-muted">
          <MemoryText text={quote} />
        </q>
      ))}
    </li>
  );
}

/** The texts that a warning is about, at most three. */
function quotesFor(view: ProposalView, code: string): string[] {
  const accepted = decidable(view).filter(({ decision }) => decision === "accepted");
  const texts =
    code === "human_touch"
      ? accepted.filter(({ human_touch }) => human_touch).map(({ old_text }) => old_text)
      : code === "unsupported_claim"
        ? accepted.filter(({ unsupported }) => unsupported).map(({ new_text }) => new_text)
        : [];
  return texts
    .filter((text) => text !== null)
    .slice(0, 3)
    .map((text) => shown(text).replace(/^• /, ""));
}
