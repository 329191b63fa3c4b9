import { ONE_WAY } from "./gather.ts";
import { runLanes } from "./lanes.ts";
import { onlyHop, type NodeFilter } from "./node-filter.ts";
import type { NodeKey } from "./node-names.ts";
import { edgeReader } from "./read-edges.ts";
import type { WalkRun } from "./walk-run.ts";

interface Expansion {
  readonly frontier: readonly NodeKey[];
  readonly filter: NodeFilter;
  /** Is told of each edge to a node that the filter lets pass. */
  readonly tell: (from: NodeKey, to: NodeKey) => void;
}

/**
 * Reads the edges of several nodes and tells of each.
 *
 * @returns the nodes that were not read, or not to the end
 */
export const expandLayer = async (run: WalkRun, { frontier, filter, tell }: Expansion): Promise<readonly NodeKey[]> => {
  const left: NodeKey[] = [];
  const edges: (readonly [NodeKey, readonly NodeKey[]])[] = [];
  const keys = frontier.values();
  const read = edgeReader(run, onlyHop(run));
  const next = (): NodeKey | undefined => (run.spend.open ? keys.next().value : undefined);
  await runLanes({
    width: run.width,
    next,
    run: (key: NodeKey) => read({ key, ways: ONE_WAY, source: 0, start: undefined, taken: 0 }),
    done: ({ work, keys: ends, rest }) => {
      edges.push([work.key, ends]);
      if (rest) left.push(work.key);
    },
  });
  const unread = await filter.read(edges.flatMap(([, ends]) => ends));
  for (const [from, ends] of edges) for (const to of ends) if (filter.passes(to)) tell(from, to);
  return [...left, ...keys, ...unread];
};
