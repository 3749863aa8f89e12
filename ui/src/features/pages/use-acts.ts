import { useAnnounce } from "~/components/announce";
import { attend } from "~/components/left-behind";
import { say } from "~/components/toast";
import { usePlatform } from "~/platform";
import type { BankId, NodePlace, Report, TreeNode } from "~/platform/bindings";
import { useWrite } from "~/platform/cache";
import { strings } from "./strings";
import { placeOf, type Step, stepped } from "./tree";

const words = strings.acts;

export interface PageActs {
  /** Puts a node somewhere else, with the way back. */
  move(node: TreeNode, place: NodePlace, after?: () => void): void;
  /** One step by a key or a button; a sentence instead where there is no such place. */
  step(node: TreeNode, step: Step): string | (() => void);
  /** Takes a page out of the tree, with the way back; its model stays. */
  release(page: TreeNode, after: () => void): void;
  /** Writes all pages as files into a folder that is asked for. */
  save(): Promise<void>;
  busy: boolean;
  report: Report | null;
}

/** What can be done with nodes without asking for more. */
export function useActs(bank: BankId, nodes: readonly TreeNode[]): PageActs {
  const platform = usePlatform();
  const announce = useAnnounce();
  const update = useWrite("updateNode");
  const back = useWrite("updateNode");
  const bundle = useWrite("savePageBundle");
  const release = useWrite("releasePage");
  const adopt = useWrite("adoptModel");

  const move: PageActs["move"] = (node, place, after) => {
    const before = placeOf(nodes, node);
    // Only the last try is told.
    bundle.reset();
    release.reset();
    update.mutate([bank, node.id, { place }], {
      onSuccess: () => {
        const others = nodes.filter(
          ({ parent_id, id }) => parent_id === place.parent_id && id !== node.id,
        ).length;
        const folder = nodes.find(({ id }) => id === place.parent_id)?.name ?? strings.root;
        const at = Math.min(place.position ?? others, others) + 1;
        const done = words.moved(node.name, at, others + 1, folder);
        announce(done);
        say(done, {
          label: words.undo,
          run: () => {
            void attend(words.notUndone, () =>
              back.mutateAsync([bank, node.id, { place: before }]),
            );
          },
        });
        after?.();
      },
    });
  };

  return {
    move,
    step: (node, step) => {
      const place = stepped(nodes, node, step);
      return place ? () => move(node, place) : words.noStep[step];
    },
    release: (node, after) => {
      const { page } = node;
      if (!page) return;
      const before = placeOf(nodes, node);
      update.reset();
      bundle.reset();
      release.mutate([bank, node.id], {
        onSuccess: () => {
          announce(words.released(node.name));
          say(words.released(node.name), {
            label: words.undo,
            run: () => {
              void attend(words.notUndone, () =>
                adopt.mutateAsync([bank, page.mental_model_id, before]),
              );
            },
          });
          after();
        },
      });
    },
    save: async () => {
      const [folder] =
        (await platform.chooseFiles({ title: strings.exportTitle, folders: true })) ?? [];
      if (folder === undefined) return;
      update.reset();
      release.reset();
      bundle.mutate([bank, folder], { onSuccess: (files) => say(strings.exported(files)) });
    },
    busy: update.isPending || bundle.isPending || release.isPending,
    report: update.error ?? bundle.error ?? release.error,
  };
}
