import type { AttributeValue, Item } from "edgetable";
import type { Comparator, Condition, Operand } from "./condition.ts";
import { valueAt } from "./path.ts";
import { compareValues, equalValues, taggedValue } from "./value-order.ts";

const sizeOf = (value: AttributeValue | undefined): AttributeValue | undefined => {
  if (value === undefined) return undefined;
  const [type, content] = taggedValue(value);
  // Seen on dynoxide 1.2.1: UTF-16 units, not bytes and not code points.
  if (type === "S") return { N: String((content as string).length) };
  if (type === "B") return { N: String(Buffer.from(content as string, "base64").length) };
  if (type === "M") return { N: String(Object.keys(content as object).length) };
  return Array.isArray(content) ? { N: String(content.length) } : undefined;
};

const resolve = (item: Item, operand: Operand): AttributeValue | undefined => {
  if (operand.kind === "value") return operand.value;
  const value = valueAt(item, operand.path);
  return operand.kind === "size" ? sizeOf(value) : value;
};

const signs: Readonly<Record<Exclude<Comparator, "=" | "<>">, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

const compare = (comparator: Comparator, a: AttributeValue | undefined, b: AttributeValue | undefined): boolean => {
  const equal = a !== undefined && b !== undefined && equalValues(a, b);
  if (comparator === "=") return equal;
  // A missing attribute differs from every value.
  if (comparator === "<>") return !equal;
  const order = a && b && compareValues(a, b);
  return order !== undefined && signs[comparator](order);
};

const beginsWith = (value: AttributeValue, prefix: AttributeValue): boolean => {
  if ("S" in value && "S" in prefix) return value.S.startsWith(prefix.S);
  if (!("B" in value && "B" in prefix)) return false;
  const start = Buffer.from(prefix.B, "base64");
  return Buffer.from(value.B, "base64").subarray(0, start.length).equals(start);
};

const contains = (value: AttributeValue, part: AttributeValue): boolean => {
  if ("S" in value) return "S" in part && value.S.includes(part.S);
  if ("B" in value) return "B" in part && Buffer.from(value.B, "base64").includes(Buffer.from(part.B, "base64"));
  if ("L" in value) return value.L.some((element) => equalValues(element, part));
  const [type, content] = taggedValue(value);
  if (!["SS", "NS", "BS"].includes(type)) return false;
  const element = type.slice(0, 1);
  return (content as readonly string[]).some((member) => equalValues({ [element]: member } as unknown as AttributeValue, part));
};

const passes = (item: Item, condition: Condition & { kind: "test" }): boolean => {
  const value = valueAt(item, condition.path);
  if (condition.name === "attribute_exists") return value !== undefined;
  if (condition.name === "attribute_not_exists") return value === undefined;
  const argument = condition.argument && resolve(item, condition.argument);
  if (value === undefined || argument === undefined) return false;
  if (condition.name === "begins_with") return beginsWith(value, argument);
  if (condition.name === "contains") return contains(value, argument);
  return "S" in argument && taggedValue(value)[0] === argument.S;
};

/** Whether a condition holds for an item, by DynamoDB's rules. */
export const holds = (condition: Condition, item: Item): boolean => {
  const value = (operand: Operand): AttributeValue | undefined => resolve(item, operand);
  switch (condition.kind) {
    case "and":
      return condition.all.every((inner) => holds(inner, item));
    case "or":
      return condition.all.some((inner) => holds(inner, item));
    case "not":
      return !holds(condition.inner, item);
    case "compare":
      return compare(condition.comparator, value(condition.left), value(condition.right));
    case "between": {
      const subject = value(condition.operand);
      return compare(">=", subject, value(condition.low)) && compare("<=", subject, value(condition.high));
    }
    case "in":
      return condition.list.some((operand) => compare("=", value(condition.operand), value(operand)));
    case "test":
      return passes(item, condition);
    default:
      return condition satisfies never;
  }
};
