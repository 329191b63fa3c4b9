import { visibleJson } from "./visible.ts";

// An object that reads as one of the forms below, though it is none.
const looksMarked = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const names = Object.keys(value);
  return names.length === 1 && names[0] !== undefined && Object.hasOwn(markers, names[0]);
};

const replaced = (value: unknown): unknown => {
  if (typeof value === "bigint") return { $bigint: String(value) };
  if (value instanceof Set) return { $set: [...value] };
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
  return value;
};

// A Buffer has a toJSON of its own, so the value is taken from its holder.
function replacer(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[key];
  return own instanceof Uint8Array ? replaced(own) : replaced(value);
}

/** JSON of a value: what JSON lacks is written as `{"$bigint"}`, `{"$set"}` and `{"$bytes"}` (base64). */
export const toJson = (value: unknown, indent = 0): string => visibleJson(JSON.stringify(value, replacer, indent) ?? "null");

const markers: Readonly<Record<string, (value: never) => unknown>> = {
  $bigint: (text: string) => BigInt(text),
  $set: (members: readonly unknown[]) => new Set(members),
  $bytes: (text: string) => new Uint8Array(Buffer.from(text, "base64")),
  $date: (text: string | null) => new Date(text ?? Number.NaN),
  $object: (entries: readonly (readonly [string, unknown])[]) => Object.fromEntries(entries),
};

// DynamoDB takes 32 levels; a row and the forms below add a few. A recursion that knows its end never overflows.
const deepest = 100;

/** Whether a value is nested deeper than any that can be stored. */
export const isTooDeep = (value: unknown, left: number = deepest): boolean =>
  typeof value === "object" && value !== null && (left === 0 || Object.values(value).some((inner) => isTooDeep(inner, left - 1)));

/** A value of JSON with the forms below in place of their markers, changed in place. @throws {SyntaxError} as {@link fromJson} */
export const revive = (value: unknown, left: number = deepest): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (left === 0) throw new SyntaxError(`it is nested more than ${deepest} levels deep, and DynamoDB takes 32`);
  for (const [name, inner] of Object.entries(value)) {
    const revived = revive(inner, left - 1);
    // A member may be called __proto__, which cannot be assigned.
    if (revived !== inner) Object.defineProperty(value, name, { value: revived, writable: true, enumerable: true, configurable: true });
  }
  if (!looksMarked(value)) return value;
  const [[name, inner] = ["", undefined]] = Object.entries(value);
  try {
    return markers[name]?.(inner as never);
  } catch {
    throw new SyntaxError(`${toJson(value)} is no valid ${name}`);
  }
};

function exactReplacer(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[key];
  if (own instanceof Date) return { $date: Number.isNaN(own.getTime()) ? null : own.toISOString() };
  return looksMarked(own) ? { $object: Object.entries(own) } : replacer.call(this, key, value);
}

/** JSON that {@link fromJson} gives back to the last type: dates as `{"$date"}`, and objects that read as one of these forms as `{"$object"}`. */
export const toExactJson = (value: unknown): string => visibleJson(JSON.stringify(value, exactReplacer) ?? "null");

/** The inverse of {@link toJson} and {@link toExactJson}. @throws {SyntaxError} when it is no JSON, or one of these forms without such a value. */
export const fromJson = (text: string): unknown => revive(JSON.parse(text));
