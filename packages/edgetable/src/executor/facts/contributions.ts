import { createHash } from "node:crypto";
import type { EndId } from "../../ir/logical-write.ts";
import { type Aggregate, aggregatedNodes, aggregatesOver, counts } from "../../planner/writes/rules/aggregates.ts";
import type { Subject } from "../../planner/writes/working-set.ts";
import { encodeValue } from "../../requests/attribute-value.ts";
import { decodeItem, refers, shapeOf } from "../../requests/decode-item.ts";
import { encodeField, keyIfComplete, keyOfItem } from "../../requests/encode-item.ts";
import type { Catalog, NodeEntry, Shape } from "../../schema/catalog.ts";
import { type AggregateFact, countHidden, sumHidden } from "../../schema/facts.ts";
import { isSystemItem } from "../../schema/system-items.ts";
import { factsOfNode, ownerText, type SystemKey } from "../../schema/system-keys.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { isNumber } from "../../util/json-text.ts";
import { type Row, valueAt } from "../../util/row.ts";
import { identity } from "../read-rows.ts";

type RowSubject = Exclude<Subject, { readonly kind: "node" }>;

/** A row that an item holds, as rules see it. */
export interface HeldRow {
  readonly subject: RowSubject;
  readonly shape: Shape;
  readonly row: Row;
}

/** A node with facts that the stream keeps. */
export interface FactNode {
  readonly entry: NodeEntry;
  readonly id: Row;
  /** The item of its facts. */
  readonly facts: SystemKey;
}

/** Where one row counts: a node, and the aggregates of it that range over such rows. */
export interface Place {
  readonly node: FactNode;
  /** Names what the aggregates range over: `in.enrolledIn`, `out.likes`, `parts.line`. */
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
export const overText = ({ over }: AggregateFact): string =>
  over.kind === "part" ? `parts.${over.name}` : `${over.direction}.${over.name}`;

/** The node of an id, as its facts are kept. */
export const factNode = (catalog: Catalog, entry: NodeEntry, id: Row): FactNode => {
  const own = Object.fromEntries(entry.idFields.map((field) => [field, id[field]]));
  const key = keyIfComplete(catalog, entry.shape, own);
  return { entry, id: own, facts: factsOfNode(entry.name, key ? identity(catalog, key) : ownerText(entry, own)) };
};

/** The name of an item among the sources of a node's memos. */
export const sourceName = (catalog: Catalog, source: Key): string =>
  createHash("sha256").update(identity(catalog, source)).digest("base64url");

/** One text for a place. */
export const placeId = (catalog: Catalog, { node, over, source }: Place): string =>
  JSON.stringify([node.facts.partition, over, sourceName(catalog, source)]);

/** The node at an end of an edge. */
export const endOf = (shape: Shape, end: "from" | "to", value: Row): EndId => {
  const type = defined(shape[end], "the type of an edge's end");
  if (!shape.several) return { type, id: value };
  const { type: _, ...id } = value;
  return { type, id };
};

const held = (catalog: Catalog, shape: Shape, item: Item): HeldRow | undefined => {
  const row = decodeItem(catalog, shape, item);
  if (shape.kind === "part") return { subject: { kind: "part", entry: defined(catalog.parts[shape.definition], "part") }, shape, row };
  if (!refers(shape, row)) return undefined;
  const entry = defined(catalog.edges[shape.definition], "edge");
  const [from, to] = [endOf(shape, "from", row["from"] as Row), endOf(shape, "to", row["to"] as Row)];
  return { subject: { kind: "edge", entry, from, to }, shape, row };
};

const references = new WeakMap<Catalog, readonly Shape[]>();

/** The edges and parts whose rows an item holds. The second copy of an edge holds none: its first copy speaks for both. */
const rowsHeld = (catalog: Catalog, item: Item | null | undefined): readonly HeldRow[] => {
  if (!item || isSystemItem(catalog, item)) return [];
  const shape = shapeOf(catalog, catalog.shapes, item);
  if (!shape || shape.role === "mirror") return [];
  let shapes: readonly Shape[] = [shape];
  if (shape.kind === "node") {
    let all = references.get(catalog);
    if (!all) references.set(catalog, (all = Object.values(catalog.shapesById).filter(({ role }) => role === "reference")));
    shapes = all.filter(({ from }) => from === shape.definition);
  }
  return shapes.flatMap((one) => held(catalog, one, item) ?? []);
};

const isValue = (value: AttributeValue): boolean => "N" in value || "S" in value;

const otherEnd = ({ subject }: HeldRow, end: EndId): EndId | undefined =>
  subject.kind === "part" ? undefined : end === subject.from ? subject.to : subject.from;

/** What a row contributes to one aggregate of the node at an end of it. */
const contributionTo = (catalog: Catalog, { fact, ...aggregate }: Aggregate, row: HeldRow, end: EndId): Contribution => {
  const { attribute, operation, of } = fact;
  if (!counts({ fact, ...aggregate }, row.row)) return {};
  if (operation === "count") return { [countHidden(attribute)]: { N: "1" } };
  const value = of === undefined ? undefined : valueAt(row.row, of);
  if (operation === "sum" || operation === "average") {
    const sum = { [sumHidden(attribute)]: encodeValue(isNumber(value) ? value : 0, attribute) };
    return operation === "sum" ? sum : { ...sum, [countHidden(attribute)]: { N: "1" } };
  }
  if (of !== undefined) {
    const stored = encodeField(row.shape, of, value);
    return operation === "distinct" || isValue(stored) ? { [attribute]: stored } : {};
  }
  const other = otherEnd(row, end);
  const entry = other && catalog.nodes[other.type];
  return entry ? { [attribute]: { S: factNode(catalog, entry, other.id).facts.partition } } : {};
};

const isStreamed = ({ fact }: Aggregate): boolean => fact.freshness === "stream";

/**
 * What the rows of an item contribute, and to which nodes. Each of the two items of a symmetric edge counts at the node that
 * it leaves.
 */
export const contributionsOf = (catalog: Catalog, item: Item | null | undefined): readonly ContributedPlace[] => {
  const places = new Map<string, ContributedPlace & { readonly contribution: Record<string, AttributeValue> }>();
  for (const row of rowsHeld(catalog, item)) {
    const { subject } = row;
    const source = keyOfItem(catalog, item as Item);
    for (const aggregate of aggregatesOver(catalog, subject).filter(isStreamed)) {
      const isSymmetric = subject.kind === "edge" && subject.entry.definition.symmetric === true;
      const ends = isSymmetric
        ? [subject.from].filter(({ type }) => type === aggregate.fact.node)
        : aggregatedNodes(catalog, aggregate, subject, row.row);
      for (const end of ends) {
        const entry = catalog.nodes[end.type];
        if (!entry || entry.idFields.some((field) => end.id[field] === undefined)) continue;
        const place = { node: factNode(catalog, entry, end.id), over: overText(aggregate.fact), source };
        const id = placeId(catalog, place);
        let known = places.get(id);
        if (!known) places.set(id, (known = { ...place, contribution: {} }));
        Object.assign(known.contribution, contributionTo(catalog, aggregate, row, end));
      }
    }
  }
  return [...places.values()];
};
