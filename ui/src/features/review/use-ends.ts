import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { attend } from "~/components/left-behind";
import { say } from "~/components/toast";
import { usePlatform } from "~/platform";
import type {
  ApproveInput,
  BankId,
  Preview,
  ProposalView,
  RejectInput,
  Report,
} from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { toReport } from "~/platform/errors";
import { unavailable } from "./foot";
import { conflictsOf } from "./op-words";
import { strings } from "./strings";
import { turnOf } from "./use-review";

/** What would be published, and the person's own text if it is one. */
interface Summary {
  preview: Preview;
  draft: string | null;
  /** Called once it is published. */
  after: () => void;
}

/** The two ends of a review: publish, with a summary when something asks for it, and reject. */
export function useEnds(bank: BankId, view: ProposalView) {
  const { commands } = usePlatform();
  const navigate = useNavigate();
  const approval = useWrite("approveProposal");
  const rejection = useWrite("rejectProposal");
  const reversal = useWrite("revertModel");
  const [summary, setSummary] = useState<Summary | null>(null);
  const [rejecting, setRejecting] = useState(false);
  const [report, setReport] = useState<Report | null>(null);
  const { row } = view;

  const publish = async (
    { preview, draft, after }: Summary,
    withoutStructuredOutput = false,
    note: string | null = null,
  ) => {
    const input: ApproveInput = {
      what: draft === null ? "decided" : "draft",
      confirm: preview.confirm,
      draft,
      note,
      without_structured_output: withoutStructuredOutput,
    };
    const published = await approval.mutateAsync([bank, row.id, input, turnOf(view)]);
    after();
    setSummary(null);
    setReport(null);
    const model = published.model_id;
    say(strings.published(published.version, row.model_name), {
      label: strings.undo,
      run: () =>
        void attend(strings.notUndone(row.model_name), async () => {
          await reversal.mutateAsync([bank, model, view.base_version, false]);
          say(strings.undone(view.base_version));
        }),
    });
    await navigate({
      to: "/b/$bank/models/$model/{-$tab}",
      params: { bank, model, tab: undefined },
    });
  };

  const running = useRef(false);
  /** Runs an act, one at a time, and keeps what it was refused with. */
  const attempt = async (act: () => Promise<void>) => {
    if (running.current) return;
    running.current = true;
    try {
      await act();
    } catch (refused) {
      setReport(toReport(refused));
    } finally {
      running.current = false;
    }
  };

  /** Looks at what would be published; what asks for a second look is shown before, the rest goes at once. */
  const ask = (look: () => Promise<Preview>, draft: string | null, after: () => void) =>
    void attempt(async () => {
      setReport(null);
      const preview = await look();
      const found = { preview, draft, after };
      if (preview.confirm.length > 0) setSummary(found);
      else {
        try {
          await publish(found);
        } catch (refused) {
          // The refusal is shown where its way out is: in the summary.
          setSummary(found);
          throw refused;
        }
      }
    });

  return {
    busy: approval.isPending || rejection.isPending,
    summary,
    rejecting,
    report,
    approve: () => {
      if (unavailable(view, conflictsOf(view).length)) return;
      ask(
        () => commands.previewProposal(bank, row.id, "accepted"),
        null,
        () => {},
      );
    },
    /** Publishes a whole text of the person's own. */
    approveDraft: (text: string, after: () => void) =>
      ask(() => commands.previewDraft(bank, row.id, text), text, after),
    publish: (withoutStructuredOutput: boolean, note: string | null, after: () => void) =>
      void attempt(async () => {
        if (!summary) return;
        await publish(summary, withoutStructuredOutput, note);
        after();
      }),
    askReject: () => {
      setReport(null);
      setRejecting(true);
    },
    reject: (input: RejectInput, after: () => void) =>
      void attempt(async () => {
        await rejection.mutateAsync([bank, row.id, input, turnOf(view)]);
        after();
        setRejecting(false);
        say(strings.rejection.done(row.model_name));
        await navigate({
          to: "/b/$bank/review/{-$proposal}",
          params: { bank, proposal: undefined },
          search: {},
        });
      }),
    leave: () => {
      setSummary(null);
      setRejecting(false);
      setReport(null);
    },
  };
}
