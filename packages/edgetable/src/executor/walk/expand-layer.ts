import { endsByGet } from "../../ir/ends-by-get.ts";
import { ONE_WAY } from "./gather.ts";
import { getEdges } from "./get-edges.ts";
import { runLanes } from "./lanes.ts";
import { onlyHop, type NodeFilter } from "./node-filter.ts";
import type { NodeKey } from "./node-names.ts";
import { edgeReader, type Expanded } from "./read-edges.ts";
import type { WalkRun } from "./walk-run.ts";
import type { Work } from "./walk-state.ts";

/** Nodes of which the edges are being read, and what is left of that. */
export interface Expanding {
  left: readonly Work[];
  /** Edges whose far node is still to be looked at, where something is asked of nodes. */
  pending: readonly (readonly [from: NodeKey, to: NodeKey])[];
}

export const expanding = (keys: readonly NodeKey[]): Expanding => ({
  left: keys.map((key) => ({ key, ways: ONE_WAY, source: 0, start: undefined, taken: 0 })),
  pending: [],
});

/** The nodes that are left. */
export const leftOf = ({ left, pending }: Expanding): readonly NodeKey[] => [
  ...new Set([...left.map(({ key }) => key), ...pending.map(([, to]) => to)]),
];

interface Told {
  readonly filter: NodeFilter;
  /** Is told of each edge to a node that the filter lets pass. */
  readonly tell: (from: NodeKey, to: NodeKey) => void;
  /** The only nodes that edges are looked for to; undefined: to any. */
  readonly known?: ReadonlySet<NodeKey> | undefined;
}

const isUntouched = ({ source, partition, start }: Work): boolean => source === 0 && partition === undefined && start === undefined;

const readLeft = async (run: WalkRun, layer: Expanding, { tell, known }: Omit<Told, "filter">): Promise<void> => {
  const left: Work[] = [];
  const waiting = layer.left.values();
  const hop = onlyHop(run);
  const next = (): Work | undefined => (run.spend.isOpen() ? waiting.next().value : undefined);
  const done = ({ work, keys: ends, rest, why }: Expanded): void => {
    for (const end of ends) tell(work.key, end);
    if (rest && why === "breadth" && run.request.supernode === "sample") run.sampled.push(work.key);
    else if (rest) left.push(rest);
  };
  const asked = known && layer.left.every(isUntouched) && endsByGet(hop, { nodes: layer.left.length, known: known.size });
  if (asked) await getEdges(run, hop, { known, next, done });
  else await runLanes({ width: run.width, next, run: edgeReader(run, hop), done });
  layer.left = [...left, ...waiting];
};

/**
 * Reads the edges of several nodes, and the nodes behind them where something is asked of those, and tells
 * of each edge. Of a supernode a sample may be taken, and its rest left out.
 *
 * @returns whether all of it was read; else `layer` holds what is left
 */
export const expandLayer = async (run: WalkRun, layer: Expanding, { filter, tell, known }: Told): Promise<boolean> => {
  const edges = [...layer.pending];
  await readLeft(run, layer, { tell: (from, to) => edges.push([from, to]), known });
  await filter.read(new Set(edges.map(([, to]) => to)));
  for (const [from, to] of edges) if (filter.passes(to)) tell(from, to);
  layer.pending = edges.filter(([, to]) => filter.passes(to) === undefined);
  return layer.left.length === 0 && layer.pending.length === 0;
};
