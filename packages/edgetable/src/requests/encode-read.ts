import { EdgetableError } from "../errors/edgetable-error.ts";
import { comparePrimary, renderTemplate } from "../keys/template.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { heldBy, keysBeside } from "../schema/held-by.ts";
import type { Index, Shape } from "../schema/shape.ts";
import type { AttributeValue, Key, QueryInput } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { conditionExpression } from "./condition-expression.ts";
import { attributeOf } from "./encode-item.ts";
import { keyTextOf, keyValue } from "./key-value.ts";
import { keyRange } from "./key-range.ts";
import { livingFilter } from "./living.ts";
import { nameIn, namesOf, Placeholders } from "./placeholders.ts";
import type { Row } from "../util/row.ts";

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
export const inShape = (shape: Shape, row: Row): Row => {
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
  const attributes = new Set(keysBeside(catalog, read));
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
  const held = read && heldBy(catalog, read);
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
