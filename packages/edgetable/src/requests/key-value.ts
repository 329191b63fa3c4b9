import { decimalOf, decimalText, readTemplate, type Template } from "../keys/template.ts";
import type { AttributeValue } from "../transport/operations.ts";
import { decodeValue } from "./attribute-value.ts";

type KeyType = Template["type"];

// Bounds that exclude a text end with U+0000. Nothing lies right above or below a number: the plan checks such a condition again.
const withoutEnd = (text: string): string => (text.endsWith("\u0000") ? text.slice(0, -1) : text);

/** The value of a computed attribute whose text is given. A number's text sorts as the number does. */
export const keyValue = (type: KeyType, text: string): AttributeValue => (type === "N" ? { N: decimalOf(withoutEnd(text)) } : { S: text });

/** The text by which a key's value sorts: of a number the one that `keyValue` takes. */
export const keyTextOf = (value: AttributeValue | undefined): string | undefined => {
  if (value === undefined) return undefined;
  if ("S" in value) return value.S;
  return "N" in value ? decimalText(value.N) : undefined;
};

/** The fields of a computed attribute; undefined where it is absent, of another type, or not made by the template. */
export const readKey = (template: Template, value: AttributeValue | undefined): Record<string, unknown> | undefined => {
  if (value === undefined) return undefined;
  if (template.type === "S") return "S" in value ? readTemplate(template, value.S) : undefined;
  // As every number is read: one that a double cannot hold is rounded.
  return "N" in value ? { [template.fields[0] ?? ""]: decodeValue(value) } : undefined;
};
