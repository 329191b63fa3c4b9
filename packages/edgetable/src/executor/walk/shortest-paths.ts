import { checkStart } from "./check-start.ts";
import { expanding, expandLayer, leftOf, type Expanding } from "./expand-layer.ts";
import { nodeFilter, type NodeFilter, type Verdicts } from "./node-filter.ts";
import type { NodeKey, NodeRef } from "./node-names.ts";
import { remember, sampledAt, stoppedAt, type FoundPaths, type PathSearch, type SearchAt } from "./path-search.ts";
import { beginRun, besideRun, type WalkRun } from "./walk-run.ts";
import { emptyState } from "./walk-state.ts";

/** One end of the search. */
interface Side {
  /** How far each node is from the end, and from where it was reached. */
  readonly distance: Map<NodeKey, number>;
  readonly behind: Map<NodeKey, Set<NodeKey>>;
  frontier: readonly NodeKey[];
  /** The layer that is being read: what is left of it, and where it has led to; undefined between two layers. */
  growing: { readonly layer: Expanding; readonly next: NodeKey[] } | undefined;
  depth: number;
}

/** Everything that a search knows at a moment. */
export interface ShortestState {
  readonly forward: Side;
  readonly backward: Side;
  readonly verdicts: Verdicts;
  /** Where the sides met. */
  meeting: readonly NodeKey[] | undefined;
  /** How many paths were given. */
  given: number;
}

/** A side with the run that reads for it. */
interface End {
  readonly side: Side;
  readonly run: WalkRun;
}

const endOf = ({ names, request: { start } }: WalkRun): NodeKey => names.pack(start.type, start.id);

const sideOf = (key: NodeKey, isCycle: boolean): Side => ({
  distance: new Map(isCycle ? [] : [[key, 0]]),
  behind: new Map(),
  frontier: [key],
  growing: undefined,
  depth: 0,
});

/** Reads a layer, or what is left of it; false where the budget ended before. */
const grow = async ({ side, run }: End, { main, filter }: { readonly main: WalkRun; readonly filter: NodeFilter }): Promise<boolean> => {
  if (!side.growing) {
    side.depth++;
    side.growing = { layer: expanding(side.frontier), next: [] };
  }
  const { growing, distance, behind, depth } = side;
  const tell = (from: NodeKey, to: NodeKey): void => {
    const known = distance.get(to);
    if (known === undefined) {
      distance.set(to, depth);
      behind.set(to, new Set([from]));
      growing.next.push(to);
      remember(main, [to]);
    } else if (known === depth) behind.get(to)?.add(from);
  };
  if (!(await expandLayer(run, growing.layer, { filter, tell }))) return false;
  side.frontier = growing.next;
  side.growing = undefined;
  return true;
};

/** The ways from a node back to the end of a side, the node first. */
function* waysBack(side: Side, key: NodeKey, depth: number): Generator<readonly NodeKey[]> {
  if (depth === 0) return yield [key];
  for (const before of side.behind.get(key) ?? []) for (const way of waysBack(side, before, depth - 1)) yield [key, ...way];
}

function* joined({ forward, backward, meeting = [] }: ShortestState): Generator<readonly NodeKey[]> {
  for (const key of meeting) {
    for (const before of waysBack(forward, key, forward.distance.get(key) ?? 0)) {
      for (const after of waysBack(backward, key, backward.distance.get(key) ?? 0)) yield [...before.toReversed(), ...after.slice(1)];
    }
  }
}

type Found = FoundPaths<ShortestState>;

const pathsOf = (run: WalkRun, state: ShortestState, limit: number): Found => {
  const paths: (readonly NodeRef[])[] = [];
  const hop = state.forward.depth;
  let at = 0;
  for (const path of joined(state)) {
    if (at++ < state.given) continue;
    if (paths.length === limit) {
      state.given += limit;
      return { paths, stopped: stoppedAt(run, hop, { left: [], by: "limit" }), state };
    }
    paths.push(path.map((key) => run.names.unpack(key)));
  }
  return { paths, stopped: sampledAt(run, hop), state: undefined };
};

const begin = (start: NodeKey, target: NodeKey): ShortestState => ({
  forward: sideOf(start, start === target),
  backward: sideOf(target, false),
  // Nothing is asked of where a path starts, unless it comes back.
  verdicts: new Map(start === target ? [] : [[start, true]]),
  meeting: undefined,
  given: 0,
});

/** Which side grows: the one that was begun, else the smaller. From a node to itself the search must leave it first. */
const nextOf = (search: PathSearch, ends: { readonly forward: End; readonly backward: End }): End => {
  const [forward, backward] = [ends.forward.side, ends.backward.side];
  if (forward.growing) return ends.forward;
  if (backward.growing) return ends.backward;
  return !search.smallerSide || forward.depth === 0 || forward.frontier.length <= backward.frontier.length ? ends.forward : ends.backward;
};

const leftIn = ({ growing, frontier }: Side): readonly NodeKey[] => (growing ? leftOf(growing.layer) : frontier);

const isOpen = ({ growing, frontier }: Side): boolean => growing !== undefined || frontier.length > 0;

/**
 * The shortest paths between two nodes, all of one length, from both ends: a layer at a time, so that
 * when the sides first meet no shorter path can be left. From a node to itself it is the shortest cycle.
 */
export const shortestPaths = async (search: PathSearch, { session, context, state: from }: SearchAt<ShortestState>): Promise<Found> => {
  for (const request of [search.forward, search.backward]) checkStart(session, request);
  const run = beginRun(session, search.forward, { state: emptyState(), context });
  const other = besideRun(run, search.backward);
  const target = endOf(other);
  const state = from ?? begin(endOf(run), target);
  const { forward, backward } = state;
  remember(run, forward.distance.keys());
  remember(run, backward.distance.keys());
  const ends = { forward: { side: forward, run }, backward: { side: backward, run: other } };
  const filter = nodeFilter(run, state.verdicts);
  await filter.read([target]);
  const passes = filter.passes(target);
  if (passes === undefined) return { paths: [], stopped: stoppedAt(run, 1, { left: [target] }), state };
  if (!passes) return { paths: [], stopped: undefined, state: undefined };
  const { depth: most } = search.forward.budget;
  while (!state.meeting && isOpen(forward) && isOpen(backward)) {
    const end = nextOf(search, ends);
    const hops = forward.depth + backward.depth;
    if (!end.side.growing && hops >= search.depth) break;
    if (!end.side.growing && hops >= most)
      return { paths: [], stopped: stoppedAt(run, hops + 1, { left: end.side.frontier, by: "depth" }), state };
    if (!(await grow(end, { main: run, filter })))
      return { paths: [], stopped: stoppedAt(run, end.side.depth, { left: leftIn(end.side) }), state };
    const met = end.side.frontier.filter((key) => (end.side === forward ? backward : forward).distance.has(key));
    if (met.length > 0) state.meeting = met;
  }
  return pathsOf(run, state, search.limit);
};
