import { decodePart } from "./field-codec.ts";
import type { Template } from "./key-template.ts";
import { sameValue } from "./same-value.ts";

/** Walks the text once; fills `row` where one is given. */
const scan = (template: Template, text: string, row?: Record<string, unknown>): boolean => {
  let at = 0;
  for (const part of template.parts) {
    if (part.kind === "literal") {
      if (!text.startsWith(part.text, at)) return false;
      at += part.text.length;
      continue;
    }
    const found = text.indexOf(template.delimiter, at);
    const end = found === -1 ? text.length : found;
    const value = end === at ? undefined : decodePart(part, text.slice(at, end), template);
    if (value === undefined) return false;
    at = end;
    if (row === undefined || part.format.kind === "shard") continue;
    if (!template.repeats || !(part.path in row)) row[part.path] = value;
    else if (!sameValue(row[part.path], value)) return false;
  }
  return at === text.length;
};

/**
 * The values in a key, by path (`to.courseId` stays one flat name); undefined when the template did
 * not make this key. A shard carries nothing. Never throws.
 */
export const readTemplate = (template: Template, text: string): Record<string, unknown> | undefined => {
  const row: Record<string, unknown> = {};
  return scan(template, text, row) ? row : undefined;
};

/** Whether the template may have made this key: true exactly when {@link readTemplate} reads it. */
export const templateMatches = (template: Template, text: string): boolean => scan(template, text, template.repeats ? {} : undefined);
