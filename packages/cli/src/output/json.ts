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
export const toJson = (value: unknown, indent = 0): string => JSON.stringify(value, replacer, indent) ?? "null";

const markers: Readonly<Record<string, (value: never) => unknown>> = {
  $bigint: (text: string) => BigInt(text),
  $set: (members: readonly unknown[]) => new Set(members),
  $bytes: (text: string) => new Uint8Array(Buffer.from(text, "base64")),
  $date: (text: string | null) => new Date(text ?? Number.NaN),
  $object: (entries: readonly (readonly [string, unknown])[]) => Object.fromEntries(entries),
};

const revive = (_key: string, value: unknown): unknown => {
  if (!looksMarked(value)) return value;
  const [[name, inner] = ["", undefined]] = Object.entries(value);
  try {
    return markers[name]?.(inner as never);
  } catch {
    throw new SyntaxError(`${toJson(value)} is no ${name}`);
  }
};

function exactReplacer(this: unknown, key: string, value: unknown): unknown {
  const own = (this as Readonly<Record<string, unknown>>)[key];
  if (own instanceof Date) return { $date: Number.isNaN(own.getTime()) ? null : own.toISOString() };
  return looksMarked(own) ? { $object: Object.entries(own) } : replacer.call(this, key, value);
}

/** JSON that {@link fromJson} gives back to the last type: dates as `{"$date"}`, and objects that read as one of these forms as `{"$object"}`. */
export const toExactJson = (value: unknown): string => JSON.stringify(value, exactReplacer) ?? "null";

/** The inverse of {@link toJson} and {@link toExactJson}. @throws {SyntaxError} when it is no JSON, or one of these forms without such a value. */
export const fromJson = (text: string): unknown => JSON.parse(text, revive);
