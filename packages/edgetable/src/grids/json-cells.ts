import { exactText } from "../keys/template.ts";

/** Forms of values that JSON lacks, as `edgetable dump` writes them, with how to read them. */
const forms: Readonly<Record<string, (value: never) => unknown>> = {
  $bigint: (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : undefined),
  $date: (text: string) => new Date(text),
  $bytes: (text: string) => new Uint8Array(Buffer.from(text, "base64")),
  $set: (members: readonly unknown[]) => new Set(members),
};

// A Date and a Buffer have a toJSON of their own, so the value is read from its holder.
function withForm(this: unknown, name: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[name];
  if (own instanceof Date) return { $date: own.toISOString() };
  if (own instanceof Uint8Array) return { $bytes: Buffer.from(own).toString("base64") };
  if (own instanceof Set) return { $set: [...(own as ReadonlySet<unknown>)] };
  return typeof value === "bigint" ? { $bigint: String(value) } : value;
}

const fromForm = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  const [[name, inner] = ["", undefined], another] = Object.entries(value);
  return another === undefined && Object.hasOwn(forms, name) ? (forms[name]?.(inner as never) ?? value) : value;
};

const compare = (a: unknown, b: unknown): number => ((a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0);

/** A value with the members of its maps and sets in one order: DynamoDB keeps none. */
export const inOneOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inOneOrder);
  if (value instanceof Set) return new Set([...(value as ReadonlySet<unknown>)].toSorted(compare));
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => compare(a, b));
  return Object.fromEntries(members.map(([name, member]) => [name, inOneOrder(member)]));
};

/** True for values that are stored as the same: maps and sets in whatever order their members come. */
export const isSameValue = (a: unknown, b: unknown): boolean => exactText(inOneOrder(a)) === exactText(inOneOrder(b));

/** A list, a map, a set or bytes as the text of a cell: the same text for the same value. */
export const writeJsonCell = (value: unknown): string => JSON.stringify(inOneOrder(value), withForm);

/** The text of a cell as JSON; undefined where it is none. */
export const readJsonCell = (text: string): unknown => {
  try {
    return JSON.parse(text, fromForm) as unknown;
  } catch {
    return undefined;
  }
};
