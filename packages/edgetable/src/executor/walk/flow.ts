import type { PlannedHop, WalkPlan } from "../../ir/walk-plan.ts";
import { collector, type Arrival } from "./collect.ts";
import { ONE_WAY, type Gather } from "./gather.ts";
import type { NodeList } from "./node-list.ts";
import type { NodeKey } from "./node-names.ts";
import { bytesOf, layerAt, layerId, memberOf, type Layer, type Link, type WalkState } from "./walk-state.ts";

/** Takes one node after another to where it goes on. */
export type Way = (node: Arrival) => void;

/** Where nodes come to. Steps that read nothing are passed at once; at the others a node waits. */
export interface Flow {
  /** For nodes that reach a step. */
  readonly arriving: (step: number) => Way;
  /** For nodes to which edges of a hop's layer lead, while that layer is run. */
  readonly crossing: (layer: Layer, hop: PlannedHop) => Way;
  /** The same, for a round that has read its nodes. */
  readonly passing: (layer: Layer, hop: PlannedHop) => Way;
  /** Whether the walk went on from a node before a step, as far as is known. */
  readonly isPassed: (step: number, key: NodeKey) => boolean;
  /** Whether a node that waited has been there in an earlier round meanwhile. */
  readonly isStale: (layer: Layer, key: NodeKey) => boolean;
}

interface Context {
  readonly plan: WalkPlan;
  readonly state: WalkState;
  readonly gather: Gather;
  /** The lists of nodes that `except` and `keep` name, by slot. */
  readonly lists: ReadonlyMap<number, NodeList>;
  /** The nodes from which it starts, where they are all of a level. */
  readonly startLevel: NodeList | undefined;
  /** Whether it matters where the walk has been. */
  readonly remembers: boolean;
}

type Place = Pick<Layer, "step" | "round">;

/** Rounds that have read their edges and wait for their nodes stand behind the hop, at odd places. */
const FILTERING = 0.5;

// A node that is expanded once is not expanded again when it comes a second time, by the rest of a supernode.
const seenName = (hop: PlannedHop, layer: Place): string =>
  hop.emit === "all" && hop.counts === "nodes" ? `${layer.step}` : `${layer.step}.${layer.round}`;

// Made at the first need: a layer that nothing waits at is none.
const later = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => (made ??= make());
};

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

const putting = (context: Context, place: Place): Way => {
  const { state, gather } = context;
  const waiting = later(() => layerAt(state, place.step, place.round).waiting);
  return ({ key, ways }) => {
    const known = waiting().get(key);
    if (!known) state.bytes += bytesOf(key);
    waiting().set(key, known ? gather.merge(known, ways) : ways);
  };
};

/** For a hop that reads a node once: one that was at the place, or at an earlier round of it, does not wait again. */
const puttingOnce = ({ state }: Context, hop: PlannedHop, place: Place): Way => {
  const waiting = later(() => layerAt(state, place.step, place.round).waiting);
  const seen = later(() => memberOf(state.seen, seenName(hop, place), () => new Map<NodeKey, number>()));
  return ({ key }) => {
    const round = seen().get(key);
    if (round !== undefined && round <= place.round) return;
    seen().set(key, place.round);
    state.bytes += bytesOf(key) * (round === undefined ? 2 : 1);
    waiting().set(key, ONE_WAY);
  };
};

const remember = ({ state }: Context, step: number, key: NodeKey): void => {
  const known = state.passed.get(key);
  if (known === undefined) state.bytes += bytesOf(key);
  state.passed.set(key, Math.min(known ?? step, step));
};

const waiting = (context: Context, place: Place): Way => {
  const step = context.plan.steps[place.step];
  const remembers = context.remembers && step?.kind === "hop";
  const forPaths = isForPaths(context);
  const isOnce = step?.kind === "hop" && (forPaths || step.counts === "nodes");
  const put = isOnce ? puttingOnce(context, step, place) : putting(context, place);
  if (!remembers && !forPaths) return put;
  return (node) => {
    if (remembers) remember(context, place.step, node.key);
    if (forPaths) link(context, place, node);
    put(node);
  };
};

/** Lets a node past a step that reads nothing, or not. */
type Gate = (key: NodeKey) => boolean;

const gateOf = ({ plan, state, lists }: Context, at: number): Gate | undefined => {
  const step = plan.steps[at];
  switch (step?.kind) {
    case "dedupe": {
      const seen = later(() => memberOf(state.seen, `${at}`, () => new Map<NodeKey, number>()));
      return (key) => {
        if (seen().has(key)) return false;
        seen().set(key, 0);
        state.bytes += bytesOf(key);
        return true;
      };
    }
    case "except":
    case "keep": {
      const list = lists.get(step.slot);
      return (key) => (list?.has(key) ?? false) === (step.kind === "keep");
    }
    default:
      return undefined;
  }
};

/** The gates from a step on, and the step behind them. */
const gatesFrom = (context: Context, from: number): { readonly gates: readonly Gate[]; readonly at: number; readonly dedupes: boolean } => {
  const gates: Gate[] = [];
  for (let at = from; ; at++) {
    const gate = gateOf(context, at);
    const dedupes = context.plan.steps.slice(from, at).some((step) => step.kind === "dedupe");
    if (!gate) return { gates, at, dedupes };
    gates.push(gate);
  }
};

const passesAll = (gates: readonly Gate[], key: NodeKey): boolean => {
  for (const gate of gates) if (!gate(key)) return false;
  return true;
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

  const arriving = (from: number): Way => {
    const { gates, at, dedupes } = gatesFrom(context, from);
    const place = { step: at, round: 0 };
    const wait = at < plan.steps.length ? waiting(context, place) : undefined;
    const forPaths = isForPaths(context);
    return (node) => {
      if (!passesAll(gates, node.key)) return;
      const arrival = dedupes ? { ...node, ways: ONE_WAY } : node;
      if (dedupes && forPaths) state.singles.add(layerId(at, 0));
      if (wait) return wait(arrival);
      if (forPaths) link(context, place, arrival);
      collect(arrival);
    };
  };

  const passing = (layer: Layer, hop: PlannedHop): Way => {
    const round = Math.floor(layer.round) + 1;
    const wait = round < hop.rounds ? waiting(context, { step: layer.step, round }) : undefined;
    const arrive = round === hop.rounds || hop.emit === "all" ? arriving(layer.step + 1) : undefined;
    return (node) => {
      wait?.(node);
      arrive?.(node);
    };
  };

  const crossing = (layer: Layer, hop: PlannedHop): Way => {
    if (hop.nodeConditions.length === 0) return passing(layer, hop);
    const filtering = { step: layer.step, round: layer.round + FILTERING };
    const put = putting(context, filtering);
    // What has gone on has been read; only who counts edges wants to know of it again.
    const again = plan.collect.kind === "levels" ? passing(layer, hop) : undefined;
    return (node) => {
      if (hasGoneOn(context, hop, { place: layer, key: node.key })) return again?.(node);
      if (isForPaths(context)) link(context, filtering, node);
      put(node);
    };
  };

  const isStale = (layer: Layer, key: NodeKey): boolean => {
    const step = plan.steps[layer.step];
    if (step?.kind !== "hop" || step.counts !== "nodes") return false;
    return (state.seen.get(seenName(step, layer))?.get(key) ?? layer.round) < layer.round;
  };

  const isPassed = (step: number, key: NodeKey): boolean =>
    (state.passed.get(key) ?? step) < step || (context.startLevel?.has(key) ?? false);

  return { arriving, passing, crossing, isPassed, isStale };
};
