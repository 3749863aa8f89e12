import { say } from "~/components/toast";
import { usePlatform } from "~/platform";
import type { BankId, ModelRow, Report } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings as one } from "./model-strings";
import { strings } from "./strings";

/** Saves models as Markdown files into a folder that is asked for. */
export function useExport(bank: BankId): {
  run(models: readonly ModelRow[]): Promise<void>;
  busy: boolean;
  fault: Report | null;
} {
  const platform = usePlatform();
  const save = useWrite("saveModels");
  return {
    run: async (models) => {
      const [only] = models;
      if (!only) return;
      const title = models.length === 1 ? one.exportTitle : strings.bulk.exportTitle;
      const [folder] = (await platform.chooseFiles({ title, folders: true })) ?? [];
      if (folder === undefined) return;
      save.mutate([bank, models.map(({ id }) => id), folder], {
        onSuccess: (files) =>
          say(models.length === 1 ? one.exported(only.name) : strings.bulk.exported(files)),
      });
    },
    busy: save.isPending,
    fault: save.error,
  };
}
