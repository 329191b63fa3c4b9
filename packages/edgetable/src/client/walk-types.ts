import type { Call } from "../executor/call.ts";
import type { Where } from "../ir/condition.ts";
import type { Edges, EdgesAt, EdgesInGraph, EndId, GivenNode, Nodes } from "./graph-types.ts";
import type { WalkExplanation } from "./walk-explanation.ts";
import type { WalkOptions } from "./walk-options.ts";

/** Why a walk ended before its end, and what it left. */
export interface WalkStop {
  /** The budget that was reached; `limit` where there are more paths than were asked for. */
  readonly by: "requests" | "units" | "breadth" | "depth" | "time" | "memory" | "limit";
  /** The hop at which it stood, the first being 1. */
  readonly hop: number;
  /** Nodes that were not read, or not to the end: how many, and the first of them. */
  readonly left: { readonly nodes: number; readonly sample: readonly { readonly type: string; readonly id: object }[] };
}

/** How a walk ended. */
export interface WalkEnd {
  /** Whether this is all there is. */
  readonly complete: boolean;
  readonly stopped: WalkStop | undefined;
  /**
   * A cursor that goes on from here; absent where nothing is left, and where the budget had no room for it: ask
   * `complete`. It holds the walk's state, or names it with the option `storeCursor`. A connection's first one takes 2 of the budget's requests, without the option `cursorSecret`.
   */
  readonly next: string | undefined;
}

/** What a walk found. */
export interface Walked<T> extends WalkEnd, Iterable<T> {
  readonly items: readonly T[];
}

/** How much a walk found: a bigint beyond 2^53. */
export interface WalkCount extends WalkEnd {
  readonly count: number | bigint;
}

/** A node, and the number of ways that lead to it. */
export interface Reached<Id> {
  readonly id: Id;
  readonly count: number | bigint;
}

/** The same with what was gathered along the ways; undefined where no edge had the attribute. */
export interface Gathered<Id> extends Reached<Id> {
  readonly value: number | bigint | undefined;
}

/** A walk that has not been made yet. */
export type WalkCall<T> = Call<T, WalkExplanation>;

/** Which nodes a walk leaves out: where it began, wherever it has been, or these. */
export type Excluded<Id> = "start" | "passed" | readonly Id[];

/** How often a walk goes along an edge. */
export interface RepeatOptions {
  /** How many times, 1 to 100. */
  readonly depth: number;
  /** Whether the nodes of every round go on, or those of the last alone. @default "last" */
  readonly emit?: "all" | "last";
}

/** How nodes are grouped. */
export interface GroupOptions extends WalkOptions {
  /** Only so many, those with the highest figure first, 1 or more. */
  readonly top?: number;
}

/** How paths between two nodes are looked for. */
export interface PathsOptions extends WalkOptions {
  /** The most paths of one answer, 1 to 100,000; `next` gives more. @default 100 of the shortest, 1,000 of all */
  readonly limit?: number;
  /** The most hops of a path, 1 or more. */
  readonly depth?: number;
}

/** How the ways of a walk are given. */
export interface PathOptions extends WalkOptions {
  /** The most paths of one answer, 1 to 100,000; `next` gives more. @default 1,000 */
  readonly limit?: number;
  /** True to leave out paths that come back to a node. @default false */
  readonly simple?: boolean;
}

/** By what nodes are ranked. */
export interface RankOptions extends GroupOptions {
  /** The number of edges, or the sum of an attribute over them. */
  readonly by: "degree" | { readonly sum: string };
}

/** What is told of each round. */
export interface LevelOptions extends WalkOptions {
  /** An attribute of the edges to add up. */
  readonly sum?: string;
}

/** What one round of a walk found. */
export interface WalkLevel {
  /** 1 for the first. */
  readonly level: number;
  /** Nodes that no earlier round had found. */
  readonly nodes: number;
  /** Edges that lead to them, or to nodes found before. */
  readonly edges: number | bigint;
  readonly sum?: number | bigint;
}

type EdgesFrom<E extends Edges, At extends string> = At extends string ? EdgesAt<E, At, "~from"> : never;
type EdgesTo<E extends Edges, At extends string> = At extends string ? EdgesAt<E, At, "~to"> : never;
type EdgesBoth<E extends Edges, At extends string> = At extends string ? EdgesAt<E, At, "~from"> & EdgesAt<E, At, "~to"> : never;

/** An edge to go along, in one of three directions, and what to ask of it and of the node behind it. */
export interface Hop<Out, In, Both, EdgeFilter, NodeFilter> {
  readonly out?: Out;
  readonly in?: In;
  readonly both?: Both;
  readonly where?: EdgeFilter;
  readonly whereNode?: NodeFilter;
}

type FarOf<E extends Edges, Out extends keyof E, In extends keyof E> = E[Out]["~to"] | E[In]["~from"];
type WhereNode<N extends Nodes, At extends string> = At extends keyof N ? Where<N[At]["~types"]["row"]> : never;

/**
 * A walk over several hops, not yet made. It stands on nodes of the types `At`, and came along `Last`.
 * Immutable: each method gives another walk; those that end a chain return a call.
 *
 * A layer at a time: every node of a layer is read once, however many ways lead to it.
 *
 * @throws {schema.unknownEdge} {schema.unknownAttribute} {plan.invalidOption} at once, from the method that names what there is none of
 * @throws {traverse.depth} from `repeat`, for a depth that is not from 1 to 100
 * @throws {traverse.supernode} from a call with `supernode: "refuse"`, at a node with more edges than `budget.breadth`
 * @throws {cursor.invalid} from a call, for a cursor that is not of this walk, or that was stored and has expired
 *
 * @example
 * // Who takes a course that Ann takes?
 * const { items, complete, next } = await db.student({ studentId: "A" }).out("enrolledIn").in("enrolledIn").except("start").nodes({ budget: { requests: 200 } });
 */
export interface Walk<N extends Nodes, E extends Edges, At extends string, Last extends keyof E> {
  /** Goes along the edges that leave its nodes: a Query for each node of the layer and each megabyte, fewer where `among` names few nodes. */
  out<Edge extends EdgesFrom<E, At>>(edge: Edge): Walk<N, E, E[Edge]["~to"], Edge>;
  /** Goes along the edges that reach its nodes, back to where they start. */
  in<Edge extends EdgesTo<E, At>>(edge: Edge): Walk<N, E, E[Edge]["~from"], Edge>;
  /** Goes along the edges in either direction. */
  both<Edge extends EdgesBoth<E, At>>(edge: Edge): Walk<N, E, E[Edge]["~from"] | E[Edge]["~to"], Edge>;
  /** Goes along one edge several times: what a round finds is where the next begins. */
  repeat<Out extends EdgesFrom<E, At> = never, In extends EdgesTo<E, At> = never, Both extends EdgesBoth<E, At> = never>(
    hop: Hop<Out, In, Both, EdgesInGraph<N, E>[Out | In | Both]["filter"], WhereNode<N, FarOf<E, Out | Both, In | Both>>>,
    options: RepeatOptions,
  ): Walk<N, E, FarOf<E, Out | Both, In | Both>, Out | In | Both>;
  /** Keeps the edges of the last hop for which every condition holds. */
  where(filter: EdgesInGraph<N, E>[Last]["filter"]): Walk<N, E, At, Last>;
  /**
   * Keeps the nodes for which every condition holds; it reads them. One without an item never passes, and neither does one
   * of a kind that has not every attribute named.
   */
  whereNode(filter: WhereNode<N, At>): Walk<N, E, At, Last>;
  /** From here on each node counts once, and what was gathered on the way to it is forgotten. */
  dedupe(): Walk<N, E, At, Last>;
  /** Leaves nodes out. */
  except(nodes: Excluded<EndId<N, At>>): Walk<N, E, At, Last>;
  /** Keeps only these nodes. */
  among(nodes: readonly EndId<N, At>[]): Walk<N, E, At, Last>;
  /** The nodes' ids, each once, in the order in which they are reached. */
  ids(options?: WalkOptions): WalkCall<Walked<EndId<N, At>>>;
  /** The nodes, each once: one BatchGetItem for each 100 beyond the walk. Missing ones are left out and named in the report; of several kinds each is `{ kind, row }`. */
  nodes(options?: WalkOptions): WalkCall<Walked<GivenNode<N, At>>>;
  /** How many ways there are; after `dedupe`, how many nodes. */
  count(options?: WalkOptions): WalkCall<WalkCount>;
  /** Each node with the number of ways that lead to it. */
  groupCount(options?: GroupOptions): WalkCall<Walked<Reached<EndId<N, At>>>>;
  /** The nodes to which most ways lead, 1 or more. */
  top(most: number, options?: WalkOptions): WalkCall<Walked<Reached<EndId<N, At>>>>;
  /** For each node, the sum of an attribute over the edges of every way there; edges without it add nothing. */
  sum(attribute: string, options?: GroupOptions): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /** For each node, the least value of an attribute on any edge of any way there. */
  min(attribute: string, options?: GroupOptions): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /** For each node, the greatest value of an attribute on any edge of any way there. */
  max(attribute: string, options?: GroupOptions): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /**
   * Ranks the nodes by their own edges, in the direction of `hop`: how many, or the sum of an attribute
   * over them. Nodes without such edges are left out.
   */
  rank<Out extends EdgesFrom<E, At> = never, In extends EdgesTo<E, At> = never, Both extends EdgesBoth<E, At> = never>(
    hop: Hop<Out, In, Both, EdgesInGraph<N, E>[Out | In | Both]["filter"], WhereNode<N, FarOf<E, Out | Both, In | Both>>>,
    options: RankOptions,
  ): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /** How many nodes and edges each round of the last repeat found; see `subtree`. */
  levels(options?: LevelOptions): WalkCall<Walked<WalkLevel>>;
  /** The ways themselves, from the start to each node; parallel edges make one. */
  paths(options?: PathOptions): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /** What `ids()` would do, and about how much. */
  explain(): Promise<WalkExplanation>;
}

type HopFrom<N extends Nodes, E extends Edges, Out extends keyof E, In extends keyof E, Both extends keyof E> = Hop<
  Out,
  In,
  Both,
  EdgesInGraph<N, E>[Out | In | Both]["filter"],
  WhereNode<N, FarOf<E, Out | Both, In | Both>>
>;

/** Walks with a name, from one node. Each goes along one edge, in one direction or in both. */
export interface Walks<N extends Nodes, E extends Edges, Name extends keyof N & string> {
  /** Where walks begin that go along no edge yet. */
  walk(): Walk<N, E, Name, never>;
  /** All nodes up to so many hops away, 1 to 100, this one left out. */
  neighbourhood<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    depth: number,
  ): Walk<N, E, FarOf<E, Out | Both, In | Both>, Out | In | Both>;
  /** Everything that the edge leads to, at any depth, this node left out. */
  dependencies<Edge extends EdgesFrom<E, Name>>(edge: Edge): Walk<N, E, E[Edge]["~to"], Edge>;
  /** Everything from which the edge leads here, at any depth, this node left out. */
  dependents<Edge extends EdgesTo<E, Name>>(edge: Edge): Walk<N, E, E[Edge]["~from"], Edge>;
  /** What lies below this node, a level after the other: nodes, edges, and the sum of an attribute over them. */
  subtree<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options?: LevelOptions & { readonly depth?: number },
  ): WalkCall<Walked<WalkLevel>>;
  /**
   * The neighbours that this node has in common with others. A Query for each in turn, until nothing is in
   * common, or a BatchGetItem where few are left and listing is expected to cost more: begin with whoever has
   * the fewest. The budget is of all of them, and a part that it ends gives nothing but `next`.
   */
  common<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    others: readonly N[Name]["~types"]["id"][],
    options?: WalkOptions,
  ): WalkCall<Walked<EndId<N, FarOf<E, Out | Both, In | Both>>>>;
  /** Whom the neighbours have for neighbours and this node has not, those with most in common first. */
  suggest<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options: WalkOptions & { readonly top: number },
  ): WalkCall<Walked<Reached<EndId<N, FarOf<E, Out | Both, In | Both>>>>>;
  /** One of the shortest paths, ends included; none where there is none. Searched from both ends. */
  shortestPath<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    to: EndId<N, FarOf<E, Out | Both, In | Both>>,
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /** All of the shortest paths. */
  shortestPaths<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    to: EndId<N, FarOf<E, Out | Both, In | Both>>,
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /**
   * All paths that come to no node twice, the shorter first. Reads layers of nodes from both ends, of the two always the
   * one that is expected to cost less: a node of many edges at one end is read no further than the other end costs. Where
   * more than 100,000 beginnings of paths would be kept in mind it ends, `stopped` by `limit` and without `next`.
   */
  allPaths<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    to: EndId<N, FarOf<E, Out | Both, In | Both>>,
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /** A shortest way that comes back to this node; none where there is none. In both directions one edge is enough: there and back. */
  cycle<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
}
