/** How far running work is, as it is told between two reads of the list. */
import { useEffect, useState } from "react";
import type { OperationId, Progress } from "./bindings";
import { usePlatform } from "./index";

/** The newest progress of each operation heard of since the caller is on show. */
export function useProgress(): ReadonlyMap<OperationId, Progress> {
  const platform = usePlatform();
  const [live, setLive] = useState<ReadonlyMap<OperationId, Progress>>(new Map());
  useEffect(
    () =>
      platform.onProgress(({ id, progress }) =>
        setLive((before) => new Map(before).set(id, progress)),
      ),
    [platform],
  );
  return live;
}
