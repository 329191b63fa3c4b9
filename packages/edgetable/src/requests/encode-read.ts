import { EdgetableError } from "../errors/edgetable-error.ts";
import type { GetStep, QueryStep, HydrateStep } from "../ir/physical-plan.ts";
import { keyId } from "../ir/write-plan.ts";
import { comparePrimary, renderTemplate } from "../keys/template.ts";
import { type Catalog, type Index, kindMarks, projectedAttributes, type Shape, tableAndIndexKeys } from "../schema/catalog.ts";
import type { AttributeValue, BatchGetItemInput, GetItemInput, Key, QueryInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Row } from "../util/row.ts";
import { keyValue } from "./attribute-value.ts";
import { mayExpire } from "./decode-item.ts";
import { after, type Filters, type KeyRange, nameIn, namesOf, Placeholders } from "./expression.ts";
import { keyOf, placesOf } from "./encode-item.ts";

/** Loads the code that encodes and checks conditions. */
export const loadFilters: () => Filters | Promise<Filters> = loadOnce(async () => (await import("./filters.ts")).filters);

/** The attributes that a point read fetches. */
export type Projection = Pick<GetItemInput, "ProjectionExpression" | "ExpressionAttributeNames">;

/** The placeholder of the time before which items have expired. */
export const NOW = ":now";

/** The values of one call that fill a plan's slots and templates. */
export interface Binding {
  /** The anchor: an edge's row with the known end, or a node's or part's row with its id. */
  readonly row: Row;
  readonly values: readonly unknown[];
}

/** An edge's row with the field names of the shape's templates. A reference edge is a row of its source node. */
const inShape = (shape: Shape, row: Row): Row => {
  if (!shape.alias) return row;
  const { from, to, ...own } = row;
  const aliased: Record<string, unknown> = own;
  for (const [path, field] of Object.entries(shape.alias)) {
    const [end, name = ""] = path.split(".");
    const value = ((end === "from" ? from : to) as Row | undefined)?.[name];
    if (value !== undefined) aliased[field] = value;
  }
  return aliased;
};

/** The row of a binding with the fields that conditions determine, by their names in a step's templates. */
export const rowOf = (catalog: Catalog, { shapes, known }: QueryStep, { row, values }: Binding): Row => {
  const shape = defined(catalog.shapesById[shapes[0] ?? ""], "shape");
  if (known.length === 0) return inShape(shape, row);
  const fixed: Record<string, unknown> = { ...row };
  for (const { path, slot } of known) {
    if (values[slot] === null) throw new EdgetableError("keys.wrongType", `"${path}" is in a key, and no key holds null. Give a value.`);
    const steps = path.split(".");
    let at = fixed;
    for (const step of steps.slice(0, -1)) at = at[step] = { ...(at[step] as Record<string, unknown> | undefined) };
    at[steps.at(-1)!] = values[slot];
  }
  return inShape(shape, fixed);
};

/** The attributes that identify an item, and those of the selected fields. */
const selectedAttributes = (
  catalog: Catalog,
  { shapes, select = [] }: Pick<QueryStep | GetStep, "shapes" | "select">,
  read?: Index,
): Set<string> => {
  const selected = new Set(tableAndIndexKeys(catalog, read));
  if (catalog.typeAttribute !== undefined) selected.add(catalog.typeAttribute);
  for (const id of shapes) {
    const shape = defined(catalog.shapesById[id], id);
    for (const mark of kindMarks(catalog, shape)) if (mark.kind !== "match") selected.add(mark.attribute);
    for (const { attribute } of shape.match) selected.add(attribute);
    for (const { attribute } of [...shape.sources, ...shape.spares]) selected.add(attribute);
    // If an edge is part of its node's item, its far end is one of the node's fields.
    for (const field of [...Object.values(shape.alias ?? {}), ...Object.keys(shape.folded), ...select]) {
      for (const attribute of placesOf(shape, field)) selected.add(attribute);
    }
  }
  return selected;
};

/** The attributes that a point read fetches; undefined for all. Items are checked in memory for their kind and expiry. */
export const projectionOf = (catalog: Catalog, step: GetStep): Projection | undefined => {
  if (!step.select) return undefined;
  const selected = selectedAttributes(catalog, step);
  if (catalog.ttl !== undefined) selected.add(catalog.ttl);
  for (const id of step.shapes) {
    const shape = defined(catalog.shapesById[id], id);
    // If an item lacks the key that contains a field, a copy of the field is used.
    for (const field of step.select) if (shape.carried.includes(field) && !field.includes(".")) selected.add(shape.stored[field] ?? field);
  }
  const placeholders = new Placeholders();
  const ProjectionExpression = [...selected].map((attribute) => placeholders.name(attribute)).join(", ");
  return { ProjectionExpression, ...placeholders.fields };
};

/** The attributes to fetch of the nodes at the ends of edges; undefined for all. */
export const hydratedProjection = (catalog: Catalog, { nodes, select }: HydrateStep): Projection | undefined =>
  projectionOf(catalog, { kind: "get", shapes: nodes, many: true, consistent: false, select });

const indexOf = (catalog: Catalog, step: QueryStep): Index | undefined => catalog.indexes.find(({ name }) => name === step.index);

/** What the index of a step projects; undefined for everything. */
const projectedBy = (catalog: Catalog, step: QueryStep): ReadonlySet<string> | undefined => {
  const index = indexOf(catalog, step);
  return index && projectedAttributes(catalog, index);
};

/** The attributes to read; undefined for all. */
const readAttributes = (catalog: Catalog, step: QueryStep): readonly string[] | undefined => {
  if (step.counts || (!step.attributes && !step.select)) return undefined;
  const asked = step.attributes ?? [...selectedAttributes(catalog, step, indexOf(catalog, step))];
  // A Query of a global index may only select projected attributes (API_Query, Select).
  const projected = projectedBy(catalog, step);
  return projected ? asked.filter((attribute) => projected.has(attribute)) : asked;
};

/** The range of sort keys of a step's items; undefined for the whole partition. */
const rangeOf = ({ sort, sortKey }: QueryStep, row: Row, values: readonly unknown[], filters?: Filters): KeyRange | undefined => {
  if (!sort || sortKey === undefined) return undefined;
  if (sort.kind === "range") return defined(filters, "filters").keyRange(sort, row, values);
  const text = defined(renderTemplate(sort.template, row), "sort key");
  if (sort.kind === "span") return { kind: "between", low: text, high: after(defined(renderTemplate(sort.last, row), "sort key")) };
  return sort.kind === "prefix" ? { kind: "prefix", text } : { kind: "equals", text };
};

/** An empty lower bound is left out: DynamoDB does not accept an empty value in a key condition, and every key is greater. */
const withoutEmpty = (range: KeyRange | undefined): KeyRange | undefined => {
  if (range?.kind === "between" && range.low === "") return { kind: "atMost", high: range.high };
  const low = range?.kind === "prefix" ? range.text : range?.kind === "atLeast" ? range.low : undefined;
  return low === "" ? undefined : range;
};

/** A Query with the values of a call. Its pages differ in their start and their number of items. */
export interface BoundQuery {
  /** The input that all its pages have in common. */
  readonly input: QueryInput;
  readonly forward: boolean;
  /** The sort keys that it reads; undefined for all. */
  readonly range: KeyRange | undefined;
  /** The part of its key condition that names the partition. */
  readonly isPartition: string;
  /** True if the range is empty: there is nothing to read, and DynamoDB would refuse to. */
  readonly isEmpty: boolean;
}

/** What a Query is bound to. */
export interface QueryTarget {
  readonly binding: Binding;
  /** Seconds since 1970: items that expire earlier are left out. Undefined to return expired items. */
  readonly livingAt: number | undefined;
  /** One of the step's partitions; by default the only one. */
  readonly partition?: string | undefined;
  /** For a step with conditions. */
  readonly filters?: Filters | undefined;
}

/** The condition that further key attributes have the values of a row; empty if there are none. */
const equalities = ({ equal = [] }: QueryStep, row: Row, names: Record<string, string>, values: Record<string, AttributeValue>): string =>
  equal
    .map(({ attribute, template }, at) => {
      values[`:p${at}`] = keyValue(template.type, defined(renderTemplate(template, row), "key"));
      return ` AND ${nameIn(names, attribute, `#p${at}`)} = :p${at}`;
    })
    .join("");

/** Fills the expressions of a step with a call's values, once for all pages. */
export const bindQuery = (catalog: Catalog, step: QueryStep, { binding, livingAt, partition, filters }: QueryTarget): BoundQuery => {
  const row = rowOf(catalog, step, binding);
  const names: Record<string, string> = {};
  const partitionText = partition ?? defined(renderTemplate(step.partition, row), "partition key");
  const values: Record<string, AttributeValue> = { ":p": keyValue(step.partition.type, partitionText) };
  const isPartition = `${nameIn(names, step.partitionKey, "#p")} = :p${equalities(step, row, names, values)}`;
  const range = withoutEmpty(rangeOf(step, row, binding.values, filters));
  const sort = step.sortKey !== undefined && range ? nameIn(names, step.sortKey, "#s") : "";
  const type = step.sort?.template.type ?? "S";
  let keyCondition = isPartition;
  const isEmpty = range?.kind === "between" ? comparePrimary(range.low, range.high) > 0 : range?.kind === "atMost" && range.high === "";
  switch (range?.kind) {
    case undefined:
      break;
    case "equals":
    case "prefix":
      values[":s"] = keyValue(type, range.text);
      keyCondition += range.kind === "equals" ? ` AND ${sort} = :s` : ` AND begins_with(${sort}, :s)`;
      break;
    case "between":
      values[":s"] = keyValue(type, range.low);
      values[":t"] = keyValue(type, range.high);
      keyCondition += ` AND ${sort} BETWEEN :s AND :t`;
      break;
    case "atLeast":
      values[":s"] = keyValue(type, range.low);
      keyCondition += ` AND ${sort} >= :s`;
      break;
    case "atMost":
      values[":s"] = keyValue(type, range.high);
      keyCondition += ` AND ${sort} <= :s`;
  }
  const placeholders = new Placeholders();
  let filter = "";
  if (step.filter.length > 0) {
    const shape = defined(catalog.shapesById[step.shapes[0] ?? ""], "shape");
    const conditions = { conditions: step.filter, values: binding.values };
    filter = defined(filters, "filters").conditionExpression(shape, conditions, placeholders) ?? "";
  }
  const { ttl } = catalog;
  // An item without the attribute, or with a value that is not a number, never expires.
  const mayHaveExpired = livingAt !== undefined && step.shapes.some((id) => mayExpire(catalog, catalog.shapesById[id]!));
  // DynamoDB refuses a filter by an attribute that a global index does not project.
  if (mayHaveExpired && ttl !== undefined && projectedBy(catalog, step)?.has(ttl) !== false) {
    values[NOW] = { N: String(livingAt) };
    filter += `${filter && " AND "}NOT (${nameIn(names, ttl, "#ttl")} < ${NOW})`;
  }
  const selected = readAttributes(catalog, step)?.map((attribute) => placeholders.name(attribute));
  const { ExpressionAttributeNames, ExpressionAttributeValues } = placeholders.fields;
  const input: QueryInput = {
    TableName: catalog.table,
    ...(step.index === undefined ? {} : { IndexName: step.index }),
    KeyConditionExpression: keyCondition,
    ...(filter === "" ? {} : { FilterExpression: filter }),
    ...(selected === undefined ? {} : { ProjectionExpression: selected.join(", ") }),
    ...namesOf(Object.assign(names, ExpressionAttributeNames)),
    ExpressionAttributeValues: Object.assign(values, ExpressionAttributeValues),
    ...(step.counts ? { Select: "COUNT" as const } : {}),
    ...(step.consistent ? { ConsistentRead: true } : {}),
    ReturnConsumedCapacity: "TOTAL",
  };
  return { input, forward: step.forward, range, isPartition, isEmpty };
};

/** Which page of a Query. */
export interface QueryPage {
  readonly limit: number | undefined;
  readonly start: Key | undefined;
  /** True to read from the other end: pages backwards. */
  readonly backward: boolean;
  /** A narrower key condition, where an earlier page ended in another partition. */
  readonly narrowed?: Partial<QueryInput> | undefined;
}

/** The largest integer of DynamoDB's parameters: 32 bits. */
const MOST_ITEMS = 2 ** 31 - 1;

/** The input of one page; undefined if the page must be empty. */
export const pageInput = ({ input, forward, isEmpty }: BoundQuery, page: QueryPage): QueryInput | undefined => {
  if (isEmpty) return undefined;
  const { limit, start, backward, narrowed } = page;
  return {
    ...input,
    ...narrowed,
    ...(forward === backward ? { ScanIndexForward: false } : {}),
    ...(limit === undefined ? {} : { Limit: Math.min(limit, MOST_ITEMS) }),
    ...(start === undefined ? {} : { ExclusiveStartKey: start }),
  };
};

/** A requested row, and the key of its item. */
export interface AskedKey {
  readonly row: Row;
  readonly key: Key;
}

/** True unless an edge's row names other node types at its ends than a shape has. */
export const isBetween = (shape: Shape, row: Row): boolean =>
  (["from", "to"] as const).every((end) => ((row[end] as Row | undefined)?.["type"] ?? shape[end]) === shape[end]);

/** The keys of a step's rows. For an edge between several node types, they depend on the types of its ends. */
export const askedKeys = (catalog: Catalog, step: GetStep, rows: readonly Row[]): readonly AskedKey[] => {
  const asked: AskedKey[] = [];
  for (const row of rows) {
    for (const id of step.shapes) {
      const shape = defined(catalog.shapesById[id], id);
      if (isBetween(shape, row)) asked.push({ row, key: keyOf(catalog, shape, inShape(shape, row)) });
    }
  }
  return asked;
};

/** The keys to read, each once. */
export const distinctKeys = (asked: readonly AskedKey[]): readonly Key[] =>
  asked.length === 1 ? asked.map(({ key }) => key) : [...new Map(asked.map(({ key }) => [keyId(key), key])).values()];

/** A GetItem of one key. */
export const encodeGet = (
  catalog: Catalog,
  key: Key,
  { consistent }: Pick<GetStep, "consistent">,
  projection?: Projection,
): GetItemInput => {
  const whole: GetItemInput = consistent
    ? { TableName: catalog.table, Key: key, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" }
    : { TableName: catalog.table, Key: key, ReturnConsumedCapacity: "TOTAL" };
  return projection ? { ...projection, ...whole } : whole;
};

/** A BatchGetItem of up to 100 keys. */
export const encodeBatchGet = (table: string, keys: readonly Key[], consistent: boolean, projection?: Projection): BatchGetItemInput => ({
  RequestItems: { [table]: { Keys: keys, ...(consistent ? { ConsistentRead: true } : {}), ...projection } },
  ReturnConsumedCapacity: "TOTAL",
});
