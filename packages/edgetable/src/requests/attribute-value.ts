import { EdgetableError } from "../errors/edgetable-error.ts";
import { dateText, decimalOf, decimalText, MOST_LEVELS, readTemplate, type Template, unstorable } from "../keys/template.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { readDecimal } from "../util/decimal.ts";
import { isNumber, setOwn } from "../util/row.ts";

const CONVERT = "Convert it, or leave the attribute out";

type Why = readonly [what: string, mend: string];

const unsupported = (path: string, value: unknown, [what, mend]: Why): EdgetableError =>
  new EdgetableError("request.unsupportedValue", `"${path}" is ${what}, which DynamoDB cannot store. ${mend}.`, {
    details: { path, value },
  });

const wellFormed = (text: string, path: string): string => {
  const what = unstorable(text);
  if (what !== undefined) throw unsupported(path, text, [what, "Repair it with its toWellFormed()"]);
  return text;
};

const numberText = (value: number | bigint, path: string): string => {
  const what = unstorable(value);
  if (what !== undefined) throw unsupported(path, value, [what, CONVERT]);
  return String(value);
};

// DynamoDB rejects a set with equal members, and members that DynamoDB takes as equal may differ in JavaScript: 1 and 1n, or two
// arrays of equal bytes.
const distinct = (members: readonly string[]): string[] => [...new Set(members)];

// A number is read as `number` or `bigint` depending on its size, so a set of numbers may contain both.
const encodeSet = (value: ReadonlySet<unknown>, path: string): AttributeValue => {
  const members = [...value];
  const first = members[0];
  if (first === undefined) throw unsupported(path, value, ["an empty set", "Leave the attribute out"]);
  if (members.every(isNumber)) return { NS: distinct(members.map((member) => numberText(member, path))) };
  if (members.some((member) => typeof member !== typeof first))
    throw unsupported(path, value, ["a set of mixed types", "Store a list, or members of one type"]);
  if (typeof first === "string") return { SS: members.map((member) => wellFormed(member as string, path)) };
  if (members.every((member) => member instanceof Uint8Array)) return { BS: distinct(members.map(toBase64)) };
  throw unsupported(path, value, ["a set of something else than text, numbers or bytes", "Store a list"]);
};

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

/**
 * The stored form of a declared date.
 *
 * @throws {request.unsupportedValue} for an invalid one, and outside the years 0000 to 9999, which do not sort with the rest
 */
export const encodeDate = (value: Date, path: string): AttributeValue => {
  const text = dateText(value);
  if (typeof text === "string") return { S: text };
  throw new EdgetableError("request.unsupportedValue", `"${path}" ${text.problem}. ${text.mend}`, { details: { path, value } });
};

const encodeObject = (value: object, path: string, level: number): AttributeValue => {
  if (value instanceof Uint8Array) return { B: toBase64(value) };
  if (value instanceof Set) return encodeSet(value, path);
  if (value instanceof Date) throw unsupported(path, value, ["a Date", "Declare the attribute in `dates`, or store ISO 8601 text"]);
  if (Array.isArray(value)) {
    // `map` skips the holes of a sparse array.
    const list: AttributeValue[] = [];
    for (let at = 0; at < value.length; at++) list.push(encodeValue(value[at], `${path}[${at}]`, level + 1));
    return { L: list };
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    throw unsupported(path, value, [`an instance of ${value.constructor.name}`, CONVERT]);
  const map: Record<string, AttributeValue> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === "__proto__") throw unsupported(`${path}.${name}`, member, ["an object's prototype to JavaScript", CONVERT]);
    if (member !== undefined) map[wellFormed(name, path)] = encodeValue(member, `${path}.${name}`, level + 1);
  }
  return { M: map };
};

/**
 * The DynamoDB form of a value: well-formed text, finite numbers, bigints, booleans, null, bytes, sets, arrays and plain objects.
 *
 * @param level depth of nesting, 1 for an attribute
 * @throws {request.unsupportedValue} for any other value, and for more than 32 levels of nesting
 */
export const encodeValue = (value: unknown, path: string, level = 1): AttributeValue => {
  if (level > MOST_LEVELS) throw unsupported(path, value, ["nested more than 32 levels deep", CONVERT]);
  switch (typeof value) {
    case "string":
      return { S: wellFormed(value, path) };
    case "number":
    case "bigint":
      return { N: numberText(value, path) };
    case "boolean":
      return { BOOL: value };
    case "object":
      return value === null ? { NULL: true } : encodeObject(value, path, level);
    default:
      throw unsupported(path, value, [value === undefined ? "undefined" : `a ${typeof value}`, CONVERT]);
  }
};

/** The decimal of a stored number; of 0 for anything else. */
export const decimalIn = (value: AttributeValue | undefined): string => (value && "N" in value ? value.N : "0");

/** The JavaScript value of DynamoDB's form: the inverse of {@link encodeValue}. */
export const decodeValue = (value: AttributeValue): unknown => {
  if ("S" in value) return value.S;
  if ("N" in value) return readDecimal(value.N);
  if ("BOOL" in value) return value.BOOL;
  if ("M" in value) {
    const members: Record<string, unknown> = {};
    for (const name in value.M) setOwn(members, name, decodeValue(value.M[name] as AttributeValue));
    return members;
  }
  if ("L" in value) return value.L.map(decodeValue);
  if ("NULL" in value) return null;
  if ("SS" in value) return new Set(value.SS);
  if ("NS" in value) return new Set(value.NS.map(readDecimal));
  if ("B" in value) return fromBase64(value.B);
  return new Set(value.BS.map(fromBase64));
};

type KeyType = Template["type"];

/** The value of a computed attribute, from its text. A number's text sorts like the number. */
export const keyValue = (type: KeyType, text: string): AttributeValue =>
  // An exclusive bound ends with U+0000. Numbers have no such neighbour, so the plan checks the condition again.
  type === "N" ? { N: decimalOf(text.endsWith("\u0000") ? text.slice(0, -1) : text) } : { S: text };

/** The text by which a key's value sorts. For a number, the text that `keyValue` accepts. */
export const keyTextOf = (value: AttributeValue | undefined): string | undefined => {
  if (value === undefined) return undefined;
  if ("S" in value) return value.S;
  return "N" in value ? decimalText(value.N) : undefined;
};

/** The fields of a computed attribute; undefined if it is absent, has another type, or was not made by the template. */
export const readKey = (template: Template, value: AttributeValue | undefined): Record<string, unknown> | undefined => {
  if (value === undefined) return undefined;
  if (template.verbatim && "NULL" in value) return { [template.fields[0]!]: null };
  if (template.type === "S") return "S" in value ? readTemplate(template, value.S) : undefined;
  // Like every number that is read, it is rounded if a double cannot represent it.
  return "N" in value ? { [template.fields[0] ?? ""]: decodeValue(value) } : undefined;
};

// DynamoDB returns numbers in its own notation: 1e21 comes back as 1000000000000000000000.
const whole = /^-?\d+$/;
const sameNumber = (a: string, b: string): boolean => (whole.test(a) && whole.test(b) ? BigInt(a) === BigInt(b) : Number(a) === Number(b));

const sameMembers = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((member) => b.includes(member));

const asRead = (numbers: readonly string[]): readonly string[] => numbers.map((one) => String(readDecimal(one)));

/** True if DynamoDB treats two stored values as equal. */
export const sameAttribute = (a: AttributeValue | undefined, b: AttributeValue | undefined): boolean => {
  if (a === undefined || b === undefined) return a === b;
  if ("N" in a && "N" in b) return sameNumber(a.N, b.N);
  if ("M" in a && "M" in b) return sameItem(a.M, b.M);
  if ("L" in a && "L" in b) {
    const other = b.L;
    return a.L.length === other.length && a.L.every((member, at) => sameAttribute(member, other[at]));
  }
  if ("SS" in a && "SS" in b) return sameMembers(a.SS, b.SS);
  if ("NS" in a && "NS" in b) return sameMembers(asRead(a.NS), asRead(b.NS));
  if ("BS" in a && "BS" in b) return sameMembers(a.BS, b.BS);
  return JSON.stringify(a) === JSON.stringify(b);
};

/** The stored value, with all its digits, if the made value equals it; else the made value. The row was read from the stored one. */
export const keepDigits = (made: AttributeValue, stored: AttributeValue | undefined): AttributeValue =>
  stored && sameAttribute(made, stored) ? stored : made;

/** True if two items have the same attributes with the same values. */
export const sameItem = (a: Item, b: Item): boolean =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => sameAttribute(value, b[name]));
