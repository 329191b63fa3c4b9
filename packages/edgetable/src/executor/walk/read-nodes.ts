import { decodeOwn, shapeOf } from "../../requests/decode-item.ts";
import { keyOf } from "../../requests/encode-item.ts";
import { isExpired } from "../../requests/encode-read.ts";
import { defined } from "../../util/invariant.ts";
import { BATCH_GET_KEYS } from "../../ir/capacity.ts";
import { batchGet } from "../batch.ts";
import { runLanes } from "./lanes.ts";
import type { NodeKey } from "./node-names.ts";
import { isEnd, type WalkRun } from "./walk-run.ts";
import type { Row } from "../../util/row.ts";
import { readRow } from "../read-rows.ts";

interface Chunk {
  readonly keys: readonly NodeKey[];
  /** Undefined where the budget ended before it was read. */
  readonly rows: ReadonlyMap<NodeKey, Row> | undefined;
}

const readBatch = async (run: WalkRun, keys: readonly NodeKey[]): Promise<ReadonlyMap<NodeKey, Row>> => {
  const { catalog } = run.session;
  const refs = keys.map((key) => run.names.unpack(key));
  const shapes = [...new Set(refs.map(({ type }) => defined(catalog.nodes[type], type).shape))];
  const tableKeys = refs.map(({ type, id }) => keyOf(catalog, defined(catalog.nodes[type], type).shape, id));
  const rows = new Map<NodeKey, Row>();
  for (const item of await batchGet(run.session, { keys: tableKeys, consistent: false }, run.context)) {
    const shape = isExpired(catalog, item, run.context.livingAt) ? undefined : shapeOf(catalog, shapes, item);
    const row = shape && readRow(run, [shape, item], decodeOwn);
    if (row) rows.set(run.names.pack(shape.definition, row), row);
  }
  run.width.answered();
  return rows;
};

const readOne = async (run: WalkRun, key: NodeKey): Promise<ReadonlyMap<NodeKey, Row>> => {
  const { type, id } = run.names.unpack(key);
  const row = await run.request.findNode(type, id, run.context);
  return new Map(row ? [[key, row]] : []);
};

const isSingle = (run: WalkRun, key: NodeKey): boolean => run.request.plan.nodes[run.names.typeOf(key)] !== "batchGet";

const readChunk = async (run: WalkRun, keys: readonly NodeKey[]): Promise<Chunk> => {
  const [first] = keys;
  try {
    if (first !== undefined && isSingle(run, first)) {
      const hasItem = run.request.plan.nodes[run.names.typeOf(first)] === "query";
      return { keys, rows: hasItem ? await readOne(run, first) : new Map() };
    }
    return { keys, rows: await readBatch(run, keys) };
  } catch (error) {
    if (isEnd(run, error)) return { keys, rows: undefined };
    throw error;
  }
};

/**
 * Reads nodes, 100 a request, each once, and hands them on in their order.
 *
 * @param next the next node, undefined when there is none
 * @param done is given each node with its row, undefined where it has no item
 * @returns the nodes that the budget left unread
 */
export const readNodes = async (
  run: WalkRun,
  next: () => NodeKey | undefined,
  done: (key: NodeKey, row: Row | undefined) => void,
): Promise<readonly NodeKey[]> => {
  const unread: NodeKey[] = [];
  let ahead: NodeKey | undefined;
  const chunk = (): readonly NodeKey[] | undefined => {
    if (!run.spend.isOpen()) return undefined;
    const keys: NodeKey[] = [];
    for (let key = ahead ?? next(); key !== undefined; key = next()) {
      ahead = undefined;
      const single = isSingle(run, key);
      if (single && keys.length > 0) {
        ahead = key;
        break;
      }
      keys.push(key);
      if (single || keys.length === BATCH_GET_KEYS) break;
    }
    return keys.length > 0 ? keys : undefined;
  };
  await runLanes({
    width: run.width,
    next: chunk,
    run: (keys: readonly NodeKey[]) => readChunk(run, keys),
    done: ({ keys, rows }) => {
      for (const key of keys) {
        if (rows) done(key, rows.get(key));
        else unread.push(key);
      }
    },
  });
  if (ahead !== undefined) unread.push(ahead);
  return unread;
};
