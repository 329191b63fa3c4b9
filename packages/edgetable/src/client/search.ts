import { EdgetableError } from "../errors/edgetable-error.ts";
import { createCall } from "../executor/call.ts";
import type { Found } from "../executor/read-rows.ts";
import type { ReadRequest } from "../executor/run-read.ts";
import { readWhere } from "../ir/condition.ts";
import { contradict } from "../ir/evaluate-condition.ts";
import { searchForm, type SearchKind, type SearchState, type SearchWant } from "../query/reads.ts";
import { attributeNames } from "../schema/standard-schema.ts";
import type { Catalog } from "../schema/catalog.ts";
import { checkOptions, inRange, listOf, namesIn } from "../util/check-options.ts";
import { refuseStoredNames } from "../schema/check-id.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { defined } from "../util/invariant.ts";
import { exactText } from "../keys/template.ts";
import { checkIndex, checkNames, edgeFields } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import type { ReadExplanation } from "./explanation.ts";
import { findNode } from "./find-node.ts";
import type { Entry, Page, Read } from "./read-types.ts";
import { pageCall, pageKinds, readInParts } from "./page-call.ts";
import { countCall, readCall } from "./read-call.ts";
import type { SearchPageOptions } from "./search-types.ts";
import { planSearch } from "./spread-search.ts";
import type { Row } from "../util/row.ts";

const kindOf = ({ nodes, edges, parts }: Catalog, name: string): SearchKind => {
  if (Object.hasOwn(nodes, name)) return { of: "node", name };
  if (Object.hasOwn(edges, name)) return { of: "edge", name };
  if (Object.hasOwn(parts, name)) return { of: "part", name };
  const known = [nodes, edges, parts].flatMap((group) => Object.keys(group));
  throw new EdgetableError("schema.unknownNode", `There is no node, edge or part "${name}".${didYouMean(name, known)}`, {
    details: { kind: name },
  });
};

/** The names that conditions on a kind may have; undefined where its schema does not tell them. */
const fieldsOf = (driver: Driver, { of, name }: SearchKind): readonly string[] | undefined => {
  const { nodes, parts } = driver.catalog;
  if (of === "edge") return edgeFields(driver, name);
  if (of === "node") return attributeNames(defined(nodes[name], name).definition.schema);
  const { definition } = defined(parts[name], name);
  const own = attributeNames(definition.schema);
  return own && [...own, ...(nodes[definition.of]?.idFields ?? [])];
};

const checkFields = (driver: Driver, kinds: readonly SearchKind[], given: readonly string[]): void => {
  const { nodes, edges, parts } = driver.catalog;
  for (const { name } of kinds) {
    const shape = nodes[name]?.shape ?? parts[name]?.shape ?? edges[name]?.shapes[0];
    if (shape) refuseStoredNames(shape, given);
  }
  for (const kind of kinds) checkNames(given, { kind: kind.of, name: kind.name }, fieldsOf(driver, kind));
};

/** The builder behind {@link Search}; each method returns a new one. */
export class SearchQuery {
  readonly #driver: Driver;
  readonly #state: SearchState;
  /** Whether rows say of which kind they are. */
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
    checkFields(this.#driver, kinds, namesIn(filter));
    const nested = kinds.every(({ of }) => of === "edge") ? ["from", "to"] : [];
    const more = readWhere(filter, nested, values.length);
    return this.#with({ conditions: [...conditions, ...more.conditions], values: [...values, ...more.values] });
  }

  select(...fields: readonly string[]): SearchQuery {
    checkFields(this.#driver, this.#state.kinds, fields);
    return this.#with({ select: fields });
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

  rows(): Read<readonly unknown[]> {
    return this.#read("rows", (found) => found.map((one) => this.#row(one)));
  }

  first(): Read<unknown> {
    return this.limit(1).#read("rows", ([one]) => one && this.#row(one));
  }

  sources(): Read<readonly Row[]> {
    return this.#read("from", (found) => found.map((one) => this.#node("from", one)).filter((node) => node !== undefined));
  }

  targets(): Read<readonly Row[]> {
    return this.#read("to", (found) => found.map((one) => this.#node("to", one)).filter((node) => node !== undefined));
  }

  entries(end: "from" | "to"): Read<readonly Entry<unknown, Row>[]> {
    return this.#read(end, (found) => found.map((one) => ({ edge: this.#row(one), node: this.#node(end, one) })));
  }

  count(): Read<number> {
    return countCall(this.#driver, this.#request("count"));
  }

  sum(attribute: string): Read<number | bigint> {
    const only = this.select(attribute);
    const request = only.#request("rows");
    return createCall(
      () => only.explain(),
      async (options) => (await import("./sum-rows.ts")).sumRows(this.#driver, { request, attribute }, options),
    );
  }

  page(options: SearchPageOptions = {}): Read<Page<unknown>> {
    checkOptions(options, pageKinds);
    const request = this.#request("rows");
    // A cursor is a key of the index: where the model comes to expect another price, another index may be read.
    const indexes = request.plan.sources.map((source) => (source.kind === "query" ? source.index : undefined));
    const query = `${this.#driver.catalog.table}|${searchForm(this.#state, "rows")}|${exactText([indexes, this.#state.values])}`;
    return pageCall(this.#driver, { request, query, options }, (found) => found.map((one) => this.#row(one)));
  }

  async explain(): Promise<ReadExplanation> {
    return this.rows().explain();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator {
    for await (const found of readInParts(this.#driver, this.#request("rows"))) for (const one of found) yield this.#row(one);
  }

  #node(end: "from" | "to", { node, shape }: Found): Row | undefined {
    const several = (this.#driver.catalog.edges[shape.definition]?.[end].length ?? 1) > 1;
    return node && several ? { kind: shape[end], row: node } : node;
  }

  #row({ shape, row: whole }: Found): unknown {
    const { select } = this.#state;
    const ends = shape.kind === "edge" ? ["from", "to"] : [];
    const row = select ? Object.fromEntries([...ends, ...select].map((field) => [field, whole[field]])) : whole;
    return this.#several ? { kind: shape.definition, row } : row;
  }

  #request(want: SearchWant): ReadRequest {
    const state = this.#state;
    const stranger = want === "from" || want === "to" ? state.kinds.find(({ of }) => of !== "edge") : undefined;
    if (stranger) {
      throw new EdgetableError("plan.unsupported", `"${stranger.name}" is a ${stranger.of} and has no ends: ask for its rows().`, {
        details: { kind: stranger.name },
      });
    }
    const { plan, binding } = planSearch(this.#driver, state, want);
    return { plan, binding, limit: state.limit, findNode: findNode(this.#driver), empty: contradict(state.conditions, state.values) };
  }

  #read<T>(want: SearchWant, give: (found: readonly Found[]) => T): Read<T> {
    return readCall(this.#driver, this.#request(want), give);
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
