import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { type Condition, conditionForm, readWhere } from "../ir/condition.ts";
import type { ComparisonOperator } from "../schema/comparisons.ts";
import { comparePrimary, exactText, isWellFormed } from "../keys/template.ts";
import { attributesOf } from "../schema/facts.ts";
import { levelName } from "../schema/grid-parts.ts";
import { requiresValue } from "../schema/standard-schema.ts";
import { oneOf } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import type { FieldType } from "../client/field-types.ts";
import { type FieldList, fieldIn, liveFields, type StoredField } from "./field-list.ts";
import { type Bounds, boundsOf, checkValue, comparable, partOfDate, takes } from "./field-value.ts";
import { type GridModel, orderField } from "./grid-model.ts";

/** Where rows come that have no value to be sorted by. */
export type Empties = "last" | "first" | "without";

/** A column that rows are sorted by. */
export interface SortColumn {
  readonly column: string;
  readonly descending: boolean;
}

/** What a chain of builder calls asks of a grid. */
export interface GridState {
  readonly columns: readonly string[] | undefined;
  readonly sort: readonly SortColumn[];
  readonly where: readonly Row[];
  readonly empties: Empties;
  /** The column by whose values rows are counted. */
  readonly group?: string;
}

/** A column: an attribute of the rows, or a field. */
export type Column =
  | { readonly kind: "fixed"; readonly name: string }
  | { readonly kind: "field"; readonly name: string; readonly field: StoredField };

const FIELD = "field:";

/**
 * The column of a name.
 *
 * @throws {grid.unknownField} {grid.unknownColumn}
 */
export const columnNamed = ({ node }: GridModel, list: FieldList, name: unknown): Column => {
  const text = String(name);
  if (text.startsWith(FIELD)) return { kind: "field", name: text, field: fieldIn(list, text.slice(FIELD.length)) };
  const known = attributesOf(node.definition);
  if (known?.includes(text) !== false) return { kind: "fixed", name: text };
  const byName = liveFields(list).find((field) => field.name === text || field.fieldId === text);
  const mend = byName ? ` The field of that name is "${FIELD + byName.fieldId}".` : didYouMean(text, known);
  throw new EdgetableError(
    "grid.unknownColumn",
    `"${node.name}" has no column ${jsonText(name)}.${mend} Give an attribute, or "field:" and the id of a field.`,
    {
      details: { column: name },
    },
  );
};

const ORDERING: readonly ComparisonOperator[] = ["eq", "ne", "lt", "lte", "gt", "gte", "between", "in", "exists"];
const EQUALITY: readonly ComparisonOperator[] = ["eq", "ne", "in", "exists"];

/** The comparisons of each type of field. */
const COMPARISONS: Readonly<Record<FieldType, readonly ComparisonOperator[]>> = {
  text: [...ORDERING, "beginsWith", "contains"],
  number: ORDERING,
  date: [...ORDERING, "beginsWith"],
  boolean: EQUALITY,
  choice: EQUALITY,
  choices: ["eq", "ne", "contains", "exists"],
  reference: EQUALITY,
};

const operandOf = ({ driver: { catalog } }: GridModel, field: StoredField, operator: ComparisonOperator, operand: unknown): unknown => {
  const invalid = (value: unknown, expected: string): EdgetableError =>
    new EdgetableError(
      "grid.invalidFilter",
      `"${operator}" of the ${field.type} field "${field.name}" (${field.fieldId}) takes ${expected}, got ${jsonText(value)}.`,
      {
        details: { field: field.fieldId, type: field.type, operator, value },
      },
    );
  const one = (value: unknown): unknown => {
    if (field.type === "date" && operator !== "eq" && operator !== "ne" && operator !== "in") {
      const part = typeof value === "string" ? partOfDate(value) : undefined;
      if (part !== undefined) return part;
      throw invalid(value, 'the beginning of a day or a moment, such as "2023-05"');
    }
    if (field.type === "text" && typeof value === "string" && isWellFormed(value)) return comparable(field, value);
    try {
      return checkValue(catalog, field, value);
    } catch (error) {
      if (!isEdgetableError(error, "grid.invalidValue")) throw error;
      throw invalid(value, takes(field));
    }
  };
  switch (operator) {
    case "exists":
      return operand;
    case "between":
    case "in":
      return (operand as readonly unknown[]).map(one);
    case "contains": {
      if (field.type !== "choices") return one(operand);
      if (field.choices.includes(operand as string)) return operand;
      throw invalid(operand, "one of its choices");
    }
    default:
      return one(operand);
  }
};

/** A column that rows are sorted by, found. */
export interface OrderColumn extends SortColumn {
  readonly by: Column;
}

/** A condition on a column. */
export interface ColumnCondition {
  readonly column: Column;
  readonly condition: Condition;
}

/** A grid whose columns are known. */
export interface Resolved {
  readonly list: FieldList;
  /** The columns that are shown; undefined for all. */
  readonly columns: readonly Column[] | undefined;
  readonly sort: readonly OrderColumn[];
  /** What must hold of each row, for itself: conditions that an order can be narrowed by. */
  readonly conditions: readonly ColumnCondition[];
  /** All that must hold, with `or` and `not`. */
  readonly filters: readonly Condition[];
  /** The columns within `or` and `not`. */
  readonly alternatives: readonly Column[];
  readonly values: readonly unknown[];
  readonly empties: Empties;
  readonly group: Column | undefined;
}

type Filters = Pick<Resolved, "conditions" | "filters" | "alternatives" | "values">;

/** The conditions of a grid. */
const conditionsOf = (model: GridModel, list: FieldList, where: readonly Row[]): Filters => {
  const conditions: ColumnCondition[] = [];
  const filters: Condition[] = [];
  const alternatives: Column[] = [];
  const values: unknown[] = [];
  const check = (condition: Condition, isAlternative: boolean): void => {
    if (condition.of) {
      for (const one of condition.of.flat()) check(one, true);
      return;
    }
    const column = columnNamed(model, list, condition.path);
    if (isAlternative) alternatives.push(column);
    else conditions.push({ column, condition });
    if (column.kind === "fixed") return;
    const { field } = column;
    if (!(COMPARISONS[field.type] as readonly string[]).includes(condition.operator))
      throw new EdgetableError(
        "grid.invalidFilter",
        `The ${field.type} field "${field.name}" (${field.fieldId}) has no comparison "${condition.operator}". It has ${COMPARISONS[field.type].join(", ")}.`,
        { details: { field: field.fieldId, type: field.type, operator: condition.operator } },
      );
    refuseRetyping(field, "filter by");
    values[condition.slot] = operandOf(model, field, condition.operator as ComparisonOperator, values[condition.slot]);
  };
  for (const filter of where) {
    const read = readWhere(compareIds(model, list, filter), [], values.length, [model.node.shape]);
    values.push(...read.values);
    filters.push(...read.conditions);
    for (const condition of read.conditions) check(condition, false);
  }
  return { conditions, filters, alternatives, values };
};

/** A filter in which the id of a node is a value to compare with, and not a list of comparisons. */
const compareIds = (model: GridModel, list: FieldList, filter: Row): Row =>
  Object.fromEntries(
    Object.entries(filter).map(([name, value]) => {
      if (name === "or" && Array.isArray(value))
        return [name, value.map((one: unknown) => (isRow(one) ? compareIds(model, list, one) : one))];
      if (name === "not" && isRow(value)) return [name, compareIds(model, list, value)];
      if (name === "or" || name === "not") return [name, value];
      const column = columnNamed(model, list, name);
      const node = column.kind === "field" && column.field.type === "reference" ? column.field.node : "";
      const { idFields = [] } = model.driver.catalog.nodes[node] ?? {};
      const isId = typeof value === "object" && value !== null && idFields.some((field) => field in value);
      return [name, isId ? { eq: value } : value];
    }),
  );

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

const refuseRetyping = (field: StoredField, what: string): void => {
  if (field.state !== "converting") return;
  throw new EdgetableError(
    "grid.retyping",
    `The values of "${field.name}" (${field.fieldId}) are being converted to ${field.type}: ${what} another column, or try again when that is done.`,
    { retryable: true, details: { field: field.fieldId } },
  );
};

/** The fixed columns that rows can be sorted by. */
const sortableColumns = (model: GridModel): readonly string[] => {
  const order = orderField(model);
  return [...(order === undefined ? [] : [order]), ...(model.settings.sortable ?? []).map(levelName)];
};

const checkSort = (model: GridModel, list: FieldList, { column, descending }: SortColumn): OrderColumn => {
  const by = columnNamed(model, list, column);
  if (by.kind === "field") refuseRetyping(by.field, "sort by");
  else if (!sortableColumns(model).includes(by.name)) {
    const known = sortableColumns(model);
    throw new EdgetableError(
      "grid.notSortable",
      `No index orders "${model.node.name}" by "${by.name}". ${known.length === 0 ? "It is sorted by fields alone" : `It is sorted by ${known.map((one) => `"${one}"`).join(", ")} and by fields`}; declare others with fields: { sortable: ["${by.name}"] }.`,
      { details: { column: by.name, known } },
    );
  }
  return { column: by.name, descending, by };
};

/**
 * A grid with its columns found and its operands checked.
 *
 * @throws {grid.unknownField} {grid.unknownColumn} {grid.invalidFilter} {grid.notSortable} {grid.retyping}
 */
export const resolve = (model: GridModel, list: FieldList, { columns, sort, where, empties, group }: GridState): Resolved => {
  oneOf("place for empty values", empties, ["last", "first", "without"]);
  const groupColumn = group === undefined ? undefined : columnNamed(model, list, group);
  if (groupColumn?.kind === "field") refuseRetyping(groupColumn.field, "group by");
  return {
    list,
    columns: columns?.map((name) => columnNamed(model, list, name)),
    sort: sort.map((one) => checkSort(model, list, one)),
    ...conditionsOf(model, list, where),
    empties,
    group: groupColumn,
  };
};

/** The fields whose values decide whether a row is in the answer, and where. */
export const decidingFields = ({ sort, conditions, alternatives, group }: Resolved): readonly StoredField[] => {
  const fields = new Map<string, StoredField>();
  for (const column of [...sort.map(({ by }) => by), ...conditions.map((one) => one.column), ...alternatives, ...(group ? [group] : [])])
    if (column.kind === "field") fields.set(column.field.fieldId, column.field);
  return [...fields.values()];
};

/** The fields that are shown. */
export const shownFields = ({ list, columns }: Resolved): readonly StoredField[] =>
  columns?.flatMap((column) => (column.kind === "field" ? [column.field] : [])) ?? liveFields(list);

/** Where in a column the rows lie that pass all conditions on it; undefined where no row can. */
export const boundsIn = ({ driver: { catalog } }: GridModel, { conditions, values }: Resolved, field: StoredField): Bounds | undefined => {
  let [low, high] = [undefined as string | undefined, undefined as string | undefined];
  for (const { column, condition } of conditions) {
    if (column.kind !== "field" || column.field.fieldId !== field.fieldId) continue;
    if (condition.operator === "exists" && values[condition.slot] === false) return undefined;
    const bounds = boundsOf(catalog, field, condition.operator, values[condition.slot]);
    if (bounds?.low !== undefined && (low === undefined || comparePrimary(bounds.low, low) > 0)) low = bounds.low;
    if (bounds?.high !== undefined && (high === undefined || comparePrimary(bounds.high, high) < 0)) high = bounds.high;
  }
  if (low !== undefined && high !== undefined && comparePrimary(low, high) >= 0) return undefined;
  return { ...(low === undefined ? {} : { low }), ...(high === undefined ? {} : { high }) };
};

/** True if a row without a value of the column may pass the conditions on it. */
export const mayBeEmpty = ({ node }: GridModel, { conditions, values }: Resolved, column: Column): boolean => {
  const passes = conditions.every(
    (one) =>
      one.column.name !== column.name ||
      one.condition.operator === "ne" ||
      one.condition.nullable === true ||
      (one.condition.operator === "exists" && values[one.condition.slot] === false),
  );
  if (!passes || column.kind === "field") return passes;
  // No index holds null.
  return !requiresValue(node.definition.schema, column.name);
};

/** Names a query: its cursors are bound to it. */
export const queryName = ({ driver: { catalog }, node }: GridModel, resolved: Resolved): string => {
  const { list, sort, filters, values, empties } = resolved;
  const generations = decidingFields(resolved).map(({ generation }) => generation);
  const order = sort.map(({ column, descending }) => [column, descending]);
  return `${catalog.table}|grid|${node.name}|${exactText([Object.values(list.parent), order, conditionForm(filters), values, generations, empties])}`;
};
