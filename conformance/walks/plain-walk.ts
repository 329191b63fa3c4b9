import type { NaiveEnd } from "../oracle/naive-graph.ts";

/** A hop in plain words. */
export interface PlainHop {
  readonly edge: string;
  readonly direction: "out" | "in" | "both";
  /** Keeps edges whose number is at least this. */
  readonly atLeast: number | undefined;
  /** Keeps nodes of at least this age. */
  readonly age: number | undefined;
  /** The directions in which a node's edges come in their declared order; in the others by where they lead. */
  readonly ordered?: readonly ("out" | "in")[];
}

/** Neighbours of the start, chosen in their order; and given in it, where not `ordered` says otherwise. */
export interface PlainFirst {
  readonly edge: string;
  readonly direction: "out" | "in";
  readonly atLeast: number | undefined;
  readonly reverse: boolean;
  readonly limit: number | undefined;
  readonly ordered?: NonNullable<PlainHop["ordered"]>;
}

/** A step in plain words; a hop of infinitely many rounds is a closure. */
export type PlainStep =
  | ({ readonly kind: "hop"; readonly rounds: number; readonly emit: "all" | "last" } & PlainHop)
  | { readonly kind: "age"; readonly atLeast: number }
  | { readonly kind: "dedupe" }
  | { readonly kind: "except"; readonly which: "start" | "passed" | readonly NaiveEnd[] }
  | { readonly kind: "among"; readonly nodes: readonly NaiveEnd[] };

/** A walk from a person, or from all of several nodes. */
export interface PlainWalk {
  readonly start: string;
  readonly within?: readonly NaiveEnd[];
  readonly first: PlainFirst | undefined;
  readonly steps: readonly PlainStep[];
}

/** The numbers on edges: what conditions and sums are about. */
export const numberFields: Readonly<Record<string, string>> = { follows: "weight", likes: "rank", worksOn: "hours" };
