import type { Catalog, Item, Key, Transport } from "edgetable";
import { decodeItem, shapeOf } from "../../packages/edgetable/src/requests/decode-item.ts";
import type { Shape } from "../../packages/edgetable/src/schema/catalog.ts";
import { counts, type EdgeName, type NodeType } from "./commands.ts";
import { nodeAttribute, nodeObject, readEdge } from "./names.ts";
import { accountView } from "./perform.ts";

export type Row = Readonly<Record<string, unknown>>;

/** An item of the model, read back. */
export interface Decoded {
  readonly item: Item;
  readonly shape: Shape;
  readonly row: Row;
}

export interface RawTable {
  readonly catalog: Catalog;
  readonly items: readonly Item[];
  readonly decoded: readonly Decoded[];
  /** Items of the library's own: markers and guards. */
  readonly system: readonly Item[];
  /** Items of no known kind. */
  readonly strange: readonly Item[];
}

export const textOf = (item: Item, attribute: string | undefined): string => {
  const value = attribute === undefined ? undefined : item[attribute];
  return value && "S" in value ? value.S : "";
};

const isSystem = ({ index }: Catalog, item: Item): boolean =>
  [index.partitionKey, index.sortKey].some((attribute) => /^~(unique|degree|job|secret|model)/.test(textOf(item, attribute)));

/** Every item, of the table or of an index. */
export const scan = async (transport: Transport, table: string, index?: string): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let start: Key | undefined;
  do {
    const page = await transport.send("Scan", {
      TableName: table,
      ...(index === undefined ? { ConsistentRead: true } : { IndexName: index }),
      ...(start ? { ExclusiveStartKey: start } : {}),
    });
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
};

/** The whole table, told apart by the model alone. */
export const readRawTable = async (transport: Transport, catalog: Catalog): Promise<RawTable> => {
  const items = await scan(transport, catalog.table);
  const system = items.filter((item) => isSystem(catalog, item));
  const own = items.filter((item) => !isSystem(catalog, item)).map((item) => ({ item, shape: shapeOf(catalog, catalog.shapes, item) }));
  const decoded = own.flatMap(({ item, shape }) => (shape ? [{ item, shape, row: decodeItem(catalog, shape, item) }] : []));
  return { catalog, items, decoded, system, strange: own.flatMap(({ item, shape }) => (shape ? [] : [item])) };
};

const registerOf = ({ shape, row }: Decoded): readonly (readonly [string, string])[] => {
  if (shape.kind === "edge") {
    const { object, value } = readEdge(shape.definition as EdgeName, row);
    return shape.role === "own" ? [[object, value]] : [];
  }
  if (shape.definition === "account")
    return accountView(String(row["accountId"]), row, true).map(({ object, value }) => [object, value] as const);
  if (!(shape.definition in counts)) return [];
  const type = shape.definition as NodeType;
  const id = String(row[`${type}Id`]);
  const handle = String(row["handle"]);
  return [
    [nodeObject(type, id), String(row[nodeAttribute[type]])],
    ...(handle.startsWith("claimed") ? [[`claim:${handle}`, id] as const] : []),
  ];
};

/** What every register holds in the end; a register that is not there is absent. */
export const finalValues = ({ decoded }: RawTable): ReadonlyMap<string, string> => new Map(decoded.flatMap(registerOf));
