import type { CallContext, Session } from "../session.ts";
import type { NodeKey, NodeRef } from "./node-names.ts";
import type { Stopped } from "./run-walk.ts";
import type { WalkRequest, WalkRun } from "./walk-run.ts";
import { bytesOf } from "./walk-state.ts";

/** A search for paths between two nodes. */
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

/** Where a search runs, and what an earlier part of it knew. */
export interface SearchAt<State> {
  readonly session: Session;
  readonly context: CallContext;
  readonly state: State | undefined;
}

export interface FoundPaths<State = unknown> {
  readonly paths: readonly (readonly NodeRef[])[];
  readonly stopped: Stopped | undefined;
  /** What a continuation goes on from; undefined where nothing is left that could be gone on with. */
  readonly state: State | undefined;
}

const SAMPLE = 10;

/** Why a search ended before its end: by the budget, unless it is said otherwise. What a sample left out is left too. */
export const stoppedAt = (
  run: WalkRun,
  hop: number,
  { left: nodes, by }: { readonly left: readonly NodeKey[]; readonly by?: Stopped["by"] },
): Stopped => {
  const left = [...nodes, ...run.sampled];
  return {
    by: by ?? run.spend.stopped() ?? "breadth",
    hop,
    left: { nodes: left.length, sample: left.slice(0, SAMPLE).map((key) => run.names.unpack(key)) },
  };
};

/** That a search is over, but looked at a sample of some nodes' edges alone. */
export const sampledAt = (run: WalkRun, hop: number): Stopped | undefined =>
  run.sampled.length > 0 ? stoppedAt(run, hop, { left: [], by: "breadth" }) : undefined;

/** Counts what a search keeps in mind. */
export const remember = (run: WalkRun, keys: Iterable<NodeKey>): void => {
  for (const key of keys) run.state.bytes += bytesOf(key);
};
