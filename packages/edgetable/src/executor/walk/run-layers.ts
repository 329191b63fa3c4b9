import { holds } from "../../ir/evaluate-condition.ts";
import type { Condition } from "../../ir/condition.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import type { Way } from "./flow.ts";
import { ONE_WAY } from "./gather.ts";
import { getEdges, knownToGet } from "./get-edges.ts";
import { runLanes } from "./lanes.ts";
import type { NodeKey } from "./node-names.ts";
import { edgeReader, type Expanded } from "./read-edges.ts";
import { readNodes } from "./read-nodes.ts";
import { bytesOf, layerId, memberOf, type Layer, type Work } from "./walk-state.ts";
import type { WalkRun } from "./walk-run.ts";

const workOf = (key: NodeKey, layer: Layer): Work => ({
  key,
  ways: layer.waiting.get(key) ?? ONE_WAY,
  source: 0,
  start: undefined,
  taken: 0,
});

// What is taken from the layer is the job's; what the budget leaves unfinished comes back.
const nextWork = (run: WalkRun, layer: Layer): (() => Work | undefined) => {
  const keys = layer.waiting.keys();
  return () => {
    if (!run.spend.isOpen()) return undefined;
    const begun = layer.works.shift();
    if (begun) return begun;
    for (let key = keys.next(); !key.done; key = keys.next()) {
      const work = workOf(key.value, layer);
      layer.waiting.delete(key.value);
      run.state.bytes -= bytesOf(key.value);
      if (!run.flow.isStale(layer, key.value)) return work;
    }
    return undefined;
  };
};

const keepRest = (run: WalkRun, layer: Layer, { work, rest, why }: Expanded): void => {
  if (!rest) return;
  if (why === "stopped") layer.works.push(rest);
  else if (run.request.supernode === "page") memberOf(run.state.held, layerId(layer.step, layer.round), (): Work[] => []).push(rest);
  else run.sampled.push(work.key);
};

const crossing = (run: WalkRun, hop: PlannedHop, layer: Layer): ((expanded: Expanded) => void) => {
  const id = layerId(layer.step, layer.round);
  const cross = run.flow.crossing(layer, hop);
  return (expanded) => {
    const { work, keys, values } = expanded;
    const from = { layer: id, key: work.key };
    for (let at = 0; at < keys.length; at++) {
      const before = hop.counts === "nodes" ? ONE_WAY : work.ways;
      const ways = values ? run.gather.along(before, values[at]) : before;
      cross({ key: keys[at] as NodeKey, ways, from });
    }
    keepRest(run, layer, expanded);
  };
};

const runHop = async (run: WalkRun, hop: PlannedHop, layer: Layer): Promise<void> => {
  const done = crossing(run, hop, layer);
  const next = nextWork(run, layer);
  const known = knownToGet(run, hop, layer);
  return known ? getEdges(run, hop, { known, next, done }) : runLanes({ width: run.width, next, run: edgeReader(run, hop), done });
};

const test =
  (run: WalkRun, conditions: readonly Condition[]) =>
  (row: Readonly<Record<string, unknown>> | undefined): boolean =>
    row !== undefined && conditions.every((condition) => holds(condition, row, run.request.values));

interface Filtering {
  /** The node types that may pass; undefined for all. Others are not read. */
  readonly types: readonly string[] | undefined;
  readonly passes: (row: Readonly<Record<string, unknown>> | undefined) => boolean;
  readonly pass: Way;
  /** Whether its rows are what the walk gives in the end. */
  readonly last: boolean;
}

const runFilter = async (run: WalkRun, layer: Layer, { types, passes, pass, last }: Filtering): Promise<void> => {
  const ways = new Map(layer.waiting);
  if (types) for (const key of ways.keys()) if (!types.includes(run.names.typeOf(key))) ways.delete(key);
  const keys = ways.keys();
  layer.waiting.clear();
  const from = layerId(layer.step, layer.round);
  const done = (key: NodeKey, row: Readonly<Record<string, unknown>> | undefined): void => {
    if (!passes(row)) return;
    if (last && row && run.request.plan.collect.kind === "nodes") run.rows.set(key, row);
    pass({ key, ways: ways.get(key) ?? ONE_WAY, from: { layer: from, key } });
  };
  const unread = await readNodes(run, () => keys.next().value, done);
  for (const key of [...unread, ...keys]) layer.waiting.set(key, ways.get(key) ?? ONE_WAY);
};

/** Does one layer: reads the edges, or the nodes, of everything that waits there. */
export const runLayer = async (run: WalkRun, layer: Layer): Promise<void> => {
  const { steps } = run.request.plan;
  const step = steps[layer.step];
  const last = !steps.slice(layer.step + 1).some((later) => later.kind === "hop");
  if (step?.kind === "hop") {
    if (Number.isInteger(layer.round)) return runHop(run, step, layer);
    return runFilter(run, layer, {
      types: step.passing,
      passes: test(run, step.nodeConditions),
      pass: run.flow.passing(layer, step),
      last,
    });
  }
  const pass = run.flow.arriving(layer.step + 1);
  if (step?.kind === "filterNodes") return runFilter(run, layer, { types: step.nodes, passes: test(run, step.conditions), pass, last });
  return runFilter(run, layer, { types: undefined, passes: () => true, pass, last });
};
