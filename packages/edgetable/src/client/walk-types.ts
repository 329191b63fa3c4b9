import type { Call } from "../executor/call.ts";
import type { Where } from "../ir/condition.ts";
import type { Page, PageBudget, PageItems } from "./page-types.ts";
import type { AnyEdgeInGraph, Edges, EdgesAt, EdgesInGraph, EndId, FetchedNode, GivenNode, Nodes, NumericOf } from "./graph-types.ts";
import type { WalkExplanation } from "./walk-explanation.ts";

/** The limits of a walk. A walk that reaches one of them ends with what it has found. */
export interface BudgetOptions {
  /** Attempts of requests, 1 to 1,000,000,000; a walk never sends more. @default 1,000 */
  readonly requests?: number | undefined;
  /** Read units, 1 to 1,000,000,000. Requests in flight when the limit is reached may exceed it. */
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
  /** The limits of the walk. @default 1,000 requests, 10,000 edges of a node, 250 MB, the call's deadline */
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

/** Options of a walk that returns some attributes of its nodes. */
export interface SelectWalk<Field> extends WalkOptions {
  /**
   * Sends only these attributes of the nodes, one or more, and the version where a node type keeps one; whole items are read and
   * paid for. Nodes that a filter has read are returned with all attributes. @default all
   */
  readonly select: readonly Field[];
}

/** Options of storing the state of a stopped walk. */
export interface StoreCursor {
  /** Seconds until `next` expires, 1 to 2,592,000 (30 days). Until then it can be used any number of times. */
  readonly seconds: number;
}

/** Why a walk stopped early, and what it has not read. */
export interface WalkStop {
  /** The limit of the budget that was reached; `limit` if there are more paths than requested. */
  readonly by: "requests" | "units" | "breadth" | "depth" | "time" | "memory" | "limit";
  /** The first hop at which something is left to read, from 1. */
  readonly hop: number;
  /**
   * The number of distinct nodes that were not read completely, and the first of them. Nodes left at later hops are included; a
   * node left at several hops counts once.
   */
  readonly left: { readonly nodes: number; readonly sample: readonly { readonly type: string; readonly id: object }[] };
}

/** How a walk ended. */
export interface WalkEnd {
  /** True if nothing is left to find. */
  readonly complete: boolean;
  readonly stopped: WalkStop | undefined;
  /**
   * A cursor that continues from here. It is undefined if nothing is left, or if the budget had no room for it; `complete`
   * distinguishes the two. It contains the walk's state or, with the option `storeCursor`, refers to it. Without the option
   * `cursorSecret`, the first cursor of a connection takes 2 of the budget's requests.
   */
  readonly next: string | undefined;
}

/** What a walk found. */
export interface Walked<T> extends WalkEnd, Iterable<T> {
  readonly items: readonly T[];
}

/** The count of what a walk found; a bigint beyond 2^53. */
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

/** The nodes that a walk leaves out: its start, every visited node, or the given nodes. */
export type Excluded<Id> = "start" | "passed" | readonly Id[];

/** How often a walk follows an edge. */
export interface RepeatOptions {
  /** How many times, 1 to 100. */
  readonly depth: number;
  /** Whether the walk continues from the nodes of every round, or only from those of the last. @default "last" */
  readonly emit?: "all" | "last" | undefined;
}

/** Options of counting. */
export interface WalkCountOptions extends WalkOptions {
  /**
   * Which derived attributes of nodes may replace counting the edges of the last hop, as for `count()` of a node's edges. Not with
   * `supernode` "sample" or "refuse". @default "transaction"
   */
  readonly kept?: "transaction" | "any" | "none" | undefined;
}

/** Options of grouping nodes. */
export interface GroupOptions extends WalkOptions {
  /** Maximum number of groups, those with the highest figure first, 1 or more. */
  readonly top?: number | undefined;
}

/** Options of a search for paths between two nodes. */
export interface PathsOptions extends WalkOptions {
  /** Maximum number of paths in one answer, 1 to 100,000; `next` continues. @default 100 for the shortest, 1,000 for all */
  readonly limit?: number | undefined;
  /** Maximum number of hops of a path, 1 or more. */
  readonly depth?: number | undefined;
}

/** Options of the paths of a walk. */
export interface PathOptions extends WalkOptions {
  /** Maximum number of paths in one answer, 1 to 100,000; `next` continues. @default 1,000 */
  readonly limit?: number | undefined;
  /** True to leave out paths that visit a node twice. @default false */
  readonly simple?: boolean | undefined;
}

/** Options of a ranking. */
export interface RankOptions<Field extends string = string> extends GroupOptions {
  /** Ranks by the number of edges, or by the sum of a numeric attribute over them. */
  readonly by: "degree" | { readonly sum: Field };
  /** Which derived attributes of nodes may replace counting their edges or summing over them, as for `count()`. @default "transaction" */
  readonly kept?: "transaction" | "any" | "none" | undefined;
}

/** Numeric attributes of the nodes at the end of a walk, by operation: one attribute, or a list. */
export interface Aggregate<Field extends string = string> {
  readonly sum?: Field | readonly Field[] | undefined;
  readonly min?: Field | readonly Field[] | undefined;
  readonly max?: Field | readonly Field[] | undefined;
  readonly average?: Field | readonly Field[] | undefined;
}

/** The results over the attributes of some nodes. A node without an attribute, or with null, adds nothing to its results. */
export interface Aggregates<Field extends string> {
  /** The number of paths to these nodes; after `dedupe`, of nodes. */
  readonly count: number | bigint;
  /** Whole sums are exact, beyond 2^53 as bigint. */
  readonly sum: { readonly [Name in Field]?: number | bigint };
  /** Undefined if no node has the attribute. */
  readonly min: { readonly [Name in Field]?: number | bigint };
  readonly max: { readonly [Name in Field]?: number | bigint };
  readonly average: { readonly [Name in Field]?: number };
}

/** The same for all nodes at the end of a walk, and how the walk ended. */
export interface Aggregated<Field extends string> extends Aggregates<Field>, WalkEnd {}

/** The same for the nodes that share values of some attributes. */
export interface Grouped<Group, Field extends string> extends Aggregates<Field> {
  /** The attributes and their values; undefined for nodes without the attribute. */
  readonly group: Group;
}

/** Options of a feed. */
export interface FeedOptions<Of extends string = string> {
  /** Rows of the page, 1 to 10,000. @default 20 */
  readonly limit?: number | undefined;
  /** `next` or `previous` of an earlier page of the same feed. */
  readonly cursor?: string | undefined;
  /** What the page contains. @default "entries" */
  readonly of?: Of | undefined;
  /** Maximum number of nodes whose edges are merged, 1 to 1,000. Each takes a Query for each shard. @default 100 */
  readonly nodes?: number | undefined;
  /**
   * What to do if the walk leads to more nodes: `refuse` throws, `sample` takes the first ones in the order of the walk. @default
   * "refuse"
   */
  readonly beyond?: "refuse" | "sample" | undefined;
  /** The limits of the walk and the merge. Reading the nodes at the ends of edges is not part of them. @default 1,000 requests */
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

/** A page of a feed that has not been read yet. */
export type FeedCall<T> = Call<FeedPage<T>, FeedExplanation>;

/** Options of `levels`. */
export interface LevelOptions<Field extends string = string> extends WalkOptions {
  /** A numeric attribute of the edges to sum. */
  readonly sum?: Field | undefined;
}

/** The result of one round of a walk. */
export interface WalkLevel {
  /** The number of the round, from 1. */
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
 * An edge type to follow in one of three directions, or a list of several types, with conditions on the edge and on the node that
 * it leads to. Edges of types that lack an attribute of `where` are neither read nor followed.
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
 * A walk over several hops that has not been made yet. It is at nodes of the types `At`, and its last hop followed `Last`.
 * Immutable: each method returns a new walk; the last method of a chain returns a call.
 *
 * A walk reads one frontier after another. Each node of a frontier is read once, however many paths lead to it.
 *
 * @throws {schema.unknownEdge} {schema.unknownAttribute} {plan.invalidOption} at once, from the method with the wrong name or
 * option
 * @throws {traverse.depth} from `repeat`, for a depth that is not from 1 to 100
 * @throws {traverse.supernode} from a call with `supernode: "refuse"`, at a node with more edges than `budget.breadth`
 * @throws {plan.invalidOption} from a call, if a value to sum or compare is not a number
 * @throws {cursor.invalid} from a call, for a cursor of another walk, or a stored one that has expired
 *
 * @example
 * // Who takes a course that Ann takes?
 * const { items, complete, next } = await db.student({ studentId: "A" }).out("enrolledIn").in("enrolledIn").except("start").nodes({ budget: { requests: 200 } });
 */
export interface Walk<N extends Nodes, E extends Edges, At extends string, Last extends keyof E> {
  /**
   * Follows the outgoing edges of its nodes: one Query for each node of the frontier and each megabyte, fewer if `among` names few
   * nodes. Several edge types (`out(["dependsOn", "provides"])`) take one Query for each type at each node, or a single one if they
   * are next to each other in the key; `explain()` shows which.
   */
  out<Edge extends EdgesFrom<E, At>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~to"], Edge>;
  /** Follows the incoming edges of its nodes, back to their sources. */
  in<Edge extends EdgesTo<E, At>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~from"], Edge>;
  /** Follows the edges in either direction. */
  both<Edge extends EdgesBoth<E, At>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~from"] | E[Edge]["~to"], Edge>;
  /** Follows one or more edge types repeatedly: each round starts from the nodes that the previous round found. */
  repeat<Out extends EdgesFrom<E, At> = never, In extends EdgesTo<E, At> = never, Both extends EdgesBoth<E, At> = never>(
    hop: Hop<Out, In, Both, EdgesInGraph<N, E>[Out | In | Both]["filter"], WhereNode<N, FarOf<E, Out | Both, In | Both>>>,
    options: RepeatOptions,
  ): Walk<N, E, FarOf<E, Out | Both, In | Both>, Out | In | Both>;
  /** Keeps the edges of the last hop that satisfy every condition. Edge types that lack a named attribute are not followed. */
  where(filter: EdgesInGraph<N, E>[Last]["filter"]): Walk<N, E, At, Last>;
  /**
   * Keeps the nodes that satisfy every condition. This reads the nodes. A node without an item never passes, nor does one of a type
   * that lacks a named attribute.
   */
  whereNode(filter: WhereNode<N, At>): Walk<N, E, At, Last>;
  /** From here on, each node counts once. Values gathered along the paths to it are dropped. */
  dedupe(): Walk<N, E, At, Last>;
  /** Leaves out the given nodes. */
  except(nodes: Excluded<EndId<N, At>>): Walk<N, E, At, Last>;
  /** Keeps only these nodes. */
  among(nodes: readonly EndId<N, At>[]): Walk<N, E, At, Last>;
  /** The ids of the nodes, each once, in the order in which they are reached. */
  ids(options?: WalkOptions): WalkCall<Walked<EndId<N, At>>>;
  /**
   * The nodes, each once. Costs the walk and one BatchGetItem for each 100 nodes. The report names missing nodes. If they are of
   * several types, each is `{ kind, row }`.
   */
  nodes(options?: WalkOptions): WalkCall<Walked<GivenNode<N, At>>>;
  nodes<const Field extends AttributeAt<N, At>>(options: SelectWalk<Field>): WalkCall<Walked<FetchedNode<GivenNode<N, At>, Field>>>;
  /**
   * The number of paths; after `dedupe`, the number of nodes. If nodes have a derived attribute that counts the edges of the last
   * hop, it is read by one BatchGetItem for each 100 nodes instead of a Query for each node.
   */
  count(options?: WalkCountOptions): WalkCall<WalkCount>;
  /**
   * Each node with the number of paths that lead to it, the highest number first. Nodes with equal numbers are in the order in
   * which they are reached. A walk that stops at its budget orders only what it found, and so does its continuation.
   */
  groupCount(options?: GroupOptions): WalkCall<Walked<Reached<EndId<N, At>>>>;
  /** The nodes with the most paths to them. `most` is 1 or more. */
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
   * The same for each value of an attribute, or combination of values of several, the largest group first. Groups of equal size are
   * in the order in which they are reached. `top` returns only the largest.
   */
  groupBy<By extends AttributeAt<N, At>, Field extends NumberAt<N, At> = never>(
    by: By | readonly By[],
    ask?: Aggregate<Field>,
    options?: GroupOptions,
  ): WalkCall<Walked<Grouped<GroupAt<N, At, By>, Field>>>;
  /**
   * The newest edges of the nodes at the end of the walk, merged into one order, in pages, such as the posts of the people that a
   * user follows. It takes one edge type with `orderBy`, in one direction, and gives its edges from the highest value of `orderBy`
   * down. Each page costs the walk, a Query for each node and each shard, and one BatchGetItem for each 100 rows.
   *
   * A cursor is a place in that order. The next page continues after it, even if other people were followed or unfollowed in the
   * meantime.
   *
   * @throws {plan.unsupported} for an edge without `orderBy`, for several types or directions
   * @throws {plan.noIndex} from the call, if no index gives the order
   * @throws {traverse.supernode} from the call, if the walk leads to more than `nodes` nodes
   * @throws {plan.invalidOption} from the call, if the budget is less than one request for each node and shard
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
  /** The numbers of nodes and edges that each round of the last repeat found; see `subtree`. */
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
  /** All nodes within `depth` hops (1 to 100), without this one. */
  neighbourhood<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    depth: number,
  ): Walk<N, E, FarOf<E, Out | Both, In | Both>, Out | In | Both>;
  /** All nodes to which the edge leads, at any depth, without this one. */
  dependencies<Edge extends EdgesFrom<E, Name>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~to"], Edge>;
  /** All nodes from which the edge leads here, at any depth, without this one. */
  dependents<Edge extends EdgesTo<E, Name>>(edge: Edge | readonly Edge[]): Walk<N, E, E[Edge]["~from"], Edge>;
  /** The tree below this node, level by level: numbers of nodes and edges, and the sum of an attribute over the edges. */
  subtree<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options?: LevelOptions<NumberOn<N, E, Out | In | Both>> & { readonly depth?: number },
  ): WalkCall<Walked<WalkLevel>>;
  /**
   * The neighbours that this node has in common with others. It sends a Query for each node in turn until no common neighbour is
   * left, or a BatchGetItem if few are left and that is expected to cost less. Start from the node with the fewest edges. One
   * budget covers all nodes. If it ends the call early, the answer has no items, but `next`.
   */
  common<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    others: readonly N[Name]["~types"]["id"][],
    options?: WalkOptions,
  ): WalkCall<Walked<EndId<N, FarOf<E, Out | Both, In | Both>>>>;
  /** The neighbours' neighbours that are not neighbours of this node, those with the most common neighbours first. */
  suggest<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options: WalkOptions & { readonly top: number },
  ): WalkCall<Walked<Reached<EndId<N, FarOf<E, Out | Both, In | Both>>>>>;
  /** One of the shortest paths, including both ends; no item if there is no path. The search starts from both ends. */
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
   * All paths that visit no node twice, the shortest first. The search reads frontiers from both ends, always at the end that is
   * expected to cost less, so a node with many edges at one end is read only as far as the other end costs the same. If more than
   * 100,000 unfinished paths would have to be kept, it stops by `limit` and without `next`.
   */
  allPaths<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    to: EndId<N, FarOf<E, Out | Both, In | Both>>,
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
  /** A shortest cycle through this node; no item if there is none. With edges of both directions, one edge is enough, there and back. */
  cycle<Out extends EdgesFrom<E, Name> = never, In extends EdgesTo<E, Name> = never, Both extends EdgesBoth<E, Name> = never>(
    hop: HopFrom<N, E, Out, In, Both>,
    options?: PathsOptions,
  ): WalkCall<Walked<readonly EndId<N, keyof N & string>[]>>;
}
