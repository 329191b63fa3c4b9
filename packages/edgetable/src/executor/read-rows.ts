import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import { sameValue } from "../keys/template.ts";
import { keyTextOf } from "../requests/attribute-value.ts";
import type { Position, Ties } from "../requests/cursor.ts";
import { decodeItem, type decodeOwn, driftedFields } from "../requests/decode-item.ts";
import { keyOfItem } from "../requests/encode-item.ts";
import type { Binding } from "../requests/encode-read.ts";
import type { Filters } from "../requests/expression.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import type { AttributeValue, Item, Operation } from "../transport/operations.ts";
import { defined } from "../util/invariant.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import type { ParseRow } from "./parse-rows.ts";
import type { PageSpending, ReadStop } from "./read-budget.ts";
import type { CallContext, Session } from "./session.ts";

const keyTextIn = (value: AttributeValue | undefined): string => keyTextOf(value) ?? JSON.stringify(value ?? null);

/** An item's table key as text. The length of its first part tells apart keys that would read the same when joined. */
export const identity = ({ index: { partitionKey, sortKey } }: Catalog, item: Item): string => {
  const partition = keyTextIn(item[partitionKey]);
  return sortKey === undefined ? partition : `${partition.length}:${partition}${keyTextIn(item[sortKey])}`;
};

/** Items by {@link identity}. */
export const byIdentity = (catalog: Catalog, items: readonly Item[]): ReadonlyMap<string, Item> => {
  const found = new Map<string, Item>();
  for (const item of items) found.set(identity(catalog, item), item);
  return found;
};

/** The error for an answer whose items do not belong to the request, which DynamoDB never sends. */
export const foreignAnswer = (operation: Operation, what: string): EdgetableError =>
  new EdgetableError(
    "execute.connection",
    `${operation}: the answer is not DynamoDB's, ${what}. Is there a proxy, or another server, at the endpoint?`,
    { retryable: true, details: { ambiguous: true } },
  );

/**
 * Checks that the item of a GetItem has the key that was asked for.
 *
 * @throws {execute.connection} when it has another key, or none
 */
export const checkedItem = (catalog: Catalog, key: Item, item: Item | undefined): Item | undefined => {
  if (item && identity(catalog, item) !== identity(catalog, key)) throw foreignAnswer("GetItem", "its item has another key");
  return item;
};

/** A row with where it came from. */
export interface Found {
  readonly shape: Shape;
  readonly row: Record<string, unknown>;
  readonly item: Item;
  readonly source: number;
  /** The node at the far end, once hydrated; undefined when it has no item. */
  node?: Record<string, unknown> | undefined;
}

export interface Rows {
  readonly found: readonly Found[];
  /** Where to go on; undefined when everything was read. */
  readonly next: Position | undefined;
  /** Why it ended before it found as many rows as it was asked for, with more to read. */
  readonly stopped?: ReadStop | undefined;
  /** Of a read over shards: which rows under the first row's sort key come before it, for a page in the other direction. */
  readonly begun?: Ties | undefined;
}

/** One running of a read plan. */
export interface Reader {
  readonly session: Session;
  readonly plan: ReadPlan;
  readonly binding: Binding;
  /** Of each source, where they differ: the sources of a feed are the same Query of several nodes. */
  readonly bindings?: readonly Binding[] | undefined;
  readonly context: CallContext;
  readonly limit: number | undefined;
  readonly backward: boolean;
  /** Of a page: what it may take. A read that gives no cursor has none, and ends with an error at its deadline. */
  readonly spending?: PageSpending | undefined;
  /** Gives the rows of types whose schemas parse what is read; undefined if the model has none, or the rows are for the library itself. */
  readonly parse?: ParseRow | undefined;
  /** For a plan with conditions. */
  readonly filters?: Filters | undefined;
}

/** The shapes that a step finds. */
export const shapesOf = (catalog: Catalog, ids: readonly string[]): readonly Shape[] =>
  ids.map((id) => defined(catalog.shapesById[id], id));

/** What a read needs to make rows of items. */
export interface Reading {
  readonly session: Pick<Session, "catalog" | "tenant">;
  readonly context: CallContext;
}

/** The field by which a node is another tenant's; undefined if it is the tenant's own, or has no tenant. */
export const foreignField = (tenant: Row, id: Row): string | undefined =>
  Object.keys(tenant).find((field) => field in id && !sameValue(id[field], tenant[field]));

// Only a program without a tenant links nodes of two tenants.
const refuseCrossing = (tenant: Row, row: Row): void => {
  for (const end of [row["from"], row["to"]] as readonly Row[]) {
    const field = foreignField(tenant, end);
    if (field !== undefined)
      throw new EdgetableError("request.otherTenant", `an end of it is another tenant's: its ${field} is ${jsonText(end[field])}`, {
        details: { field, value: end[field], tenant },
      });
  }
};

/**
 * The row of an item; undefined where it cannot be read and the call passes such items over.
 *
 * @throws {keys.unreadable} where the call says so
 */
export const readRow = (
  { session: { catalog, tenant }, context }: Reading,
  [shape, item]: readonly [Shape, Item],
  decode: typeof decodeOwn = decodeItem,
): Record<string, unknown> | undefined => {
  let row: Record<string, unknown>;
  try {
    row = decode(catalog, shape, item, context.reading);
    if (tenant && shape.kind === "edge" && !context.crossing?.reach) refuseCrossing(tenant, row);
  } catch (error) {
    const onStray = context.reading?.onStray;
    if (!isEdgetableError(error) || onStray === "throw") throw error;
    context.meter.strays++;
    if (context.crossing && error.code === "request.otherTenant") context.crossing.met++;
    if (typeof onStray === "function")
      onStray({ key: keyOfItem(catalog, item), item, reason: `it does not read as "${shape.definition}": ${error.message}` });
    return undefined;
  }
  // In Edgetable's own layout, no attribute repeats a field of the key.
  if (!catalog.escapes) for (const one of driftedFields(shape, item, row)) context.meter.drifts({ key: keyOfItem(catalog, item), ...one });
  return row;
};
