import { Link, useNavigate } from "@tanstack/react-router";
import {
  ChevronLeft,
  Ellipsis,
  Eraser,
  FileDown,
  FlaskConical,
  Hammer,
  RefreshCw,
  Trash2,
} from "lucide-react";
import { useState } from "react";
import { Badge } from "~/components/badge";
import { Button, IconButton } from "~/components/button";
import { Back, Confirm } from "~/components/dialog";
import { Icon } from "~/components/icon";
import { attend } from "~/components/left-behind";
import { Menu, MenuItem, MenuSeparator } from "~/components/menu";
import { ModelStateWord } from "~/components/model-state";
import { ReportCard } from "~/components/report";
import { StateMark } from "~/components/state";
import { say } from "~/components/toast";
import type { BankId, ModelDetail } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./model-strings";
import type { DryRun } from "./use-dry-run";
import { useExport } from "./use-export";
import type { Refresh } from "./use-refresh";

/** Name, state, question, and the one thing to do next: review what waits, else refresh. */
export function ModelHead({
  bank,
  detail,
  refresh,
  dry,
}: {
  bank: BankId;
  detail: ModelDetail;
  refresh: Refresh;
  dry: DryRun;
}) {
  const { model } = detail;
  const [asking, setAsking] = useState<"clear" | "remove" | null>(null);
  const files = useExport(bank);
  return (
    <header className="shrink-0 border-line border-b pt-2 pr-4 pb-2.5 pl-3">
      <div className="flex min-w-0 items-center gap-2">
        <Link
          to="/b/$bank/models"
          params={{ bank }}
          aria-label={strings.all}
          title={strings.all}
          className="grid size-(--control-small) shrink-0 place-items-center rounded-md text-muted hover:bg-hover"
        >
          <Icon of={ChevronLeft} />
        </Link>
        <h1 className="type-title truncate">{model.name}</h1>
        <ModelStateWord model={model} className="type-small shrink-0 [&_svg]:size-3" />
        {detail.extractive && !model.placeholder && (
          <span title={strings.extractiveHint} className="hidden wide:inline">
            <Badge>{strings.extractive}</Badge>
          </span>
        )}
        <div className="ml-auto flex shrink-0 items-center gap-2">
          <Primary bank={bank} detail={detail} refresh={refresh} />
          <Menu trigger={<IconButton icon={Ellipsis} name={strings.more} />}>
            <MenuItem
              icon={RefreshCw}
              command="model.refresh"
              onSelect={() => void refresh.run(model, false)}
            >
              {strings.refresh}
            </MenuItem>
            {/* Where each refresh writes the document anew there is nothing to ask for besides. */}
            {model.mode === "delta" && !model.placeholder && (
              <MenuItem icon={Hammer} onSelect={() => void refresh.run(model, true)}>
                {strings.rebuild}
              </MenuItem>
            )}
            <MenuItem
              icon={FlaskConical}
              command="model.dryRun"
              disabled={dry.unavailable !== undefined}
              onSelect={dry.run}
            >
              {strings.dry.act}
            </MenuItem>
            <MenuItem icon={FileDown} onSelect={() => void files.run([model])}>
              {strings.export}
            </MenuItem>
            <MenuSeparator />
            <MenuItem
              icon={Eraser}
              disabled={model.placeholder}
              onSelect={() => setAsking("clear")}
            >
              {strings.clear}
            </MenuItem>
            <MenuItem icon={Trash2} danger onSelect={() => setAsking("remove")}>
              {strings.remove}
            </MenuItem>
          </Menu>
        </div>
      </div>
      <p className="type-small mt-0.5 truncate pl-8 text-muted" title={model.source_query}>
        {model.source_query}
      </p>
      {refresh.fault && <ReportCard report={refresh.fault} className="mt-2 ml-8" />}
      {files.fault && <ReportCard report={files.fault} className="mt-2 ml-8" />}
      {dry.fault && <ReportCard report={dry.fault} className="mt-2 ml-8" onRetry={dry.run} />}
      {dry.running && (
        <p role="status" className="type-small mt-2 ml-8 flex items-center gap-2 text-muted">
          <StateMark mark="turning" tone="accent" className="size-3" />
          {strings.dry.running}
          <Button size="small" onClick={dry.stop}>
            {strings.dry.stop}
          </Button>
        </p>
      )}
      {refresh.question}
      {asking === "clear" && <Clear bank={bank} detail={detail} onGone={() => setAsking(null)} />}
      {asking === "remove" && <Remove bank={bank} detail={detail} onGone={() => setAsking(null)} />}
    </header>
  );
}

function Primary({
  bank,
  detail,
  refresh,
}: {
  bank: BankId;
  detail: ModelDetail;
  refresh: Refresh;
}) {
  const { model } = detail;
  const waiting = model.open_proposal;
  const ask = (
    <Button
      kind={waiting ? "normal" : "primary"}
      command="model.refresh"
      disabled={refresh.busy}
      unavailable={refresh.unavailable(model)}
      onClick={() => void refresh.run(model, false)}
      className={waiting ? "hidden wide:inline-flex" : undefined}
    >
      {model.state === "refreshing" ? strings.refreshing : strings.refresh}
    </Button>
  );
  if (!waiting) return ask;
  return (
    <>
      {ask}
      <Button kind="primary" asChild>
        <Link data-plain to="/b/$bank/review/{-$proposal}" params={{ bank, proposal: waiting.id }}>
          {strings.review(waiting.operations)}
        </Link>
      </Button>
    </>
  );
}

function Clear({
  bank,
  detail,
  onGone,
}: {
  bank: BankId;
  detail: ModelDetail;
  onGone: () => void;
}) {
  const clear = useWrite("clearModel");
  const words = strings.clearing;
  const { model } = detail;
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onGone()}
      title={words.title(model.name)}
      about={words.about}
      foot={
        <>
          <Back asChild>
            <Button>{words.back}</Button>
          </Back>
          <Button
            kind="danger"
            disabled={clear.isPending}
            onClick={() =>
              clear.mutate([bank, model.id, model.version], {
                onSuccess: () => {
                  onGone();
                  say(words.done);
                },
              })
            }
          >
            {words.act}
          </Button>
        </>
      }
    >
      {clear.error && <ReportCard report={clear.error} />}
    </Confirm>
  );
}

function Remove({
  bank,
  detail,
  onGone,
}: {
  bank: BankId;
  detail: ModelDetail;
  onGone: () => void;
}) {
  const remove = useWrite("deleteModel");
  const navigate = useNavigate();
  const words = strings.removing;
  const { model } = detail;
  return (
    <Confirm
      open
      onOpenChange={(open) => !open && onGone()}
      title={words.title(model.name)}
      about={words.about}
      foot={
        <>
          <Back asChild>
            <Button>{words.back}</Button>
          </Back>
          <Button
            kind="danger"
            onClick={async () => {
              // Left first, so that the screen of a deleted model is never asked for again.
              await navigate({ to: "/b/$bank/models", params: { bank }, search: {} });
              void attend(words.failed(model.name), async () => {
                await remove.mutateAsync([bank, model.id]);
                say(words.done(model.name));
              });
            }}
          >
            {words.act}
          </Button>
        </>
      }
    />
  );
}
