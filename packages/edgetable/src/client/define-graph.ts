import type { Catalog } from "../schema/catalog.ts";
import { assertModel } from "../schema/check-model.ts";
import type { AnyEdge, OrderOf, GraphDefinition, TableSettings } from "../schema/definition.ts";
import { withFields } from "../schema/grid-parts.ts";
import { withVerbatim } from "../schema/verbatim.ts";
import type { Layout, IndexEntry, ValueIndex } from "../schema/layout.ts";
import type { ConnectOptions } from "./connect.ts";
import { createDb, type Db } from "./db.ts";
import type { EdgeRow, Edges, Nodes, PartRow, Parts } from "./graph-types.ts";
import type { FoundRow, KindNames } from "./search-types.ts";

/** An error message, as a type, for each end of an edge that is neither a node type nor a part, and for an `orderBy` without its format. */
type EdgeCheck<Known, E extends AnyEdge> = E["~from" | "~to"] extends Known
  ? [E["~disorder"]] extends [never]
    ? unknown
    : E["~disorder"]
  : `There is no node type "${Exclude<E["~from"] | E["~to"], Known> & string}".`;

// Checks all edges together, and each alone only if one is wrong: most models have no such edge.
type EdgesCheck<Known, E extends Edges> = [E[keyof E]["~from" | "~to"], E[keyof E]["~disorder"]] extends [Known, never]
  ? unknown
  : { readonly [Name in keyof E]: EdgeCheck<Known, E[Name]> };
type PartsCheck<N extends Nodes, P extends Parts> = {
  readonly [Name in keyof P]: P[Name]["of"] extends keyof N ? unknown : { readonly of: `There is no node type "${P[Name]["of"]}".` };
};

type EntryOf<Row> = IndexEntry<OrderOf<Row>, keyof Row & string>;

/** The attributes of a definition that an index may use. */
type IndexedBy<N extends Nodes, E extends Edges, P extends Parts, Name> = Name extends keyof N
  ? EntryOf<N[Name]["~types"]["row"]>
  : Name extends keyof E
    ? E[Name]["~stored"] extends "reference"
      ? IndexEntry
      : EntryOf<EdgeRow<N, E[Name]>>
    : Name extends keyof P
      ? EntryOf<PartRow<N, P[Name]>>
      : `There is no node, edge or part "${Name & string}".`;

/** The entries of an index. `Indexed` is inferred from their names. */
type IndexEntries<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string> = {
  readonly [Name in Indexed | ((keyof N | keyof E | keyof P) & string)]?: IndexedBy<N, E, P, Name>;
};

/** A model that can be connected to a table. */
// oxlint-disable-next-line typescript/no-explicit-any -- whatever its indexes hold
export interface Graph<N extends Nodes, E extends Edges, P extends Parts, Indexed extends string = any> {
  readonly kind: "graph";
  readonly catalog: Catalog;
  readonly "~types": { readonly nodes: N; readonly edges: E; readonly parts: P };
  /**
   * Opens a connection. No request is made until the first call.
   *
   * @throws {plan.invalidOption} when an option is out of its range
   */
  connect(options?: ConnectOptions): Db<N, E, P, Indexed>;
}

/** Any graph, for tools that accept any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every graph satisfies
export type AnyGraph = Graph<any, any, any>;

type Kinds<G extends AnyGraph> = KindNames<G["~types"]["nodes"], G["~types"]["edges"], G["~types"]["parts"]>;

/**
 * The row of a node, edge or part type of a graph, as reads return it, with its version, times and derived attributes. The row of
 * an edge includes its ends, that of a part the id of its node.
 */
export type RowOf<G extends AnyGraph, Kind extends Kinds<G>> = FoundRow<
  G["~types"]["nodes"],
  G["~types"]["edges"],
  G["~types"]["parts"],
  Kind
>;

type None = Readonly<Record<never, never>>;

/**
 * Declares a graph in one table.
 *
 * @throws {schema.invalidModel} with every mistake of the model at once.
 * @example
 * const education = defineGraph({ table: "Education", nodes: { student, course }, edges: { enrolledIn } });
 */
export const defineGraph = <
  const N extends Nodes,
  const E extends Edges = None,
  const P extends Parts = None,
  const Indexed extends string = never,
  L extends Layout | undefined = undefined,
>(definition: {
  readonly table: string;
  readonly nodes: N;
  readonly edges?: E & EdgesCheck<keyof N | keyof P, E>;
  readonly parts?: P & PartsCheck<N, P>;
  /**
   * Indexes by value, in Edgetable's own layout, for `db.find`.
   */
  readonly indexes?: Readonly<Record<string, ValueIndex<IndexEntries<NoInfer<N>, NoInfer<E>, NoInfer<P>, Indexed>>>>;
  readonly layout?: L;
  /**
   * Stream, deletion protection and point-in-time recovery of the table: a new table gets them, and a migration changes them.
   * @default unchanged
   */
  readonly settings?: TableSettings;
}): Graph<N, E, P, L extends Layout ? string : Indexed | ""> => {
  const catalog = assertModel(withVerbatim(withFields(definition as GraphDefinition)));
  return Object.freeze({
    kind: "graph",
    catalog,
    connect: (options: ConnectOptions = {}) => createDb<N, E, P, Indexed>(catalog, options),
  }) as never;
};
