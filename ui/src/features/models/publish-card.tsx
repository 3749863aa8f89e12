import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "~/components/button";
import { Checkbox, TextField } from "~/components/field";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import type { BankId, ModelDetail, PublishedFile } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

const words = strings.file;

/** The file that each version is written to, how it stands, and the way to change it. */
export function PublishCard({ bank, detail }: { bank: BankId; detail: ModelDetail }) {
  const { publish } = detail;
  const model = detail.model.id;
  const [path, setPath] = useState(publish?.path ?? "");
  const [header, setHeader] = useState(publish?.front_matter ?? false);
  const set = useWrite("setPublishTarget");
  const clear = useWrite("clearPublishTarget");
  const now = useWrite("publishNow");
  const busy = set.isPending || clear.isPending || now.isPending;
  const fault = set.error ?? clear.error ?? now.error;
  const faultOfPath = fault?.fields.find(({ field }) => field.endsWith("path"))?.message;
  const same = publish?.path === path.trim() && publish.front_matter === header;
  const unavailable = path.trim() === "" ? words.noPath : same ? words.same : undefined;
  const state = () => {
    if (busy || unavailable) return;
    set.mutate([bank, model, { path: path.trim(), front_matter: header }]);
  };
  return (
    <section aria-label={words.title} className="grid gap-3 py-5">
      <h2 className="type-strong">{words.title}</h2>
      <p className="text-muted">{words.about}</p>
      {publish && <Standing bank={bank} file={publish} />}
      {fault && !faultOfPath && <ReportCard report={fault} />}
      <TextField
        label={words.path}
        help={words.pathHelp}
        fault={faultOfPath}
        value={path}
        spellCheck={false}
        onChange={(event) => setPath(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          // The card stands among the settings, which are not meant by this Enter.
          event.preventDefault();
          state();
        }}
      />
      <Checkbox
        label={words.header}
        checked={header}
        onChange={(event) => setHeader(event.target.checked)}
      />
      <div className="flex flex-wrap gap-2">
        <Button disabled={busy} unavailable={unavailable} onClick={state}>
          {publish ? words.change : words.set}
        </Button>
        {publish && (
          <>
            <Button
              disabled={busy}
              unavailable={
                publish.state === "changed_outside" && publish.error === null
                  ? words.outside
                  : undefined
              }
              onClick={() => now.mutate([bank, model], { onSuccess: () => say(words.written) })}
            >
              {words.now}
            </Button>
            <Button
              kind="plain"
              disabled={busy}
              onClick={() =>
                clear.mutate([bank, model], {
                  onSuccess: () => {
                    setPath("");
                    say(words.cleared);
                  },
                })
              }
            >
              {words.clear}
            </Button>
          </>
        )}
      </div>
    </section>
  );
}

function Standing({ bank, file }: { bank: BankId; file: PublishedFile }) {
  const holds = file.last_version === null ? words.never : words.version(file.last_version);
  if (file.state === "ok") {
    return (
      <p className="flex gap-2">
        <StateMark mark="tick" tone="ok" className="mt-0.5" />
        {holds}
      </p>
    );
  }
  const outside = file.state === "changed_outside";
  return (
    <div className="flex flex-wrap items-start gap-2 rounded-md bg-warn-soft px-3 py-2">
      <StateMark mark={outside ? "triangle" : "octagon"} tone={outside ? "warn" : "bad"} />
      <div className="min-w-0 flex-1">
        <p>{outside ? words.outside : words.failed}</p>
        {file.error && <p className="type-small text-muted">{file.error}</p>}
        <p className="type-small text-muted">{holds}</p>
      </div>
      {file.proposal && (
        <Button size="small" asChild>
          <Link
            data-plain
            to="/b/$bank/review/{-$proposal}"
            params={{ bank, proposal: file.proposal }}
            search={{}}
          >
            {words.review}
          </Link>
        </Button>
      )}
    </div>
  );
}
