import { encodeStrictly } from "./encode-field.ts";
import { fieldValue } from "./field-value.ts";
import type { FieldPart, Template } from "./key-template.ts";
import { writtenCount } from "./sharding.ts";
import type { Row } from "../util/row.ts";

/** As much of a key as is known, from the left. */
export interface Prefix {
  /**
   * The known text. When not `complete` it ends with the literal behind the last known field, so that
   * `begins_with` never meets a longer id; when `complete` it is a whole key, to be compared by `=`.
   */
  readonly text: string;
  readonly complete: boolean;
  /** The path of the first unknown field. */
  readonly next: string | undefined;
  /** The distinct paths whose values are in the text. */
  readonly used: readonly string[];
}

// The number of a writer's shards may depend on another field of the row.
const inRow = (part: FieldPart, row: Row): FieldPart => {
  const { format } = part;
  if (format.kind !== "shard" || !format.sharding.per) return part;
  return { ...part, format: { kind: "shard", sharding: { counts: [writtenCount(format.sharding, row)] } } };
};

/**
 * The key of a row, or undefined when a field is undefined or null: never a partial key. The caller
 * checks the length: 2048 bytes for a partition key, 1024 for a sort key (ServiceQuotas).
 *
 * @throws {keys.empty} when a field is an empty text
 * @throws {keys.wrongType} when a value's type is not its format's
 * @throws {keys.notEncodable} when a format has no text for its value
 * @throws {keys.delimiter} when an adopted layout's delimiter occurs in a value
 */
export const renderTemplate = (template: Template, row: Row): string | undefined => {
  let text = "";
  for (const part of template.parts) {
    if (part.kind === "literal") {
      text += part.text;
      continue;
    }
    const value = fieldValue(row, part.steps);
    if (value === undefined) return undefined;
    text += encodeStrictly(template, inRow(part, row), value);
  }
  return text;
};

/**
 * The longest part of a row's key that is known from the left; a leading literal counts.
 *
 * @throws what {@link renderTemplate} throws, for the known fields
 */
export const renderPrefix = (template: Template, row: Row): Prefix => {
  let text = "";
  const used: string[] = [];
  for (const part of template.parts) {
    if (part.kind === "literal") {
      text += part.text;
      continue;
    }
    const value = fieldValue(row, part.steps);
    if (value === undefined) return { text, complete: false, next: part.path, used };
    text += encodeStrictly(template, inRow(part, row), value);
    if (!used.includes(part.path)) used.push(part.path);
  }
  return { text, complete: true, next: undefined, used };
};
