import type { AttributeValue, Item } from "../transport/operations.ts";

/**
 * The `#n` and `:v` of one request. Every name and value goes through here: reserved words, hyphens
 * and multi-byte names then need no care (and one engine dies of the last when written plainly).
 */
export class Placeholders {
  readonly #names = new Map<string, string>();
  readonly #values: Record<string, AttributeValue> = {};
  #count = 0;

  name(attribute: string): string {
    let placeholder = this.#names.get(attribute);
    if (placeholder === undefined) {
      placeholder = `#${this.#names.size}`;
      this.#names.set(attribute, placeholder);
    }
    return placeholder;
  }

  value(value: AttributeValue): string {
    const placeholder = `:${this.#count++}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  /** The two maps of a request, each left out when it is empty, as DynamoDB demands. */
  get fields(): { readonly ExpressionAttributeNames?: Readonly<Record<string, string>>; readonly ExpressionAttributeValues?: Item } {
    return {
      ...(this.#names.size > 0 ? { ExpressionAttributeNames: Object.fromEntries([...this.#names].map(([name, placeholder]) => [placeholder, name])) } : {}),
      ...(this.#count > 0 ? { ExpressionAttributeValues: this.#values } : {}),
    };
  }
}
