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

/** What a batch will send. */
export interface BatchExplanation {
  readonly kind: "batch";
  readonly plan: BatchPlan;
  readonly requests: readonly ExplainedWriteRequest[];
  readonly atomic: { readonly kind: "item" };
  readonly cost: Cost;
}

/** What a write will do, without doing it. The same plan object is what runs. */
export interface WriteExplanation {
  readonly kind: "write";
  readonly writes: readonly LogicalWrite[];
  readonly plan: WritePlan | CascadePlan;
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

declare const batchable: unique symbol;

/** A write that need not know what is there, so that a batch takes it: `put`, `delete` and `unlink`. */
export interface BatchableCall<Row> extends WriteCall<Row> {
  /** In types alone. */
  readonly [batchable]: true;
}

/** How a write is sent. */
export interface SendingOptions {
  /**
   * Sends the write as a transaction of one with a token, so that a request that is repeated because its answer was
   * lost takes effect exactly once, for ten minutes. Costs twice the write units, and an update gives no row back.
   * Without it, a write that another call may have made as well ends in `execute.ambiguous` after a lost answer, and
   * so do `add` of numbers and `append`.
   *
   * @default the connection's, false unless it says otherwise
   */
  readonly idempotent?: boolean | undefined;
}

/** What must hold of the item for it to be written, and how it is sent. */
export interface WriteOptions<Filter, Version = number> extends SendingOptions {
  /** Conditions on the item as it is now; when one fails, the outcome is `conditionFailed`. An undefined condition is refused. */
  readonly if?: Filter;
  /**
   * The version that was read; when the item is at another, the outcome is `versionConflict`. Needs `version: true`.
   * Undefined is refused: leave the option out to write at any version.
   */
  readonly ifVersion?: Version;
}

/** How an upsert is made. `if` and `ifVersion` are for the item that is there; a new one has none. */
export interface UpsertOptions<Filter, Version = number> extends WriteOptions<Filter, Version> {
  /** What is tried first, in one request; where it is the other, a second request follows. @default "existing" */
  readonly expect?: "new" | "existing" | undefined;
}

/** An upsert that has not been made yet; awaiting it gives its outcome as a value. */
export interface UpsertCall<Row> extends Call<UpsertOutcome<Row>, WriteExplanation> {
  /**
   * Makes the upsert and gives what was written.
   *
   * @throws {execute.notWritten} when it did not happen, with the outcome in `details`
   */
  orThrow(options?: RunOptions): Promise<Upserted<Row>>;
}

/** What a check asks of an item. */
export interface CheckOptions<Filter, Version = number> extends Pick<WriteOptions<Filter, Version>, "if" | "ifVersion"> {
  /** False to ask that there is none, without conditions; when there is one, the outcome is `exists`. @default true */
  readonly exists?: boolean | undefined;
}

/** How a job is done. */
export interface JobOptions {
  /**
   * Milliseconds after which an index is taken to show everything that was written before, 0 to
   * 600,000: how long a deletion waits for edges that only an index can find. @default 1,000
   */
  readonly indexLag?: number | undefined;
  /** Milliseconds after which a job whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number | undefined;
  /** Is told after each page of what goes along. */
  readonly onProgress?: ((progress: DeletionProgress) => void) | undefined;
}

/** How a node is deleted. */
export interface DeleteOptions<Filter, Version = number> extends WriteOptions<Filter, Version>, JobOptions {}

/** What is known of a node whose table key holds more than its id. */
export interface KeyOptions<Row> {
  /**
   * Attributes that the node's key needs beside its id, as they are now; with them the node is found without a Query. When it
   * has others, the outcome is `notFound`.
   */
  readonly given?: Partial<Row> | undefined;
}

/** A job under way. */
export interface JobHandle<Outcome> {
  /** What `db.jobs.resume` takes, should this process end before the job does. */
  readonly id: string;
  /** What is known of it now; asks nothing. */
  progress(): DeletionProgress;
  /** Resolves with the outcome; rejects when the job stopped, and can be resumed. */
  readonly done: Promise<Outcome>;
}

/** A deletion that has not been made yet; awaiting it makes it, however long that takes. */
export interface DeleteCall<Row> extends BatchableCall<Row> {
  /** Begins the deletion and gives a handle on it. */
  start(options?: RunOptions): Promise<JobHandle<WriteOutcome<Row>>>;
}

// A symbol, because editors offer names of members that are texts.
declare const advice: unique symbol;

/** What stands in a message of the compiler where a value would have to be. */
export interface Advice<Text extends string> {
  readonly [advice]: Text;
}

/** The version that a write may ask for: rows of a kind with versions have one. */
type VersionOf<Row> = "version" extends keyof Row ? number : Advice<"Only kinds with `version: true` count the changes of a row.">;

/** What can be added to a value: a number to a number, a set of the same members to a set. */
type Addend<Value> = unknown extends Value
  ? number | bigint | ReadonlySet<unknown>
  : Value extends number | bigint
    ? number | bigint
    : Value extends ReadonlySet<infer Member>
      ? ReadonlySet<Member>
      : Advice<"Only numbers and sets are added to: give the new value by `set`, elements of a list by `append`.">;

/** What can be appended to a value: elements of the same kind to a list. */
type Appendix<Value> = unknown extends Value
  ? readonly unknown[]
  : Value extends readonly unknown[]
    ? Value
    : Advice<"Only lists are appended to: give the new value by `set`, members of a set by `add`.">;

/** What can be taken out of a value: members of a set. */
type Members<Value> = unknown extends Value
  ? ReadonlySet<unknown>
  : Value extends ReadonlySet<unknown>
    ? Value
    : Advice<"Only members of sets are deleted: `remove` takes a whole attribute or an element of a list.">;

/** What is inferred of the kind whose rows are changed. */
interface ChangeTypes {
  readonly input: unknown;
  readonly changes: unknown;
}

/** The attributes that a row may lack. Those with a default get it back. */
type Removable<T extends ChangeTypes> = {
  [Field in keyof T["changes"] & string]: Field extends keyof T["input"] ? (undefined extends T["input"][Field] ? Field : never) : Field;
}[keyof T["changes"] & string];

type Operands<Changes, Verb extends "add" | "append" | "delete"> = {
  readonly [Field in keyof Changes]?: Operand<Exclude<Changes[Field], null | undefined>, Verb>;
};
type Operand<Value, Verb> = Verb extends "add" ? Addend<Value> : Verb extends "append" ? Appendix<Value> : Members<Value>;

/** Changes that are more than new values, of a kind with the types `T`. An attribute may stand in one of them only. */
export interface ChangeSet<T extends ChangeTypes> {
  /** New values, of attributes or by path: `{ "address.city": "Lisbon", "tags[0]": "a" }`. The parents of a path must be there. */
  readonly set?: T["changes"] & SetPaths<T["changes"]>;
  /** Optional attributes, or paths; the elements behind a removed one of a list move up. */
  readonly remove?: readonly (
    | Removable<T>
    | AttributePath<T["changes"]>
    | Advice<"Only an attribute that the schema makes optional can be removed: give another one its new value by `set`.">
  )[];
  /**
   * Numbers to add (negative ones subtract), sets to unite with; a missing attribute counts as 0 or empty. The schema
   * checks the attribute's type and the members of a set. It does not see the sum: a range such as `max` needs a condition
   * in `if`.
   */
  readonly add?: Operands<T["changes"], "add"> & AddPaths<T["changes"]>;
  /** Elements to put behind a list; a missing attribute counts as empty. The schema checks each element, but not the length. */
  readonly append?: Operands<T["changes"], "append"> & AppendPaths<T["changes"]>;
  /** Members to take out of sets; a set goes with its last member. */
  readonly delete?: Operands<T["changes"], "delete"> & DeletePaths<T["changes"]>;
}

// Each is resolved where a change set has that member.
type SetPaths<Row> = { readonly [Path in AttributePath<Row>]?: AtPath<Row, Path> };
type AddPaths<Row> = { readonly [Path in AttributePath<Row>]?: Addend<AtPath<Row, Path>> };
type AppendPaths<Row> = { readonly [Path in AttributePath<Row>]?: Appendix<AtPath<Row, Path>> };
type DeletePaths<Row> = { readonly [Path in AttributePath<Row>]?: Members<AtPath<Row, Path>> };

/**
 * What a row is changed by. The change set comes first, and does not name the changes among its arguments: of a union the
 * compiler resolves every member of the first type, and a row has more.
 */
type Change<T extends ChangeTypes> =
  | Advice<"Give new values of attributes, or { set, remove, add, append, delete }.">
  | T["changes"]
  | ChangeSet<T>;

/** What is inferred of a node or part. */
export interface ItemTypes {
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
  create(input: T["input"], options?: SendingOptions): WriteCall<T["row"]>;
  /** Writes a node, whatever was there. One PutItem; with unique attributes or a version it reads first. */
  put(input: T["input"], options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>>): BatchableCall<T["row"]>;
  /**
   * Changes a node that is there; when there is none, the outcome is `notFound`. `changes` are new
   * values, or `{ set, remove, add, append }`; new values are stored as the schema's output, like those
   * of `create`. One UpdateItem, which gives the row back; where an index key needs attributes that are not in the
   * call, a GetItem before it; where the item lacks an index entry that its model declared later, a second UpdateItem
   * that writes the whole entry. With unique attributes a transaction. A repeated request may raise the version twice.
   *
   * @throws {schema.immutableAttribute} for an attribute of the key, one declared immutable, or the counted `version`
   * @throws {execute.conflict} when other writers changed the items in every attempt
   * @throws {execute.ambiguous} when an answer was lost and nothing tells whether this call made the write: with `if`,
   * `ifVersion`, `add` of a number or `append`, unless it is `idempotent`
   */
  update(
    id: T["id"],
    changes: Change<T>,
    options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>> & KeyOptions<T["row"]>,
  ): WriteCall<T["row"]>;
  /**
   * Creates a node, or changes the one that is there: `input` is the whole new node, `changes` are for one that exists, as
   * in `update`. The outcome's `created` says which it was.
   *
   * One UpdateItem where the node exists; where it does not, a refused UpdateItem and a PutItem, without a read. With
   * `expect: "new"` the PutItem comes first. Everything else is as in `create` and `update`.
   *
   * @throws {execute.ambiguous} as `create` and `update` do, unless it is `idempotent`
   * @example
   * const { created } = await db.student.upsert({ studentId: "S1", name: "John Doe" }, { name: "John Doe" });
   */
  upsert(input: T["input"], changes: Change<T>, options?: UpsertOptions<Where<T["row"]>, VersionOf<T["row"]>>): UpsertCall<T["row"]>;
  /**
   * Checks that a node is there and its conditions hold, and changes nothing: a call for `transact`, which then writes
   * only if they do. When there is none, the outcome is `notFound`. Two write units for each KB of the item; made alone
   * it is a transaction of one. A transaction that also writes the node takes the condition there, as `if`.
   *
   * @throws {plan.unsupported} from the call, with `exists: false` where the key holds more than the id
   */
  check(id: T["id"], options?: CheckOptions<Where<T["row"]>, VersionOf<T["row"]>>): WriteCall<T["row"]>;
  /**
   * Deletes a node that is there; when there is none, the outcome is `notFound`, when edges restrict
   * it, `hasEdges`. Its parts go with it, and so do the edges whose `onDelete` says `cascade` at its
   * end; others are left. `explain()` tells what is read to find them.
   *
   * A node without such edges and parts: one DeleteItem, or a transaction with its markers and guards.
   * With them: the node is marked (a transaction of two), so that nothing can be linked to it any more,
   * then everything goes in one transaction when that is 100 items or fewer (`atomic.kind` is
   * `transaction`), else bit by bit and the node last (`job`). A node that is being deleted is still
   * read until then. Where only an index finds the edges it waits `indexLag` first. A deletion whose
   * process ends goes on by `db.jobs.resumeAll()`, or by deleting again.
   *
   * @throws {plan.noIndex} when edges cascade that nothing finds from this node
   * @throws {job.busy} while another process deletes it
   * @example
   * const { ok, atomic } = await db.student.delete({ studentId: "S1" });
   */
  delete(id: T["id"], options?: DeleteOptions<Where<T["row"]>, VersionOf<T["row"]>> & KeyOptions<T["row"]>): DeleteCall<T["row"]>;
}

/** The writing side of `db.<part>`; `Owner` is the id of the node that contains it, which rows have too. */
export interface PartWrites<Owner, T extends ItemTypes, Row = T["row"]> {
  /** Writes a new part; when there is one, the outcome is `exists`. One PutItem. */
  create(owner: Owner, input: T["input"], options?: SendingOptions): WriteCall<Row>;
  /** Writes a part, whatever was there. One PutItem. */
  put(owner: Owner, input: T["input"], options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>>): BatchableCall<Row>;
  /** Changes a part that is there. One UpdateItem. */
  update(owner: Owner, id: T["id"], changes: Change<T>, options?: WriteOptions<Where<T["row"]>, VersionOf<T["row"]>>): WriteCall<Row>;
  /** Creates a part, or changes the one that is there; see `upsert` of a node. */
  upsert(
    owner: Owner,
    input: T["input"],
    changes: Change<T>,
    options?: UpsertOptions<Where<T["row"]>, VersionOf<T["row"]>>,
  ): UpsertCall<Row>;
  /** Checks that a part is there and its conditions hold, and changes nothing: a call for `transact`. */
  check(owner: Owner, id: T["id"], options?: CheckOptions<Where<T["row"]>, VersionOf<T["row"]>>): WriteCall<Row>;
  /** Deletes a part that is there. One DeleteItem; a part whose edges go with it is deleted as such a node is. */
  delete(owner: Owner, id: T["id"], options?: DeleteOptions<Where<T["row"]>, VersionOf<T["row"]>>): DeleteCall<Row>;
}

/** What is inferred of an edge type by itself. */
export interface EdgeSideTypes {
  readonly row: unknown;
  readonly input: unknown;
  readonly key: unknown;
  readonly changes: unknown;
}

/** What is made of an edge type in its graph. */
export interface EdgeEnds {
  readonly from: unknown;
  readonly to: unknown;
  readonly edge: unknown;
  readonly filter: unknown;
}

/** How an edge is written. */
export interface LinkOptions<Changes> extends SendingOptions {
  /** Attributes that differ on the copy in the target's partition, of an edge stored in both. */
  readonly reverse?: Changes | undefined;
}

/**
 * The options of a call that addresses an edge by its ends. Where parallel edges have a key of their own, its fields come as
 * the option `key`, and then the options cannot be left out. (Where `strictNullChecks` is off, `keyof Key` is not `never` without them.)
 */
export type EdgeOptions<Key, Options> = string extends keyof Key
  ? [options?: Options & { readonly key?: Key | undefined }]
  : {} extends Key
    ? [options?: Options]
    : [options: Options & { readonly key: Key }];

/** How an edge is changed. */
export interface RelinkOptions<Changes, Filter, Version = number> extends WriteOptions<Filter, Version>, LinkOptions<Changes> {
  /** The edge type that it becomes, with what it holds; TAO's `assoc_change_type`. */
  readonly type?: string | undefined;
}

/** What a new edge is given: nothing, if its type has no schema. What was read may be put with more: its times, copies and version. */
type Linked<Input> = {} extends Input
  ? [keyof Input] extends [never]
    ? Readonly<Record<string, Advice<"This edge type has no attributes of its own: declare them in its schema.">>> | void
    : Input | void
  : Input;

/** How an edge is upserted. */
export interface UpsertLinkOptions<Changes, Filter, Version = number> extends UpsertOptions<Filter, Version>, LinkOptions<Changes> {}

/** The writing side of `db.<edge>`. `In` has an edge as it is read, with `from` and `to`. */
export interface EdgeWrites<In extends EdgeEnds, T extends EdgeSideTypes> {
  /**
   * Writes a new edge, in every place where it is stored; when there is one, the outcome is `exists`,
   * when a node is not there, `endMissing`, when one has too many, `degreeExceeded`.
   *
   * A transaction of the edge's copies (twice the units) and a check of each end (two units);
   * one PutItem where ends are unchecked and the edge is stored once.
   */
  link(from: In["from"], to: In["to"], attributes: Linked<T["input"]>, options?: LinkOptions<T["changes"]>): WriteCall<In["edge"]>;
  /**
   * Writes an edge, whatever was there, in every place where it is stored; when a node is not there,
   * the outcome is `endMissing`. Costs what `link` does; where a degree is guarded, or the edge has a
   * version, it reads first.
   */
  put(
    from: In["from"],
    to: In["to"],
    attributes: {} extends T["input"] ? T["input"] | void : T["input"],
    options?: LinkOptions<T["changes"]>,
  ): BatchableCall<In["edge"]>;
  /** Changes an edge that is there: attributes, its place in the order, or with `type` its edge type. One UpdateItem for each copy. */
  relink(
    from: In["from"],
    to: In["to"],
    changes: Change<T>,
    ...options: EdgeOptions<T["key"], RelinkOptions<T["changes"], In["filter"], VersionOf<T["row"]>>>
  ): WriteCall<In["edge"]>;
  /**
   * Links an edge, or changes the one that is there: `attributes` (with the edge's own key) are the new edge's, `changes` are
   * for one that exists, as in `relink`. Where the key names one end alone and another edge is in its place: `exists`.
   */
  upsert(
    from: In["from"],
    to: In["to"],
    attributes: T["input"],
    changes: Change<T>,
    options?: UpsertLinkOptions<T["changes"], In["filter"], VersionOf<T["row"]>>,
  ): UpsertCall<In["edge"]>;
  /** Removes an edge that is there, everywhere. The option `key` has the edge's own key fields, where it has some. */
  unlink(
    from: In["from"],
    to: In["to"],
    ...options: EdgeOptions<T["key"], WriteOptions<In["filter"], VersionOf<T["row"]>>>
  ): BatchableCall<In["edge"]>;
}

type OutcomeOf<C> = C extends Call<infer Outcome, WriteExplanation> ? Outcome : never;

/** How the calls of a transaction ended: all happened, or none. */
export interface TransactOutcome<Outcomes> {
  readonly ok: boolean;
  /** One for each call; those that did not fail themselves are `rolledBack`. */
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

/** A transaction that has not been made yet; awaiting it gives its outcome as a value. */
export interface TransactCall<Calls> extends Call<
  TransactOutcome<{ readonly [At in keyof Calls]: OutcomeOf<Calls[At]> }>,
  WriteExplanation
> {
  /**
   * Makes the transaction and gives what was written.
   *
   * @throws {execute.notWritten} when it did not happen: the message names the calls that failed, `details.outcomes` has the outcome of each
   */
  orThrow(options?: RunOptions): Promise<Transacted<{ readonly [At in keyof Calls]: WrittenOf<Calls[At]> }>>;
}

/** How a transaction is sent. */
export interface TransactOptions {
  /**
   * DynamoDB's client request token, 1 to 36 characters: a transaction that is sent again with the same token within ten
   * minutes, also by another process, takes effect once and succeeds. It has to be the same transaction: give the same
   * values, and no writes that read first and so depend on what is stored. @default a random one
   */
  readonly token?: string | undefined;
}

/**
 * Makes several writes in one TransactWriteItems: all or none, at twice the units, 100 items at most.
 *
 * @throws {plan.unsupported} when two of them write the same item
 * @throws {plan.invalidOption} for a token of another length
 * @throws {request.transactionTooLarge}
 * @throws {execute.rejected} when the token was used for another transaction
 */
export type Transact = <const Calls extends readonly WriteCall<unknown>[]>(calls: Calls, options?: TransactOptions) => TransactCall<Calls>;
