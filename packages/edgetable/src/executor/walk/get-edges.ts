import { holds } from "../../ir/evaluate-condition.ts";
import { endsByGet } from "../../ir/ends-by-get.ts";
import type { PlannedHop, PlannedStep } from "../../ir/walk-plan.ts";
import { comparePrimary } from "../../keys/template.ts";
import { keyOf } from "../../requests/encode-item.ts";
import { shapeOf } from "../../requests/decode-item.ts";
import { isExpired } from "../../requests/encode-read.ts";
import type { Shape } from "../../schema/catalog.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { BATCH_GET_KEYS } from "../../ir/capacity.ts";
import { batchGet } from "../batch.ts";
import { runLanes } from "./lanes.ts";
import type { NodeKey, NodeRef } from "./node-names.ts";
import type { Expanded } from "./read-edges.ts";
import type { Layer, Work } from "./walk-state.ts";
import { isEnd, type WalkRun } from "./walk-run.ts";
import type { Row } from "../../util/row.ts";
import { keyTextOf } from "../../requests/attribute-value.ts";
import { readRow } from "../read-rows.ts";

const knownAt = (run: WalkRun, layer: Layer): ReadonlySet<NodeKey> => {
  const keep: PlannedStep | undefined = run.request.plan.steps[layer.step + 1];
  return (keep?.kind === "keep" ? run.known.get(keep.slot) : undefined) ?? new Set();
};

/** The known nodes to which a layer's edges are asked for by their keys; undefined where they are listed. */
export const knownToGet = (run: WalkRun, hop: PlannedHop, layer: Layer): ReadonlySet<NodeKey> | undefined => {
  if (hop.by !== "get" || layer.works.length > 0) return undefined;
  const known = knownAt(run, layer);
  return endsByGet(hop, { nodes: layer.waiting.size, known: known.size }) && known;
};

interface Pair {
  readonly near: NodeRef;
  readonly far: NodeRef;
}

const nearOf = (hop: PlannedHop, symmetric: boolean): "from" | "to" => (symmetric || hop.direction === "out" ? "from" : "to");

const rowOf = (near: "from" | "to", { near: here, far }: Pair): Row =>
  near === "from" ? { from: here.id, to: far.id } : { from: far.id, to: here.id };

const keysOf = (run: WalkRun, at: { readonly shapes: readonly Shape[]; readonly near: "from" | "to" }, pair: Pair): readonly Key[] => {
  const far = at.near === "from" ? "to" : "from";
  return at.shapes
    .filter((shape) => shape[at.near] === pair.near.type && shape[far] === pair.far.type)
    .map((shape) => keyOf(run.session.catalog, shape, rowOf(at.near, pair)));
};

const textAt = (item: Item, attribute: string | undefined): string => {
  const value = attribute === undefined ? undefined : item[attribute];
  return keyTextOf(value) ?? "";
};

// A batch is answered in any order. The edges of a node come in the one in which they would be listed.
const byIndex = (run: WalkRun, { reading }: PlannedHop): ((a: Item, b: Item) => number) => {
  const [source] = Object.values(reading).flatMap(({ sources }) => sources.filter((one) => one.kind === "query"));
  const { partitionKey } = run.session.catalog.index;
  return (a, b) =>
    comparePrimary(textAt(a, source?.sortKey), textAt(b, source?.sortKey)) ||
    comparePrimary(textAt(a, partitionKey), textAt(b, partitionKey));
};

interface Getting {
  readonly known: ReadonlySet<NodeKey>;
  /** The next node, undefined where there is none or none may be begun. */
  readonly next: () => Work | undefined;
}

const getReader = (
  run: WalkRun,
  hop: PlannedHop,
  at: Getting,
): { readonly nextJob: () => readonly Work[] | undefined; readonly read: (works: readonly Work[]) => Promise<readonly Expanded[]> } => {
  const { catalog } = run.session;
  const { shapes, definition } = defined(catalog.edges[hop.edge], hop.edge);
  const near = nearOf(hop, definition.symmetric ?? false);
  const far = near === "from" ? "to" : "from";
  const known = [...at.known].map((key) => run.names.unpack(key));
  const most = Math.floor(BATCH_GET_KEYS / Math.max(1, known.length));

  const ends = (items: readonly Item[]): ReadonlyMap<NodeKey, NodeKey[]> => {
    const found = new Map<NodeKey, NodeKey[]>();
    for (const item of items.toSorted(byIndex(run, hop))) {
      const shape = isExpired(catalog, item, run.context.livingAt) ? undefined : shapeOf(catalog, shapes, item);
      const row = shape && readRow(run, [shape, item]);
      if (!row || hop.conditions.some((condition) => !holds(condition, row, run.request.values))) continue;
      const from = run.names.pack(defined(shape[near], near), row[near] as Row);
      const to = run.names.pack(defined(shape[far], far), row[far] as Row);
      found.set(from, [...(found.get(from) ?? []), to]);
    }
    return found;
  };

  const read = async (works: readonly Work[]): Promise<readonly Expanded[]> => {
    const refs = works.map((work) => run.names.unpack(work.key));
    const keys = refs.flatMap((ref) => known.flatMap((one) => keysOf(run, { shapes, near }, { near: ref, far: one })));
    try {
      const found = ends(keys.length === 0 ? [] : await batchGet(run.session, { keys, consistent: hop.consistent }, run.context));
      run.width.answered();
      return works.map((work) => ({ work, keys: found.get(work.key) ?? [], values: undefined, rest: undefined, why: undefined }));
    } catch (error) {
      if (!isEnd(run, error)) throw error;
      return works.map((work) => ({ work, keys: [], values: undefined, rest: work, why: "stopped" as const }));
    }
  };

  const nextJob = (): readonly Work[] | undefined => {
    const works: Work[] = [];
    for (let work = at.next(); work; work = at.next()) {
      works.push(work);
      if (works.length === most) break;
    }
    return works.length > 0 ? works : undefined;
  };
  return { nextJob, read };
};

/** Reads the edges from several nodes to the known ones, as many nodes a request as there is room for. */
export const getEdges = (
  run: WalkRun,
  hop: PlannedHop,
  { done, ...at }: Getting & { readonly done: (expanded: Expanded) => void },
): Promise<void> => {
  const { nextJob, read } = getReader(run, hop, at);
  const all = (batch: readonly Expanded[]): void => {
    for (const expanded of batch) done(expanded);
  };
  return runLanes({ width: run.width, next: nextJob, run: read, done: all });
};
