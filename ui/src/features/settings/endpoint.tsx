import { MoreHorizontal } from "lucide-react";
import { Badge } from "~/components/badge";
import { Button, IconButton } from "~/components/button";
import { Menu, MenuItem, MenuSeparator } from "~/components/menu";
import { ReportCard } from "~/components/report";
import { type Mark, StateMark, type Tone } from "~/components/state";
import { say } from "~/components/toast";
import { dayTime } from "~/lib/format";
import type { CheckReport, CheckVerdict, EndpointView } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./strings";

const words = strings.models;

const marks: Record<CheckVerdict, { mark: Mark; tone: Tone }> = {
  pass: { mark: "tick", tone: "ok" },
  warn: { mark: "triangle", tone: "warn" },
  fail: { mark: "octagon", tone: "bad" },
  skipped: { mark: "dashed", tone: "muted" },
};

/** One endpoint: where it is, what is known of it, what its check said. */
export function Endpoint({
  endpoint,
  onEdit,
  onRemove,
}: {
  endpoint: EndpointView;
  onEdit: () => void;
  onRemove: () => void;
}) {
  const check = useWrite("checkEndpoint");
  const choose = useWrite("chooseEndpoint");
  const forget = useWrite("forgetLearnt");
  const { key, check: checked } = endpoint;
  const state = checked
    ? checked.usable
      ? checked.lines.some(({ verdict }) => verdict === "warn" || verdict === "fail")
        ? marks.warn
        : marks.pass
      : marks.fail
    : marks.skipped;
  const forgetAll = () => forget.mutate([endpoint.id], { onSuccess: () => say(words.forgotten) });
  const report = check.error ?? choose.error ?? forget.error;
  return (
    <article aria-label={endpoint.name}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5">
        <StateMark mark={state.mark} tone={state.tone} className="mt-0.5 self-start" />
        <div className="min-w-48 flex-1">
          <p className="flex flex-wrap items-center gap-x-2">
            <span className="font-semibold">{endpoint.name}</span>
            {endpoint.in_use && <Badge kind="accent">{words.inUse}</Badge>}
          </p>
          <p className="type-small break-words text-muted">
            <span className="type-code select-text">{endpoint.base_url}</span>
            {` · ${endpoint.local ? words.here : words.elsewhere} · ${
              key ? words.keySet(key.last4, key.store) : words.noKey
            }`}
          </p>
        </div>
        <div className="flex items-center gap-2">
          <Button
            size="small"
            disabled={check.isPending}
            onClick={() => check.mutate([endpoint.id])}
          >
            {check.isPending ? words.checking : checked ? words.checkAgain : words.check}
          </Button>
          {!endpoint.in_use && (
            <Button size="small" onClick={() => choose.mutate([endpoint.id])}>
              {words.use}
            </Button>
          )}
          <Menu
            trigger={<IconButton icon={MoreHorizontal} small name={words.more(endpoint.name)} />}
          >
            <MenuItem onSelect={onEdit}>{words.edit}</MenuItem>
            {endpoint.in_use && (
              <MenuItem onSelect={() => choose.mutate([null])}>{words.stopUsing}</MenuItem>
            )}
            {endpoint.learnt.length > 0 && <MenuItem onSelect={forgetAll}>{words.forget}</MenuItem>}
            <MenuSeparator />
            <MenuItem danger onSelect={onRemove}>
              {words.remove}
            </MenuItem>
          </Menu>
        </div>
      </div>
      <div className="border-line border-t bg-ground px-4 py-3 last:rounded-b-large">
        <div className="flex items-baseline gap-3">
          <h3 className="type-strong min-w-0 truncate">{endpoint.llm ?? words.noModel}</h3>
          {endpoint.checked_at && (
            <span className="type-small ml-auto shrink-0 text-faint">
              {words.checkedAt(dayTime(endpoint.checked_at))}
            </span>
          )}
        </div>
        <p className="type-small text-muted">
          {words.limits(endpoint.window, endpoint.call_seconds ?? endpoint.usual_call_seconds)}
        </p>
        {report && <ReportCard report={report} className="mt-2" />}
        {checked ? (
          <CheckResult check={checked} />
        ) : (
          <p className="type-small text-muted">{words.notChecked}</p>
        )}
        {endpoint.learnt.length > 0 && (
          <details className="mt-2">
            <summary className="type-small min-h-6 content-center text-muted">
              {words.learntOf(endpoint.learnt.length)}
            </summary>
            <ul className="grid gap-1 py-1 pl-4">
              {endpoint.learnt.map((fact) => (
                <li key={fact.key}>
                  <p>{fact.words}</p>
                  <p className="type-small select-text break-words text-muted">
                    {`${words.learntSince(dayTime(fact.learned_at))} · ${fact.evidence}`}
                  </p>
                </li>
              ))}
            </ul>
            <Button size="small" className="mt-1 ml-4" onClick={forgetAll}>
              {words.forget}
            </Button>
          </details>
        )}
      </div>
    </article>
  );
}

/** The check, line by line, each with what to do about it. */
function CheckResult({ check }: { check: CheckReport }) {
  return (
    <>
      <p className="text-muted">{check.summary}</p>
      <dl className="mt-2 divide-y divide-line">
        {check.lines.map((line) => (
          <div
            key={line.key}
            className="grid grid-cols-[9rem_minmax(0,1fr)] gap-x-2 py-1 max-[1100px]:grid-cols-[7rem_minmax(0,1fr)]"
          >
            <dt className="text-muted">{words.lines[line.key] ?? line.key.replaceAll("_", " ")}</dt>
            <dd className="flex gap-1.5">
              <StateMark
                mark={marks[line.verdict].mark}
                tone={marks[line.verdict].tone}
                className="mt-0.5"
              />
              <span className="sr-only">{words.verdicts[line.verdict]}. </span>
              <div className="min-w-0">
                <p>{line.words}</p>
                {line.remedy && (
                  <p className="mt-1 mb-1 rounded-small bg-warn-soft px-2 py-1">{line.remedy}</p>
                )}
                {line.detail && (
                  <details>
                    <summary className="type-small min-h-6 content-center text-muted">
                      {words.detail}
                    </summary>
                    <p className="type-code select-text break-words pb-1">{line.detail}</p>
                  </details>
                )}
              </div>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
