import { type Control, useWatch } from "react-hook-form";
import { scheduleWords } from "~/lib/schedule";
import type { BankId } from "~/platform/bindings";
import { strings } from "./form-strings";
import { cronOf, type FormValues } from "./form-values";
import { Reach } from "./reach";

/** The form in a few sentences, as it stands. */
export function Summary({ bank, control }: { bank: BankId; control: Control<FormValues> }) {
  const values = useWatch({ control }) as FormValues;
  const cron = cronOf(values);
  const when =
    values.when === "manual" ? strings.manual : cron ? scheduleWords(cron) : strings.after;
  return (
    <aside aria-label={strings.summary} className="max-[1100px]:hidden">
      <div className="sticky top-5 mt-5 grid gap-2 border-line border-l pl-4">
        <h2 className="type-label text-faint">{strings.summary}</h2>
        <p className="type-strong text-balance">{values.name || strings.title}</p>
        {values.question && <p className="line-clamp-6 text-muted">{values.question}</p>}
        <ul className="grid gap-1 text-muted">
          <li>{when}.</li>
          <li>{values.mode === "delta" ? strings.deltaHelp : strings.fullHelp}</li>
          {values.mode === "delta" && values.rebuild && (
            <li>{strings.summaryRebuild(scheduleWords(values.rebuildCron))}</li>
          )}
          <li>{values.review === "manual" ? strings.reviewManualHelp : strings.reviewAutoHelp}</li>
        </ul>
        <Reach bank={bank} control={control} />
      </div>
    </aside>
  );
}
