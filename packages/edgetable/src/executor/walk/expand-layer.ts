import type { PlannedHop } from "../../ir/walk-plan.ts";
import { defined } from "../../util/invariant.ts";
import { ONE_WAY } from "./gather.ts";
import { runLanes } from "./lanes.ts";
import type { NodeKey } from "./node-names.ts";
import { edgeReader } from "./read-edges.ts";
import type { WalkRun } from "./walk-run.ts";

/** The one hop of a plan that goes along one edge. */
const onlyHop = (run: WalkRun): PlannedHop => {
  const [hop] = run.request.plan.steps;
  return defined(hop?.kind === "hop" ? hop : undefined, "hop");
};

/**
 * Reads the edges of several nodes and tells of each.
 *
 * @returns the nodes that were not read, or not to the end
 */
export const expandLayer = async (
  run: WalkRun,
  frontier: readonly NodeKey[],
  tell: (from: NodeKey, to: NodeKey) => void,
): Promise<readonly NodeKey[]> => {
  const left: NodeKey[] = [];
  const keys = frontier.values();
  const read = edgeReader(run, onlyHop(run));
  const next = (): NodeKey | undefined => (run.spend.open ? keys.next().value : undefined);
  await runLanes({
    width: run.width,
    next,
    run: (key: NodeKey) => read({ key, ways: ONE_WAY, source: 0, start: undefined, taken: 0 }),
    done: ({ work, keys: ends, rest }) => {
      for (const end of ends) tell(work.key, end);
      if (rest) left.push(work.key);
    },
  });
  return [...left, ...keys];
};
