import type { NaiveEdge, NaiveEnd } from "../naive/graph.ts";
import type { NaiveHop, NaivePlan, NaiveStep } from "../naive/walk.ts";

/** A hop in plain words. */
export interface PlainHop {
  readonly edge: string;
  /** Further edge types of the same hop. */
  readonly others?: readonly string[];
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

const numberOf = ({ edge, attributes }: NaiveEdge): number | undefined => attributes[numberFields[edge] ?? ""] as number | undefined;

/** A hop in the words of the reference. */
export const naiveHop = ({ atLeast, age, edge: first, others = [], ...hop }: PlainHop): NaiveHop => ({
  ...hop,
  // Of several edge types, those that lack the attribute of a condition are not followed.
  edges: [first, ...others].filter((edge) => atLeast === undefined || numberFields[edge] === numberFields[first]),
  keepsEdge: atLeast === undefined ? undefined : (edge) => (numberOf(edge) ?? Number.NEGATIVE_INFINITY) >= atLeast,
  keepsNode: age === undefined ? undefined : (row) => ((row?.["age"] as number | undefined) ?? -1) >= age,
});

const naiveStep = (step: PlainStep): NaiveStep => {
  if (step.kind === "age") return { kind: "filter", keepsNode: (row) => ((row?.["age"] as number | undefined) ?? -1) >= step.atLeast };
  if (step.kind !== "hop") return step;
  const { kind, rounds, emit, ...hop } = step;
  return { kind, rounds, emit, ...naiveHop(hop) };
};

/** A walk in the words of the reference. */
export const naivePlan = ({ start, within: starts = [{ type: "person", id: start }], first, steps }: PlainWalk): NaivePlan => {
  if (!first) return { starts, steps: steps.map(naiveStep) };
  const { reverse, limit, ...hop } = first;
  return { starts, first: { ...naiveHop({ age: undefined, ...hop }), reverse, limit }, steps: steps.map(naiveStep) };
};
