import type { AttributeValue, Item, KeySchemaElement, TableDescription, Transport } from "edgetable";
import { canonicalValue } from "../expression/value-order.ts";

/** Names of a key's attributes. */
export interface KeyShape {
  readonly hash: string;
  readonly range?: string;
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
export const keyNames = ({ hash, range }: KeyShape): readonly string[] => (range === undefined ? [hash] : [hash, range]);

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
  const named = (type: string): string | undefined => schema.find(({ KeyType }) => KeyType === type)?.AttributeName;
  const range = named("RANGE");
  return { hash: named("HASH") ?? "", ...(range !== undefined && { range }) };
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
