import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { add, amountIn, type Amount } from "../executor/amount.ts";
import { createCall, reportOf } from "../executor/call.ts";
import type { Found } from "../executor/read-rows.ts";
import { readComplete, runRead, type ReadRequest } from "../executor/run-read.ts";
import type { CallContext } from "../executor/session.ts";
import { readWhere } from "../ir/condition.ts";
import { contradict } from "../ir/holds.ts";
import type { QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { inShape, TABLE_ITSELF } from "../planner/access-path.ts";
import { filterRules } from "../planner/filter-rules.ts";
import { planRead } from "../planner/plan.ts";
import { searching } from "../planner/search-path.ts";
import { impliedKeys } from "../query/implied-keys.ts";
import {
  listsOf,
  searchForm,
  searchPlan,
  spreadOver,
  spreadValues,
  type SearchState,
  type SearchWant,
  type SpreadLists,
  type ValueList,
} from "../query/search.ts";
import { widenConditions, withRanges } from "../query/widen-conditions.ts";
import { partitionsOf } from "../requests/encode-partitions.ts";
import { bindQuery, type Binding } from "../requests/encode-read.ts";
import { filters } from "../requests/filters.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { onlySelected } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { explainRead, lanesOf } from "./explanation.ts";
import { countCall, explainRequest, findNode, pageCall, readCall, readInParts } from "./read-call.ts";
import type { Read, SearchPageOptions } from "./page-types.ts";

/** Maximum number of partitions that one search reads: the values of a list times the shards. */
const MAX_LANES = 1000;

const planners = { searching, filtering: filterRules };

/** The plan of a search, and the values that fill it. */
interface PlannedSearch {
  readonly plan: ReadPlan;
  readonly binding: Binding;
}

// A list is spread over Queries only if its values are in the key. Otherwise each Query would find the rows of all values.
const isKeyed = (catalog: Catalog, { partition, sort, scatter, shapes }: QueryStep, path: string): boolean => {
  const shape = defined(catalog.shapesById[shapes[0] ?? ""], "shape");
  const own = inShape(shape, path);
  const isUnknown = scatter?.unknown.includes(own) ?? false;
  return (!isUnknown && partition.fields.includes(own)) || (sort?.template.fields.includes(own) ?? false);
};

const planned = (
  driver: Driver,
  at: { readonly state: SearchState; readonly want: SearchWant; readonly spread?: SpreadLists },
): PlannedSearch => {
  const { want, spread } = at;
  const implied = impliedKeys(driver.catalog, at.state.kinds, at.state);
  const state = implied.length === 0 ? at.state : { ...at.state, implied };
  const plan = driver.plan(searchForm(state, want, spread), () => searchPlan(state, want, spread), planners);
  return { plan, binding: { row: {}, values: spreadValues(state, spread) } };
};

const attempt = (give: () => PlannedSearch): PlannedSearch | EdgetableError => {
  try {
    return give();
  } catch (error) {
    if (isEdgetableError(error, "plan.noIndex")) return error;
    throw error;
  }
};

/** Removes Queries whose items other Queries of the plan read: several values of a list may have the same text in a key. */
const withDistinctSources = (catalog: Catalog, { plan, binding }: PlannedSearch): PlannedSearch => {
  const shortest = new Map<string, string[]>();
  // Identifies each Query by the partitions and sort keys that it reads.
  const places = plan.sources.map((source) => {
    const step = source as QueryStep;
    const partitions = partitionsOf(catalog, step, binding).map(({ text }) => text);
    const { input } = bindQuery(catalog, step, { binding, livingAt: undefined, partition: partitions[0], filters });
    const { KeyConditionExpression: keys, FilterExpression: filter, ExpressionAttributeValues: { ":s": low, ":t": high } = {} } = input;
    const isPrefix = keys.includes("begins_with") && low !== undefined && "S" in low;
    return {
      place: JSON.stringify([step.shapes, partitions, keys, filter, ...(isPrefix ? [] : [low, high])]),
      sort: isPrefix ? low.S : "",
    };
  });
  const order = [...places.keys()].toSorted((a, b) => places[a]!.sort.length - places[b]!.sort.length || a - b);
  const kept = new Set<number>();
  for (const at of order) {
    const { place, sort } = places[at]!;
    const prefixes = shortest.get(place) ?? [];
    if (prefixes.some((prefix) => sort.startsWith(prefix))) continue;
    shortest.set(place, [...prefixes, sort]);
    kept.add(at);
  }
  if (kept.size === places.length) return { plan, binding };
  const ofKept = <One>(list: readonly One[]): readonly One[] => list.filter((_, at) => kept.has(at));
  const { merged, hydrate, ...rest } = plan;
  return {
    plan: {
      ...rest,
      sources: ofKept(plan.sources),
      ...(merged && kept.size > 1 ? { merged } : {}),
      near: ofKept(plan.near),
      hydrate: hydrate && { ...hydrate, ends: ofKept(hydrate.ends) },
    },
    binding,
  };
};

const tooManyLanes = (partitions: number, values: number): EdgetableError =>
  new EdgetableError(
    "plan.unsupported",
    `The search reads ${partitions} partitions, for ${values} values or combinations of values${partitions > values ? " over several shards each" : ""}, and one search reads ${MAX_LANES} at most. Ask for fewer values at a time, or for all that the index holds: using(…).`,
    { details: { partitions, values } },
  );

const fillsKeys = ({ catalog }: Driver, { plan }: PlannedSearch, lists: readonly ValueList[]): boolean =>
  plan.sources.every((step) => step.kind === "query" && lists.every(({ path }) => isKeyed(catalog, step, path)));

const oneOfEach = (lists: readonly ValueList[]): SpreadLists =>
  spreadOver(lists.map((list) => ({ ...list, members: list.members.slice(0, 1) })));

/** The smallest set of lists that together fill a key of an index; undefined if no set does, or if a single list does. */
const listsFilling = (driver: Driver, state: SearchState, want: SearchWant): readonly ValueList[] | undefined => {
  const wayOver = (lists: readonly ValueList[]) => attempt(() => planned(driver, { state, want, spread: oneOfEach(lists) }));
  const fill = (lists: readonly ValueList[]): boolean => {
    const way = wayOver(lists);
    return !(way instanceof EdgetableError) && fillsKeys(driver, way, lists);
  };
  const all = listsOf(state);
  const way = wayOver(all);
  if (way instanceof EdgetableError) return undefined;
  let lists = all.filter((list) => fillsKeys(driver, way, [list]));
  if (lists.length < 2 || !fill(lists)) return undefined;
  for (const list of lists.toReversed()) {
    const others = lists.filter((one) => one !== list);
    if (others.length > 1 && fill(others)) lists = others;
  }
  return lists;
};

/** The indexes of a plan that do not project all attributes. */
const partialIndexes = ({ catalog: { indexes } }: Driver, { plan: { sources } }: PlannedSearch): readonly (string | undefined)[] =>
  indexes
    .filter(({ name, projection }) => projection !== "ALL" && sources.some((step) => step.kind === "query" && step.index === name))
    .map(({ name }) => name);

/** A search with the ranges of its lists; the search as it is if the ranges lead to an index with fewer attributes. */
const inRanges = (driver: Driver, way: PlannedSearch, { state, want }: { readonly state: SearchState; readonly want: SearchWant }) => {
  const ranged = attempt(() => planned(driver, { state: { ...state, ...withRanges(driver.catalog, state.kinds, state) }, want }));
  if (ranged instanceof EdgetableError) return way;
  const known = partialIndexes(driver, way);
  return partialIndexes(driver, ranged).every((name) => known.includes(name)) ? ranged : way;
};

/**
 * Plans a search. If an index has the values of a list (`in`) in its keys, the search is one Query for each value, merged. If
 * another condition finds the rows at a lower predicted price, the list filters these rows. If a sort key contains its values, the
 * Query then reads only from the least to the greatest, unless that takes an index with fewer attributes. If only several lists
 * together fill a key, the search is one Query for each combination of their values.
 *
 * @throws {plan.noIndex} if no index serves the search
 * @throws {plan.unsupported} if values times shards are more than 1,000
 */
const planSearch = (driver: Driver, state: SearchState, want: SearchWant): PlannedSearch => {
  if (!state.conditions.some(({ operator }) => operator === "in")) return planned(driver, { state, want });
  const unitsOf = ({ plan, binding }: PlannedSearch): number =>
    explainRead(driver.catalog, { plan, binding, livingAt: undefined }).cost.readUnits;
  const whole = attempt(() => planned(driver, { state, want }));
  const waysOver = (sets: readonly (readonly ValueList[])[]): readonly PlannedSearch[] =>
    sets.flatMap((lists) => {
      const combinations = lists.reduce((product, { members }) => product * members.length, 1);
      // Too many combinations are refused only if the plan of one of them shows that these lists fill a key.
      const spread = combinations > MAX_LANES ? oneOfEach(lists) : spreadOver(lists);
      const way = attempt(() => planned(driver, { state, want, spread }));
      if (way instanceof EdgetableError || !fillsKeys(driver, way, lists)) return [];
      if (combinations > MAX_LANES) throw tooManyLanes(combinations, combinations);
      return [withDistinctSources(driver.catalog, way)];
    });
  const lists = listsOf(state);
  const single = waysOver(lists.map((list) => [list]));
  let ways = whole instanceof EdgetableError ? single : [whole, ...single];
  if (ways.length === 0 && lists.length > 1) {
    const indexes = state.index === undefined ? [TABLE_ITSELF, ...driver.catalog.indexes.flatMap(({ name }) => name ?? [])] : [state.index];
    const sets = indexes.flatMap((index) => {
      const filling = listsFilling(driver, { ...state, index }, want);
      return filling ? [filling] : [];
    });
    const sizes = [...new Set(sets.map(({ length }) => length))].toSorted((a, b) => a - b);
    for (const size of sizes) if (ways.length === 0) ways = waysOver(sets.filter(({ length }) => length === size));
  }
  const [best] = ways.map((way) => ({ way, units: unitsOf(way) })).toSorted((a, b) => a.units - b.units);
  if (!best) throw defined(whole instanceof EdgetableError ? whole : undefined, "why no index serves a search");
  const { way } = best;
  if (way === whole) return inRanges(driver, way, { state, want });
  const lanes = lanesOf(driver.catalog, way);
  if (lanes > MAX_LANES) throw tooManyLanes(lanes, way.plan.sources.length);
  return way;
};

/** A search as a chain of builder calls describes it. */
export interface SearchAsk {
  readonly state: SearchState;
  /** Whether the search is for several kinds, so that a row names its kind. */
  readonly several: boolean;
}

/** The result that a call asks of a search. */
export type SearchAnswer =
  | { readonly kind: "rows" | "first" | "count" }
  | { readonly kind: "nodes" | "entries"; readonly end: "from" | "to" }
  | { readonly kind: "sum"; readonly attribute: string }
  | { readonly kind: "page"; readonly options: SearchPageOptions };

/** The request of a search. */
export const requestOf = (driver: Driver, { state: given }: Pick<SearchAsk, "state">, want: SearchWant): ReadRequest => {
  const state = { ...given, ...widenConditions(driver.catalog, given.kinds, given) };
  const { plan, binding } = planSearch(driver, state, want);
  return {
    plan,
    binding,
    limit: state.limit,
    findNode: findNode(driver),
    empty: contradict(state.conditions, state.values),
  };
};

const rowOf = ({ state: { select }, several }: SearchAsk, { shape, row: whole }: Found): unknown => {
  const ends = shape.kind === "edge" ? ["from", "to"] : [];
  const row = select ? Object.fromEntries([...ends, ...select].map((field) => [field, whole[field]])) : whole;
  return several ? { kind: shape.definition, row } : row;
};

const nodeOf = (
  { catalog }: Driver,
  { end, fields }: { readonly end: "from" | "to"; readonly fields: readonly string[] | undefined },
  { node: whole, shape }: Found,
): Row | undefined => {
  const several = (catalog.edges[shape.definition]?.[end].length ?? 1) > 1;
  const node = whole && onlySelected(fields, whole);
  return node && several ? { kind: shape[end], row: node } : node;
};

/** A call that sums an attribute over the rows. Rows without it, or with null, add nothing. */
const sumCall = (driver: Driver, request: ReadRequest, attribute: string): Read<Amount> =>
  createCall(
    () => explainRequest(driver, request),
    async (options) => {
      const context = driver.context(options);
      const { found } = await runRead(driver.session, request, context);
      let sum: Amount = 0;
      for (const { row } of found) sum = add(sum, amountIn(row, attribute) ?? 0);
      return reportOf(sum, context.meter);
    },
  );

/** The driver without an index. Its plans are not kept, because an index is incomplete only for a while. */
const withoutIndex = (driver: Driver, index: string): Driver => {
  const catalog = { ...driver.catalog, indexes: driver.catalog.indexes.filter(({ name }) => name !== index) };
  return { ...driver, catalog, plan: (_, logical, how) => planRead(catalog, logical(), { off: driver.rulesOff, ...how }) };
};

/** Begins a search, on another index if the best one is incomplete. Rejects if no other index serves it. */
const avoidIncomplete = async <T>(driver: Driver, begin: (driver: Driver) => Promise<T>): Promise<T> => {
  try {
    return await begin(driver);
  } catch (error) {
    const index = driver.avoidsIndexes && isEdgetableError(error, "plan.indexIncomplete") ? error.details["index"] : undefined;
    if (typeof index !== "string") throw error;
    return avoidIncomplete(withoutIndex(driver, index), begin).catch((other: unknown) => {
      throw isEdgetableError(other, "plan.noIndex") ? error : other;
    });
  }
};

/** Adds the tenant to the conditions of a search: to a node's id, to the id of a part's owner, to an edge and to its ends. */
export const ofTenant = ({ catalog: { tenant, ends: known, parts, edges } }: Driver, ask: SearchAsk): SearchAsk => {
  if (!tenant) return ask;
  const { kinds, conditions, values } = ask.state;
  const inAll = (types: readonly (string | undefined)[]): Row =>
    Object.fromEntries(Object.entries(tenant).filter(([field]) => types.every((type) => known[type ?? ""]?.idFields.includes(field))));
  let where = inAll(kinds.map(({ of, name }) => (of === "node" ? name : parts[name]?.definition.of)));
  if (kinds.every(({ of }) => of === "edge")) {
    const entries = kinds.map(({ name }) => defined(edges[name], name));
    const own = Object.entries(tenant).filter(([field]) =>
      entries.every(({ shapes }) => shapes.every(({ keys }) => Object.values(keys).some(({ fields }) => fields.includes(field)))),
    );
    const ends = { from: inAll(entries.flatMap(({ from }) => from)), to: inAll(entries.flatMap(({ to }) => to)) };
    where = { ...Object.fromEntries(own), ...ends };
  }
  const more = readWhere(where, ["from", "to"], values.length);
  return { ...ask, state: { ...ask.state, conditions: [...conditions, ...more.conditions], values: [...values, ...more.values] } };
};

/** A call that makes a search and returns the asked result. */
export const searchCall = (driver: Driver, given: SearchAsk, answer: SearchAnswer): Read<unknown> => {
  const ask = ofTenant(driver, given);
  const best = answerOf(driver, ask, answer);
  if (!driver.avoidsIndexes) return best;
  return createCall(
    () => best.explain(),
    (options) => avoidIncomplete(driver, async (other) => (other === driver ? best : answerOf(other, ask, answer)).report(options)),
  );
};

/**
 * The request of a search from whose rows a walk starts. With a context, and if the connection avoids incomplete indexes, it checks
 * that the index is complete.
 */
export const startRequest = async (driver: Driver, state: SearchState, context: CallContext | undefined): Promise<ReadRequest> => {
  const ask = ofTenant(driver, { state, several: false });
  return avoidIncomplete(driver, async (other) => {
    const request = requestOf(other, ask, "rows");
    if (driver.avoidsIndexes && context)
      await readComplete(driver.session, { steps: request.plan.sources }, context, async () => undefined);
    return request;
  });
};

const answerOf = (driver: Driver, ask: SearchAsk, answer: SearchAnswer): Read<unknown> => {
  switch (answer.kind) {
    case "rows":
      return readCall(driver, requestOf(driver, ask, "rows"), (found) => found.map((one) => rowOf(ask, one)));
    case "first":
      return readCall(driver, requestOf(driver, ask, "rows"), ([one]) => one && rowOf(ask, one));
    case "count":
      return countCall(driver, () => requestOf(driver, ask, "count"));
    case "nodes":
      return readCall(driver, requestOf(driver, ask, answer.end), (found) =>
        found.map((one) => nodeOf(driver, { end: answer.end, fields: ask.state.ends }, one)).filter((node) => node !== undefined),
      );
    case "entries":
      return readCall(driver, requestOf(driver, ask, answer.end), (found) =>
        found.map((one) => ({ edge: rowOf(ask, one), node: nodeOf(driver, { end: answer.end, fields: ask.state.ends }, one) })),
      );
    case "sum":
      return sumCall(driver, requestOf(driver, ask, "rows"), answer.attribute);
    case "page": {
      const request = requestOf(driver, ask, "rows");
      const form = searchForm({ ...ask.state, select: undefined }, "rows");
      return pageCall(driver, { request, form, values: [ask.state.values], options: answer.options }, (found) =>
        found.map((one) => rowOf(ask, one)),
      );
    }
  }
};

/** Yields the rows of a search, part by part. */
export async function* eachRow(driver: Driver, given: SearchAsk): AsyncGenerator {
  const ask = ofTenant(driver, given);
  const [parts, first] = await avoidIncomplete(driver, async (other) => {
    const begun = readInParts(driver, requestOf(other, ask, "rows"));
    return [begun, await begun.next()] as const;
  });
  for (let part = first; !part.done; part = await parts.next()) for (const one of part.value) yield rowOf(ask, one);
}
