import type { Amount } from "./amount.ts";
import { add } from "./amount.ts";
import type { Ways } from "./gather.ts";
import type { NodeKey } from "./node-names.ts";
import { bytesOf, isEmpty, layerId, layerPlace, type Layer } from "./walk-state.ts";
import type { WalkRun } from "./walk-run.ts";

/** Whether a layer is one before which nodes wait until it is known where the walk passes. */
export const isBarrier = ({ request: { plan } }: WalkRun, { step }: Pick<Layer, "step">): boolean =>
  plan.steps[step]?.kind === "exceptPassed";

// From the last round of the last hop before it, the walk does not go on again before the step.
const isSettled = ({ request: { plan }, state }: WalkRun, step: number): boolean => {
  const lastHop = plan.steps.findLastIndex((one, at) => at < step && one.kind === "hop");
  const hop = plan.steps[lastHop];
  const rounds = hop?.kind === "hop" ? hop.rounds : 0;
  const pending = [...state.held.keys(), ...[...state.layers].flatMap(([id, layer]) => (isEmpty(layer) ? [] : [id]))];
  return pending
    .map(layerPlace)
    .every((at) => at.step >= step || at.step > lastHop || (at.step === lastHop && Math.floor(at.round) + 1 >= rounds));
};

const release = (run: WalkRun, layer: Layer): void => {
  const nodes = [...layer.waiting];
  layer.waiting.clear();
  const from = layerId(layer.step, layer.round);
  const arrive = run.flow.arriving(layer.step + 1);
  for (const [key, ways] of nodes) {
    run.state.bytes -= bytesOf(key);
    if (!run.flow.isPassed(layer.step, key)) arrive({ key, ways, from: { layer: from, key } });
  }
};

/**
 * Lets go what waits before each `except("passed")` that knows all it has to. Until then nodes wait there:
 * where the rest of a supernode leads is not known before it is read, and what was given cannot be taken back.
 */
export const releasePassed = (run: WalkRun): void => {
  for (const [step, { kind }] of run.request.plan.steps.entries()) {
    if (kind !== "exceptPassed" || !isSettled(run, step)) continue;
    const layer = run.state.layers.get(layerId(step, 0));
    if (layer) release(run, layer);
  }
};

// Nodes that would be given as far as is known yet: figures are told as a whole again by the continuation.
const provisional = ({ request: { plan }, state, flow }: WalkRun): readonly (readonly [NodeKey, Ways])[] => {
  const step = plan.steps.length - 1;
  if (plan.steps[step]?.kind !== "exceptPassed") return [];
  return [...(state.layers.get(layerId(step, 0))?.waiting ?? [])].filter(([key]) => !flow.isPassed(step, key));
};

/** The number of ways so far. */
export const totalOf = (run: WalkRun): Amount => {
  if (run.request.plan.collect.kind !== "count") return run.state.total;
  return provisional(run).reduce((sum, [, { count }]) => add(sum, count), run.state.total);
};

/** What is known of the ways to each node so far. */
export const groupsOf = (run: WalkRun): ReadonlyMap<NodeKey, Ways> => {
  const { kind } = run.request.plan.collect;
  const more = kind === "groups" || kind === "fold" ? provisional(run) : [];
  if (more.length === 0) return run.state.groups;
  const groups = new Map(run.state.groups);
  for (const [key, ways] of more) {
    const known = groups.get(key);
    groups.set(key, known ? run.gather.merge(known, ways) : ways);
  }
  return groups;
};
