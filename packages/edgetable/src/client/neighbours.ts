import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Found } from "../executor/read-rows.ts";
import type { ReadRequest } from "../executor/run-read.ts";
import { readWhere } from "../ir/condition.ts";
import type { ReadPlan } from "../ir/physical-plan.ts";
import { plainHop, type WalkHop } from "../ir/walk-plan.ts";
import type { WalkState } from "../query/walk.ts";
import { neighbourForm, neighbourPlan, type NeighbourState, type Want } from "../query/reads.ts";
import type { Binding } from "../requests/encode-read.ts";
import { checkOptions, type OptionChecks, inRange, namesIn } from "../util/check-options.ts";
import { checkEdgeFields, checkEdgeFilter, checkIndex, nodeFields, onlySelected, someNames } from "./check-names.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Driver } from "./driver.ts";
import type { ReadExplanation } from "./explanation.ts";
import {
  countCall,
  countOptions,
  filteredCall,
  filteringFor,
  type Filtering,
  findNode,
  MAX_ROWS,
  pageCall,
  pageOptions,
  readCall,
  readInParts,
  refuseLimit,
} from "./read-call.ts";
import type { CountOptions, Entry, HydrateOptions, Page, PageOptions, Read } from "./page-types.ts";
import type { FeedCall, FeedOptions } from "./walk-types.ts";
import { type AnyHop, type EdgeNames, WalkQuery } from "./walk.ts";
import { defined } from "../util/invariant.ts";
import { type Row, own } from "../util/row.ts";

/** A query for neighbours as the first hop of a walk. Its order matters only if it selects edges. */
const walkFrom = (catalog: Catalog, state: NeighbourState): WalkState => {
  const { node, id, anchor, edge, direction, conditions, values, forward, consistent, index, limit } = state;
  const whole = anchor.length === defined(catalog.ends[node], node).idFields.length;
  const hop: WalkHop = {
    ...plainHop(catalog, { edges: [edge], direction, near: [node] }),
    anchor: whole ? undefined : anchor,
    conditions,
    ordered: state.ordered && (limit !== undefined || !forward),
    forward,
    consistent,
    index,
    limit,
  };
  return { node, id, anchor, steps: [hop], values, at: hop.far };
};

type PageKind = "edges" | "nodes" | "entries" | "ids";

interface NeighbourPage extends PageOptions<PageKind> {
  readonly select?: readonly string[] | undefined;
}

const edgePageOptions: OptionChecks<NeighbourPage> = { ...pageOptions, of: ["edges", "nodes", "entries", "ids"], select: undefined };
interface NodeOptions extends HydrateOptions<Row> {
  readonly select?: readonly string[] | undefined;
}

const hydrateOptions: OptionChecks<NodeOptions> = { given: namesIn, select: undefined };
const wants = { edges: { kind: "edges", given: [] }, count: { kind: "count", given: [] } } as const;

const farOf = (plan: ReadPlan, found: Found): "from" | "to" => ((plan.near[found.source] ?? "from") === "from" ? "to" : "from");

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
    checkEdgeFilter(this.#driver, this.#state.edge, filter);
    const { conditions, values } = readWhere(
      filter,
      ["from", "to"],
      this.#state.values.length,
      defined(this.#driver.catalog.edges[this.#state.edge], "edge").shapes,
    );
    return this.#with({ conditions: [...this.#state.conditions, ...conditions], values: [...this.#state.values, ...values] });
  }

  reverse(): NeighbourQuery {
    return this.#with({ forward: !this.#state.forward });
  }

  limit(limit: number): NeighbourQuery {
    return this.#with({ limit: inRange("limit", limit, [1, Number.MAX_SAFE_INTEGER]) });
  }

  unordered(): NeighbourQuery {
    return this.#with({ ordered: false });
  }

  using(index: string): NeighbourQuery {
    checkIndex(this.#driver, index);
    return this.#with({ index });
  }

  select(...fields: readonly string[]): NeighbourQuery {
    checkEdgeFields(this.#driver, this.#state.edge, fields);
    return this.#with({ select: someNames(fields, this.#state.edge) });
  }

  consistent(): NeighbourQuery {
    return this.#with({ consistent: true });
  }

  edges(): Read<readonly Row[]> {
    return this.#rows(wants.edges, (found) => found.map((one) => this.#edge(one)));
  }

  nodes(options: NodeOptions = {}): Read<readonly Row[]> {
    return this.#nodes(options, (found, plan, select) =>
      found.map((one) => this.#node(plan, one, select)).filter((node) => node !== undefined),
    );
  }

  entries(options: NodeOptions = {}): Read<readonly Entry<Row, Row>[]> {
    return this.#nodes(options, (found, plan, select) => found.map((one) => this.#entry(plan, one, select)));
  }

  ids(): Read<readonly Row[]> {
    return this.#rows(wants.edges, (found, plan) => found.map((one) => one.row[farOf(plan, one)] as Row));
  }

  first(): Read<Row | undefined> {
    return this.limit(1).#rows(wants.edges, ([one]) => one && this.#edge(one));
  }

  range(position: number, limit: number): Read<readonly Row[]> {
    return this.limit(inRange("position", position, [0, Number.MAX_SAFE_INTEGER]) + inRange("limit", limit, [1, MAX_ROWS])).#rows(
      wants.edges,
      (found) => found.slice(position).map((one) => this.#edge(one)),
    );
  }

  count(options: CountOptions = {}): Read<number> {
    const { kept = "transaction" } = checkOptions(options, countOptions);
    const { node, anchor, id, edge: name, direction, conditions, values, index, consistent, limit } = this.#state;
    const isWhole = anchor.length === this.#driver.catalog.ends[node]?.idFields.length;
    const counted = { node, over: { kind: "edge", name, direction }, conditions, values } as const;
    const asked = isWhole && index === undefined ? { counted, id, consistent, kept, limit } : undefined;
    return filteredCall(conditions, (filtering) => countCall(this.#driver, () => this.#request(wants.count, { filtering }), asked));
  }

  page(options: NeighbourPage = {}): Read<Page<unknown>> {
    const { of: kind = "edges", select: named } = checkOptions(options, edgePageOptions);
    const hydrates = kind === "nodes" || kind === "entries";
    if (named && !hydrates)
      throw new EdgetableError("plan.invalidOption", `select names attributes of the nodes: give it with of: "nodes" or of: "entries".`);
    const select = named && this.#fields(named);
    const { id, values, conditions, limit } = this.#state;
    refuseLimit(limit);
    return filteredCall(conditions, (filtering) => {
      const request = this.#request(hydrates ? this.#hydrated(undefined, select) : wants.edges, { filtering });
      // Every page is a page of these edges, whatever it contains, so one cursor serves all kinds.
      const form = neighbourForm({ ...this.#state, select: undefined }, wants.edges);
      return pageCall(this.#driver, { request, form, values: [id, values], options }, (found) =>
        this.#pageItems({ kind, select }, request.plan, found),
      );
    });
  }

  async explain(): Promise<ReadExplanation> {
    return this.edges().explain();
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

  feed(hop: AnyHop, options?: FeedOptions): FeedCall<unknown> {
    return this.walk().feed(hop, options);
  }

  walk(): WalkQuery {
    return new WalkQuery(this.#driver, walkFrom(this.#driver.catalog, this.#state));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row> {
    const filtering = await filteringFor(this.#state.conditions);
    for await (const found of readInParts(this.#driver, this.#request(wants.edges, { filtering })))
      for (const one of found) yield this.#edge(one);
  }

  #nodes<T>(options: NodeOptions, give: (found: readonly Found[], plan: ReadPlan, select: readonly string[] | undefined) => T): Read<T> {
    const { given, select: named } = checkOptions(options, hydrateOptions);
    const select = named && this.#fields(named);
    return this.#rows(this.#hydrated(given, select), (found, plan) => give(found, plan, select), given);
  }

  #fields(named: readonly string[]): readonly string[] {
    return nodeFields(this.#driver, walkFrom(this.#driver.catalog, this.#state).at, named);
  }

  #hydrated(given: Row | undefined, select: readonly string[] | undefined): Want {
    const want = { kind: "nodes", given: Object.keys(given ?? {}) } as const;
    return select ? { ...want, select } : want;
  }

  #edge(found: Found): Row {
    const { select } = this.#state;
    if (!select) return found.row;
    return Object.fromEntries(["from", "to", ...select].map((field) => [field, own(found.row, field)]));
  }

  #entry(plan: ReadPlan, found: Found, select?: readonly string[]): Entry<Row, Row> {
    return { edge: this.#edge(found), node: this.#node(plan, found, select) };
  }

  // The edge type may lead to several node types while this call leads to only one of them.
  #node(plan: ReadPlan, found: Found, select?: readonly string[]): Row | undefined {
    const { shape } = found;
    const node = found.node && onlySelected(select, found.node);
    if (!node || !shape.several || walkFrom(this.#driver.catalog, this.#state).at.length === 1) return node;
    return { kind: shape[farOf(plan, found)], row: node };
  }

  #request(
    want: Want,
    { given, filtering }: { readonly given?: Row | undefined; readonly filtering?: Filtering | undefined } = {},
  ): ReadRequest {
    const { catalog } = this.#driver;
    const state = { ...this.#state, ...filtering?.conditionsForKeys(catalog, [{ of: "edge", name: this.#state.edge }], this.#state) };
    const plan = this.#driver.plan(neighbourForm(state, want), () => neighbourPlan(catalog, state, want), {
      filtering: filtering?.filterRules,
    });
    // The anchor is the near end of each edge, which may be either end if edges are read in both directions.
    const row = Object.assign({}, given, { from: state.id, to: state.id });
    const binding: Binding = { row, values: state.values };
    return {
      plan,
      binding,
      limit: state.limit,
      findNode: findNode(this.#driver),
      empty: filtering?.contradict(state.conditions, state.values) ?? false,
    };
  }

  #rows<T>(want: Want, give: (found: readonly Found[], plan: ReadPlan) => T, given?: Row): Read<T> {
    return filteredCall(this.#state.conditions, (filtering) => {
      const request = this.#request(want, { given, filtering });
      return readCall(this.#driver, request, (found) => give(found, request.plan));
    });
  }

  #pageItems(
    of: { readonly kind: PageKind; readonly select: readonly string[] | undefined },
    plan: ReadPlan,
    found: readonly Found[],
  ): readonly unknown[] {
    switch (of.kind) {
      case "edges":
        return found.map((one) => this.#edge(one));
      case "nodes":
        return found.map((one) => this.#node(plan, one, of.select)).filter((node) => node !== undefined);
      case "entries":
        return found.map((one) => this.#entry(plan, one, of.select));
      case "ids":
        return found.map((one) => one.row[farOf(plan, one)]);
    }
  }
}
