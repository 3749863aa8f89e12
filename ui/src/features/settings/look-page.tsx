import { Minus, Plus } from "lucide-react";
import { Button, IconButton } from "~/components/button";
import { Checkbox } from "~/components/field";
import { ReportCard } from "~/components/report";
import { Segmented } from "~/components/segmented";
import { SkeletonRows } from "~/components/skeleton";
import type { Look, Theme } from "~/platform/bindings";
import { useRead, useWrite } from "~/platform/cache";
import { Card, Row } from "./card";
import { strings } from "./strings";

const words = strings.look;
const themes: Theme[] = ["system", "light", "dark"];

/** Theme, text size, and whether single letters are keys. */
export function LookPage() {
  const read = useRead("look", []);
  const look = read.data;
  const save = useWrite("setLook");
  if (read.error) return <ReportCard report={read.error} onRetry={() => void read.refetch()} />;
  if (!look) return <SkeletonRows rows={2} />;
  const set = (part: Partial<Look>) => save.mutate([{ ...look, ...part }]);
  const zoom = look.text_zoom ?? 100;
  const resize = (to: number) => set({ text_zoom: Math.min(300, Math.max(50, to)) });
  return (
    <>
      {save.error && <ReportCard report={save.error} />}
      <Card title={words.look}>
        <Row title={words.theme}>
          <Segmented<Theme>
            label={words.theme}
            value={look.theme ?? "system"}
            onValue={(theme) => set({ theme })}
            segments={themes.map((value) => ({ value, label: words.themes[value] }))}
          />
        </Row>
        <Row title={words.size} about={words.sizeHelp}>
          <div className="flex items-center gap-1">
            <IconButton icon={Minus} name={words.smaller} onClick={() => resize(zoom - 10)} />
            <output aria-label={words.size} className="w-14 text-center">
              {words.percent(zoom)}
            </output>
            <IconButton icon={Plus} name={words.larger} onClick={() => resize(zoom + 10)} />
            <Button kind="plain" size="small" onClick={() => resize(100)}>
              {words.reset}
            </Button>
          </div>
        </Row>
      </Card>
      <Card title={words.keys}>
        <div className="px-4 py-3">
          <Checkbox
            label={words.single}
            help={words.singleHelp}
            checked={look.single_keys ?? true}
            onChange={({ target }) => set({ single_keys: target.checked })}
          />
        </div>
      </Card>
    </>
  );
}
