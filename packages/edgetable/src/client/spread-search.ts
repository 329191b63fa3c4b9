import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { inShape } from "../planner/access-path.ts";
import { searchForm, searchPlan, spreadsOf, spreadValues, type SearchState, type SearchWant, type Spread } from "../query/reads.ts";
import type { Binding } from "../requests/encode-read.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Driver } from "./driver.ts";
import { explainRead, lanesOf } from "./explanation.ts";

/** The most partitions that one search reads for the values of a list: values by shards. */
const MOST_LANES = 1000;

/** A search as it is asked: its plan, and the values that fill it. */
export interface PlannedSearch {
  readonly plan: ReadPlan;
  readonly binding: Binding;
}

// Without its value in the key, each Query would find the rows of all values.
const isKeyed = (catalog: Catalog, { partition, sort, scatter, shapes }: QueryStep, path: string): boolean => {
  const shape = defined(catalog.shapesById[shapes[0] ?? ""], "shape");
  const own = inShape(shape, path);
  const isUnknown = scatter?.unknown.includes(own) ?? false;
  return (!isUnknown && partition.fields.includes(own)) || (sort?.template.fields.includes(own) ?? false);
};

const planned = (
  driver: Driver,
  at: { readonly state: SearchState; readonly want: SearchWant; readonly spread?: Spread },
): PlannedSearch => {
  const { state, want, spread } = at;
  const plan = driver.plan(searchForm(state, want, spread), () => searchPlan(state, want, spread));
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

const checkLanes = ({ catalog }: Driver, { plan, binding }: PlannedSearch): void => {
  const lanes = lanesOf(catalog, { plan, binding });
  if (lanes <= MOST_LANES) return;
  throw new EdgetableError(
    "plan.unsupported",
    `The search reads ${lanes} partitions, for ${plan.sources.length} values over several shards each, and one search reads ${MOST_LANES} at most. Ask for fewer values at a time, or for all that the index holds: using(…).`,
    { details: { partitions: lanes, values: plan.sources.length } },
  );
};

/**
 * The plan of a search. A list of values (`in`) of which an index's keys take each is one Query for each value, merged;
 * where another condition finds the rows at a lower predicted price, the list is looked for in those.
 *
 * @throws {plan.noIndex} when no index serves it
 * @throws {plan.unsupported} when values by shards are more than 1,000
 */
export const planSearch = (driver: Driver, state: SearchState, want: SearchWant): PlannedSearch => {
  if (!state.conditions.some(({ operator }) => operator === "in")) return planned(driver, { state, want });
  const unitsOf = ({ plan, binding }: PlannedSearch): number =>
    explainRead(driver.catalog, { plan, binding, livingAt: undefined }).cost.readUnits;
  const whole = attempt(() => planned(driver, { state, want }));
  const spreads = spreadsOf(state).flatMap((spread) => {
    const way = attempt(() => planned(driver, { state, want, spread }));
    if (way instanceof EdgetableError) return [];
    return way.plan.sources.every((step) => step.kind === "query" && isKeyed(driver.catalog, step, spread.path)) ? [way] : [];
  });
  const refused = whole instanceof EdgetableError ? whole : undefined;
  const ways = whole instanceof EdgetableError ? spreads : [whole, ...spreads];
  const [best] = ways.map((way) => ({ way, units: unitsOf(way) })).toSorted((a, b) => a.units - b.units);
  if (!best) throw defined(refused, "why no index serves a search");
  if (best.way !== whole) checkLanes(driver, best.way);
  return best.way;
};
