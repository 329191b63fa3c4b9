import { holds } from "../../ir/condition.ts";
import { endsByGet, type PlannedHop } from "../../ir/walk-plan.ts";
import { defined } from "../../util/invariant.ts";
import { getEdges, readNodes } from "./read-by-key.ts";
import { edgeReader, type Expanded } from "./read-edges.ts";
import type { Stopped } from "./run-walk.ts";
import { runInFlight, type WalkRun } from "./walk-run.ts";
import { bytesOf, unread, type Expansion, type NodeKey } from "./walk-state.ts";

const SAMPLE = 10;

/** Why a search ended early: by the budget, unless `by` says otherwise. What a sample left out counts as left. */
export const stoppedAt = (
  run: WalkRun,
  hop: number,
  { left: nodes, by }: { readonly left: readonly NodeKey[]; readonly by?: Stopped["by"] },
): Stopped => {
  const left = [...new Set([...nodes, ...run.sampled])];
  const sample = left.slice(0, SAMPLE).map((key) => run.names.unpack(key));
  return { by: by ?? run.spend.stopped() ?? "breadth", hop, left: { nodes: left.length, sample } };
};

/** Reports that a search is over but read only a sample of some nodes' edges. */
export const sampledAt = (run: WalkRun, hop: number): Stopped | undefined =>
  run.sampled.length > 0 ? stoppedAt(run, hop, { left: [], by: "breadth" }) : undefined;

/** Counts the memory of nodes that a search remembers. */
export const remember = (run: WalkRun, keys: Iterable<NodeKey>): void => {
  for (const key of keys) run.state.bytes += bytesOf(key);
};

/** The hop of a search's plan: it goes along one edge only. */
export const onlyHop = (run: WalkRun): PlannedHop => {
  const [hop] = run.request.plan.steps;
  return defined(hop?.kind === "hop" ? hop : undefined, "hop");
};

/** What a search asks of the nodes that it reaches, from whichever side. */
export interface NodeFilter {
  /** Reads nodes that were not read yet, until the budget ends. */
  readonly read: (keys: Iterable<NodeKey>) => Promise<void>;
  /** True if a node passes; undefined if it was not read. */
  readonly passes: (key: NodeKey) => boolean | undefined;
}

/** The nodes that were read, and whether they pass. */
export type Verdicts = Map<NodeKey, boolean>;

/**
 * The filter of a search's hop. Each node is read once.
 *
 * @param forward the run along the hop, whose plan says how nodes are read
 * @param known the verdicts so far; a path's first node needs to fulfil nothing
 */
export const nodeFilter = (forward: WalkRun, known: Verdicts): NodeFilter => {
  const { nodeConditions, passing } = onlyHop(forward);
  if (nodeConditions.length === 0) return { read: () => Promise.resolve(), passes: () => true };
  const read: NodeFilter["read"] = async (keys) => {
    const unknown = new Set<NodeKey>();
    for (const key of keys) {
      if (known.has(key)) continue;
      if (passing.includes(forward.names.typeOf(key))) unknown.add(key);
      else known.set(key, false);
    }
    await readNodes(forward, unknown.values(), (key, row) => {
      known.set(key, row !== undefined && nodeConditions.every((condition) => holds(condition, row, forward.request.values)));
    });
  };
  return { read, passes: (key) => known.get(key) };
};

/** The nodes of a frontier that is being expanded, and what is left of it. */
export interface Expanding {
  left: readonly Expansion[];
  /** Edges whose far node the filter still has to read. */
  pending: readonly (readonly [from: NodeKey, to: NodeKey])[];
}

export const expanding = (keys: readonly NodeKey[]): Expanding => ({ left: keys.map((key) => unread(key)), pending: [] });

/** The nodes that are left. */
export const leftOf = ({ left, pending }: Expanding): readonly NodeKey[] => [
  ...new Set([...left.map(({ key }) => key), ...pending.map(([, to]) => to)]),
];

interface Told {
  readonly filter: NodeFilter;
  /** Is told of each edge to a node that passes the filter. */
  readonly tell: (from: NodeKey, to: NodeKey) => void;
  /** The only nodes to which edges are wanted; undefined for all. */
  readonly known?: ReadonlySet<NodeKey> | undefined;
}

/**
 * Reads the edges of a frontier's nodes, and the nodes behind them if the hop filters nodes. A supernode may be sampled.
 *
 * @returns true if all of it was read; otherwise `frontier` holds what is left
 */
export const expandFrontier = async (run: WalkRun, frontier: Expanding, { filter, tell, known }: Told): Promise<boolean> => {
  const edges = [...frontier.pending];
  const hop = onlyHop(run);
  const left: Expansion[] = [];
  const waiting = frontier.left.values();
  const next = (): Expansion | undefined => (run.spend.isOpen() ? waiting.next().value : undefined);
  const done = ({ node, keys, rest, why }: Expanded): void => {
    for (const end of keys) edges.push([node.key, end]);
    if (rest && why === "breadth" && run.request.supernode === "sample") run.sampled.push(node.key);
    else if (rest) left.push(rest);
  };
  const isUntouched = frontier.left.every(({ source, partition, start }) => source === 0 && partition === undefined && start === undefined);
  if (known && isUntouched && endsByGet(hop, { nodes: frontier.left.length, known: known.size }))
    await getEdges(run, hop, { known, next, done });
  else await runInFlight({ width: run.width, next, run: edgeReader(run, hop), done });
  frontier.left = [...left, ...waiting];
  await filter.read(new Set(edges.map(([, to]) => to)));
  for (const [from, to] of edges) if (filter.passes(to)) tell(from, to);
  frontier.pending = edges.filter(([, to]) => filter.passes(to) === undefined);
  return frontier.left.length === 0 && frontier.pending.length === 0;
};
