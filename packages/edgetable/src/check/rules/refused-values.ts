import { CONCERNS, type AdviceRule } from "../advice.ts";
import { isFixed } from "../index-places.ts";

const everyday = "-.,:/'&() _";

/** Texts of an adopted layout that are refused because they may hold a delimiter which their key does not need. */
export const refusedValues: AdviceRule = (catalog) => {
  if (catalog.escapes) return [];
  return catalog.shapes.flatMap((shape) =>
    Object.entries(shape.keys).flatMap(([attribute, template]) => {
      const [field] = template.parts;
      if (template.parts.length !== 1 || field?.kind !== "field" || field.format.kind !== "text") return [];
      if (!everyday.includes(template.delimiter) || isFixed(catalog, shape, field.path)) return [];
      return [
        {
          rule: "refusedValues",
          concern: CONCERNS.keys,
          definition: shape.definition,
          severity: "note" as const,
          message: `a {${field.path}} that contains "${template.delimiter}" is refused: "${attribute}" of "${shape.definition}" has that delimiter, though nothing follows the value.`,
          mend: `Give it one that no value holds: delimiters: { ${JSON.stringify(attribute)}: "\\u0001" }.`,
        },
      ];
    }),
  );
};
