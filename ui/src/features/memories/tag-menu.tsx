import { useState } from "react";
import { Button } from "~/components/button";
import { Checkbox } from "~/components/field";
import { DropSheet, DropSign, FoundList } from "~/components/found-list";
import { count } from "~/lib/format";
import type { BankId } from "~/platform/bindings";
import { useRead } from "~/platform/cache";
import { readTokens, writeAll } from "./filter";
import { strings } from "./strings";

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
  const [open, setOpen] = useState(false);
  const tags = useRead("listTags", open ? [bank] : null);
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
    <DropSheet
      label={strings.tagMenu}
      open={open}
      onOpen={setOpen}
      trigger={
        <Button
          kind="plain"
          aria-label={chosen.length > 0 ? strings.tagMenuOf(chosen.length) : strings.tagMenu}
        >
          {strings.tagMenu}
          {chosen.length > 0 && (
            <span className="type-small text-accent-text">{chosen.length}</span>
          )}
          <DropSign />
        </Button>
      }
    >
      <FoundList
        read={tags}
        nameOf={({ name }) => name}
        sign="#"
        words={{
          find: strings.findTag,
          none: strings.noTags,
          noneFound: strings.noTagFound,
          more: strings.moreTags,
        }}
      >
        {(found) => (
          <div className="scroll-quiet grid max-h-64 gap-0.5">
            {found.map(({ name, memories }) => (
              <div key={name} className="flex items-center gap-2">
                <Checkbox
                  className="min-w-0 flex-1 [&_label]:truncate"
                  label={name}
                  checked={chosen.includes(name)}
                  onChange={() => toggle(name)}
                />
                <span className="type-small shrink-0 pr-1 text-faint">{count(memories)}</span>
              </div>
            ))}
          </div>
        )}
      </FoundList>
    </DropSheet>
  );
}
