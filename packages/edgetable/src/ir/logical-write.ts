import type { Conditions } from "./condition.ts";
import type { PathChange } from "../schema/check-operands.ts";
import type { Row } from "../util/row.ts";

/** One end of an edge: which node type, and which node of it. */
export interface EndId {
  readonly type: string;
  readonly id: Row;
}

/** What an update does to the attributes of a row. */
export interface Changes {
  readonly set: Row;
  readonly remove: readonly string[];
  /** Numbers to add to numbers, sets to unite with sets. */
  readonly add: Row;
  /** Lists to put behind lists. */
  readonly append: Row;
  /** Changes within other attributes than those. @default none */
  readonly paths?: readonly PathChange[];
}

/** What must hold of the item as it is now for the write to happen. */
export interface Guards {
  readonly where?: Conditions | undefined;
  readonly version?: number | undefined;
}

/** How a write is sent. */
interface Sending {
  /** As a transaction with a token, so that a repeated request takes effect once. @default false */
  readonly idempotent?: boolean | undefined;
}

interface ItemWrite extends Sending {
  readonly of: "node" | "part";
  readonly name: string;
}
export interface CreateWrite extends ItemWrite {
  readonly kind: "create";
  readonly row: Row;
}
/** What is known beside the row. */
interface Restored {
  /** The least version that the item has afterwards: the one that it had when it was scanned. */
  readonly leastVersion?: number | undefined;
  /** Times of the row that are kept: those that it had when it was scanned, or the time of the load. */
  readonly times?: Row | undefined;
  /** The time of its creation, as a row that was read before states it: true if the item still says so. */
  readonly seen?: unknown;
}
export interface PutWrite extends ItemWrite, Restored {
  readonly kind: "put";
  readonly row: Row;
  readonly guards: Guards;
  /** "unchecked": a part's node need not be there, even if the model checks it. @default "checked" */
  readonly ends?: "checked" | "unchecked";
}
export interface UpdateWrite extends ItemWrite {
  readonly kind: "update";
  readonly id: Row;
  readonly changes: Changes;
  readonly guards: Guards;
  /** True if the version counts the user's writes, and this is none. @default false */
  readonly keepsVersion?: boolean;
  /** True if the schema has to pass the whole row as it will be. @default false */
  readonly checksRow?: boolean;
}
export interface DeleteWrite extends ItemWrite {
  readonly kind: "delete";
  readonly id: Row;
  readonly guards: Guards;
  /** "unchecked": restricting edges were checked before, and the guards are deleted with the node. @default "checked" */
  readonly edges?: "checked" | "unchecked";
}

/** Checks a node or part and changes nothing. */
export interface CheckWrite extends ItemWrite {
  readonly kind: "check";
  readonly id: Row;
  readonly guards: Guards;
  /** Whether it has to be there, or must not be. */
  readonly exists: boolean;
}

interface EdgeWrite extends Sending {
  readonly edge: string;
  readonly from: EndId;
  readonly to: EndId;
}
export interface LinkWrite extends EdgeWrite {
  readonly kind: "link";
  readonly row: Row;
  /** Attributes whose values differ on the copy in the target's partition. */
  readonly reverse: Row;
}
/** Writes an edge, whatever was there. */
export interface PutEdgeWrite extends EdgeWrite, Restored {
  readonly kind: "putEdge";
  readonly row: Row;
  readonly reverse: Row;
  /** "checked": the nodes at its ends must be there. */
  readonly ends: "checked" | "unchecked";
}
export interface RelinkWrite extends EdgeWrite {
  readonly kind: "relink";
  /** The edge's own key fields. */
  readonly key: Row;
  readonly changes: Changes;
  readonly reverse: Row;
  readonly guards: Guards;
  /** The edge type that it becomes. */
  readonly type: string | undefined;
  /** True if the schema of the type that the edge becomes validates it. */
  readonly validates: boolean;
  /** True if the version counts the user's writes, and this is none. @default false */
  readonly keepsVersion?: boolean;
  /** True if the schema has to pass the whole edge as it will be. @default false */
  readonly checksRow?: boolean;
}
export interface UnlinkWrite extends EdgeWrite {
  readonly kind: "unlink";
  readonly key: Row;
  readonly guards: Guards;
}

/** Which of its two writes an upsert tries first. */
export type Expected = "new" | "existing";

/** Creates a node or part if there is none, else changes it. */
export interface UpsertWrite extends ItemWrite {
  readonly kind: "upsert";
  readonly create: CreateWrite;
  readonly update: UpdateWrite;
  readonly expect: Expected;
}
/** Links an edge if there is none, else changes it. */
export interface UpsertEdgeWrite extends EdgeWrite {
  readonly kind: "upsertEdge";
  readonly create: LinkWrite;
  readonly update: RelinkWrite;
  readonly expect: Expected;
}

/** One write in graph words, before the table is thought of. */
export type LogicalWrite =
  | CreateWrite
  | PutWrite
  | UpdateWrite
  | DeleteWrite
  | CheckWrite
  | LinkWrite
  | PutEdgeWrite
  | RelinkWrite
  | UnlinkWrite
  | UpsertWrite
  | UpsertEdgeWrite;

/** The name of the call that makes a write, such as "put". */
export const verbOf = ({ kind }: LogicalWrite): string => (kind === "putEdge" ? "put" : kind === "upsertEdge" ? "upsert" : kind);
