import type { Call } from "../executor/call.ts";
import type { Where } from "../ir/condition.ts";
import type { EdgesAt, Edges, EdgesInGraph, EndId, Nodes } from "./graph-types.ts";
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
  /** A cursor that goes on from here; absent where nothing is left. */
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

export type WalkCall<T> = Call<T, WalkExplanation>;

/** Which nodes a walk leaves out: where it began, or these. */
export type Excluded<Id> = "start" | readonly Id[];

export interface RepeatOptions {
  /** How many times, 1 to 100. */
  readonly depth: number;
  /** Whether the nodes of every round go on, or those of the last alone. @default "last" */
  readonly emit?: "all" | "last";
}

export interface GroupOptions extends WalkOptions {
  /** Only so many, those with the highest figure first, 1 or more. */
  readonly top?: number;
}

export interface PathOptions extends WalkOptions {
  /** The most paths of one answer, 1 to 100,000; `next` gives more. @default 1,000 */
  readonly limit?: number;
  /** True to leave out paths that come back to a node. @default false */
  readonly simple?: boolean;
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
 */
export interface Walk<N extends Nodes, E extends Edges, At extends string, Last extends keyof E> {
  out<Edge extends EdgesFrom<E, At>>(edge: Edge): Walk<N, E, E[Edge]["~to"], Edge>;
  in<Edge extends EdgesTo<E, At>>(edge: Edge): Walk<N, E, E[Edge]["~from"], Edge>;
  both<Edge extends EdgesBoth<E, At>>(edge: Edge): Walk<N, E, E[Edge]["~from"], Edge>;
  /** Goes along one edge several times: what a round finds is where the next begins. */
  repeat<Out extends EdgesFrom<E, At> = never, In extends EdgesTo<E, At> = never, Both extends EdgesBoth<E, At> = never>(
    hop: Hop<Out, In, Both, EdgesInGraph<N, E>[Out | In | Both]["filter"], WhereNode<N, FarOf<E, Out | Both, In | Both>>>,
    options: RepeatOptions,
  ): Walk<N, E, FarOf<E, Out | Both, In | Both>, Out | In | Both>;
  /** Keeps the edges of the last hop for which every condition holds. */
  where(filter: EdgesInGraph<N, E>[Last]["filter"]): Walk<N, E, At, Last>;
  /** Keeps the nodes for which every condition holds; it reads them. One without an item never passes. */
  whereNode(filter: WhereNode<N, At>): Walk<N, E, At, Last>;
  /** From here on each node counts once, and what was gathered on the way to it is forgotten. */
  dedupe(): Walk<N, E, At, Last>;
  /** Leaves nodes out. */
  except(nodes: Excluded<EndId<N, At>>): Walk<N, E, At, Last>;
  /** Keeps only these nodes. */
  among(nodes: readonly EndId<N, At>[]): Walk<N, E, At, Last>;
  /** The nodes' ids, each once, in the order in which they are reached. */
  ids(options?: WalkOptions): WalkCall<Walked<EndId<N, At>>>;
  /** The nodes, each once: one BatchGetItem for each 100 beyond the walk. Missing ones are left out and named in the report. */
  nodes(options?: WalkOptions): WalkCall<Walked<At extends keyof N ? N[At]["~types"]["row"] : never>>;
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
  /** The ways themselves, from the start to each node; parallel edges make one. */
  paths(options?: PathOptions): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /** What `ids()` would do, and about how much. */
  explain(): WalkExplanation;
}
