import type { Condition, Conditions } from "../ir/condition.ts";
import type { SortCondition } from "../ir/physical-plan.ts";
import type { Shape } from "../schema/catalog.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import type { Row } from "../util/row.ts";

/** The placeholders of a request. */
export interface PlaceholderFields {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
}

// Reserved words consist of letters alone, and none ends in "pk" or "sk" (ReservedWords, DynamoDB Developer Guide).
const plain = /^[a-z][a-z0-9]\w*$/i;
const unreserved = /[\d_]|[ps]k$/i;

/**
 * True if a name may be used in an expression without a placeholder, like most key attributes. Such a request is shorter, and
 * engines take a tenth less time for it.
 */
const isPlain = (attribute: string): boolean => plain.test(attribute) && unreserved.test(attribute);

/** An attribute in an expression: its name, or a placeholder in `names`. */
export const nameIn = (names: Record<string, string>, attribute: string, placeholder: string): string => {
  if (isPlain(attribute)) return attribute;
  names[placeholder] = attribute;
  return placeholder;
};

/** The names of a request; left out if there are none, because DynamoDB rejects an empty map. */
export const namesOf = (names: Readonly<Record<string, string>>): Pick<PlaceholderFields, "ExpressionAttributeNames"> => {
  for (const _ in names) return { ExpressionAttributeNames: names };
  return {};
};

/**
 * The `#n` and `:v` of one request. Every name and value goes through here, so reserved words, hyphens and multi-byte names need no
 * care elsewhere. (Plain multi-byte names crash one engine.)
 */
export class Placeholders {
  // A request names few attributes: looking through a list is cheaper than keeping a Map.
  readonly #order: string[] = [];
  readonly #names: Record<string, string> = {};
  readonly #values: Record<string, AttributeValue> = {};
  #count = 0;

  name(attribute: string): string {
    let at = this.#order.indexOf(attribute);
    if (at < 0) {
      if (isPlain(attribute)) return attribute;
      at = this.#order.push(attribute) - 1;
      this.#names[`#${at}`] = attribute;
    }
    return `#${at}`;
  }

  /** An attribute, or what lies within it. */
  path(attribute: string, within: readonly (string | number)[] = []): string {
    let text = this.name(attribute);
    for (const step of within) text += typeof step === "number" ? `[${step}]` : `.${this.name(step)}`;
    return text;
  }

  value(value: AttributeValue): string {
    const placeholder = `:${this.#count++}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  /** The two maps of a request, each left out if it is empty, because DynamoDB rejects an empty map. */
  get fields(): PlaceholderFields {
    const fields: { -readonly [Field in keyof PlaceholderFields]: PlaceholderFields[Field] } = {};
    if (this.#order.length > 0) fields.ExpressionAttributeNames = this.#names;
    if (this.#count > 0) fields.ExpressionAttributeValues = this.#values;
    return fields;
  }
}

/** Inclusive bounds of a sort key; `prefix` for all keys that begin with it. */
export type KeyRange =
  | { readonly kind: "equals"; readonly text: string }
  | { readonly kind: "prefix"; readonly text: string }
  | { readonly kind: "between"; readonly low: string; readonly high: string }
  | { readonly kind: "atLeast"; readonly low: string }
  | { readonly kind: "atMost"; readonly high: string };

const LAST = "\u{10FFFF}";

/** The least text that is greater than every text with the given prefix. */
export const after = (prefix: string): string => {
  // No character follows the last one: the one before it is raised.
  if (prefix.endsWith(LAST)) return after(prefix.slice(0, -LAST.length));
  const pair = prefix.codePointAt(prefix.length - 2) ?? 0;
  const last = pair > 0xffff ? prefix.slice(-2) : prefix.slice(-1);
  if (last === "") return LAST;
  const next = (last.codePointAt(0) ?? 0) + 1;
  const skipped = next >= 0xd800 && next <= 0xdfff ? 0xe000 : next;
  return prefix.slice(0, prefix.length - last.length) + String.fromCodePoint(skipped);
};

/** Encodes and checks conditions. Loaded by the first call with conditions, because the first calls of few programs have any. */
export interface Filters {
  readonly conditionExpression: (shape: Shape, conditions: Conditions, names: Placeholders) => string;
  readonly keyRange: (range: Extract<SortCondition, { readonly kind: "range" }>, row: Row, values: readonly unknown[]) => KeyRange;
  readonly holds: (condition: Condition, row: Row, values: readonly unknown[]) => boolean;
}
