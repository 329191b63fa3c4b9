import { decodePart, isOneWay, leadOf, readTemplate, templateMatches } from "./render-template.ts";
import type { Template } from "./key-template.ts";

/** One piece of a key's text: a literal of its template, or a field with its path. */
export interface KeyPiece {
  readonly text: string;
  /** The path of the field that wrote the text, such as `to.courseId`; undefined for a literal. */
  readonly path: string | undefined;
}

/** Divides a key's text into the pieces of its template; undefined if the template did not make the key. */
export const splitKey = (template: Template, text: string): readonly KeyPiece[] | undefined => {
  if (template.joined || !templateMatches(template, text)) return undefined;
  let at = 0;
  return template.parts.map((part) => {
    const from = at;
    if (part.kind === "literal") at += part.text.length;
    else {
      const found = text.indexOf(template.delimiter, at);
      at = found === -1 ? text.length : found;
    }
    return { text: text.slice(from, at), path: part.kind === "literal" ? undefined : part.path };
  });
};

/** Reads one field of a key's text; undefined if the template did not make it. */
type FieldReader = (text: string) => unknown;

/** A field that ends every key of a template. */
export interface EndingField {
  /** The fixed beginning of every key. */
  readonly beginning: string;
  /** Reads the field from the text after the beginning. */
  readonly read: FieldReader;
}

/**
 * The field that ends a template's keys, if it can be read without the fields before it; undefined if another field ends the
 * keys, or if the fields before it have to be read too.
 */
export const endingField = (template: Template, path: string): EndingField | undefined => {
  const [first, ...others] = template.parts;
  const beginning = leadOf(template);
  const rest = first?.kind === "literal" ? others : template.parts;
  const field = rest.at(-1);
  if (field?.kind !== "field" || field.path !== path || isOneWay(field.format)) return undefined;
  const { delimiter } = template;
  if (rest.length === 1)
    return {
      beginning,
      read: (text) => ((text === "" && !template.verbatim) || text.includes(delimiter) ? undefined : decodePart(field, text, template)),
    };
  const before = rest.at(-2);
  if (!template.escapes || before?.kind !== "literal" || before.text !== delimiter) return undefined;
  const read: FieldReader = (text) => {
    // Escaped values contain no delimiter: the field follows the last one.
    const at = text.lastIndexOf(delimiter);
    return at < 1 || at === text.length - 1 ? undefined : decodePart(field, text.slice(at + 1), template);
  };
  return { beginning, read };
};

/**
 * A reader of one field, for walks that read millions of keys.
 *
 * @param path one of the template's `fields` that it carries
 */
export const fieldReader = (template: Template, path: string): FieldReader => {
  const ending = endingField(template, path);
  if (!ending) return (text) => readTemplate(template, text)?.[path];
  const { beginning, read } = ending;
  return (text) => (text.startsWith(beginning) ? read(text.slice(beginning.length)) : undefined);
};
