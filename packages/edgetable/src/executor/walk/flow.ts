import type { PlannedHop, WalkPlan } from "../../ir/walk-plan.ts";
import { add } from "./amount.ts";
import { ONE_WAY, type Gather, type Ways } from "./gather.ts";
import type { NodeKey } from "./node-names.ts";
import { bytesOf, layerAt, layerId, layerPlace, memberOf, type Layer, type Link, type WalkState } from "./walk-state.ts";

/** Where nodes come to. Steps that read nothing are passed at once; at the others a node waits. */
export interface Flow {
  /** A node reaches a step. */
  readonly arrive: (step: number, node: Arrival) => void;
  /** An edge of a hop's layer leads to a node. */
  readonly cross: (layer: Layer, hop: PlannedHop, node: Arrival) => void;
  /** The same, for a round that has read its nodes. */
  readonly pass: (layer: Layer, hop: PlannedHop, node: Arrival) => void;
  /** Whether a node that waited has been there in an earlier round meanwhile. */
  readonly isStale: (layer: Layer, key: NodeKey) => boolean;
}

export interface Arrival {
  readonly key: NodeKey;
  readonly ways: Ways;
  readonly from: Link | undefined;
}

interface Context {
  readonly plan: WalkPlan;
  readonly state: WalkState;
  readonly gather: Gather;
  /** The lists of nodes that `except` and `keep` name, by slot. */
  readonly lists: ReadonlyMap<number, ReadonlySet<NodeKey>>;
  /** Whether it matters where the walk has been. */
  readonly remembers: boolean;
}

type Place = Pick<Layer, "step" | "round">;

/** Rounds that have read their edges and wait for their nodes stand behind the hop, at odd places. */
const FILTERING = 0.5;

const collector = ({ plan, state, gather }: Context): ((node: Arrival) => void) => {
  const keep = ({ key }: Arrival): void => {
    if (state.ends.has(key)) return;
    state.ends.add(key);
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

// A node that is expanded once is not expanded again when it comes a second time, by the rest of a supernode.
const seenName = (hop: PlannedHop, layer: Place): string =>
  hop.emit === "all" && hop.counts === "nodes" ? `${layer.step}` : `${layer.step}.${layer.round}`;

const isForPaths = ({ plan }: Context): boolean => plan.collect.kind === "paths";

const link = ({ state }: Context, { step, round }: Place, { key, from }: Arrival): void => {
  const known = memberOf(
    memberOf(state.links, layerId(step, round), () => new Map<NodeKey, (Link | undefined)[]>()),
    key,
    () => [],
  );
  if (known.some((one) => one?.layer === from?.layer && one?.key === from?.key)) return;
  known.push(from);
  state.bytes += bytesOf(key);
};

/** Whether a node was at the place, or at an earlier round of it; from now on it was. */
const isKnown = ({ state }: Context, hop: PlannedHop, { place, key }: { readonly place: Place; readonly key: NodeKey }): boolean => {
  const seen = memberOf(state.seen, seenName(hop, place), () => new Map<NodeKey, number>());
  const round = seen.get(key);
  if (round !== undefined && round <= place.round) return true;
  if (round === undefined) state.bytes += bytesOf(key);
  seen.set(key, place.round);
  return false;
};

const putWaiting = ({ state, gather }: Context, place: Place, node: Arrival): void => {
  const { waiting } = layerAt(state, place.step, place.round);
  const known = waiting.get(node.key);
  if (!known) state.bytes += bytesOf(node.key);
  waiting.set(node.key, known ? gather.merge(known, node.ways) : node.ways);
};

const wait = (context: Context, place: Place, node: Arrival): void => {
  if (context.remembers) context.state.passed.add(node.key);
  if (isForPaths(context)) link(context, place, node);
  const step = context.plan.steps[place.step];
  const once = step?.kind === "hop" && (isForPaths(context) || step.counts === "nodes");
  if (!once) return putWaiting(context, place, node);
  if (isKnown(context, step, { place, key: node.key })) return;
  const { waiting } = layerAt(context.state, place.step, place.round);
  if (!waiting.has(node.key)) putWaiting(context, place, { ...node, ways: ONE_WAY });
};

/** Whether a node has been at a `dedupe`; from now on it has. */
const isRepeated = ({ state }: Context, step: number, key: NodeKey): boolean => {
  const seen = memberOf(state.seen, `${step}`, () => new Map<NodeKey, number>());
  if (seen.has(key)) return true;
  seen.set(key, 0);
  state.bytes += bytesOf(key);
  return false;
};

/** Where a node goes on at a step: past what reads nothing, or nowhere. */
const passing = (context: Context, from: number, key: NodeKey): { readonly at: number; readonly deduped: boolean } | undefined => {
  let deduped = false;
  for (let at = from; ; at++) {
    const step = context.plan.steps[at];
    if (step?.kind === "dedupe") {
      if (isRepeated(context, at, key)) return undefined;
      deduped = true;
    } else if (step?.kind === "exceptPassed") {
      if (context.state.passed.has(key)) return undefined;
    } else if (step?.kind === "except" || step?.kind === "keep") {
      if ((context.lists.get(step.slot)?.has(key) ?? false) === (step.kind === "except")) return undefined;
    } else return { at, deduped };
  }
};

// In a closure, a node that was read and went on in an earlier round has nothing new to say.
const hasGoneOn = ({ state }: Context, hop: PlannedHop, { place, key }: { readonly place: Place; readonly key: NodeKey }): boolean => {
  if (hop.emit !== "all" || hop.counts !== "nodes") return false;
  const round = state.seen.get(seenName(hop, place))?.get(key);
  return round !== undefined && round >= 1 && round <= place.round + 1;
};

/** How nodes move through a walk. */
export const createFlow = (context: Context): Flow => {
  const { plan, state } = context;
  const collect = collector(context);

  const arrive = (from: number, node: Arrival): void => {
    const on = passing(context, from, node.key);
    if (!on) return;
    const place = { step: on.at, round: 0 };
    const arrival = on.deduped ? { ...node, ways: ONE_WAY } : node;
    if (on.deduped && isForPaths(context)) state.singles.add(layerId(on.at, 0));
    if (on.at < plan.steps.length) return wait(context, place, arrival);
    if (isForPaths(context)) link(context, place, arrival);
    collect(arrival);
  };

  const pass = (layer: Layer, hop: PlannedHop, node: Arrival): void => {
    const round = Math.floor(layer.round) + 1;
    if (round < hop.rounds) wait(context, { step: layer.step, round }, node);
    if (round === hop.rounds || hop.emit === "all") arrive(layer.step + 1, node);
  };

  const cross = (layer: Layer, hop: PlannedHop, node: Arrival): void => {
    if (hop.nodeConditions.length === 0) return pass(layer, hop, node);
    if (hasGoneOn(context, hop, { place: layer, key: node.key })) return;
    const filtering = { step: layer.step, round: layer.round + FILTERING };
    if (isForPaths(context)) link(context, filtering, node);
    putWaiting(context, filtering, node);
  };

  const isStale = (layer: Layer, key: NodeKey): boolean => {
    const step = plan.steps[layer.step];
    if (step?.kind !== "hop" || step.counts !== "nodes") return false;
    return (state.seen.get(seenName(step, layer))?.get(key) ?? layer.round) < layer.round;
  };

  return { arrive, pass, cross, isStale };
};
