import { useEffect, useRef } from "react";
import { Segmented } from "~/components/segmented";
import { useCommands } from "~/keys/use-commands";
import { strings } from "./strings";

const layouts = ["list", "folders"] as const;
export type Layout = (typeof layouts)[number];

/** Turns from the list of models to folders and back; both screens show it in the same place. */
export function LayoutSwitch({
  value,
  onLayout,
  takesFocus,
}: {
  value: Layout;
  onLayout: (layout: Layout) => void;
  /** Whether the other screen was just left by it: the focus goes on here. */
  takesFocus: boolean;
}) {
  const place = useRef<HTMLSpanElement>(null);
  useCommands({ "models.layout": () => onLayout(value === "list" ? "folders" : "list") });
  useEffect(() => {
    if (takesFocus) place.current?.querySelector<HTMLElement>("[aria-checked=true]")?.focus();
  }, [takesFocus]);
  return (
    <span ref={place}>
      <Segmented<Layout>
        label={strings.layout}
        value={value}
        onValue={onLayout}
        segments={layouts.map((each) => ({ value: each, label: strings.layouts[each] }))}
      />
    </span>
  );
}
