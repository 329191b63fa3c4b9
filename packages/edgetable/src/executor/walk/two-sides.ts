import { expandFrontier, expanding, leftOf, onlyHop, REQUEST, type Expanding, type NodeFilter, type Turn } from "./expand-frontier.ts";
import { queriesAt } from "./read-edges.ts";
import type { WalkRun } from "./walk-run.ts";
import { isBegun, type NodeKey } from "./walk-state.ts";

/** One end of a search between two nodes: what it has reached, a frontier at a time. */
export interface Side {
  /** The nodes whose edges are read, or will be. */
  frontier: readonly NodeKey[];
  /** What is left of that frontier, the nodes behind it, and its cost so far; undefined if it was not begun. */
  growing: { readonly frontier: Expanding; readonly next: NodeKey[]; cost: number } | undefined;
  /** Frontiers that were begun. */
  depth: number;
  /** The nodes of all frontiers that were read, and their cost. */
  nodes: number;
  cost: number;
}

/** A side, and how it is read. */
export interface End<Of extends Side = Side> {
  readonly side: Of;
  readonly run: WalkRun;
  /** The edges of each node that this part of the search has read. */
  readonly read: Map<NodeKey, number>;
}

export const emptySide = (key: NodeKey): Side => ({ frontier: [key], growing: undefined, depth: 0, nodes: 0, cost: 0 });

/** True if there may be more behind it. */
export const isOpen = ({ frontier, growing }: Side): boolean => growing !== undefined || frontier.length > 0;

/** Frontiers that were read. */
export const doneOf = ({ depth, growing }: Side): number => (growing ? depth - 1 : depth);

export const unreadNodes = ({ frontier, growing }: Side): readonly NodeKey[] => (growing ? leftOf(growing.frontier) : frontier);

/** What a node is expected to cost: as much as the side's nodes before it did, or as the model expects. */
const meanCost = ({ side, run }: End): number => {
  if (side.nodes > 0) return side.cost / side.nodes;
  const hop = onlyHop(run);
  const [first] = side.frontier;
  const { sources = [] } = first === undefined ? {} : (hop.reading[run.names.typeOf(first)] ?? {});
  const edges = sources.reduce((sum, source) => sum + (source.kind === "query" ? source.expect.rows : 0), 0);
  return (first === undefined ? 0 : queriesAt(run, hop, first) * REQUEST) + edges;
};

/** What a node is expected to cost from now on. A node of which some edges were read is taken to have as many again. */
const nodeCost = (end: End): Turn["costOf"] => {
  const mean = meanCost(end);
  return (node) => (isBegun(node) ? REQUEST + Math.max(end.read.get(node.key) ?? 0, node.taken) : mean);
};

/** What the frontier of a side has cost and is expected to cost. */
const costOf = (end: End): number => {
  const { frontier, growing } = end.side;
  if (!growing) return frontier.length * meanCost(end);
  const rest = nodeCost(end);
  return growing.frontier.left.reduce((sum, node) => sum + rest(node), growing.cost);
};

/**
 * The end that is to be read: the one whose frontier is expected to cost less. A frontier that was begun is read on until it
 * has cost what the other one is expected to cost.
 */
export const nextEnd = <One extends End>({ smallerSide }: { readonly smallerSide: boolean }, forward: One, backward: One): One => {
  if (!smallerSide) return forward;
  const [first, second] = backward.side.growing && !forward.side.growing ? [backward, forward] : [forward, backward];
  const { growing } = first.side;
  const cost = growing && !second.side.growing ? growing.cost : costOf(first);
  return cost <= costOf(second) ? first : second;
};

interface Growing {
  readonly filter: NodeFilter;
  readonly tell: (from: NodeKey, to: NodeKey) => void;
  /** The end that may take over. */
  readonly other: End | undefined;
}

/**
 * Reads a side's frontier, or what is left of it. It pauses once it has cost what the other side is expected to cost: then
 * {@link nextEnd} compares them again. As a node that turns out to be a supernode is taken to have twice the edges that were
 * read, both sides are read in turn, each in pages that double, and neither costs more than about twice what the cheaper
 * one needs.
 *
 * @returns false if the budget ended first
 */
export const grow = async (end: End, { filter, tell, other }: Growing): Promise<boolean> => {
  const { side, run, read } = end;
  if (!side.growing) {
    side.depth++;
    side.growing = { frontier: expanding(side.frontier), next: [], cost: 0 };
  }
  const { growing } = side;
  const most = other ? costOf(other) - growing.cost : Number.POSITIVE_INFINITY;
  const turn: Turn = { most, read, costOf: nodeCost(end), cost: 0 };
  const isRead = await expandFrontier(run, growing.frontier, { filter, tell, turn });
  growing.cost += turn.cost;
  if (isRead) {
    side.nodes += side.frontier.length;
    side.cost += growing.cost;
    side.frontier = growing.next;
    side.growing = undefined;
    return true;
  }
  const { budget, supernode } = run.request;
  const isFull = supernode === "page" && growing.frontier.left.some(({ key }) => (read.get(key) ?? 0) >= budget.breadth);
  return !isFull && run.spend.stopped() === undefined;
};
