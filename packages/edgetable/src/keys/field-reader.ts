import { decodeFormat } from "./field-codec.ts";
import type { Template } from "./key-template.ts";
import { readTemplate } from "./read-template.ts";

/** Reads one field of keys, without a row: undefined when the template did not make the key. */
type FieldReader = (text: string) => unknown;

/**
 * A reader of one field, for a walk that looks at millions of keys.
 *
 * @param path one of the template's `fields`
 */
export const fieldReader = (template: Template, path: string): FieldReader => {
  const [first, second, more] = template.parts;
  const start = first?.kind === "literal" ? first.text : "";
  const field = first?.kind === "literal" ? second : first;
  const isLast = first?.kind === "literal" ? more === undefined : second === undefined;
  if (!isLast || field?.kind !== "field" || field.path !== path) return (text) => readTemplate(template, text)?.[path];
  return (text) => {
    if (!text.startsWith(start) || text.length === start.length || text.includes(template.delimiter, start.length)) return undefined;
    return decodeFormat(field.format, text.slice(start.length), template);
  };
};
