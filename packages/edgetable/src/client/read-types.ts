import type { ReadExplanation } from "./explanation.ts";
import type {
  AnyEdgeInGraph,
  Edges,
  EdgesAt,
  EdgesInGraph,
  EndId,
  EndRow,
  FetchedNode,
  GivenNode,
  Nodes,
  PartRow,
  Parts,
} from "./graph-types.ts";
import type {
  CountOptions,
  Entry,
  Fetched,
  FetchedEdge,
  HydrateOptions,
  Page,
  PageItems,
  PageOptions,
  PointOptions,
  Read,
  SelectNodes,
  SelectOptions,
  SelectPage,
} from "./page-types.ts";
import type { PartList } from "./part-types.ts";
import type { Fields, Grid, Values, Views } from "./grid-types.ts";
import type { Walk, Walks } from "./walk-types.ts";
import type { Advice, EdgeOptions, EdgeSideTypes, EdgeWrites, NodeWrites } from "./write-types.ts";

/** The types inferred for a node's neighbours along an edge type. Each member is resolved when it is first used. */
export interface NeighbourTypes {
  readonly node: unknown;
  /** The attributes of a node that may be given in addition to its id. */
  readonly given: unknown;
  readonly id: unknown;
  readonly filter: unknown;
  /** True if a strongly consistent read is possible, else the message that says why not. */
  readonly strong: unknown;
  /** The same for an unordered query. */
  readonly loose: unknown;
  /** The methods that continue a walk. */
  readonly on: { readonly out: unknown; readonly in: unknown; readonly both: unknown; readonly feed: unknown };
}

/**
 * A query for the neighbours of a node along one edge type. Builders are immutable; the last method of a chain returns a call.
 *
 * @throws {schema.unknownAttribute} from `where` and `select`, for an unknown name
 * @throws {plan.invalidOption} from `where` and `limit`, for an unknown comparison, or a number out of range
 * @throws {plan.noIndex} from `using`, for an unknown index, and from a call that no index serves
 */
export interface Neighbours<Edge, T extends NeighbourTypes> extends AsyncIterable<Edge> {
  /** Keeps the edges for which every condition holds; several calls add up. */
  where(filter: T["filter"]): this;
  /** Reads in the opposite order. */
  reverse(): this;
  /** Reads at most this many edges, 1 or more. */
  limit(most: number): this;
  /** Ignores the edge's declared order, so that the table itself can be read. */
  unordered(): Neighbours<Edge, Unordered<T>>;
  /** Reads from the named index instead of the cheapest one. */
  using(index: string): this;
  /** Returns only the named attributes of the edges, and their ends. */
  select<const Field extends keyof Edge & string>(
    ...fields: readonly Field[]
  ): Neighbours<Pick<Edge, Field | Extract<keyof Edge, "from" | "to">>, T>;
  /** Reads strongly consistently: twice the units, from the table only. */
  readonly consistent: T["strong"] extends true ? () => this : (this: T["strong"]) => never;
  /** The edges. One Query for each megabyte. */
  edges(): Read<readonly Edge[]>;
  /**
   * The neighbours themselves: the Query, and one BatchGetItem for each 100. Missing neighbours are left out, and the report names
   * them. If the edge leads to several kinds, each result is `{ kind, row }`, here and in `entries`.
   */
  nodes(options?: HydrateOptions<Partial<T["given"]>>): Read<readonly T["node"][]>;
  nodes<const Field extends keyof T["given"] & string>(
    options: SelectNodes<T["given"], Field>,
  ): Read<readonly FetchedNode<T["node"], Field>[]>;
  /** Each edge with its neighbour. Costs what `nodes` costs. If the neighbour has no item, `node` is absent. */
  entries(options?: HydrateOptions<Partial<T["given"]>>): Read<readonly Entry<Edge, T["node"]>[]>;
  entries<const Field extends keyof T["given"] & string>(
    options: SelectNodes<T["given"], Field>,
  ): Read<readonly Entry<Edge, FetchedNode<T["node"], Field>>[]>;
  /** The neighbours' ids. Costs what `edges` costs. */
  ids(): Read<readonly T["id"][]>;
  /**
   * The number of edges. Costs one GetItem of the node if it has a derived attribute that counts them under the same conditions,
   * else what `edges` costs. DynamoDB counts and sends no items, unless a condition is checked in memory.
   */
  count(options?: CountOptions): Read<number>;
  /** The first edge in order; undefined if there is none. One Query. */
  first(): Read<Edge | undefined>;
  /**
   * Edges from a position on, like TAO's `assoc_range`. The edges before it are read and paid for as well.
   *
   * @param position number of edges to skip, 0 or more
   * @param limit maximum number of edges, 1 to 10,000
   */
  range(position: number, limit: number): Read<readonly Edge[]>;
  /**
   * A page with cursors to the pages beside it. One Query, more if a filter leaves the page short. The first page of a table stores
   * the secret of its cursors there.
   *
   * @throws {cursor.invalid} if the cursor belongs to another query
   * @throws {cursor.outgrown} if the shard count has grown since, and the rows at the page's end can no longer be distinguished
   */
  page<Of extends "edges" | "nodes" | "entries" | "ids" = "edges">(
    options?: PageOptions<Of>,
  ): Read<Page<PageItems<Edge, T["node"], T["id"]>[Of]>>;
  page<const Of extends "nodes" | "entries", const Field extends keyof T["given"] & string>(
    options: SelectPage<Of, Field>,
  ): Read<Page<PageItems<Edge, FetchedNode<T["node"], Field>, T["id"]>[Of]>>;
  /** What `edges` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
  /** Continues along another edge: a walk, within a budget. */
  readonly out: T["on"]["out"];
  readonly in: T["on"]["in"];
  readonly both: T["on"]["both"];
  /** The newest edges of these neighbours, merged into pages. */
  readonly feed: T["on"]["feed"];
  /** These neighbours as a walk of one hop, for example to rank them or to repeat the hop. */
  walk(): T["on"];
}

/** The same neighbours in any order. */
export interface Unordered<T extends NeighbourTypes> {
  readonly node: T["node"];
  readonly given: T["given"];
  readonly id: T["id"];
  readonly filter: T["filter"];
  readonly strong: T["loose"];
  readonly loose: T["loose"];
  readonly on: T["on"];
}

type IndexOnly<Name extends string> = `"${Name}" is read in this direction from an index, and an index cannot be read consistently.`;
type OrderedByIndex<Name extends string> =
  `"${Name}" is ordered by an index, and an index cannot be read consistently: call unordered() first.`;

// A symmetric edge, or one stored twice, is in both partitions of the table.
type LooseIn<Name extends string, Stored> = Stored extends "once" | "reference" ? IndexOnly<Name> : true;
type StrongOf<Name extends string, Order, Loose> = Order extends undefined ? Loose : OrderedByIndex<Name>;

/** The nodes that an edge leads to from a node. */
export interface Targets<
  Name extends keyof E & string,
  N extends Nodes,
  E extends Edges,
  In extends AnyEdgeInGraph = EdgesInGraph<N, E>[Name],
> {
  readonly node: In["target"];
  readonly given: EndRow<N, E[Name]["~to"]>;
  readonly id: In["to"];
  readonly filter: In["filter"];
  readonly strong: StrongOf<Name, E[Name]["orderBy"], true>;
  readonly loose: true;
  readonly on: Walk<N, E, E[Name]["~to"], Name>;
}

/** The nodes from which an edge leads to a node. */
export interface Sources<Name extends keyof E & string, N extends Nodes, E extends Edges> {
  readonly node: EdgesInGraph<N, E>[Name]["source"];
  readonly given: EndRow<N, E[Name]["~from"]>;
  readonly id: EdgesInGraph<N, E>[Name]["from"];
  readonly filter: EdgesInGraph<N, E>[Name]["filter"];
  readonly strong: StrongOf<Name, E[Name]["orderBy"], LooseIn<Name, E[Name]["~stored"]>>;
  readonly loose: LooseIn<Name, E[Name]["~stored"]>;
  readonly on: Walk<N, E, E[Name]["~from"], Name>;
}

/** The nodes that an edge joins to a node, in either direction. */
export interface Joined<Name extends keyof E & string, N extends Nodes, E extends Edges> {
  readonly node: GivenNode<N, E[Name]["~from"] | E[Name]["~to"]>;
  readonly given: EndRow<N, E[Name]["~from"] | E[Name]["~to"]>;
  readonly id: EndId<N, E[Name]["~from"] | E[Name]["~to"]>;
  readonly filter: EdgesInGraph<N, E>[Name]["filter"];
  readonly strong: Sources<Name, N, E>["strong"];
  readonly loose: Sources<Name, N, E>["loose"];
  readonly on: Walk<N, E, E[Name]["~from"] | E[Name]["~to"], Name>;
}

/** A node with everything in its partition. */
export interface Collection<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> {
  readonly node: N[Name]["~types"]["row"] | undefined;
  /** Edges by type. From the table: outgoing edges, and symmetric edges of both directions. From an index: incoming edges. */
  readonly edges: { readonly [Edge in EdgesAt<E, Name, "~from"> | EdgesAt<E, Name, "~to">]?: readonly EdgesInGraph<N, E>[Edge]["edge"][] };
  readonly parts: {
    readonly [Part in keyof P & string as P[Part]["of"] extends Name ? Part : never]?: readonly PartRow<N, P[Part]>[];
  };
}

/** Options of a read of a node by its id. */
export interface GetOptions<Row, Field = never> {
  /** Strongly consistent: twice the units. @default false */
  readonly consistent?: boolean | undefined;
  /** Attributes that the node's key needs in addition to its id. With them the read is a GetItem, else a Query. */
  readonly given?: Partial<Row> | undefined;
  /**
   * Returns only these attributes, one or more, and the version if the node type keeps one. The whole item is read and paid for.
   * @default all
   */
  readonly select?: readonly Field[] | undefined;
}

/** A handle on one node, by its id. Nothing is read yet. */
export interface NodeHandle<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> extends Walks<N, E, Name> {
  /** The node; undefined if it does not exist. One GetItem. */
  get<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    options?: GetOptions<N[Name]["~types"]["row"], Field>,
  ): Read<Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined>;
  /** The node, its parts and its edges, grouped by type. One Query for each megabyte. */
  collection(options?: { readonly consistent?: boolean | undefined }): Read<Collection<N, E, P, Name>>;
  /**
   * The node and its incoming edges in one Query of the index in which the node is mirrored. It does not contain symmetric edges
   * and edges stored twice: these are in the node's partition, in `collection()`.
   */
  incoming(options?: { readonly index?: string | undefined }): Read<Collection<N, E, P, Name>>;
  /** The outgoing edges of this node. */
  out<Edge extends EdgesAt<E, Name, "~from">>(edge: Edge): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Targets<Edge, N, E>>;
  /** The incoming edges of this node. */
  in<Edge extends EdgesAt<E, Name, "~to">>(edge: Edge): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Sources<Edge, N, E>>;
  /**
   * Edges in either direction: first the outgoing, then the incoming edges, each in their order. `reverse()` reverses each of the
   * two; the outgoing edges still come first.
   */
  both<Edge extends EdgesAt<E, Name, "~from"> & EdgesAt<E, Name, "~to">>(
    edge: Edge,
  ): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Joined<Edge, N, E>>;
  /** True if an edge leads to the given node. One GetItem. */
  has<Edge extends EdgesAt<E, Name, "~from">>(
    edge: Edge,
    to: EdgesInGraph<N, E>[Edge]["to"],
    ...options: EdgeOptions<E[Edge]["~types"]["key"], PointOptions>
  ): Read<boolean>;
  /** The parts of one kind that this node contains. */
  parts<Part extends keyof P & string>(part: P[Part]["of"] extends Name ? Part : never): PartList<PartRow<N, P[Part]>>;
}

type Leading<Id> = Partial<Id>;

/** The value of one unique attribute, or the message for a node type without any. */
export type UniqueValue<Unique, Row> = Unique extends keyof Row
  ? { readonly [Field in Unique]: NonNullable<Row[Field]> }
  : "This node type declares no unique attribute: declare unique, or search it by find().";
type NoFields = "The node type has no user-defined fields: declare them with fields: { of: … }.";

/** A function of a parent's id, for the node type that the fields belong to. */
type FieldsOfParent<N extends Nodes, Of, Api> = [Of] extends [never]
  ? NoFields
  : (parent: Of extends keyof N ? N[Of]["~types"]["id"] : never) => Api;

/** `db.<node>`. */
export interface NodeApi<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> extends NodeWrites<
  N[Name]["~types"]
> {
  /** A handle on one node. Nothing is read yet. */
  (id: N[Name]["~types"]["id"]): NodeHandle<N, E, P, Name>;
  /** Fields that users define for one parent: see docs/grids.md. */
  readonly fields: FieldsOfParent<N, N[Name]["~of"], Fields>;
  /** The values of one node for such fields. */
  readonly values: [N[Name]["~of"]] extends [never] ? NoFields : (id: N[Name]["~types"]["id"]) => Values;
  /** The nodes of one parent, sorted, filtered and paged by their attributes and such fields. */
  readonly grid: FieldsOfParent<N, N[Name]["~of"], Grid<N[Name]["~types"]["row"]>>;
  /** Saved settings of such grids, for one parent. */
  readonly views: FieldsOfParent<N, N[Name]["~of"], Views<N[Name]["~types"]["row"]>>;
  /** All nodes of the type below a level of its hierarchical key, as the start of edges. Takes the leading id fields. */
  within(id: Leading<N[Name]["~types"]["id"]>): Pick<NodeHandle<N, E, P, Name>, "in" | "out">;
  /** The node; undefined if it does not exist. One GetItem; a Query if the key needs more than the id and `given` is absent. */
  get<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    id: N[Name]["~types"]["id"],
    options?: GetOptions<N[Name]["~types"]["row"], Field>,
  ): Read<Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined>;
  /**
   * The node with this value of a unique attribute; undefined if there is none. Two GetItems: of the value's marker, and of the
   * node that it names. If the node lost the value between them, both are read again, strongly consistent. A connection that did
   * not create the table also reads its record once, with the first such read.
   *
   * @throws {plan.uniqueIncomplete} while the migration that reserves the values of existing nodes has not ended
   * @throws {plan.invalidOption} for an attribute that is not unique, for several attributes, and for a value that cannot be unique
   */
  by<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    value: UniqueValue<N[Name]["~unique"], N[Name]["~types"]["row"]>,
    options?: SelectOptions<Field>,
  ): Read<Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined>;
  /** Several nodes, in the order of the ids; undefined for each that does not exist. One BatchGetItem for each 100. */
  getMany<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    ids: readonly N[Name]["~types"]["id"][],
    options?: GetOptions<N[Name]["~types"]["row"], Field>,
  ): Read<readonly (Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined)[]>;
}

/** `db.<edge>`. `In` has the types of the edge within its graph, `T` the types inferred from its definition alone. */
export interface EdgeApi<In extends AnyEdgeInGraph, T extends EdgeSideTypes> extends EdgeWrites<In, T> {
  /** One edge; undefined if it does not exist. One GetItem. */
  get<const Field extends keyof In["edge"] & string = never>(
    from: In["from"],
    to: In["to"],
    ...options: EdgeOptions<T["key"], SelectOptions<Field>>
  ): Read<FetchedEdge<In["edge"], NoInfer<Field>> | undefined>;
  /**
   * The edges from one node to any of several nodes, like TAO's `assoc_get`, without those that do not exist. One BatchGetItem for
   * each 100.
   */
  getMany<const Field extends keyof In["edge"] & string = never>(
    from: In["from"],
    to: readonly In["to"][],
    ...options: EdgeOptions<T["key"], SelectOptions<Field> & { readonly where?: In["filter"] }>
  ): Read<readonly FetchedEdge<In["edge"], NoInfer<Field>>[]>;
}

type OfItsSource = Advice<"This edge is stored as attributes of its source: set them with an update of that node.">;

/** `db.<edge>` of an edge that is stored as a reference: writes of its source change it. */
export interface ReferenceApi<In extends AnyEdgeInGraph, T extends EdgeSideTypes> extends Pick<EdgeApi<In, T>, "get" | "getMany"> {
  readonly link: OfItsSource;
  readonly put: OfItsSource;
  readonly relink: OfItsSource;
  readonly upsert: OfItsSource;
  readonly unlink: OfItsSource;
}
