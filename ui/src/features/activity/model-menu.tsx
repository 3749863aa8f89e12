import { useState } from "react";
import { Button } from "~/components/button";
import { DropSheet, DropSign, FoundList } from "~/components/found-list";
import { cn } from "~/lib/cn";
import type { BankId, ModelId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { strings } from "./strings";

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
  const models = useRead("listModels", open || model ? [bank] : null);
  const name = models.data?.find(({ id }) => id === model)?.name;
  const row = (id: ModelId | null, label: string) => (
    <li key={id ?? ""}>
      <button
        type="button"
        aria-pressed={id === model}
        onClick={() => {
          setOpen(false);
          onModel(id);
        }}
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
    <DropSheet
      label={strings.model}
      open={open}
      onOpen={setOpen}
      trigger={
        <Button className="max-w-48">
          {/* The blank keeps the words apart for those who hear them. */}
          <span className="type-small font-normal text-muted">{strings.model} </span>
          <span className="truncate font-normal">{model ? (name ?? "…") : strings.allModels}</span>
          <DropSign />
        </Button>
      }
    >
      <FoundList
        read={models}
        nameOf={({ name }) => name}
        words={{
          find: strings.findModel,
          none: strings.noModels,
          noneFound: strings.noModelFound,
          more: strings.moreModels,
        }}
      >
        {(found, all) => (
          <ul className="scroll-quiet max-h-64">
            {all && row(null, strings.allModels)}
            {found.map(({ id, name }) => row(id, name))}
          </ul>
        )}
      </FoundList>
    </DropSheet>
  );
}
