import type { CallContext, Session } from "../session.ts";
import { checkStart } from "./check-start.ts";
import { expanding, expandLayer, type Expanding } from "./expand-layer.ts";
import { nodeFilter, type Verdicts } from "./node-filter.ts";
import type { NodeKey, NodeRef } from "./node-names.ts";
import { remember, sampledAt, stoppedAt } from "./path-search.ts";
import type { Stopped } from "./run-walk.ts";
import { beginRun, type WalkRequest } from "./walk-run.ts";
import { emptyState } from "./walk-state.ts";

/** What is known between two nodes, or in the middle of one. */
export interface CommonState {
  /** Which node is being read. */
  at: number;
  /** What all nodes before it have in common; undefined before the first. */
  known: readonly NodeKey[] | undefined;
  /** The node that is being read, and what it was found to be next to. */
  layer: Expanding;
  found: Set<NodeKey>;
  readonly verdicts: Verdicts;
}

export interface CommonFound {
  readonly ids: readonly NodeRef[];
  readonly stopped: Stopped | undefined;
  readonly state: CommonState | undefined;
}

const ONE_HOP = 1;

/**
 * The neighbours that all of some nodes have. One node after the other, for the budget is of all of them;
 * where nothing is in common already, nothing more is read. What is in common is known at the end alone.
 */
export const commonNeighbours = async (
  session: Session,
  { request, nodes }: { readonly request: WalkRequest; readonly nodes: readonly NodeRef[] },
  at: { readonly context: CallContext; readonly state: CommonState | undefined },
): Promise<CommonFound> => {
  for (const start of nodes) checkStart(session, { ...request, start });
  const run = beginRun(session, request, { state: emptyState(), context: at.context });
  const keys = nodes.map(({ type, id }) => run.names.pack(type, id));
  const begun = (): CommonState => ({ at: 0, known: undefined, layer: expanding(keys.slice(0, 1)), found: new Set(), verdicts: new Map() });
  const state = at.state ?? begun();
  remember(run, [...(state.known ?? []), ...state.found]);
  const filter = nodeFilter(run, state.verdicts);
  while (state.at < keys.length && state.known?.length !== 0) {
    const known = state.known && new Set(state.known);
    const tell = (_: NodeKey, to: NodeKey): void => {
      if (state.found.has(to) || known?.has(to) === false) return;
      state.found.add(to);
      remember(run, [to]);
    };
    const isOver = await expandLayer(run, state.layer, { filter, tell, known });
    if (!isOver) return { ids: [], stopped: stoppedAt(run, ONE_HOP, { left: keys.slice(state.at) }), state };
    state.known = state.known ? state.known.filter((key) => state.found.has(key)) : [...state.found];
    state.at++;
    state.found = new Set();
    state.layer = expanding(keys.slice(state.at, state.at + 1));
  }
  return { ids: (state.known ?? []).map((key) => run.names.unpack(key)), stopped: sampledAt(run, ONE_HOP), state: undefined };
};
