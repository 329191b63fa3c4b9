import { encodeDate } from "./date-text.ts";
import { type Refusal, refusal } from "./field-format.ts";
import { encodeNumber } from "./number-text.ts";

const plainNumber = /^(?:0|[1-9]\d{0,4})$/;

// FNV-1a, 32 bit: http://www.isthe.com/chongo/tech/comp/fnv/ (offset basis and prime).
const absorb = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193);

const absorbCodePoint = (hash: number, code: number): number => {
  if (code < 0x80) return absorb(hash, code);
  if (code < 0x800) return absorb(absorb(hash, 0xc0 | (code >> 6)), 0x80 | (code & 0x3f));
  const lead = code < 0x10000 ? absorb(hash, 0xe0 | (code >> 12)) : absorb(absorb(hash, 0xf0 | (code >> 18)), 0x80 | ((code >> 12) & 0x3f));
  return absorb(absorb(lead, 0x80 | ((code >> 6) & 0x3f)), 0x80 | (code & 0x3f));
};

// The last mixing of MurmurHash3: FNV's low bits alone are uneven, and a modulo of 16 sees only those.
const mix = (hash: number): number => {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
};

const hashText = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0;
    if (code > 0xffff) at++;
    hash = absorbCodePoint(hash, code);
  }
  return mix(hash);
};

const textOf = (value: unknown): string | Refusal => {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return encodeNumber(value);
  if (typeof value === "boolean") return String(value);
  if (value instanceof Date) return encodeDate(value);
  return refusal("keys.wrongType", "has no text to take a shard from", "Give a text, number, boolean or Date.");
};

/**
 * The shard of a value, 0 to `count - 1`, as plain text: FNV-1a over the UTF-8 of its text, mixed, modulo
 * `count`. Stored keys depend on it, so it never changes. Without padding, so that a shard has the same
 * name whatever the count: where the count grows, an item whose number stays need not move.
 */
export const encodeShard = (value: unknown, count: number): string | Refusal => {
  const text = textOf(value);
  return typeof text === "string" ? String(hashText(text) % count) : text;
};

/** The shard's number; undefined when the text is not one of `count` shards. */
export const decodeShard = (text: string, count: number): number | undefined => {
  if (!plainNumber.test(text)) return undefined;
  const shard = Number(text);
  return shard < count ? shard : undefined;
};
