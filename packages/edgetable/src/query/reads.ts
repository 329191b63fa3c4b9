import { type Condition, conditionForm } from "../ir/condition.ts";
import type { Collection, Expand, LogicalPlan, Lookup, Parts } from "../ir/logical-plan.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";

/** A lookup of whole ids: of nodes with the names of further fields that their key needs, or of edges. */
export type LookupState = Pick<Lookup, "name" | "many" | "given" | "by" | "consistent" | "select"> & {
  readonly of: "node" | "edge" | "part";
};

/** The logical plan of a lookup. */
export const lookupPlan = (state: LookupState): Lookup => ({ kind: "lookup", ...state });

/** The form of a lookup: two of the same form have the same plan, whatever their ids. */
export const lookupForm = ({ of, name, many, given, by = "", consistent, select }: LookupState): string =>
  `${of}|${name}|${given.join()}|${many ? 1 : 0}${consistent ? 1 : 0}|${by}|${select ? JSON.stringify(select) : ""}`;

/** A node with everything in its partition of the table, or of an index. */
export type CollectionState = Omit<Collection, "kind">;

/** The logical plan of a collection. */
export const collectionPlan = (state: CollectionState): Collection => ({ kind: "collection", ...state });

/** The form of a collection. */
export const collectionForm = ({ node, direction, index, consistent }: CollectionState): string =>
  `collection|${node}|${direction}|${index ?? ""}|${consistent ? 1 : 0}`;

export type Direction = "out" | "in" | "both";

/** Everything that a chain of builder calls has said so far. */
export interface NeighbourState {
  readonly node: string;
  /** The anchor's id, or its leading levels. */
  readonly id: Readonly<Record<string, unknown>>;
  readonly anchor: readonly string[];
  readonly edge: string;
  readonly direction: Direction;
  readonly conditions: readonly Condition[];
  readonly values: readonly unknown[];
  readonly ordered: boolean;
  readonly forward: boolean;
  readonly consistent: boolean;
  readonly index: string | undefined;
  readonly select: readonly string[] | undefined;
  readonly limit: number | undefined;
}

/** What is wanted of the neighbours. */
export interface Want {
  readonly kind: "edges" | "nodes" | "count";
  /** Attributes that the neighbours' keys need beside their ids. */
  readonly given: readonly string[];
  /** The attributes of the neighbours to read; undefined for all. */
  readonly select?: readonly string[] | undefined;
}

/** The logical plan of a chain. */
export const neighbourPlan = (catalog: Catalog, state: NeighbourState, want: Want): LogicalPlan => {
  const { direction: asked, conditions } = state;
  // A symmetric edge lies in both partitions, so that either direction is "out".
  const isSymmetric = defined(catalog.edges[state.edge], "edge").definition.symmetric;
  const directions: readonly ("out" | "in")[] = isSymmetric ? ["out"] : asked === "both" ? ["out", "in"] : [asked];
  const inputs = directions.map((direction): LogicalPlan => {
    const expand: Expand = {
      kind: "expand",
      node: state.node,
      edge: state.edge,
      direction,
      anchor: state.anchor,
      known: [],
      range: [],
      filter: [],
      ordered: state.ordered,
      forward: state.forward,
      consistent: state.consistent,
      index: state.index,
      // The edge's item may contain the neighbour itself: read all of it.
      select: want.kind === "nodes" && conditions.length > 0 ? undefined : state.select,
    };
    return conditions.length === 0 ? expand : { kind: "filter", input: expand, conditions };
  });
  const [only] = inputs;
  const edges: LogicalPlan = inputs.length === 1 && only ? only : { kind: "union", inputs };
  if (want.kind === "count") return { kind: "count", input: edges, server: false };
  if (want.kind === "edges") return edges;
  const hydrate = { kind: "hydrate", input: edges, embedded: false, given: want.given, consistent: state.consistent } as const;
  return want.select ? { ...hydrate, select: want.select } : hydrate;
};

/** The form of a chain: two chains of the same form have the same plan, whatever their values. */
export const neighbourForm = (state: NeighbourState, want: Want): string => {
  const flags = `${state.ordered ? 1 : 0}${state.forward ? 1 : 0}${state.consistent ? 1 : 0}`;
  const head = `${state.direction}|${state.edge}|${state.node}|${state.anchor.length}|${want.kind}|${flags}`;
  return `${head}|${conditionForm(state.conditions)}|${state.index ?? ""}|${state.select ? JSON.stringify(state.select) : "*"}|${want.given.join()}|${want.select ? JSON.stringify(want.select) : ""}`;
};

/** Everything that a chain of builder calls has said so far of the parts of one kind in a node. */
export interface PartState {
  readonly part: string;
  /** The node's id. */
  readonly id: Readonly<Record<string, unknown>>;
  readonly conditions: readonly Condition[];
  readonly values: readonly unknown[];
  readonly forward: boolean;
  readonly consistent: boolean;
  readonly select: readonly string[] | undefined;
  readonly limit: number | undefined;
}

/** What is wanted: the parts themselves, or their number. */
export type PartWant = "rows" | "count";

/** The logical plan of a chain. */
export const partPlan = ({ part, conditions, forward, consistent, select }: PartState, want: PartWant): LogicalPlan => {
  const parts: Parts = { kind: "parts", part, known: [], range: [], filter: [], forward, consistent, select };
  const input: LogicalPlan = conditions.length === 0 ? parts : { kind: "filter", input: parts, conditions };
  return want === "count" ? { kind: "count", input, server: false } : input;
};

/** The form of a chain: two chains of the same form have the same plan, whatever their values. */
export const partForm = ({ part, conditions, forward, consistent, select }: PartState, want: PartWant): string =>
  `parts|${part}|${want}|${forward ? 1 : 0}${consistent ? 1 : 0}|${conditionForm(conditions)}|${select ? JSON.stringify(select) : ""}`;
