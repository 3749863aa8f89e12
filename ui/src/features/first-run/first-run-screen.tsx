import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Badge } from "~/components/badge";
import { Button } from "~/components/button";
import { Line, Words } from "~/components/diff";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { StateMark, StateWord } from "~/components/state";
import { cn } from "~/lib/cn";
import { count } from "~/lib/format";
import type { BankId, BankRow } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { Logo } from "./logo";
import { OwnModel } from "./own-model";
import { strings } from "./strings";

/** The first minute: look round in the sample, or begin with nothing. Neither asks for anything. */
export function FirstRunScreen({
  sample,
  ready,
  onNewBank,
}: {
  /** The sample bank; null when it is gone. */
  sample: BankId | null;
  /** Whether it is complete. */
  ready: boolean;
  onNewBank: () => void;
}) {
  const navigate = useNavigate();
  const finish = useWrite("finishFirstRun");
  const look = useRead("look", []).data;
  const saveLook = useWrite("setLook");
  const restore = useWrite("restoreSample");
  const row = useRead("listBanks", []).data?.find(({ id }) => id === sample);
  const review = () => {
    if (!sample) return;
    if (look) saveLook.mutate([{ ...look, tour_done: false }]);
    // First away, then done: the first page leads elsewhere once it is done.
    void navigate({
      to: "/b/$bank/review/{-$proposal}",
      params: { bank: sample, proposal: undefined },
      search: {},
    }).then(() => finish.mutate([]));
  };
  return (
    <ScrollText label={strings.title}>
      <div className="mx-auto grid w-full max-w-[55rem] content-start gap-8 px-8 py-14 max-[1100px]:gap-5 max-[1100px]:py-7">
        <div className="flex items-start gap-5">
          <Logo className="size-14 shrink-0" />
          <div>
            <h1 className="max-w-[30rem] text-balance font-[650] text-[1.75rem] leading-9 tracking-[-0.018em]">
              {strings.title}
            </h1>
            <p className="type-doc mt-2 max-w-(--measure) text-pretty text-muted">{strings.lead}</p>
            <div className="mt-4 flex flex-wrap gap-2">
              {sample && (
                <Button
                  kind="primary"
                  autoFocus
                  unavailable={ready ? undefined : strings.sample.preparing}
                  onClick={review}
                >
                  {strings.review}
                </Button>
              )}
              <Button onClick={onNewBank}>{strings.empty}</Button>
              {!sample && (
                <Button disabled={restore.isPending} onClick={() => restore.mutate([])}>
                  {strings.restore}
                </Button>
              )}
            </div>
            {restore.error && (
              <ReportCard
                className="mt-4"
                report={restore.error}
                onRetry={() => restore.mutate([])}
              />
            )}
          </div>
        </div>
        <div className="grid grid-cols-2 gap-4 max-[799px]:grid-cols-1">
          {row && <Sample row={row} ready={ready} />}
          <OwnModel bank={sample} />
        </div>
      </div>
    </ScrollText>
  );
}

/** A card of the first page. */
export function FirstCard({
  title,
  badge,
  children,
}: {
  title: string;
  badge?: string;
  children: ReactNode;
}) {
  return (
    <section className="grid content-start gap-3 rounded-large border border-line bg-raised p-4">
      <div className="flex items-center gap-2">
        <h2 className="type-strong">{title}</h2>
        {badge && (
          <span className="ml-auto">
            <Badge>{badge}</Badge>
          </span>
        )}
      </div>
      {children}
    </section>
  );
}

/** The same card in the same size while the sample is made and after: nothing jumps. */
function Sample({ row, ready }: { row: BankRow; ready: boolean }) {
  const words = strings.sample;
  const numbers: [number, string][] = [
    [row.facts, words.counts.facts(row.facts)],
    [row.observations, words.counts.observations(row.observations)],
    [row.documents, words.counts.documents(row.documents)],
    [row.models, words.counts.models(row.models)],
  ];
  return (
    <FirstCard title={words.title} badge={words.badge}>
      <p className="text-pretty text-muted">{words.about}</p>
      <dl className="flex justify-between gap-2">
        {numbers.map(([value, name]) => (
          <div key={name} className="flex flex-col-reverse">
            <dt className="type-small text-muted">{name}</dt>
            <dd className="font-semibold text-[1.0625rem] leading-6">
              {ready ? count(value) : <Pulse className="w-6" />}
            </dd>
          </div>
        ))}
      </dl>
      {ready ? <Waiting bank={row.id} /> : <Making />}
    </FirstCard>
  );
}

/** Stands where the waiting change will be, in its size. */
function Making() {
  return (
    <div className="overflow-hidden rounded-md border border-line bg-ground">
      <p role="status" className="flex items-center gap-1.5 border-line border-b px-3 py-1">
        <StateMark mark="turning" tone="accent" />
        <span className="type-small text-muted">{strings.sample.making}</span>
      </p>
      <div className="grid h-20 content-center gap-2.5 px-3">
        <Pulse className="w-4/5" />
        <Pulse className="w-3/5" />
        <Pulse className="w-2/3" />
      </div>
    </div>
  );
}

function Pulse({ className }: { className: string }) {
  return (
    <span aria-hidden="true" className={cn("my-1.5 block h-3 rounded-small bg-hover", className)} />
  );
}

/** One line of the change that waits, to show what this is about. */
function Waiting({ bank }: { bank: BankId }) {
  const first = useRead("listProposals", [bank]).data?.[0];
  const view = useRead("getProposal", first ? [bank, first.id] : null).data;
  const op = view?.ops.find(
    ({ old_text, new_text, conflict }) => old_text && new_text && !conflict,
  );
  if (!op) return null;
  return (
    <figure
      aria-label={strings.sample.waiting}
      className="overflow-hidden rounded-md border border-line bg-ground [&_span]:[font:var(--type-list)]"
    >
      <figcaption className="border-line border-b px-3 py-1">
        <StateWord mark="diamond" tone="accent" className="type-small text-muted">
          {strings.sample.waiting}
        </StateWord>
      </figcaption>
      <Line change="del">
        <Words spans={op.words} side="del" />
      </Line>
      <Line change="ins">
        <Words spans={op.words} side="ins" />
      </Line>
    </figure>
  );
}
