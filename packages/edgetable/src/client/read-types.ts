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

/** What is inferred of a node's neighbours along an edge type. Each member is resolved when it is first asked for. */
export interface NeighbourTypes {
  readonly node: unknown;
  /** The attributes that may be given of a node beside its id. */
  readonly given: unknown;
  readonly id: unknown;
  readonly filter: unknown;
  /** True where a strongly consistent read is possible, else the sentence that says why not. */
  readonly strong: unknown;
  /** The same once the order is given up. */
  readonly loose: unknown;
  /** How a walk goes on. */
  readonly on: { readonly out: unknown; readonly in: unknown; readonly both: unknown; readonly feed: unknown };
}

/**
 * Neighbours of a node along one edge type, not yet read. Builders are immutable; the methods at the
 * end of a chain return a call.
 *
 * @throws {schema.unknownAttribute} from `where` and `select`, for a name that the edge does not have
 * @throws {plan.invalidOption} from `where` and `limit`, for an unknown comparison, or a number out of its range
 * @throws {plan.noIndex} from `using`, for an unknown index, and from a call that no index serves
 */
export interface Neighbours<Edge, T extends NeighbourTypes> extends AsyncIterable<Edge> {
  /** Keeps the edges for which every condition holds; several calls add up. */
  where(filter: T["filter"]): this;
  /** Reads in the opposite order. */
  reverse(): this;
  /** Reads no more than so many edges, 1 or more. */
  limit(most: number): this;
  /** Gives up the edge's declared order, so that the table itself can answer. */
  unordered(): Neighbours<Edge, Unordered<T>>;
  /** Reads from the named index rather than from where it is cheapest. */
  using(index: string): this;
  /** Reads and sends only the named attributes of the edges, and their ends. */
  select<const Field extends keyof Edge & string>(
    ...fields: readonly Field[]
  ): Neighbours<Pick<Edge, Field | Extract<keyof Edge, "from" | "to">>, T>;
  /** Reads strongly consistently: twice the units, from the table only. */
  readonly consistent: T["strong"] extends true ? () => this : (this: T["strong"]) => never;
  /** The edges. One Query for each megabyte. */
  edges(): Read<readonly Edge[]>;
  /**
   * The neighbours themselves: the Query, and one BatchGetItem for each 100. Missing ones are left out and named in the
   * report. Where an edge leads to several kinds, each is `{ kind, row }`, here and in `entries`.
   */
  nodes(options?: HydrateOptions<Partial<T["given"]>>): Read<readonly T["node"][]>;
  nodes<const Field extends keyof T["given"] & string>(
    options: SelectNodes<T["given"], Field>,
  ): Read<readonly FetchedNode<T["node"], Field>[]>;
  /** Each edge with its neighbour: what `nodes` costs. Where the neighbour has no item, `node` is not there. */
  entries(options?: HydrateOptions<Partial<T["given"]>>): Read<readonly Entry<Edge, T["node"]>[]>;
  entries<const Field extends keyof T["given"] & string>(
    options: SelectNodes<T["given"], Field>,
  ): Read<readonly Entry<Edge, FetchedNode<T["node"], Field>>[]>;
  /** The neighbours' ids. What `edges` costs. */
  ids(): Read<readonly T["id"][]>;
  /**
   * How many edges there are. Where the node has a derived attribute that counts them, with the same conditions, one GetItem
   * of the node; else what `edges` costs: DynamoDB counts and sends no items, unless a condition is checked in memory.
   */
  count(options?: CountOptions): Read<number>;
  /** The first edge in order, undefined when there is none. One Query. */
  first(): Read<Edge | undefined>;
  /**
   * Edges from a position on, as TAO's `assoc_range`; the edges before it are read too, and paid for.
   *
   * @param position edges to leave out, 0 or more
   * @param limit the most edges to give, 1 to 10,000
   */
  range(position: number, limit: number): Read<readonly Edge[]>;
  /**
   * A page with cursors of those beside it. One Query, more where a filter leaves a page short; the first
   * page of a table leaves the secret of its cursors there.
   *
   * @throws {cursor.invalid} when the cursor is not of this query
   * @throws {cursor.outgrown} when the shards grew since, and the rows at the page's end can no longer be told apart
   */
  page<Of extends "edges" | "nodes" | "entries" | "ids" = "edges">(
    options?: PageOptions<Of>,
  ): Read<Page<PageItems<Edge, T["node"], T["id"]>[Of]>>;
  page<const Of extends "nodes" | "entries", const Field extends keyof T["given"] & string>(
    options: SelectPage<Of, Field>,
  ): Read<Page<PageItems<Edge, FetchedNode<T["node"], Field>, T["id"]>[Of]>>;
  /** What `edges` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
  /** On along another edge: a walk, within a budget. */
  readonly out: T["on"]["out"];
  readonly in: T["on"]["in"];
  readonly both: T["on"]["both"];
  /** The newest edges of these neighbours, merged, in pages. */
  readonly feed: T["on"]["feed"];
  /** These neighbours as a walk of one hop, which can be counted, ranked, repeated. */
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

// An edge in a `twice` or symmetric pair lies in both partitions of the table.
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
  /** Edges by type. From a table they are the outgoing ones (and both for symmetric edges); from an index the incoming. */
  readonly edges: { readonly [Edge in EdgesAt<E, Name, "~from"> | EdgesAt<E, Name, "~to">]?: readonly EdgesInGraph<N, E>[Edge]["edge"][] };
  readonly parts: {
    readonly [Part in keyof P & string as P[Part]["of"] extends Name ? Part : never]?: readonly PartRow<N, P[Part]>[];
  };
}

/** How a node is read by its id. */
export interface GetOptions<Row, Field = never> {
  /** Strongly consistent: twice the units. @default false */
  readonly consistent?: boolean | undefined;
  /** Attributes that the node's key needs beside its id; with them it is a GetItem, without a Query. */
  readonly given?: Partial<Row> | undefined;
  /**
   * Sends only these attributes, one or more, and the version where the node type keeps one; read, and paid for, is the
   * whole item. @default all
   */
  readonly select?: readonly Field[] | undefined;
}

/** One node, by its id, not yet read. */
export interface NodeHandle<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> extends Walks<N, E, Name> {
  /** The node, undefined when there is none. One GetItem. */
  get<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    options?: GetOptions<N[Name]["~types"]["row"], Field>,
  ): Read<Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined>;
  /** The node, its parts and its edges, told apart by type. One Query for each megabyte. */
  collection(options?: { readonly consistent?: boolean | undefined }): Read<Collection<N, E, P, Name>>;
  /**
   * The node and its incoming edges in one Query of the index in which the node is mirrored. Edges that are stored twice
   * or symmetric are not in it: they lie with the node, in `collection()`.
   */
  incoming(options?: { readonly index?: string | undefined }): Read<Collection<N, E, P, Name>>;
  /** The edges that leave this node. */
  out<Edge extends EdgesAt<E, Name, "~from">>(edge: Edge): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Targets<Edge, N, E>>;
  /** The edges that reach this node. */
  in<Edge extends EdgesAt<E, Name, "~to">>(edge: Edge): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Sources<Edge, N, E>>;
  /** Edges in either direction: the outgoing first, then the incoming, each in its order. `reverse()` turns each round: the outgoing still come first. */
  both<Edge extends EdgesAt<E, Name, "~from"> & EdgesAt<E, Name, "~to">>(
    edge: Edge,
  ): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Joined<Edge, N, E>>;
  /** Whether an edge leads to the given node. One GetItem. */
  has<Edge extends EdgesAt<E, Name, "~from">>(
    edge: Edge,
    to: EdgesInGraph<N, E>[Edge]["to"],
    ...options: EdgeOptions<E[Edge]["~types"]["key"], PointOptions>
  ): Read<boolean>;
  /** The parts of one kind that this node contains. */
  parts<Part extends keyof P & string>(part: P[Part]["of"] extends Name ? Part : never): PartList<PartRow<N, P[Part]>>;
}

type Leading<Id> = Partial<Id>;

/** The value of one unique attribute, or the sentence for a node type without any. */
export type UniqueValue<Unique, Row> = Unique extends keyof Row
  ? { readonly [Field in Unique]: NonNullable<Row[Field]> }
  : "This node type declares no unique attribute: declare unique, or search it by find().";
type NoFields = "The node type has no user-defined fields: declare them with fields: { of: … }.";

/** What is asked for one parent, the node type that the fields belong to. */
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
  /** The values that one node has for such fields. */
  readonly values: [N[Name]["~of"]] extends [never] ? NoFields : (id: N[Name]["~types"]["id"]) => Values;
  /** The nodes of one parent, sorted, filtered and paged by their attributes and by such fields. */
  readonly grid: FieldsOfParent<N, N[Name]["~of"], Grid<N[Name]["~types"]["row"]>>;
  /** Saved settings of such grids, for one parent. */
  readonly views: FieldsOfParent<N, N[Name]["~of"], Views<N[Name]["~types"]["row"]>>;
  /** All nodes of the type below a level of its hierarchical key, as the start of edges: give the leading id fields. */
  within(id: Leading<N[Name]["~types"]["id"]>): Pick<NodeHandle<N, E, P, Name>, "in" | "out">;
  /** The node, undefined when there is none. One GetItem; without `given`, a Query where the key needs more than the id. */
  get<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    id: N[Name]["~types"]["id"],
    options?: GetOptions<N[Name]["~types"]["row"], Field>,
  ): Read<Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined>;
  /**
   * The node that has this value of a unique attribute, undefined when there is none. Two GetItems: of the value's marker,
   * and of the node that it names. A node that lost the value between them is never given: both reads are then made
   * again, strongly consistent. A connection that did not create the table reads its record once, beside the first such read.
   *
   * @throws {plan.uniqueIncomplete} while the migration that reserves the values of existing nodes has not ended
   * @throws {plan.invalidOption} for an attribute that is not unique, for several, and for a value that no marker can have
   */
  by<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    value: UniqueValue<N[Name]["~unique"], N[Name]["~types"]["row"]>,
    options?: SelectOptions<Field>,
  ): Read<Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined>;
  /** Several nodes in the order of the ids, undefined for those that do not exist. One BatchGetItem for each 100. */
  getMany<const Field extends keyof N[Name]["~types"]["row"] & string = never>(
    ids: readonly N[Name]["~types"]["id"][],
    options?: GetOptions<N[Name]["~types"]["row"], Field>,
  ): Read<readonly (Fetched<N[Name]["~types"]["row"], NoInfer<Field>> | undefined)[]>;
}

/** `db.<edge>`. `In` is what the graph makes of the edge type, `T` what is inferred of it by itself. */
export interface EdgeApi<In extends AnyEdgeInGraph, T extends EdgeSideTypes> extends EdgeWrites<In, T> {
  /** One edge, undefined when there is none. One GetItem. */
  get<const Field extends keyof In["edge"] & string = never>(
    from: In["from"],
    to: In["to"],
    ...options: EdgeOptions<T["key"], SelectOptions<Field>>
  ): Read<FetchedEdge<In["edge"], NoInfer<Field>> | undefined>;
  /** The edges from one node to any of several, TAO's `assoc_get`; absent ones are left out. One BatchGetItem for each 100. */
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
