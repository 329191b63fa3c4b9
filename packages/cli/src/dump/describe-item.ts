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

const isSystem = ({ index }: Catalog, item: Item): boolean =>
  [index.partitionKey, index.sortKey].some((name) => {
    const value = name === undefined ? undefined : item[name];
    return value !== undefined && "S" in value && /^~(?:unique|degree|job|secret)#/.test(value.S);
  });

/**
 * What an item is, by the table's type attribute. Its attributes are given as they are stored: the
 * library has no public way to read an item's row out of its keys.
 */
export const describeItem = (catalog: Catalog, item: Item): DumpedItem => {
  if (isSystem(catalog, item)) return { kind: "system", item: plain(item) };
  const value = catalog.typeAttribute === undefined ? undefined : item[catalog.typeAttribute];
  const shape = value && "S" in value ? catalog.shapes.find(({ typeValue }) => typeValue === value.S) : undefined;
  return shape ? { kind: shape.kind, name: shape.definition, item: plain(item) } : { kind: "unknown", item: plain(item) };
};
