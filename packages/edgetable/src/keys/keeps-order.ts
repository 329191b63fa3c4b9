import type { FieldFormat } from "./field-format.ts";
import type { Template } from "./key-template.ts";

// Whether texts of the format, each followed by the delimiter, sort as their values do.
const ordersBefore = (format: FieldFormat, template: Template): boolean => {
  switch (format.kind) {
    case "either":
      return format.formats.every((one) => ordersBefore(one, template));
    case "padded":
    case "date":
    case "boolean":
      return true;
    case "number":
      return template.delimiter < "0";
    case "text":
      // Unescaped, "a b" sorts before "a#": a space is less than the delimiter that ends the shorter text.
      return template.escapes;
    default:
      return false;
  }
};

const ordersAlone = (format: FieldFormat): boolean =>
  format.kind === "either" ? format.formats.every(ordersAlone) : format.kind !== "plain" && format.kind !== "shard";

/**
 * Whether keys that share everything before a field sort by that field's value, so that a range of
 * values is a range of keys. Always so with escapes, save for `plain` and `shard`; in an adopted
 * layout a text or number that something follows may sort wrongly. Values of different types under
 * one choice of formats (`6|text`) sort each among their own, and may stand between each other.
 */
export const keepsOrder = (template: Template, path: string): boolean => {
  const index = template.parts.findIndex((part) => part.kind === "field" && part.path === path);
  const part = template.parts[index];
  if (part?.kind !== "field") return false;
  return index === template.parts.length - 1 ? ordersAlone(part.format) : ordersBefore(part.format, template);
};
