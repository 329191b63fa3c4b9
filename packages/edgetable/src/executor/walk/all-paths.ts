import { checkStart } from "./check-start.ts";
import { expanding, expandLayer, leftOf, type Expanding } from "./expand-layer.ts";
import { nodeFilter, onlyHop, type NodeFilter, type Verdicts } from "./node-filter.ts";
import type { NodeKey } from "./node-names.ts";
import { remember, sampledAt, stoppedAt, type FoundPaths, type PathSearch, type SearchAt } from "./path-search.ts";
import { pathPrint } from "./paths.ts";
import type { Stopped } from "./run-walk.ts";
import { beginRun, besideRun, type WalkRun } from "./walk-run.ts";
import { emptyState, memberOf } from "./walk-state.ts";

/** For each node, where it goes on to. */
type Ahead = Map<NodeKey, Set<NodeKey>>;

/** One end of the search. */
interface Side {
  readonly seen: Set<NodeKey>;
  /** What is left of the layer that is being read, and where it has led to. */
  layer: Expanding | undefined;
  next: NodeKey[];
  /** Layers that were begun. */
  depth: number;
  /** Edges that were found in the layer, and in all before it, and the nodes that these came from. */
  read: number;
  edges: number;
  nodes: number;
}

/** Everything that a search knows at a moment. */
export interface AllPathsState {
  readonly ahead: Ahead;
  readonly forward: Side;
  readonly backward: Side;
  readonly verdicts: Verdicts;
  /** Paths that were given. */
  readonly given: Set<string>;
}

/** A side with the run that reads for it. */
interface End {
  readonly side: Side;
  readonly run: WalkRun;
  readonly isForward: boolean;
}

/** The fewest edges of a node that are read before the other side is thought of. */
const FEWEST_PROBED = 100;

const sideOf = (key: NodeKey, other: NodeKey): Side => ({
  seen: new Set([key, other]),
  layer: undefined,
  next: [key],
  depth: 0,
  read: 0,
  edges: 0,
  nodes: 0,
});

/** How many edges the model expects of a node. */
const expectedDegree = (run: WalkRun): number =>
  Math.max(
    0,
    ...Object.values(onlyHop(run).reading).map(({ sources }) =>
      sources.reduce((sum, source) => sum + (source.kind === "query" ? source.expect.rows : 0), 0),
    ),
  );

// A layer costs a request for each node, and what its edges take: as many as the side's nodes had, or are expected to have.
const costOf = ({ side, run }: End): number => {
  const degree = side.nodes > 0 ? side.edges / side.nodes : expectedDegree(run);
  return (side.layer ? leftOf(side.layer) : side.next).length * (1 + degree);
};

const isOpen = ({ layer, next }: Side): boolean => layer !== undefined || next.length > 0;

// The cheaper side grows, but a layer that was begun is gone on with until it has cost more than the other is expected to.
const nextOf = (search: PathSearch, forward: End, backward: End): End => {
  if (!search.smallerSide) return forward;
  const [first, second] = forward.side.layer ? [forward, backward] : [backward, forward];
  if (first.side.layer && second.side.layer) return first.side.read <= second.side.read ? first : second;
  if (first.side.layer) return first.side.read < costOf(second) ? first : second;
  return costOf(forward) <= costOf(backward) ? forward : backward;
};

// A node of many edges is read no further than the other side is expected to cost, while that may still take its place.
const probeOf = ({ side, run }: End, other: End): number | undefined => {
  const { budget, supernode } = run.request;
  const most = Math.max(FEWEST_PROBED, Math.ceil(costOf(other)) - side.read);
  const mayTurn = supernode === "page" && !other.side.layer && isOpen(other.side);
  return mayTurn && most < budget.breadth ? most : undefined;
};

const withBreadth = (run: WalkRun, breadth: number): WalkRun => ({
  ...run,
  request: { ...run.request, budget: { ...run.request.budget, breadth } },
});

/** Reads a layer, or as much of it as is worth it; false where the budget ended before, or a node has too many edges. */
const grow = async (
  end: End,
  other: End,
  {
    search,
    ahead,
    filter,
    main,
  }: { readonly search: PathSearch; readonly ahead: Ahead; readonly filter: NodeFilter; readonly main: WalkRun },
): Promise<boolean> => {
  const { side, isForward } = end;
  if (!side.layer) {
    side.depth++;
    side.nodes += side.next.length;
    side.layer = expanding(side.next);
    side.next = [];
    side.read = 0;
  }
  const { layer, next, seen } = side;
  const probe = search.smallerSide ? probeOf(end, other) : undefined;
  const tell = (from: NodeKey, to: NodeKey): void => {
    const [near, far] = isForward ? [from, to] : [to, from];
    memberOf(ahead, near, () => new Set<NodeKey>()).add(far);
    side.read++;
    side.edges++;
    if (seen.has(to)) return;
    seen.add(to);
    next.push(to);
    remember(main, [to]);
  };
  const run = probe === undefined ? end.run : withBreadth(end.run, probe);
  if (await expandLayer(run, layer, { filter, tell })) side.layer = undefined;
  return side.layer === undefined || (probe !== undefined && main.spend.isOpen());
};

interface Ended {
  readonly stopped: Stopped | undefined;
  /** Whether a continuation finds more. */
  readonly isLeft: boolean;
}

/**
 * Reads layers from either end until they are as many as a path may have hops: whatever its length, each edge of a path
 * is then behind a layer of the start, or before one of the target. No path goes on from the target, or comes back to
 * the start.
 */
const readLayers = async (
  search: PathSearch,
  state: AllPathsState,
  { forward, backward, filter }: { readonly forward: End; readonly backward: End; readonly filter: NodeFilter },
): Promise<Ended> => {
  const main = forward.run;
  for (;;) {
    const done = [forward.side, backward.side].reduce((sum, { depth, layer }) => sum + depth - (layer ? 1 : 0), 0);
    if (done >= search.depth || !isOpen(forward.side) || !isOpen(backward.side)) return { stopped: sampledAt(main, done), isLeft: false };
    const end = nextOf(search, forward, backward);
    const other = end === forward ? backward : forward;
    const left = end.side.layer ? leftOf(end.side.layer) : end.side.next;
    if (done >= main.request.budget.depth) return { stopped: stoppedAt(main, done + 1, { left, by: "depth" }), isLeft: true };
    if (await grow(end, other, { search, ahead: state.ahead, filter, main })) continue;
    return { stopped: stoppedAt(main, done + 1, { left: end.side.layer ? leftOf(end.side.layer) : [] }), isLeft: true };
  }
};

/** How many hops each node is from the target, along the edges that are known. */
const hopsTo = (ahead: Ahead, target: NodeKey): ReadonlyMap<NodeKey, number> => {
  const behind: Ahead = new Map();
  for (const [from, ends] of ahead) for (const to of ends) memberOf(behind, to, () => new Set<NodeKey>()).add(from);
  const hops = new Map([[target, 0]]);
  for (const [key, at] of hops) for (const from of behind.get(key) ?? []) if (!hops.has(from)) hops.set(from, at + 1);
  return hops;
};

// Paths that are not at their end yet wait their turn, the shorter first.
const MOST_OPEN = 100_000;

type Path = readonly NodeKey[];

/**
 * Paths with one node more, in every way that comes to no node twice and can still reach its end; lazily, for of many
 * paths at a hub there are too many to keep.
 */
function* allOnward(ahead: Ahead, paths: readonly Path[], mayReach: (key: NodeKey) => boolean): Generator<Path> {
  for (const path of paths)
    for (const key of ahead.get(path.at(-1) ?? "") ?? []) if (!path.includes(key) && mayReach(key)) yield [...path, key];
}

interface Listed {
  readonly paths: readonly Path[];
  /** Whether there are more: beyond the limit, or than can be kept in mind. */
  readonly more: "none" | "limit" | "memory";
}

/** The paths that were not given yet, the shorter first. */
const listPaths = (
  { ahead, given }: AllPathsState,
  { depth, limit }: PathSearch,
  { start, target }: { readonly start: NodeKey; readonly target: NodeKey },
): Listed => {
  const paths: Path[] = [];
  const hops = hopsTo(ahead, target);
  let open: readonly Path[] = start === target ? [] : [[start]];
  for (let length = 1; open.length > 0 && length <= depth; length++) {
    const longer: Path[] = [];
    for (const path of allOnward(ahead, open, (key) => (hops.get(key) ?? depth) <= depth - length)) {
      const isWhole = path.at(-1) === target;
      // One too many tells that there are more.
      if (!isWhole && longer.length <= MOST_OPEN) longer.push(path);
      if (!isWhole) continue;
      const print = pathPrint(path);
      if (given.has(print)) continue;
      if (paths.length === limit) return { paths, more: "limit" };
      given.add(print);
      paths.push(path);
    }
    if (longer.length > MOST_OPEN) return { paths, more: "memory" };
    open = longer;
  }
  return { paths, more: "none" };
};

/**
 * All paths between two nodes that come to no node twice, the shorter first. Reads layers of nodes from either end, each
 * node once from each; the paths themselves cost no request. A part gives the paths that it has come to know.
 */
export const allPaths = async (
  search: PathSearch,
  { session, context, state: from }: SearchAt<AllPathsState>,
): Promise<FoundPaths<AllPathsState>> => {
  for (const request of [search.forward, search.backward]) checkStart(session, request);
  const run = beginRun(session, search.forward, { state: emptyState(), context });
  const { names } = run;
  const start = names.pack(search.forward.start.type, search.forward.start.id);
  const target = names.pack(search.backward.start.type, search.backward.start.id);
  const begun = (): AllPathsState => ({
    ahead: new Map(),
    forward: sideOf(start, target),
    backward: sideOf(target, start),
    verdicts: new Map([[start, true]]),
    given: new Set(),
  });
  const state = from ?? begun();
  remember(run, state.forward.seen);
  remember(run, state.backward.seen);
  // Nothing is asked of where a path starts, but of all nodes that it leads to.
  const filter = nodeFilter(run, state.verdicts);
  await filter.read([target]);
  const passes = filter.passes(target);
  if (passes === undefined) return { paths: [], stopped: stoppedAt(run, 1, { left: [target] }), state };
  if (!passes) return { paths: [], stopped: undefined, state: undefined };
  const { stopped: ended, isLeft } = await readLayers(search, state, {
    forward: { side: state.forward, run, isForward: true },
    backward: { side: state.backward, run: besideRun(run, search.backward), isForward: false },
    filter,
  });
  const { paths, more } = listPaths(state, search, { start, target });
  const stopped = more === "none" ? ended : stoppedAt(run, search.depth, { left: [], by: "limit" });
  return {
    paths: paths.map((path) => path.map((key) => names.unpack(key))),
    stopped,
    state: (more === "limit" || isLeft) && more !== "memory" ? state : undefined,
  };
};
