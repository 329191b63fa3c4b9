import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Call, deferCall } from "../executor/call.ts";
import type { NodeRef } from "../executor/walk/walk-state.ts";
import { fieldsIn, readWhere } from "../ir/condition.ts";
import { MAX_ROUNDS, plainHop, type WalkHop, type WalkStep } from "../ir/walk-plan.ts";
import type { Direction } from "../query/reads.ts";
import type { WalkState } from "../query/walk.ts";
import type { Shape } from "../schema/catalog.ts";
import { checkEnd } from "../schema/check-values.ts";
import { checkOptions, type OptionChecks, inRange, listOf, namesIn, shown } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Row } from "../util/row.ts";
import { checkEdge, checkEdgeFields, checkEdgeFilter, edgeNamed, nodeFields, typesWith } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import type * as Feeding from "./make-feed.ts";
import type * as Making from "./make-walk.ts";
import type { WalkExplanation } from "./walk-explanation.ts";
import {
  feedOptions,
  levelOptions,
  MAX_COUNT,
  nodesOptions,
  optionsOf,
  pathOptions,
  rankOptions,
  walkCountOptions,
  walkOptions,
  type WalkAsk,
} from "./walk-options.ts";
import type {
  Aggregate,
  Aggregated,
  Excluded,
  FeedCall,
  FeedOptions,
  Gathered,
  Grouped,
  GroupOptions,
  LevelOptions,
  PathOptions,
  RankOptions,
  Reached,
  RepeatOptions,
  WalkCall,
  WalkCount,
  WalkCountOptions,
  Walked,
  WalkLevel,
  WalkOptions,
} from "./walk-types.ts";

/** Loads the code that plans, makes and explains walks, because most programs read one hop at a time. */
export const loadMaking: () => typeof Making | Promise<typeof Making> = loadOnce(async () => import("./make-walk.ts"));

/** A walk's call with the way to continue it. */
export const continuable = <T>(options: WalkOptions, of: (options: WalkOptions) => Call<T, WalkExplanation>): WalkCall<T> =>
  Object.assign(of(options), { from: (cursor: string) => continuable({ ...options, cursor }, of) });

const nodeShapes = ({ catalog }: Driver, types: readonly string[]): readonly Shape[] =>
  types.map((type) => defined(catalog.ends[type], type).shape);

/** An edge type, or several that one hop follows. */
export type EdgeNames = string | readonly string[];

const loadFeeds: () => typeof Feeding | Promise<typeof Feeding> = loadOnce(async () => import("./make-feed.ts"));

export interface AnyHop {
  readonly out?: EdgeNames;
  readonly in?: EdgeNames;
  readonly both?: EdgeNames;
  readonly where?: Row;
  readonly whereNode?: Row;
}

const hopOptions: OptionChecks<AnyHop> = { out: undefined, in: undefined, both: undefined, where: namesIn, whereNode: namesIn };

const invalid = (message: string): EdgetableError => new EdgetableError("plan.invalidOption", message);

/** The edges that a hop names, each once, and the direction. */
const edgesOf = (hop: AnyHop | undefined): { readonly edges: readonly string[]; readonly direction: Direction } => {
  const named = (["out", "in", "both"] as const).filter((direction) => hop?.[direction] !== undefined);
  const [direction, another] = named;
  if (!hop || direction === undefined || another !== undefined) {
    throw new EdgetableError(
      "traverse.start",
      `Name exactly one direction to follow: { out: "…" }, { in: "…" } or { both: "…" }. The hop names ${named.join(" and ") || "no edge"}. ${
        named.length > 1
          ? "To follow edges in several directions, make one walk for each."
          : 'Several edge types are a list: { out: ["…", "…"] }.'
      }`,
      { details: { hop } },
    );
  }
  checkOptions(hop, hopOptions);
  const names = hop[direction] as EdgeNames;
  const edges = typeof names === "string" ? [names] : [...new Set(listOf(names, `edges, such as { ${direction}: ["…", "…"] }`))];
  const strange = edges.find((edge) => typeof edge !== "string");
  if (strange !== undefined) throw invalid(`${direction} takes names of edges, such as "dependsOn", got ${shown(strange)}.`);
  if (edges.length > 0) return { edges, direction };
  throw new EdgetableError("traverse.start", `${direction}: [] names no edge. Name one edge type or more.`, { details: { hop } });
};

/**
 * The edge types that pass a check of names.
 *
 * @throws the error of the check for the first type, if no type passes
 */
const edgesWith = (edges: readonly string[], check: (edge: string) => void): readonly string[] => {
  let unknown: unknown;
  const having = edges.filter((edge) => {
    try {
      check(edge);
      return true;
    } catch (error) {
      unknown ??= error;
      return false;
    }
  });
  if (having.length === 0) throw unknown;
  return having;
};

/** The builder behind `Walk`; each method returns a new one. */
export class WalkQuery {
  readonly #driver: Driver;
  readonly #state: WalkState;

  constructor(driver: Driver, state: WalkState) {
    this.#driver = driver;
    this.#state = state;
  }

  /** The chain of calls so far. */
  get state(): WalkState {
    return this.#state;
  }

  hop(hop: AnyHop): WalkQuery {
    return this.#hop(hop);
  }

  out(edge: EdgeNames): WalkQuery {
    return this.#hop({ out: edge });
  }

  in(edge: EdgeNames): WalkQuery {
    return this.#hop({ in: edge });
  }

  both(edge: EdgeNames): WalkQuery {
    return this.#hop({ both: edge });
  }

  repeat(hop: AnyHop, options: RepeatOptions = {} as RepeatOptions): WalkQuery {
    const { depth, emit = "last" } = checkOptions(options, { depth: undefined, emit: ["all", "last"] });
    if (Number.isInteger(depth) && depth >= 1 && depth <= MAX_ROUNDS) return this.#hop(hop, { rounds: depth, emit });
    throw new EdgetableError(
      "traverse.depth",
      `repeat() takes a depth from 1 to ${MAX_ROUNDS}, got ${shown(depth)}. For any depth use dependencies() or dependents().`,
      { details: { depth } },
    );
  }

  /**
   * A repeat that ends when it finds nothing new. The walk continues from each node only once, because a cycle has infinitely many
   * paths.
   */
  closure(hop: AnyHop): WalkQuery {
    return this.#hop(hop, { rounds: MAX_COUNT, emit: "all", counts: "nodes" });
  }

  where(filter: Row): WalkQuery {
    const { steps } = this.#state;
    const last = steps.at(-1);
    if (last?.kind !== "hop") throw invalid("where() filters the edges of a hop. Call it directly after out(), in(), both() or repeat().");
    const { edges, conditions, values } = this.#conditions(last.edges, filter, this.#state.values);
    return this.#with({ steps: [...steps.slice(0, -1), { ...last, edges, conditions: [...last.conditions, ...conditions] }], values });
  }

  whereNode(filter: Row): WalkQuery {
    const { at, values } = this.#state;
    const nodes = typesWith(this.#driver, at, fieldsIn(filter, "whereNode"));
    const read = readWhere(filter, [], values.length, nodeShapes(this.#driver, nodes));
    return this.#step({ kind: "filterNodes", nodes, conditions: read.conditions }, read.values);
  }

  dedupe(): WalkQuery {
    return this.#step({ kind: "dedupe" });
  }

  except(nodes: Excluded<Row>): WalkQuery {
    if (nodes === "passed") return this.#step({ kind: "exceptPassed" });
    if (nodes === "start" && this.#state.search) throw invalid('A walk from a search has many starts: use except("passed").');
    const refs = nodes === "start" ? [{ type: this.#state.node, id: this.#state.id }] : this.#refs(nodes);
    return this.#step({ kind: "except", slot: this.#state.values.length }, [refs]);
  }

  among(nodes: readonly Row[]): WalkQuery {
    return this.#step({ kind: "keep", slot: this.#state.values.length }, [this.#refs(nodes)]);
  }

  ids(options: WalkOptions = {}): WalkCall<Walked<Row>> {
    return this.#call({ collect: { kind: "ids" }, options });
  }

  nodes(options: WalkOptions & { readonly select?: readonly string[] | undefined } = {}): WalkCall<Walked<Row>> {
    const { select, ...rest } = checkOptions(options, nodesOptions);
    const collect = { kind: "nodes" } as const;
    const fields = select && nodeFields(this.#driver, this.#state.at, select);
    return this.#call({ collect: fields ? { ...collect, select: fields } : collect, options: rest });
  }

  count(options: WalkCountOptions = {}): WalkCall<WalkCount> {
    return this.#call({ collect: { kind: "count" }, options, kept: checkOptions(options, walkCountOptions).kept ?? "transaction" });
  }

  groupCount(options: GroupOptions = {}): WalkCall<Walked<Reached<Row>>> {
    return this.#call({ collect: { kind: "groups", near: false }, options });
  }

  top(most: number, options: WalkOptions = {}): WalkCall<Walked<Reached<Row>>> {
    return this.groupCount({ ...options, top: inRange("top", most, [1, MAX_COUNT]) });
  }

  sum(attribute: string, options: GroupOptions = {}): WalkCall<Walked<Gathered<Row>>> {
    return this.#fold("sum", attribute, { options });
  }

  min(attribute: string, options: GroupOptions = {}): WalkCall<Walked<Gathered<Row>>> {
    return this.#fold("min", attribute, { options });
  }

  max(attribute: string, options: GroupOptions = {}): WalkCall<Walked<Gathered<Row>>> {
    return this.#fold("max", attribute, { options });
  }

  rank(hop: AnyHop, options: RankOptions = {} as RankOptions): WalkCall<Walked<Gathered<Row>>> {
    const { by, kept = "transaction", ...rest } = checkOptions(options, rankOptions);
    const counted = this.dedupe().#hop(hop);
    if (by !== "degree" && typeof by?.sum !== "string") throw invalid('rank() takes by: "degree" or by: { sum: "…" }.');
    const ranked = this.#state.at;
    if (by !== "degree") return counted.#fold("sum", by.sum, { options: rest, ranked, kept });
    return counted.#call({ collect: { kind: "groups", near: true }, options: rest, ranked, kept });
  }

  levels(options: LevelOptions = {}): WalkCall<Walked<WalkLevel>> {
    const { sum: field } = checkOptions(options, levelOptions);
    const last = this.#state.steps.at(-1);
    if (field !== undefined && last?.kind === "hop") edgesWith(last.edges, (edge) => checkEdgeFields(this.#driver, edge, [field]));
    return this.#call({ collect: { kind: "levels", field }, options });
  }

  aggregate(ask: Aggregate = {}, options: WalkOptions = {}): WalkCall<Aggregated<string>> {
    return this.#aggregate([], ask, options);
  }

  groupBy(by: string | readonly string[], ask: Aggregate = {}, options: GroupOptions = {}): WalkCall<Walked<Grouped<Row, string>>> {
    const names = typeof by === "string" ? [by] : listOf(by, "attributes of nodes");
    if (names.length === 0) throw invalid("groupBy() needs at least one attribute of the nodes.");
    return this.#aggregate(names, ask, options);
  }

  paths(options: PathOptions = {}): WalkCall<Walked<readonly Row[]>> {
    const { limit = 1000, simple = false } = checkOptions(options, pathOptions);
    return this.#call({ collect: { kind: "paths" }, options, paths: { limit, simple } });
  }

  async explain(): Promise<WalkExplanation> {
    return this.ids().explain();
  }

  feed(hop: AnyHop, options: FeedOptions = {}): FeedCall<unknown> {
    checkOptions(options, feedOptions);
    const { steps, values } = this.#hop(hop).state;
    const step = steps.at(-1) as WalkHop;
    const [name = "", ...others] = step.edges;
    const { definition } = edgeNamed(this.#driver, name);
    const refuse = (why: string): never => {
      throw new EdgetableError("plan.unsupported", `A feed merges edges of one type, in one direction and by their order: ${why}`, {
        details: { edge: name },
      });
    };
    if (others.length > 0) refuse(`name one edge instead of "${[name, ...others].join('", "')}".`);
    if (step.direction === "both" && !definition.symmetric) refuse(`use { out: "${name}" } or { in: "${name}" }.`);
    if (step.nodeConditions.length > 0)
      refuse("filter the nodes of its pages yourself, or copy their attribute to the edge and use where.");
    if (definition.orderBy === undefined) refuse(`declare orderBy of "${name}", such as the time when it was made.`);
    const ask = { state: this.#state, hop: { ...step, ordered: true, forward: false }, values, options };
    return deferCall(loadFeeds, ({ feedCall }) => feedCall(this.#driver, ask));
  }

  #aggregate<T>(by: readonly string[], ask: Aggregate, options: GroupOptions): WalkCall<T> {
    const { sum, min, max, average } = checkOptions(ask, { sum: undefined, min: undefined, max: undefined, average: undefined });
    const list = (name: string, given: string | readonly string[] = []): readonly string[] =>
      typeof given === "string" ? [given] : [...new Set(listOf(given, `${name}: attributes of nodes`))];
    const folded = { sum: list("sum", sum), min: list("min", min), max: list("max", max), average: list("average", average) };
    const { at } = this.#state;
    const nodes = typesWith(this.#driver, at, [...by, ...Object.values(folded).flat()]);
    // Reading the nodes is the last step. It keeps only nodes of types that have all these attributes.
    return this.#step({ kind: "filterNodes", nodes, conditions: [] }).#call({ collect: { kind: "aggregate", by, folded }, options });
  }

  #with(change: Partial<WalkState>): WalkQuery {
    return new WalkQuery(this.#driver, { ...this.#state, ...change });
  }

  #step(step: WalkStep, values: readonly unknown[] = []): WalkQuery {
    return this.#with({ steps: [...this.#state.steps, step], values: [...this.#state.values, ...values] });
  }

  #conditions(
    of: readonly string[],
    filter: Row,
    before: readonly unknown[],
  ): Pick<WalkHop, "edges" | "conditions"> & { readonly values: readonly unknown[] } {
    const edges = edgesWith(of, (edge) => checkEdgeFilter(this.#driver, edge, filter));
    const { conditions, values } = readWhere(
      filter,
      ["from", "to"],
      before.length,
      edges.flatMap((edge) => defined(this.#driver.catalog.edges[edge], "edge").shapes),
    );
    return { edges, conditions, values: [...before, ...values] };
  }

  #hop(named: AnyHop, repeat: Partial<Pick<WalkHop, "rounds" | "emit" | "counts">> = {}): WalkQuery {
    const { edges, direction } = edgesOf(named);
    const { at, steps } = this.#state;
    for (const edge of edges) checkEdge(this.#driver, at, { edge, direction });
    const { node, anchor } = this.#state;
    const isLevel = steps.length === 0 && anchor.length < (this.#driver.catalog.ends[node]?.idFields.length ?? 0);
    const plain = { ...plainHop(this.#driver.catalog, { edges, direction, near: at }), ...(isLevel ? { anchor } : {}), ...repeat };
    const { where, whereNode } = named;
    let hop: WalkHop = plain;
    let { values } = this.#state;
    if (where) {
      const read = this.#conditions(edges, where, values);
      hop = { ...hop, edges: read.edges, conditions: read.conditions };
      ({ values } = read);
    }
    if (whereNode) {
      const passing = typesWith(this.#driver, plain.far, fieldsIn(whereNode, "whereNode"));
      const read = readWhere(whereNode, [], values.length, nodeShapes(this.#driver, passing));
      hop = { ...hop, passing, nodeConditions: read.conditions };
      values = [...values, ...read.values];
    }
    return this.#with({ steps: [...steps, hop], values, at: hop.far });
  }

  #refs(ids: readonly Row[]): readonly NodeRef[] {
    return listOf(ids).map((id) => checkEnd(this.#driver.catalog, this.#state.at, id));
  }

  #call<T>(ask: Omit<WalkAsk, "state">): WalkCall<T> {
    checkOptions(ask.options, optionsOf[ask.collect.kind] ?? walkOptions);
    const of = (options: WalkOptions): Call<T, WalkExplanation> =>
      deferCall(loadMaking, ({ walkCall }) => walkCall(this.#driver, { state: this.#state, ...ask, options }) as Call<T, WalkExplanation>);
    return continuable(ask.options, of);
  }

  #fold(
    by: "sum" | "min" | "max",
    field: string,
    { options, ranked, kept }: Pick<WalkAsk, "ranked" | "kept"> & { readonly options: GroupOptions },
  ): WalkCall<Walked<Gathered<Row>>> {
    const hops = this.#state.steps.slice(this.#state.steps.findLastIndex((step) => step.kind === "dedupe") + 1);
    const edges = hops.flatMap((step) => (step.kind === "hop" ? step.edges : []));
    if (edges.length === 0)
      throw invalid(
        `${by}() aggregates over the edges after the last dedupe(), and there is no such edge. Call dedupe() before a hop, or leave it out.`,
      );
    edgesWith(edges, (edge) => checkEdgeFields(this.#driver, edge, [field]));
    return this.#call({
      collect: { kind: "fold", field, by, near: ranked !== undefined },
      options,
      ...(ranked && { ranked }),
      ...(kept && { kept }),
    });
  }
}
