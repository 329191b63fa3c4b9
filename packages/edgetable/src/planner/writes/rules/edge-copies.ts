import { EdgetableError } from "../../../errors/edgetable-error.ts";
import type { EndId } from "../../../ir/logical-write.ts";
import type { Term } from "../../../ir/write-plan.ts";
import { inKeysCase, renderTemplate, sameValue } from "../../../keys/template.ts";
import { decodeItem } from "../../../requests/decode-item.ts";
import { keyValue } from "../../../requests/attribute-value.ts";
import type { EdgeEntry, KeySource, Shape } from "../../../schema/catalog.ts";
import type { Item, Key } from "../../../transport/operations.ts";
import { defined } from "../../../util/invariant.ts";
import { own, type Row, valueAt } from "../../../util/row.ts";
import { type EdgeBetween, imageOf, NOT_FOUND, STALE, type WorkingSet } from "../working-set.ts";

/** One place where an edge is stored, and its row as it stands there. */
export interface EdgeCopy {
  readonly shape: Shape;
  readonly row: Row;
}

/** The shape of an edge between two nodes, of several that a type has. */
export const shapeBetween = (shapes: readonly Shape[], from: EndId, to: EndId): Shape | undefined =>
  shapes.find((shape) => shape.from === from.type && shape.to === to.type);

const withEnds = (row: Row, shape: Shape, { from, to }: { readonly from: EndId; readonly to: EndId }): Row =>
  Object.assign({}, row, {
    from: shape.several ? { type: from.type, ...from.id } : from.id,
    to: shape.several ? { type: to.type, ...to.id } : to.id,
  });

/** True if an edge leads from a node to itself. An id may carry further fields, or other cases, which do not tell nodes apart. */
export const isSameNode = ({ shapes }: EdgeEntry, from: EndId, to: EndId): boolean => {
  if (from.type !== to.type) return false;
  const { folded = {} } = shapeBetween(shapes, from, to) ?? {};
  const inKey = (field: string, value: unknown): unknown => inKeysCase(folded[`from.${field}`], value);
  return Object.keys(from.id).every((field) => !(field in to.id) || sameValue(inKey(field, from.id[field]), inKey(field, to.id[field])));
};

/** The ends of the second copy, as its row names them; undefined where the edge is stored once. */
const secondCopy = (entry: EdgeEntry, from: EndId, to: EndId) => {
  if (!entry.definition.symmetric) {
    const shape = shapeBetween(entry.mirrors, from, to);
    return shape && { shape, from, to };
  }
  if (isSameNode(entry, from, to)) return undefined;
  const shape = shapeBetween(entry.shapes, to, from);
  return { shape: defined(shape, `the way back of "${entry.name}" from "${to.type}" to "${from.type}"`), from: to, to: from };
};

/** The copies of an edge: its own first, then the one in the target's partition if there is one. */
export const edgeCopies = (
  { entry, from, to }: Omit<EdgeBetween, "kind">,
  attributes: Row,
  reverse: Row = {},
): readonly [EdgeCopy, ...EdgeCopy[]] => {
  if (entry.definition.stored === "reference") {
    throw new EdgetableError("plan.unsupported", `"${entry.name}" is stored as attributes of "${from.type}": update that node instead.`, {
      details: { edge: entry.name },
    });
  }
  const shape = defined(shapeBetween(entry.shapes, from, to), `"${entry.name}" from "${from.type}" to "${to.type}"`);
  const first = { shape, row: withEnds(attributes, shape, { from, to }) };
  const second = secondCopy(entry, from, to);
  return second ? [first, { shape: second.shape, row: withEnds({ ...attributes, ...reverse }, second.shape, second) }] : [first];
};

/**
 * Terms by which the item under a key is the edge between these ends, where the key names only one of them.
 * Null if it was read and leads to another node; undefined while it has to be read.
 */
export const endTerms = (working: WorkingSet, copy: EdgeCopy & { readonly key: Key }): readonly Term[] | null | undefined => {
  const { shape, row } = copy;
  if (shape.unkeyed.length === 0) return [];
  const terms: Term[] = [];
  const isOfEnd = ({ template }: KeySource): boolean => template.carried.some((path) => shape.unkeyed.includes(path));
  for (const { attribute, template } of shape.sources.filter(isOfEnd)) {
    const text = renderTemplate(template, row);
    if (text !== undefined) {
      terms.push({ kind: "equals", attribute, value: keyValue(template.type, text), failure: NOT_FOUND });
      continue;
    }
    // An attribute that names the end together with what the call does not know is compared by reading it.
    const image = imageOf(working, copy, "its key does not name both ends");
    if (!image) return image;
    if (isOtherEdge(working, copy, image)) return null;
    for (const one of [{ attribute }, ...shape.spares.filter(isOfEnd)])
      terms.push({ kind: "equals", attribute: one.attribute, value: own(image, one.attribute), failure: STALE });
  }
  return terms;
};

/** True if an item that was read is an edge to other ends than the copy's. */
export const isOtherEdge = ({ catalog }: WorkingSet, { shape, row }: EdgeCopy, image: Item): boolean => {
  if (shape.unkeyed.length === 0) return false;
  const stored = decodeItem(catalog, shape, image);
  return !shape.unkeyed.every((path) => sameValue(valueAt(stored, path), valueAt(row, path)));
};
