import { type Condition, conditionForm, pathsOf, RANGES } from "../ir/condition.ts";
import { distinctValues, presentIn } from "../ir/holds.ts";
import type { KnownField, LogicalPlan, Search } from "../ir/logical-plan.ts";

/** One kind of things that is searched for. */
export interface SearchKind {
  readonly of: "node" | "edge" | "part";
  readonly name: string;
}

/** Everything that a chain of builder calls has said so far. */
export interface SearchState {
  readonly kinds: readonly SearchKind[];
  readonly conditions: readonly Condition[];
  readonly values: readonly unknown[];
  readonly forward: boolean;
  readonly index: string | undefined;
  /** Index keys with a condition that the values fulfil, by shape and attribute. */
  readonly implied?: readonly string[];
  readonly select: readonly string[] | undefined;
  readonly limit: number | undefined;
  /** The shards to read, ascending; undefined for all. */
  readonly shards?: readonly number[] | undefined;
  /** The fields to read of the nodes at an end; undefined for all. */
  readonly ends?: readonly string[] | undefined;
}

/** What is wanted: the rows themselves, their number, or the nodes at one end of the edges. */
export type SearchWant = "rows" | "count" | "from" | "to";

const known = ({ conditions, values }: SearchState): readonly KnownField[] => {
  const fields = new Map<string, KnownField>();
  for (const { path, operator, slot } of conditions) {
    // Nothing can be found under a null: no key holds it.
    if (operator === "eq" && (values[slot] ?? null) !== null && !fields.has(path)) fields.set(path, { path, slot });
  }
  return [...fields.values()];
};

const comparedBy = (conditions: readonly Condition[], operators: ReadonlySet<Condition["operator"]>): readonly string[] => [
  ...new Set(conditions.flatMap(({ path, operator }) => (operators.has(operator) ? [path] : []))),
];

/** A list of values (`in`) of a field. */
export interface ValueList {
  readonly path: string;
  /** The slot of the list. */
  readonly slot: number;
  readonly members: readonly unknown[];
}

/** A search with one input for each combination of a value of each list. They stand behind the search's other values. */
export interface SpreadLists {
  readonly lists: readonly ValueList[];
  readonly combinations: readonly (readonly unknown[])[];
}

/** The values of a search, and those by which it is spread. */
export const spreadValues = ({ values }: SearchState, spread: SpreadLists | undefined): readonly unknown[] =>
  spread ? [...values, ...spread.combinations.flat()] : values;

/**
 * The lists over whose distinct values a search may be spread, one of each field. No key holds null: a list with null filters
 * what was read.
 */
export const listsOf = ({ conditions, values }: SearchState): readonly ValueList[] => {
  const lists = new Map<string, ValueList>();
  for (const { path, operator, slot } of conditions) {
    const members = operator === "in" ? distinctValues(values[slot] as readonly unknown[]) : [];
    if (members.length === 0 || members.includes(null)) continue;
    const other = lists.get(path);
    if (!other || members.length < other.members.length) lists.set(path, { path, slot, members });
  }
  return [...lists.values()];
};

/** A search spread over the values of some of its lists. */
export const spreadOver = (lists: readonly ValueList[]): SpreadLists => ({
  lists,
  combinations: lists.reduce<readonly (readonly unknown[])[]>(
    (before, { members }) => before.flatMap((one) => members.map((member) => [...one, member])),
    [[]],
  ),
});

/** The logical plan of a search. */
export const searchPlan = (state: SearchState, want: SearchWant, spread?: SpreadLists): LogicalPlan => {
  const { lists = [], combinations = [[]] } = spread ?? {};
  const members = combinations.map((_, at) =>
    lists.map(({ path, slot }, list) => ({ path, slot: state.values.length + at * lists.length + list, of: slot })),
  );
  const { conditions, forward, index, implied = [], shards, select } = state;
  const inputs: LogicalPlan[] = [];
  for (const each of members) {
    const fixed = [...known(state).filter(({ path }) => each.every((member) => member.path !== path)), ...each];
    const of: Omit<Search, "of" | "name"> = {
      kind: "search",
      known: fixed,
      ranged: comparedBy(conditions, RANGES).filter((path) => !fixed.some((field) => field.path === path)),
      present: presentIn(conditions),
      asked: [...new Set(pathsOf(conditions))],
      range: [],
      filter: [],
      forward,
      index,
      implied,
      ...(shards ? { shards } : {}),
      select,
    };
    for (const kind of state.kinds) {
      const search: Search = { ...of, ...kind };
      inputs.push(conditions.length === 0 ? search : { kind: "filter", input: search, conditions });
    }
  }
  const [only] = inputs;
  const rows: LogicalPlan = inputs.length === 1 && only ? only : { kind: "merge", inputs };
  if (want === "rows") return rows;
  if (want === "count") return { kind: "count", input: rows, server: false };
  const hydrate = { kind: "hydrate", input: rows, end: want, embedded: false, given: [], consistent: false } as const;
  return state.ends ? { ...hydrate, select: state.ends } : hydrate;
};

/** The form of a search: two searches of the same form have the same plan, whatever their values. */
export const searchForm = (state: SearchState, want: SearchWant, spread?: SpreadLists): string => {
  const fixed = known(state).map(({ slot }) => slot);
  const kinds = state.kinds.map(({ of, name }) => `${of} ${name}`);
  return `find|${kinds.join()}|${want}|${state.forward ? 1 : 0}|${conditionForm(state.conditions)}|${fixed.join()}|${state.index ?? ""}|${state.select ? JSON.stringify(state.select) : "*"}${state.ends ? `|${JSON.stringify(state.ends)}` : ""}${spread ? `|${spread.lists.map(({ slot }) => slot).join()} in ${spread.combinations.length}` : ""}${state.implied ? `|${JSON.stringify(state.implied)}` : ""}${state.shards ? `|shards ${state.shards.join()}` : ""}`;
};
