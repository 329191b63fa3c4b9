import { EdgetableError } from "../errors/edgetable-error.ts";
import type { GetStep, QueryStep } from "../ir/physical-plan.ts";
import { keyId, type ReadNeed } from "../ir/write-plan.ts";
import { comparePrimary, renderTemplate } from "../keys/template.ts";
import { type Catalog, projectedAttributes, tableAndIndexKeys, type Index, type Shape } from "../schema/catalog.ts";
import type { AttributeValue, BatchGetItemInput, GetItemInput, Item, Key, QueryInput, ScanInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { keyTextOf, keyValue } from "./attribute-value.ts";
import { conditionExpression } from "./condition-expression.ts";
import { attributeOf, keyOf } from "./encode-item.ts";
import { keyRange } from "./key-range.ts";
import { nameIn, namesOf, Placeholders } from "./placeholders.ts";

/** The placeholder of the time before which items have expired. */
export const NOW = ":now";

const expires = (catalog: Catalog, { shapes }: QueryStep): boolean => shapes.some((id) => catalog.shapesById[id]?.ttl !== undefined);

/**
 * The filter that leaves expired items out of a Query; undefined where nothing in it expires. An item without the
 * attribute, or with another type than a number in it, never expires.
 *
 * @param livingAt seconds since 1970; undefined to show expired items
 */
const livingFilter = (
  catalog: Catalog,
  step: QueryStep,
  at: { readonly names: Record<string, string>; readonly values: Record<string, AttributeValue>; readonly livingAt: number | undefined },
): string | undefined => {
  if (at.livingAt === undefined || catalog.ttl === undefined || !expires(catalog, step)) return undefined;
  at.values[NOW] = { N: String(at.livingAt) };
  return `NOT (${nameIn(at.names, catalog.ttl, "#ttl")} < ${NOW})`;
};

/** Whether an item has expired, though DynamoDB has not removed it yet. */
export const isExpired = ({ ttl }: Pick<Catalog, "ttl">, item: Item, livingAt: number | undefined): boolean => {
  const value = livingAt === undefined || ttl === undefined ? undefined : item[ttl];
  return value !== undefined && livingAt !== undefined && "N" in value && Number(value.N) < livingAt;
};

/** The values of one call that a plan's slots and templates are filled from. */
export interface Binding {
  /** The anchor: an edge's row with the known end, or a node's or part's row with its id. */
  readonly row: Row;
  readonly values: readonly unknown[];
}

/** Which page of a Query, for which call. */
export interface PageRequest {
  readonly binding: Binding;
  readonly limit: number | undefined;
  readonly start: Key | undefined;
  /** True to read from the other end: pages backwards. */
  readonly backward: boolean;
  /** Seconds since 1970: what expires earlier is left out. Undefined to show expired items. */
  readonly livingAt: number | undefined;
}

const withKnown = (step: QueryStep, binding: Binding): Row => {
  if (step.known.length === 0) return binding.row;
  const row: Record<string, unknown> = { ...binding.row };
  for (const { path, slot } of step.known) {
    if (binding.values[slot] === null)
      throw new EdgetableError("keys.wrongType", `"${path}" is in a key, and no key holds null. Give a value.`);
    const dot = path.indexOf(".");
    if (dot < 0) row[path] = binding.values[slot];
    else row[path.slice(0, dot)] = { ...(row[path.slice(0, dot)] as object), [path.slice(dot + 1)]: binding.values[slot] };
  }
  return row;
};

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

/** The row of a binding as a step's templates name its fields. */
export const rowOf = (catalog: Catalog, step: QueryStep, binding: Binding): Row =>
  inShape(defined(catalog.shapesById[step.shapes[0] ?? ""], "shape"), withKnown(step, binding));

const sortExpression = (
  step: QueryStep,
  row: Row,
  placeholders: { readonly name: string; readonly values: Record<string, AttributeValue>; readonly all: readonly unknown[] },
): string => {
  const { sort } = step;
  const { name, values } = placeholders;
  if (!sort) return "";
  const { type } = sort.template;
  if (sort.kind !== "range") {
    values[":s"] = keyValue(type, defined(renderTemplate(sort.template, row), "sort key"));
    return sort.kind === "equals" ? ` AND ${name} = :s` : ` AND begins_with(${name}, :s)`;
  }
  const range = keyRange(sort, row, placeholders.all);
  switch (range.kind) {
    case "prefix":
      values[":s"] = keyValue(type, range.text);
      return ` AND begins_with(${name}, :s)`;
    case "between":
      values[":s"] = keyValue(type, range.low);
      values[":t"] = keyValue(type, range.high);
      return ` AND ${name} BETWEEN :s AND :t`;
    case "atLeast":
      values[":s"] = keyValue(type, range.low);
      return ` AND ${name} >= :s`;
    case "atMost":
      values[":s"] = keyValue(type, range.high);
      return ` AND ${name} <= :s`;
  }
};

/** Whether bounds contradict each other: then there is nothing to read, and DynamoDB would refuse to. */
export const isEmptyRange = (input: QueryInput): boolean => {
  const low = keyTextOf(input.ExpressionAttributeValues?.[":s"]);
  const high = keyTextOf(input.ExpressionAttributeValues?.[":t"]);
  return low !== undefined && high !== undefined && comparePrimary(low, high) > 0;
};

const selectedAttributes = (catalog: Catalog, step: QueryStep, read: Index | undefined): readonly string[] => {
  const attributes = new Set(tableAndIndexKeys(catalog, read));
  if (catalog.typeAttribute !== undefined) attributes.add(catalog.typeAttribute);
  for (const id of step.shapes) {
    const shape = defined(catalog.shapesById[id], id);
    for (const { attribute } of [...shape.sources, ...(read ? shape.spares : [])]) attributes.add(attribute);
    // The far end of an edge that lies in its node's own item is one of that node's fields.
    for (const field of [...Object.values(shape.alias ?? {}), ...(step.select ?? [])]) {
      const attribute = attributeOf(shape, field);
      if (attribute !== undefined) attributes.add(attribute);
    }
  }
  return [...attributes];
};

const projected = (catalog: Catalog, step: QueryStep): readonly string[] | undefined => {
  if (!step.attributes && !step.select) return undefined;
  const read = catalog.indexes.find(({ name }) => name === step.index);
  const asked = step.attributes ?? selectedAttributes(catalog, step, read);
  // Of a global index only what is projected may be asked for (API_Query, Select): naming anything else is refused.
  const held = read && projectedAttributes(catalog, read);
  return held ? asked.filter((attribute) => held.has(attribute)) : asked;
};

/** The Query of a step: the same step and binding always give the same input. */
export const encodeQuery = (catalog: Catalog, step: QueryStep, page: PageRequest): QueryInput => {
  const { binding } = page;
  const shape = defined(catalog.shapesById[step.shapes[0] ?? ""], "shape");
  const row = inShape(shape, withKnown(step, binding));
  const names: Record<string, string> = {};
  const values: Record<string, AttributeValue> = {
    ":p": keyValue(step.partition.type, defined(renderTemplate(step.partition, row), "partition key")),
  };
  let keyCondition = `${nameIn(names, step.partitionKey, "#p")} = :p`;
  if (step.sort && step.sortKey !== undefined)
    keyCondition += sortExpression(step, row, { name: nameIn(names, step.sortKey, "#s"), values, all: binding.values });
  const placeholders = new Placeholders();
  const filter =
    step.filter.length > 0 ? conditionExpression(shape, { conditions: step.filter, values: binding.values }, placeholders) : undefined;
  const living = livingFilter(catalog, step, { names, values, livingAt: page.livingAt });
  const filters = [filter, living].filter((one) => one !== undefined).join(" AND ");
  const selected = step.counts
    ? undefined
    : projected(catalog, step)
        ?.map((attribute) => placeholders.name(attribute))
        .join(", ");
  return {
    TableName: catalog.table,
    ...(step.index === undefined ? {} : { IndexName: step.index }),
    KeyConditionExpression: keyCondition,
    ...(filters === "" ? {} : { FilterExpression: filters }),
    ...(selected === undefined ? {} : { ProjectionExpression: selected }),
    ...namesOf(Object.assign(names, placeholders.fields.ExpressionAttributeNames)),
    ExpressionAttributeValues: Object.assign(values, placeholders.fields.ExpressionAttributeValues),
    ...(step.counts ? { Select: "COUNT" as const } : {}),
    ...(step.consistent ? { ConsistentRead: true } : {}),
    ...(step.forward === page.backward ? { ScanIndexForward: false } : {}),
    ...(page.limit === undefined ? {} : { Limit: page.limit }),
    ...(page.start === undefined ? {} : { ExclusiveStartKey: page.start }),
    ReturnConsumedCapacity: "TOTAL",
  };
};

/** A row that is asked for, and where it would be. */
export interface AskedKey {
  readonly row: Row;
  readonly key: Key;
}

const isOfEnds = (shape: Shape, row: Row): boolean => {
  const type = (end: unknown): unknown => (end as Row | undefined)?.["type"];
  return (type(row["from"]) ?? shape.from) === shape.from && (type(row["to"]) ?? shape.to) === shape.to;
};

/** Where the rows of a step would be: of an edge between several node types, by the types that its ends say. */
export const askedKeys = (catalog: Catalog, step: GetStep, rows: readonly Row[]): readonly AskedKey[] => {
  const shapes = step.shapes.map((id) => defined(catalog.shapesById[id], id));
  return rows.flatMap((row) =>
    shapes.filter((shape) => isOfEnds(shape, row)).map((shape) => ({ row, key: keyOf(catalog, shape, inShape(shape, row)) })),
  );
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

// A page of a megabyte would be cheaper by nothing: a position is then no further back than this.
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
