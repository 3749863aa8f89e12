import { Link } from "@tanstack/react-router";
import { MessageSquareQuote } from "lucide-react";
import { Button } from "~/components/button";
import { Empty } from "~/components/empty";
import { Icon } from "~/components/icon";
import { ReportCard } from "~/components/report";
import type { BankId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.sample;

/** Before the first question: what an answer is, and questions made of the bank's own names. */
export function Samples({ bank, onAsk }: { bank: BankId; onAsk: (query: string) => void }) {
  const samples = useRead("sampleQuestions", [bank]);
  const banks = useRead("listBanks", []).data;
  const row = banks?.find(({ id }) => id === bank);
  const empty = row !== undefined && row.facts === 0 && row.observations === 0;
  return (
    <Empty
      title={words.title}
      actions={
        empty && (
          <Button asChild kind="primary">
            <Link
              to="/b/$bank/memories/{-$memory}"
              params={{ bank, memory: undefined }}
              search={{}}
              data-plain
            >
              {words.toMemories}
            </Link>
          </Button>
        )
      }
    >
      <p>{empty ? words.none : words.about}</p>
      {samples.error && (
        <ReportCard report={samples.error} onRetry={() => void samples.refetch()} />
      )}
      {(samples.data?.length ?? 0) > 0 && (
        <section aria-label={words.questions} className="mt-1 grid gap-1">
          <h3 className="type-label text-faint">{words.questions}</h3>
          {samples.data?.map((question) => (
            <button
              key={question}
              type="button"
              onClick={() => onAsk(question)}
              className="flex min-h-8 items-center gap-2 rounded-md border border-edge bg-raised px-2.5 py-1 text-left text-text hover:bg-hover"
            >
              <Icon of={MessageSquareQuote} className="text-accent-text" />
              {question}
            </button>
          ))}
        </section>
      )}
    </Empty>
  );
}
