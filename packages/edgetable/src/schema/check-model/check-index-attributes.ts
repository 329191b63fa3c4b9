import { templatesOverlap, type Template } from "../../keys/template.ts";
import type { Catalog } from "../catalog.ts";
import { keyAttributes, type Shape } from "../shape.ts";
import { finding, type ModelFinding } from "./finding.ts";
import { plainAttributes } from "./plain-attributes.ts";

// One index may hold many kinds of values, each by a template of its own: that is what overloading is.
// Refused is only what makes two definitions disagree on one attribute:
// - one computes it and another stores a schema's attribute under its name, which puts that one's
//   items into the index unasked, under keys that no template reads;
// - both divide it by delimiters, by different ones, and no fixed beginning tells the two apart.

const divided = (template: Template): boolean =>
  template.fields.length > 0 && template.parts.some((part) => part.kind === "literal" && part.text.includes(template.delimiter));

const storesPlainly = (catalog: Catalog, shape: Shape, attribute: string): boolean =>
  !(attribute in shape.keys) && plainAttributes(catalog, shape).some(([, stored]) => stored === attribute);

const clash = (attribute: string, a: Shape, b: Shape): string | undefined => {
  const [left, right] = [a.keys[attribute], b.keys[attribute]];
  if (!left || !right || left.delimiter === right.delimiter || !divided(left) || !divided(right) || !templatesOverlap(left, right))
    return undefined;
  return `"${a.id}" divides it by "${left.delimiter}" (${left.source}) and "${b.id}" by "${right.delimiter}" (${right.source}). Use one delimiter, or begin each with a text of its own.`;
};

const checkAttribute = (catalog: Catalog, attribute: string): readonly ModelFinding[] => {
  const computing = catalog.shapes.filter((shape) => attribute in shape.keys);
  const [first] = computing;
  if (!first) return [];
  const plain = catalog.shapes
    .filter((shape) => storesPlainly(catalog, shape, attribute))
    .map(
      (shape) =>
        `"${first.id}" computes it (${first.keys[attribute]?.source}) and "${shape.id}" stores an attribute of its schema there. Compute it in both, or store that under another name.`,
    );
  const rival = computing.flatMap((b, at) => computing.slice(0, at).flatMap((a) => clash(attribute, a, b) ?? []))[0];
  return [...plain, ...(rival === undefined ? [] : [rival])].map((message) =>
    finding("indexAttribute", `index attribute "${attribute}"`, message),
  );
};

/** Key attributes of indexes that two definitions fill in ways that do not go together. */
export const checkIndexAttributes = (catalog: Catalog): readonly ModelFinding[] => {
  const attributes = catalog.indexes.flatMap(keyAttributes);
  return [...new Set(attributes)].flatMap((attribute) => checkAttribute(catalog, attribute));
};
