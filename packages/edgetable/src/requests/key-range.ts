import { comparePrimary, encodeField, encodePrefix, keepsOrder, renderTemplate, type Template } from "../keys/template.ts";
import type { Condition } from "../ir/condition.ts";
import type { SortCondition } from "../ir/physical-plan.ts";
import type { Row } from "../util/row.ts";

type Range = Extract<SortCondition, { readonly kind: "range" }>;

/** Inclusive bounds of a sort key; `prefix` when all keys that begin with it are meant. */
export type KeyRange =
  | { readonly kind: "equals"; readonly text: string }
  | { readonly kind: "prefix"; readonly text: string }
  | { readonly kind: "between"; readonly low: string; readonly high: string }
  | { readonly kind: "atLeast"; readonly low: string }
  | { readonly kind: "atMost"; readonly high: string };

/** The least text that is greater than every text with the given prefix. */
export const after = (prefix: string): string => {
  const pair = prefix.codePointAt(prefix.length - 2) ?? 0;
  const last = pair > 0xffff ? prefix.slice(-2) : prefix.slice(-1);
  if (last === "") return "\u{10FFFF}";
  const next = (last.codePointAt(0) ?? 0) + 1;
  const skipped = next >= 0xd800 && next <= 0xdfff ? 0xe000 : next;
  return prefix.slice(0, prefix.length - last.length) + String.fromCodePoint(Math.min(skipped, 0x10ffff));
};

interface Bounds {
  readonly range: Range;
  /** What every key of the range begins with. */
  readonly start: string;
  low: string | undefined;
  high: string | undefined;
  prefix: string | undefined;
}

// In an adopted layout a value may hold characters below the delimiter that ends a shorter value, so
// that keys sort otherwise than values do: the bound then moves out to where no key can be missed. Not so
// where keys sort exactly as values: nothing checks those again.
const unsafeAt = (template: Template, path: string, text: string): number => {
  if (keepsOrder(template, path)) return -1;
  for (let at = 0; at < text.length; at++) if ((text[at] as string) < template.delimiter) return at;
  return -1;
};

const highBound = ({ range, start: prefix }: Bounds, text: string, inclusive: boolean): string => {
  const unsafe = range.followed ? unsafeAt(range.whole, range.path, text) : -1;
  if (unsafe >= 0) return after(prefix + text.slice(0, unsafe) + range.whole.delimiter);
  if (!range.followed) return prefix + text;
  return inclusive ? after(prefix + text + range.whole.delimiter) : prefix + text;
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

const apply = (bounds: Bounds, condition: Condition, value: unknown): void => {
  const { range } = bounds;
  const encode = (operand: unknown): string => encodeField(range.whole, range.path, operand);
  switch (condition.operator) {
    case "gte":
    case "gt":
      return tighten(bounds, lowBound(bounds, encode(value), condition.operator === "gte"), undefined);
    case "lte":
    case "lt":
      return tighten(bounds, undefined, highBound(bounds, encode(value), condition.operator === "lte"));
    case "between": {
      const [low, high] = value as readonly [unknown, unknown];
      return tighten(bounds, lowBound(bounds, encode(low), true), highBound(bounds, encode(high), true));
    }
    default: {
      const text = bounds.start + encodePrefix(range.whole, range.path, value);
      bounds.prefix = text;
      return tighten(bounds, text, after(text));
    }
  }
};

/** The texts between which the sort keys of a range lie; a little wide where keys do not sort as values. */
export const keyRange = (range: Range, row: Row, values: readonly unknown[]): KeyRange => {
  const prefix = renderTemplate(range.template, row) ?? "";
  const bounds: Bounds = { range, start: prefix, low: undefined, high: undefined, prefix: undefined };
  for (const condition of range.bounds) apply(bounds, condition, values[condition.slot]);
  if (bounds.prefix !== undefined && range.bounds.length === 1) return { kind: "prefix", text: bounds.prefix };
  const { low, high } = bounds;
  if (prefix !== "") return { kind: "between", low: low ?? prefix, high: high ?? after(prefix) };
  if (low !== undefined && high !== undefined) return { kind: "between", low, high };
  return low === undefined ? { kind: "atMost", high: high ?? "\u{10FFFF}" } : { kind: "atLeast", low };
};
