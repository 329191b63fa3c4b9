import type { Catalog } from "../schema/catalog.ts";
import { assertModel } from "../schema/check-model.ts";
import type { AnyEdge, OrderOf, GraphDefinition, TableSettings } from "../schema/definition.ts";
import { withFields } from "../schema/grid-parts.ts";
import { withVerbatim } from "../schema/verbatim.ts";
import type { Layout, IndexEntry, ValueIndex } from "../schema/layout.ts";
import type { ConnectOptions } from "./connect.ts";
import { createDb, type Db } from "./db.ts";
import type { EdgeRow, Edges, Nodes, PartRow, Parts } from "./graph-types.ts";

/** A sentence for each end of an edge that is not a node type. */
type EdgeCheck<N extends Nodes, E extends AnyEdge> = E["~from" | "~to"] extends keyof N
  ? unknown
  : `There is no node type "${Exclude<E["~from"] | E["~to"], keyof N> & string}".`;

// Checks all ends together, and each edge alone only if one is wrong: most models have no such end.
type EdgesCheck<N extends Nodes, E extends Edges> = E[keyof E]["~from" | "~to"] extends keyof N
  ? unknown
  : { readonly [Name in keyof E]: EdgeCheck<N, E[Name]> };
type PartsCheck<N extends Nodes, P extends Parts> = {
  readonly [Name in keyof P]: P[Name]["of"] extends keyof N ? unknown : { readonly of: `There is no node type "${P[Name]["of"]}".` };
};

type EntryOf<Row> = IndexEntry<OrderOf<Row>, keyof Row & string>;

/** The attributes that an index may use for each definition. */
type IndexEntries<N extends Nodes, E extends Edges, P extends Parts> = {
  readonly [Name in (keyof N | keyof E | keyof P) & string]?: Name extends keyof N
    ? EntryOf<N[Name]["~types"]["row"]>
    : Name extends keyof E
      ? E[Name]["~stored"] extends "reference"
        ? IndexEntry
        : EntryOf<EdgeRow<N, E[Name]>>
      : Name extends keyof P
        ? EntryOf<PartRow<N, P[Name]>>
        : never;
};

/** A model that can be connected to a table. */
export interface Graph<N extends Nodes, E extends Edges, P extends Parts> {
  readonly kind: "graph";
  readonly catalog: Catalog;
  readonly "~types": { readonly nodes: N; readonly edges: E; readonly parts: P };
  /**
   * Opens a connection. No request is made until the first call.
   *
   * @throws {plan.invalidOption} when an option is out of its range
   */
  connect(options?: ConnectOptions): Db<N, E, P>;
}

/** Any graph: for tools that take any model. */
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every graph satisfies
export type AnyGraph = Graph<any, any, any>;

type None = Readonly<Record<never, never>>;

/**
 * Declares a graph in one table.
 *
 * @throws {schema.invalidModel} with every mistake of the model at once.
 * @example
 * const education = defineGraph({ table: "Education", nodes: { student, course }, edges: { enrolledIn } });
 */
export const defineGraph = <const N extends Nodes, const E extends Edges = None, const P extends Parts = None>(definition: {
  readonly table: string;
  readonly nodes: N;
  readonly edges?: E & EdgesCheck<N, E>;
  readonly parts?: P & PartsCheck<N, P>;
  /**
   * Indexes by value, in Edgetable's own layout, for `db.find`.
   */
  readonly indexes?: Readonly<Record<string, ValueIndex<IndexEntries<NoInfer<N>, NoInfer<E>, NoInfer<P>>>>>;
  readonly layout?: Layout;
  /** Stream, deletion protection and point-in-time recovery of the table, which a migration sets. @default left as they are */
  readonly settings?: TableSettings;
}): Graph<N, E, P> => {
  const catalog = assertModel(withVerbatim(withFields(definition as GraphDefinition)));
  return Object.freeze({
    kind: "graph",
    catalog,
    connect: (options: ConnectOptions = {}) => createDb<N, E, P>(catalog, options),
  }) as unknown as Graph<N, E, P>;
};
