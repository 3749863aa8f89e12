import { type Control, useWatch } from "react-hook-form";
import { scheduleWords } from "~/lib/schedule";
import { strings } from "./form-strings";
import { cronOf, type FormValues } from "./form-values";

/** The form in three sentences, as it stands. */
export function Summary({ control }: { control: Control<FormValues> }) {
  const values = useWatch({ control }) as FormValues;
  const cron = cronOf(values);
  const when =
    values.when === "manual" ? strings.manual : cron ? scheduleWords(cron) : strings.after;
  return (
    <aside aria-label={strings.summary} className="max-[1100px]:hidden">
      <div className="sticky top-5 grid gap-2 border-line border-l pl-4">
        <h2 className="type-label text-faint">{strings.summary}</h2>
        <p className="type-strong text-balance">{values.name || strings.title}</p>
        {values.question && <p className="text-muted">{values.question}</p>}
        <ul className="grid gap-1 text-muted">
          <li>{when}.</li>
          <li>{values.mode === "delta" ? strings.deltaHelp : strings.fullHelp}</li>
          <li>{values.review === "manual" ? strings.reviewManualHelp : strings.reviewAutoHelp}</li>
        </ul>
      </div>
    </aside>
  );
}
