import { BATCH_GET_KEYS } from "../../ir/capacity.ts";
import { holds } from "../../ir/holds.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import { comparePrimary } from "../../keys/template.ts";
import { keyOf } from "../../requests/encode-item.ts";
import { projectionOf } from "../../requests/encode-read.ts";
import { decodeOwn, isExpired, shapeOf } from "../../requests/decode-item.ts";
import { keyTextOf } from "../../requests/attribute-value.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import { batchGet } from "../batch.ts";
import { readRow } from "../read-rows.ts";
import type { Expanded } from "./read-edges.ts";
import { isBudgetEnd, runInFlight, type WalkRun } from "./walk-run.ts";
import { memberOf, type Expansion, type NodeKey } from "./walk-state.ts";

// A batch is answered in any order. The edges of a node come in the order in which they would be listed.
const byIndex = ({ session: { catalog } }: WalkRun, { reading }: PlannedHop): ((a: Item, b: Item) => number) => {
  const sources = Object.values(reading).flatMap((plan) => plan.sources);
  const listed = sources.find((source) => source.kind === "query");
  const index = listed && catalog.indexes.find(({ name }) => name === listed.index);
  const attributes = [...(index ?? catalog.index).sortKeys, catalog.index.partitionKey];
  return (a, b) => {
    for (const attribute of attributes) {
      const order = comparePrimary(keyTextOf(a[attribute]) ?? "", keyTextOf(b[attribute]) ?? "");
      if (order !== 0) return order;
    }
    return 0;
  };
};

interface Edges {
  /** The only nodes to which edges are wanted. */
  readonly known: ReadonlySet<NodeKey>;
  /** The next node; undefined if there is none, or none may begin. */
  readonly next: () => Expansion | undefined;
  readonly done: (expanded: Expanded) => void;
}

/** Reads the edges from several nodes to the known ones by their keys, for as many nodes a request as fit. */
export const getEdges = (run: WalkRun, hop: PlannedHop, { known, next, done }: Edges): Promise<void> => {
  const { catalog } = run.session;
  const { shapes, definition } = defined(catalog.edges[hop.edges[0] ?? ""], "edge");
  const [near, far] = definition.symmetric || hop.direction === "out" ? (["from", "to"] as const) : (["to", "from"] as const);
  const targets = [...known].map((key) => run.names.unpack(key));
  const nodesInBatch = Math.floor(BATCH_GET_KEYS / Math.max(1, targets.length));

  const keysOf = (nodes: readonly Expansion[]): readonly Key[] => {
    const keys: Key[] = [];
    for (const node of nodes) {
      const { type, id } = run.names.unpack(node.key);
      for (const target of targets)
        for (const shape of shapes)
          if (shape[near] === type && shape[far] === target.type) keys.push(keyOf(catalog, shape, { [near]: id, [far]: target.id }));
    }
    return keys;
  };

  const read = async (nodes: readonly Expansion[]): Promise<readonly Expanded[]> => {
    const ends = new Map<NodeKey, NodeKey[]>();
    try {
      const keys = keysOf(nodes);
      const items = keys.length === 0 ? [] : await batchGet(run.session, { keys, consistent: hop.consistent }, run.context);
      for (const item of items.toSorted(byIndex(run, hop))) {
        const shape = isExpired(catalog, item, run.context.livingAt) ? undefined : shapeOf(catalog, shapes, item);
        const row = shape && readRow(run, [shape, item]);
        if (!row || hop.conditions.some((condition) => !holds(condition, row, run.request.values))) continue;
        const from = run.names.pack(defined(shape[near], near), row[near] as Row);
        memberOf(ends, from, () => []).push(run.names.pack(defined(shape[far], far), row[far] as Row));
      }
      run.width.answered();
    } catch (error) {
      if (!isBudgetEnd(run, error)) throw error;
      return nodes.map((node) => ({ node, read: 0, requests: 0, keys: [], values: undefined, rest: node, why: "stopped" as const }));
    }
    return nodes.map((node) => ({
      node,
      read: 0,
      requests: 0,
      keys: ends.get(node.key) ?? [],
      values: undefined,
      rest: undefined,
      why: undefined,
    }));
  };

  const nextBatch = (): readonly Expansion[] | undefined => {
    const nodes: Expansion[] = [];
    for (let node = next(); node; node = next()) {
      nodes.push(node);
      if (nodes.length === nodesInBatch) break;
    }
    return nodes.length > 0 ? nodes : undefined;
  };
  return runInFlight({
    width: run.width,
    next: nextBatch,
    run: read,
    done: (batch: readonly Expanded[]) => {
      for (const expanded of batch) done(expanded);
    },
  });
};

/** The rows of some nodes, all read in the same way; undefined if the budget ended before. */
const readBatch = async (
  run: WalkRun,
  keys: readonly NodeKey[],
  select: readonly string[] | undefined,
): Promise<ReadonlyMap<NodeKey, Row> | undefined> => {
  const { session, context, names, request } = run;
  const { catalog } = session;
  const refs = keys.map((key) => names.unpack(key));
  const rows = new Map<NodeKey, Row>();
  try {
    const [ref] = refs;
    const access = ref && request.plan.nodes[ref.type];
    if (access !== "batchGet") {
      const row = access === "query" ? await request.findNode(ref?.type ?? "", ref?.id ?? {}, context) : undefined;
      if (row) rows.set(keys[0] ?? "", row);
      return rows;
    }
    const shapes = refs.map(({ type }) => defined(catalog.ends[type], type).shape);
    const tableKeys = refs.map(({ id }, at) => keyOf(catalog, defined(shapes[at], "shape"), id));
    const distinctShapes = [...new Set(shapes)];
    // The fields that any of the nodes may have, whichever come together in a batch.
    const projection = select && projectionOf(catalog, { kind: "get", shapes: request.plan.ends, many: true, consistent: false, select });
    for (const item of await batchGet(session, { keys: tableKeys, consistent: false, projection }, context)) {
      const shape = isExpired(catalog, item, context.livingAt) ? undefined : shapeOf(catalog, distinctShapes, item);
      const row = shape && readRow(run, [shape, item], decodeOwn);
      if (row) rows.set(names.pack(shape.definition, row), row);
    }
    run.width.answered();
    return rows;
  } catch (error) {
    if (isBudgetEnd(run, error)) return undefined;
    throw error;
  }
};

/**
 * Reads nodes, 100 a request, each once, and hands them on in their order.
 *
 * @param keys the nodes; those that the budget leaves are not taken from it
 * @param done is given each node with its row, undefined if it has no item
 * @param select the fields to read; undefined for all
 * @returns the nodes that were taken and not read
 */
export const readNodes = async (
  run: WalkRun,
  keys: Iterator<NodeKey>,
  done: (key: NodeKey, row: Row | undefined) => void,
  select?: readonly string[],
): Promise<readonly NodeKey[]> => {
  const unread: NodeKey[] = [];
  const isSingle = (key: NodeKey): boolean => run.request.plan.nodes[run.names.typeOf(key)] !== "batchGet";
  let ahead: NodeKey | undefined;
  const take = (): NodeKey | undefined => {
    const key = ahead ?? (keys.next() as IteratorResult<NodeKey, undefined>).value;
    ahead = undefined;
    return key;
  };
  const nextBatch = (): readonly NodeKey[] | undefined => {
    if (!run.spend.isOpen()) return undefined;
    const batch: NodeKey[] = [];
    for (let key = take(); key !== undefined; key = take()) {
      const single = isSingle(key);
      if (single && batch.length > 0) {
        ahead = key;
        break;
      }
      batch.push(key);
      if (single || batch.length === BATCH_GET_KEYS) break;
    }
    return batch.length > 0 ? batch : undefined;
  };
  await runInFlight({
    width: run.width,
    next: nextBatch,
    run: async (batch: readonly NodeKey[]) => ({ batch, rows: await readBatch(run, batch, select) }),
    done: ({ batch, rows }) => {
      for (const key of batch) {
        if (rows) done(key, rows.get(key));
        else unread.push(key);
      }
    },
  });
  if (ahead !== undefined) unread.push(ahead);
  return unread;
};
