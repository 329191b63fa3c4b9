import type { CallContext, Session } from "../session.ts";
import { expandLayer } from "./expand-layer.ts";
import { nodeFilter, type NodeFilter } from "./node-filter.ts";
import type { NodeKey } from "./node-names.ts";
import type { FoundPaths, PathSearch } from "./shortest-paths.ts";
import type { Stopped } from "./run-walk.ts";
import { beginRun, besideRun, type WalkRun } from "./walk-run.ts";
import { bytesOf, emptyState } from "./walk-state.ts";

/** For each node that leads to the target, where it goes on to. */
type Ahead = Map<NodeKey, NodeKey[]>;

interface Closure {
  readonly ahead: Ahead;
  readonly stopped: Stopped | undefined;
}

interface Ends {
  readonly start: NodeKey;
  readonly target: NodeKey;
}

interface Within {
  readonly filter: NodeFilter;
  /** The most hops. */
  readonly depth: number;
}

// Every node that leads to the target is read once; the start's own in-edges lie on no path without a cycle.
const closureTo = async (run: WalkRun, at: Ends, { filter, depth }: Within): Promise<Closure> => {
  const ahead: Ahead = new Map();
  const stoppedAt = (hop: number, left: readonly NodeKey[], by: Stopped["by"] = run.spend.stopped ?? "breadth"): Closure => {
    const sample = left.slice(0, 10).map((key) => run.names.unpack(key));
    return { ahead, stopped: { by, hop, left: { nodes: left.length, sample } } };
  };
  const seen = new Set([at.target, at.start]);
  const unread = await filter.read([at.target]);
  if (unread.length > 0) return stoppedAt(1, unread);
  let frontier = [at.target].filter(filter.passes);
  for (let hop = 1; frontier.length > 0 && hop <= depth; hop++) {
    if (hop > run.request.budget.depth) return stoppedAt(hop, frontier, "depth");
    const next: NodeKey[] = [];
    const tell = (to: NodeKey, from: NodeKey): void => {
      const known = ahead.get(from);
      if (!known) ahead.set(from, [to]);
      else if (!known.includes(to)) known.push(to);
      if (!seen.has(from)) {
        seen.add(from);
        run.state.bytes += bytesOf(from);
        next.push(from);
      }
    };
    const left = await expandLayer(run, { frontier, filter, tell });
    if (left.length > 0) return stoppedAt(hop, left);
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
  const filter = nodeFilter(besideRun(run, search.forward), start);
  const { ahead, stopped } = await closureTo(run, { start, target }, { filter, depth: search.depth });
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
