import { requestOf } from "../client/search-call.ts";
import { startKeyOf, type Found } from "../executor/read-rows.ts";
import { type ReadRequest, runRead } from "../executor/run-read.ts";
import type { CallContext } from "../executor/session.ts";
import { readWhere } from "../ir/condition.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import { readTemplate, type Template } from "../keys/template.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import type { Position } from "../requests/cursor.ts";
import { encodeItem } from "../requests/encode-item.ts";
import { partitionsOf } from "../requests/encode-partitions.ts";
import { columnIndex } from "../schema/grid-parts.ts";
import type { Item, Key } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { StoredField } from "./field-list.ts";
import { sortText, type Bounds, valueTextIn } from "./field-value.ts";
import { columnOf, type GridModel, idOf, orderField, placeOf } from "./grid-model.ts";

/** A row that may be next, as an index tells it. */
export interface Candidate {
  readonly id: Row;
  /** The key behind which its stream goes on. */
  readonly key: Key;
  /** Of a field's values: what the value is ordered by. */
  readonly value?: string;
  /** True if the row is still where the index found it: an index lags behind the table. */
  readonly isCurrent: (row: Row, item: Item, valueOf: (field: StoredField) => unknown) => boolean;
}

/** Rows of one parent in one order, from an index: what is read of a column, or of the rows themselves. */
export interface RowStream {
  /** Which rows come: those with a value of the column, those without, or all. */
  readonly rows: "valued" | "empty" | "all";
  readonly request: ReadRequest;
  /** Partitions of the index that one step reads. */
  readonly lanes: number;
  readonly candidate: (found: Found) => Candidate;
  /** Where a row is in the order, found otherwise. `value` is its value of the field that orders the rows. */
  readonly placeOf: (row: Row, value: unknown) => RowPosition;
  /** What a position's key is compared by. */
  readonly textOf: (key: Key) => string;
  readonly forward: boolean;
}

/** A row's place in an order: by which it is compared, and the key behind which its stream goes on. */
export interface RowPosition {
  readonly text: string;
  readonly key: Key;
}

type Seed = Pick<RowStream, "rows" | "candidate" | "placeOf"> & {
  readonly of: "node" | "part";
  readonly name: string;
  readonly index: string;
  readonly where: Row;
  readonly forward: boolean;
};

const streamOf = (model: GridModel, { of, name, index, where, forward, rows, candidate, placeOf: place }: Seed): RowStream => {
  const { driver } = model;
  const { conditions, values } = readWhere(where);
  const state = { kinds: [{ of, name }], conditions, values, forward, index, select: undefined, limit: undefined };
  const request = requestOf(driver, { state }, "rows");
  const step = request.plan.sources[0] as QueryStep;
  const lanes = step.scatter ? partitionsOf(driver.catalog, step, request.binding).length : 1;
  return { rows, request, lanes, candidate, placeOf: place, textOf: (key) => keyTextOf(key[sortAttribute(model, index)]) ?? "", forward };
};

const startKey = ({ driver: { catalog } }: GridModel, index: string, item: Item): Key => startKeyOf(catalog, { index } as QueryStep, item);

const sortAttribute = ({ driver: { catalog } }: GridModel, name: string): string =>
  defined(catalog.indexes.find((index) => index.name === name)?.sortKey, "sort key");

const positionOf = (model: GridModel, index: string, item: Item): RowPosition => ({
  text: keyTextOf(item[sortAttribute(model, index)]) ?? "",
  key: startKey(model, index, item),
});

/** The key template by which an index orders rows by an attribute. */
export const attributeOrder = (model: GridModel, column: string): Template => {
  const { node, names } = model;
  const index = column === orderField(model) ? names.index : columnIndex(node.name, column);
  return defined(node.shape.keys[sortAttribute(model, index)], "sort key");
};

const rowStream = (model: GridModel, parent: Row, seed: Pick<Seed, "index" | "where" | "forward" | "rows">): RowStream => {
  const sort = sortAttribute(model, seed.index);
  return streamOf(model, {
    of: "node",
    name: model.node.name,
    ...seed,
    where: { ...parent, ...seed.where },
    candidate: ({ row, item }) => ({
      id: idOf(model, row),
      key: startKey(model, seed.index, item),
      isCurrent: (_, now) => keyTextOf(now[sort]) === keyTextOf(item[sort]),
    }),
    placeOf: (row) => positionOf(model, seed.index, encodeItem(model.driver.catalog, model.node.shape, row)),
  });
};

/** The rows of a parent in their own order. */
export const ownOrder = (
  model: GridModel,
  parent: Row,
  seed: Pick<Seed, "where" | "forward"> & { readonly rows: "empty" | "all" },
): RowStream => rowStream(model, parent, { index: model.names.index, ...seed });

/** The rows of a parent by a fixed column. */
export const byAttribute = (
  model: GridModel,
  parent: Row,
  { column, where, forward }: { readonly column: string; readonly where: Row; readonly forward: boolean },
): RowStream => rowStream(model, parent, { index: columnIndex(model.node.name, column), where, forward, rows: "valued" });

/** The rows of a parent that have a value of a field, by their values. */
export const byField = (
  model: GridModel,
  parent: Row,
  { field, bounds, forward }: { readonly field: StoredField; readonly bounds: Bounds; readonly forward: boolean },
): RowStream => {
  const { catalog } = model.driver;
  const { index } = model.names;
  const attribute = sortAttribute(model, index);
  const template = defined(model.value.shape.keys[attribute], "sort key");
  const range = { ...(bounds.low === undefined ? {} : { gte: bounds.low }), ...(bounds.high === undefined ? {} : { lt: bounds.high }) };
  return streamOf(model, {
    of: "part",
    name: model.value.name,
    index,
    where: { column: columnOf(model, parent, field), ...(Object.keys(range).length > 0 ? { sort: range } : {}) },
    forward,
    rows: "valued",
    candidate: ({ row, item }) => {
      const place = readTemplate(template, keyTextOf(item[attribute]) ?? "")?.["sort"] as string | undefined;
      return {
        id: idOf(model, row),
        key: startKey(model, index, item),
        ...(place === undefined ? {} : { value: valueTextIn(place) }),
        isCurrent: (now, _, valueOf) => {
          const value = valueOf(field);
          return value !== undefined && place === sortText(catalog, field, value as never, placeOf(model, now));
        },
      };
    },
    placeOf: (row, value) => {
      const sort = sortText(catalog, field, value as never, placeOf(model, row));
      const stored = { ...idOf(model, row), fieldId: field.fieldId, column: columnOf(model, parent, field), sort };
      return positionOf(model, index, encodeItem(catalog, model.value.shape, stored));
    },
  });
};

/** Reads on in a stream: candidates in order, and whether there may be more behind them. */
export const readStream = async (
  { driver: { session } }: GridModel,
  stream: RowStream,
  { limit, after }: { readonly limit: number; readonly after: Key | undefined },
  context: CallContext,
): Promise<{ readonly candidates: readonly Candidate[]; readonly next: Key | undefined }> => {
  // A row has one place in each order, so that no two share a sort key.
  const ties = { named: [], left: false, more: false, partitions: stream.lanes };
  const from: Position | undefined = after && { source: 0, key: after, backward: false, ties };
  const { found, next } = await runRead(session, { ...stream.request, limit, ...(from ? { from } : {}) }, context);
  return { candidates: found.map(stream.candidate), next: next?.key };
};
