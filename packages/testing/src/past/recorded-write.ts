import { type Item, type TransactWriteItem, isEdgetableError } from "edgetable";
import type { Call } from "../faults/kinds.ts";
import { readPresent } from "./present.ts";
import type { Past } from "./past.ts";
import { keyOf, keyText, type TableShape } from "./table-shape.ts";
import type { Images } from "./write-history.ts";

/** An item that a request writes: its key, or the item that holds it. */
interface Target {
  readonly table: string;
  readonly key: Item;
}

const transactTargets = (item: TransactWriteItem): readonly Target[] => {
  if ("Put" in item) return [{ table: item.Put.TableName, key: item.Put.Item }];
  if ("Update" in item) return [{ table: item.Update.TableName, key: item.Update.Key }];
  return "Delete" in item ? [{ table: item.Delete.TableName, key: item.Delete.Key }] : [];
};

const targetsOf = ({ operation, input }: Call): readonly Target[] => {
  switch (operation) {
    case "PutItem":
      return [{ table: input.TableName, key: input.Item }];
    case "UpdateItem":
    case "DeleteItem":
      return [{ table: input.TableName, key: input.Key }];
    case "BatchWriteItem":
      return Object.entries(input.RequestItems).flatMap(([table, requests]) =>
        requests.map((request) => ({ table, key: "PutRequest" in request ? request.PutRequest.Item : request.DeleteRequest.Key })),
      );
    case "TransactWriteItems":
      return input.TransactItems.flatMap(transactTargets);
    default:
      return [];
  }
};

interface Written {
  readonly shape: TableShape;
  readonly keys: ReadonlyMap<string, Item>;
}

/** Tables and keys to be written; those without a whole key are left to the engine's refusal. */
const writtenBy = async (past: Past, call: Call): Promise<readonly Written[]> => {
  const targets = targetsOf(call);
  const tables = [...new Set(targets.map(({ table }) => table))];
  const written = tables.map(async (table): Promise<Written> => {
    const shape = await past.shapes.of(table);
    const keys = targets.flatMap((target) => {
      const key = target.table === table ? keyOf(shape, target.key) : undefined;
      return key ? [[keyText(shape, key), key] as const] : [];
    });
    return { shape, keys: new Map(keys) };
  });
  return Promise.all(written);
};

const imagesBefore = async (past: Past, { shape, keys }: Written): Promise<readonly [string, Images]> => {
  const items = await readPresent(past.inner, shape.name, [...keys.values()]);
  const present = new Map(items.map((item) => [keyText(shape, item), item]));
  return [shape.name, new Map([...keys.keys()].map((key) => [key, present.get(key)]))];
};

// What the engine refuses to read (a key of a wrong type, say) it will refuse to write.
const unlessRefused = async <T>(work: Promise<readonly T[]>): Promise<readonly T[]> => {
  try {
    return await work;
  } catch (error) {
    if (isEdgetableError(error) && !error.retryable) return [];
    throw error;
  }
};

const recorded = async <T>(past: Past, written: readonly Written[], run: () => Promise<T>): Promise<T> => {
  const before = await unlessRefused(Promise.all(written.map((table) => imagesBefore(past, table))));
  const writes = before.map(([table, images]) => past.history.begin(table, images));
  const finish = (outcome: "done" | "refused"): void => {
    for (const end of writes) end(outcome, past.now());
  };
  try {
    const output = await run();
    finish("done");
    return output;
  } catch (error) {
    finish(isEdgetableError(error) && error.details["ambiguous"] !== true ? "refused" : "done");
    throw error;
  }
};

/** Runs a write and keeps what its items were before it. */
export const recordedWrite = async <T>(past: Past, call: Call, run: () => Promise<T>): Promise<T> => {
  const written = await unlessRefused(writtenBy(past, call));
  const names = written.flatMap(({ shape, keys }) => [...keys.keys()].map((key) => `${shape.name} ${key}`));
  const unlock = await past.history.lock(names);
  try {
    return await recorded(past, written, run);
  } finally {
    unlock();
  }
};
