import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Amount } from "../executor/walk/amount.ts";
import type { NodeRef } from "../executor/walk/node-names.ts";
import type { WalkOutcome } from "../executor/walk/run-walk.ts";
import { readWhere } from "../ir/condition.ts";
import { MOST_ROUNDS, type WalkCollect, type WalkHop, type WalkStep } from "../ir/walk-plan.ts";
import type { Direction } from "../query/reads.ts";
import { plainHop, type WalkState } from "../query/walk.ts";
import { checkEnd } from "../schema/check-id.ts";
import { checkOptions, type OptionChecks, inRange, listOf, namesIn, shown } from "../util/check-options.ts";
import { checkEdge, checkEdgeFields, checkEdgeFilter, typesWith } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import { MOST, shownId, type WalkAsk } from "./walk-ask.ts";
import { groupKinds, levelKinds, pathKinds, walkCall } from "./walk-call.ts";
import type { WalkExplanation } from "./walk-explanation.ts";
import type { WalkOptions } from "./walk-options.ts";
import type {
  Excluded,
  Gathered,
  GroupOptions,
  LevelOptions,
  PathOptions,
  RankOptions,
  Reached,
  RepeatOptions,
  WalkCall,
  WalkCount,
  Walked,
  WalkEnd,
  WalkLevel,
} from "./walk-types.ts";
import { walked } from "./walked.ts";
import type { Row } from "../util/row.ts";

export interface AnyHop {
  readonly out?: string;
  readonly in?: string;
  readonly both?: string;
  readonly where?: Row;
  readonly whereNode?: Row;
}

const hopKinds: OptionChecks<AnyHop> = { out: undefined, in: undefined, both: undefined, where: namesIn, whereNode: namesIn };

const rankKinds: OptionChecks<RankOptions> = { ...groupKinds, by: undefined };

const invalid = (message: string): EdgetableError => new EdgetableError("plan.invalidOption", message);

/** Which edge a hop object names, and in which direction. */
const edgeOf = (hop: AnyHop | undefined): { readonly edge: string; readonly direction: Direction } => {
  const named = (["out", "in", "both"] as const).filter((direction) => hop?.[direction] !== undefined);
  const [direction, another] = named;
  if (!hop || direction === undefined || another !== undefined) {
    throw new EdgetableError(
      "traverse.start",
      `Say along which one edge to go: { out: "…" }, { in: "…" } or { both: "…" }. It says ${named.join(" and ") || "none"}.`,
      {
        details: { hop },
      },
    );
  }
  checkOptions(hop, hopKinds);
  return { edge: hop[direction] as string, direction };
};

const depthOf = (depth: number): number => {
  if (Number.isInteger(depth) && depth >= 1 && depth <= MOST_ROUNDS) return depth;
  throw new EdgetableError(
    "traverse.depth",
    `A walk repeats from 1 to ${MOST_ROUNDS} times; depth is ${shown(depth)}. For any depth ask for dependencies().`,
    {
      details: { depth },
    },
  );
};

// Equal figures keep the order in which the nodes were reached.
const highest = <T>(items: readonly T[], top: number | undefined, figure: (item: T) => Amount | undefined): readonly T[] => {
  if (top === undefined) return items;
  const of = (item: T): Amount => figure(item) ?? Number.NEGATIVE_INFINITY;
  return items.toSorted((a, b) => (of(a) < of(b) ? 1 : of(a) > of(b) ? -1 : 0)).slice(0, top);
};

/** The builder behind `Walk`; each method gives a new one. */
export class WalkQuery {
  readonly #driver: Driver;
  readonly #state: WalkState;

  constructor(driver: Driver, state: WalkState) {
    this.#driver = driver;
    this.#state = state;
  }

  /** What it says so far. */
  get state(): WalkState {
    return this.#state;
  }

  hop(hop: AnyHop): WalkQuery {
    return this.#hop(hop);
  }

  out(edge: string): WalkQuery {
    return this.#hop({ out: edge });
  }

  in(edge: string): WalkQuery {
    return this.#hop({ in: edge });
  }

  both(edge: string): WalkQuery {
    return this.#hop({ both: edge });
  }

  repeat(hop: AnyHop, options: RepeatOptions = {} as RepeatOptions): WalkQuery {
    const { depth, emit = "last" } = checkOptions(options, { depth: undefined, emit: ["all", "last"] });
    return this.#hop(hop, { rounds: depthOf(depth), emit });
  }

  /** A repeat that ends where nothing new is found: each node goes on once, for the ways through a circle have no number. */
  closure(hop: AnyHop): WalkQuery {
    return this.#hop(hop, { rounds: MOST, emit: "all", counts: "nodes" });
  }

  where(filter: Row): WalkQuery {
    const { steps } = this.#state;
    const last = steps.at(-1);
    if (last?.kind !== "hop") throw invalid("where() is about the edges of a hop: call it right after out(), in(), both() or repeat().");
    const { conditions, values } = this.#conditions(last.edge, filter, this.#state.values);
    return this.#with({ steps: [...steps.slice(0, -1), { ...last, conditions: [...last.conditions, ...conditions] }], values });
  }

  whereNode(filter: Row): WalkQuery {
    const { at, values } = this.#state;
    const nodes = typesWith(this.#driver, at, namesIn(filter));
    const read = readWhere(filter, [], values.length);
    return this.#step({ kind: "filterNodes", nodes, conditions: read.conditions }, read.values);
  }

  dedupe(): WalkQuery {
    return this.#step({ kind: "dedupe" });
  }

  except(nodes: Excluded<Row>): WalkQuery {
    if (nodes === "passed") return this.#step({ kind: "exceptPassed" });
    const refs = nodes === "start" ? [{ type: this.#state.node, id: this.#state.id }] : this.#refs(nodes);
    return this.#step({ kind: "except", slot: this.#state.values.length }, [refs]);
  }

  among(nodes: readonly Row[]): WalkQuery {
    return this.#step({ kind: "keep", slot: this.#state.values.length }, [this.#refs(nodes)]);
  }

  ids(options: WalkOptions = {}): WalkCall<Walked<Row>> {
    return this.#call({ kind: "ids" }, options, ({ ids }, end) => walked(ids.map(this.#shown), end));
  }

  nodes(options: WalkOptions = {}): WalkCall<Walked<Row>> {
    return this.#call({ kind: "nodes" }, options, ({ rows }, end) => walked(rows, end));
  }

  count(options: WalkOptions = {}): WalkCall<WalkCount> {
    return this.#call({ kind: "count" }, options, ({ total: count }, end) => ({ count, ...end }));
  }

  groupCount(options: GroupOptions = {}): WalkCall<Walked<Reached<Row>>> {
    return this.#call({ kind: "groups", near: false }, options, ({ groups }, end) => {
      const items = groups.map(({ node, ways }) => ({ id: this.#shown(node), count: ways.count }));
      return walked(
        highest(items, options.top, (one) => one.count),
        end,
      );
    });
  }

  top(most: number, options: WalkOptions = {}): WalkCall<Walked<Reached<Row>>> {
    return this.groupCount({ ...options, top: inRange("top", most, [1, MOST]) });
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
    const { by, ...rest } = checkOptions(options, rankKinds);
    const counted = this.dedupe().#hop(hop);
    if (by !== "degree" && typeof by?.sum !== "string") throw invalid('rank() goes by: "degree", or by: { sum: "…" }.');
    if (by !== "degree") return counted.#fold("sum", by.sum, { options: rest, near: this.#shown });
    return counted.#call({ kind: "groups", near: true }, rest, ({ groups }, end) => {
      const items = groups.map(({ node, ways }) => ({ id: this.#shown(node), count: ways.count, value: ways.count }));
      return walked(
        highest(items, rest.top, (one) => one.value),
        end,
      );
    });
  }

  levels(options: LevelOptions = {}): WalkCall<Walked<WalkLevel>> {
    const { sum: field } = checkOptions(options, levelKinds);
    const last = this.#state.steps.at(-1);
    if (field !== undefined && last?.kind === "hop") checkEdgeFields(this.#driver, last.edge, [field]);
    return this.#call({ kind: "levels", field }, options, ({ levels }, end) =>
      walked(
        levels.map(({ level, nodes, ways }) => ({
          level,
          nodes,
          edges: ways.count,
          ...(field === undefined ? {} : { sum: ways.value ?? 0 }),
        })),
        end,
      ),
    );
  }

  paths(options: PathOptions = {}): WalkCall<Walked<readonly Row[]>> {
    const { limit = 1000, simple = false } = checkOptions(options, pathKinds);
    const several = Object.keys(this.#driver.catalog.nodes).length > 1;
    const give = ({ paths }: WalkOutcome, end: WalkEnd): Walked<readonly Row[]> =>
      walked(
        paths.map((path) => path.map((ref) => shownId(ref, several))),
        end,
      );
    return walkCall(this.#driver, { state: this.#state, collect: { kind: "paths" }, options, paths: { limit, simple } }, give);
  }

  async explain(): Promise<WalkExplanation> {
    return this.ids().explain();
  }

  readonly #shown = (ref: NodeRef): Row => shownId(ref, this.#state.at.length > 1);

  #with(change: Partial<WalkState>): WalkQuery {
    return new WalkQuery(this.#driver, { ...this.#state, ...change });
  }

  #step(step: WalkStep, values: readonly unknown[] = []): WalkQuery {
    return this.#with({ steps: [...this.#state.steps, step], values: [...this.#state.values, ...values] });
  }

  #conditions(
    edge: string,
    filter: Row,
    before: readonly unknown[],
  ): Pick<WalkHop, "conditions"> & { readonly values: readonly unknown[] } {
    checkEdgeFilter(this.#driver, edge, filter);
    const { conditions, values } = readWhere(filter, ["from", "to"], before.length);
    return { conditions, values: [...before, ...values] };
  }

  #hop(named: AnyHop, repeat: Partial<Pick<WalkHop, "rounds" | "emit" | "counts">> = {}): WalkQuery {
    const { edge, direction } = edgeOf(named);
    const { at, steps } = this.#state;
    checkEdge(this.#driver, at, { edge, direction });
    const plain = { ...plainHop(this.#driver.catalog, { edge, direction, near: at }), ...repeat };
    const onEdges = this.#conditions(edge, named.where ?? {}, this.#state.values);
    const passing = named.whereNode ? typesWith(this.#driver, plain.far, namesIn(named.whereNode)) : plain.far;
    const onNodes = readWhere(named.whereNode ?? {}, [], onEdges.values.length);
    const hop = { ...plain, passing, conditions: onEdges.conditions, nodeConditions: onNodes.conditions };
    return this.#with({ steps: [...steps, hop], values: [...onEdges.values, ...onNodes.values], at: hop.far });
  }

  #refs(ids: readonly Row[]): readonly NodeRef[] {
    return listOf(ids).map((id) => checkEnd(this.#driver.catalog, this.#state.at, id));
  }

  #call<T>(collect: WalkCollect, options: GroupOptions, give: (outcome: WalkOutcome, end: WalkEnd) => T): WalkCall<T> {
    const ask: WalkAsk = { state: this.#state, collect, options };
    return walkCall(this.#driver, ask, give);
  }

  #fold(
    by: "sum" | "min" | "max",
    field: string,
    { options, near }: { readonly options: GroupOptions; readonly near?: (ref: NodeRef) => Row },
  ): WalkCall<Walked<Gathered<Row>>> {
    const hops = this.#state.steps.slice(this.#state.steps.findLastIndex((step) => step.kind === "dedupe") + 1);
    const edges = hops.flatMap((step) => (step.kind === "hop" ? [step.edge] : []));
    if (edges.length === 0)
      throw invalid(`${by}() gathers along the edges since the last dedupe(): call dedupe() before a hop, or leave it out.`);
    this.#checkFolded(edges, field);
    const shown = near ?? this.#shown;
    return this.#call({ kind: "fold", field, by, near: near !== undefined }, options, ({ groups }, end) => {
      const items = groups.map(({ node, ways }) => ({ id: shown(node), count: ways.count, value: ways.value }));
      return walked(
        highest(items, options.top, (one) => one.value),
        end,
      );
    });
  }

  // One edge of the walk must have the attribute; the first says what is known.
  #checkFolded(edges: readonly string[], field: string): void {
    let refused: unknown;
    for (const edge of edges) {
      try {
        return checkEdgeFields(this.#driver, edge, [field]);
      } catch (error) {
        refused ??= error;
      }
    }
    throw refused;
  }
}
