import type { AnyEdge, AnyNode, GraphDefinition } from "../definition.ts";
import type { Catalog } from "../catalog.ts";
import { attributeNames, isStandard } from "../standard-schema.ts";
import { VERSION } from "../system-items.ts";
import { each, plainAttributes, reportUnknown, type Report } from "./finding.ts";

const FORMS = ["old", "new"];

/** Attributes that the model before had under another name or with another type. */
export const checkFormer = (definition: GraphDefinition, report: Report): void => {
  for (const group of ["nodes", "edges", "parts"] as const) {
    each<AnyNode | AnyEdge>(definition[group] as never, (entry, one) => {
      const { renamed = {}, retyped = {}, schema } = one;
      const known = schema ? attributeNames(schema) : [];
      for (const [setting, given] of Object.entries({ renamed, retyped }))
        reportUnknown(report, `${group}.${entry}.${setting}`, Object.keys(given), { rule: "attribute", what: "an attribute here", known });
      const unique = "unique" in one ? one.unique : undefined;
      for (const name of new Set([...Object.keys(renamed), ...Object.keys(retyped)])) {
        const place = `${group}.${entry}.${name in renamed ? "renamed" : "retyped"}.${name}`;
        const [renaming, retyping] = [renamed[name], retyped[name]];
        if (unique?.includes(name)) report("setting", place, "the marker of a unique value names its attribute. Leave it as it is.");
        if (name === one.ttl) report("setting", place, "DynamoDB removes items by this attribute. Leave it as it is.");
        if (one.kind === "edge" && one.stored === "reference")
          report("setting", place, "the edge is part of its source's item. Declare it with the source.");
        if (renaming && definition.layout)
          report("setting", place, `the layout says how attributes are stored. Name it there: attributes: { ${name}: … }.`);
        const from: unknown = typeof renaming === "object" ? renaming.from : renaming;
        if (renaming && (typeof from !== "string" || from === "" || from === name))
          report("setting", place, "give the former name of the attribute, which must differ from its present name.");
        if (retyping && (!isStandard(retyping.from) || typeof retyping.with !== "function"))
          report(
            "setting",
            place,
            "give { from, with, back }: the schema of the old values, and functions from old to new and from new to old.",
          );
        else if (retyping && (retyping.stored ?? "old") === "old" && typeof retyping.back !== "function")
          report(
            "setting",
            place,
            '`back` is missing: it converts a new value to the old one, which programs with the former model read. Add it, or stored: "new" once no such program runs.',
          );
        const forms = [
          typeof renaming === "string" ? "old" : renaming && (renaming.stored ?? "old"),
          retyping && (retyping.stored ?? "old"),
        ];
        const given = [...new Set(forms.filter((form) => form !== undefined))];
        if (given.length > 1 || given.some((form) => !FORMS.includes(form)))
          report("setting", place, `\`stored\` is "old" or "new", and the same in renamed and retyped.`);
      }
    });
  }
};

/** Former names that stand for something else too, and former fields that no attribute holds. */
export const checkFormerNames = (catalog: Catalog, report: Report): void => {
  for (const shape of catalog.shapes) {
    for (const [name, { old, now }] of Object.entries(shape.former ?? {})) {
      const place = `${shape.kind}s.${shape.definition}.${name}`;
      if (shape.carried.includes(name))
        report(
          "setting",
          place,
          "it is part of the key, whose attributes cannot be renamed or retyped. Declare the kind under another name.",
        );
      const other = plainAttributes(catalog, shape).find(([field, stored]) => field !== name && (stored === old || field === old));
      const isTaken = old in shape.keys || old === catalog.typeAttribute || (shape.version && old === VERSION);
      // The names that items are written with are checked with all others.
      if (shape.stored[name] !== old && old !== now && (other || isTaken))
        report(
          "storedName",
          place,
          `items hold it as "${old}" too, which is ${other ? `"${other[0]}"` : "Edgetable's own"}. Give that another name.`,
        );
    }
  }
};
