import type { CallContext, Session } from "../session.ts";
import { expandLayer } from "./expand-layer.ts";
import type { NodeKey } from "./node-names.ts";
import type { FoundPaths, PathSearch } from "./shortest-paths.ts";
import type { Stopped } from "./run-walk.ts";
import { beginRun, type WalkRun } from "./walk-run.ts";
import { emptyState } from "./walk-state.ts";

/** For each node that leads to the target, where it goes on to. */
type Ahead = Map<NodeKey, NodeKey[]>;

interface Closure {
  readonly ahead: Ahead;
  readonly stopped: Stopped | undefined;
}

// Every node that leads to the target is read once; the start's own in-edges lie on no path without a cycle.
const closureTo = async (run: WalkRun, start: NodeKey, depth: number): Promise<Closure> => {
  const { type, id } = run.request.start;
  const ahead: Ahead = new Map();
  const target = run.names.pack(type, id);
  const seen = new Set([target, start]);
  let frontier: readonly NodeKey[] = [target];
  for (let hop = 1; frontier.length > 0 && hop <= depth; hop++) {
    const next: NodeKey[] = [];
    const left = await expandLayer(run, frontier, (to, from) => {
      const known = ahead.get(from);
      if (!known) ahead.set(from, [to]);
      else if (!known.includes(to)) known.push(to);
      if (!seen.has(from)) {
        seen.add(from);
        next.push(from);
      }
    });
    if (left.length > 0) {
      const sample = left.slice(0, 10).map((key) => run.names.unpack(key));
      return { ahead, stopped: { by: run.spend.stopped ?? "breadth", hop, left: { nodes: left.length, sample } } };
    }
    frontier = next;
  }
  return { ahead, stopped: undefined };
};

// Paths that are not at their end yet wait their turn, the shorter first.
const MOST_OPEN = 100_000;

/** A path with one node more, in every way that comes to no node twice. */
const onward = (ahead: Ahead, path: readonly NodeKey[]): readonly (readonly NodeKey[])[] =>
  (ahead.get(path.at(-1) ?? "") ?? []).filter((key) => !path.includes(key)).map((key) => [...path, key]);

/**
 * All paths between two nodes that come to no node twice, the shorter first. Reads the nodes that lead
 * to the target, each once; the paths themselves cost no request.
 */
export const allPaths = async (session: Session, search: PathSearch, context: CallContext): Promise<FoundPaths> => {
  const run = beginRun(session, search.backward, { state: emptyState(), context });
  const { names } = run;
  const start = names.pack(search.forward.start.type, search.forward.start.id);
  const target = names.pack(search.backward.start.type, search.backward.start.id);
  const { ahead, stopped } = await closureTo(run, start, search.depth);
  const paths: (readonly NodeKey[])[] = [];
  const limited: Stopped = { by: "limit", hop: search.depth, left: { nodes: 0, sample: [] } };
  const shown = (why: Stopped | undefined): FoundPaths => ({
    paths: paths.map((path) => path.map((key) => names.unpack(key))),
    stopped: why,
  });
  let open: (readonly NodeKey[])[] = start === target ? [] : [[start]];
  for (let length = 1; open.length > 0 && length <= search.depth; length++) {
    const longer: (readonly NodeKey[])[] = [];
    for (const path of open.flatMap((one) => onward(ahead, one))) {
      if (path.at(-1) !== target) longer.push(path);
      else if (paths.length === search.limit) return shown(limited);
      else paths.push(path);
    }
    if (longer.length > MOST_OPEN) return shown(limited);
    open = longer;
  }
  return shown(stopped);
};
