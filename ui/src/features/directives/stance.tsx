import { Link } from "@tanstack/react-router";
import { Scale } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Button } from "~/components/button";
import { balanced, DispositionFields, traits } from "~/components/disposition";
import { Icon } from "~/components/icon";
import { ReportCard } from "~/components/report";
import { ScrollText } from "~/components/scroll";
import { SkeletonRows } from "~/components/skeleton";
import { StateWord } from "~/components/state";
import type { BankId, Disposition, JsonValue, Report, SettingValues } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { strings } from "./strings";

/** What colours every answer of a bank: its disposition and its missions. Each change is kept at once. */
export function Stance({ bank }: { bank: BankId }) {
  const read = useRead("bankSettings", [bank]);
  const set = useWrite("setBankSettings");
  if (read.error)
    return (
      <div className="p-4">
        <ReportCard report={read.error} onRetry={() => void read.refetch()} />
      </div>
    );
  if (!read.data) return <SkeletonRows rows={6} />;
  const keep = (patch: JsonValue) => set.mutateAsync([bank, patch]);
  return (
    <ScrollText label={strings.stance} className="px-4 py-3">
      <div className="mx-auto grid max-w-[40rem] gap-5 pb-4">
        <DispositionCard key={bank} bank={bank} values={read.data} onKeep={keep} />
        <Card title={strings.missions.title}>
          <div className="divide-y divide-line">
            {missionKeys.map((key) => (
              <Mission
                key={`${bank} ${key}`}
                of={key}
                value={textOf(read.data, key)}
                onKeep={(text) => keep({ [key]: text === "" ? null : text })}
              />
            ))}
          </div>
        </Card>
      </div>
    </ScrollText>
  );
}

const missionKeys = ["reflect_mission", "retain_mission", "observations_mission"] as const;
type MissionKey = (typeof missionKeys)[number];

const effectiveOf = ({ effective }: SettingValues) => effective as Record<string, JsonValue>;

function textOf(values: SettingValues, key: MissionKey): string {
  const value = effectiveOf(values)[key];
  return typeof value === "string" ? value : "";
}

/** The disposition that is in force. */
function dispositionOf(values: SettingValues): Disposition {
  const effective = effectiveOf(values);
  const level = (of: (typeof traits)[number]) => {
    const value = effective[`disposition_${of}`];
    return typeof value === "number" ? value : balanced[of];
  };
  return {
    skepticism: level("skepticism"),
    literalism: level("literalism"),
    empathy: level("empathy"),
  };
}

function Card({ title, about, children }: { title: string; about?: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="type-strong">
        {title}
      </h2>
      {about && <p className="type-small text-pretty text-muted">{about}</p>}
      <div className="mt-2 rounded-large border border-line bg-raised">{children}</div>
    </section>
  );
}

/** Keeps one wish after the other; the newest wins on screen at once. */
function useKeep<T>(onKeep: (wish: T) => Promise<unknown>) {
  const [saved, setSaved] = useState(false);
  const [report, setReport] = useState<Report | null>(null);
  const newest = useRef(0);
  return {
    saved,
    report,
    keep: (wish: T): Promise<boolean> => {
      newest.current += 1;
      const own = newest.current;
      setSaved(false);
      setReport(null);
      return onKeep(wish).then(
        () => {
          if (own === newest.current) setSaved(true);
          return own === newest.current;
        },
        (refused: Report) => {
          if (own === newest.current) setReport(refused);
          return own === newest.current;
        },
      );
    },
  };
}

function Saved({ saved, word }: { saved: boolean; word: string }) {
  return (
    <span role="status" className="type-small min-h-4">
      {saved && (
        <StateWord mark="tick" tone="ok">
          {word}
        </StateWord>
      )}
    </span>
  );
}

function DispositionCard({
  bank,
  values,
  onKeep,
}: {
  bank: BankId;
  values: SettingValues;
  onKeep: (patch: JsonValue) => Promise<unknown>;
}) {
  const words = strings.disposition;
  const inForce = dispositionOf(values);
  // What a hand moves stands at once; what is in force takes over when it has been kept.
  const [moved, setMoved] = useState<Disposition | null>(null);
  const { saved, report, keep } = useKeep(onKeep);
  const change = (patch: JsonValue, shown: Disposition | null) => {
    setMoved(shown);
    void keep(patch).then((newest) => {
      if (newest) setMoved(null);
    });
  };
  const stated = values.stated as Record<string, JsonValue>;
  const isStated = traits.some((of) => typeof stated[`disposition_${of}`] === "number");
  return (
    <Card title={words.title} about={words.about}>
      <div className="px-4 py-3">
        <DispositionFields
          label={words.title}
          value={moved ?? inForce}
          onValue={(next) => {
            const before = moved ?? inForce;
            const patch = Object.fromEntries(
              traits
                .filter((of) => next[of] !== before[of])
                .map((of) => [`disposition_${of}`, next[of]]),
            );
            if (Object.keys(patch).length > 0) change(patch, next);
          }}
        />
        {report && (
          <p role="alert" className="type-small mt-2 text-bad">
            {report.fields[0]?.message ?? report.message}
          </p>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-2">
        <Button asChild>
          <Link to="/b/$bank/directives/compare" params={{ bank }} data-plain>
            <Icon of={Scale} small />
            {words.compare}
          </Link>
        </Button>
        <Saved saved={saved} word={words.saved} />
        {isStated && (
          <Button
            kind="plain"
            className="ml-auto"
            onClick={() =>
              change(Object.fromEntries(traits.map((of) => [`disposition_${of}`, null])), null)
            }
          >
            {words.reset}
          </Button>
        )}
      </div>
    </Card>
  );
}

/** A text of several lines, kept when the field is left or Ctrl Enter is pressed. */
function Mission({
  of,
  value,
  onKeep,
}: {
  of: MissionKey;
  value: string;
  onKeep: (text: string) => Promise<unknown>;
}) {
  const id = useId();
  const { title, about, placeholder } = strings.missions.fields[of];
  const [typed, setTyped] = useState({ text: value, over: value });
  const { saved, report, keep } = useKeep(onKeep);
  const text = typed.over === value ? typed.text : value;
  const asked = useRef(value);
  const leave = () => {
    const now = text.trim();
    // Ctrl Enter and leaving the field are one wish.
    if (now === value.trim() || now === asked.current) return;
    asked.current = now;
    void keep(now).then(() => {
      asked.current = "\0";
    });
  };
  const last = useRef(leave);
  useEffect(() => {
    last.current = leave;
  });
  // Going elsewhere by a key takes the field away without leaving it first.
  useEffect(() => () => last.current(), []);
  return (
    <div className="grid gap-1 px-4 py-3">
      <div className="flex items-baseline gap-2">
        <label htmlFor={id} className="font-medium">
          {title}
        </label>
        <span className="ml-auto">
          <Saved saved={saved && text.trim() === value.trim()} word={strings.missions.saved} />
        </span>
      </div>
      <p id={`${id}-about`} className="type-small text-pretty text-muted">
        {about}
      </p>
      <textarea
        id={id}
        rows={3}
        spellCheck
        value={text}
        placeholder={placeholder}
        aria-describedby={`${id}-about`}
        aria-invalid={report ? true : undefined}
        onChange={({ target }) => setTyped({ text: target.value, over: value })}
        onBlur={leave}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.stopPropagation();
            leave();
          }
        }}
        className="w-full resize-y rounded-md border border-control bg-raised px-2 py-1.5 placeholder:text-faint focus-visible:outline-offset-[-1px] aria-invalid:border-bad"
      />
      {report && (
        <p role="alert" className="type-small text-bad">
          {report.fields[0]?.message ?? report.message}
        </p>
      )}
    </div>
  );
}
