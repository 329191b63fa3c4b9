import { decodePart } from "./field-codec.ts";
import { leadOf, type FieldPart, type Template } from "./key-template.ts";
import { readTemplate } from "./read-template.ts";

/** Reads one field of keys, without a row: undefined when the template did not make the key. */
type FieldReader = (text: string) => unknown;

/** A field that ends every key of a template. */
export interface EndingField {
  /** What every key begins with. */
  readonly beginning: string;
  /** Reads the field from what follows the beginning. */
  readonly read: FieldReader;
}

const onlyField = (template: Template, field: FieldPart): FieldReader => {
  return (rest) => (rest === "" || rest.includes(template.delimiter) ? undefined : decodePart(field, rest, template));
};

// Escaped values hold no delimiter: whatever stands before the last one, the field follows it.
const lastField = (template: Template, field: FieldPart): FieldReader => {
  return (rest) => {
    const at = rest.lastIndexOf(template.delimiter);
    return at < 1 || at === rest.length - 1 ? undefined : decodePart(field, rest.slice(at + 1), template);
  };
};

/**
 * The field that ends a template's keys, read without the fields before it; undefined where another
 * field ends them, or where what stands before it has to be read to be sure.
 */
export const endingField = (template: Template, path: string): EndingField | undefined => {
  const [first, ...others] = template.parts;
  const beginning = leadOf(template);
  const rest = first?.kind === "literal" ? others : template.parts;
  const field = rest.at(-1);
  if (field?.kind !== "field" || field.path !== path || field.format.kind === "shard") return undefined;
  if (rest.length === 1) return { beginning, read: onlyField(template, field) };
  const before = rest.at(-2);
  if (!template.escapes || before?.kind !== "literal" || before.text !== template.delimiter) return undefined;
  return { beginning, read: lastField(template, field) };
};

/**
 * A reader of one field, for a walk that looks at millions of keys.
 *
 * @param path one of the template's `fields`
 */
export const fieldReader = (template: Template, path: string): FieldReader => {
  const ending = endingField(template, path);
  if (!ending) return (text) => readTemplate(template, text)?.[path];
  const { beginning, read } = ending;
  return (text) => (text.startsWith(beginning) ? read(text.slice(beginning.length)) : undefined);
};
