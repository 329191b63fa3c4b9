import type {
  BatchGetItemInput,
  BatchGetItemOutput,
  BatchWriteItemInput,
  BatchWriteItemOutput,
  KeysAndAttributes,
  WriteRequest,
} from "edgetable";
import { pick, seededRandom } from "../random.ts";
import type { Injection } from "./options.ts";

/** A batch in two: what is sent and what is left, each absent when empty. */
export interface SplitBatch<T> {
  readonly sent?: Readonly<Record<string, T>>;
  readonly left?: Readonly<Record<string, T>>;
}

const grouped = <E>(entries: readonly (readonly [string, E])[]): ReadonlyMap<string, readonly E[]> => {
  const tables = new Map<string, E[]>();
  for (const [table, element] of entries) tables.set(table, [...(tables.get(table) ?? []), element]);
  return tables;
};

const split = <T, E>(
  items: Readonly<Record<string, T>>,
  kind: { list: (table: T) => readonly E[]; remake: (table: T, list: readonly E[]) => T },
  chosen: Injection,
): SplitBatch<T> => {
  const all = Object.entries(items).flatMap(([table, content]) => kind.list(content).map((element) => [table, element] as const));
  const left = new Set(pick(seededRandom(chosen.draw), all, chosen.amount ?? 1));
  const remade = (part: typeof all): Readonly<Record<string, T>> | undefined => {
    if (part.length === 0) return undefined;
    const tables = [...grouped(part)].map(([table, list]) => [table, kind.remake(items[table] as T, list)] as const);
    return Object.fromEntries(tables);
  };
  const sent = remade(all.filter((entry) => !left.has(entry)));
  const rest = remade(all.filter((entry) => left.has(entry)));
  return { ...(sent && { sent }), ...(rest && { left: rest }) };
};

/** Splits a batch of writes; the injection's amount is the share that is left. */
const splitWrites = (items: BatchWriteItemInput["RequestItems"], chosen: Injection): SplitBatch<readonly WriteRequest[]> =>
  split<readonly WriteRequest[], WriteRequest>(items, { list: (table) => table, remake: (_, list) => list }, chosen);

/** Splits a batch of keys; the injection's amount is the share that is left. */
const splitKeys = (items: BatchGetItemInput["RequestItems"], chosen: Injection): SplitBatch<KeysAndAttributes> =>
  split<KeysAndAttributes, KeysAndAttributes["Keys"][number]>(
    items,
    { list: ({ Keys }) => Keys, remake: (table, Keys) => ({ ...table, Keys }) },
    chosen,
  );

/** A batch of writes of which a share stays unprocessed. */
export const partialWrites = async (
  input: BatchWriteItemInput,
  chosen: Injection,
  ask: (input: BatchWriteItemInput) => Promise<BatchWriteItemOutput>,
): Promise<BatchWriteItemOutput> => {
  const { sent, left = {} } = splitWrites(input.RequestItems, chosen);
  const output = sent ? await ask({ ...input, RequestItems: sent }) : {};
  return { ...output, UnprocessedItems: merged(left, output.UnprocessedItems ?? {}, (a, b) => [...a, ...b]) };
};

/** A batch of keys of which a share stays unprocessed. */
export const partialKeys = async (
  input: BatchGetItemInput,
  chosen: Injection,
  ask: (input: BatchGetItemInput) => Promise<BatchGetItemOutput>,
): Promise<BatchGetItemOutput> => {
  const { sent, left = {} } = splitKeys(input.RequestItems, chosen);
  const output = sent ? await ask({ ...input, RequestItems: sent }) : { Responses: {} };
  const join = (a: KeysAndAttributes, b: KeysAndAttributes): KeysAndAttributes => ({ ...a, Keys: [...a.Keys, ...b.Keys] });
  return { ...output, UnprocessedKeys: merged(left, output.UnprocessedKeys ?? {}, join) };
};

const merged = <T>(
  a: Readonly<Record<string, T>>,
  b: Readonly<Record<string, T>>,
  join: (a: T, b: T) => T,
): Readonly<Record<string, T>> => {
  const result: Record<string, T> = { ...a };
  for (const [table, content] of Object.entries(b)) {
    const before = result[table];
    result[table] = before === undefined ? content : join(before, content);
  }
  return result;
};
