import type { PlannedHop, WalkCollect, WalkPlan } from "../../ir/walk-plan.ts";
import { exactText } from "../../keys/template.ts";
import { own, type Row } from "../../util/row.ts";
import { add, amountIn, times, type Amount } from "../amount.ts";
import {
  bytesOf,
  frontierAt,
  frontierId,
  memberOf,
  ONE_PATH,
  placeOf,
  type FoldedField,
  type Gather,
  type Link,
  type NodeKey,
  type NodeList,
  type PathCount,
  type Place,
  type WalkState,
} from "./walk-state.ts";

/** A node to which a walk has come. */
export interface Arrival {
  readonly key: NodeKey;
  readonly paths: PathCount;
  readonly from: Link;
  /** Its row, if the step before has read it. */
  readonly row?: Row | undefined;
}

/** Takes one node after another to its next step. */
export type Sink = (node: Arrival) => void;

/** How nodes move through a walk. Steps that read nothing are passed at once; at the others a node waits. */
export interface Flow {
  /** For nodes that reach a step. */
  readonly arriving: (step: number) => Sink;
  /** For nodes to which the edges of a hop's frontier lead. */
  readonly crossing: (place: Place, hop: PlannedHop) => Sink;
  /** The same, after the nodes of the round were read and filtered. */
  readonly passing: (place: Place, hop: PlannedHop) => Sink;
  /** True if the walk left a node before a step, as far as is known. */
  readonly isPassed: (step: number, key: NodeKey) => boolean;
  /** True if a waiting node has meanwhile been in an earlier round. */
  readonly isStale: (place: Place, key: NodeKey) => boolean;
}

interface Context {
  readonly plan: WalkPlan;
  readonly state: WalkState;
  readonly gather: Gather;
  /** The lists of nodes that `except` and `keep` name, by slot. */
  readonly lists: ReadonlyMap<number, NodeList>;
  /** The nodes from which the walk starts, if they are all nodes of a level. */
  readonly startLevel: NodeList | undefined;
}

/** Rounds that have read their edges and wait for their nodes stand half a round later. */
const FILTERING = 0.5;

// A node that is expanded once is not expanded again when the rest of a supernode leads to it a second time.
const seenName = (hop: PlannedHop, { step, round }: Place): string =>
  hop.emit === "all" && hop.counts === "nodes" ? `${step}` : `${step}.${round}`;

const link = (state: WalkState, place: Place, { key, from }: Arrival): void => {
  const nodes = memberOf(state.links, frontierId(place), () => new Map<NodeKey, Link[]>());
  const known = memberOf(nodes, key, () => []);
  if (known.some((one) => one?.frontier === from?.frontier && one?.key === from?.key)) return;
  known.push(from);
  state.bytes += bytesOf(key);
};

/** Lets nodes wait at a place. `hop` is the hop that expands them there, if one does. */
const waitAt = ({ plan, state, gather }: Context, place: Place, hop: PlannedHop | undefined): Sink => {
  const forPaths = plan.collect.kind === "paths";
  const once = hop !== undefined && (forPaths || hop.counts === "nodes");
  const remembers = hop !== undefined && plan.steps.some(({ kind }) => kind === "exceptPassed");
  // Made by the first node: an empty frontier does not exist.
  let waiting: Map<NodeKey, PathCount> | undefined;
  let seen: Map<NodeKey, number> | undefined;
  return (node) => {
    const { key, paths } = node;
    if (remembers) {
      const first = state.passed.get(key);
      if (first === undefined) state.bytes += bytesOf(key);
      state.passed.set(key, Math.min(first ?? place.step, place.step));
    }
    if (forPaths) link(state, place, node);
    if (!once) {
      waiting ??= frontierAt(state, place).waiting;
      const known = waiting.get(key);
      if (!known) state.bytes += bytesOf(key);
      waiting.set(key, known ? gather.merge(known, paths) : paths);
      return;
    }
    seen ??= memberOf(state.seen, seenName(hop, place), () => new Map<NodeKey, number>());
    const round = seen.get(key);
    if (round !== undefined && round <= place.round) return;
    seen.set(key, place.round);
    state.bytes += bytesOf(key) * (round === undefined ? 2 : 1);
    waiting ??= frontierAt(state, place).waiting;
    waiting.set(key, ONE_PATH);
  };
};

/** Decides whether a node passes a step that reads nothing; undefined for a step that reads. */
const gateOf = ({ plan, state, lists }: Context, at: number): ((key: NodeKey) => boolean) | undefined => {
  const step = plan.steps[at];
  if (step?.kind === "except" || step?.kind === "keep") {
    const [list, keeps] = [lists.get(step.slot), step.kind === "keep"];
    return (key) => (list?.has(key) ?? false) === keeps;
  }
  if (step?.kind !== "dedupe") return undefined;
  let seen: Map<NodeKey, number> | undefined;
  return (key) => {
    seen ??= memberOf(state.seen, `${at}`, () => new Map<NodeKey, number>());
    if (seen.has(key)) return false;
    seen.set(key, 0);
    state.bytes += bytesOf(key);
    return true;
  };
};

/** Adds a node to its group, once for each path to it. */
const tally = (
  state: WalkState,
  { by, folded }: Extract<WalkCollect, { readonly kind: "aggregate" }>,
  { count, row }: { readonly count: Amount; readonly row: Row },
): void => {
  const name = exactText(by.map((field) => own(row, field)));
  const known = state.tallies.get(name);
  if (!known) state.bytes += bytesOf(name);
  const fields = known?.fields ?? new Map<string, FoldedField>();
  for (const field of new Set([...folded.sum, ...folded.min, ...folded.max, ...folded.average])) {
    const value = amountIn(row, field);
    if (value === undefined) continue;
    const before = fields.get(field);
    const added = times(count, value);
    fields.set(field, {
      count: before ? add(before.count, count) : count,
      sum: before ? add(before.sum, added) : added,
      min: before && before.min <= value ? before.min : value,
      max: before && before.max >= value ? before.max : value,
    });
  }
  state.tallies.set(name, { count: known ? add(known.count, count) : count, fields });
};

/** Collects the nodes that reach the end of a walk, in the form that was asked for. */
const collector = ({ plan: { collect, steps }, state, gather }: Context): Sink => {
  // Behind a search or a hop, nodes of the last round are no starts of the walk.
  const firstHop = steps.findIndex(({ kind }) => kind === "hop" || kind === "search");
  const keep = ({ key }: Arrival): boolean => {
    if (state.ends.has(key)) return false;
    state.ends.add(key);
    state.found.push(key);
    state.bytes += bytesOf(key);
    return true;
  };
  switch (collect.kind) {
    case "count":
      return ({ paths }) => {
        state.total = add(state.total, paths.count);
      };
    case "groups":
    case "fold":
      return ({ key: far, paths, from }) => {
        const key = collect.near && from ? from.key : far;
        const known = state.groups.get(key);
        if (!known) state.bytes += bytesOf(key);
        state.groups.set(key, known ? gather.merge(known, paths) : paths);
      };
    case "aggregate":
      return ({ paths, row }) => {
        if (row) tally(state, collect, { count: paths.count, row });
      };
    case "levels":
      return (node) => {
        const { step, round } = node.from ? placeOf(node.from.frontier) : { step: 0, round: -1 };
        const level = Math.floor(round) + 1;
        const known = state.levels.get(level);
        // The start is not below itself. A hop that is followed once, as to and back from a neighbour, may lead to it.
        const hop = steps[step];
        const isStart =
          step === firstHop &&
          hop?.kind === "hop" &&
          hop.emit === "all" &&
          state.seen.get(seenName(hop, { step, round }))?.get(node.key) === 0;
        const nodes = (known?.nodes ?? 0) + (!isStart && keep(node) ? 1 : 0);
        state.levels.set(level, { nodes, paths: known ? gather.merge(known.paths, node.paths) : node.paths });
      };
    default:
      return keep;
  }
};

export const createFlow = (context: Context): Flow => {
  const { plan, state } = context;
  const collect = collector(context);
  const forPaths = plan.collect.kind === "paths";

  const arriving = (from: number): Sink => {
    const gates: ((key: NodeKey) => boolean)[] = [];
    let at = from;
    for (let gate = gateOf(context, at); gate; gate = gateOf(context, ++at)) gates.push(gate);
    const dedupes = plan.steps.slice(from, at).some(({ kind }) => kind === "dedupe");
    const [place, step] = [{ step: at, round: 0 }, plan.steps[at]];
    const wait = step && waitAt(context, place, step.kind === "hop" ? step : undefined);
    return (node) => {
      for (const passes of gates) if (!passes(node.key)) return;
      const arrival = dedupes ? { ...node, paths: ONE_PATH } : node;
      if (dedupes && forPaths) state.singles.add(frontierId(place));
      if (wait) return wait(arrival);
      if (forPaths) link(state, place, arrival);
      collect(arrival);
    };
  };

  const passing = (place: Place, hop: PlannedHop): Sink => {
    const round = Math.floor(place.round) + 1;
    const wait = round < hop.rounds ? waitAt(context, { step: place.step, round }, hop) : undefined;
    const arrive = round === hop.rounds || hop.emit === "all" ? arriving(place.step + 1) : undefined;
    return (node) => {
      wait?.(node);
      arrive?.(node);
    };
  };

  const crossing = (place: Place, hop: PlannedHop): Sink => {
    if (hop.nodeConditions.length === 0) return passing(place, hop);
    const wait = waitAt(context, { step: place.step, round: place.round + FILTERING }, undefined);
    if (hop.emit !== "all" || hop.counts !== "nodes") return wait;
    // In a closure, a node that went on in an earlier round is not read again. Levels still count the edge to it.
    const again = plan.collect.kind === "levels" ? passing(place, hop) : undefined;
    return (node) => {
      const round = state.seen.get(seenName(hop, place))?.get(node.key);
      if (round !== undefined && round >= 1 && round <= place.round + 1) again?.(node);
      else wait(node);
    };
  };

  const isStale = (place: Place, key: NodeKey): boolean => {
    const step = plan.steps[place.step];
    if (step?.kind !== "hop" || step.counts !== "nodes") return false;
    return (state.seen.get(seenName(step, place))?.get(key) ?? place.round) < place.round;
  };

  const isPassed = (step: number, key: NodeKey): boolean =>
    (state.passed.get(key) ?? step) < step || (context.startLevel?.has(key) ?? false);

  return { arriving, passing, crossing, isPassed, isStale };
};
