import { ChevronDown } from "lucide-react";
import { Button } from "~/components/button";
import { Icon } from "~/components/icon";
import { Menu, MenuCheck, MenuLabel, MenuSeparator } from "~/components/menu";
import { modelStates, modelStateWord } from "~/components/model-state";
import type { ModelRow } from "~/platform/bindings";
import type { ModelFilter, Schedule } from "./filter";
import { strings } from "./strings";

/** State and tags as menus of boxes; how many are ticked stands on the button. */
export function FilterMenus({
  models,
  filter,
  onFilter,
}: {
  models: readonly ModelRow[];
  filter: ModelFilter;
  onFilter: (filter: ModelFilter) => void;
}) {
  const tags = [...new Set(models.flatMap((model) => model.tags))].sort();
  const present = modelStates.filter((state) => models.some((model) => model.state === state));
  return (
    <>
      <Menu
        align="start"
        trigger={<MenuButton label={strings.state} chosen={filter.states.length} />}
      >
        {present.map((state) => (
          <MenuCheck
            key={state}
            checked={filter.states.includes(state)}
            onChecked={() => onFilter({ ...filter, states: toggle(filter.states, state) })}
          >
            {modelStateWord(state)}
          </MenuCheck>
        ))}
      </Menu>
      <Menu align="start" trigger={<MenuButton label={strings.tags} chosen={filter.tags.length} />}>
        {tags.length === 0 && <MenuLabel>{strings.noTags}</MenuLabel>}
        {tags.length > 1 && (
          <>
            <MenuCheck
              checked={filter.allTags}
              onChecked={() => onFilter({ ...filter, allTags: !filter.allTags })}
            >
              {strings.allTags}
            </MenuCheck>
            <MenuSeparator />
          </>
        )}
        {tags.map((tag) => (
          <MenuCheck
            key={tag}
            checked={filter.tags.includes(tag)}
            onChecked={() => onFilter({ ...filter, tags: toggle(filter.tags, tag) })}
          >
            {tag}
          </MenuCheck>
        ))}
      </Menu>
      <Menu
        align="start"
        trigger={<MenuButton label={strings.columns.schedule} chosen={filter.schedules.length} />}
      >
        {(Object.keys(strings.schedules) as Schedule[]).map((schedule) => (
          <MenuCheck
            key={schedule}
            checked={filter.schedules.includes(schedule)}
            onChecked={() => onFilter({ ...filter, schedules: toggle(filter.schedules, schedule) })}
          >
            {strings.schedules[schedule]}
          </MenuCheck>
        ))}
      </Menu>
    </>
  );
}

function MenuButton({ label, chosen, ...rest }: { label: string; chosen: number }) {
  return (
    <Button kind="plain" {...rest}>
      {label}
      {chosen > 0 && <span className="type-small text-accent-text">{chosen}</span>}
      <Icon of={ChevronDown} small />
    </Button>
  );
}

function toggle<T>(list: T[], value: T): T[] {
  return list.includes(value) ? list.filter((other) => other !== value) : [...list, value];
}
