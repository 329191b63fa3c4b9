import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { EndId } from "../../ir/logical-write.ts";
import type { EdgeEntry, Shape } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import type { EdgeBetween } from "./degree-guards.ts";
import { sameValue } from "../../keys/template.ts";
import type { Row } from "../../util/row.ts";

/** One place where an edge is written, and its row as it stands there. */
export interface EdgeCopy {
  readonly shape: Shape;
  readonly row: Row;
}

const between = (shapes: readonly Shape[], from: EndId, to: EndId): Shape | undefined =>
  shapes.find((shape) => shape.from === from.type && shape.to === to.type);

// An id may carry further fields, which tell no nodes apart.
const sameEnd = (a: EndId, b: EndId): boolean =>
  a.type === b.type && Object.keys(a.id).every((field) => !(field in b.id) || sameValue(a.id[field], b.id[field]));

const endRow = (shape: Shape, end: EndId): Row => (shape.several ? { type: end.type, ...end.id } : end.id);
const withEnds = (row: Row, { shape, from, to }: Ends): Row => Object.assign({}, row, { from: endRow(shape, from), to: endRow(shape, to) });

interface Ends {
  readonly shape: Shape;
  readonly from: EndId;
  readonly to: EndId;
}

const other = (entry: EdgeEntry, from: EndId, to: EndId): Ends | undefined => {
  if (!entry.definition.symmetric) {
    const shape = between(entry.mirrors, from, to);
    return shape && { shape, from, to };
  }
  if (sameEnd(from, to)) return undefined;
  const shape = defined(between(entry.shapes, to, from), `the way back of "${entry.name}" from "${to.type}" to "${from.type}"`);
  return { shape, from: to, to: from };
};

/** The copies of an edge: its own first, then the one in the target's partition where there is one. */
export const edgeCopies = ({ entry, from, to }: EdgeBetween, attributes: Row, reverse: Row = {}): readonly [EdgeCopy, ...EdgeCopy[]] => {
  if (entry.definition.stored === "reference") {
    throw new EdgetableError("plan.unsupported", `"${entry.name}" is stored as attributes of "${from.type}": update that node instead.`, {
      details: { edge: entry.name },
    });
  }
  const shape = defined(between(entry.shapes, from, to), `"${entry.name}" from "${from.type}" to "${to.type}"`);
  const own = { shape, row: withEnds(attributes, { shape, from, to }) };
  const second = other(entry, from, to);
  return second ? [own, { shape: second.shape, row: withEnds({ ...attributes, ...reverse }, second) }] : [own];
};
