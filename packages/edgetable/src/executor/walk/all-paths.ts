import { checkStart } from "./check-start.ts";
import { expanding, expandLayer, leftOf, type Expanding } from "./expand-layer.ts";
import { nodeFilter, type NodeFilter, type Verdicts } from "./node-filter.ts";
import type { NodeKey } from "./node-names.ts";
import { remember, sampledAt, stoppedAt, type FoundPaths, type PathSearch, type SearchAt } from "./path-search.ts";
import { pathPrint } from "./paths.ts";
import type { Stopped } from "./run-walk.ts";
import { beginRun, besideRun, type WalkRun } from "./walk-run.ts";
import { emptyState, memberOf } from "./walk-state.ts";

/** For each node that leads to the target, where it goes on to. */
type Ahead = Map<NodeKey, Set<NodeKey>>;

/** Everything that a search knows at a moment. */
export interface AllPathsState {
  readonly ahead: Ahead;
  readonly seen: Set<NodeKey>;
  /** What is left of the layer that is being read, and where it has led to. */
  layer: Expanding | undefined;
  next: NodeKey[];
  readonly verdicts: Verdicts;
  hop: number;
  /** Paths that were given. */
  readonly given: Set<string>;
}

const readLayer = async (
  run: WalkRun,
  { ahead, seen, next }: AllPathsState,
  at: { readonly layer: Expanding; readonly filter: NodeFilter },
): Promise<boolean> => {
  const tell = (to: NodeKey, from: NodeKey): void => {
    memberOf(ahead, from, () => new Set<NodeKey>()).add(to);
    if (seen.has(from)) return;
    seen.add(from);
    next.push(from);
    remember(run, [from]);
  };
  return expandLayer(run, at.layer, { filter: at.filter, tell });
};

// Every node that leads to the target is read once; the start's own in-edges lie on no path without a cycle.
const closeTo = async (
  run: WalkRun,
  state: AllPathsState,
  { depth, filter }: { readonly depth: number; readonly filter: NodeFilter },
): Promise<Stopped | undefined> => {
  for (;;) {
    if (!state.layer) {
      if (state.next.length === 0 || state.hop >= depth) return sampledAt(run, state.hop);
      if (state.hop >= run.request.budget.depth) return stoppedAt(run, state.hop + 1, { left: state.next, by: "depth" });
      state.layer = expanding(state.next);
      state.next = [];
      state.hop++;
    }
    if (!(await readLayer(run, state, { layer: state.layer, filter }))) return stoppedAt(run, state.hop, { left: leftOf(state.layer) });
    state.layer = undefined;
  }
};

// Paths that are not at their end yet wait their turn, the shorter first.
const MOST_OPEN = 100_000;

type Path = readonly NodeKey[];

/** Paths with one node more, in every way that comes to no node twice; lazily, for of many paths at a hub there are too many to keep. */
function* allOnward(ahead: Ahead, paths: readonly Path[]): Generator<Path> {
  for (const path of paths) for (const key of ahead.get(path.at(-1) ?? "") ?? []) if (!path.includes(key)) yield [...path, key];
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
  let open: readonly Path[] = start === target ? [] : [[start]];
  for (let length = 1; open.length > 0 && length <= depth; length++) {
    const longer: Path[] = [];
    for (const path of allOnward(ahead, open)) {
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
 * All paths between two nodes that come to no node twice, the shorter first. Reads the nodes that lead
 * to the target, each once; the paths themselves cost no request. A part gives the paths that it has come to know.
 */
export const allPaths = async (
  search: PathSearch,
  { session, context, state: from }: SearchAt<AllPathsState>,
): Promise<FoundPaths<AllPathsState>> => {
  for (const request of [search.forward, search.backward]) checkStart(session, request);
  const run = beginRun(session, search.backward, { state: emptyState(), context });
  const { names } = run;
  const start = names.pack(search.forward.start.type, search.forward.start.id);
  const target = names.pack(search.backward.start.type, search.backward.start.id);
  const begun = (): AllPathsState => ({
    ahead: new Map(),
    seen: new Set([target, start]),
    layer: undefined,
    next: [target],
    verdicts: new Map([[start, true]]),
    hop: 0,
    given: new Set(),
  });
  const state = from ?? begun();
  remember(run, state.seen);
  // Nothing is asked of where a path starts, but of all nodes that it leads to.
  const filter = nodeFilter(besideRun(run, search.forward), state.verdicts);
  await filter.read([target]);
  const passes = filter.passes(target);
  if (passes === undefined) return { paths: [], stopped: stoppedAt(run, 1, { left: [target] }), state };
  if (!passes) return { paths: [], stopped: undefined, state: undefined };
  const ended = await closeTo(run, state, { depth: search.depth, filter });
  const { paths, more } = listPaths(state, search, { start, target });
  const stopped = more === "none" ? ended : stoppedAt(run, search.depth, { left: [], by: "limit" });
  const isLeft = more === "limit" || state.layer !== undefined || (ended?.by === "depth" && more === "none");
  return {
    paths: paths.map((path) => path.map((key) => names.unpack(key))),
    stopped,
    state: isLeft && more !== "memory" ? state : undefined,
  };
};
