import { keyId } from "../ir/write-plan.ts";
import type { GetStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Shape } from "../schema/shape.ts";
import type { BatchGetItemInput, GetItemInput, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { inShape } from "./encode-read.ts";
import { keyOf } from "./item-key.ts";
import type { Row } from "../util/row.ts";

/** A row that is asked for, and where it would be. */
export interface AskedKey {
  readonly row: Row;
  readonly key: Key;
}

const isOfEnds = (shape: Shape, row: Row): boolean => {
  const type = (end: unknown): unknown => (end as Row | undefined)?.["type"];
  return (type(row["from"]) ?? shape.from) === shape.from && (type(row["to"]) ?? shape.to) === shape.to;
};

/** Where the rows of a step would be: of an edge between several node types, by the types that its ends say. */
export const askedKeys = (catalog: Catalog, step: GetStep, rows: readonly Row[]): readonly AskedKey[] => {
  const shapes = step.shapes.map((id) => defined(catalog.shapesById[id], id));
  return rows.flatMap((row) =>
    shapes.filter((shape) => isOfEnds(shape, row)).map((shape) => ({ row, key: keyOf(catalog, shape, inShape(shape, row)) })),
  );
};

/** The keys to ask for, each once. */
export const distinctKeys = (asked: readonly AskedKey[]): readonly Key[] =>
  asked.length === 1 ? asked.map(({ key }) => key) : [...new Map(asked.map(({ key }) => [keyId(key), key])).values()];

/** A GetItem of one key. */
export const encodeGet = (catalog: Catalog, key: Key, { consistent }: Pick<GetStep, "consistent">): GetItemInput =>
  consistent
    ? { TableName: catalog.table, Key: key, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" }
    : { TableName: catalog.table, Key: key, ReturnConsumedCapacity: "TOTAL" };

/** A BatchGetItem of up to 100 keys. */
export const encodeBatchGet = (table: string, keys: readonly Key[], consistent: boolean): BatchGetItemInput => ({
  RequestItems: { [table]: { Keys: keys, ...(consistent ? { ConsistentRead: true } : {}) } },
  ReturnConsumedCapacity: "TOTAL",
});
