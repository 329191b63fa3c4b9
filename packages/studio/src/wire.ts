// What the studio's server answers, as JSON. The command line writes it, the web app reads it.
import type { Advice, ExplanationLines, ItemDescription } from "edgetable/check";

/** A value in DynamoDB's JSON: numbers as text, bytes as base64. */
export type WireValue =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly B: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] }
  | { readonly L: readonly WireValue[] }
  | { readonly M: Readonly<Record<string, WireValue>> };

/** What a request or a call consumed. */
export interface WireCost {
  readonly requests: number;
  readonly readUnits: number;
  /** Of calls that write. */
  readonly writeUnits?: number;
}

/** A stored item, and what it is by the model. */
export interface WireItem extends Omit<ItemDescription, "ends" | "id" | "row"> {
  readonly item: Readonly<Record<string, WireValue>>;
  /** The id of a node. */
  readonly id?: Readonly<Record<string, unknown>> | undefined;
  readonly ends: readonly WireEnd[];
}

/** A node that an item names. */
export interface WireEnd {
  readonly role: string;
  readonly type: string;
  readonly id: Readonly<Record<string, unknown>>;
  readonly partition: string;
}

/** `GET /api/items`: items in the order in which the table or the index stores them, partition after partition. */
export interface ItemsAnswer {
  readonly items: readonly WireItem[];
  /** Continues after the last item; undefined at the end. */
  readonly next?: string;
  /** Items that were read, those that a filter left out included. */
  readonly scanned: number;
  readonly cost: WireCost;
}

/** `GET /api/item`: undefined if there is none. */
export interface ItemAnswer {
  readonly item?: WireItem;
  /** The row that reads give of a node, an edge or a part. */
  readonly row?: WireRow;
}

/** A node, edge or part of the model. */
export interface WireType {
  readonly kind: "node" | "edge" | "part";
  readonly name: string;
  /** Node types at the ends of an edge; `from` of a part is its owner. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly stored: string;
  /** Key attribute → template, such as `STUDENT#{studentId}`. */
  readonly keys: Readonly<Record<string, string>>;
  /** The fields of a node's id; of a part's id within its owner; of the key of an edge of which there may be several between two nodes. */
  readonly idFields: readonly string[];
  /** Of a part that is an end of edges: the fields by which they name it, those of its node included. */
  readonly endFields?: readonly string[];
  readonly attributes: readonly string[];
  /** Attributes that Edgetable keeps and nobody writes: derived ones, copies, times and the version. */
  readonly derived: readonly string[];
  /** The orders in which an index gives all nodes of the type. */
  readonly sorts: readonly WireSort[];
  readonly orderBy?: string;
  /** True for an edge without direction: from either end, it is the same one. */
  readonly symmetric?: true;
  /** True for a part in which Edgetable keeps users' fields: the forms of the grid write it. */
  readonly own?: true;
  /** Of a node type for whose rows users define fields. */
  readonly grid?: WireGrid;
}

/** The grid of a node type: the fields that users define for each node of another one. */
export interface WireGrid {
  /** The node type whose nodes have the fields. */
  readonly of: string;
  /** Attributes by which a grid is sorted, beside all fields. */
  readonly sortable: readonly string[];
}

/** A type of field, with what it needs. */
export interface WireFieldType {
  readonly type: "text" | "number" | "date" | "boolean" | "choice" | "choices" | "reference";
  readonly choices?: readonly string[];
  /** The node type of a reference. */
  readonly node?: string;
}

/** A field that users have defined. */
export interface WireField extends WireFieldType {
  readonly fieldId: string;
  readonly name: string;
  readonly required: boolean;
  /** What is under way with its values. */
  readonly state?: "checking" | "converting" | "deleting";
}

/** `GET /api/grid`: rows of one parent; the value of a field is an attribute `field:` and its id. */
export interface FieldsAnswer extends RowsAnswer {
  readonly fields: readonly WireField[];
}

/** `GET /api/grid/groups`: the rows of a grid, counted by their values of a column; the rows without a value come last. */
export interface GroupsAnswer {
  readonly groups: readonly { readonly value?: unknown; readonly rows: number }[];
  /** False if not all rows were counted. */
  readonly complete: boolean;
}

/** `POST /api/fields`: what became of a change of a field. */
export interface RetypeAnswer {
  readonly ok: boolean;
  /** Of a change of type that was not made: how many values of how many would be lost, and the first of them. */
  readonly lost?: number;
  readonly values?: number;
  readonly losses?: readonly { readonly row: WireRow; readonly value: string }[];
}

/** An order of all nodes of a type. */
export interface WireSort {
  readonly index: string;
  /** The attributes, the first one first. */
  readonly by: readonly string[];
}

/** The table itself, or one of its indexes. */
export interface WireIndex {
  /** Undefined for the table. */
  readonly name?: string;
  /** The first attribute of either key: the only one, unless an index has keys of several attributes. */
  readonly partitionKey: string;
  readonly sortKey?: string;
  /** All attributes of either key. */
  readonly partitionKeys: readonly string[];
  readonly sortKeys: readonly string[];
  /** The attributes that the index stores: `ALL`, `KEYS_ONLY`, or names. */
  readonly projection: "ALL" | "KEYS_ONLY" | readonly string[];
  /** True if some kind of its items is spread over several shards. */
  readonly sharded?: true;
}

/** A partition that holds a share of some kinds of items. */
export interface WireShard {
  readonly shard: number;
  readonly partition: string;
}

/** Kinds of items that are spread over the same shards. */
export interface WireShardGroup {
  /** Each kind with the beginning of its sort keys, which tells it apart from the others; empty if it is alone. */
  readonly kinds: readonly { readonly kind: "node" | "edge" | "part"; readonly name: string; readonly sortPrefix: string }[];
  /** The template of the partition key. */
  readonly template: string;
  /** How many shards there are. */
  readonly count: number;
  /** The first 256 of them; undefined if they also depend on a value: a view of one partition has them. */
  readonly shards?: readonly WireShard[];
}

/** `GET /api/shards`: over which partitions an index spreads its items, or which ones differ from a partition in their shard alone. */
export interface ShardsAnswer {
  readonly groups: readonly WireShardGroup[];
}

/** The body of `POST /api/shards/count`: at most 64 partitions, each from its beginning or from where a count stopped. */
export interface ShardCountRequest {
  readonly index?: string | undefined;
  readonly of: readonly { readonly partition: string; readonly sortPrefix: string; readonly cursor?: string | undefined }[];
}

/** What was counted: of each partition at most a megabyte, by one request; `next` goes on from there. */
export interface ShardCountAnswer {
  readonly counts: readonly { readonly items: number; readonly next?: string }[];
  readonly cost: WireCost;
}

/** A named pattern with its example. */
export interface WirePattern {
  readonly name: string;
  readonly question: string;
  readonly example: unknown;
  /** The source of `ask`, as the model file has it after compilation. */
  readonly source: string;
}

/** `GET /api/model`. */
export interface ModelAnswer {
  readonly table: string;
  readonly file: string;
  /** The name under which the model file exports its graph. */
  readonly graph: string;
  /** Where the table is: a host, or a region. Never a credential. */
  readonly place: string;
  /** True if the table is on this machine. */
  readonly local: boolean;
  /** True if the studio was started with `--write`. */
  readonly writes: boolean;
  readonly types: readonly WireType[];
  readonly indexes: readonly WireIndex[];
  readonly typeAttribute?: string;
  readonly ttl?: string;
  readonly patterns: readonly WirePattern[];
}

/** `GET /api/advice`. */
export interface AdviceAnswer {
  readonly advice: readonly WireAdvice[];
}

export type WireAdvice = Omit<Advice, "concern"> & { readonly concern?: string };

/** One request of a plan. */
export interface PlannedRequest {
  readonly operation: string;
  readonly input: unknown;
  readonly times: number;
  readonly readUnits: number;
  readonly after?: string;
  readonly partitions?: readonly string[];
}

/** The plan of a pattern: what `explain()` gives. */
export interface WirePlan {
  readonly kind: string;
  /** What the call asks, in graph words, before any rule; a grid has none. */
  readonly logical?: unknown;
  /** The physical plan; of a walk, its steps. */
  readonly plan: unknown;
  readonly requests: readonly PlannedRequest[];
  readonly consistency: string;
  readonly cost: WireCost;
  readonly notes: readonly string[];
  readonly assumptions?: readonly string[];
  /** The requests and facts in readable form. */
  readonly lines: ExplanationLines;
}

/** One attempt to send a request, with its place in time. */
export interface SentAttempt {
  readonly operation: string;
  readonly index?: string;
  readonly input: unknown;
  /** Milliseconds after the call began. */
  readonly start: number;
  /** Milliseconds that the attempt took. */
  readonly duration: number;
  readonly readUnits: number;
  readonly items: number;
  /** The error's code, if the attempt failed. */
  readonly error?: string;
}

/** `POST /api/patterns/plan` and `POST /api/patterns/run` with `{ name, parameters, cursor }`; only a run has an answer. A cursor continues a walk. */
export interface PatternAnswer {
  readonly plan: WirePlan;
  readonly run?: {
    readonly answer: unknown;
    readonly cost: WireCost;
    readonly attempts: readonly SentAttempt[];
    /** Milliseconds of the whole call. */
    readonly duration: number;
    /** True if the answer was too large to show and its lists are cut. */
    readonly cut: boolean;
  };
}

/** `POST /api/scratch/plan` and `POST /api/scratch/run` with `{ call, cursor }`: a plan, or why there is none; only a run has an answer. */
export interface ScratchAnswer extends Partial<PatternAnswer> {
  /** Whether the call writes: such a call is planned, and run only with `--write`. */
  readonly writes?: boolean;
  readonly problem?: ScratchProblem;
}

/** What is wrong with a call, and where: characters of the text. */
export interface ScratchProblem {
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** `GET /api/node` and a neighbour: a node by its type and id. */
export interface WireNode {
  readonly type: string;
  readonly id: Readonly<Record<string, unknown>>;
  /** Undefined if there is no such node. */
  readonly row?: Readonly<Record<string, unknown>>;
  readonly partition: string;
}

/** `GET /api/neighbours`: a page of the edges at a node, with the nodes at their other ends. */
export interface NeighboursAnswer {
  readonly entries: readonly { readonly node: WireNode; readonly attributes: Readonly<Record<string, unknown>> }[];
  readonly next?: string;
  readonly cost: WireCost;
}

/** An edge between two nodes. */
export interface WireLink {
  readonly edge: string;
  readonly from: Pick<WireNode, "type" | "id">;
  readonly to: Pick<WireNode, "type" | "id">;
  /** What tells it from other edges between the same nodes, if there may be several. */
  readonly key?: WireRow;
}

/** `GET /api/graph`: nodes and edges in the order in which the table stores them. */
export interface GraphAnswer {
  readonly nodes: readonly WireNode[];
  readonly links: readonly WireLink[];
  readonly next?: string;
  readonly scanned: number;
  readonly cost: WireCost;
}

/**
 * A row as JSON that keeps the types of its values: what JSON lacks is `{"$bigint"}`, `{"$set"}`, `{"$bytes"}` or `{"$date"}`,
 * and an object that looks like one of them `{"$object"}`.
 */
export type WireRow = Readonly<Record<string, unknown>>;

/** `GET /api/rows`: rows of one node type, in the order of the table or of an index. */
export interface RowsAnswer {
  readonly rows: readonly WireRow[];
  readonly next?: string;
  /** Items that were read, those that a filter left out included. */
  readonly scanned: number;
  readonly cost: WireCost;
}

/** A cell as a person typed it, a value, or null to remove the attribute. */
export type WireCell = { readonly text: string } | { readonly value: unknown } | null;

/** The body of `POST /api/rows/change`: what is to change of a row, and what the cells held when it was read. */
export interface RowChange {
  readonly type: string;
  readonly id: WireRow;
  readonly set: Readonly<Record<string, WireCell>>;
  readonly was: WireRow;
}

/** The body of `POST /api/edges/change` and `/api/edges/unlink`, which has neither `set` nor `was`. */
export interface EdgeChange {
  readonly edge: string;
  readonly from: WireRow;
  readonly to: WireRow;
  /** The fields of its own key, where the type has some. */
  readonly key?: WireRow;
  readonly set?: Readonly<Record<string, WireCell>>;
  readonly was?: WireRow;
}

/** The body of `POST /api/parts/create` without `id` and `was`, of `/api/parts/change`, and of `/api/parts/delete` without `set`. */
export interface PartChange {
  readonly part: string;
  readonly owner: WireRow;
  readonly id?: WireRow;
  readonly set?: Readonly<Record<string, WireCell>>;
  readonly was?: WireRow;
}

/** What became of a write of a node (`POST /api/rows/…`), an edge (`/api/edges/…`) or a part (`/api/parts/…`). */
export interface WriteAnswer {
  readonly ok: boolean;
  /** Why it was not made, in a sentence. */
  readonly problem?: string;
  /** The row as it is now, where it is known. */
  readonly row?: WireRow;
  readonly cost: WireCost & { readonly writeUnits: number };
}

/** `POST /api/rows/import`: what became of the rows of a CSV file. */
export interface ImportAnswer {
  readonly rows: number;
  readonly failed: number;
  /** The first failures: the line of the file and what is wrong. */
  readonly failures: readonly { readonly line: number; readonly problem: string }[];
  readonly cost: WireCost & { readonly writeUnits: number };
}

/** A change of an item, as the table's stream tells it. */
export interface WireChange {
  /** Counts up while the studio watches. */
  readonly number: number;
  /** Milliseconds since 1970; DynamoDB tells whole seconds. */
  readonly time: number;
  readonly kind: "insert" | "modify" | "remove" | "expired";
  /** The item after the change; before it, if it was removed. */
  readonly item: WireItem;
  /** Attributes of the item that differ. */
  readonly changed: readonly string[];
  /** Their values before. */
  readonly was: Readonly<Record<string, WireValue>>;
}

/** `GET /api/live`: the changes after a number, as soon as there are some, and at the latest after 15 seconds. */
export interface LiveAnswer {
  readonly changes: readonly WireChange[];
  readonly last: number;
  /** Why nothing is watched, such as a table without a stream. */
  readonly problem?: { readonly code: string; readonly message: string };
}

/** A job of the table: a load, a deletion, a resharding, the writing back of batch results. */
export interface WireJob {
  readonly id: string;
  readonly kind: string;
  readonly running: boolean;
  /** Milliseconds since 1970. */
  readonly leasedUntil: number;
  readonly runs: number;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** A migration that has begun and not ended. */
export interface WireMigration {
  readonly says: string;
  /** Milliseconds since 1970. */
  readonly begunAt?: number;
  readonly running: boolean;
  /** What is left to do. */
  readonly steps: readonly string[];
  /** The pass over the table, the items that it has read, and those of them that were not as the model says. */
  readonly pass: number;
  readonly seen: number;
  readonly stale: number;
  /** Items changed by every pass, and items that cannot have the keys. */
  readonly changed: number;
  readonly unfit: number;
  /** Indexes that do not have all items yet. */
  readonly indexes: readonly { readonly name: string; readonly state: string }[];
}

/** `GET /api/health`. */
export interface HealthAnswer {
  /** Consumers of the stream by their names; `lag` in milliseconds is left out where it is not known. */
  readonly consumers: readonly { readonly name: string; readonly consumers: number; readonly shards: number; readonly lag?: number }[];
  readonly migration?: WireMigration;
  readonly jobs: readonly WireJob[];
  /** At most 20 records that no handler took. */
  readonly deadLetters: readonly {
    readonly id: string;
    readonly handler: string;
    readonly error: { readonly code: string; readonly message: string };
    readonly attempts: number;
    readonly failedAt: number;
  }[];
}

/** `GET /api/migration`: what a migration of the table to the model would do. */
export interface MigrationAnswer {
  readonly steps: readonly string[];
  readonly refusals: readonly string[];
  readonly notes: readonly string[];
  readonly cost: { readonly readUnits: number; readonly writeUnits: number };
  /** True if a migration has begun and not ended. */
  readonly underway: boolean;
}

/** `POST /api/verify`: the whole table, compared with its model. */
export interface VerifyAnswer {
  readonly clean: boolean;
  readonly items: number;
  readonly unsettled: number;
  readonly kinds: readonly { readonly kind: string; readonly count: number; readonly what: string; readonly isHarmless: boolean }[];
  readonly cost: WireCost;
}

/** Every answer with a status of 400 or more. */
export interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string; readonly docs?: string };
}
