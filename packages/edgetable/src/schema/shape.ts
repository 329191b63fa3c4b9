import type { Template } from "../keys/template.ts";
import type { IndexProjection } from "./layout.ts";

/** Where a shape's items can be queried: the table itself (`name` undefined) or one of its indexes. */
export interface Index {
  readonly name: string | undefined;
  readonly partitionKey: string;
  readonly sortKey: string | undefined;
  readonly projection: IndexProjection;
}

/** The attributes of a table's or an index's key: its partition key, and its sort key where it has one. */
export const keyAttributes = ({
  partitionKey,
  sortKey,
}: {
  readonly partitionKey: string;
  readonly sortKey?: string | undefined;
}): readonly string[] => (sortKey === undefined ? [partitionKey] : [partitionKey, sortKey]);

/** The table itself as such a place. Without a sort key every item has a partition of its own. */
export interface TableIndex extends Index {
  readonly name: undefined;
}

/** A computed attribute that has to be read to give a row's carried fields back. */
export interface KeySource {
  readonly attribute: string;
  readonly template: Template;
}

/**
 * One kind of item, fully resolved: a node type, a part, or an edge type between two node types as it
 * is written in one place. Everything that makes, finds or reads items looks at shapes and at nothing
 * else of the model, so that reader and writer cannot disagree.
 *
 * Rows are plain objects: a node's attributes; a part's attributes with its owner's id fields; an
 * edge's attributes with `from` and `to`. Template fields are paths into the row (`to.courseId`).
 */
export interface Shape {
  /** Unique, such as `student`, `enrolledIn`, `likes(person>post)`, `billed:mirror`. */
  readonly id: string;
  readonly kind: "node" | "edge" | "part";
  /** The name of the node, edge or part in the model. */
  readonly definition: string;
  /** For an edge, which copy this is; `reference` is an edge that lives inside its source's own item. */
  readonly role: "own" | "mirror" | "reference";
  /** Node types of an edge's ends; `from` of a part is its owner. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** Whether the edge's ends may be of several node types, so that rows say which. */
  readonly several: boolean;
  readonly typeValue: string | undefined;
  /** Every computed attribute, the table's own keys first. */
  readonly keys: Readonly<Record<string, Template>>;
  readonly sparse: readonly string[];
  /** Row field to stored attribute, where they differ, and back. */
  readonly stored: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
  /** Fields that are read back from computed attributes and have no attribute of their own. */
  readonly carried: readonly string[];
  readonly sources: readonly KeySource[];
  /** Keys of indexes that hold a part of their items, by which a field can be read where its source is not held. */
  readonly spares: readonly KeySource[];
  readonly dates: readonly string[];
  /** For a copy that does not hold all of an edge's attributes, and for `reference`: the edge's attributes in it. */
  readonly holds: readonly string[] | undefined;
  /** For `reference`: the source node's attribute for each field path of the edge. */
  readonly alias: Readonly<Record<string, string>> | undefined;
  readonly version: boolean;
  /** The field that holds when an item expires. */
  readonly ttl: string | undefined;
  /** Id fields of an edge's ends that the table's keys do not carry: another edge may lie under the same key. */
  readonly unkeyed: readonly string[];
  /** Assumed bytes of one item, for predictions. */
  readonly bytes: number;
}
