import { createHash } from "node:crypto";
import { isEdgetableError } from "../../errors/edgetable-error.ts";
import type { EndId } from "../../ir/logical-write.ts";
import {
  type Aggregate,
  aggregatedNodes,
  aggregatesOver,
  counts,
  summariesOver,
  type Summary,
} from "../../planner/writes/rules/aggregates.ts";
import { edgeCopies, type EdgeCopy, shapeBetween } from "../../planner/writes/rules/edge-copies.ts";
import { storedAt } from "../../planner/writes/rules/stored-digits.ts";
import type { Subject } from "../../planner/writes/working-set.ts";
import { exactText } from "../../keys/template.ts";
import { encodeDate, encodeValue, keepDigits } from "../../requests/attribute-value.ts";
import { decodeItem, refers, shapeOf } from "../../requests/decode-item.ts";
import { digitsIn, encodeField, keyIfComplete, keyOfItem } from "../../requests/encode-item.ts";
import type { Catalog, EdgeEntry, NodeEntry, Shape } from "../../schema/catalog.ts";
import { countHidden, type DerivedFact, sumHidden } from "../../schema/facts.ts";
import { isSystemItem } from "../../schema/system-kinds.ts";
import { factKeyItem, type SystemKey } from "../../schema/system-key-item.ts";
import { factsOfNode, memoOf, ownerText } from "../../schema/system-keys.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { isNumber, type Row, valueAt } from "../../util/row.ts";
import { identity } from "../read-rows.ts";

type RowSubject = Exclude<Subject, { readonly kind: "node" }>;

/** A row that an item holds, as rules see it. */
export interface HeldRow {
  readonly subject: RowSubject;
  readonly shape: Shape;
  readonly row: Row;
}

/** A node or edge with facts that the stream keeps. */
export interface FactHolder {
  readonly entry: NodeEntry | EdgeEntry;
  /** Of an edge: its ends and its own key, as its row has them. */
  readonly id: Row;
  /** The item of its facts. */
  readonly facts: SystemKey;
}

/** Where one row counts: a node or edge, and the aggregates of it that range over such rows. */
export interface Place {
  readonly holder: FactHolder;
  /** Names what the aggregates range over: `in.enrolledIn`, `out.likes`, `parts.line`, `along.ordered`. */
  readonly over: string;
  /** The table key of the row's item. */
  readonly source: Key;
}

/** What the row of a place contributes, by the name of a sum, a number or a value behind an aggregate. */
export type Contribution = Readonly<Record<string, AttributeValue>>;

/** A place with what is contributed there. */
export interface ContributedPlace extends Place {
  readonly contribution: Contribution;
}

/** What an aggregate ranges over, as the keys of memos name it. */
export const overText = ({ over }: Pick<DerivedFact, "over">): string =>
  over.kind === "part" ? `parts.${over.name}` : `${over.direction}.${over.name}`;

/** The node of an id, as its facts are kept. */
export const factNode = (catalog: Catalog, entry: NodeEntry, id: Row): FactHolder => {
  const own = Object.fromEntries(entry.idFields.map((field) => [field, id[field]]));
  const key = keyIfComplete(catalog, entry.shape, own);
  return { entry, id: own, facts: factsOfNode(entry.name, key ? identity(catalog, key) : ownerText(entry, own)) };
};

/** The edge between two nodes, as its facts are kept; undefined where the row does not tell which one. */
export const factEdge = (
  catalog: Catalog,
  entry: EdgeEntry,
  { from, to, row }: { readonly from: EndId; readonly to: EndId; readonly row: Row },
): FactHolder | undefined => {
  const shape = shapeBetween(entry.shapes, from, to);
  if (!shape) return undefined;
  const idOf = ({ type, id }: EndId): Row => {
    const own = Object.fromEntries(defined(catalog.nodes[type], type).idFields.map((field) => [field, id[field]]));
    return shape.several ? { type, ...own } : own;
  };
  const id: Row = { ...Object.fromEntries(entry.key.map((field) => [field, row[field]])), from: idOf(from), to: idOf(to) };
  const key = keyIfComplete(catalog, shape, id);
  if (!key || entry.key.some((field) => row[field] === undefined)) return undefined;
  // Where a key names one end alone, the edges to several nodes take turns under it.
  const ends = shape.unkeyed.length > 0 ? exactText([idOf(from), idOf(to)]) : "";
  return { entry, id, facts: factsOfNode(entry.name, identity(catalog, key) + ends) };
};

/** A node or edge by the name of its type and its id; undefined where the model has no such type, or nothing derived of it. */
export const holderOf = (catalog: Catalog, name: string, id: Row): FactHolder | undefined => {
  const node = catalog.nodes[name];
  if (node) return factNode(catalog, node, id);
  const edge = catalog.edges[name];
  const shape =
    edge?.definition.derived &&
    edge.shapes.find(({ several, from, to }) => !several || (from === typeAt(id, "from") && to === typeAt(id, "to")));
  if (!edge || !shape || !isRow(id["from"]) || !isRow(id["to"])) return undefined;
  return factEdge(catalog, edge, { from: endOf(shape, "from", id["from"]), to: endOf(shape, "to", id["to"]), row: id });
};

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null;

const typeAt = (row: Row, end: "from" | "to"): unknown => (row[end] as Row | undefined)?.["type"];

/** The items that hold the derived attributes of a node or edge, each with as much of its row as identifies it. */
export const placesOf = ({ entry, id }: FactHolder): readonly EdgeCopy[] => {
  if (!("shapes" in entry)) return [{ shape: entry.shape, row: id }];
  const shape = defined(
    entry.shapes.find(({ several, from, to }) => !several || (from === typeAt(id, "from") && to === typeAt(id, "to"))),
    entry.name,
  );
  const ends = { from: endOf(shape, "from", id["from"] as Row), to: endOf(shape, "to", id["to"] as Row) };
  const { from: _from, to: _to, ...key } = id;
  const copies = edgeCopies({ entry, ...ends }, key);
  // Each of the two items of an edge without direction holds the same, and keeps its own facts.
  return entry.definition.symmetric ? copies.slice(0, 1) : copies;
};

/** The name of an item among the sources of a node's memos. */
const sourceName = (catalog: Catalog, source: Key): string => createHash("sha256").update(identity(catalog, source)).digest("base64url");

/** The key of the memo of what the row of a place contributes there. */
export const memoKey = (catalog: Catalog, { holder, over, source }: Place): Key =>
  factKeyItem(catalog, memoOf(holder.facts, over, sourceName(catalog, source)));

/** One text for a place. */
export const placeId = (catalog: Catalog, { holder, over, source }: Place): string =>
  JSON.stringify([holder.facts.partition, over, sourceName(catalog, source)]);

/** The node at an end of an edge. */
export const endOf = (shape: Shape, end: "from" | "to", value: Row): EndId => {
  const type = defined(shape[end], "the type of an edge's end");
  if (!shape.several) return { type, id: value };
  const { type: _, ...id } = value;
  return { type, id };
};

const references = new WeakMap<Catalog, readonly Shape[]>();

/** The edges and parts whose rows an item holds. The second copy of an edge holds none: its first copy speaks for both. */
const tiedRows = (catalog: Catalog, item: Item | null | undefined): readonly HeldRow[] => {
  if (!item || isSystemItem(catalog, item)) return [];
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape || shape.role === "mirror") return [];
  let shapes: readonly Shape[] = [shape];
  if (shape.kind === "node") {
    let all = references.get(catalog);
    if (!all) references.set(catalog, (all = Object.values(catalog.shapesById).filter(({ role }) => role === "reference")));
    shapes = all.filter(({ from }) => from === shape.definition);
  }
  return shapes.flatMap((one): HeldRow | [] => {
    const row = decodeItem(catalog, one, item);
    if (one.kind === "part") return { subject: { kind: "part", entry: defined(catalog.parts[one.definition], "part") }, shape: one, row };
    if (!refers(one, row)) return [];
    const entry = defined(catalog.edges[one.definition], "edge");
    const [from, to] = [endOf(one, "from", row["from"] as Row), endOf(one, "to", row["to"] as Row)];
    return { subject: { kind: "edge", entry, from, to }, shape: one, row };
  });
};

/**
 * The stored form of a value as attributes that hold what was derived of it have it: that of a time of expiry, which is a number, is
 * that of a Date. Undefined of a time that another program wrote in a form that cannot be read. It does not count.
 */
const encodeIfReadable = (shape: Shape, field: string, value: unknown): AttributeValue | undefined => {
  try {
    return value instanceof Date && field === shape.ttl ? encodeDate(value, field) : encodeField(shape, field, value);
  } catch (error) {
    if (isEdgetableError(error, "request.unsupportedValue")) return undefined;
    throw error;
  }
};

/** What a row contributes to one aggregate of the node at an end of it, or of an edge between its ends. */
const contributionTo = (
  catalog: Catalog,
  { fact, ...aggregate }: Pick<Aggregate, "where"> & { readonly fact: DerivedFact },
  row: HeldRow & { readonly item: Item },
  end?: EndId,
): Contribution => {
  const { attribute, operation, of } = fact;
  if (!counts({ fact, ...aggregate }, row.row)) return {};
  if (operation === "count") return { [countHidden(attribute)]: { N: "1" } };
  const value = of === undefined ? undefined : valueAt(row.row, of);
  // The item may hold more digits than the row.
  const exact = of === undefined ? undefined : storedAt(digitsIn(row.shape, row.item), of);
  if (operation === "sum" || operation === "average") {
    const sum = { [sumHidden(attribute)]: keepDigits(encodeValue(isNumber(value) ? value : 0, attribute), exact) };
    return operation === "sum" ? sum : { ...sum, [countHidden(attribute)]: { N: "1" } };
  }
  if (of !== undefined) {
    const encoded = encodeIfReadable(row.shape, of, value);
    if (!encoded) return {};
    const stored = keepDigits(encoded, exact);
    return operation === "distinct" || "N" in stored || "S" in stored ? { [attribute]: stored } : {};
  }
  const { subject } = row;
  const other = end && (subject.kind === "part" ? undefined : end === subject.from ? subject.to : subject.from);
  const entry = other && catalog.nodes[other.type];
  return entry ? { [attribute]: { S: factNode(catalog, entry, other.id).facts.partition } } : {};
};

const isStreamed = ({ fact }: { readonly fact: DerivedFact }): boolean => fact.freshness === "stream";

/** The edges between the ends of a row that may summarize it, whether or not they are there. */
const summarizing = (catalog: Catalog, { fact }: Summary, { subject, row }: HeldRow): readonly FactHolder[] => {
  const entry = catalog.edges[fact.edge];
  if (subject.kind === "part" || !entry) return [];
  const { from, to } = subject;
  const { direction } = fact.over;
  // Each item of an edge without direction counts for the edge that leads its way.
  const isSymmetric = subject.entry.definition.symmetric === true;
  const pairs = [
    ...(isSymmetric || direction !== "against" ? [{ from, to }] : []),
    ...(!isSymmetric && direction !== "along" ? [{ from: to, to: from }] : []),
  ];
  return pairs.flatMap((ends) => factEdge(catalog, entry, { ...ends, row }) ?? []);
};
/**
 * What the rows of an item contribute, and to which nodes and edges. Each of the two items of a symmetric edge counts at the node that
 * it leaves.
 */
export const contributionsOf = (catalog: Catalog, item: Item | null | undefined): readonly ContributedPlace[] => {
  const places = new Map<string, ContributedPlace & { readonly contribution: Record<string, AttributeValue> }>();
  for (const held of tiedRows(catalog, item)) {
    const row = { ...held, item: item as Item };
    const { subject } = row;
    const source = keyOfItem(catalog, item as Item);
    const contribute = (holder: FactHolder, over: string, contribution: Contribution): void => {
      const place = { holder, over, source };
      const id = placeId(catalog, place);
      let known = places.get(id);
      if (!known) places.set(id, (known = { ...place, contribution: {} }));
      Object.assign(known.contribution, contribution);
    };
    for (const aggregate of aggregatesOver(catalog, subject).filter(isStreamed)) {
      const isSymmetric = subject.kind === "edge" && subject.entry.definition.symmetric === true;
      const ends = isSymmetric
        ? [subject.from].filter(({ type }) => type === aggregate.fact.node)
        : aggregatedNodes(catalog, aggregate, subject, row.row);
      for (const end of ends) {
        const entry = catalog.nodes[end.type];
        if (!entry || entry.idFields.some((field) => end.id[field] === undefined)) continue;
        contribute(factNode(catalog, entry, end.id), overText(aggregate.fact), contributionTo(catalog, aggregate, row, end));
      }
    }
    for (const summary of summariesOver(catalog, subject).filter(isStreamed))
      for (const holder of summarizing(catalog, summary, row))
        contribute(holder, overText(summary.fact), contributionTo(catalog, summary, row));
  }
  return [...places.values()];
};
