import { useLocation, useNavigate } from "@tanstack/react-router";
import { Popover } from "radix-ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useAnnounce } from "~/components/announce";
import { Button } from "~/components/button";
import { Strokes } from "~/components/keys";
import { useCommands } from "~/keys/use-commands";
import { cn } from "~/lib/cn";
import type { BankId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.tour;

/** Where each callout points: the first of these that is in the page. */
const anchors: readonly (readonly string[])[] = [
  ["#evidence-text article", "article[aria-current]"],
  ["article[aria-current] [role=radiogroup]", "article [role=radiogroup]"],
  ["[role=tab][id$=-trigger-result]"],
  ["[data-tour=approve]"],
];
/** Beside what is read, never over it where there is room. */
const sides = ["bottom", "right", "right", "top"] as const;

/**
 * The tour of the review screen. It belongs to the sample bank: shown there until it has ended
 * once, and again from the palette. A bank of the person's own is never pointed at.
 */
export function Tour({ bank }: { bank: BankId }) {
  const look = useRead("look", []).data;
  const sample = useRead("appStatus", []).data?.sample_bank ?? null;
  const save = useWrite("setLook");
  const waiting = useRead("listProposals", sample === null ? null : [sample]).data?.length ?? 0;
  const navigate = useNavigate();
  const reviewing = useLocation({ select: ({ pathname }) => pathname.includes("/review") });
  const shown = look?.tour_done === false && reviewing && bank === sample && waiting > 0;
  useCommands({
    "app.tour":
      sample === null
        ? words.noSample
        : waiting === 0
          ? words.nothing
          : () => {
              if (look) save.mutate([{ ...look, tour_done: false }]);
              void navigate({
                to: "/b/$bank/review/{-$proposal}",
                params: { bank: sample, proposal: undefined },
                search: {},
              });
            },
  });
  if (!shown || !look) return null;
  return <Steps bank={bank} onEnd={() => save.mutate([{ ...look, tour_done: true }])} />;
}

/** One callout after another. Doing what it says leads on; so does its button. */
function Steps({ bank, onEnd }: { bank: BankId; onEnd: () => void }) {
  const [step, setStep] = useState(0);
  const announce = useAnnounce();
  const rows = useRead("listProposals", [bank]).data;
  const { op, view } = useLocation({
    select: ({ search }) => search as { op?: string; view?: string },
  });
  const decided = JSON.stringify(rows?.map(({ decisions }) => decisions) ?? "");
  const seen = [op ?? "", decided, view ?? "", `${rows?.length ?? 0}`][step] ?? "";
  const before = useRef<{ step: number; seen: string } | null>(null);
  const end = useRef(onEnd);
  end.current = onEnd;

  const next = () => {
    if (step + 1 < words.steps.length) setStep(step + 1);
    else onEnd();
  };
  useEffect(() => {
    const was = before.current;
    before.current = { step, seen };
    if (was === null || was.step !== step || was.seen === seen) return;
    if (step === 2 && seen !== "result") return;
    if (step + 1 < words.steps.length) setStep(step + 1);
    else end.current();
  }, [step, seen]);

  const text = words.steps[step];
  useEffect(() => {
    if (text) announce(`${text.title}. ${text.text.replaceAll("`", "")}`);
  }, [text, announce]);
  if (!text) return null;
  return (
    <Callout key={step} at={anchors[step] ?? []} side={sides[step] ?? "top"} onEnd={onEnd}>
      <h2 className="type-strong">{text.title}</h2>
      <p className="mt-1 text-pretty text-muted">
        <WithCaps text={text.text} />
      </p>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <span aria-hidden="true" className="flex gap-1 max-[1100px]:hidden">
          {words.steps.map(({ title }, place) => (
            <span
              key={title}
              className={cn("size-1.5 rounded-full", place === step ? "bg-accent" : "bg-control")}
            />
          ))}
        </span>
        <span className="type-small text-muted">{words.of(step + 1, words.steps.length)}</span>
        <span className="ml-auto flex gap-1">
          <Button kind="plain" size="small" onClick={onEnd}>
            {words.end}
            <Strokes keys="escape" />
          </Button>
          <Button size="small" onClick={next}>
            {step + 1 === words.steps.length ? words.finish : words.next}
          </Button>
        </span>
      </div>
    </Callout>
  );
}

/** Keys between backticks are drawn as caps. */
function WithCaps({ text }: { text: string }) {
  return text.split("`").map((piece, place) => {
    const key = `${place}`;
    if (place % 2 === 0) return <span key={key}>{piece}</span>;
    return (
      <span key={key}>
        <span className="sr-only">{piece}</span>
        <Strokes keys={piece.toLowerCase().replace("ctrl ", "mod+")} className="mx-0.5" />
      </span>
    );
  });
}

/** A note tied to a control. It takes no focus and keeps nothing from being used. */
function Callout({
  at,
  side,
  onEnd,
  children,
}: {
  at: readonly string[];
  side: "bottom" | "right" | "top";
  onEnd: () => void;
  children: ReactNode;
}) {
  const [anchor, setAnchor] = useState<Element | null>(null);
  // The control may come later than the callout, or be drawn anew: whoever is there now is taken.
  useEffect(() => {
    const look = () => {
      const found = at.map((each) => document.querySelector(each)).find((each) => each !== null);
      setAnchor(found ?? null);
    };
    look();
    const watcher = new MutationObserver(look);
    watcher.observe(document.getElementById("content") ?? document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["aria-current"],
    });
    return () => watcher.disconnect();
  }, [at]);
  if (!anchor) return null;
  return (
    <Popover.Root open>
      <Popover.Anchor virtualRef={{ current: anchor }} />
      <Popover.Content
        aria-label={words.label}
        side={side}
        align="center"
        sideOffset={8}
        collisionPadding={12}
        updatePositionStrategy="always"
        onOpenAutoFocus={(event) => event.preventDefault()}
        onCloseAutoFocus={(event) => event.preventDefault()}
        onInteractOutside={(event) => event.preventDefault()}
        onEscapeKeyDown={onEnd}
        className="z-20 w-72 max-[1100px]:w-56 rounded-large bg-raised p-4 shadow-float"
      >
        {children}
        <Popover.Arrow className="fill-raised" width={16} height={8} />
      </Popover.Content>
    </Popover.Root>
  );
}
