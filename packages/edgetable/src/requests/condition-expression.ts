import { EdgetableError } from "../errors/edgetable-error.ts";
import type { ComparisonOperator, Condition, Conditions } from "../ir/condition.ts";
import { encodeField as encodeKeyField, encodePrefix, keepsOrder, type Template } from "../keys/template.ts";
import type { Shape } from "../schema/catalog.ts";
import type { AttributeValue } from "../transport/operations.ts";
import { attributeOf, encodeField } from "./encode-item.ts";
import { keyValue } from "./attribute-value.ts";
import type { Placeholders } from "./placeholders.ts";

/** An attribute and how a value of the field looks in it. */
interface Place {
  readonly attribute: string;
  readonly encode: (value: unknown) => AttributeValue;
}

const symbols = { eq: "=", ne: "<>", lt: "<", lte: "<=", gt: ">", gte: ">=" } as const;

const unsupported = (shape: Shape, path: string, operator: ComparisonOperator): EdgetableError =>
  new EdgetableError(
    "plan.unsupported",
    `"${path}" of "${shape.definition}" lives inside a computed attribute, which cannot be compared by "${operator}".`,
    {
      details: { path, operator, shape: shape.id },
    },
  );

/** One condition with its value. */
interface Comparison {
  readonly shape: Shape;
  readonly condition: Condition;
  readonly value: unknown;
}

const compare = (place: Place, { condition, value }: Comparison, names: Placeholders): string => {
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
  template.parts
    .slice(from, to)
    .map((part) => (part.kind === "literal" ? part.text : ""))
    .join("");

const ranges: ReadonlySet<ComparisonOperator> = new Set(["lt", "lte", "gt", "gte", "between"]);

// A field that a computed attribute carries: whole when it is the only field, else its beginning.
const compareCarried = (comparison: Comparison, names: Placeholders): string => {
  const { shape, condition, value } = comparison;
  const { path, operator } = condition;
  const fail = (): never => {
    throw unsupported(shape, path, operator);
  };
  const { attribute, template } = shape.sources.find((source) => source.template.fields.includes(path)) ?? fail();
  const at = template.parts.findIndex((part) => part.kind === "field" && part.path === path);
  const first = template.parts.findIndex((part) => part.kind === "field") === at;
  const alone = template.fields.length === 1;
  if (operator === "contains" || (ranges.has(operator) && !(alone && keepsOrder(template, path)))) return fail();
  const open = operator === "beginsWith";
  const end = open ? "" : alone ? literals(template, at + 1) : template.delimiter;
  const text = open ? encodePrefix : encodeKeyField;
  const encode = (one: unknown): AttributeValue => keyValue(template.type, literals(template, 0, at) + text(template, path, one) + end);
  if (operator === "exists" || alone || (open && first)) return compare({ attribute, encode }, comparison, names);
  if (!first || (operator !== "eq" && operator !== "ne")) return fail();
  return `${operator === "ne" ? "NOT " : ""}begins_with(${names.name(attribute)}, ${names.value(encode(value))})`;
};

const one = (comparison: Comparison, names: Placeholders): string => {
  const { shape, condition } = comparison;
  const attribute = attributeOf(shape, condition.path);
  if (attribute === undefined) return compareCarried(comparison, names);
  return compare({ attribute, encode: (value) => encodeField(shape, condition.path, value) }, comparison, names);
};

/**
 * The expression of conditions that must all hold, for a condition or a filter.
 *
 * @throws {plan.unsupported} for a comparison that a field inside a computed attribute does not allow
 */
export const conditionExpression = (shape: Shape, { conditions, values }: Conditions, names: Placeholders): string =>
  conditions.map((condition) => one({ shape, condition, value: values[condition.slot] }, names)).join(" AND ");
