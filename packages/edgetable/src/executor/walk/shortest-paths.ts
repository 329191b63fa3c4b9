import type { CallContext, Session } from "../session.ts";
import { expandLayer } from "./expand-layer.ts";
import { nodeFilter, type NodeFilter } from "./node-filter.ts";
import type { NodeKey, NodeRef } from "./node-names.ts";
import type { Stopped } from "./run-walk.ts";
import { beginRun, besideRun, type WalkRequest, type WalkRun } from "./walk-run.ts";
import { bytesOf, emptyState, type WalkState } from "./walk-state.ts";

/** One end of the search. */
interface Side {
  readonly run: WalkRun;
  /** Where the bytes of both ends are added up. */
  readonly counted: WalkState;
  /** How far each node is from the end, and from where it was reached. */
  readonly distance: Map<NodeKey, number>;
  readonly behind: Map<NodeKey, NodeKey[]>;
  frontier: readonly NodeKey[];
  depth: number;
}

export interface PathSearch {
  readonly forward: WalkRequest;
  /** The same edge the other way, from the other end. */
  readonly backward: WalkRequest;
  /** The most hops of a path. */
  readonly depth: number;
  /** The most paths to give. */
  readonly limit: number;
  /** Whether the end with fewer nodes grows, or always the start. */
  readonly smallerSide: boolean;
}

export interface FoundPaths {
  readonly paths: readonly (readonly NodeRef[])[];
  readonly stopped: Stopped | undefined;
}

const sideOf = (run: WalkRun, counted: WalkState, isCycle: boolean): Side => {
  const { type, id } = run.request.start;
  const key = run.names.pack(type, id);
  return { run, counted, distance: new Map(isCycle ? [] : [[key, 0]]), behind: new Map(), frontier: [key], depth: 0 };
};

const grow = async (side: Side, filter: NodeFilter): Promise<readonly NodeKey[]> => {
  const next: NodeKey[] = [];
  side.depth++;
  const tell = (from: NodeKey, to: NodeKey): void => {
    const known = side.distance.get(to);
    if (known === undefined) {
      side.distance.set(to, side.depth);
      side.behind.set(to, [from]);
      side.counted.bytes += bytesOf(to);
      next.push(to);
    } else if (known === side.depth && !side.behind.get(to)?.includes(from)) side.behind.get(to)?.push(from);
  };
  const left = await expandLayer(side.run, { frontier: side.frontier, filter, tell });
  side.frontier = next;
  return left;
};

/** The ways from a node back to the end of a side, the node first. */
function* waysBack(side: Side, key: NodeKey, depth: number): Generator<readonly NodeKey[]> {
  if (depth === 0) return yield [key];
  for (const before of side.behind.get(key) ?? []) for (const way of waysBack(side, before, depth - 1)) yield [key, ...way];
}

function* joined(forward: Side, backward: Side, meeting: readonly NodeKey[]): Generator<readonly NodeKey[]> {
  for (const key of meeting) {
    for (const before of waysBack(forward, key, forward.distance.get(key) ?? 0)) {
      for (const after of waysBack(backward, key, backward.distance.get(key) ?? 0)) yield [...before.toReversed(), ...after.slice(1)];
    }
  }
}

const pathsOf = (forward: Side, backward: Side, at: { readonly meeting: readonly NodeKey[]; readonly limit: number }): FoundPaths => {
  const paths: (readonly NodeRef[])[] = [];
  for (const path of joined(forward, backward, at.meeting)) {
    if (paths.length === at.limit) return { paths, stopped: { by: "limit", hop: forward.depth, left: { nodes: 0, sample: [] } } };
    paths.push(path.map((key) => forward.run.names.unpack(key)));
  }
  return { paths, stopped: undefined };
};

const stoppedAt = (side: Side, left: readonly NodeKey[]): Stopped => ({
  by: side.run.spend.stopped ?? "breadth",
  hop: Math.max(1, side.depth),
  left: { nodes: left.length, sample: left.slice(0, 10).map((key) => side.run.names.unpack(key)) },
});

const meetingOf = (grown: Side, other: Side): readonly NodeKey[] => grown.frontier.filter((key) => other.distance.has(key));

const sameEnds = ({ forward, backward }: PathSearch): boolean =>
  forward.start.type === backward.start.type && JSON.stringify(forward.start.id) === JSON.stringify(backward.start.id);

/**
 * The shortest paths between two nodes, all of one length, from both ends: a layer at a time, so that
 * when the sides first meet no shorter path can be left. From a node to itself it is the shortest cycle.
 */
export const shortestPaths = async (session: Session, search: PathSearch, context: CallContext): Promise<FoundPaths> => {
  const run = beginRun(session, search.forward, { state: emptyState(), context });
  const { depth } = search.forward.budget;
  const isCycle = sameEnds(search);
  const forward = sideOf(run, run.state, isCycle);
  const backward = sideOf(besideRun(run, search.backward), run.state, false);
  const filter = nodeFilter(run, isCycle ? undefined : forward.frontier[0]);
  const unread = await filter.read(backward.frontier);
  if (unread.length > 0) return { paths: [], stopped: stoppedAt(forward, unread) };
  if (!backward.frontier.every(filter.passes)) return { paths: [], stopped: undefined };
  while (forward.frontier.length > 0 && backward.frontier.length > 0) {
    const hops = forward.depth + backward.depth;
    if (hops >= search.depth) return { paths: [], stopped: undefined };
    const isForward = !search.smallerSide || forward.depth === 0 || forward.frontier.length <= backward.frontier.length;
    const [grown, other] = isForward ? [forward, backward] : [backward, forward];
    if (hops >= depth) return { paths: [], stopped: { ...stoppedAt(grown, grown.frontier), by: "depth", hop: hops + 1 } };
    const left = await grow(grown, filter);
    if (left.length > 0) return { paths: [], stopped: stoppedAt(grown, left) };
    const meeting = meetingOf(grown, other);
    if (meeting.length > 0) return pathsOf(forward, backward, { meeting, limit: search.limit });
  }
  return { paths: [], stopped: undefined };
};
