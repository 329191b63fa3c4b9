import { EdgetableError } from "../errors/edgetable-error.ts";
import type { ComparisonOperator, Condition } from "../ir/condition.ts";
import { encodeField as encodeKeyField, keepsOrder, type Template } from "../keys/template.ts";
import type { Shape } from "../schema/shape.ts";
import type { AttributeValue } from "../transport/operations.ts";
import { attributeOf, encodeField } from "./item-codec.ts";
import type { Placeholders } from "./placeholders.ts";

/** An attribute and how a value of the field looks in it. */
interface Place {
  readonly attribute: string;
  readonly encode: (value: unknown) => AttributeValue;
}

const symbols = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

const unsupported = (shape: Shape, path: string, operator: ComparisonOperator): EdgetableError =>
  new EdgetableError("plan.unsupported", `"${path}" of "${shape.definition}" lives inside a computed attribute, which cannot be compared by "${operator}".`, {
    details: { path, operator, shape: shape.id },
  });

const compare = (place: Place, condition: Condition, value: unknown, names: Placeholders): string => {
  const name = names.name(place.attribute);
  const put = (one: unknown): string => names.value(place.encode(one));
  const { operator } = condition;
  switch (operator) {
    case "between": {
      const [low, high] = value as readonly [unknown, unknown];
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

const literals = (template: Template, from: number, to?: number): string =>
  template.parts.slice(from, to).map((part) => (part.kind === "literal" ? part.text : "")).join("");

const ranges: ReadonlySet<ComparisonOperator> = new Set(["lt", "lte", "gt", "gte", "between"]);

// A field that a computed attribute carries: whole when it is the only field, else its beginning.
const compareCarried = (shape: Shape, condition: Condition, value: unknown, names: Placeholders): string => {
  const { path, operator } = condition;
  const source = shape.sources.find(({ template }) => template.fields.includes(path));
  const at = source?.template.parts.findIndex((part) => part.kind === "field" && part.path === path) ?? -1;
  const alone = source?.template.fields.length === 1;
  const first = source?.template.parts.findIndex((part) => part.kind === "field") === at;
  if (!source || operator === "contains" || (ranges.has(operator) && !(alone && keepsOrder(source.template, path)))) throw unsupported(shape, path, operator);
  const { attribute, template } = source;
  const open = operator === "beginsWith";
  const end = alone && !open ? literals(template, at + 1) : open ? "" : template.delimiter;
  const encode = (one: unknown): AttributeValue => ({ S: literals(template, 0, at) + encodeKeyField(template, path, one) + end });
  if (alone || open || operator === "exists") {
    if (open && !first) throw unsupported(shape, path, operator);
    return compare({ attribute, encode }, condition, value, names);
  }
  if (!first || (operator !== "eq" && operator !== "ne")) throw unsupported(shape, path, operator);
  return `${operator === "ne" ? "NOT " : ""}begins_with(${names.name(attribute)}, ${names.value(encode(value))})`;
};

const one = (shape: Shape, condition: Condition, value: unknown, names: Placeholders): string => {
  const attribute = attributeOf(shape, condition.path);
  if (attribute === undefined) return compareCarried(shape, condition, value, names);
  return compare({ attribute, encode: (member) => encodeField(shape, condition.path, member) }, condition, value, names);
};

/**
 * The expression of conditions that must all hold, for a condition or a filter.
 *
 * @param values the call's values, by the conditions' slots
 * @throws {plan.unsupported} for a comparison that a field inside a computed attribute does not allow
 */
// oxlint-disable-next-line max-params -- the four sides of one expression, shared by reads and writes
export const conditionExpression = (shape: Shape, conditions: readonly Condition[], values: readonly unknown[], names: Placeholders): string =>
  conditions.map((condition) => one(shape, condition, values[condition.slot], names)).join(" AND ");
