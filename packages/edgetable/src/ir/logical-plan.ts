import type { Condition } from "./condition.ts";

/** A field that is known to equal a parameter of the call. */
export interface KnownField {
  readonly path: string;
  readonly slot: number;
  /** The slot of the list of which the parameter is a member: the key that fixes it makes the condition hold. */
  readonly of?: number;
}

/** One or several things by their full ids. */
export interface Lookup {
  readonly kind: "lookup";
  readonly of: "node" | "edge" | "part";
  readonly name: string;
  readonly many: boolean;
  /** Fields beyond its id that a node's key needs and the call gives. */
  readonly given: readonly string[];
  /** The unique attribute whose value the call gives instead of the id. */
  readonly by?: string | undefined;
  readonly consistent: boolean;
  /** The fields to read; undefined for all. */
  readonly select?: readonly string[] | undefined;
}

/** The edges of one type at a node, in one direction. */
export interface Expand {
  readonly kind: "expand";
  /** The anchor's node type. */
  readonly node: string;
  readonly edge: string;
  readonly direction: "out" | "in";
  /** Fields of the anchor's id that the call gives: all of them, or the leading levels of a hierarchy. */
  readonly anchor: readonly string[];
  /** Further fields fixed by equality, once a rule has moved them here. */
  readonly known: readonly KnownField[];
  /** Comparisons of the field by which the chosen index is sorted, once a rule has moved them here. */
  readonly range: readonly Condition[];
  /** Comparisons that DynamoDB filters by after reading, once a rule has moved them here. */
  readonly filter: readonly Condition[];
  /** Fields that all rows have which are asked for. @default none is known */
  readonly present?: readonly string[] | undefined;
  /** Index keys with a condition that all these rows have, by shape and attribute, once a rule has noted them here. */
  readonly implied?: readonly string[];
  /** Whether the neighbours must come in the edge's declared order. */
  readonly ordered: boolean;
  readonly forward: boolean;
  readonly consistent: boolean;
  /** The index that the caller insists on. */
  readonly index: string | undefined;
  /** Edge attributes to read, undefined for all. */
  readonly select: readonly string[] | undefined;
}

/** The parts of one kind in a node, or one part's worth of them. */
export interface Parts {
  readonly kind: "parts";
  readonly part: string;
  readonly known: readonly KnownField[];
  readonly range: readonly Condition[];
  readonly filter: readonly Condition[];
  readonly present?: readonly string[] | undefined;
  readonly implied?: readonly string[];
  readonly forward: boolean;
  readonly consistent: boolean;
  /** The fields to read; undefined for all. */
  readonly select?: readonly string[] | undefined;
}

/** A node with everything in its partition (`out`) or in its partition of an index (`in`). */
export interface Collection {
  readonly kind: "collection";
  readonly node: string;
  readonly direction: "out" | "in";
  readonly index: string | undefined;
  readonly consistent: boolean;
}

/** The nodes, parts or edges of one kind that an index finds by their values. */
export interface Search {
  readonly kind: "search";
  readonly of: "node" | "edge" | "part";
  readonly name: string;
  /** Fields that the call fixes by equality. */
  readonly known: readonly KnownField[];
  /** Fields that the call ranges over. */
  readonly ranged: readonly string[];
  /** Fields that a row which meets the conditions must have. */
  readonly present: readonly string[];
  /** All fields that the call has conditions on. */
  readonly asked: readonly string[];
  /** Comparisons of the field by which the chosen index is sorted, once a rule has moved them here. */
  readonly range: readonly Condition[];
  /** Comparisons that DynamoDB filters by after reading, once a rule has moved them here. */
  readonly filter: readonly Condition[];
  readonly forward: boolean;
  readonly index: string | undefined;
  /** Index keys with a condition that the values of the call fulfil, by shape and attribute. */
  readonly implied: readonly string[];
  /** The shards to read, ascending; undefined for all. */
  readonly shards?: readonly number[] | undefined;
  readonly select: readonly string[] | undefined;
}

/** The inputs' rows in the one order of the index that all of them are read from. */
export interface Merge {
  readonly kind: "merge";
  readonly inputs: readonly LogicalPlan[];
}

/** The inputs' rows, one input after the other. */
export interface Union {
  readonly kind: "union";
  readonly inputs: readonly LogicalPlan[];
}

/** The rows for which every condition holds. */
export interface Filter {
  readonly kind: "filter";
  readonly input: LogicalPlan;
  readonly conditions: readonly Condition[];
}

/** Each edge with the node at its far end. */
export interface Hydrate {
  readonly kind: "hydrate";
  readonly input: LogicalPlan;
  /** Whether the far node is already in the item that the edge was read from. */
  readonly embedded: boolean;
  /** Which end of the edges, where they were not reached from the other. */
  readonly end?: "from" | "to";
  /** The fields of the far nodes to read; undefined for all. */
  readonly select?: readonly string[] | undefined;
  /** Fields beyond its id that the far node's key needs and the call gives. */
  readonly given: readonly string[];
  readonly consistent: boolean;
}

/** The number of rows; `server` when DynamoDB counts and sends no items. */
export interface Count {
  readonly kind: "count";
  readonly input: LogicalPlan;
  readonly server: boolean;
}

/** What a call means, in words of the graph. Plain data, made by `query`, rewritten by the planner's rules. */
export type LogicalPlan = Lookup | Expand | Parts | Collection | Search | Merge | Union | Filter | Hydrate | Count;
