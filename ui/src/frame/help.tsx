import { Button } from "~/components/button";
import { FormDialog } from "~/components/dialog";
import { Strokes } from "~/components/keys";
import { COMMANDS, type CommandId, GROUPS } from "~/keys/registry";
import { useActiveCommands } from "~/keys/use-commands";
import { strings } from "./strings";

/** Every key that does something on this screen, from the registry. */
export function Help({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const active = useActiveCommands();
  const groups = GROUPS.map((group) => ({
    group,
    ids: (Object.keys(COMMANDS) as CommandId[]).filter(
      (id) => COMMANDS[id].group === group && active.has(id),
    ),
  })).filter(({ ids }) => ids.length > 0);
  return (
    <FormDialog
      open={open}
      onOpenChange={onOpenChange}
      title={strings.help.title}
      about={strings.help.about}
      reading
      foot={<Button onClick={() => onOpenChange(false)}>{strings.help.close}</Button>}
    >
      {groups.map(({ group, ids }) => (
        <section key={group} aria-label={group}>
          <h3 className="type-label pt-1 pb-1 text-faint">{group}</h3>
          <ul>
            {ids.map((id) => (
              <li key={id} className="flex min-h-6 items-center gap-2">
                <span className="flex-1">{COMMANDS[id].words}</span>
                {COMMANDS[id].keys.map((keys) => (
                  <Strokes key={keys} keys={keys} />
                ))}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </FormDialog>
  );
}
