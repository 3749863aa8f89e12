import { ReportCard } from "~/components/report";
import { SkeletonRows } from "~/components/skeleton";
import { count } from "~/lib/format";
import type { BankId, JsonValue, SettingValues } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { Card, Row } from "./card";
import { Setting } from "./setting";
import { strings } from "./strings";

const words = strings.work;

const everywhere = ["background_paused", "cron_tick_seconds"];
const refreshes = [
  "mental_model_min_refresh_interval_seconds",
  "daily_token_ceiling",
  "review_default",
];
const questions = ["reflect_wall_timeout"];
const observations = [
  "enable_observations",
  "enable_auto_consolidation",
  "observations_mission",
  "consolidation_llm_batch_size",
  "max_observations_per_scope",
  "invalidate",
];

/** What starts by itself: for the program as a whole, and for this bank. */
export function WorkPage({ bank }: { bank: BankId }) {
  const program = useRead("programSettings", []);
  const own = useRead("bankSettings", [bank]);
  const setProgram = useWrite("setProgramSettings");
  const setOwn = useWrite("setBankSettings");
  const fault = program.error ?? own.error;
  if (fault)
    return (
      <ReportCard
        report={fault}
        onRetry={() => {
          void program.refetch();
          void own.refetch();
        }}
      />
    );
  if (!program.data || !own.data) return <SkeletonRows rows={4} />;
  const ofBank = (keys: string[]) => (
    <Settings
      keys={keys}
      values={own.data}
      scope={words.bank}
      onSet={(patch) => setOwn.mutateAsync([bank, patch])}
    />
  );
  return (
    <>
      <Card title={words.now}>
        <Settings
          keys={everywhere}
          values={program.data}
          scope={words.program}
          onSet={(patch) => setProgram.mutateAsync([patch])}
        />
      </Card>
      <Card title={words.refreshes}>
        {ofBank(refreshes)}
        <Row
          title={words.today(count(own.data.tokens_today))}
          about={own.data.ceiling_reached ? words.reached : undefined}
        />
      </Card>
      <Card title={words.observations}>{ofBank(observations)}</Card>
      <Card title={words.questions}>{ofBank(questions)}</Card>
    </>
  );
}

function Settings({
  keys,
  values,
  scope,
  onSet,
}: {
  keys: readonly string[];
  values: SettingValues;
  scope: string;
  onSet: (patch: JsonValue) => Promise<unknown>;
}) {
  const stated = values.stated as Record<string, JsonValue>;
  const effective = values.effective as Record<string, JsonValue>;
  return keys.map((key) => {
    const info = values.settings.find((each) => each.key === key);
    const told = words.settings[key];
    if (!info || !told) return null;
    return (
      <Setting
        key={key}
        info={info}
        words={told}
        scope={scope}
        value={effective[key] ?? null}
        isStated={key in stated}
        onSet={(value) => onSet({ [key]: value })}
      />
    );
  });
}
