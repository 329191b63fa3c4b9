import { foldedField, type WalkCollect } from "../../ir/walk-plan.ts";
import { add, isAmount, times, type Amount } from "./amount.ts";

/** What is known of the ways that lead to a node: how many, and what was gathered along them. */
export interface Ways {
  readonly count: Amount;
  readonly value: Amount | undefined;
}

/** One way with nothing gathered yet. */
export const ONE_WAY: Ways = { count: 1, value: undefined };

/** How ways are put together, and what an edge adds to them. */
export interface Gather {
  merge(a: Ways, b: Ways): Ways;
  along(ways: Ways, value: unknown): Ways;
}

const counting: Gather = {
  merge: (a, b) => ({ count: add(a.count, b.count), value: undefined }),
  along: (ways) => ways,
};

const either = (a: Amount | undefined, b: Amount | undefined, join: (a: Amount, b: Amount) => Amount): Amount | undefined =>
  a === undefined ? b : b === undefined ? a : join(a, b);

const joins: Readonly<Record<"sum" | "min" | "max", (a: Amount, b: Amount) => Amount>> = {
  sum: add,
  min: (a, b) => (b < a ? b : a),
  max: (a, b) => (b > a ? b : a),
};

/** How a walk's collect gathers along the ways; linear, so that parts of a frontier may come one after the other. */
export const gatherOf = (collect: WalkCollect): Gather => {
  if (foldedField(collect) === undefined) return counting;
  const by = collect.kind === "fold" ? collect.by : "sum";
  const join = joins[by];
  return {
    merge: (a, b) => ({ count: add(a.count, b.count), value: either(a.value, b.value, join) }),
    along: (ways, value) => {
      if (!isAmount(value)) return ways;
      return { count: ways.count, value: either(ways.value, by === "sum" ? times(ways.count, value) : value, join) };
    },
  };
};
