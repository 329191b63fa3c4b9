import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Call, createCall, deferCall, type Report, reportOf, type RunOptions } from "../executor/call.ts";
import type { ParseRow } from "../executor/parse-rows.ts";
import type { FindNode, Found, Rows } from "../executor/read-rows.ts";
import { missingOf, type ReadRequest, runCount, runRead } from "../executor/run-read.ts";
import type { CallContext } from "../executor/session.ts";
import type { Condition } from "../ir/condition.ts";
import { exactText } from "../keys/template.ts";
import { lookupForm, lookupPlan } from "../query/reads.ts";
import type { Position, Secrets } from "../requests/cursor.ts";
import type { OptionChecks } from "../util/check-options.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Driver } from "./driver.ts";
import type { ReadExplanation } from "./explanation.ts";
import type { AskedCount } from "./kept-counts.ts";
import type { CountOptions, Page, Read, SearchPageOptions } from "./page-types.ts";

/** Finds one node by a GetItem if its id determines the key, else by a Query of its partition. */
export const findNode = (driver: Driver): FindNode => {
  const find: FindNode = async (name, id, context) => {
    const of = driver.catalog.parts[name] ? "part" : "node";
    const state = { of, name, many: false, given: [], consistent: false } as const;
    const plan = driver.plan(lookupForm(state), () => lookupPlan(state));
    const { found } = await runRead(driver.session, { plan, binding: { row: id, values: [] }, limit: 1, findNode: find }, context);
    return found[0]?.row;
  };
  return find;
};

const parsing = loadOnce(async () => import("../executor/parse-rows.ts"));

/** The parser of the rows that a call returns; undefined if no type of the model declares it. */
export const parserOf = async ({ parses, session }: Driver, context: CallContext): Promise<ParseRow | undefined> =>
  parses ? (await parsing()).rowParser(session, context) : undefined;

/** The code that plans conditions and recognizes those that no row can satisfy. */
export type Filtering = typeof import("./filters.ts");

const loadFiltering = loadOnce(async () => import("./filters.ts"));

/** Loads the code that a chain of calls needs for its conditions; undefined if it has none. */
export const filteringFor = (conditions: readonly Condition[]): Filtering | Promise<Filtering> | undefined =>
  conditions.length === 0 ? undefined : loadFiltering();

/** A call with conditions. The first one loads the code that plans them, so errors of its plan are rejections. */
export const filteredCall = <T, Plan>(conditions: readonly Condition[], of: (filtering?: Filtering) => Call<T, Plan>): Call<T, Plan> =>
  conditions.length === 0 ? of() : deferCall(loadFiltering, of);

/** Reads the rows that a call returns to its caller, parsed if the model declares it. */
const readGiven = async (driver: Driver, request: ReadRequest, context: CallContext): Promise<Rows> =>
  runRead(driver.session, driver.parses ? { ...request, parse: await parserOf(driver, context) } : request, context);

const loadExplanation = loadOnce(async () => import("./explanation.ts"));

/** Explains a read request as the call would send it now. */
export const explainRequest = async (driver: Driver, request: ReadRequest): Promise<ReadExplanation> => {
  const { explainRead } = await loadExplanation();
  return explainRead(driver.catalog, { ...request, livingAt: driver.context({}).livingAt });
};

/** A call that reads a request and turns the rows into its result. */
export const readCall = <T>(driver: Driver, request: ReadRequest, give: (found: readonly Found[]) => T): Read<T> => {
  const make = async (options: RunOptions): Promise<Report<T>> => {
    const context = driver.context(options);
    const { found } = await readGiven(driver, request, context);
    return reportOf(give(found), context.meter, missingOf(request.plan, found));
  };
  return createCall(() => explainRequest(driver, request), make);
};

const keptCounts = loadOnce(async () => import("./kept-counts.ts"));

/** The valid values of the options of a count. */
export const countOptions: OptionChecks<CountOptions> = { kept: ["transaction", "any", "none"] };

/** A call that counts the rows of a request, or reads the number from a node that keeps it. */
export const countCall = (driver: Driver, made: () => ReadRequest, asked?: AskedCount): Read<number> => {
  const mayKeep = asked && driver.catalog.facts.aggregates.length > 0;
  let request: ReadRequest | undefined;
  try {
    request = made();
  } catch (error) {
    // A node may keep a count of rows that no index finds.
    if (!mayKeep) throw error;
  }
  return createCall(
    async () => (mayKeep ? (await keptCounts()).explainCount(driver, request ?? made, asked) : explainRequest(driver, request ?? made())),
    async (options) => {
      const context = driver.context(options);
      const report = mayKeep && !request?.empty && (await (await keptCounts()).takeKept(driver, asked, context));
      return report || reportOf(await runCount(driver.session, request ?? made(), context), context.meter);
    },
  );
};

/** Upper bound of the rows of a page. */
export const MAX_ROWS = 10_000;
/** Default number of rows of a page. */
const PAGE_ROWS = 20;
const MAX_BUDGET = 1_000_000_000;
const PART_ROWS = 1000;

const paging = loadOnce(async () => import("../executor/read-page.ts"));

interface PageAsk {
  readonly request: ReadRequest;
  /** The query's form, without its selection. Cursors are bound to it, to `values`, to the table and to the indexes that are read. */
  readonly form: string;
  readonly values: readonly unknown[];
  readonly options: SearchPageOptions;
}

/** The valid values of the options of a page. */
export const pageOptions: OptionChecks<SearchPageOptions> = {
  limit: [1, MAX_ROWS],
  cursor: undefined,
  budget: { requests: [1, MAX_BUDGET], units: [1, MAX_BUDGET] },
};

/** @throws {plan.unsupported} after limit(): a cursor would not keep to it */
export const refuseLimit = (limit: number | undefined): void => {
  if (limit === undefined) return;
  throw new EdgetableError(
    "plan.unsupported",
    `A page has a limit of its own: give page({ limit: ${limit} }), and leave limit(${limit}) out.`,
    { details: { limit } },
  );
};

/**
 * A call that reads a page and turns its rows into items.
 *
 * @throws {plan.unsupported} after limit()
 */
export const pageCall = <T>(driver: Driver, ask: PageAsk, give: (found: readonly Found[]) => readonly T[]): Read<Page<T>> => {
  const { form, values, options } = ask;
  refuseLimit(ask.request.limit);
  // A cursor is a key of an index. Another selection, or other expectations in the model, may lead to another index.
  const indexes = ask.request.plan.sources.map((source) => (source.kind === "query" ? source.index : undefined));
  const query = `${driver.catalog.table}|${form}|${exactText([indexes, ...values])}`;
  const budget = { requests: options.budget?.requests, readUnits: options.budget?.units };
  const request = { ...ask.request, limit: options.limit ?? PAGE_ROWS, budget };
  return createCall(
    () => explainRequest(driver, request),
    async (run) => {
      const context = driver.context(run);
      const { readPage } = await paging();
      const secret = (makes: boolean): Promise<Secrets | undefined> => driver.cursorSecret(context, makes);
      const { found, next, previous, stopped } = await readPage(
        driver.session,
        {
          request: driver.parses ? { ...request, parse: await parserOf(driver, context) } : request,
          query,
          cursor: options.cursor,
          secret,
        },
        context,
      );
      return reportOf({ items: give(found), next, previous, stopped }, context.meter);
    },
  );
};

/** Reads until nothing is left or the request reaches its limit. Each part is a separate call with its own deadline. */
export async function* readInParts(driver: Driver, request: ReadRequest): AsyncGenerator<readonly Found[]> {
  let from: Position | undefined;
  let left = request.limit ?? Number.POSITIVE_INFINITY;
  do {
    const part = { ...request, limit: Math.min(left, PART_ROWS), from, budget: {} };
    const { found, next } = await readGiven(driver, part, driver.context({}));
    yield found;
    left -= found.length;
    from = next;
  } while (from !== undefined && left > 0);
}
