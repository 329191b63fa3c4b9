import type { Call, RunOptions } from "../executor/call.ts";
import type { Where } from "../ir/condition.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import type { WriteOutcome, Written } from "../ir/write-outcome.ts";
import type { Atomic, WritePlan } from "../ir/write-plan.ts";

/** One request that an explained write sends. */
export interface ExplainedWriteRequest {
  readonly operation: string;
  readonly input: unknown;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** What a write will do, without doing it. The same plan object is what runs. */
export interface WriteExplanation {
  readonly kind: "write";
  readonly writes: readonly LogicalWrite[];
  readonly plan: WritePlan;
  /** Everything that is sent; for a plan that first has to read: the reads. */
  readonly requests: readonly ExplainedWriteRequest[];
  /** Undefined while it depends on what is read. */
  readonly atomic: Atomic | undefined;
  /** Predicted: an item that is changed or deleted counts with its `expect.bytes`. */
  readonly cost: { readonly requests: number; readonly readUnits: number; readonly writeUnits: number };
  readonly notes: readonly string[];
}

/** A write that has not been made yet; awaiting it gives its outcome as a value. */
export interface WriteCall<Row> extends Call<WriteOutcome<Row>, WriteExplanation> {
  /**
   * Makes the write and gives what was written.
   *
   * @throws {execute.notWritten} when it did not happen, with the outcome in `details`
   */
  orThrow(options?: RunOptions): Promise<Written<Row>>;
}

/** What must hold of the item for it to be written. */
export interface WriteOptions<Filter> {
  /** Conditions on the item as it is now; when one fails, the outcome is `conditionFailed`. */
  readonly if?: Filter;
  /** The version that was read; when the item is at another, the outcome is `versionConflict`. Needs `version: true`. */
  readonly ifVersion?: number;
}

/** Changes that are more than new values. An attribute may stand in one of them only. */
export interface ChangeSet<Changes> {
  readonly set?: Changes;
  readonly remove?: readonly (keyof Changes & string)[];
  /** Numbers to add (negative ones subtract), sets to unite with; a missing attribute counts as 0 or empty. */
  readonly add?: { readonly [Field in keyof Changes]?: number | bigint | ReadonlySet<unknown> };
  /** Elements to put behind a list; a missing attribute counts as empty. */
  readonly append?: { readonly [Field in keyof Changes]?: readonly unknown[] };
}

interface ItemTypes {
  readonly row: unknown;
  readonly input: unknown;
  readonly id: unknown;
  readonly changes: unknown;
}

/** The writing side of `db.<node>`. `T` is the definition's `"~types"`. */
export interface NodeWrites<T extends ItemTypes> {
  /**
   * Writes a new node; when there is one, the outcome is `exists` (or `notUnique`).
   *
   * One PutItem: one write unit for each KB, and as much for each index it is in. With unique
   * attributes a transaction, at twice the units, with one marker for each.
   *
   * @throws {schema.invalidValue} when the schema refuses it
   * @throws {schema.unknownAttribute} for an attribute that the schema does not have
   * @example
   * const outcome = await db.student.create({ studentId: "S1", name: "John Doe" });
   * if (!outcome.ok) console.log(outcome.reason);
   */
  create(input: T["input"]): WriteCall<T["row"]>;
  /** Writes a node, whatever was there. One PutItem; with unique attributes or a version it reads first. */
  put(input: T["input"], options?: WriteOptions<Where<T["row"]>>): WriteCall<T["row"]>;
  /**
   * Changes a node that is there; when there is none, the outcome is `notFound`. `changes` are new
   * values, or `{ set, remove, add, append }`. One UpdateItem; where an index key needs attributes
   * that are not in the call, a GetItem before it. `add` and `append` cost twice the units: they are
   * sent as a transaction of one, so that a repeated request counts once.
   *
   * @throws {schema.immutableAttribute} for an attribute of the key, or one declared immutable
   * @throws {execute.conflict} when other writers came between every time
   */
  update(id: T["id"], changes: T["changes"] | ChangeSet<T["changes"]>, options?: WriteOptions<Where<T["row"]>>): WriteCall<T["row"]>;
  /** Deletes a node that is there; when there is none, the outcome is `notFound`, when edges restrict it, `hasEdges`. */
  delete(id: T["id"], options?: WriteOptions<Where<T["row"]>>): WriteCall<T["row"]>;
}

/** The writing side of `db.<part>`; `Owner` is the id of the node that contains it. */
export interface PartWrites<Owner, T extends ItemTypes> {
  /** Writes a new part; when there is one, the outcome is `exists`. One PutItem. */
  create(owner: Owner, input: T["input"]): WriteCall<T["row"]>;
  /** Writes a part, whatever was there. One PutItem. */
  put(owner: Owner, input: T["input"], options?: WriteOptions<Where<T["row"]>>): WriteCall<T["row"]>;
  /** Changes a part that is there. One UpdateItem. */
  update(owner: Owner, id: T["id"], changes: T["changes"] | ChangeSet<T["changes"]>, options?: WriteOptions<Where<T["row"]>>): WriteCall<T["row"]>;
  /** Deletes a part that is there. One DeleteItem. */
  delete(owner: Owner, id: T["id"], options?: WriteOptions<Where<T["row"]>>): WriteCall<T["row"]>;
}

interface EdgeSideTypes {
  readonly row: unknown;
  readonly input: unknown;
  readonly key: unknown;
  readonly changes: unknown;
}

export interface LinkOptions<Changes> {
  /** Attributes that differ on the copy in the target's partition, of an edge stored in both. */
  readonly reverse?: Changes;
}

export interface RelinkOptions<Key, Changes, Filter> extends WriteOptions<Filter>, LinkOptions<Changes> {
  /** The edge's own key fields, where it has some. */
  readonly key?: Key;
  /** The edge type that it becomes, with what it holds; TAO's `assoc_change_type`. */
  readonly type?: string;
}

/** The writing side of `db.<edge>`. `Row` is an edge as it is read, with `from` and `to`. */
export interface EdgeWrites<From, To, Row, Filter, T extends EdgeSideTypes> {
  /**
   * Writes a new edge, in every place where it is stored; when there is one, the outcome is `exists`,
   * when a node is not there, `endMissing`, when one has too many, `degreeExceeded`.
   *
   * A transaction of the edge's copies (twice the units) and a check of each end (two units);
   * one PutItem where ends are unchecked and the edge is stored once.
   */
  link(from: From, to: To, attributes?: T["input"], options?: LinkOptions<T["changes"]>): WriteCall<Row>;
  /**
   * Writes an edge, whatever was there, in every place where it is stored; when a node is not there,
   * the outcome is `endMissing`. Costs what `link` does; where a degree is guarded, or the edge has a
   * version, it reads first.
   */
  put(from: From, to: To, attributes?: T["input"], options?: LinkOptions<T["changes"]>): WriteCall<Row>;
  /** Changes an edge that is there: attributes, its place in the order, or with `type` its edge type. One UpdateItem for each copy. */
  relink(from: From, to: To, changes: T["changes"] | ChangeSet<T["changes"]>, options?: RelinkOptions<T["key"], T["changes"], Filter>): WriteCall<Row>;
  /** Removes an edge that is there, everywhere. `key` are the edge's own key fields, where it has some. */
  unlink(from: From, to: To, key?: T["key"], options?: WriteOptions<Filter>): WriteCall<Row>;
}

type OutcomeOf<C> = C extends WriteCall<infer Row> ? WriteOutcome<Row> : never;

/** How the calls of a transaction ended: all happened, or none. */
export interface TransactOutcome<Outcomes> {
  readonly ok: boolean;
  /** One for each call; those that did not fail themselves are `rolledBack`. */
  readonly outcomes: Outcomes;
  readonly cost: WriteOutcome<unknown>["cost"];
  readonly atomic: Atomic | undefined;
}

/**
 * Makes several writes in one TransactWriteItems: all or none, at twice the units, 100 items at most.
 *
 * @throws {plan.unsupported} when two of them write the same item
 * @throws {request.transactionTooLarge}
 */
export type Transact = <const Calls extends readonly WriteCall<unknown>[]>(
  calls: Calls,
) => Call<TransactOutcome<{ readonly [At in keyof Calls]: OutcomeOf<Calls[At]> }>, WriteExplanation>;
