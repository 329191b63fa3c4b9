import type { WalkPlan } from "../../ir/walk-plan.ts";
import { add } from "./amount.ts";
import type { Gather, Ways } from "./gather.ts";
import type { NodeKey } from "./node-names.ts";
import { bytesOf, layerPlace, type Link, type WalkState } from "./walk-state.ts";

/** A node to which a walk has come. */
export interface Arrival {
  readonly key: NodeKey;
  readonly ways: Ways;
  readonly from: Link | undefined;
}

interface Collecting {
  readonly plan: WalkPlan;
  readonly state: WalkState;
  readonly gather: Gather;
}

/** What keeps the nodes that reach the end of a walk, in the form in which they are asked for. */
export const collector = ({ plan, state, gather }: Collecting): ((node: Arrival) => void) => {
  const keep = ({ key }: Arrival): void => {
    const before = state.ends.size;
    if (state.ends.add(key).size === before) return;
    state.found.push(key);
    state.bytes += bytesOf(key);
  };
  const near = (plan.collect.kind === "groups" || plan.collect.kind === "fold") && plan.collect.near;
  const group = ({ key: far, ways, from }: Arrival): void => {
    const key = near && from ? from.key : far;
    const known = state.groups.get(key);
    if (!known) state.bytes += bytesOf(key);
    state.groups.set(key, known ? gather.merge(known, ways) : ways);
  };
  const level = (node: Arrival): void => {
    const at = node.from ? Math.floor(layerPlace(node.from.layer).round) + 1 : 0;
    const known = state.levels.get(at);
    const before = state.ends.size;
    keep(node);
    const nodes = (known?.nodes ?? 0) + state.ends.size - before;
    state.levels.set(at, { nodes, ways: known ? gather.merge(known.ways, node.ways) : node.ways });
  };
  switch (plan.collect.kind) {
    case "count":
      return ({ ways }) => {
        state.total = add(state.total, ways.count);
      };
    case "groups":
    case "fold":
      return group;
    case "levels":
      return level;
    default:
      return keep;
  }
};
