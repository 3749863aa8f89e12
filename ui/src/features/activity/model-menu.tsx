import { ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";
import { Button } from "~/components/button";
import { TextField } from "~/components/field";
import { Icon } from "~/components/icon";
import { ReportCard } from "~/components/report";
import { cn } from "~/lib/cn";
import type { BankId, ModelId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

/** Models that are listed at once; the rest is found by letters. */
const SHOWN = 60;

/** Narrows the list to the work of one model. */
export function ModelMenu({
  bank,
  model,
  onModel,
}: {
  bank: BankId;
  model: ModelId | null;
  onModel: (id: ModelId | null) => void;
}) {
  const [open, setOpen] = useState(false);
  const models = useRead("listModels", open || model ? [bank] : null).data;
  const name = models?.find(({ id }) => id === model)?.name;
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <Button className="max-w-48">
          {/* The blank keeps the words apart for those who hear them. */}
          <span className="type-small font-normal text-muted">{strings.model} </span>
          <span className="truncate font-normal">{model ? (name ?? "…") : strings.allModels}</span>
          <Icon of={ChevronDown} small />
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label={strings.model}
          align="end"
          sideOffset={4}
          className="z-20 w-72 rounded-md bg-raised p-3 shadow-float"
        >
          <Choice
            bank={bank}
            model={model}
            onModel={(id) => {
              setOpen(false);
              onModel(id);
            }}
          />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Choice({
  bank,
  model,
  onModel,
}: {
  bank: BankId;
  model: ModelId | null;
  onModel: (id: ModelId | null) => void;
}) {
  const models = useRead("listModels", [bank]);
  const [typed, setTyped] = useState("");
  if (models.error)
    return <ReportCard report={models.error} onRetry={() => void models.refetch()} />;
  if (!models.data) return null;
  if (models.data.length === 0) return <p className="text-muted">{strings.noModels}</p>;
  const letters = typed.trim().toLowerCase();
  const found = models.data.filter(({ name }) => name.toLowerCase().includes(letters));
  const shown = found.slice(0, SHOWN);
  const row = (id: ModelId | null, label: string) => (
    <li key={id ?? ""}>
      <button
        type="button"
        aria-pressed={id === model}
        onClick={() => onModel(id)}
        className={cn(
          "flex h-(--row) w-full items-center rounded-small px-2 text-left",
          id === model ? "bg-selected font-semibold" : "hover:bg-hover",
        )}
      >
        <span className="truncate">{label}</span>
      </button>
    </li>
  );
  return (
    <div className="grid gap-2">
      {models.data.length > 8 && (
        <TextField
          label={strings.findModel}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
      {found.length === 0 && <p className="type-small text-muted">{strings.noModelFound}</p>}
      <ul className="scroll-quiet max-h-64">
        {letters === "" && row(null, strings.allModels)}
        {shown.map(({ id, name }) => row(id, name))}
      </ul>
      {found.length > shown.length && (
        <p className="type-small text-muted">{strings.moreModels(found.length - shown.length)}</p>
      )}
    </div>
  );
}
