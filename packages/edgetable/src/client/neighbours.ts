import { EdgetableError } from "../errors/edgetable-error.ts";
import { createCall, type Report, type RunOptions } from "../executor/call.ts";
import { runCount, runRead, type Found, type ReadRequest } from "../executor/run-read.ts";
import type { CallContext } from "../executor/session.ts";
import { readWhere } from "../ir/condition.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import { walkFrom } from "../query/walk.ts";
import { neighbourForm, neighbourPlan, type NeighbourState, type Want } from "../query/neighbours.ts";
import type { Position } from "../requests/cursor.ts";
import type { Binding } from "../requests/encode-read.ts";
import { inRange } from "../util/check-range.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { defined } from "../util/invariant.ts";
import { loadOnce } from "../util/load-once.ts";
import { checkFields } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { explainRead, type ReadExplanation } from "./explanation.ts";
import { findNode } from "./find-node.ts";
import type { Entry, Page, PageOptions, Read } from "./read-types.ts";
import { WalkQuery } from "./walk.ts";
import { jsonText } from "../util/json-text.ts";

type Row = Readonly<Record<string, unknown>>;
type PageKind = "edges" | "nodes" | "entries" | "ids";

const MOST_ROWS = 10_000;
const PAGE_ROWS = 20;

const wants = { edges: { kind: "edges", given: [] }, count: { kind: "count", given: [] } } as const;

const paging = loadOnce(async () => import("../executor/read-page.ts"));

const farOf = (plan: ReadPlan, found: Found): "from" | "to" => ((plan.near[found.source] ?? "from") === "from" ? "to" : "from");

const positive = (option: string, value: number, most: number): number => inRange(option, value, [1, most]);

/** The builder behind {@link Neighbours}; each method returns a new one. */
export class NeighbourQuery {
  readonly #driver: Driver;
  readonly #state: NeighbourState;

  constructor(driver: Driver, state: NeighbourState) {
    this.#driver = driver;
    this.#state = state;
  }

  #with(change: Partial<NeighbourState>): NeighbourQuery {
    return new NeighbourQuery(this.#driver, { ...this.#state, ...change });
  }

  where(filter: Row): NeighbourQuery {
    checkFields(this.#driver, this.#state.edge, filter);
    const { conditions, values } = readWhere(filter, ["from", "to"], this.#state.values.length);
    return this.#with({ conditions: [...this.#state.conditions, ...conditions], values: [...this.#state.values, ...values] });
  }

  reverse(): NeighbourQuery {
    return this.#with({ forward: !this.#state.forward });
  }

  limit(most: number): NeighbourQuery {
    return this.#with({ limit: positive("limit", most, Number.MAX_SAFE_INTEGER) });
  }

  unordered(): NeighbourQuery {
    return this.#with({ ordered: false });
  }

  using(index: string): NeighbourQuery {
    const known = this.#driver.catalog.indexes.map((one) => defined(one.name, "index name"));
    if (known.includes(index)) return this.#with({ index });
    throw new EdgetableError("plan.noIndex", `There is no index "${index}".${didYouMean(index, known)}`, { details: { index } });
  }

  select(...fields: readonly string[]): NeighbourQuery {
    checkFields(this.#driver, this.#state.edge, Object.fromEntries(fields.map((field) => [field, true])));
    return this.#with({ select: fields });
  }

  consistent(): NeighbourQuery {
    return this.#with({ consistent: true });
  }

  edges(): Read<readonly Row[]> {
    return this.#rows(wants.edges, (found) => found.map((one) => this.#edge(one)));
  }

  nodes(options: { readonly given?: Row } = {}): Read<readonly Row[]> {
    return this.#rows(
      this.#hydrated(options.given),
      (found): readonly Row[] => found.flatMap((one) => (one.node ? [one.node as Row] : [])),
      options.given,
    );
  }

  entries(options: { readonly given?: Row } = {}): Read<readonly Entry<Row, Row>[]> {
    return this.#rows(this.#hydrated(options.given), (found) => found.map((one) => this.#entry(one)), options.given);
  }

  ids(): Read<readonly Row[]> {
    return this.#rows(wants.edges, (found, plan) => found.map((one) => one.row[farOf(plan, one)] as Row));
  }

  first(): Read<Row | undefined> {
    return this.limit(1).#rows(wants.edges, ([one]) => one && this.#edge(one));
  }

  range(position: number, limit: number): Read<readonly Row[]> {
    return this.limit(inRange("position", position, [0, Number.MAX_SAFE_INTEGER]) + positive("limit", limit, MOST_ROWS)).#rows(
      wants.edges,
      (found) => found.slice(position).map((one) => this.#edge(one)),
    );
  }

  count(): Read<number> {
    const request = this.#request(wants.count);
    const make = async (options: RunOptions): Promise<Report<number>> => {
      const context = this.#driver.context(options);
      const value = await runCount(this.#driver.session, request, context);
      return { value, cost: context.meter.cost, requests: context.meter.requests, missing: [] };
    };
    return createCall(() => this.#explain(request), make);
  }

  page(options: PageOptions<PageKind> = {}): Read<Page<unknown>> {
    const kind = options.of ?? "edges";
    const want = kind === "nodes" || kind === "entries" ? this.#hydrated(undefined) : wants.edges;
    const limit = positive("limit", options.limit ?? PAGE_ROWS, MOST_ROWS);
    const request = { ...this.#request(want), limit };
    return createCall(
      () => this.#explain(request),
      async (run) => {
        const context = this.#driver.context(run);
        const value = await this.#readPage(request, { kind, cursor: options.cursor }, context);
        return { value, cost: context.meter.cost, requests: context.meter.requests, missing: [] };
      },
    );
  }

  explain(): ReadExplanation {
    return this.edges().explain();
  }

  out(edge: string): WalkQuery {
    return this.walk().out(edge);
  }

  in(edge: string): WalkQuery {
    return this.walk().in(edge);
  }

  both(edge: string): WalkQuery {
    return this.walk().both(edge);
  }

  walk(): WalkQuery {
    return new WalkQuery(this.#driver, walkFrom(this.#driver.catalog, this.#state));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    let from: Position | undefined;
    let left = this.#state.limit ?? Number.POSITIVE_INFINITY;
    do {
      const request = { ...this.#request(wants.edges), limit: Math.min(left, 1000), from };
      const rows = await runRead(this.#driver.session, request, this.#driver.context({}));
      for (const one of rows.found) yield this.#edge(one);
      left -= rows.found.length;
      from = rows.next;
    } while (from !== undefined && left > 0);
  }

  #hydrated(given: Row | undefined): Want {
    return { kind: "nodes", given: Object.keys(given ?? {}) };
  }

  #edge(found: Found): Row {
    const { select } = this.#state;
    if (!select) return found.row;
    return Object.fromEntries(["from", "to", ...select].map((field) => [field, found.row[field]]));
  }

  #entry(found: Found): Entry<Row, Row> {
    return { edge: this.#edge(found), node: found.node };
  }

  #request(want: Want, given?: Row): ReadRequest {
    const state = this.#state;
    const { catalog } = this.#driver;
    const plan = this.#driver.plan(neighbourForm(state, want), () => neighbourPlan(catalog, state, want));
    // The anchor stands at the near end of whichever edge is read; both, for edges in either direction.
    const row = Object.assign({}, given, { from: state.id, to: state.id });
    const binding: Binding = { row, values: state.values };
    return { plan, binding, limit: state.limit, findNode: findNode(this.#driver) };
  }

  #explain(request: ReadRequest): ReadExplanation {
    return explainRead(this.#driver.catalog, request);
  }

  #rows<T>(want: Want, give: (found: readonly Found[], plan: ReadPlan) => T, given?: Row): Read<T> {
    const request = this.#request(want, given);
    const make = async (options: RunOptions): Promise<Report<T>> => {
      const context = this.#driver.context(options);
      const { found } = await runRead(this.#driver.session, request, context);
      return {
        value: give(found, request.plan),
        cost: context.meter.cost,
        requests: context.meter.requests,
        missing: this.#missing(request.plan, found),
      };
    };
    return createCall(() => this.#explain(request), make);
  }

  #missing(plan: ReadPlan, found: readonly Found[]): readonly unknown[] {
    return plan.hydrate ? found.filter((one) => one.node === undefined).map((one) => one.row[farOf(plan, one)]) : [];
  }

  async #readPage(
    request: ReadRequest,
    page: { readonly kind: PageKind; readonly cursor: string | undefined },
    context: CallContext,
  ): Promise<Page<unknown>> {
    const { session, catalog } = this.#driver;
    const query = `${catalog.table}|${neighbourForm(this.#state, wants.edges)}|${jsonText([this.#state.id, this.#state.values])}`;
    const { readPage } = await paging();
    const secret = (makes: boolean): Promise<string | undefined> => this.#driver.cursorSecret(context, makes);
    const { found, next, previous } = await readPage(session, { request, query, cursor: page.cursor, secret }, context);
    return { items: this.#pageItems(page.kind, request.plan, found), next, previous };
  }

  #pageItems(kind: PageKind, plan: ReadPlan, found: readonly Found[]): readonly unknown[] {
    switch (kind) {
      case "edges":
        return found.map((one) => this.#edge(one));
      case "nodes":
        return found.flatMap((one) => one.node ?? []);
      case "entries":
        return found.map((one) => this.#entry(one));
      case "ids":
        return found.map((one) => one.row[farOf(plan, one)]);
    }
  }
}
