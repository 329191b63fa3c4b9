import type { Call } from "../executor/call.ts";
import type { Where } from "../ir/condition.ts";
import type { Page, PageBudget, PageItems } from "./page-types.ts";
import type { AnyEdgeInGraph, Edges, EdgesAt, EdgesInGraph, EndId, FetchedNode, GivenNode, Nodes, NumericOf } from "./graph-types.ts";
import type { WalkExplanation } from "./walk-explanation.ts";

/** What a walk may take. A walk that reaches any of these bounds ends with what it has found. */
export interface BudgetOptions {
  /** Attempts of requests, 1 to 1,000,000,000. A walk never sends more. @default 1,000 */
  readonly requests?: number | undefined;
  /** Read units, 1 to 1,000,000,000. Requests in flight when the bound is reached are charged beyond it. */
  readonly units?: number | undefined;
  /** Edges of one node in one hop, 1 to 1,000,000,000. @default 10,000 */
  readonly breadth?: number | undefined;
  /** Hops from the start, 1 to 1,000,000,000. */
  readonly depth?: number | undefined;
  /** Milliseconds, 1 to 86,400,000. @default the call's deadline */
  readonly time?: number | undefined;
  /** Estimated bytes of the nodes that the walk remembers, 1,000 to 1,000,000,000,000. @default 250,000,000 */
  readonly memory?: number | undefined;
}

/** Options of every walk. */
export interface WalkOptions {
  /** What the walk may take. @default 1,000 requests, 10,000 edges of a node, 250 MB, the call's deadline */
  readonly budget?: BudgetOptions | undefined;
  /**
   * What to do at a node with more edges than `budget.breadth`: leave the rest to the continuation (`page`), take only the
   * first edges in the order of their keys (`sample`), or throw (`refuse`).
   * @default "page"
   */
  readonly supernode?: "page" | "sample" | "refuse" | undefined;
  /** `next` of an earlier answer to the same walk, to continue from there. */
  readonly cursor?: string | undefined;
  /**
   * Stores the state of a stopped walk in the table, so that `next` has less than 200 characters. Without it `next` holds
   * the state itself and may have hundreds of thousands of characters. Storing takes a write unit for each KB of the
   * state, a continuation a read unit for each 4 KB. These requests are not part of `budget`, but count in the report's cost.
   */
  readonly storeCursor?: StoreCursor | undefined;
}

/** Options of a walk that gives some attributes of its nodes. */
export interface SelectWalk<Field> extends WalkOptions {
  /**
   * Sends only these attributes of the nodes, one or more, and the version where a node type keeps one; read, and paid for, are
   * whole items. Nodes that a filter had to read come whole. @default all
   */
  readonly select: readonly Field[];
}

/** How the state of a stopped walk is stored. */
export interface StoreCursor {
  /** Seconds until `next` expires, 1 to 2,592,000 (30 days). Until then it can be used any number of times. */
  readonly seconds: number;
}

/** Why a walk ended early, and what it left. */
export interface WalkStop {
  /** The bound of the budget that was reached; `limit` if there are more paths than were asked for. */
  readonly by: "requests" | "units" | "breadth" | "depth" | "time" | "memory" | "limit";
  /** The first hop at which something is left to read. The first of a walk is 1. */
  readonly hop: number;
  /**
   * How many distinct nodes were not read, or not completely, and the first of them. Nodes left at later hops are
   * included; a node left at several hops counts once.
   */
  readonly left: { readonly nodes: number; readonly sample: readonly { readonly type: string; readonly id: object }[] };
}

/** How a walk ended. */
export interface WalkEnd {
  /** True if nothing is left to find. */
  readonly complete: boolean;
  readonly stopped: WalkStop | undefined;
  /**
   * A cursor that continues from here. It is undefined if nothing is left, or if the budget had no room for it: `complete`
   * tells which. It holds the walk's state, or names it with the option `storeCursor`. Without the option `cursorSecret`
   * the first cursor of a connection takes 2 of the budget's requests.
   */
  readonly next: string | undefined;
}

/** What a walk found. */
export interface Walked<T> extends WalkEnd, Iterable<T> {
  readonly items: readonly T[];
}

/** How much a walk found, beyond 2^53 as a bigint. */
export interface WalkCount extends WalkEnd {
  readonly count: number | bigint;
}

/** A node, and the number of paths that lead to it. */
export interface Reached<Id> {
  readonly id: Id;
  readonly count: number | bigint;
}

/** The same with the value gathered along the paths; undefined if no edge had the attribute. */
export interface Gathered<Id> extends Reached<Id> {
  readonly value: number | bigint | undefined;
}

/** A walk that has not been made yet. */
export interface WalkCall<T> extends Call<T, WalkExplanation> {
  /**
   * The same walk, continued from `next` of an earlier answer: like the option `cursor`, for a call that other code made.
   *
   * @example
   * const call = db.student({ studentId: "A" }).out("enrolledIn").in("enrolledIn").ids({ budget: { requests: 3 } });
   * const { next } = await call;
   * if (next !== undefined) await call.from(next);
   */
  from(cursor: string): WalkCall<T>;
}

/** The nodes that a walk leaves out: its start, every node that it has been at, or these. */
export type Excluded<Id> = "start" | "passed" | readonly Id[];

/** How often a walk goes along an edge. */
export interface RepeatOptions {
  /** How many times, 1 to 100. */
  readonly depth: number;
  /** Whether the nodes of every round go on, or only those of the last. @default "last" */
  readonly emit?: "all" | "last" | undefined;
}

/** Options of counting. */
export interface WalkCountOptions extends WalkOptions {
  /**
   * Which derived attributes of nodes may stand for counting the edges of the last hop, as for `count()` of a node's edges.
   * Not with `supernode` "sample" or "refuse". @default "transaction"
   */
  readonly kept?: "transaction" | "any" | "none" | undefined;
}

/** How nodes are grouped. */
export interface GroupOptions extends WalkOptions {
  /** How many to give, those with the highest figure first, 1 or more. */
  readonly top?: number | undefined;
}

/** Options of a search for paths between two nodes. */
export interface PathsOptions extends WalkOptions {
  /** Upper bound of the paths in one answer, 1 to 100,000; `next` gives more. @default 100 for the shortest, 1,000 for all */
  readonly limit?: number | undefined;
  /** Upper bound of the hops of a path, 1 or more. */
  readonly depth?: number | undefined;
}

/** Options of the paths of a walk. */
export interface PathOptions extends WalkOptions {
  /** Upper bound of the paths in one answer, 1 to 100,000; `next` gives more. @default 1,000 */
  readonly limit?: number | undefined;
  /** True to leave out paths that visit a node twice. @default false */
  readonly simple?: boolean | undefined;
}

/** Options of a ranking. */
export interface RankOptions<Field extends string = string> extends GroupOptions {
  /** Ranks by the number of edges, or by the sum of a numeric attribute over them. */
  readonly by: "degree" | { readonly sum: Field };
  /** Which derived attributes of nodes may stand for counting their edges or summing over them, as for `count()`. @default "transaction" */
  readonly kept?: "transaction" | "any" | "none" | undefined;
}

/** Numeric attributes of the nodes at the end of a walk, by what is made of them: one, or a list. */
export interface Aggregate<Field extends string = string> {
  readonly sum?: Field | readonly Field[] | undefined;
  readonly min?: Field | readonly Field[] | undefined;
  readonly max?: Field | readonly Field[] | undefined;
  readonly average?: Field | readonly Field[] | undefined;
}

/** What is made of the attributes of some nodes. A node without an attribute, or with null, adds nothing to it. */
export interface Aggregates<Field extends string> {
  /** The paths to these nodes; after `dedupe`, the nodes. */
  readonly count: number | bigint;
  /** Whole sums are exact, beyond 2^53 as bigint. */
  readonly sum: { readonly [Name in Field]?: number | bigint };
  /** Undefined if no node has the attribute. */
  readonly min: { readonly [Name in Field]?: number | bigint };
  readonly max: { readonly [Name in Field]?: number | bigint };
  readonly average: { readonly [Name in Field]?: number };
}

/** The same of all nodes at the end of a walk, and how it ended. */
export interface Aggregated<Field extends string> extends Aggregates<Field>, WalkEnd {}

/** The same of the nodes that share values of some attributes. */
export interface Grouped<Group, Field extends string> extends Aggregates<Field> {
  /** The attributes and their values; undefined for nodes without the attribute. */
  readonly group: Group;
}

/** How a feed is read. */
export interface FeedOptions<Of extends string = string> {
  /** Rows of the page, 1 to 10,000. @default 20 */
  readonly limit?: number | undefined;
  /** `next` or `previous` of an earlier page of the same feed. */
  readonly cursor?: string | undefined;
  /** What the page holds. @default "entries" */
  readonly of?: Of | undefined;
  /** Upper bound of the nodes whose edges are merged, 1 to 1,000: each takes a Query, and one more for each shard. @default 100 */
  readonly nodes?: number | undefined;
  /** What to do if the walk leads to more nodes: throw, or take the first of them in the order of the walk. @default "refuse" */
  readonly beyond?: "refuse" | "sample" | undefined;
  /** What the walk and the merge may take; the nodes at the ends of edges are read beyond it. @default 1,000 requests */
  readonly budget?: PageBudget | undefined;
}

/** A page of a feed. */
export interface FeedPage<T> extends Page<T> {
  /** The nodes whose edges were merged. */
  readonly nodes: number;
  /** The nodes that were left out, with `beyond: "sample"`. */
  readonly left: number;
}

/** What a page of a feed would send, and its estimated cost. */
export interface FeedExplanation extends Omit<WalkExplanation, "kind" | "plan" | "logical"> {
  readonly kind: "feed";
  /** The walk to the nodes whose edges are merged. */
  readonly walk: WalkExplanation;
}

/** A feed that has not been read yet. */
export type FeedCall<T> = Call<FeedPage<T>, FeedExplanation>;

/** Options of `levels`. */
export interface LevelOptions<Field extends string = string> extends WalkOptions {
  /** A numeric attribute of the edges to sum. */
  readonly sum?: Field | undefined;
}

/** What one round of a walk found. */
export interface WalkLevel {
  /** 1 for the first. */
  readonly level: number;
  /** Nodes that no earlier round found. */
  readonly nodes: number;
  /** Edges that lead to them, or to nodes found earlier. */
  readonly edges: number | bigint;
  readonly sum?: number | bigint;
}

type EdgesFrom<E extends Edges, At extends string> = At extends string ? EdgesAt<E, At, "~from"> : never;
type EdgesTo<E extends Edges, At extends string> = At extends string ? EdgesAt<E, At, "~to"> : never;
type EdgesBoth<E extends Edges, At extends string> = At extends string ? EdgesAt<E, At, "~from"> & EdgesAt<E, At, "~to"> : never;

/**
 * An edge type to follow in one of three directions, or a list of several types, with conditions on the edge and on the node
 * behind it. Edges of types that lack an attribute of `where` are neither followed nor read.
 */
export interface Hop<Out, In, Both, EdgeFilter, NodeFilter> {
  readonly out?: Out | readonly Out[];
  readonly in?: In | readonly In[];
  readonly both?: Both | readonly Both[];
  readonly where?: EdgeFilter;
  readonly whereNode?: NodeFilter;
}

/** Attributes of the nodes of some types, any of them. */
type AttributeAt<N extends Nodes, At extends string> = At extends keyof N ? keyof N[At]["~types"]["row"] & string : never;
/** Those that may hold a number. */
type NumberAt<N extends Nodes, At extends string> = At extends keyof N ? NumericOf<N[At]["~types"]["row"]> : never;
/** Numeric attributes of some edge types, any of them. */
type NumberOn<N extends Nodes, E extends Edges, Name extends keyof E> = Name extends keyof E
  ? NumericOf<EdgesInGraph<N, E>[Name]["edge"]>
  : never;
type GroupAt<N extends Nodes, At extends string, By extends string> = At extends keyof N
  ? { readonly [Name in By & keyof N[At]["~types"]["row"]]: N[At]["~types"]["row"][Name] | undefined }
  : never;

type FeedItems<In extends AnyEdgeInGraph, Direction> = Direction extends "out"
  ? PageItems<In["edge"], In["target"], In["to"]>
  : PageItems<In["edge"], In["source"], In["from"]>;

type FarOf<E extends Edges, Out extends keyof E, In extends keyof E> = E[Out]["~to"] | E[In]["~from"];
type WhereNode<N extends Nodes, At extends string> = At extends keyof N ? Where<N[At]["~types"]["row"]> : never;

/**
 * A walk over several hops that has not been made yet. It stands on nodes of the types `At`, and came along `Last`.
 * Immutable: each method returns another walk; those that end a chain return a call.
 *
 * A walk reads one frontier after another. Each node of a frontier is read once, however many paths lead to it.
 *
 * @throws {schema.unknownEdge} {schema.unknownAttribute} {plan.invalidOption} at once, from the method that gets the wrong name or option
 * @throws {traverse.depth} from `repeat`, for a depth that is not from 1 to 100
 * @throws {traverse.supernode} from a call with `supernode: "refuse"`, at a node with more edges than `budget.breadth`
 * @throws {plan.invalidOption} from a call, when a value to sum or compare is not a number
 * @throws {cursor.invalid} from a call, for a cursor of another walk, or a stored one that has expired
 *
 * @example
 * // Who takes a course that Ann takes?
 * const { items, complete, next } = await db.student({ studentId: "A" }).out("enrolledIn").in("enrolledIn").except("start").nodes({ budget: { requests: 200 } });
 */
export interface Walk<N extends Nodes, E extends Edges, At extends string, Last extends keyof E> {
  /**
   * Follows the edges that leave its nodes: one Query for each node of the frontier and each megabyte, fewer if `among` names few nodes.
   * Of several edge types (`out(["dependsOn", "provides"])`) there is one Query for each type at each node, or one for all of
   * them where they lie side by side; `explain()` shows which.
   */
  out<Edge extends EdgesFrom<E, At>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~to"], Edge>;
  /** Follows the edges that reach its nodes, back to their sources. */
  in<Edge extends EdgesTo<E, At>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~from"], Edge>;
  /** Follows the edges in either direction. */
  both<Edge extends EdgesBoth<E, At>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~from"] | E[Edge]["~to"], Edge>;
  /** Follows an edge type, or several, several times: each round starts from the nodes that the round before found. */
  repeat<Out extends EdgesFrom<E, At> = never, In extends EdgesTo<E, At> = never, Both extends EdgesBoth<E, At> = never>(
    hop: Hop<Out, In, Both, EdgesInGraph<N, E>[Out | In | Both]["filter"], WhereNode<N, FarOf<E, Out | Both, In | Both>>>,
    options: RepeatOptions,
  ): Walk<N, E, FarOf<E, Out | Both, In | Both>, Out | In | Both>;
  /** Keeps the edges of the last hop that fulfil every condition. Of several edge types, those that lack a named attribute are not followed. */
  where(filter: EdgesInGraph<N, E>[Last]["filter"]): Walk<N, E, At, Last>;
  /**
   * Keeps the nodes that fulfil every condition, and reads them for it. A node without an item never passes, nor does one
   * of a type that lacks a named attribute.
   */
  whereNode(filter: WhereNode<N, At>): Walk<N, E, At, Last>;
  /** From here on each node counts once. What was gathered on the way to it is forgotten. */
  dedupe(): Walk<N, E, At, Last>;
  /** Leaves nodes out. */
  except(nodes: Excluded<EndId<N, At>>): Walk<N, E, At, Last>;
  /** Keeps only these nodes. */
  among(nodes: readonly EndId<N, At>[]): Walk<N, E, At, Last>;
  /** The ids of the nodes, each once, in the order in which they are reached. */
  ids(options?: WalkOptions): WalkCall<Walked<EndId<N, At>>>;
  /** The nodes, each once: the walk, and one BatchGetItem for each 100. The report names missing ones. If they are of several types, each is `{ kind, row }`. */
  nodes(options?: WalkOptions): WalkCall<Walked<GivenNode<N, At>>>;
  nodes<const Field extends AttributeAt<N, At>>(options: SelectWalk<Field>): WalkCall<Walked<FetchedNode<GivenNode<N, At>, Field>>>;
  /**
   * The number of paths; after `dedupe`, the number of nodes. If nodes have a derived attribute that counts the edges of the
   * last hop, one BatchGetItem for each 100 nodes takes it instead of a Query for each.
   */
  count(options?: WalkCountOptions): WalkCall<WalkCount>;
  /**
   * Each node with the number of paths that lead to it, the highest number first; equal ones in the order in which the nodes
   * are reached. A walk that stops at its budget orders what it found, and its continuation what that finds.
   */
  groupCount(options?: GroupOptions): WalkCall<Walked<Reached<EndId<N, At>>>>;
  /** The nodes to which the most paths lead. `most` is 1 or more. */
  top(most: number, options?: WalkOptions): WalkCall<Walked<Reached<EndId<N, At>>>>;
  /**
   * For each node, the sum of a numeric attribute over the edges of every path to it, in the order in which the nodes are
   * reached; with `top`, the highest first. Edges without it add nothing.
   */
  sum(attribute: NumberOn<N, E, keyof E>, options?: GroupOptions): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /** For each node, the least value of a numeric attribute on any edge of any path to it, in the order of `sum`. */
  min(attribute: NumberOn<N, E, keyof E>, options?: GroupOptions): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /** For each node, the greatest value of a numeric attribute on any edge of any path to it, in the order of `sum`. */
  max(attribute: NumberOn<N, E, keyof E>, options?: GroupOptions): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /**
   * Ranks the nodes by their own edges in the direction of `hop`: by their number, or by the sum of an attribute over
   * them, the highest first. Nodes without such edges are left out. A derived attribute that counts them is taken as by `count`.
   */
  rank<Out extends EdgesFrom<E, At> = never, In extends EdgesTo<E, At> = never, Both extends EdgesBoth<E, At> = never>(
    hop: Hop<Out, In, Both, EdgesInGraph<N, E>[Out | In | Both]["filter"], WhereNode<N, FarOf<E, Out | Both, In | Both>>>,
    options: RankOptions<NumberOn<N, E, Out | In | Both>>,
  ): WalkCall<Walked<Gathered<EndId<N, At>>>>;
  /**
   * Counts the nodes at the end of the walk and folds their attributes: reads them, one BatchGetItem for each 100. Each path to
   * a node counts, as in `count()`; call `dedupe()` first to count each node once. Nodes without an item do not count, and
   * the report names them. If the walk ends on several types, nodes of types that lack a named attribute do not count.
   *
   * @throws {schema.unknownAttribute} for a name that no type at the end has
   * @throws {plan.invalidOption} from the call, when a value is not a number
   */
  aggregate<Field extends NumberAt<N, At>>(ask?: Aggregate<Field>, options?: WalkOptions): WalkCall<Aggregated<Field>>;
  /**
   * The same for each value of an attribute, or combination of values of several, the largest group first; equal ones in the
   * order in which they are reached. `top` gives the largest.
   */
  groupBy<By extends AttributeAt<N, At>, Field extends NumberAt<N, At> = never>(
    by: By | readonly By[],
    ask?: Aggregate<Field>,
    options?: GroupOptions,
  ): WalkCall<Walked<Grouped<GroupAt<N, At, By>, Field>>>;
  /**
   * The newest edges of the nodes at the end of the walk, merged into one order, in pages: what the people whom I follow
   * wrote. It takes one edge type with `orderBy`, in one direction, and gives its edges from the highest value of `orderBy`
   * down. Each page costs the walk, a Query for each node and each shard, and one BatchGetItem for each 100 rows.
   *
   * A cursor is a place in that order. A page goes on behind it, whoever was followed or unfollowed meanwhile.
   *
   * @throws {plan.unsupported} for an edge without `orderBy`, for several types or directions
   * @throws {plan.noIndex} from the call, if no index gives the order
   * @throws {traverse.supernode} from the call, when the walk leads to more than `nodes` nodes
   * @throws {plan.invalidOption} from the call, when the budget has no request for each node and shard
   * @throws {cursor.invalid} from the call, for a cursor of another feed
   */
  feed<
    Out extends EdgesFrom<E, At> = never,
    In extends EdgesTo<E, At> = never,
    Of extends "edges" | "nodes" | "entries" | "ids" = "entries",
  >(
    hop: { readonly out?: Out; readonly in?: In; readonly where?: EdgesInGraph<N, E>[Out | In]["filter"] },
    options?: FeedOptions<Of>,
  ): FeedCall<FeedItems<EdgesInGraph<N, E>[Out | In], [Out] extends [never] ? "in" : "out">[Of]>;
  /** How many nodes and edges each round of the last repeat found; see `subtree`. */
  levels(options?: LevelOptions<NumberOn<N, E, Last>>): WalkCall<Walked<WalkLevel>>;
  /** The paths from the start to each node. Parallel edges make one path. */
  paths(options?: PathOptions): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /** Shows what `ids()` would send, and estimates its cost. */
  explain(): Promise<WalkExplanation>;
}

type HopFrom<N extends Nodes, E extends Edges, Out extends keyof E, In extends keyof E, Both extends keyof E> = Hop<
  Out,
  In,
  Both,
  EdgesInGraph<N, E>[Out | In | Both]["filter"],
  WhereNode<N, FarOf<E, Out | Both, In | Both>>
>;

/** Named walks from one node. Each follows one edge type, in one direction or in both. */
export interface Walks<N extends Nodes, E extends Edges, Name extends keyof N & string> {
  /** Begins a walk that has followed no edge yet. */
  walk(): Walk<N, E, Name, never>;
  /** All nodes within `depth` hops, 1 to 100, without this one. */
  neighbourhood<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    depth: number,
  ): Walk<N, E, FarOf<E, Out | Both, In | Both>, Out | In | Both>;
  /** All nodes to which the edge leads, at any depth, without this one. */
  dependencies<Edge extends EdgesFrom<E, Name>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~to"], Edge>;
  /** All nodes from which the edge leads here, at any depth, without this one. */
  dependents<Edge extends EdgesTo<E, Name>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~from"], Edge>;
  /** What is below this node, level by level: nodes, edges, and the sum of an attribute over the edges. */
  subtree<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options?: LevelOptions<NumberOn<N, E, Out | In | Both>> & { readonly depth?: number },
  ): WalkCall<Walked<WalkLevel>>;
  /**
   * The neighbours that this node has in common with others. It sends a Query for each node in turn until nothing is in
   * common, or a BatchGetItem if few are left and listing is expected to cost more. Start from the node with the fewest
   * edges. One budget covers all nodes. If it ends the call early, the answer has no items, but `next`.
   */
  common<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    others: readonly N[Name]["~types"]["id"][],
    options?: WalkOptions,
  ): WalkCall<Walked<EndId<N, FarOf<E, Out | Both, In | Both>>>>;
  /** The neighbours' neighbours that are not neighbours of this node, those with the most in common first. */
  suggest<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options: WalkOptions & { readonly top: number },
  ): WalkCall<Walked<Reached<EndId<N, FarOf<E, Out | Both, In | Both>>>>>;
  /** One of the shortest paths, ends included; no item if there is no path. Searched from both ends. */
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
   * All paths that visit no node twice, the shorter first. It reads frontiers from both ends, always at the end that is
   * expected to cost less: a node of many edges at one end is read no further than the other end costs. If more than
   * 100,000 unfinished paths would have to be kept, it stops by `limit` and without `next`.
   */
  allPaths<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    to: EndId<N, FarOf<E, Out | Both, In | Both>>,
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /** A shortest cycle through this node; no item if there is none. In both directions one edge is enough: there and back. */
  cycle<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
}
