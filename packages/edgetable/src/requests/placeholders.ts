import type { AttributeValue, Item } from "../transport/operations.ts";

/** What a request says of its placeholders. */
export interface PlaceholderFields {
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Item;
}

/**
 * The `#n` and `:v` of one request. Every name and value goes through here: reserved words, hyphens
 * and multi-byte names then need no care (and one engine dies of the last when written plainly).
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
