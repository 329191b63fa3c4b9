import type { Call, Cost, RunOptions } from "../executor/call.ts";
import type { DeletionProgress } from "../executor/jobs/delete-node.ts";
import type { AtPath, AttributePath } from "../schema/attribute-path.ts";
import type { Where } from "../ir/condition.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import type { Upserted, UpsertOutcome, WriteOutcome, Written } from "../ir/write-outcome.ts";
import type { Atomic, WritePlan } from "../ir/write-plan.ts";
import type { BatchPlan } from "../planner/writes/plan-batch.ts";
import type { CascadePlan } from "../planner/writes/plan-deletion.ts";

/** One request that an explained write sends. */
export interface ExplainedWriteRequest {
  readonly operation: string;
  readonly input: unknown;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** The requests that a batch will send. */
export interface BatchExplanation {
  readonly kind: "batch";
  readonly plan: BatchPlan;
  readonly requests: readonly ExplainedWriteRequest[];
  readonly atomic: { readonly kind: "item" };
  readonly cost: Cost;
}

/** What a write will do. Nothing is sent; the call runs this same plan object. */
export interface WriteExplanation {
  readonly kind: "write";
  readonly writes: readonly LogicalWrite[];
  readonly plan: WritePlan | CascadePlan;
  /** All requests; if the plan first has to read, only the reads. */
  readonly requests: readonly ExplainedWriteRequest[];
  /** Undefined while it depends on what is read. */
  readonly atomic: Atomic | undefined;
  /** The predicted cost. A changed or deleted item counts with its `expect.bytes`. */
  readonly cost: { readonly requests: number; readonly readUnits: number; readonly writeUnits: number };
  readonly notes: readonly string[];
}

/** A write that has not been made yet; awaiting it returns its outcome as a value. */
export interface WriteCall<Row> extends Call<WriteOutcome<Row>, WriteExplanation> {
  /**
   * Makes the write and returns what was written.
   *
   * @throws {execute.notWritten} if it did not happen, with the outcome in `details`
   */
  orThrow(options?: RunOptions): Promise<Written<Row>>;
}

declare const batchable: unique symbol;

/** A write that does not depend on the existing item, so that it can be part of a batch: `put`, `delete` and `unlink`. */
export interface BatchableCall<Row> extends WriteCall<Row> {
  /** Exists only in types. */
  readonly [batchable]: true;
}

/** Options of sending a write. */
export interface SendingOptions {
  /**
   * True to send the write as a transaction of one with a token, so that a retry after a lost response takes effect exactly once,
   * for ten minutes. Costs twice the write units, and an update returns no row. Without it, a write that another call may have made
   * as well ends in `execute.ambiguous` after a lost response, and so do `add` of numbers and `append`.
   *
   * @default the connection's setting, by default false
   */
  readonly idempotent?: boolean | undefined;
}

/** The conditions of a write, and the options of sending it. */
export interface WriteOptions<Filter, Version = number> extends SendingOptions {
  /** Conditions on the current item. If one fails, the outcome is `conditionFailed`. An undefined condition is refused. */
  readonly if?: Filter;
  /**
   * The version that was read. If the item has another version, the outcome is `versionConflict`. Needs `version: true`. Undefined
   * is refused; omit the option to write at any version.
   */
  readonly ifVersion?: Version;
}

/** Options of an upsert. `if` and `ifVersion` only apply to an existing item. */
export interface UpsertOptions<Filter, Version = number> extends WriteOptions<Filter, Version> {
  /** Which case is tried first, in one request. In the other case, a second request follows. @default "existing" */
  readonly expect?: "new" | "existing" | undefined;
}

/** An upsert that has not been made yet; awaiting it returns its outcome as a value. */
export interface UpsertCall<Row> extends Call<UpsertOutcome<Row>, WriteExplanation> {
  /**
   * Makes the upsert and returns what was written.
   *
   * @throws {execute.notWritten} if it did not happen, with the outcome in `details`
   */
  orThrow(options?: RunOptions): Promise<Upserted<Row>>;
}

/** Options of a check. */
export interface CheckOptions<Filter, Version = number> extends Pick<WriteOptions<Filter, Version>, "if" | "ifVersion"> {
  /** False to require that the item does not exist, without conditions. If it exists, the outcome is `exists`. @default true */
  readonly exists?: boolean | undefined;
}

/** Options of a job. */
export interface JobOptions {
  /**
   * Milliseconds until an index is assumed to show all earlier writes, 0 to 600,000. A deletion waits this long for edges that only
   * an index can find. @default 1,000
   */
  readonly indexLag?: number | undefined;
  /** Milliseconds until another process may resume a job whose process died, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Called after each page of deleted edges and parts. */
  readonly onProgress?: ((progress: DeletionProgress) => void) | undefined;
}

/** Options of a deletion. */
export interface DeleteOptions<Filter, Version = number> extends WriteOptions<Filter, Version>, JobOptions {}

/** Options of a write to a node whose table key contains more than its id. */
export interface KeyOptions<Row> {
  /**
   * Current attributes that the node's key needs in addition to its id. With them, the node is found without a Query. If the node
   * has other values, the outcome is `notFound`.
   */
  readonly given?: Partial<Row> | undefined;
}

/** A running job. */
export interface JobHandle<Outcome> {
  /** The id for `db.jobs.resume`, in case this process ends before the job. */
  readonly id: string;
  /** The current progress. Sends no request. */
  progress(): DeletionProgress;
  /** Resolves with the outcome. Rejects if the job stopped and can be resumed. */
  readonly done: Promise<Outcome>;
}

/** A deletion that has not been made yet; awaiting it makes the whole deletion, without a time limit. */
export interface DeleteCall<Row> extends BatchableCall<Row> {
  /** Begins the deletion and returns a handle on it. */
  start(options?: RunOptions): Promise<JobHandle<WriteOutcome<Row>>>;
}

// A symbol, because editors complete members whose names are texts.
declare const advice: unique symbol;

/** A type that no value has, whose text shows up in the compiler's message. */
export interface Advice<Text extends string> {
  readonly [advice]: Text;
}

/** The version that a write may ask for: rows of a kind with versions have one. */
type VersionOf<Row> = "version" extends keyof Row ? number : Advice<"Only kinds with `version: true` count the changes of a row.">;

/** The type that can be added to a value: a number to a number, a set of the same members to a set. */
type Addend<Value> = unknown extends Value
  ? number | bigint | ReadonlySet<unknown>
  : Value extends number | bigint
    ? number | bigint
    : Value extends ReadonlySet<infer Member>
      ? ReadonlySet<Member>
      : Advice<"Only numbers and sets are added to: give the new value by `set`, elements of a list by `append`.">;

/** The type that can be appended to a value: elements of the same type to a list. */
type Appendix<Value> = unknown extends Value
  ? readonly unknown[]
  : Value extends readonly unknown[]
    ? Value
    : Advice<"Only lists are appended to: give the new value by `set`, members of a set by `add`.">;

/** The type that can be removed from a value: members of a set. */
type Members<Value> = unknown extends Value
  ? ReadonlySet<unknown>
  : Value extends ReadonlySet<unknown>
    ? Value
    : Advice<"Only members of sets are deleted: `remove` takes a whole attribute or an element of a list.">;

/** The types inferred for the kind whose rows are changed. */
interface ChangeTypes {
  readonly input: unknown;
  readonly changes: unknown;
}

/** The attributes that can be removed from a row. An attribute with a default gets it again. */
type Removable<T extends ChangeTypes> = {
  [Field in keyof T["changes"] & string]: Field extends keyof T["input"] ? (undefined extends T["input"][Field] ? Field : never) : Field;
}[keyof T["changes"] & string];

type Operands<Changes, Verb extends "add" | "append" | "delete"> = {
  readonly [Field in keyof Changes]?: Operand<Exclude<Changes[Field], null | undefined>, Verb>;
};
type Operand<Value, Verb> = Verb extends "add" ? Addend<Value> : Verb extends "append" ? Appendix<Value> : Members<Value>;

/** Changes of a row of a kind with the types `T`, beyond new values. An attribute may occur in only one of the members. */
export interface ChangeSet<T extends ChangeTypes> {
  /** New values of attributes, or of paths: `{ "address.city": "Lisbon", "tags[0]": "a" }`. The parents of a path must exist. */
  readonly set?: T["changes"] & SetPaths<T["changes"]>;
  /** Optional attributes or paths to remove. If an element of a list is removed, the later elements move up. */
  readonly remove?: readonly (
    | Removable<T>
    | AttributePath<T["changes"]>
    | Advice<"Only an attribute that the schema makes optional can be removed: give another one its new value by `set`.">
  )[];
  /**
   * Numbers to add (negative ones subtract), or sets whose members to add; a missing attribute counts as 0 or empty. The schema
   * checks the attribute's type and the members of a set, but not the sum: to enforce a range such as `max`, use a condition in
   * `if`.
   */
  readonly add?: Operands<T["changes"], "add"> & AddPaths<T["changes"]>;
  /** Elements to append to a list; a missing attribute counts as empty. The schema checks each element, but not the length. */
  readonly append?: Operands<T["changes"], "append"> & AppendPaths<T["changes"]>;
  /** Members to remove from sets. A set is removed with its last member. */
  readonly delete?: Operands<T["changes"], "delete"> & DeletePaths<T["changes"]>;
}

// Each is resolved only if a change set has that member.
type SetPaths<Row> = { readonly [Path in AttributePath<Row>]?: AtPath<Row, Path> };
type AddPaths<Row> = { readonly [Path in AttributePath<Row>]?: Addend<AtPath<Row, Path>> };
type AppendPaths<Row> = { readonly [Path in AttributePath<Row>]?: Appendix<AtPath<Row, Path>> };
type DeletePaths<Row> = { readonly [Path in AttributePath<Row>]?: Members<AtPath<Row, Path>> };

/**
 * The argument of an update. The change set comes first and does not have the changes among its type arguments: the compiler
 * resolves every member of the first type of a union, and a row has more members.
 */
type Change<T extends ChangeTypes> =
  | Advice<"Give new values of attributes, or { set, remove, add, append, delete }.">
  | T["changes"]
  | ChangeSet<T>;

/** The types inferred from a node or part. */
export interface ItemTypes {
  readonly row: unknown;
  readonly input: unknown;
  readonly id: unknown;
  readonly changes: unknown;
}

/** The writing side of `db.<node>`. `T` is the definition's `"~types"`. */
export interface NodeWrites<T extends ItemTypes> {
  /**
   * Creates a node. If it exists, the outcome is `exists`; if another node has a unique value, `notUnique`.
   *
   * One PutItem: one write unit for each KB, and the same for each index that contains the node. With unique attributes it is a
   * transaction, at twice the units, with one marker for each unique value.
   *
   * @throws {schema.invalidValue} if the schema rejects it
   * @throws {schema.unknownAttribute} for an attribute that the schema does not have
   * @example
   * const outcome = await db.student.create({ studentId: "S1", name: "John Doe" });
   * if (!outcome.ok) console.log(outcome.reason);
   */
  create(input: T["input"], options?: SendingOptions): WriteCall<T["row"]>;
  /** Writes a node, whether or not it exists. One PutItem; with unique attributes or a version it reads first. */
  put(input: T["input"], options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>>): BatchableCall<T["row"]>;
  /**
   * Changes an existing node; if there is none, the outcome is `notFound`. `changes` are new values, or `{ set, remove, add,
   * append, delete }`; new values are stored as the schema's output, like those of `create`. One UpdateItem, which returns the row.
   * If an index key needs attributes that are not in the call, it is preceded by a GetItem. If the item lacks an index entry
   * because it is older than the index, a second UpdateItem writes the whole entry. With unique attributes it is a transaction. A
   * retried request may raise the version twice.
   *
   * @throws {schema.immutableAttribute} for an attribute of the key, one declared immutable, or the counted `version`
   * @throws {execute.conflict} if other writers changed the items in every attempt
   * @throws {execute.ambiguous} if a response was lost and it cannot be determined whether this call made the write: with `if`,
   * `ifVersion`, `add` of a number or `append`, unless it is `idempotent`
   */
  update(
    id: T["id"],
    changes: Change<T>,
    options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>> & KeyOptions<T["row"]>,
  ): WriteCall<T["row"]>;
  /**
   * Creates a node or changes the existing one: `input` is the whole new node, `changes` apply to an existing node, as in `update`.
   * `created` of the outcome says which it was.
   *
   * If the node exists, one UpdateItem; if not, a refused UpdateItem and a PutItem, without a read. With `expect: "new"`, the
   * PutItem comes first. Everything else is as in `create` and `update`.
   *
   * @throws {execute.ambiguous} like `create` and `update`, unless it is `idempotent`
   * @example
   * const { created } = await db.student.upsert({ studentId: "S1", name: "John Doe" }, { name: "John Doe" });
   */
  upsert(input: T["input"], changes: Change<T>, options?: UpsertOptions<Where<T["row"]>, VersionOf<T["row"]>>): UpsertCall<T["row"]>;
  /**
   * Checks that a node exists and its conditions hold, without changing it. Pass the call to `transact`, which then writes only if
   * they hold. If there is no such node, the outcome is `notFound`. Costs two write units for each KB of the item; made alone, it
   * is a transaction of one. If a transaction also writes the node, pass the condition to that write, as `if`.
   *
   * @throws {plan.unsupported} from the call, with `exists: false` if the key contains more than the id
   */
  check(id: T["id"], options?: CheckOptions<Where<T["row"]>, VersionOf<T["row"]>>): WriteCall<T["row"]>;
  /**
   * Deletes an existing node. If there is none, the outcome is `notFound`; if edges restrict the deletion, `hasEdges`. Its parts
   * are deleted with it, and so are the edges whose `onDelete` is `cascade` at its end; other edges stay. `explain()` shows what is
   * read to find them.
   *
   * A node without such edges and parts takes one DeleteItem, or a transaction with its markers and guards. Otherwise the node is
   * first marked (a transaction of two items), so that nothing can be linked to it any more. Then everything is deleted in one
   * transaction if that is at most 100 items (`atomic.kind` is `transaction`), else in pieces, the node last (`job`). Until then,
   * reads still return the node. If only an index finds the edges, the deletion first waits `indexLag`. To resume a deletion whose
   * process ended, call `db.jobs.resumeAll()` or delete the node again.
   *
   * @throws {plan.noIndex} if edges cascade that no index finds from this node
   * @throws {job.busy} while another process deletes it
   * @example
   * const { ok, atomic } = await db.student.delete({ studentId: "S1" });
   */
  delete(id: T["id"], options?: DeleteOptions<Where<T["row"]>, VersionOf<T["row"]>> & KeyOptions<T["row"]>): DeleteCall<T["row"]>;
}

/** The writing side of `db.<part>`; `Owner` is the id of the node that contains it, whose fields rows contain. */
export interface PartWrites<Owner, T extends ItemTypes, Row = T["row"]> {
  /** Creates a part; if it exists, the outcome is `exists`. One PutItem. */
  create(owner: Owner, input: T["input"], options?: SendingOptions): WriteCall<Row>;
  /** Writes a part, whether or not it exists. One PutItem. */
  put(owner: Owner, input: T["input"], options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>>): BatchableCall<Row>;
  /** Changes an existing part. One UpdateItem. */
  update(owner: Owner, id: T["id"], changes: Change<T>, options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>>): WriteCall<Row>;
  /** Creates a part or changes the existing one; see `upsert` of a node. */
  upsert(
    owner: Owner,
    input: T["input"],
    changes: Change<T>,
    options?: UpsertOptions<Where<T["row"]>, VersionOf<T["row"]>>,
  ): UpsertCall<Row>;
  /** Checks that a part exists and its conditions hold, without changing it. Pass the call to `transact`. */
  check(owner: Owner, id: T["id"], options?: CheckOptions<Where<T["row"]>, VersionOf<T["row"]>>): WriteCall<Row>;
  /** Deletes an existing part. One DeleteItem; if edges are deleted with it, it is deleted like such a node. */
  delete(owner: Owner, id: T["id"], options?: DeleteOptions<Where<T["row"]>, VersionOf<T["row"]>>): DeleteCall<Row>;
}

/** The types inferred from the definition of an edge type alone. */
export interface EdgeSideTypes {
  readonly row: unknown;
  readonly input: unknown;
  readonly key: unknown;
  readonly changes: unknown;
}

/** The types of an edge within its graph. */
export interface EdgeEnds {
  readonly from: unknown;
  readonly to: unknown;
  readonly edge: unknown;
  readonly filter: unknown;
}

/** Options of writing an edge. */
export interface LinkOptions<Changes> extends SendingOptions {
  /** For an edge stored twice: attributes with other values on the copy in the target's partition. */
  readonly reverse?: Changes | undefined;
}

/**
 * The options of a call that addresses an edge by its ends. If parallel edges have a key of their own, the option `key` with its
 * fields is required, and so are the options. (Without `strictNullChecks`, `keyof Key` is not `never` for edges without a key.)
 */
export type EdgeOptions<Key, Options> = string extends keyof Key
  ? [options?: Options & { readonly key?: Key | undefined }]
  : {} extends Key
    ? [options?: Options]
    : [options: Options & { readonly key: Key }];

/** Options of changing an edge. */
export interface RelinkOptions<Changes, Filter, Version = number> extends WriteOptions<Filter, Version>, LinkOptions<Changes> {
  /** The new type of the edge, which keeps its attributes; TAO's `assoc_change_type`. */
  readonly type?: string | undefined;
}

/**
 * The attributes of a new edge; nothing if its type has no schema. A row that was read may also be put with its times, copies and
 * version.
 */
type Linked<Input> = {} extends Input
  ? [keyof Input] extends [never]
    ? Readonly<Record<string, Advice<"This edge type has no attributes of its own: declare them in its schema.">>> | void
    : Input | void
  : Input;

/** Options of an upsert of an edge. */
export interface UpsertLinkOptions<Changes, Filter, Version = number> extends UpsertOptions<Filter, Version>, LinkOptions<Changes> {}

/** The writing side of `db.<edge>`. `In` has the edge's types in its graph. */
export interface EdgeWrites<In extends EdgeEnds, T extends EdgeSideTypes> {
  /**
   * Creates an edge, with all its copies. If it exists, the outcome is `exists`; if an end does not exist, `endMissing`; if an end
   * has too many edges, `degreeExceeded`.
   *
   * A transaction of the edge's copies (twice the units) and a check of each end (two units each); one PutItem if ends are
   * unchecked and the edge is stored once.
   */
  link(from: In["from"], to: In["to"], attributes: Linked<T["input"]>, options?: LinkOptions<T["changes"]>): WriteCall<In["edge"]>;
  /**
   * Writes an edge with all its copies, whether or not it exists. If an end does not exist, the outcome is `endMissing`. Costs what
   * `link` costs; if a degree is limited or the edge has a version, it reads first.
   */
  put(
    from: In["from"],
    to: In["to"],
    attributes: {} extends T["input"] ? T["input"] | void : T["input"],
    options?: LinkOptions<T["changes"]>,
  ): BatchableCall<In["edge"]>;
  /** Changes an existing edge: its attributes, its place in the order or, with `type`, its edge type. One UpdateItem for each copy. */
  relink(
    from: In["from"],
    to: In["to"],
    changes: Change<T>,
    ...options: EdgeOptions<T["key"], RelinkOptions<T["changes"], In["filter"], VersionOf<T["row"]>>>
  ): WriteCall<In["edge"]>;
  /**
   * Links an edge or changes the existing one: `attributes` (with the edge's own key) are for a new edge, `changes` for an existing
   * one, as in `relink`. If the key names only one end and another edge has this key, the outcome is `exists`.
   */
  upsert(
    from: In["from"],
    to: In["to"],
    attributes: T["input"],
    changes: Change<T>,
    options?: UpsertLinkOptions<T["changes"], In["filter"], VersionOf<T["row"]>>,
  ): UpsertCall<In["edge"]>;
  /** Removes an existing edge with all its copies. The option `key` has the fields of the edge's own key, if it has one. */
  unlink(
    from: In["from"],
    to: In["to"],
    ...options: EdgeOptions<T["key"], WriteOptions<In["filter"], VersionOf<T["row"]>>>
  ): BatchableCall<In["edge"]>;
}

type OutcomeOf<C> = C extends Call<infer Outcome, WriteExplanation> ? Outcome : never;

/** The outcome of a transaction: either all calls happened, or nothing did. */
export interface TransactOutcome<Outcomes> {
  readonly ok: boolean;
  /** One for each call. Calls of a failed transaction that did not fail themselves are `rolledBack`. */
  readonly outcomes: Outcomes;
  readonly cost: WriteOutcome<unknown>["cost"];
  readonly atomic: Atomic | undefined;
}

type WrittenOf<C> = C extends { orThrow(): Promise<infer Happened> } ? Happened : never;

/** A transaction that happened. */
export interface Transacted<Outcomes> {
  readonly ok: true;
  /** One for each call. */
  readonly outcomes: Outcomes;
  readonly cost: WriteOutcome<unknown>["cost"];
  readonly atomic: Atomic;
}

/** A transaction that has not been made yet; awaiting it returns its outcome as a value. */
export interface TransactCall<Calls> extends Call<
  TransactOutcome<{ readonly [At in keyof Calls]: OutcomeOf<Calls[At]> }>,
  WriteExplanation
> {
  /**
   * Makes the transaction and returns what was written.
   *
   * @throws {execute.notWritten} if it did not happen: the message names the failed calls, `details.outcomes` has the outcome of
   * each call
   */
  orThrow(options?: RunOptions): Promise<Transacted<{ readonly [At in keyof Calls]: WrittenOf<Calls[At]> }>>;
}

/** Options of sending a transaction. */
export interface TransactOptions {
  /**
   * DynamoDB's client request token, 1 to 36 characters: if the transaction is sent again with the same token within ten minutes,
   * even by another process, it takes effect once and succeeds. It must be the same transaction, with the same values and without
   * writes that read first, because these depend on stored items. @default a random token
   */
  readonly token?: string | undefined;
}

/**
 * Makes several writes in one TransactWriteItems: all or nothing, at twice the units, at most 100 items.
 *
 * @throws {plan.unsupported} if two of them write the same item
 * @throws {plan.invalidOption} for a token of another length
 * @throws {request.transactionTooLarge}
 * @throws {execute.rejected} if the token was used for another transaction
 */
export type Transact = <const Calls extends readonly WriteCall<unknown>[]>(calls: Calls, options?: TransactOptions) => TransactCall<Calls>;
