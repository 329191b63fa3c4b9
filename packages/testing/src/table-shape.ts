import type { AttributeValue, Item, KeySchemaElement, TableDescription, Transport } from "edgetable";
import { canonicalValue, compareValues } from "./expression.ts";

/** Names of a key's attributes. */
export interface KeyShape {
  readonly hash: string;
  readonly range?: string;
  /** Further attributes of an index's partition key and of its sort key. */
  readonly hashes?: readonly string[];
  readonly ranges?: readonly string[];
}
export interface IndexShape extends KeyShape {
  /** Attributes that the index carries; all when absent. */
  readonly projected?: ReadonlySet<string>;
}
/** What is known of a table from its description. */
export interface TableShape extends KeyShape {
  readonly name: string;
  readonly indexes: ReadonlyMap<string, IndexShape>;
  /** Type of each key attribute, such as `S`. */
  readonly types: ReadonlyMap<string, string>;
}

/** Names of a key's attributes, hash first. */
export const keyNames = ({ hash, range, hashes = [], ranges = [] }: KeyShape): readonly string[] =>
  range === undefined ? [hash, ...hashes] : [hash, ...hashes, range, ...ranges];

/** The parts of an item that make its key, where all of them are there. */
export const keyOf = (shape: KeyShape, item: Item): Item | undefined => {
  const entries = keyNames(shape).map((name) => [name, item[name]] as const);
  return entries.every((entry): entry is readonly [string, AttributeValue] => entry[1] !== undefined)
    ? Object.fromEntries(entries)
    : undefined;
};

/** A text that two keys of one table share exactly when they are equal. */
export const keyText = (shape: KeyShape, key: Item): string =>
  JSON.stringify(keyNames(shape).map((name) => canonicalValue(key[name] ?? { NULL: true })));

const keyShape = (schema: readonly KeySchemaElement[] = []): KeyShape => {
  const named = (type: string): readonly string[] =>
    schema.flatMap(({ KeyType, AttributeName }) => (KeyType === type ? [AttributeName] : []));
  const [[hash = "", ...hashes], [range, ...ranges]] = [named("HASH"), named("RANGE")];
  return { hash, ...(range !== undefined && { range }), ...(hashes.length > 0 && { hashes }), ...(ranges.length > 0 && { ranges }) };
};

type IndexDescription = NonNullable<TableDescription["GlobalSecondaryIndexes"]>[number];

const indexShape = (index: IndexDescription, table: KeyShape): IndexShape => {
  const key = keyShape(index.KeySchema);
  if ((index.Projection?.ProjectionType ?? "ALL") === "ALL") return key;
  return { ...key, projected: new Set([...keyNames(table), ...keyNames(key), ...(index.Projection?.NonKeyAttributes ?? [])]) };
};

const tableShape = (name: string, description: TableDescription): TableShape => {
  const key = keyShape(description.KeySchema);
  const indexes = (description.GlobalSecondaryIndexes ?? []).map((index) => [index.IndexName ?? "", indexShape(index, key)] as const);
  const types = (description.AttributeDefinitions ?? []).map(
    ({ AttributeName = "", AttributeType = "" }) => [AttributeName, AttributeType] as const,
  );
  return { ...key, name, indexes: new Map(indexes), types: new Map(types) };
};

/** Table descriptions, asked for once each. */
export interface TableShapes {
  of(table: string): Promise<TableShape>;
  forget(table: string): void;
}

export const createTableShapes = (inner: Transport): TableShapes => {
  const known = new Map<string, Promise<TableShape>>();
  const ask = async (table: string): Promise<TableShape> => {
    const { Table } = await inner.send("DescribeTable", { TableName: table });
    return tableShape(table, Table ?? {});
  };
  return {
    of: (table) => {
      const shape = known.get(table) ?? ask(table);
      known.set(table, shape);
      shape.catch(() => known.delete(table));
      return shape;
    },
    forget: (table) => void known.delete(table),
  };
};

/** Where items of one query stand: by range key, and inside an index then by the table's own key. */
export interface Positions {
  /** Names of the attributes that make a LastEvaluatedKey. */
  readonly names: readonly string[];
  compare(a: Item, b: Item): number;
}

const compareBy = (names: readonly string[], a: Item, b: Item): number => {
  for (const name of names) {
    const [left, right] = [a[name], b[name]];
    const order = left && right ? (compareValues(left, right) ?? 0) : 0;
    if (order !== 0) return order;
  }
  return 0;
};

/** The positions of a query on a table, or on one of its indexes. */
export const positionsOf = (table: TableShape, index: IndexShape | undefined): Positions => {
  const read: KeyShape = index ?? table;
  const names = index ? [...new Set([...keyNames(index), ...keyNames(table)])] : keyNames(table);
  const ordering = [...(read.range === undefined ? [] : [read.range, ...(read.ranges ?? [])]), ...(index ? keyNames(table) : [])];
  return { names, compare: (a, b) => compareBy(ordering, a, b) };
};

/** The attributes of an item that a LastEvaluatedKey carries. */
export const cursorAt = (positions: Positions, item: Item): Item => {
  const entries = positions.names.map((name) => [name, item[name]] as const);
  return Object.fromEntries(entries.filter((entry): entry is readonly [string, AttributeValue] => entry[1] !== undefined));
};
