import { holds } from "../../ir/holds.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import { endsByGet } from "../../planner/walk/expect-walk.ts";
import { defined } from "../../util/invariant.ts";
import { getEdges, readNodes } from "./read-by-key.ts";
import { edgeReader, type Breadth, type Expanded } from "./read-edges.ts";
import type { Stopped } from "./run-walk.ts";
import { runInFlight, type WalkRun } from "./walk-run.ts";
import { bytesOf, isBegun, unread, type Expansion, type NodeKey } from "./walk-state.ts";

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

/** At least this many edges of a node are read before a search may turn to its other end. */
const FEWEST = 100;

/** What a request costs beside its edges, in edges: the first 4 KB cost what one edge costs. */
export const REQUEST = 20;

/** How far one turn of a search with two ends reads. */
export interface Turn {
  /** Upper bound of its cost, in edges. One page of one node may exceed it. */
  readonly most: number;
  /** The cost of a node, as far as it is known. */
  readonly costOf: (node: Expansion) => number;
  /** The edges that were read of each node in this part of the search: the budget's breadth covers all of its turns. */
  readonly read: Map<NodeKey, number>;
  /** What it cost. */
  cost: number;
}

interface Told {
  readonly filter: NodeFilter;
  /** Is told of each edge to a node that passes the filter. */
  readonly tell: (from: NodeKey, to: NodeKey) => void;
  /** The only nodes to which edges are wanted; undefined for all. */
  readonly known?: ReadonlySet<NodeKey> | undefined;
  /** Undefined to read as far as the budget allows. */
  readonly turn?: Turn | undefined;
}

/** Which nodes of a frontier a turn reads, and how much of each. */
const pacing = (run: WalkRun, turn: Turn, nodes: number) => {
  const { budget, supernode } = run.request;
  const claims = new Map<NodeKey, number>();
  let [claimed, begun] = [0, 0];
  return {
    isOver: (): boolean => begun > 0 && turn.cost + claimed >= turn.most,
    /** How much of a node to read. */
    begin: (node: Expansion): Breadth => {
      const share = (turn.most - turn.cost - claimed) / Math.min(run.width.now(), nodes);
      const claim = turn.costOf(node);
      claims.set(node.key, claim);
      claimed += claim;
      begun++;
      const page = Math.max(FEWEST, Math.ceil(share));
      const left = budget.breadth - (turn.read.get(node.key) ?? 0);
      return page < left ? { breadth: page, supernode: "page" } : { breadth: left, supernode };
    },
    end: ({ node, read, requests }: Expanded): void => {
      claimed -= claims.get(node.key) ?? 0;
      turn.cost += requests * REQUEST + read;
      turn.read.set(node.key, (turn.read.get(node.key) ?? 0) + read);
    },
  };
};

/**
 * Reads the edges of a frontier's nodes, and the nodes behind them if the hop filters nodes. A supernode may be sampled.
 *
 * @returns true if all of it was read; otherwise `frontier` holds what is left
 */
export const expandFrontier = async (run: WalkRun, frontier: Expanding, { filter, tell, known, turn }: Told): Promise<boolean> => {
  const edges = [...frontier.pending];
  const hop = onlyHop(run);
  const left: Expansion[] = [];
  const waiting = frontier.left.values();
  const pace = turn && pacing(run, turn, frontier.left.length);
  const next = (): Expansion | undefined => (!pace?.isOver() && run.spend.isOpen() ? waiting.next().value : undefined);
  const done = (expanded: Expanded): void => {
    const { node, keys, rest, why } = expanded;
    pace?.end(expanded);
    for (const end of keys) edges.push([node.key, end]);
    const isWide = why === "breadth" && (turn?.read.get(node.key) ?? Number.POSITIVE_INFINITY) >= run.request.budget.breadth;
    if (rest && isWide && run.request.supernode === "sample") run.sampled.push(node.key);
    else if (rest) left.push(rest);
  };
  const isUntouched = !frontier.left.some(isBegun);
  if (known && isUntouched && endsByGet(hop, { nodes: frontier.left.length, known: known.size }))
    await getEdges(run, hop, { known, next, done });
  else {
    const read = edgeReader(run, hop);
    await runInFlight({ width: run.width, next, run: (node: Expansion) => read(node, pace?.begin(node)), done });
  }
  frontier.left = [...left, ...waiting];
  await filter.read(new Set(edges.map(([, to]) => to)));
  for (const [from, to] of edges) if (filter.passes(to)) tell(from, to);
  frontier.pending = edges.filter(([, to]) => filter.passes(to) === undefined);
  return frontier.left.length === 0 && frontier.pending.length === 0;
};
