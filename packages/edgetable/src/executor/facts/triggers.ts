import { sameAttribute } from "../../requests/attribute-value.ts";
import { decodeItem, shapeOf } from "../../requests/decode-item.ts";
import { sameExactly } from "../../planner/writes/rules/stored-digits.ts";
import { digitsIn, keyOfItem } from "../../requests/encode-item.ts";
import { type Catalog, type EdgeEntry, endPaths, type NodeEntry, type Shape } from "../../schema/catalog.ts";
import { COPY_REVISION, ROLLED, STREAMED } from "../../schema/facts.ts";
import { readPlace } from "../../schema/stored-id.ts";
import { MEMO_NODE } from "../../schema/system-items.ts";
import { isSystemItem, systemKindOf } from "../../schema/system-kinds.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { isDeepStrictEqual } from "node:util";
import { own, type Row, valueAt } from "../../util/row.ts";
import { contributionsOf, endOf, factEdge, type FactHolder, factNode, type Place, placeId } from "./contributions.ts";
import { sameContribution, sameStored } from "./refresh-aggregates.ts";
import { streamedFacts } from "./read-memos.ts";
import { hasCounters } from "./roll-up-counters.ts";
import { copyShape, type FanOut, itemShape, nextRevision, streamedCopies } from "./refresh-copies.ts";

/** One change of one item, as a stream tells it. */
export interface ItemChangeRecord {
  readonly key: Key;
  /** The item before and after; undefined where there was or is none. */
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** What has to be refreshed because of a change. */
export interface Triggered {
  /** Rows that may contribute something else to a node than before. */
  readonly places: readonly Place[];
  /** Nodes and edges whose items may lack their facts. */
  readonly holders: readonly FactHolder[];
  /** Edges and parts whose copies may be old. */
  readonly copies: readonly Key[];
  /** Nodes of which an attribute changed that others copy. */
  readonly fanOuts: readonly FanOut[];
}

const NOTHING: Triggered = { places: [], holders: [], copies: [], fanOuts: [] };

/** The places at which an item contributes something else than before: of an edge that was led elsewhere, both nodes. */
const changedPlaces = (catalog: Catalog, { before, after }: ItemChangeRecord): readonly Place[] => {
  const places = new Map(contributionsOf(catalog, before).map((place) => [placeId(catalog, place), place]));
  const changed: Place[] = [];
  for (const place of contributionsOf(catalog, after)) {
    const id = placeId(catalog, place);
    const old = places.get(id);
    places.delete(id);
    if (!sameContribution(old?.contribution, place.contribution)) changed.push(place);
  }
  for (const place of places.values()) if (!sameContribution(place.contribution)) changed.push(place);
  return changed;
};

const nodeIn = (
  catalog: Catalog,
  item: Item | undefined,
): { readonly entry: NodeEntry; readonly shape: Shape; readonly row: Row } | undefined => {
  const shape = item && shapeOf(catalog, catalog.shapes, item);
  const entry = shape?.kind === "node" ? catalog.nodes[shape.definition] : undefined;
  return item && shape && entry && { entry, shape, row: decodeItem(catalog, shape, item) };
};

const numberAt = (item: Item | undefined, attribute: string): number | undefined => {
  const value = item?.[attribute];
  return value && "N" in value ? Number(value.N) : undefined;
};

/** The edge that an item holds, if the stream keeps attributes of it. */
const edgeIn = (catalog: Catalog, item: Item | undefined): FactHolder | undefined => {
  const shape = itemShape(catalog, item);
  const entry = shape?.kind === "edge" ? catalog.edges[shape.definition] : undefined;
  if (!item || !shape || !entry?.definition.derived) return undefined;
  const row = decodeItem(catalog, shape, item);
  const [from, to] = [endOf(shape, "from", row["from"] as Row), endOf(shape, "to", row["to"] as Row)];
  return factEdge(catalog, entry, { from, to, row });
};

/**
 * True if a write may have lost what the stream wrote into a node or edge: it is new, its revision went back, or a derived
 * attribute changed without a new revision.
 */
const mayLackFacts = (catalog: Catalog, entry: NodeEntry | EdgeEntry, { before, after }: ItemChangeRecord): boolean => {
  if (!after) return false;
  const isRolledUp = !("shapes" in entry) && hasCounters(catalog, entry);
  if (streamedFacts(catalog, entry).length === 0 && !isRolledUp) return false;
  if (!before || (isRolledUp && before[ROLLED] && !after[ROLLED])) return true;
  const [was, is] = [numberAt(before, STREAMED), numberAt(after, STREAMED)];
  if (is !== undefined && (was === undefined || is > was)) return false;
  if (is !== was) return true;
  return streamedFacts(catalog, entry).some(({ attribute }) => !sameStored(before[attribute], after[attribute]));
};

/** The node that a counter counts for. */
const countedNode = (catalog: Catalog, item: Item): readonly FactHolder[] => {
  const text = item[MEMO_NODE];
  if (!text || !("S" in text)) return [];
  const place = readPlace(text.S);
  const entry = place && catalog.nodes[place.node];
  return entry && hasCounters(catalog, entry) ? [factNode(catalog, entry, place.id)] : [];
};

/** True if an attribute that rows have as the same double has the same digits before and after a change. */
const sameDigits = (shape: Shape, { before = {}, after = {} }: Omit<ItemChangeRecord, "key">, field: string): boolean =>
  sameExactly(digitsIn(shape, before)(field), digitsIn(shape, after)(field));

/** The copies of a node's attributes that a change makes old. A node that is gone leaves its last ones. */
const fanOutsOf = (
  catalog: Catalog,
  record: ItemChangeRecord,
  node: { readonly entry: NodeEntry; readonly row: Row },
): readonly FanOut[] => {
  const { entry, row } = node;
  const before = record.before && nodeIn(catalog, record.before);
  const fanOuts = new Map<string, FanOut>();
  for (const { onto, end, of, freshness } of catalog.facts.copies) {
    if (freshness !== "stream" || (before && isDeepStrictEqual(own(before.row, of), own(row, of)) && sameDigits(entry.shape, record, of)))
      continue;
    const shapes =
      onto.kind === "part"
        ? [catalog.parts[onto.name]?.shape]
        : [...(catalog.edges[onto.name]?.shapes ?? []), ...(catalog.edges[onto.name]?.mirrors ?? [])];
    if (!shapes.some((shape) => shape?.[end] === entry.name)) continue;
    const id = Object.fromEntries(entry.idFields.map((field) => [field, row[field]]));
    fanOuts.set(`${onto.kind} ${onto.name} ${end}`, { entry, id, onto, end });
  }
  return [...fanOuts.values()];
};

/** True if a change of an edge or part is the stream's own, or leaves its copies and its ends as they were. */
const keepsCopies = (catalog: Catalog, shape: Shape, { before, after }: ItemChangeRecord): boolean => {
  if (!before || !after || copyShape(catalog, before) !== shape) return false;
  const [was, is] = [before[COPY_REVISION], after[COPY_REVISION]];
  const paths = shape.kind === "edge" ? [...endPaths(catalog, shape, "from"), ...endPaths(catalog, shape, "to")] : [];
  const [old, row] = [decodeItem(catalog, shape, before), decodeItem(catalog, shape, after)];
  if (!paths.every((path) => isDeepStrictEqual(valueAt(old, path), valueAt(row, path)))) return false;
  if (!sameAttribute(was, is)) {
    const isFirstOfStream = was === undefined && is !== undefined && "N" in is && is.N.startsWith("-");
    return isFirstOfStream || sameAttribute(is, { N: String(nextRevision(was, 0)) });
  }
  return streamedCopies(catalog, shape).every(
    ({ attribute }) => isDeepStrictEqual(own(old, attribute), own(row, attribute)) && sameDigits(shape, { before, after }, attribute),
  );
};

/**
 * What has to be refreshed because of a change. A change of one of Edgetable's own items needs nothing.
 *
 * @throws {keys.unreadable} for an item that does not read as its kind
 */
export const triggeredBy = (catalog: Catalog, record: ItemChangeRecord): Triggered => {
  const { before, after, key } = record;
  if (after && systemKindOf(catalog, after) === "counter") return { ...NOTHING, holders: countedNode(catalog, after) };
  if ((after && isSystemItem(catalog, after)) || (before && isSystemItem(catalog, before))) return NOTHING;
  const places = changedPlaces(catalog, record);
  const node = nodeIn(catalog, after);
  if (node)
    return {
      places,
      holders: mayLackFacts(catalog, node.entry, record) ? [factNode(catalog, node.entry, node.row)] : [],
      copies: [],
      fanOuts: fanOutsOf(catalog, record, node),
    };
  const shape = copyShape(catalog, after);
  const edge = edgeIn(catalog, after);
  // Under a key that names one end alone, another edge may have given way.
  const isOther = edge !== undefined && before !== undefined && edgeIn(catalog, before)?.facts.partition !== edge.facts.partition;
  const holders = edge && (isOther || mayLackFacts(catalog, edge.entry, record)) ? [edge] : [];
  return { places, holders, copies: shape && !keepsCopies(catalog, shape, record) ? [key] : [], fanOuts: [] };
};

/** What has to be refreshed for an item that a scan finds, without knowing its changes. */
export const allOf = (catalog: Catalog, item: Item): Triggered => {
  const after = item;
  const places = contributionsOf(catalog, item);
  const node = isSystemItem(catalog, item) ? undefined : nodeIn(catalog, after);
  const keepsFacts = node && (streamedFacts(catalog, node.entry).length > 0 || hasCounters(catalog, node.entry));
  const edge = edgeIn(catalog, item);
  const holders = keepsFacts ? [factNode(catalog, node.entry, node.row)] : edge ? [edge] : [];
  return { places, holders, copies: copyShape(catalog, item) ? [keyOfItem(catalog, item)] : [], fanOuts: [] };
};
