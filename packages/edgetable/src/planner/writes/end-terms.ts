import type { Term } from "../../ir/write-plan.ts";
import { renderTemplate, sameValue } from "../../keys/template.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import type { Shape } from "../../schema/catalog.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { valueAt, own } from "../../util/row.ts";
import type { EdgeCopy } from "./edge-copies.ts";
import { imageOf, NOT_FOUND, type Planning, STALE } from "./planning.ts";
import { keyValue } from "../../requests/attribute-value.ts";

/** An edge's copy, and where it lies. */
export interface PlacedCopy extends EdgeCopy {
  readonly key: Key;
}

const sourcesOf = (shape: Shape) => shape.sources.filter(({ template }) => template.fields.some((path) => shape.unkeyed.includes(path)));

const isBetween = ({ shape, row }: EdgeCopy, held: Readonly<Record<string, unknown>>): boolean =>
  shape.unkeyed.every((path) => sameValue(valueAt(held, path), valueAt(row, path)));

// An attribute that names the end together with what the call does not know is compared by reading it.
const termsByImage = (planning: Planning, copy: PlacedCopy): readonly Term[] | null | undefined => {
  const image = imageOf(planning, copy, "its key does not name both ends");
  if (!image) return image;
  if (!isBetween(copy, decodeItem(planning.catalog, copy.shape, image))) return null;
  return sourcesOf(copy.shape).map(({ attribute }) => ({ kind: "equals", attribute, value: own(image, attribute), failure: STALE }));
};

/**
 * Terms by which what lies under a key is the edge between these ends and none to another node, where
 * the key names one end alone. Null when it was read and is another one; undefined when it has yet to be read.
 */
export const endTerms = (planning: Planning, copy: PlacedCopy): readonly Term[] | null | undefined => {
  if (copy.shape.unkeyed.length === 0) return [];
  const terms = sourcesOf(copy.shape).map(({ attribute, template }): Term | undefined => {
    const text = renderTemplate(template, copy.row);
    return text === undefined ? undefined : { kind: "equals", attribute, value: keyValue(template.type, text), failure: NOT_FOUND };
  });
  return terms.every((term) => term !== undefined) ? terms : termsByImage(planning, copy);
};

/** Whether an item that was read is an edge to other ends than the copy's. */
export const isOtherEdge = ({ catalog }: Planning, copy: EdgeCopy, image: Item): boolean =>
  copy.shape.unkeyed.length > 0 && !isBetween(copy, decodeItem(catalog, copy.shape, image));
