import type { Catalog, Item, Transport } from "edgetable";
import { encodeItem } from "../../packages/edgetable/src/requests/encode-item.ts";
import { COUNT, OWNER } from "../../packages/edgetable/src/schema/system-items.ts";
import { ownerText, uniqueMarker } from "../../packages/edgetable/src/schema/system-keys.ts";
import { scan, textOf, type Decoded, type RawTable, type Row } from "./raw-table.ts";

const sorted = (_: string, value: unknown): unknown =>
  value !== null && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;
const text = (value: unknown): string => JSON.stringify(value, sorted);

/** Law 2, byte for byte: an item is what its row makes of it. */
const staleKeys = ({ catalog, decoded, strange }: RawTable): readonly string[] => [
  ...strange.map((item) => `an item of no kind: ${text(item)}`),
  ...decoded.flatMap(({ item, shape, row }) => {
    const fresh = text(encodeItem(catalog, shape, row));
    return fresh === text(item) ? [] : [`a stale attribute in ${text(item)}; its row makes ${fresh}`];
  }),
];

const turned = (row: Row): Row => ({ ...row, from: row["to"], to: row["from"] });

const differences = (one: readonly string[], other: readonly string[], label: string): readonly string[] => [
  ...one.filter((entry) => !other.includes(entry)).map((entry) => `${label}: ${entry} lacks its counterpart`),
  ...other.filter((entry) => !one.includes(entry)).map((entry) => `${label}: ${entry} has no original`),
];

const rowsOf = (decoded: readonly Decoded[], role: string): readonly Row[] =>
  decoded.filter(({ shape }) => shape.role === role).map(({ row }) => row);

/** Both copies of an edge, with equal attributes, or none. */
const tornEdges = ({ catalog, decoded }: RawTable): readonly string[] =>
  Object.values(catalog.edges).flatMap((entry) => {
    const copies = decoded.filter(({ shape }) => shape.kind === "edge" && shape.definition === entry.name);
    const own = rowsOf(copies, "own");
    if (entry.definition.symmetric) return differences(own.map(text), own.map(turned).map(text), `torn ${entry.name}`);
    return entry.mirrors.length > 0 ? differences(own.map(text), rowsOf(copies, "mirror").map(text), `torn ${entry.name}`) : [];
  });

const countOf = (item: Item): number => {
  const value = item[COUNT];
  return value && "N" in value ? Number(value.N) : Number.NaN;
};

/** The guard counts the edges that are there, and they are no more than allowed. */
const wrongDegrees = ({ catalog, decoded, system }: RawTable): readonly string[] => {
  const { partitionKey, sortKey } = catalog.index;
  const guards = new Map(
    system.filter((item) => textOf(item, sortKey).startsWith("~degree")).map((item) => [textOf(item, partitionKey), countOf(item)]),
  );
  const pins = decoded.filter(({ shape }) => shape.definition === "pins").map(({ item }) => textOf(item, partitionKey));
  return [...new Set([...guards.keys(), ...pins])].flatMap((partition) => {
    const edges = pins.filter((one) => one === partition).length;
    const guard = guards.get(partition) ?? 0;
    return guard === edges && edges <= 2 ? [] : [`the degree of ${partition} is guarded as ${guard} and is ${edges}`];
  });
};

/** Markers and the nodes that own them, one for one. */
const wrongMarkers = ({ catalog, decoded, system }: RawTable): readonly string[] => {
  const expected = decoded.flatMap(({ shape, row }) => {
    const entry = shape.kind === "node" ? catalog.nodes[shape.definition] : undefined;
    return (entry?.definition.unique ?? []).flatMap((field) =>
      entry && row[field] !== undefined ? [`${uniqueMarker(entry.name, field, row[field]).partition} of ${ownerText(entry, row)}`] : [],
    );
  });
  const { partitionKey } = catalog.index;
  const found = system
    .filter((item) => textOf(item, partitionKey).startsWith("~unique"))
    .map((item) => `${textOf(item, partitionKey)} of ${textOf(item, OWNER)}`);
  const twice =
    found.length === new Set(expected).size && expected.length === found.length
      ? []
      : [`${expected.length} unique values have ${found.length} markers`];
  return [...twice, ...differences(expected, found, "unique marker")];
};

const placeIn = (catalog: Catalog, index: Catalog["indexes"][number], item: Item): string =>
  text([index.partitionKey, index.sortKey, catalog.index.partitionKey, catalog.index.sortKey].map((attribute) => textOf(item, attribute)));

const wrongIndex = async (
  { catalog, items }: RawTable,
  transport: Transport,
  index: Catalog["indexes"][number],
): Promise<readonly string[]> => {
  const derived = items.filter((item) => item[index.partitionKey] && (index.sortKey === undefined || item[index.sortKey]));
  const found = await scan(transport, catalog.table, index.name);
  const place = (item: Item): string => placeIn(catalog, index, item);
  return differences(derived.map(place), found.map(place), `index ${String(index.name)}`);
};

/** What must hold of the items alone, once all is quiet. */
export const checkTable = async (table: RawTable, transport: Transport): Promise<readonly string[]> => {
  const indexes = await Promise.all(table.catalog.indexes.map((index) => wrongIndex(table, transport, index)));
  return [...staleKeys(table), ...tornEdges(table), ...wrongDegrees(table), ...wrongMarkers(table), ...indexes.flat()];
};
