import type { Template } from "../../keys/template.ts";
import { CONCERNS, type AdviceRule } from "../advice.ts";
import { distinct } from "../index-places.ts";

const highest = 0x2f; // "/", the last before the digits.

// A field with more behind it: only there does the delimiter decide which of two keys comes first.
const isDivided = (template: Template): boolean =>
  template.parts.some((part, at) => part.kind === "field" && at < template.parts.length - 1);

/** Delimiters of an adopted layout that sort above digits or letters. */
export const highDelimiter: AdviceRule = (catalog) => {
  if (catalog.escapes) return [];
  const sorted = new Set([catalog.index, ...catalog.indexes].flatMap((index) => index.sortKey ?? []));
  const uses = catalog.shapes.flatMap((shape) =>
    Object.entries(shape.keys).flatMap(([attribute, template]) =>
      sorted.has(attribute) && isDivided(template) && template.delimiter.charCodeAt(0) > highest ? [{ shape, attribute, template }] : [],
    ),
  );
  return distinct(uses, ({ template, attribute }) => template.delimiter + attribute).map(({ shape, attribute, template }) => ({
    rule: "highDelimiter",
    concern: CONCERNS.keys,
    definition: shape.definition,
    severity: "note" as const,
    message: `the delimiter "${template.delimiter}" of "${attribute}" sorts above digits: what follows "12" comes before what follows "1" (${template.source}).`,
    mend: `Do not rely on the order of ids in "${attribute}"; for a new table use "#".`,
  }));
};
