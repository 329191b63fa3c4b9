import type { Shape } from "../schema/catalog.ts";
import type { AttributeValue, Item, Key } from "../transport/operations.ts";
import type { Conditions } from "./condition.ts";
import type { EndId } from "./logical-write.ts";
import type { Row } from "../util/row.ts";

/** Why a write did not happen, where a caller may expect it. */
export type Failure =
  | { readonly reason: "exists" | "notFound" | "conditionFailed" | "versionConflict" }
  | { readonly reason: "notUnique" | "immutable"; readonly attribute: string }
  | { readonly reason: "endMissing"; readonly end: "from" | "to" | "owner"; readonly id: Row }
  | { readonly reason: "degreeExceeded"; readonly edge: string; readonly end: "from" | "to"; readonly limit: number }
  | { readonly reason: "hasEdges"; readonly edge: string; readonly end: "from" | "to" }
  /** A job deletes the node already. */
  | { readonly reason: "beingDeleted"; readonly job: string }
  /** The item changed between reading and writing: planned again from a fresh read. */
  | {
      readonly reason: "staleRead";
      /** True if nothing was read: the plan assumed that the item is there, or that it is not. */
      readonly guessed?: true;
    };

/** The time before which an item has expired. */
export interface ExpiryBound {
  /** The attribute that holds the item's expiry time. */
  readonly attribute: string;
  /** Seconds since 1970. */
  readonly before: number;
}

/** One thing that must hold of an item for the write to happen, and what it means when it does not. */
export type Term =
  /** There is such an item, and it has not expired. */
  | { readonly kind: "present"; readonly expired?: ExpiryBound; readonly failure: Failure }
  /** There is no such item, or only an expired one. */
  | { readonly kind: "absent"; readonly expired?: ExpiryBound; readonly failure: Failure }
  /** The attribute is there, whatever its value. */
  | { readonly kind: "has"; readonly attribute: string; readonly failure: Failure }
  /** The attribute has this value; `undefined`: it is not there. With `orAbsent` it may also not be there. */
  | {
      readonly kind: "equals";
      readonly attribute: string;
      readonly value: AttributeValue | undefined;
      readonly orAbsent?: boolean;
      readonly failure: Failure;
    }
  /** The attribute begins with the text, or is not there. */
  | { readonly kind: "begins"; readonly attribute: string; readonly text: string; readonly failure: Failure }
  /** The item is of the shape by its `match`, or there is none. */
  | { readonly kind: "match"; readonly shape: Shape; readonly failure: Failure }
  /** A count is less than the limit, or not there at all. */
  | { readonly kind: "below"; readonly attribute: string; readonly limit: number; readonly failure: Failure }
  /** A count is there and is so much, or more. */
  | { readonly kind: "atLeast"; readonly attribute: string; readonly least: number; readonly failure: Failure }
  /** What lies there is a map or a list, so that DynamoDB takes a path into it. */
  | {
      readonly kind: "parent";
      readonly attribute: string;
      readonly within: readonly (string | number)[];
      readonly type: "M" | "L";
      readonly failure: Failure;
    }
  | { readonly kind: "where"; readonly shape: Shape; readonly conditions: Conditions; readonly failure: Failure };

/** What an update does within an attribute. */
export interface AttributePathChange {
  readonly verb: "set" | "remove" | "add" | "append" | "delete";
  readonly attribute: string;
  readonly within: readonly (string | number)[];
  readonly value?: AttributeValue;
}

/** What an update does to an item's attributes. */
export interface AttributeChanges {
  readonly set: Item;
  readonly remove: readonly string[];
  readonly add: Item;
  readonly append: Item;
  /** Values for attributes that the item does not have yet; others keep theirs. */
  readonly defaults?: Item;
  readonly paths?: readonly AttributePathChange[];
}

interface Target {
  readonly key: Key;
  readonly terms: readonly Term[];
  /** The shape of the item; undefined for Edgetable's own (markers, guards). */
  readonly shape: Shape | undefined;
}
/** Of an item that other writes of the call change as well: the row that all of them leave, undefined where only DynamoDB knows it. */
interface Joined {
  readonly leaves?: Row | undefined;
}
export interface PutStep extends Target, Joined {
  readonly kind: "put";
  readonly item: Item;
}
export interface UpdateStep extends Target, Joined {
  readonly kind: "update";
  readonly changes: AttributeChanges;
}
export interface DeleteStep extends Target {
  readonly kind: "delete";
}
export interface CheckStep extends Target {
  readonly kind: "check";
}
/** One item of a write. */
export type WriteItem = PutStep | UpdateStep | DeleteStep | CheckStep;

/** What has to be read, strongly consistent, before a write can be planned. */
export type ReadNeed =
  | { readonly kind: "get"; readonly id: string; readonly key: Key; readonly shape: Shape; readonly reason: string }
  /** One item whose sort key is known only in part: `row` is what is known of it. */
  | {
      readonly kind: "find";
      readonly id: string;
      readonly shape: Shape;
      readonly partition: string;
      readonly prefix: string;
      readonly row: Row;
      readonly reason: string;
      /** Any of several items will do; else they are an error. */
      readonly any?: true;
    }
  /** How many edges a node has: the image holds the number as a degree guard does. */
  | {
      readonly kind: "count";
      readonly id: string;
      readonly edge: string;
      readonly direction: "out" | "in";
      readonly node: EndId;
      /** The node's. */
      readonly shape: Shape;
      readonly reason: string;
    }
  /** Up to 100 of a node's edges or parts: the image holds them. */
  | {
      readonly kind: "list";
      readonly id: string;
      readonly of: ListedItems;
      readonly node: EndId;
      /** The node's. */
      readonly shape: Shape;
      /** The item that counts them, if there is one: it is read with them until an index shows as many. */
      readonly counter: Key | undefined;
      readonly reason: string;
    };

/** The edges of a type at a node, or its parts of one kind. */
export type ListedItems =
  | { readonly kind: "edge"; readonly name: string; readonly direction: "out" | "in" }
  | { readonly kind: "part"; readonly name: string };

const LISTED = "~items";

/** The items that a `list` need found, as its image. */
export const listImage = (items: readonly Item[]): Item => ({ [LISTED]: { L: items.map((item) => ({ M: item })) } });

/** The items in the image of a `list` need. */
export const listedItems = (image: Item): readonly Item[] => {
  const list = image[LISTED];
  return list && "L" in list ? list.L.flatMap((one) => ("M" in one ? [one.M] : [])) : [];
};

/** A row that is made from what was read, and that its schema has to pass before it is written. */
export interface RowNeed {
  readonly id: string;
  readonly of: "node" | "edge" | "part";
  readonly name: string;
  readonly row: Row;
}

/** The rows as the schemas gave them back, by the need's `id`. */
export type ValidRows = Readonly<Record<string, Row>>;

/** One text for one table key: the `id` of a need to get it. */
export const keyId = (key: Key): string => JSON.stringify(Object.values(key));

/** True if two keys of one table are the same. */
export const sameKey = (a: Key, b: Key): boolean => {
  for (const attribute in a) {
    const [one, other] = [a[attribute] as KeyText, b[attribute] as KeyText];
    if (one?.S !== other?.S || one?.N !== other?.N) return false;
  }
  return true;
};

type KeyText = { readonly S?: string; readonly N?: string } | undefined;

/** A key as messages show it: `STUDENT#S2 / #`. */
export const keyShown = (key: Key): string =>
  Object.values(key)
    .map((value) => (value as KeyText)?.S ?? (value as KeyText)?.N ?? "")
    .join(" / ");

/** The values of a key as JSON, in a message. */
export const keyAsText = (key: Key): string => JSON.stringify(Object.values(key).map((value) => Object.values(value)[0] as unknown));

/** What was read so far, by the need's `id`; null: there is no such item. */
export type Images = Readonly<Record<string, Item | null>>;

/** What of a write happens together or not at all. */
export type Atomic = { readonly kind: "item" } | { readonly kind: "transaction"; readonly items: number };

/** One item of a plan, with the writes (by position in the call) that asked for it. */
export interface PlannedItem {
  readonly item: WriteItem;
  readonly writes: readonly number[];
  /** Where several writes share the item: what each of them asks of it. */
  readonly asked?: readonly { readonly write: number; readonly failures: readonly Failure[] }[];
}

/** A write of a call, by its position, that does not happen. */
export interface WriteFailure {
  readonly write: number;
  readonly failure: Failure;
}

export type WritePlan =
  | { readonly kind: "needs"; readonly reads: readonly ReadNeed[]; readonly rows?: readonly RowNeed[] }
  /** Known from what was read, without writing: the failure of one of the writes, and of others whose nodes are missing too. */
  | { readonly kind: "settled"; readonly write: number; readonly failure: Failure; readonly others?: readonly WriteFailure[] }
  | {
      readonly kind: "ready";
      readonly items: readonly PlannedItem[];
      readonly atomic: Atomic;
      /** True if the same call ends the same way when it is made again after it took effect. */
      readonly repeatable: boolean;
      /** Of one item to which something is added: a second request would add it again, and no answer would tell. */
      readonly once?: true;
      /** The row that each write leaves, where the plan knows it. */
      readonly rows: readonly (Row | undefined)[];
      /** Of each upsert, by its position: whether it creates the row. */
      readonly created?: readonly (boolean | undefined)[];
      /** The ids of jobs that the steps begin. */
      readonly jobs?: readonly string[];
    };
