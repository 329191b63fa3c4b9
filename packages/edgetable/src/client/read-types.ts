import type { Call } from "../executor/call.ts";
import type { Where } from "../ir/condition.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { AnyEdgeInGraph, Edges, EdgesAt, EdgesInGraph, EndId, EndRow, GivenNode, Nodes, Parts } from "./graph-types.ts";
import type { Walk, Walks } from "./walk-types.ts";
import type { EdgeSideTypes, EdgeWrites, NodeWrites } from "./write-types.ts";

/** A read that has not been made yet. */
export type Read<T> = Call<T, ReadExplanation>;

/** An edge with the node at its far end, undefined when that node has no item. */
export interface Entry<Edge, Node> {
  readonly edge: Edge;
  readonly node: Node | undefined;
}

/** One page. A cursor that is absent means there is nothing on that side. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
  readonly previous: string | undefined;
  /**
   * Why the page is short though there may be more rows: its budget of requests or units, or the deadline (`time`)
   * ended it. `next` goes on from there. Undefined for a page that is full, or the last.
   */
  readonly stopped: "requests" | "units" | "time" | undefined;
}

/** What a page may take to find its rows, filters included; the nodes at the ends of edges are read beyond it. */
export interface PageBudget {
  /** Attempts of requests, 1 to 1,000,000,000, and no fewer than the partitions that the page reads. Never one more. */
  readonly requests?: number;
  /** Read units, 1 to 1,000,000,000. No request is begun beyond them; each partition is read once in any case. */
  readonly units?: number;
}

/** Which page of neighbours. */
export interface PageOptions<Of extends string> {
  /** Rows of the page, 1 to 10,000. @default 20 */
  readonly limit?: number;
  /** `next` or `previous` of an earlier page of the same query. */
  readonly cursor?: string | undefined;
  /** What the page may take to find its rows. At its end, as at the deadline, the page is short and says so. @default the call's deadline alone */
  readonly budget?: PageBudget;
  /** What the page holds. @default "edges" */
  readonly of?: Of;
}

/** How neighbours are read beside their edges. */
export interface HydrateOptions<Given> {
  /** Attributes that the neighbour's key needs beside its id, where they are the same for all. */
  readonly given?: Given;
}

/** What a page may hold, by the word that asks for it. */
export interface PageItems<Edge, Node, Id> {
  readonly edges: Edge;
  readonly nodes: Node;
  readonly entries: Entry<Edge, Node>;
  readonly ids: Id;
}

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
  readonly on: { readonly out: unknown; readonly in: unknown; readonly both: unknown };
}

/**
 * Neighbours of a node along one edge type, not yet read. Builders are immutable; the methods at the
 * end of a chain return a call.
 *
 * @throws {schema.unknownAttribute} from `where` and `select`, for a name that the edge does not have
 * @throws {plan.invalidOption} from `where` and `limit`, for a comparison that there is none of, a number out of its range
 * @throws {plan.noIndex} from `using`, for an index that there is none of, and from a call that no index serves
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
  /** Each edge with its neighbour: what `nodes` costs. Where the neighbour has no item, `node` is not there. */
  entries(options?: HydrateOptions<Partial<T["given"]>>): Read<readonly Entry<Edge, T["node"]>[]>;
  /** The neighbours' ids. What `edges` costs. */
  ids(): Read<readonly T["id"][]>;
  /** How many edges there are. What `edges` costs; DynamoDB counts and sends no items, unless a condition is checked in memory. */
  count(): Read<number>;
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
  /** What `edges` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
  /** On along another edge: a walk, within a budget. */
  readonly out: T["on"]["out"];
  readonly in: T["on"]["in"];
  readonly both: T["on"]["both"];
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
export interface Targets<Name extends keyof E & string, N extends Nodes, E extends Edges> {
  readonly node: EdgesInGraph<N, E>[Name]["target"];
  readonly given: EndRow<N, E[Name]["~to"]>;
  readonly id: EdgesInGraph<N, E>[Name]["to"];
  readonly filter: EdgesInGraph<N, E>[Name]["filter"];
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
    readonly [Part in keyof P & string as P[Part]["of"] extends Name ? Part : never]?: readonly P[Part]["~types"]["row"][];
  };
}

/**
 * Parts of one kind in a node, in the order of their keys, not yet read. Builders are immutable.
 *
 * @throws {schema.unknownAttribute} from `where`, for a name that the part does not have
 * @throws {plan.invalidOption} from `where` and `limit`, for a comparison that there is none of, a number out of its range
 */
export interface PartList<Row> extends AsyncIterable<Row> {
  /** Keeps the parts for which every condition holds; several calls add up. What the key does not take is filtered after reading. */
  where(filter: Where<Row>): PartList<Row>;
  /** Reads in the opposite order. */
  reverse(): PartList<Row>;
  /** Reads no more than so many parts, 1 or more. */
  limit(most: number): PartList<Row>;
  /** Reads strongly consistently: twice the units. */
  consistent(): PartList<Row>;
  /** The parts. One Query for each megabyte. */
  all(): Read<readonly Row[]>;
  /** How many parts there are. What `all` costs. */
  count(): Read<number>;
  /** What `all` would send, without sending it. */
  explain(): Promise<ReadExplanation>;
}

/** How a node is read by its id. */
export interface GetOptions<Row> {
  /** Strongly consistent: twice the units. @default false */
  readonly consistent?: boolean;
  /** Attributes that the node's key needs beside its id; with them it is a GetItem, without a Query. */
  readonly given?: Partial<Row>;
}

/** One node, by its id, not yet read. */
export interface NodeHandle<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> extends Walks<N, E, Name> {
  /** The node, undefined when there is none. One GetItem. */
  get(options?: GetOptions<N[Name]["~types"]["row"]>): Read<N[Name]["~types"]["row"] | undefined>;
  /** The node, its parts and its edges, told apart by type. One Query for each megabyte. */
  collection(options?: { readonly consistent?: boolean }): Read<Collection<N, E, P, Name>>;
  /**
   * The node and its incoming edges in one Query of the index in which the node is mirrored. Edges that are stored twice
   * or symmetric are not in it: they lie with the node, in `collection()`.
   */
  incoming(options?: { readonly index?: string }): Read<Collection<N, E, P, Name>>;
  /** The edges that leave this node. */
  out<Edge extends EdgesAt<E, Name, "~from">>(edge: Edge): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Targets<Edge, N, E>>;
  /** The edges that reach this node. */
  in<Edge extends EdgesAt<E, Name, "~to">>(edge: Edge): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Sources<Edge, N, E>>;
  /** Edges in either direction: the outgoing first, then the incoming. */
  both<Edge extends EdgesAt<E, Name, "~from"> & EdgesAt<E, Name, "~to">>(
    edge: Edge,
  ): Neighbours<EdgesInGraph<N, E>[Edge]["edge"], Joined<Edge, N, E>>;
  /** Whether an edge leads to the given node. One GetItem. */
  has<Edge extends EdgesAt<E, Name, "~from">>(
    edge: Edge,
    to: EdgesInGraph<N, E>[Edge]["to"],
    key?: E[Edge]["~types"]["key"],
    options?: { readonly consistent?: boolean },
  ): Read<boolean>;
  /** The parts of one kind that this node contains. */
  parts<Part extends keyof P & string>(part: P[Part]["of"] extends Name ? Part : never): PartList<P[Part]["~types"]["row"]>;
}

type Leading<Id> = Partial<Id>;

/** `db.<node>`. */
export interface NodeApi<N extends Nodes, E extends Edges, P extends Parts, Name extends keyof N & string> extends NodeWrites<
  N[Name]["~types"]
> {
  /** A handle on one node. Nothing is read yet. */
  (id: N[Name]["~types"]["id"]): NodeHandle<N, E, P, Name>;
  /** All nodes of the type below a level of its hierarchical key, as the start of edges: give the leading id fields. */
  within(id: Leading<N[Name]["~types"]["id"]>): Pick<NodeHandle<N, E, P, Name>, "in" | "out">;
  /** The node, undefined when there is none. One GetItem; without `given`, a Query where the key needs more than the id. */
  get(id: N[Name]["~types"]["id"], options?: GetOptions<N[Name]["~types"]["row"]>): Read<N[Name]["~types"]["row"] | undefined>;
  /** Several nodes in the order of the ids, undefined for those that do not exist. One BatchGetItem for each 100. */
  getMany(
    ids: readonly N[Name]["~types"]["id"][],
    options?: GetOptions<N[Name]["~types"]["row"]>,
  ): Read<readonly (N[Name]["~types"]["row"] | undefined)[]>;
}

/** `db.<edge>`. `In` is what the graph makes of the edge type, `T` what is inferred of it by itself. */
export interface EdgeApi<In extends AnyEdgeInGraph, T extends EdgeSideTypes> extends EdgeWrites<In, T> {
  /** One edge, undefined when there is none. One GetItem. */
  get(from: In["from"], to: In["to"], key?: T["key"], options?: { readonly consistent?: boolean }): Read<In["edge"] | undefined>;
  /** The edges from one node to any of several, TAO's `assoc_get`; absent ones are left out. One BatchGetItem for each 100. */
  getMany(
    from: In["from"],
    to: readonly In["to"][],
    options?: { readonly where?: In["filter"]; readonly consistent?: boolean; readonly key?: T["key"] },
  ): Read<readonly In["edge"][]>;
}
