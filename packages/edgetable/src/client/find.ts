import { EdgetableError } from "../errors/edgetable-error.ts";
import { deferCall } from "../executor/call.ts";
import { fieldsIn, readWhere } from "../ir/condition.ts";
import type { SearchKind, SearchState } from "../query/search.ts";
import { type Catalog, kindShapes, type Shape } from "../schema/catalog.ts";
import { MAX_SHARDS } from "../keys/template.ts";
import { checkOptions, inRange, listOf, type OptionChecks } from "../util/check-options.ts";
import { refuseStoredNames } from "../schema/check-values.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { defined } from "../util/invariant.ts";
import { checkIndex, checkNames, edgeFields, nodeFields, readNames, someNames } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { Entry, Page, Read, SearchPageOptions } from "./page-types.ts";
import { pageOptions, refuseLimit } from "./read-call.ts";
import type * as Searching from "./search-call.ts";
import type { SearchAnswer, SearchAsk } from "./search-call.ts";
import { loadOnce } from "../util/load-once.ts";
import { type EdgeNames, WalkQuery } from "./walk.ts";
import type { Row } from "../util/row.ts";

const loadSearching: () => typeof Searching | Promise<typeof Searching> = loadOnce(async () => import("./search-call.ts"));

const kindOf = ({ nodes, edges, parts }: Catalog, name: string): SearchKind => {
  if (Object.hasOwn(nodes, name)) return { of: "node", name };
  if (Object.hasOwn(edges, name)) return { of: "edge", name };
  if (Object.hasOwn(parts, name)) return { of: "part", name };
  const known = [nodes, edges, parts].flatMap((group) => Object.keys(group));
  throw new EdgetableError("schema.unknownNode", `There is no node, edge or part "${name}".${didYouMean(name, known)}`, {
    details: { kind: name },
  });
};

/** The names that conditions on a kind may use; undefined if its schema does not list them. */
const fieldsOf = (driver: Driver, { of, name }: SearchKind): readonly string[] | undefined => {
  const { nodes, parts } = driver.catalog;
  if (of === "edge") return edgeFields(driver, name);
  if (of === "node") return readNames(defined(nodes[name], name).definition);
  const { definition } = defined(parts[name], name);
  const own = readNames(definition);
  return own && [...own, ...(nodes[definition.of]?.idFields ?? [])];
};

/** The first shape of each kind. */
const shapesOf = ({ catalog }: Driver, kinds: readonly SearchKind[]): readonly Shape[] =>
  kinds.flatMap((kind) => kindShapes(catalog, kind)[0] ?? []);

const checkFields = (driver: Driver, kinds: readonly SearchKind[], given: readonly string[]): void => {
  for (const shape of shapesOf(driver, kinds)) refuseStoredNames(shape, given);
  for (const kind of kinds) checkNames(given, { kind: kind.of, name: kind.name }, fieldsOf(driver, kind));
};

interface EndsOptions {
  readonly select?: readonly string[] | undefined;
}

const endsOptions: OptionChecks<EndsOptions> = { select: undefined };

/** The builder behind {@link Search}; each method returns a new one. */
export class SearchQuery {
  readonly #driver: Driver;
  readonly #state: SearchState;
  /** True if rows name their kind. */
  readonly #several: boolean;

  constructor(driver: Driver, state: SearchState, several: boolean) {
    this.#driver = driver;
    this.#state = state;
    this.#several = several;
  }

  #with(change: Partial<SearchState>): SearchQuery {
    return new SearchQuery(this.#driver, { ...this.#state, ...change }, this.#several);
  }

  where(filter: Row): SearchQuery {
    const { kinds, conditions, values } = this.#state;
    checkFields(this.#driver, kinds, fieldsIn(filter, "where"));
    const nested = kinds.every(({ of }) => of === "edge") ? ["from", "to"] : [];
    const more = readWhere(filter, nested, values.length, shapesOf(this.#driver, kinds));
    return this.#with({ conditions: [...conditions, ...more.conditions], values: [...values, ...more.values] });
  }

  select(...fields: readonly string[]): SearchQuery {
    checkFields(this.#driver, this.#state.kinds, fields);
    return this.#with({ select: someNames(fields, this.#state.kinds.map(({ name }) => name).join('" or "')) });
  }

  reverse(): SearchQuery {
    return this.#with({ forward: !this.#state.forward });
  }

  limit(most: number): SearchQuery {
    return this.#with({ limit: inRange("limit", most, [1, Number.MAX_SAFE_INTEGER]) });
  }

  using(index: string): SearchQuery {
    checkIndex(this.#driver, index);
    return this.#with({ index });
  }

  shards(...numbers: readonly number[]): SearchQuery {
    for (const number of numbers) inRange("shards", number, [0, MAX_SHARDS - 1]);
    if (numbers.length === 0) throw new EdgetableError("plan.invalidOption", "shards() needs at least one number, such as shards(0, 3).");
    return this.#with({ shards: [...new Set(numbers)].toSorted((a, b) => a - b) });
  }

  rows(): Read<readonly unknown[]> {
    return this.#call({ kind: "rows" });
  }

  first(): Read<unknown> {
    return this.limit(1).#call({ kind: "first" });
  }

  sources(options?: EndsOptions): Read<readonly Row[]> {
    return this.#ends("from", options).#call({ kind: "nodes", end: "from" });
  }

  targets(options?: EndsOptions): Read<readonly Row[]> {
    return this.#ends("to", options).#call({ kind: "nodes", end: "to" });
  }

  entries(end: "from" | "to", options?: EndsOptions): Read<readonly Entry<unknown, Row>[]> {
    return this.#ends(end, options).#call({ kind: "entries", end });
  }

  count(): Read<number> {
    return this.#call({ kind: "count" });
  }

  sum(attribute: string): Read<number | bigint> {
    return this.select(attribute).#call({ kind: "sum", attribute });
  }

  page(options: SearchPageOptions = {}): Read<Page<unknown>> {
    checkOptions(options, pageOptions);
    refuseLimit(this.#state.limit);
    return this.#call({ kind: "page", options });
  }

  async explain(): Promise<ReadExplanation> {
    return this.rows().explain();
  }

  out(edge: EdgeNames): WalkQuery {
    return this.walk().out(edge);
  }

  in(edge: EdgeNames): WalkQuery {
    return this.walk().in(edge);
  }

  both(edge: EdgeNames): WalkQuery {
    return this.walk().both(edge);
  }

  walk(): WalkQuery {
    const { kinds } = this.#state;
    const { ends } = this.#driver.catalog;
    const other = kinds.find(({ name }) => !ends[name]);
    if (other) {
      const hint =
        other.of === "edge"
          ? "search nodes, or read its sources() or targets()"
          : "no edge leads to it, so search the nodes that contain it";
      throw new EdgetableError("traverse.start", `A walk starts at nodes, and "${other.name}" is a ${other.of}: ${hint}.`, {
        details: { kind: other.name },
      });
    }
    const at = kinds.map(({ name }) => name);
    const node = defined(at[0], "kind");
    const { idFields } = defined(ends[node], node);
    const start = {
      node,
      id: {},
      anchor: idFields,
      steps: [],
      values: [],
      at,
      search: { ...this.#state, select: at.length === 1 ? idFields : undefined },
    };
    return new WalkQuery(this.#driver, start);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator {
    const { eachRow } = await loadSearching();
    yield* eachRow(this.#driver, this.#ask());
  }

  #ask(): SearchAsk {
    return { state: this.#state, several: this.#several };
  }

  #call<T>(answer: SearchAnswer): Read<T> {
    return deferCall(loadSearching, ({ searchCall }) => searchCall(this.#driver, this.#ask(), answer) as Read<T>);
  }

  #ends(end: "from" | "to", options: EndsOptions = {}): SearchQuery {
    const other = this.#state.kinds.find(({ of }) => of !== "edge");
    if (other)
      throw new EdgetableError("plan.unsupported", `"${other.name}" is a ${other.of} and has no ends: ask for its rows().`, {
        details: { kind: other.name },
      });
    const { select } = checkOptions(options, endsOptions);
    if (!select) return this;
    const { edges } = this.#driver.catalog;
    const types = this.#state.kinds.flatMap(({ name }) => defined(edges[name], name)[end]);
    return this.#with({ ends: nodeFields(this.#driver, [...new Set(types)], select) });
  }
}

/** `db.find` of a connection. */
export const findOf =
  (driver: Driver) =>
  (kinds: string | readonly string[]): SearchQuery => {
    const names = typeof kinds === "string" ? [kinds] : [...new Set(listOf(kinds, "kinds, such as student"))];
    if (names.length === 0) throw new EdgetableError("plan.invalidOption", "find() needs at least one kind.");
    const state: SearchState = {
      kinds: names.map((name) => kindOf(driver.catalog, name)),
      conditions: [],
      values: [],
      forward: true,
      index: undefined,
      select: undefined,
      limit: undefined,
    };
    return new SearchQuery(driver, state, typeof kinds !== "string");
  };
