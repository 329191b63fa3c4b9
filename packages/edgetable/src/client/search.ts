import { EdgetableError } from "../errors/edgetable-error.ts";
import { createCall, type Report, type RunOptions } from "../executor/call.ts";
import { runCount, runRead, type Found, type ReadRequest } from "../executor/run-read.ts";
import { readWhere } from "../ir/condition.ts";
import { searchForm, searchPlan, type SearchKind, type SearchState, type SearchWant } from "../query/search.ts";
import type { Position } from "../requests/cursor.ts";
import { attributeNames } from "../schema/attribute-names.ts";
import type { Catalog } from "../schema/catalog.ts";
import { inRange } from "../util/check-range.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { defined } from "../util/invariant.ts";
import type { Driver } from "./driver.ts";
import { explainRead, type ReadExplanation } from "./explanation.ts";
import { findNode } from "./find-node.ts";
import type { Entry, Page, Read } from "./read-types.ts";
import type { SearchPageOptions } from "./search-types.ts";
import { jsonText } from "../util/json-text.ts";

type Row = Readonly<Record<string, unknown>>;

const MOST_ROWS = 10_000;
const PAGE_ROWS = 20;
const ITERATED = 1000;

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
const fieldsOf = ({ nodes, edges, parts }: Catalog, { of, name }: SearchKind): readonly string[] | undefined => {
  if (of === "node") return attributeNames(defined(nodes[name], name).definition.schema);
  if (of === "part") {
    const { definition } = defined(parts[name], name);
    const own = attributeNames(definition.schema);
    return own && [...own, ...(nodes[definition.of]?.idFields ?? [])];
  }
  const { schema } = defined(edges[name], name).definition;
  const own = schema ? attributeNames(schema) : [];
  return own && [...own, "from", "to"];
};

const checkFields = (catalog: Catalog, kinds: readonly SearchKind[], where: Row): void => {
  for (const kind of kinds) {
    const known = fieldsOf(catalog, kind);
    const stranger = known && Object.keys(where).find((field) => !known.includes(field));
    if (stranger === undefined || !known) continue;
    throw new EdgetableError(
      "schema.unknownAttribute",
      `"${stranger}" is no attribute of the ${kind.of} "${kind.name}".${didYouMean(stranger, known)}`,
      { details: { kind: kind.name, attribute: stranger } },
    );
  }
};

const endOf = (want: SearchWant): "from" | "to" => (want === "to" ? "to" : "from");

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
    checkFields(this.#driver.catalog, kinds, filter);
    const nested = kinds.every(({ of }) => of === "edge") ? ["from", "to"] : [];
    const more = readWhere(filter, nested, values.length);
    return this.#with({ conditions: [...conditions, ...more.conditions], values: [...values, ...more.values] });
  }

  select(...fields: readonly string[]): SearchQuery {
    checkFields(this.#driver.catalog, this.#state.kinds, Object.fromEntries(fields.map((field) => [field, true])));
    return this.#with({ select: fields });
  }

  reverse(): SearchQuery {
    return this.#with({ forward: !this.#state.forward });
  }

  limit(most: number): SearchQuery {
    return this.#with({ limit: inRange("limit", most, [1, Number.MAX_SAFE_INTEGER]) });
  }

  using(index: string): SearchQuery {
    const known = this.#driver.catalog.indexes.map((one) => defined(one.name, "index name"));
    if (known.includes(index)) return this.#with({ index });
    throw new EdgetableError("plan.noIndex", `There is no index "${index}".${didYouMean(index, known)}`, { details: { index } });
  }

  rows(): Read<readonly unknown[]> {
    return this.#read("rows", (found) => found.map((one) => this.#row(one)));
  }

  first(): Read<unknown> {
    return this.limit(1).#read("rows", ([one]) => one && this.#row(one));
  }

  sources(): Read<readonly Row[]> {
    return this.#read("from", (found) => found.flatMap((one): readonly Row[] => (one.node ? [one.node] : [])));
  }

  targets(): Read<readonly Row[]> {
    return this.#read("to", (found) => found.flatMap((one): readonly Row[] => (one.node ? [one.node] : [])));
  }

  entries(end: "from" | "to"): Read<readonly Entry<unknown, Row>[]> {
    return this.#read(end, (found) => found.map((one) => ({ edge: this.#row(one), node: one.node })));
  }

  count(): Read<number> {
    const request = this.#request("count");
    return this.#call(request, async (options) => {
      const context = this.#driver.context(options);
      const value = await runCount(this.#driver.session, request, context);
      return { value, cost: context.meter.cost, requests: context.meter.requests, missing: [] };
    });
  }

  page(options: SearchPageOptions = {}): Read<Page<unknown>> {
    const limit = inRange("limit", options.limit ?? PAGE_ROWS, [1, MOST_ROWS]);
    const request = { ...this.#request("rows"), limit };
    const { catalog, session } = this.#driver;
    const query = `${catalog.table}|${searchForm(this.#state, "rows")}|${jsonText(this.#state.values)}`;
    return this.#call(request, async (run) => {
      const context = this.#driver.context(run);
      const { readPage } = await import("../executor/read-page.ts");
      const secret = (makes: boolean): Promise<string | undefined> => this.#driver.cursorSecret(context, makes);
      const { found, next, previous } = await readPage(session, { request, query, cursor: options.cursor, secret }, context);
      const value = { items: found.map((one) => this.#row(one)), next, previous };
      return { value, cost: context.meter.cost, requests: context.meter.requests, missing: [] };
    });
  }

  explain(): ReadExplanation {
    return this.rows().explain();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator {
    let from: Position | undefined;
    let left = this.#state.limit ?? Number.POSITIVE_INFINITY;
    do {
      const request = { ...this.#request("rows"), limit: Math.min(left, ITERATED), from };
      const rows = await runRead(this.#driver.session, request, this.#driver.context({}));
      for (const one of rows.found) yield this.#row(one);
      left -= rows.found.length;
      from = rows.next;
    } while (from !== undefined && left > 0);
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
    const plan = this.#driver.plan(searchForm(state, want), () => searchPlan(state, want));
    return { plan, binding: { row: {}, values: state.values }, limit: state.limit, findNode: findNode(this.#driver) };
  }

  #call<T>(request: ReadRequest, make: (options: RunOptions) => Promise<Report<T>>): Read<T> {
    return createCall(() => explainRead(this.#driver.catalog, request), make);
  }

  #read<T>(want: SearchWant, give: (found: readonly Found[]) => T): Read<T> {
    const request = this.#request(want);
    return this.#call(request, async (options) => {
      const context = this.#driver.context(options);
      const { found } = await runRead(this.#driver.session, request, context);
      const gone = request.plan.hydrate ? found.filter((one) => one.node === undefined) : [];
      const missing = gone.map((one) => one.row[endOf(want)]);
      return { value: give(found), cost: context.meter.cost, requests: context.meter.requests, missing };
    });
  }
}

/** `db.find` of a connection. */
export const findOf =
  (driver: Driver) =>
  (kinds: string | readonly string[]): SearchQuery => {
    const names = typeof kinds === "string" ? [kinds] : [...new Set(kinds)];
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
