import { ChevronDown } from "lucide-react";
import { Popover } from "radix-ui";
import { useState } from "react";
import { Button } from "~/components/button";
import { Checkbox, TextField } from "~/components/field";
import { Icon } from "~/components/icon";
import { ReportCard } from "~/components/report";
import { count } from "~/lib/format";
import type { BankId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { readTokens, writeAll } from "./filter";
import { strings } from "./strings";

/** Tags that are listed at once; the rest is found by letters. */
const SHOWN = 60;

/** The tags of the bank as boxes to tick; each is a token of the filter. */
export function TagMenu({
  bank,
  text,
  onText,
}: {
  bank: BankId;
  /** The filter: words and tokens. */
  text: string;
  onText: (text: string) => void;
}) {
  const { tokens, words } = readTokens(text, true);
  const chosen = tokens.filter(({ name }) => name === "tag").map(({ value }) => value);
  const toggle = (tag: string) =>
    onText(
      writeAll(
        chosen.includes(tag)
          ? tokens.filter(({ name, value }) => name !== "tag" || value !== tag)
          : [...tokens, { name: "tag", value: tag }],
        words,
      ),
    );
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button
          kind="plain"
          aria-label={chosen.length > 0 ? strings.tagMenuOf(chosen.length) : strings.tagMenu}
        >
          {strings.tagMenu}
          {chosen.length > 0 && (
            <span className="type-small text-accent-text">{chosen.length}</span>
          )}
          <Icon of={ChevronDown} small />
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label={strings.tagMenu}
          align="end"
          sideOffset={4}
          className="z-20 w-72 rounded-md bg-raised p-3 shadow-float"
        >
          <Tags bank={bank} chosen={chosen} onToggle={toggle} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Tags({
  bank,
  chosen,
  onToggle,
}: {
  bank: BankId;
  chosen: readonly string[];
  onToggle: (tag: string) => void;
}) {
  const read = useRead("listTags", [bank]);
  const tags = read.data;
  const [typed, setTyped] = useState("");
  if (read.error) return <ReportCard report={read.error} onRetry={() => void read.refetch()} />;
  if (!tags) return null;
  if (tags.length === 0) return <p className="text-muted">{strings.noTags}</p>;
  const letters = typed.trim().replace(/^#/, "").toLowerCase();
  const found = tags.filter(({ name }) => name.toLowerCase().includes(letters));
  const shown = found.slice(0, SHOWN);
  return (
    <div className="grid gap-2">
      {tags.length > 8 && (
        <TextField
          label={strings.findTag}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
      {found.length === 0 && <p className="type-small text-muted">{strings.noTagFound}</p>}
      <div className="scroll-quiet grid max-h-64 gap-0.5">
        {shown.map(({ name, memories }) => (
          <div key={name} className="flex items-center gap-2">
            <Checkbox
              className="min-w-0 flex-1 [&_label]:truncate"
              label={name}
              checked={chosen.includes(name)}
              onChange={() => onToggle(name)}
            />
            <span className="type-small shrink-0 pr-1 text-faint">{count(memories)}</span>
          </div>
        ))}
      </div>
      {found.length > shown.length && (
        <p className="type-small text-muted">{strings.moreTags(found.length - shown.length)}</p>
      )}
    </div>
  );
}
