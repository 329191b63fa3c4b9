import { EdgetableError } from "../errors/edgetable-error.ts";
import type { GetStep, QueryStep } from "../ir/physical-plan.ts";
import { keyId, type ReadNeed } from "../ir/write-plan.ts";
import { comparePrimary, keyBytes, renderPartitions, renderTemplate, type Partition } from "../keys/template.ts";
import { projectedAttributes, tableAndIndexKeys, type Catalog, type Index, type Shape } from "../schema/catalog.ts";
import type { AttributeValue, BatchGetItemInput, GetItemInput, Item, Key, QueryInput, ScanInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { keyValue } from "./attribute-value.ts";
import { after, conditionExpression, keyRange, type KeyRange, nameIn, namesOf, Placeholders } from "./expression.ts";
import { attributeOf, keyOf } from "./encode-item.ts";

/** The placeholder of the time before which items have expired. */
const NOW = ":now";

/** True if an item has expired, though DynamoDB has not removed it yet. */
export const isExpired = ({ ttl }: Pick<Catalog, "ttl">, item: Item, livingAt: number | undefined): boolean => {
  const value = livingAt === undefined || ttl === undefined ? undefined : item[ttl];
  return value !== undefined && livingAt !== undefined && "N" in value && Number(value.N) < livingAt;
};

/** The values of one call that fill a plan's slots and templates. */
export interface Binding {
  /** The anchor: an edge's row with the known end, or a node's or part's row with its id. */
  readonly row: Row;
  readonly values: readonly unknown[];
}

/** An edge's row as the shape's templates name its fields: a reference edge is a row of its source node. */
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

/** The row of a binding, with the fields that conditions fix, as a step's templates name them. */
const rowOf = (catalog: Catalog, { shapes, known }: QueryStep, { row, values }: Binding): Row => {
  const shape = defined(catalog.shapesById[shapes[0] ?? ""], "shape");
  if (known.length === 0) return inShape(shape, row);
  const fixed: Record<string, unknown> = { ...row };
  for (const { path, slot } of known) {
    if (values[slot] === null) throw new EdgetableError("keys.wrongType", `"${path}" is in a key, and no key holds null. Give a value.`);
    const dot = path.indexOf(".");
    if (dot < 0) fixed[path] = values[slot];
    else fixed[path.slice(0, dot)] = { ...(fixed[path.slice(0, dot)] as object), [path.slice(dot + 1)]: values[slot] };
  }
  return inShape(shape, fixed);
};

const without = (row: Row, path: string): Row => {
  const [field = "", ...rest] = path.split(".");
  const value = row[field];
  if (rest.length === 0 || typeof value !== "object" || value === null) return { ...row, [field]: undefined };
  return { ...row, [field]: without(value as Row, rest.join(".")) };
};

/** The partitions of a step, in their order: one, unless its items are spread over shards. */
export const partitionsOf = (catalog: Catalog, step: QueryStep, binding: Binding): readonly Partition[] => {
  let row = rowOf(catalog, step, binding);
  // The anchor of an edge is at both ends of the row, also at the one that the plan does not know.
  for (const path of step.scatter?.unknown ?? []) row = without(row, path);
  return defined(renderPartitions(step.partition, row), "partition key");
};

/** How many rows each of several partitions is asked for: its share and two deviations more, so that most pages need one round. */
export const shareOf = (rows: number, partitions: number): number => {
  const mean = rows / partitions;
  return partitions === 1 ? rows : Math.ceil(mean + 2 * Math.sqrt(mean)) + 1;
};

/** The attributes to read; undefined for all. */
const projected = (catalog: Catalog, step: QueryStep): readonly string[] | undefined => {
  if (step.counts || (!step.attributes && !step.select)) return undefined;
  const read = catalog.indexes.find(({ name }) => name === step.index);
  let asked = step.attributes;
  if (!asked) {
    const selected = new Set(tableAndIndexKeys(catalog, read));
    if (catalog.typeAttribute !== undefined) selected.add(catalog.typeAttribute);
    for (const id of step.shapes) {
      const shape = defined(catalog.shapesById[id], id);
      for (const { attribute } of [...shape.sources, ...(read ? shape.spares : [])]) selected.add(attribute);
      // The far end of an edge that is part of its node's own item is one of that node's fields.
      for (const field of [...Object.values(shape.alias ?? {}), ...(step.select ?? [])]) {
        const attribute = attributeOf(shape, field);
        if (attribute !== undefined) selected.add(attribute);
      }
    }
    asked = [...selected];
  }
  // A global index may only be asked for what it projects (API_Query, Select).
  const held = read && projectedAttributes(catalog, read);
  return held ? asked.filter((attribute) => held.has(attribute)) : asked;
};

/** The sort keys in which a step's items lie; undefined for all of the partition. */
const rangeOf = ({ sort, sortKey }: QueryStep, row: Row, values: readonly unknown[]): KeyRange | undefined => {
  if (!sort || sortKey === undefined) return undefined;
  if (sort.kind === "range") return keyRange(sort, row, values);
  const text = defined(renderTemplate(sort.template, row), "sort key");
  return sort.kind === "prefix" ? { kind: "prefix", text } : { kind: "equals", text };
};

/** Inclusive bounds of a sort key. */
export interface Bounds {
  readonly low?: string | undefined;
  readonly high?: string | undefined;
}

const boundsOf = (range: KeyRange | undefined): Bounds => {
  switch (range?.kind) {
    case undefined:
      return {};
    case "equals":
      return { low: range.text, high: range.text };
    case "prefix":
      return { low: range.text, high: after(range.text) };
    case "between":
      return range;
    case "atLeast":
      return { low: range.low };
    case "atMost":
      return { high: range.high };
  }
};

/** A Query with a call's values in it. Its pages differ in where they start and how many items they take. */
export interface BoundQuery {
  /** What all its pages have in common. */
  readonly input: QueryInput;
  readonly forward: boolean;
  /** What every sort key begins with, which the bounds of a page may be a little wider than. */
  readonly prefix: string;
  /** True if the range is empty: there is nothing to read, and DynamoDB would refuse to. */
  readonly isEmpty: boolean;
  /** The key condition in other bounds; undefined if they are empty. */
  readonly within: (bounds: Bounds) => Partial<QueryInput> | undefined;
}

/** What a Query is bound to. */
export interface QueryTarget {
  readonly binding: Binding;
  /** Seconds since 1970: what expires earlier is left out. Undefined to show expired items. */
  readonly livingAt: number | undefined;
  /** One of the step's partitions; by default the only one. */
  readonly partition?: string | undefined;
}

/** Fills the expressions of a step with a call's values, once for all pages. */
export const bindQuery = (catalog: Catalog, step: QueryStep, { binding, livingAt, partition }: QueryTarget): BoundQuery => {
  const row = rowOf(catalog, step, binding);
  const names: Record<string, string> = {};
  const isPartition = `${nameIn(names, step.partitionKey, "#p")} = :p`;
  const partitionText = partition ?? defined(renderTemplate(step.partition, row), "partition key");
  const values: Record<string, AttributeValue> = { ":p": keyValue(step.partition.type, partitionText) };
  const range = rangeOf(step, row, binding.values);
  const sort = step.sortKey !== undefined && range ? nameIn(names, step.sortKey, "#s") : "";
  const type = step.sort?.template.type ?? "S";
  let keyCondition = isPartition;
  const isEmpty = range?.kind === "between" && comparePrimary(range.low, range.high) > 0;
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
    filter = conditionExpression(shape, { conditions: step.filter, values: binding.values }, placeholders) ?? "";
  }
  // An item without the attribute, or with a value that is not a number, never expires.
  if (livingAt !== undefined && catalog.ttl !== undefined && step.shapes.some((id) => catalog.shapesById[id]?.ttl !== undefined)) {
    values[NOW] = { N: String(livingAt) };
    filter += `${filter && " AND "}NOT (${nameIn(names, catalog.ttl, "#ttl")} < ${NOW})`;
  }
  const selected = projected(catalog, step)?.map((attribute) => placeholders.name(attribute));
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
  const prefix = range?.kind === "prefix" ? range.text : "";
  const within: BoundQuery["within"] = (bounds) => {
    const all = boundsOf(range);
    let { low, high } = all;
    if (low === undefined || (bounds.low !== undefined && comparePrimary(bounds.low, low) > 0)) low = bounds.low;
    if (high === undefined || (bounds.high !== undefined && comparePrimary(bounds.high, high) < 0)) high = bounds.high;
    if (low !== undefined && high !== undefined && comparePrimary(low, high) > 0) return undefined;
    const narrowedNames = { ...names };
    const name = nameIn(narrowedNames, defined(step.sortKey, "sort key"), "#s");
    const sortType = catalog.layout.types?.[step.sortKey ?? ""] ?? "S";
    const { ":s": _low, ":t": _high, ...rest } = input.ExpressionAttributeValues ?? {};
    const compared = low === undefined ? `${name} <= :t` : high === undefined ? `${name} >= :s` : `${name} BETWEEN :s AND :t`;
    return {
      KeyConditionExpression: `${isPartition} AND ${compared}`,
      ...namesOf(narrowedNames),
      ExpressionAttributeValues: {
        ...rest,
        ...(low === undefined ? {} : { ":s": keyValue(sortType, low) }),
        ...(high === undefined ? {} : { ":t": keyValue(sortType, high) }),
      },
    };
  };
  return { input, forward: step.forward, prefix, isEmpty, within };
};

/** Which page of a Query. */
export interface QueryPage {
  readonly limit: number | undefined;
  readonly start: Key | undefined;
  /** True to read from the other end: pages backwards. */
  readonly backward: boolean;
  /** What is left of the range where an earlier page ended in another partition. */
  readonly bounds?: Bounds | undefined;
}

/** The input of one page; undefined if nothing can be there. */
export const pageInput = ({ input, forward, isEmpty, within }: BoundQuery, page: QueryPage): QueryInput | undefined => {
  if (isEmpty) return undefined;
  const { limit, start, backward, bounds } = page;
  const isNarrowed = bounds !== undefined && (bounds.low !== undefined || bounds.high !== undefined);
  const narrowed = isNarrowed ? within(bounds) : undefined;
  if (isNarrowed && !narrowed) return undefined;
  return {
    ...input,
    ...narrowed,
    ...(forward === backward ? { ScanIndexForward: false } : {}),
    ...(limit === undefined ? {} : { Limit: limit }),
    ...(start === undefined ? {} : { ExclusiveStartKey: start }),
  };
};

// "Sort key length 1 to 1024 bytes", ServiceQuotas.
const SORT_KEY_BYTES = 1024;

/** The least text above another, if a key has room for it; else that text itself. */
export const above = (text: string): string => (keyBytes(text) < SORT_KEY_BYTES ? `${text}\u0000` : text);

/** A page of one node's edges. */
export interface HopPage extends Omit<QueryPage, "backward" | "bounds"> {
  /** One of the node's partitions, where its edges are spread over shards. */
  readonly partition: string | undefined;
  readonly livingAt: number | undefined;
}

/** The Queries of the edges of one node after another. */
export interface HopQuery {
  /** Undefined if nothing can be in the range. */
  readonly encode: (id: Row, page: HopPage) => QueryInput | undefined;
  /** The partitions over which a node's edges are spread; undefined if they are in one. */
  readonly partitions: ((id: Row) => readonly string[]) | undefined;
}

/** True if a Query is the same for every node but for the partition's value. */
const isConstant = (catalog: Catalog, step: QueryStep, near: "from" | "to"): boolean => {
  if (step.shapes.some((id) => catalog.shapesById[id]?.alias)) return false;
  const fields = step.sort?.kind === "range" ? [...step.sort.template.fields, step.sort.path] : (step.sort?.template.fields ?? []);
  return !fields.some((field) => field.startsWith(`${near}.`)) && !step.known.some(({ path }) => path.startsWith(`${near}.`));
};

/**
 * A hop asks the same of every node: the Query is bound once, and only the partition's value changes.
 *
 * @param near the end of the edges at which the nodes stand
 */
export const hopQuery = (
  catalog: Catalog,
  step: QueryStep,
  { near, values }: { readonly near: "from" | "to"; readonly values: readonly unknown[] },
): HopQuery => {
  const whole: HopQuery["encode"] = (id, { partition, livingAt, limit, start }) => {
    const query = bindQuery(catalog, step, { binding: { row: { from: id, to: id }, values }, livingAt, partition });
    return pageInput(query, { limit, start, backward: false });
  };
  if (step.scatter) {
    const partitions = (id: Row): readonly string[] =>
      partitionsOf(catalog, step, { row: { from: id, to: id }, values }).map(({ text }) => text);
    return { encode: whole, partitions };
  }
  if (!isConstant(catalog, step, near)) return { encode: whole, partitions: undefined };
  let first: { readonly input: QueryInput | undefined; readonly hides: boolean } | undefined;
  const encode: HopQuery["encode"] = (id, { livingAt, limit, start }) => {
    const hides = livingAt !== undefined;
    if (first?.hides !== hides) first = { input: whole(id, { partition: undefined, limit: undefined, start: undefined, livingAt }), hides };
    const { input } = first;
    if (!input) return undefined;
    const partition = keyValue(step.partition.type, defined(renderTemplate(step.partition, { [near]: id }), "partition key"));
    const ExpressionAttributeValues: Record<string, AttributeValue> = { ...input.ExpressionAttributeValues, ":p": partition };
    if (hides && NOW in ExpressionAttributeValues) ExpressionAttributeValues[NOW] = { N: String(livingAt) };
    const asked = limit === undefined ? { ...input, ExpressionAttributeValues } : { Limit: limit, ...input, ExpressionAttributeValues };
    return start === undefined ? asked : { ExclusiveStartKey: start, ...asked };
  };
  return { encode, partitions: undefined };
};

/** A row that is asked for, and where it would be. */
export interface AskedKey {
  readonly row: Row;
  readonly key: Key;
}

/** Where the rows of a step would be: of an edge between several node types, by the types that its ends name. */
export const askedKeys = (catalog: Catalog, step: GetStep, rows: readonly Row[]): readonly AskedKey[] => {
  const asked: AskedKey[] = [];
  for (const row of rows) {
    for (const id of step.shapes) {
      const shape = defined(catalog.shapesById[id], id);
      const from = (row["from"] as Row | undefined)?.["type"] ?? shape.from;
      const to = (row["to"] as Row | undefined)?.["type"] ?? shape.to;
      if (from === shape.from && to === shape.to) asked.push({ row, key: keyOf(catalog, shape, inShape(shape, row)) });
    }
  }
  return asked;
};

/** The keys to ask for, each once. */
export const distinctKeys = (asked: readonly AskedKey[]): readonly Key[] =>
  asked.length === 1 ? asked.map(({ key }) => key) : [...new Map(asked.map(({ key }) => [keyId(key), key])).values()];

/** A GetItem of one key. */
export const encodeGet = (catalog: Catalog, key: Key, { consistent }: Pick<GetStep, "consistent">): GetItemInput =>
  consistent
    ? { TableName: catalog.table, Key: key, ConsistentRead: true, ReturnConsumedCapacity: "TOTAL" }
    : { TableName: catalog.table, Key: key, ReturnConsumedCapacity: "TOTAL" };

/** A BatchGetItem of up to 100 keys. */
export const encodeBatchGet = (table: string, keys: readonly Key[], consistent: boolean): BatchGetItemInput => ({
  RequestItems: { [table]: { Keys: keys, ...(consistent ? { ConsistentRead: true } : {}) } },
  ReturnConsumedCapacity: "TOTAL",
});

/** The strongly consistent Get of an item that a write depends on. */
export const encodeNeededGet = (catalog: Catalog, need: ReadNeed & { readonly kind: "get" }): GetItemInput => ({
  TableName: catalog.table,
  Key: need.key,
  ConsistentRead: true,
  ReturnConsumedCapacity: "TOTAL",
});

/** The strongly consistent Query for an item whose sort key is known only in part. */
export const encodeNeededQuery = (catalog: Catalog, need: ReadNeed & { readonly kind: "find" }): QueryInput => {
  const names = new Placeholders();
  const { partitionKey, sortKey = "" } = catalog.index;
  const partition = `${names.name(partitionKey)} = ${names.value(keyValue(need.shape.keys[partitionKey]!.type, need.partition))}`;
  const prefix = need.prefix === "" ? "" : ` AND begins_with(${names.name(sortKey)}, ${names.value({ S: need.prefix })})`;
  return {
    TableName: catalog.table,
    KeyConditionExpression: partition + prefix,
    ConsistentRead: true,
    ReturnConsumedCapacity: "TOTAL",
    ...names.fields,
  };
};

/** One page of one segment of a scan. */
export interface ScanPage {
  readonly segment: number;
  /** Segments of the whole scan, 1 to 1,000,000. */
  readonly segments: number;
  readonly start: Key | undefined;
  readonly consistent: boolean;
}

// Pages of a megabyte would cost the same: smaller ones keep a position close to the rows that were yielded.
const PAGE_ITEMS = 1000;

/** The Scan of one page. */
export const encodeScan = (table: string, { segment, segments, start, consistent }: ScanPage): ScanInput => ({
  TableName: table,
  Limit: PAGE_ITEMS,
  ...(consistent ? { ConsistentRead: true } : {}),
  ...(segments === 1 ? {} : { Segment: segment, TotalSegments: segments }),
  ...(start === undefined ? {} : { ExclusiveStartKey: start }),
  ReturnConsumedCapacity: "TOTAL",
});

/** A page of one partition of the table or of an index, in Edgetable's own bookkeeping. */
export interface PartitionPage {
  readonly index: Index;
  readonly partition: string;
  readonly start: Key | undefined;
  readonly limit?: number;
  /** @default false */
  readonly consistent?: boolean;
}

/** Reads a page of every item of a partition, whatever the model says of them. */
export const encodePartition = (table: string, { index, partition, start, limit, consistent }: PartitionPage): QueryInput => {
  const names = new Placeholders();
  return {
    TableName: table,
    ...(index.name === undefined ? {} : { IndexName: index.name }),
    KeyConditionExpression: `${names.name(index.partitionKey)} = ${names.value({ S: partition })}`,
    ...names.fields,
    ...(consistent ? { ConsistentRead: true } : {}),
    ...(limit === undefined ? {} : { Limit: limit }),
    ...(start ? { ExclusiveStartKey: start } : {}),
    ReturnConsumedCapacity: "TOTAL",
  };
};
