import type { Compared, ComparedNamed, ComparedPaths } from "../ir/condition.ts";
import type { AnyEdge, AnyNode, AnyPart, CopyNames } from "../schema/definition.ts";
import type { ValueOf } from "../schema/row-types.ts";

export type Nodes = Readonly<Record<string, AnyNode>>;
export type Edges = Readonly<Record<string, AnyEdge>>;
export type Parts = Readonly<Record<string, AnyPart>>;

// Each of these maps is made once per graph and read by name. A type that many edges and calls share is resolved once, and an
// unused type is never resolved.
type NodeIds<N extends Nodes> = { readonly [Type in keyof N]: N[Type]["~types"]["id"] & { readonly type?: Type } };
type NodeRows<N extends Nodes> = { readonly [Type in keyof N]: N[Type]["~types"]["row"] };

/** The id of a node at one end of an edge. If the end may have several node types, `type` names one. */
export type EndId<N extends Nodes, Type extends string> = NodeIds<N>[Type];

export type EndRow<N extends Nodes, Type extends string> = NodeRows<N>[Type];

/** A row that names its kind, if there may be several kinds. */
export interface Kinded<Kind, Row> {
  readonly kind: Kind;
  readonly row: Row;
}

/**
 * A node as a call returns it: its row, which names its kind if the call may return several kinds. Comparing all types at once, in
 * a template or tuple, takes fewer instantiations.
 */
export type GivenNode<N extends Nodes, Type extends string> = {
  readonly [One in Type]: `${Type}` extends One ? N[One]["~types"]["row"] : Kinded<One, N[One]["~types"]["row"]>;
}[Type];

/** A node with the selected attributes, and its version if it has one. */
export type FetchedNode<Node, Field> =
  Node extends Kinded<infer Kind, infer Row>
    ? Kinded<Kind, Pick<Row, keyof Row & (Field | "version")>>
    : Pick<Node, keyof Node & (Field | "version")>;

/** The attributes of a row that may hold a number. */
export type NumericOf<Row> = {
  readonly [Name in keyof Row]-?: unknown extends Row[Name] ? Name : [Extract<Row[Name], number | bigint>] extends [never] ? never : Name;
}[keyof Row] &
  string;

// These types name the ids of the two ends, not the whole graph, so that a caller's own declarations stay short.

/** An edge as it is read: its attributes, and the ids of its ends. */
export type Edge<Row, From, To> = {
  readonly [Field in keyof Row | "from" | "to"]: Field extends "from" ? From : Field extends "to" ? To : Row[Field & keyof Row];
};

/** Conditions on an edge: on its attributes, and on the id of its far end. */
export type EdgeFilter<Row, From, To> = Compared<Row> & ComparedPaths<Row> & NestedEdgeFilter<Row, From, To>;

// As for `Where`: a type may refer to itself only in the members of an interface.
interface NestedEdgeFilter<Row, From, To> {
  readonly or?: readonly EdgeFilter<Row, From, To>[];
  readonly not?: EdgeFilter<Row, From, To>;
  readonly '["or"]'?: ComparedNamed<Row, "or">;
  readonly '["not"]'?: ComparedNamed<Row, "not">;
  readonly from?: Compared<From>;
  readonly to?: Compared<To>;
}

/** The types inferred from an edge type in its graph. Each member is resolved when it is first used. */
export interface EdgeInGraph<N extends Nodes, E extends AnyEdge, Row, From, To> {
  readonly from: From;
  readonly to: To;
  readonly source: GivenNode<N, E["~from"]>;
  readonly target: GivenNode<N, E["~to"]>;
  readonly edge: Edge<Row, From, To>;
  readonly filter: EdgeFilter<Row, From, To>;
}
// oxlint-disable-next-line typescript/no-explicit-any -- a constraint that every edge in every graph satisfies
export type AnyEdgeInGraph = EdgeInGraph<any, any, any, any, any>;

/** The node's attribute that a copy in a list has. */
type SourceOf<List, Name> = List extends readonly string[]
  ? Name
  : Name extends keyof List
    ? List[Name] extends { readonly of: infer Of }
      ? Of
      : List[Name]
    : never;

/** The copies in a list, with the types of the node's attributes. */
type Copied<Source, List> = { readonly [Name in CopyNames<List>]: Source[SourceOf<List, Name> & keyof Source] };

type CopiesAt<Copies, End> = End extends keyof Copies ? Copies[End] : never;

/** The derived attributes of an edge, which cannot be called `from` or `to`. */
type Summaries<Added> = { readonly [Name in Exclude<keyof Added, "from" | "to">]: ValueOf<Added[Name]> };

/** An edge's attributes, its copies of attributes of the nodes at its ends, and its derived attributes. */
export type EdgeRow<N extends Nodes, E extends AnyEdge> = keyof E["~added"] extends never
  ? E["~types"]["row"]
  : E["~types"]["row"] &
        Copied<EndRow<N, E["~from"]>, CopiesAt<E["~added"], "from">> &
        Copied<EndRow<N, E["~to"]>, CopiesAt<E["~added"], "to">> &
        Summaries<E["~added"]> extends infer Row
    ? // Without a name of its own, so that editors show the attributes.
      { readonly [Field in keyof Row]: Row[Field] }
    : never;

/** A part's attributes, with the id of its node and its copies of the node's attributes. */
export type PartRow<N extends Nodes, P extends AnyPart> = [CopyNames<P["~copies"]>] extends [never]
  ? P["~types"]["row"] & N[P["of"]]["~types"]["id"]
  : P["~types"]["row"] & N[P["of"]]["~types"]["id"] & Copied<EndRow<N, P["of"]>, P["~copies"]>;

type Flat<Row> = { readonly [Field in keyof Row]: Row[Field] };

/** A part as the end of edges: its id and its rows include the fields of its node's id. */
interface PartAtEnd<Owner, T extends { readonly id: unknown }, Row> extends Omit<AnyNode, "~types"> {
  readonly "~types": {
    readonly id: Flat<Owner & T["id"]>;
    readonly row: Flat<Owner & Row>;
    readonly input: Readonly<Record<never, never>>;
    readonly changes: Readonly<Record<never, never>>;
  };
}

/** Everything that may be an end of edges: node types and parts. */
export type Ends<N extends Nodes, P extends Parts> = keyof P extends never
  ? N
  : N & { readonly [Name in keyof P]: PartAtEnd<N[P[Name]["of"]]["~types"]["id"], P[Name]["~types"], PartRow<N, P[Name]>> };

/** The types inferred from each edge type. */
export type EdgesInGraph<N extends Nodes, E extends Edges> = {
  readonly [Name in keyof E]: EdgeInGraph<N, E[Name], EdgeRow<N, E[Name]>, EndId<N, E[Name]["~from"]>, EndId<N, E[Name]["~to"]>>;
};

// Made once for a whole graph and shared by all node types, so that its cost does not grow with their number. The index signature
// is for node types without such an edge.
type EdgesByEnd<E extends Edges, End extends "~from" | "~to"> = { readonly [Edge in keyof E & string as E[Edge][End]]: Edge } & {
  readonly [type: string]: never;
};

/** Names of the edges that start (`~from`) or end (`~to`) at a node type. */
export type EdgesAt<E extends Edges, Name extends string, End extends "~from" | "~to"> = EdgesByEnd<E, End>[Name];
