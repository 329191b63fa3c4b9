import type { AttributeValue, Catalog, Item } from "edgetable";

/** One item of a table, with what it is. */
export interface DumpedItem {
  readonly kind: "node" | "edge" | "part" | "system" | "unknown";
  /** The node, edge or part of the model. */
  readonly name?: string;
  readonly item: Readonly<Record<string, unknown>>;
}

const numberOf = (text: string): number | bigint => {
  const value = Number(text);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text);
};

const valueOf = (value: AttributeValue): unknown => {
  if ("S" in value) return value.S;
  if ("N" in value) return numberOf(value.N);
  if ("BOOL" in value) return value.BOOL;
  if ("NULL" in value) return null;
  if ("L" in value) return value.L.map(valueOf);
  if ("M" in value) return plain(value.M);
  if ("SS" in value) return new Set(value.SS);
  if ("NS" in value) return new Set(value.NS.map(numberOf));
  if ("B" in value) return new Uint8Array(Buffer.from(value.B, "base64"));
  return new Set(value.BS.map((bytes) => new Uint8Array(Buffer.from(bytes, "base64"))));
};

const plain = (item: Readonly<Record<string, AttributeValue>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(item)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, valueOf(value)]),
  );

const textOf = (item: Item, name: string | undefined): string => {
  const value = name === undefined ? undefined : item[name];
  return value && "S" in value ? value.S : "";
};

const isSystem = ({ index }: Catalog, item: Item): boolean =>
  /^~(?:unique|job|secret)(?:#|$)/.test(textOf(item, index.partitionKey)) || textOf(item, index.sortKey).startsWith("~degree#");

/**
 * What an item is, by the table's type attribute. Its attributes are given as they are stored: the
 * library has no public way to read an item's row out of its keys.
 */
export const describeItem = (catalog: Catalog, item: Item): DumpedItem => {
  const type = textOf(item, catalog.typeAttribute);
  const shape = type === "" ? undefined : catalog.shapes.find(({ typeValue }) => typeValue === type);
  if (shape) return { kind: shape.kind, name: shape.definition, item: plain(item) };
  return { kind: isSystem(catalog, item) ? "system" : "unknown", item: plain(item) };
};
