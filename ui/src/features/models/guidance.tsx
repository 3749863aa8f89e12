import { Ellipsis } from "lucide-react";
import { Badge } from "~/components/badge";
import { IconButton } from "~/components/button";
import { MemoryText } from "~/components/memory-text";
import { Menu, MenuItem, MenuSeparator } from "~/components/menu";
import { ReportCard } from "~/components/report";
import { day } from "~/lib/format";
import type { BankId, GuidanceChange, GuidanceItem, ModelDetail } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./model-strings";

const words = strings.guidance;

/** What reviews have told the refreshes of this model, and the way to take it back. */
export function Guidance({ bank, detail }: { bank: BankId; detail: ModelDetail }) {
  const change = useWrite("changeGuidance");
  if (detail.guidance.length === 0) return null;
  return (
    <section aria-label={words.title} className="grid gap-2 border-line border-t py-5">
      <h2 className="type-strong">{words.title}</h2>
      <p className="type-small text-faint">{words.about}</p>
      {change.error && <ReportCard report={change.error} />}
      <ul className="divide-y divide-line">
        {detail.guidance.map((item, place) => (
          <Item
            key={`${item.at} ${item.note} ${item.change}`}
            item={item}
            onChange={(to) => change.mutate([bank, detail.model.id, place, item.at, to])}
          />
        ))}
      </ul>
    </section>
  );
}

function Item({
  item,
  onChange,
}: {
  item: GuidanceItem;
  onChange: (change: GuidanceChange) => void;
}) {
  const note = item.kind === "note";
  return (
    <li className="flex items-start gap-2 py-2">
      <div className="min-w-0 flex-1">
        <p className="type-small flex flex-wrap items-center gap-1.5 text-faint">
          {note ? words.note : words.declined}
          <time dateTime={item.at}>{day(item.at)}</time>
          {note && <Badge>{item.standing ? words.standing : words.passing}</Badge>}
          {item.lapsed && <Badge kind="warn">{words.lapsed}</Badge>}
        </p>
        {item.change && (
          <p className={item.lapsed ? "text-muted line-through" : ""}>
            <MemoryText text={item.change} />
          </p>
        )}
        {item.note && (
          <q className={item.change ? "text-muted" : ""}>
            <MemoryText text={item.note} />
          </q>
        )}
      </div>
      <Menu trigger={<IconButton small icon={Ellipsis} name={strings.more} />}>
        {note && (
          <>
            <MenuItem onSelect={() => onChange(item.standing ? "pass" : "stand")}>
              {item.standing ? words.pass : words.stand}
            </MenuItem>
            <MenuSeparator />
          </>
        )}
        <MenuItem danger onSelect={() => onChange("remove")}>
          {words.remove}
        </MenuItem>
      </Menu>
    </li>
  );
}
