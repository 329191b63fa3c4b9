import { leadOf, templatesOverlap, type Template } from "../keys/template.ts";
import { keyAttributes, type Shape } from "./shape.ts";
import type { Catalog } from "./catalog.ts";

/** What tells the items of a shape from others that may lie under the same key. */
export type KindMark =
  /** The type attribute has this value, or is not there. */
  | { readonly kind: "type"; readonly attribute: string; readonly value: string }
  /** A computed attribute begins with what no rival's does. */
  | { readonly kind: "lead"; readonly attribute: string; readonly text: string };

/** The shapes whose items may have the table key of an item of this one: only where ids are shared does a model allow any. */
const rivalsOf = (catalog: Catalog, shape: Shape): readonly Shape[] =>
  catalog.shapes.filter(
    (other) =>
      other.id !== shape.id &&
      keyAttributes(catalog.index).every((attribute) => {
        const [mine, theirs] = [shape.keys[attribute], other.keys[attribute]];
        return mine !== undefined && theirs !== undefined && templatesOverlap(mine, theirs);
      }),
  );

const apart = (mine: Template, theirs: Template | undefined): boolean => {
  const [a, b] = [leadOf(mine), leadOf(theirs)];
  return theirs !== undefined && mine.type === "S" && !a.startsWith(b) && !b.startsWith(a);
};

const markOf = (catalog: Catalog, shape: Shape): KindMark | undefined => {
  const rivals = rivalsOf(catalog, shape);
  if (rivals.length === 0) return undefined;
  const { typeAttribute } = catalog;
  if (typeAttribute !== undefined && shape.typeValue !== undefined && rivals.every(({ typeValue }) => typeValue !== shape.typeValue))
    return { kind: "type", attribute: typeAttribute, value: shape.typeValue };
  const tableKeys = keyAttributes(catalog.index);
  const computed = Object.entries(shape.keys).filter(([attribute]) => !tableKeys.includes(attribute) && !shape.sparse.includes(attribute));
  const telling = computed.find(([attribute, template]) => rivals.every((rival) => apart(template, rival.keys[attribute])));
  return telling && { kind: "lead", attribute: telling[0], text: leadOf(telling[1]) };
};

const marks = new WeakMap<Shape, { readonly catalog: Catalog; readonly mark: KindMark | undefined }>();

/**
 * What must hold of an item for it to be of the shape, beside its key: undefined where no other kind can lie
 * under that key, or where nothing in an item tells the kinds apart.
 */
export const kindMark = (catalog: Catalog, shape: Shape): KindMark | undefined => {
  if (catalog.layout.sharedIds !== true) return undefined;
  let known = marks.get(shape);
  if (known?.catalog !== catalog) marks.set(shape, (known = { catalog, mark: markOf(catalog, shape) }));
  return known.mark;
};
