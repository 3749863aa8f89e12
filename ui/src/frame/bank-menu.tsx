import { useNavigate } from "@tanstack/react-router";
import { ChevronDown, Plus } from "lucide-react";
import { useState } from "react";
import { Icon } from "~/components/icon";
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "~/components/menu";
import { ReportCard } from "~/components/report";
import { useCommands } from "~/keys/use-commands";
import { plural } from "~/lib/format";
import type { BankId } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { NewBank } from "./new-bank";
import { strings } from "./strings";

/** The bank that is open, and the way to another. */
export function BankMenu({ bank }: { bank: BankId }) {
  const listed = useRead("listBanks", []);
  const banks = listed.data ?? [];
  const remember = useWrite("openBank");
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  useCommands({ "app.newBank": () => setMaking(true) });
  const name = banks.find(({ id }) => id === bank)?.name ?? bank;
  const open = (next: BankId) => {
    remember.mutate([next]);
    void navigate({
      to: "/b/$bank/review/{-$proposal}",
      params: { bank: next, proposal: undefined },
    });
  };
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            id="bank-menu"
            aria-label={strings.switchBank(name)}
            className="inline-flex h-(--control) min-w-0 items-center gap-2 rounded-md px-2 font-semibold hover:bg-hover"
          >
            <span className="truncate">{name}</span>
            <Icon of={ChevronDown} small />
          </button>
        }
      >
        <MenuLabel>{strings.banks}</MenuLabel>
        {listed.error && <ReportCard className="m-1 max-w-80" report={listed.error} />}
        {banks.map((row) => (
          <MenuItem key={row.id} onSelect={() => open(row.id)}>
            <span className="flex items-baseline gap-3">
              <span className={row.id === bank ? "font-semibold" : undefined}>{row.name}</span>
              <span className="type-small ml-auto text-faint">
                {strings.bankCounts(plural(row.facts, "fact"), row.waiting_reviews)}
              </span>
            </span>
          </MenuItem>
        ))}
        <MenuSeparator />
        <MenuItem icon={Plus} onSelect={() => setMaking(true)}>
          {strings.newBank.item}
        </MenuItem>
      </Menu>
      {making && <NewBank onClose={() => setMaking(false)} />}
    </>
  );
}
