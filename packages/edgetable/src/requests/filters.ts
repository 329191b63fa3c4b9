import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Condition, Conditions } from "../ir/condition.ts";
import type { ComparisonOperator } from "../schema/comparisons.ts";
import { compareValues, holds } from "../ir/holds.ts";
import type { SortCondition } from "../ir/physical-plan.ts";
import {
  ALPHABETS,
  comparePrimary,
  encodeKeyField,
  encodeKeyPrefix,
  type FieldFormat,
  type FieldPart,
  isOneWay,
  keepsOrder,
  renderTemplate,
  type Template,
} from "../keys/template.ts";
import { type Shape, sourcesOf } from "../schema/catalog.ts";
import type { AttributeValue } from "../transport/operations.ts";
import { isNumber, type Row } from "../util/row.ts";
import { encodeValue, keyValue } from "./attribute-value.ts";
import { attributeOf, encodeField } from "./encode-item.ts";
import { after, type Filters, type KeyRange, type Placeholders } from "./expression.ts";
import { oldValue } from "./former-fields.ts";

/**
 * An operand as the field's attribute holds it. A time of expiry is compared with any number of seconds, though it is a whole one
 * itself.
 */
const encodeOperand = (shape: Shape, field: string, value: unknown): AttributeValue => {
  if (!(value instanceof Date)) return encodeValue(value, field);
  return field === shape.ttl && shape.dates.includes(field) ? { N: String(value.getTime() / 1000) } : encodeField(shape, field, value);
};

/** An attribute, and the form of the field's values in it. */
interface Place {
  readonly attribute: string;
  /** The way to the value within the attribute. */
  readonly within?: readonly (string | number)[];
  readonly encode: (value: unknown) => AttributeValue;
}

const symbols = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

const unsupported = (shape: Shape, path: string, operator: ComparisonOperator): EdgetableError =>
  new EdgetableError(
    "plan.unsupported",
    shape.former?.[path]
      ? `"${path}" of "${shape.definition}" is being retyped, and a write cannot compare its old values by "${operator}". Read the row and give its version, or use eq, ne or in, with \`back\`.`
      : `"${path}" of "${shape.definition}" lives inside a computed attribute, which cannot be compared by "${operator}".`,
    {
      details: { path, operator, shape: shape.id },
    },
  );

/** One condition with its value. */
interface Comparison {
  readonly shape: Shape;
  readonly condition: Condition & { readonly operator: ComparisonOperator };
  readonly value: unknown;
}

const compareExpression = (place: Place, { condition, value }: Comparison, names: Placeholders): string => {
  const name = names.path(place.attribute, place.within);
  const put = (one: unknown): string => names.value(place.encode(one));
  const { operator } = condition;
  switch (operator) {
    case "between": {
      const [low, high] = value as readonly [unknown, unknown];
      // DynamoDB refuses a BETWEEN whose lower bound is the greater one, and no value is within it.
      if ((compareValues(low, high) ?? 0) > 0) return `(${name} >= ${put(low)} AND ${name} <= ${put(high)})`;
      return `${name} BETWEEN ${put(low)} AND ${put(high)}`;
    }
    case "beginsWith":
      return `begins_with(${name}, ${put(value)})`;
    case "contains":
      return `contains(${name}, ${put(value)})`;
    case "in":
      return `${name} IN (${(value as readonly unknown[]).map(put).join(", ")})`;
    case "exists":
      return `attribute_${value === false ? "not_" : ""}exists(${name})`;
    default:
      return `${name} ${symbols[operator]} ${put(value)}`;
  }
};

const ranges: ReadonlySet<ComparisonOperator> = new Set(["lt", "lte", "gt", "gte", "between"]);

interface Bound {
  readonly isLow: boolean;
  readonly value: unknown;
  readonly inclusive: boolean;
  /** True if no value of the field is beyond the bound. */
  readonly isNone?: boolean;
}

/** The bounds of a range. */
const boundsIn = (operator: ComparisonOperator, value: unknown): readonly Bound[] => {
  if (operator !== "between")
    return [{ isLow: operator === "gt" || operator === "gte", value, inclusive: operator === "gte" || operator === "lte" }];
  return (value as readonly unknown[]).map((one, at) => ({ isLow: at === 0, value: one, inclusive: true }));
};

/**
 * A bound that the field's format can express and that admits the same values: zero-padded digits express whole numbers from 0 to a
 * maximum.
 */
const writableBound = (format: FieldFormat | undefined, bound: Bound): Bound => {
  const padded = format?.kind === "either" ? format.formats.find(({ kind }) => kind === "padded") : format;
  if (padded?.kind !== "padded" || !isNumber(bound.value)) return bound;
  const { isLow } = bound;
  const given = Number(bound.value);
  const nearest = isLow ? Math.ceil(given) : Math.floor(given);
  const most = Math.min(10 ** padded.width - 1, Number.MAX_SAFE_INTEGER);
  if (isLow ? nearest > most : nearest < 0) return { isLow, value: isLow ? most : 0, inclusive: false, isNone: true };
  if (nearest < 0 || nearest > most) return { isLow, value: isLow ? 0 : most, inclusive: true };
  return nearest === given ? bound : { isLow, value: nearest, inclusive: true };
};

/** The first place of a field in a key. */
const partOf = ({ parts }: Template, path: string): FieldPart | undefined =>
  parts.find((part): part is FieldPart => part.kind === "field" && part.path === path);

/** The text of a bound. Any text can be a bound, even if the field cannot contain it because of its characters or the delimiter. */
const boundText = (template: Template, path: string, value: unknown): string => {
  const part = partOf(template, path);
  const kind = part?.format.kind;
  // With escapes, a choice marks which of its formats wrote a value.
  const isText = kind === "text" || kind === "digits" || kind === "letters" || (kind === "either" && !template.escapes);
  if (typeof value !== "string" || !part || !isText) return encodeKeyField(template, path, value);
  return encodeKeyField({ ...template, parts: [{ ...part, format: { kind: "text" } }], loose: true }, path, value);
};

// A field that a computed attribute carries: whole when it is the only field, else its beginning. A key may hold the field in
// several forms, of which one can be read. A row has the field of the first one that its item has.
const compareCarried = (
  comparison: Comparison,
  names: Placeholders,
  [source, ...others] = sourcesOf(comparison.shape, comparison.condition.path),
): string => {
  const { shape, condition, value } = comparison;
  const { path, operator } = condition;
  const fail = (): never => {
    throw unsupported(shape, path, operator);
  };
  const { attribute, template } = source ?? fail();
  if (others.length > 0) {
    const [inFirst, inOthers] = [compareCarried(comparison, names, [source!]), compareCarried(comparison, names, others)];
    const name = names.name(attribute);
    return `((attribute_exists(${name}) AND ${inFirst}) OR (attribute_not_exists(${name}) AND ${inOthers}))`;
  }
  const other = template.parts.findIndex((part) => part.kind === "field" && part.path !== path);
  const alone = other < 0;
  const own = alone ? template.parts : template.parts.slice(0, other);
  const forms = own.filter((part) => part.kind === "field");
  const [first] = forms;
  const isWhole = forms.some(({ format }) => !isOneWay(format));
  const open = operator === "beginsWith";
  const isRange = ranges.has(operator);
  if (operator === "contains" || (isRange && !(alone && forms.length === 1 && keepsOrder(template, path)))) return fail();
  if (open && (!first || isOneWay(first.format))) return fail();
  const encode = (one: unknown): AttributeValue => {
    // A key holds no null, so that it equals none.
    if (one === null && alone) return { NULL: true };
    let text = "";
    for (const part of own) {
      if (part.kind === "literal") text += part.text;
      else if (open) return keyValue(template.type, text + encodeKeyPrefix(template, path, one));
      else text += (isRange && part === own.at(-1) ? boundText : encodeKeyField)({ ...template, parts: [part] }, path, one);
    }
    return keyValue(template.type, text);
  };
  if (isRange && first?.format.kind === "padded") {
    const compared = boundsIn(operator, value).map((bound) => {
      const { isLow, value: one, inclusive } = writableBound(first.format, bound);
      return `${names.name(attribute)} ${isLow ? ">" : "<"}${inclusive ? "=" : ""} ${names.value(encode(one))}`;
    });
    return compared.length > 1 ? `(${compared.join(" AND ")})` : compared.join("");
  }
  if (operator === "exists" || alone || open) return compareExpression({ attribute, encode }, comparison, names);
  if (!isWhole || (operator !== "eq" && operator !== "ne")) return fail();
  return `${operator === "ne" ? "NOT " : ""}begins_with(${names.name(attribute)}, ${names.value(encode(value))})`;
};

const RETYPED: ReadonlySet<ComparisonOperator> = new Set(["eq", "ne", "in"]);

// An item contains one form or the other. If it contains both, a program with an older model wrote the old one.
const compareForms = (comparison: Comparison, names: Placeholders): string => {
  const { shape, condition } = comparison;
  const { path: whole, operator, steps: [path, ...within] = [whole] } = condition;
  const { old, now, retyping } = shape.former![path]!;
  if (retyping && operator !== "exists" && !(within.length === 0 && retyping.back && RETYPED.has(operator)))
    throw unsupported(shape, path, operator);
  const place = (attribute: string, former = false): Place => ({
    attribute,
    within,
    encode: (value) => encodeOperand(shape, whole, former ? oldValue(shape, path, value) : value),
  });
  const inNew = (): string => compareExpression(place(now), comparison, names);
  if (!retyping && old === now) return inNew();
  const inOld = compareExpression(place(old, true), comparison, names);
  if (old === now) return operator === "exists" ? inNew() : `(${inOld} ${operator === "ne" ? "AND" : "OR"} ${inNew()})`;
  const name = names.name(old);
  return `((attribute_exists(${name}) AND ${inOld}) OR (attribute_not_exists(${name}) AND ${inNew()}))`;
};

/** The values of conditions, and the shape of the items that they apply to. */
interface Compared {
  readonly shape: Shape;
  readonly values: readonly unknown[];
}

const isComparison = (condition: Condition): condition is Comparison["condition"] => !condition.of;

// DynamoDB rejects redundant parentheses.
const parenthesized = (text: string): string => {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")") depth--;
    if (depth === 0) return at > 0 && at === text.length - 1 ? text : `(${text})`;
  }
  return text;
};

const oneCondition = ({ shape, values }: Compared, condition: Condition, names: Placeholders): string => {
  if (!isComparison(condition)) {
    const { operator, of = [] } = condition;
    const texts = of.map((conditions) => {
      const text = conditionExpression(shape, { conditions, values }, names);
      return conditions.length > 1 ? parenthesized(text) : text;
    });
    return parenthesized(operator === "not" ? `NOT ${parenthesized(texts.join(""))}` : texts.join(" OR "));
  }
  const comparison: Comparison = { shape, condition, value: values[condition.slot] };
  const { path, steps: [field, ...within] = [path] } = condition;
  if (shape.former?.[field]) return compareForms(comparison, names);
  const attribute = attributeOf(shape, field);
  if (attribute === undefined) return compareCarried(comparison, names);
  return compareExpression({ attribute, within, encode: (value) => encodeOperand(shape, path, value) }, comparison, names);
};

/**
 * The expression of conditions that must all hold, for a condition or a filter.
 *
 * @throws {plan.unsupported} for a comparison that a field inside a computed attribute does not allow
 */
const conditionExpression = (shape: Shape, { conditions, values }: Conditions, names: Placeholders): string =>
  conditions.map((condition) => oneCondition({ shape, values }, condition, names)).join(" AND ");

type Range = Extract<SortCondition, { readonly kind: "range" }>;

interface Bounds {
  readonly range: Range;
  /** The text that every key of the range begins with. */
  readonly start: string;
  low: string | undefined;
  high: string | undefined;
  prefix: string | undefined;
}

const highBound = ({ range, start: prefix }: Bounds, text: string, inclusive: boolean): string => {
  if (!range.followed) return prefix + text;
  const { delimiter } = range.whole;
  // In an adopted layout, a value may hold characters up to the delimiter that ends a shorter value. Its keys then sort differently
  // from its values, so the bound is widened to exclude no key. If both sort alike, the rows are not checked again.
  if (!keepsOrder(range.whole, range.path))
    for (let at = 0; at < text.length; at++) if ((text[at] as string) <= delimiter) return after(prefix + text.slice(0, at) + delimiter);
  return inclusive ? after(prefix + text + delimiter) : prefix + text;
};

const lowBound = ({ range, start: prefix }: Bounds, text: string, inclusive: boolean): string => {
  if (inclusive) return prefix + text;
  if (!range.followed) return `${prefix}${text}\u0000`;
  // Only where keys sort exactly as values may the bound step over the value's own keys: elsewhere a
  // greater value may sort among them, and the plan checks the condition again in memory.
  return keepsOrder(range.whole, range.path) ? after(prefix + text + range.whole.delimiter) : prefix + text;
};

const tighten = (bounds: Bounds, low: string | undefined, high: string | undefined): void => {
  if (low !== undefined && (bounds.low === undefined || comparePrimary(low, bounds.low) > 0)) bounds.low = low;
  if (high !== undefined && (bounds.high === undefined || comparePrimary(high, bounds.high) < 0)) bounds.high = high;
};

const NUMBERS: readonly FieldFormat["kind"][] = ["number", "padded", "plain"];

/** True if a choice of formats does not order numbers, because it writes them as plain decimals or in two forms. */
const mixesNumbers = (format: FieldFormat | undefined): boolean => {
  const numbers = format?.kind === "either" ? format.formats.filter(({ kind }) => NUMBERS.includes(kind)) : [];
  return numbers.length > 1 || numbers[0]?.kind === "plain";
};

/**
 * A bound that orders keys as it orders values: what follows a value in its key sorts before every character of these formats, but
 * not before every character of a bound.
 */
const boundBefore = ({ whole, path, followed }: Range, format: FieldFormat | undefined, bound: Bound): Bound => {
  const { isLow, value } = bound;
  const kind = format?.kind;
  if (typeof value !== "string" || !(kind === "digits" || kind === "letters") || !followed || whole.escapes || !keepsOrder(whole, path))
    return bound;
  let at = 0;
  while (at < value.length && value[at]! > whole.delimiter) at++;
  return at === value.length ? bound : { isLow, value: value.slice(0, at), inclusive: !isLow };
};

const applyBound = (bounds: Bounds, given: Bound): void => {
  const { range, start } = bounds;
  const format = partOf(range.whole, range.path)?.format;
  // The condition is checked in memory.
  if (isNumber(given.value) && mixesNumbers(format)) return;
  const writable = writableBound(format, given);
  // Nothing lies between these.
  if (writable.isNone) return tighten(bounds, after(start), start);
  const { isLow, value, inclusive } = boundBefore(range, format, writable);
  const text = boundText(range.whole, range.path, value);
  if (isLow) tighten(bounds, lowBound(bounds, text, inclusive), undefined);
  else tighten(bounds, undefined, highBound(bounds, text, inclusive));
};

/** False for a text that no value of the field contains. */
const isHeld = ({ whole, path }: Range, value: unknown): boolean => {
  const kind = partOf(whole, path)?.format.kind;
  if (typeof value !== "string") return true;
  if (kind === "digits" || kind === "letters") return ALPHABETS[kind].test(value);
  return whole.escapes || whole.loose || !value.includes(whole.delimiter);
};

const applyCondition = (bounds: Bounds, { operator }: Condition, value: unknown): void => {
  const { range, start } = bounds;
  if (operator !== "beginsWith") {
    for (const bound of boundsIn(operator as ComparisonOperator, value)) applyBound(bounds, bound);
    return;
  }
  // No value begins with a text that no value contains.
  if (!isHeld(range, value)) return tighten(bounds, after(start), start);
  bounds.prefix = start + encodeKeyPrefix(range.whole, range.path, value);
  tighten(bounds, bounds.prefix, after(bounds.prefix));
};

/** The texts between which the sort keys of a range lie; slightly wider than the range if keys do not sort like values. */
const keyRange = (range: Range, row: Row, values: readonly unknown[]): KeyRange => {
  const prefix = renderTemplate(range.template, row) ?? "";
  const bounds: Bounds = { range, start: prefix, low: undefined, high: undefined, prefix: undefined };
  for (const condition of range.bounds) applyCondition(bounds, condition, values[condition.slot]);
  if (bounds.prefix !== undefined && range.bounds.length === 1) return { kind: "prefix", text: bounds.prefix };
  const { low, high } = bounds;
  if (prefix !== "") return { kind: "between", low: low ?? prefix, high: high ?? after(prefix) };
  if (low !== undefined && high !== undefined) return { kind: "between", low, high };
  return low === undefined ? { kind: "atMost", high: high ?? "\u{10FFFF}" } : { kind: "atLeast", low };
};

/** Encodes and checks conditions. */
export const filters: Filters = { conditionExpression, keyRange, holds };
