import type { AttributeValue, Item } from "../transport/operations.ts";

/** What a request says of its placeholders. */
export interface PlaceholderFields {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
}

// Reserved words consist of letters alone, and none ends in "pk" or "sk" (ReservedWords, DynamoDB Developer Guide).
const plain = /^[a-z][a-z0-9]\w*$/i;
const unreserved = /[\d_]|[ps]k$/i;

/**
 * Whether a name may stand in an expression as it is, as most key attributes' may: such a request is
 * shorter to send and to read, and an engine is done with it a tenth sooner.
 */
const isPlain = (attribute: string): boolean => plain.test(attribute) && unreserved.test(attribute);

/** What stands for an attribute in an expression: its name, or a placeholder that `names` tells of. */
export const nameIn = (names: Record<string, string>, attribute: string, placeholder: string): string => {
  if (isPlain(attribute)) return attribute;
  names[placeholder] = attribute;
  return placeholder;
};

/** The names of a request, left out where there are none, as DynamoDB demands. */
export const namesOf = (names: Readonly<Record<string, string>>): Pick<PlaceholderFields, "ExpressionAttributeNames"> => {
  for (const _ in names) return { ExpressionAttributeNames: names };
  return {};
};

/**
 * The `#n` and `:v` of one request. Every name and value goes through here: reserved words, hyphens
 * and multi-byte names then need no care elsewhere (and one engine dies of the last when written plainly).
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

  value(value: AttributeValue): string {
    const placeholder = `:${this.#count++}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  /** The two maps of a request, each left out when it is empty, as DynamoDB demands. */
  get fields(): PlaceholderFields {
    const fields: { -readonly [Field in keyof PlaceholderFields]: PlaceholderFields[Field] } = {};
    if (this.#order.length > 0) fields.ExpressionAttributeNames = this.#names;
    if (this.#count > 0) fields.ExpressionAttributeValues = this.#values;
    return fields;
  }
}
