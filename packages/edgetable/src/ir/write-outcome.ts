import type { Atomic } from "./write-plan.ts";
import { jsonText } from "../util/json-text.ts";

/** What a call consumed, as DynamoDB told; a failed condition's units are predicted, because it does not tell those. */
interface WriteCost {
  readonly requests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** A deletion, or a change of copies, that took more than a transaction holds, item by item. */
export interface JobDone {
  readonly kind: "job";
  readonly id: string;
  /** Edges and parts that went with the node, or whose copies were changed. */
  readonly items: number;
}

/** A write that happened. */
export interface Written<Row> {
  readonly ok: true;
  /** The row as it is now (of a deletion: as it was), where DynamoDB or the plan tells it. */
  readonly row: Row | undefined;
  readonly cost: WriteCost;
  /** What happened together or not at all; of a job nothing but that its node went last. */
  readonly atomic: Atomic | JobDone;
  /** Only of a write that did not happen; named here so that an outcome can be destructured. */
  readonly reason?: undefined;
}

/**
 * - `exists`: a create or link found the item there
 * - `notFound`: an update, deletion, relink or unlink found nothing
 * - `conditionFailed`: a condition of `if` does not hold
 * - `versionConflict`: the item is at another version than `ifVersion`
 * - `notUnique`: another node has the same value of `attribute`
 * - `immutable`: a put would change `attribute`, of which there are copies that nothing brings up to date
 * - `endMissing`: the node with `id` at `end` of an edge, or of which a part is (`owner`), does not exist
 * - `degreeExceeded`: the node at `end` has `limit` edges of the type already
 * - `hasEdges`: edges of type `edge` restrict the deletion
 * - `rolledBack`: another call of the same transaction failed
 */
export type Reason =
  | "exists"
  | "notFound"
  | "conditionFailed"
  | "versionConflict"
  | "notUnique"
  | "immutable"
  | "endMissing"
  | "degreeExceeded"
  | "hasEdges"
  | "rolledBack";

/** A write that did not happen, for a reason that a caller may expect. Nothing was changed. */
export interface NotWritten<Row> {
  readonly ok: false;
  readonly reason: Reason;
  /** Only of a write that happened, as `atomic` is. */
  readonly row?: undefined;
  readonly atomic?: undefined;
  /** The item that stood in the way, where it is of the written type. */
  readonly current?: Row | undefined;
  readonly attribute?: string;
  readonly end?: "from" | "to" | "owner";
  readonly id?: Readonly<Record<string, unknown>>;
  readonly edge?: string;
  readonly limit?: number;
  readonly cost: WriteCost;
}

/** An upsert that happened. */
export interface Upserted<Row> extends Written<Row> {
  /** True if it created the row, false if it changed the one that was there. */
  readonly created: boolean;
}

/** What became of an upsert. */
export type UpsertOutcome<Row> = Upserted<Row> | (NotWritten<Row> & { readonly created?: undefined });

/** What became of a write: what a caller expects is a value, and no error. */
export type WriteOutcome<Row> = Written<Row> | NotWritten<Row>;

/** A reason with what stood in the way, such as `endMissing (to {"courseId":"C9"})`. */
export const showReason = ({ reason, ...why }: Partial<Omit<NotWritten<unknown>, "reason">> & { readonly reason: string }): string => {
  const { attribute, edge, end, id, limit } = why;
  const about = [attribute, edge, end, id && jsonText(id), limit === undefined ? undefined : `limit ${limit}`];
  const words = about.filter((word) => word !== undefined).join(" ");
  return words === "" ? reason : `${reason} (${words})`;
};
