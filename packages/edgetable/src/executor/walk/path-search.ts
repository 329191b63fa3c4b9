import { readComplete } from "../run-read.ts";
import type { CallContext, Session } from "../session.ts";
import {
  expandFrontier,
  expanding,
  nodeFilter,
  remember,
  sampledAt,
  stoppedAt,
  type Expanding,
  type NodeFilter,
  type Verdicts,
} from "./expand-frontier.ts";
import { checkStart } from "./read-edges.ts";
import { doneOf, emptySide, grow, isOpen, nextEnd, unreadNodes, type End, type Side } from "./two-sides.ts";
import type { Stopped } from "./run-walk.ts";
import { beginRun, besideRun, readsOf, type WalkRequest } from "./walk-run.ts";
import { emptyState, memberOf, pathPrint, type NodeKey, type NodeRef } from "./walk-state.ts";

/** Where a search runs, and what an earlier part of it knew. */
export interface SearchAt<State> {
  readonly session: Session;
  readonly context: CallContext;
  readonly state: State | undefined;
}

/** Searches once the table is known to store the edges that the requests read, in whatever order they come. */
const whereComplete = <Found>(
  requests: readonly WalkRequest[],
  { session, context }: Pick<SearchAt<unknown>, "session" | "context">,
  search: () => Promise<Found>,
): Promise<Found> => readComplete(session, { steps: requests.flatMap(readsOf), anyOrder: true }, context, search);

/** A search for paths between two nodes. */
export interface PathSearch {
  readonly forward: WalkRequest;
  /** The same edge the other way, from the other end. */
  readonly backward: WalkRequest;
  /** Upper bound of a path's hops. */
  readonly depth: number;
  /** Upper bound of the paths to give. */
  readonly limit: number;
  /** True if any one of the shortest paths is wanted. */
  readonly any: boolean;
  /** True to expand the side that is expected to cost less, false to expand the start alone. */
  readonly smallerSide: boolean;
}

export interface FoundPaths<State = unknown> {
  readonly paths: readonly (readonly NodeRef[])[];
  readonly stopped: Stopped | undefined;
  /** The state that a continuation starts from; undefined if there is nothing left to continue. */
  readonly state: State | undefined;
}

/** One end of a search for the shortest paths. */
interface ShortestSide extends Side {
  /** How far each node is from the end. On a cycle the end itself is as far as the cycle is long. */
  readonly distance: Map<NodeKey, number>;
  /** The nodes from which each was reached. */
  readonly behind: Map<NodeKey, Set<NodeKey>>;
}

/** A node at which the sides met, and how far it is from each end. */
interface Meeting {
  readonly key: NodeKey;
  readonly before: number;
  readonly after: number;
}

/** Everything that a search for the shortest paths knows at a moment. */
export interface ShortestState {
  readonly forward: ShortestSide;
  readonly backward: ShortestSide;
  readonly verdicts: Verdicts;
  meeting: readonly Meeting[] | undefined;
  /** How many paths were given. */
  given: number;
}

/**
 * The nodes at which a side met the other one. No path is as short as the frontiers that both have read, so a node is on a
 * shortest path if one frontier more leads to it; whether all such nodes are known is certain at the frontier's end.
 */
const meetingOf = (side: ShortestSide, other: ShortestSide, at: { readonly origin: NodeKey; readonly isForward: boolean }): Meeting[] => {
  const met: Meeting[] = [];
  for (const key of side.growing?.next ?? side.frontier) {
    const known = other.distance.get(key);
    const far = known !== undefined && known <= doneOf(other) ? known : key === at.origin ? 0 : undefined;
    if (far === undefined) continue;
    met.push(at.isForward ? { key, before: side.depth, after: far } : { key, before: far, after: side.depth });
  }
  return met;
};

/** The paths from a node back to the end of a side, the node first. */
function* pathsBack(side: ShortestSide, key: NodeKey, depth: number): Generator<readonly NodeKey[]> {
  if (depth === 0) return yield [key];
  for (const before of side.behind.get(key) ?? []) for (const path of pathsBack(side, before, depth - 1)) yield [key, ...path];
}

function* joinedPaths({ forward, backward, meeting = [] }: ShortestState): Generator<readonly NodeKey[]> {
  for (const { key, before, after } of meeting) {
    for (const begin of pathsBack(forward, key, before))
      for (const end of pathsBack(backward, key, after)) yield [...begin.toReversed(), ...end.slice(1)];
  }
}

const beginShortest = (start: NodeKey, target: NodeKey): ShortestState => {
  // From a node to itself both sides leave the node first: one that comes back to it has found a cycle.
  const isCycle = start === target;
  const sideOf = (key: NodeKey): ShortestSide => ({ ...emptySide(key), distance: new Map(isCycle ? [] : [[key, 0]]), behind: new Map() });
  // A path's first node needs to fulfil nothing, unless the path comes back to it.
  const verdicts: Verdicts = new Map(isCycle ? [] : [[start, true]]);
  return { forward: sideOf(start), backward: sideOf(target), verdicts, meeting: undefined, given: 0 };
};

/**
 * Finds the shortest paths between two nodes, all of one length, from both ends: a frontier at a time, so that no shorter
 * path is left when the sides first meet. From a node to itself it finds the shortest cycle.
 */
export const shortestPaths = async (search: PathSearch, at: SearchAt<ShortestState>): Promise<FoundPaths<ShortestState>> => {
  const sides = [search.forward, search.backward];
  for (const request of sides) checkStart(at.session, request);
  return whereComplete(sides, at, () => findShortest(search, at));
};

const findShortest = async (search: PathSearch, at: SearchAt<ShortestState>): Promise<FoundPaths<ShortestState>> => {
  const { session, context } = at;
  const run = beginRun(session, search.forward, { state: emptyState(), context });
  const start = run.names.pack(search.forward.start.type, search.forward.start.id);
  const target = run.names.pack(search.backward.start.type, search.backward.start.id);
  const state = at.state ?? beginShortest(start, target);
  const forward: End<ShortestSide> = { side: state.forward, run, read: new Map() };
  const backward: End<ShortestSide> = { side: state.backward, run: besideRun(run, search.backward), read: new Map() };
  remember(run, state.forward.distance.keys());
  remember(run, state.backward.distance.keys());
  const filter = nodeFilter(run, state.verdicts);
  await filter.read([target]);
  const passes = filter.passes(target);
  if (passes === undefined) return { paths: [], stopped: stoppedAt(run, 1, { left: [target] }), state };
  if (!passes) return { paths: [], stopped: undefined, state: undefined };
  while (!state.meeting && isOpen(state.forward) && isOpen(state.backward)) {
    const hops = doneOf(state.forward) + doneOf(state.backward);
    if (hops >= search.depth) break;
    const end = nextEnd(search, forward, backward);
    const other = end === forward ? backward : forward;
    if (hops >= search.forward.budget.depth)
      return { paths: [], stopped: stoppedAt(run, hops + 1, { left: unreadNodes(end.side), by: "depth" }), state };
    const tell = (from: NodeKey, to: NodeKey): void => {
      const { distance, behind, growing, depth } = end.side;
      const known = distance.get(to);
      if (known === undefined) {
        distance.set(to, depth);
        growing?.next.push(to);
        remember(run, [to]);
      }
      if (known === undefined || known === depth) memberOf(behind, to, () => new Set<NodeKey>()).add(from);
    };
    const isOver = !(await grow(end, { filter, tell, other: search.smallerSide ? other : undefined }));
    const isForward = end === forward;
    const met = end.side.growing && !search.any ? [] : meetingOf(end.side, other.side, { origin: isForward ? target : start, isForward });
    if (met.length > 0) state.meeting = met;
    else if (isOver) return { paths: [], stopped: stoppedAt(run, end.side.depth, { left: unreadNodes(end.side) }), state };
  }
  const hops = state.forward.depth;
  const paths: (readonly NodeRef[])[] = [];
  let place = 0;
  for (const path of joinedPaths(state)) {
    if (place++ < state.given) continue;
    if (paths.length === search.limit) {
      state.given += search.limit;
      return { paths, stopped: stoppedAt(run, hops, { left: [], by: "limit" }), state };
    }
    paths.push(path.map((key) => run.names.unpack(key)));
  }
  return { paths, stopped: sampledAt(run, hops), state: undefined };
};

/** The nodes to which each node leads. */
type Ahead = Map<NodeKey, Set<NodeKey>>;

/** One end of a search for all paths. */
interface AllPathsSide extends Side {
  readonly seen: Set<NodeKey>;
}

/** Everything that a search for all paths knows at a moment. */
export interface AllPathsState {
  readonly ahead: Ahead;
  readonly forward: AllPathsSide;
  readonly backward: AllPathsSide;
  readonly verdicts: Verdicts;
  /** Paths that were given. */
  readonly given: Set<string>;
}

/**
 * Expands frontiers from both ends until they are as many as a path may have hops. Each edge of a path is then behind a
 * frontier of the start or before one of the target. No path leaves the target or returns to the start.
 *
 * @returns why it stopped, and whether a continuation finds more
 */
const readFrontiers = async (
  search: PathSearch,
  { ahead, forward: { seen: seenForward }, backward: { seen: seenBackward } }: AllPathsState,
  { forward, backward, filter }: { readonly forward: End; readonly backward: End; readonly filter: NodeFilter },
): Promise<{ readonly stopped: Stopped | undefined; readonly isLeft: boolean }> => {
  const main = forward.run;
  for (;;) {
    const done = doneOf(forward.side) + doneOf(backward.side);
    if (done >= search.depth || !isOpen(forward.side) || !isOpen(backward.side)) return { stopped: sampledAt(main, done), isLeft: false };
    const end = nextEnd(search, forward, backward);
    const isForward = end === forward;
    if (done >= main.request.budget.depth)
      return { stopped: stoppedAt(main, done + 1, { left: unreadNodes(end.side), by: "depth" }), isLeft: true };
    const seen = isForward ? seenForward : seenBackward;
    const tell = (from: NodeKey, to: NodeKey): void => {
      const [near, far] = isForward ? [from, to] : [to, from];
      memberOf(ahead, near, () => new Set<NodeKey>()).add(far);
      if (seen.has(to)) return;
      seen.add(to);
      end.side.growing?.next.push(to);
      remember(main, [to]);
    };
    const other = isForward ? backward : forward;
    if (!(await grow(end, { filter, tell, other: search.smallerSide ? other : undefined })))
      return { stopped: stoppedAt(main, done + 1, { left: unreadNodes(end.side) }), isLeft: true };
  }
};

/** How many hops each node is from the target, along the known edges. */
const hopsTo = (ahead: Ahead, target: NodeKey): ReadonlyMap<NodeKey, number> => {
  const behind: Ahead = new Map();
  for (const [from, ends] of ahead) for (const to of ends) memberOf(behind, to, () => new Set<NodeKey>()).add(from);
  const hops = new Map([[target, 0]]);
  for (const [key, at] of hops) for (const from of behind.get(key) ?? []) if (!hops.has(from)) hops.set(from, at + 1);
  return hops;
};

/** Upper bound of the unfinished paths that are kept, the shorter first. */
const MAX_OPEN = 100_000;

type Path = readonly NodeKey[];

/** The given paths with one node more, in every way that visits no node twice and can still reach the end. Lazy: a hub has too many to keep. */
function* longerPaths(ahead: Ahead, paths: readonly Path[], mayReach: (key: NodeKey) => boolean): Generator<Path> {
  for (const path of paths)
    for (const key of ahead.get(path.at(-1) ?? "") ?? []) if (!path.includes(key) && mayReach(key)) yield [...path, key];
}

/** The paths that were not given yet, the shorter first. `more` says whether the limit or the memory left some out. */
const listPaths = (
  { ahead, given }: AllPathsState,
  { depth, limit }: PathSearch,
  { start, target }: { readonly start: NodeKey; readonly target: NodeKey },
): { readonly paths: readonly Path[]; readonly more: "none" | "limit" | "memory" } => {
  const paths: Path[] = [];
  const hops = hopsTo(ahead, target);
  let open: readonly Path[] = start === target ? [] : [[start]];
  for (let length = 1; open.length > 0 && length <= depth; length++) {
    const longer: Path[] = [];
    for (const path of longerPaths(ahead, open, (key) => (hops.get(key) ?? depth) <= depth - length)) {
      if (path.at(-1) !== target) {
        // One too many shows that there are more.
        if (longer.length <= MAX_OPEN) longer.push(path);
        continue;
      }
      const print = pathPrint(path);
      if (given.has(print)) continue;
      if (paths.length === limit) return { paths, more: "limit" };
      given.add(print);
      paths.push(path);
    }
    if (longer.length > MAX_OPEN) return { paths, more: "memory" };
    open = longer;
  }
  return { paths, more: "none" };
};

/**
 * Finds all paths between two nodes that visit no node twice, the shorter first. It expands frontiers from both ends, each
 * node at most once from each; the paths themselves cost no request. A part gives the paths that are known by its end.
 */
export const allPaths = async (search: PathSearch, at: SearchAt<AllPathsState>): Promise<FoundPaths<AllPathsState>> => {
  const sides = [search.forward, search.backward];
  for (const request of sides) checkStart(at.session, request);
  return whereComplete(sides, at, () => findAll(search, at));
};

const findAll = async (search: PathSearch, at: SearchAt<AllPathsState>): Promise<FoundPaths<AllPathsState>> => {
  const { session, context } = at;
  const run = beginRun(session, search.forward, { state: emptyState(), context });
  const { names } = run;
  const start = names.pack(search.forward.start.type, search.forward.start.id);
  const target = names.pack(search.backward.start.type, search.backward.start.id);
  const sideOf = (key: NodeKey): AllPathsSide => ({ ...emptySide(key), seen: new Set([start, target]) });
  const state: AllPathsState = at.state ?? {
    ahead: new Map(),
    forward: sideOf(start),
    backward: sideOf(target),
    verdicts: new Map([[start, true]]),
    given: new Set(),
  };
  remember(run, state.forward.seen);
  remember(run, state.backward.seen);
  const filter = nodeFilter(run, state.verdicts);
  await filter.read([target]);
  const passes = filter.passes(target);
  if (passes === undefined) return { paths: [], stopped: stoppedAt(run, 1, { left: [target] }), state };
  if (!passes) return { paths: [], stopped: undefined, state: undefined };
  const { stopped: ended, isLeft } = await readFrontiers(search, state, {
    forward: { side: state.forward, run, read: new Map() },
    backward: { side: state.backward, run: besideRun(run, search.backward), read: new Map() },
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

/** What a search for common neighbours knows between two nodes, or while it reads one. */
export interface CommonState {
  /** The node that is being read. */
  at: number;
  /** What all nodes before it have in common; undefined before the first. */
  known: readonly NodeKey[] | undefined;
  frontier: Expanding;
  /** The neighbours found of the node that is being read. */
  found: Set<NodeKey>;
  readonly verdicts: Verdicts;
}

export interface CommonFound {
  readonly ids: readonly NodeRef[];
  readonly stopped: Stopped | undefined;
  readonly state: CommonState | undefined;
}

/** A search for the common neighbours of some nodes. */
interface CommonSearch {
  readonly request: WalkRequest;
  readonly nodes: readonly NodeRef[];
}

const ONE_HOP = 1;

/**
 * Finds the neighbours that all of some nodes have. It reads one node after the other, because one budget covers them
 * all and nothing more is read when nothing is in common any longer. The answer is known at the end only.
 */
export const commonNeighbours = async (search: CommonSearch, at: SearchAt<CommonState>): Promise<CommonFound> => {
  for (const start of search.nodes) checkStart(at.session, { ...search.request, start });
  return whereComplete([search.request], at, () => findCommon(search, at));
};

const findCommon = async (
  { request, nodes }: CommonSearch,
  { session, context, state: from }: SearchAt<CommonState>,
): Promise<CommonFound> => {
  const run = beginRun(session, request, { state: emptyState(), context });
  const keys = nodes.map(({ type, id }) => run.names.pack(type, id));
  const begin = (): CommonState => ({
    at: 0,
    known: undefined,
    frontier: expanding(keys.slice(0, 1)),
    found: new Set(),
    verdicts: new Map(),
  });
  const state = from ?? begin();
  remember(run, [...(state.known ?? []), ...state.found]);
  const filter = nodeFilter(run, state.verdicts);
  while (state.at < keys.length && state.known?.length !== 0) {
    const known = state.known && new Set(state.known);
    const tell = (_: NodeKey, to: NodeKey): void => {
      if (state.found.has(to) || known?.has(to) === false) return;
      state.found.add(to);
      remember(run, [to]);
    };
    const isOver = await expandFrontier(run, state.frontier, { filter, tell, known });
    if (!isOver) return { ids: [], stopped: stoppedAt(run, ONE_HOP, { left: keys.slice(state.at) }), state };
    state.known = state.known ? state.known.filter((key) => state.found.has(key)) : [...state.found];
    state.at++;
    state.found = new Set();
    state.frontier = expanding(keys.slice(state.at, state.at + 1));
  }
  return { ids: (state.known ?? []).map((key) => run.names.unpack(key)), stopped: sampledAt(run, ONE_HOP), state: undefined };
};
