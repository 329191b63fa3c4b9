import { EdgetableError } from "../errors/edgetable-error.ts";
import { createCall, Meter, reportOf } from "../executor/call.ts";
import { missingOf } from "../executor/run-read.ts";
import type { Found } from "../executor/read-rows.ts";
import type { CallContext } from "../executor/session.ts";
import { runWalk } from "../executor/walk/run-walk.ts";
import { nodeNames, type NodeRef } from "../executor/walk/walk-state.ts";
import { BATCH_GET_KEYS, queryPrice, readUnits } from "../ir/capacity.ts";
import type { HydrateStep, QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import type { WalkHop } from "../ir/walk-plan.ts";
import { exactText, leadOf } from "../keys/template.ts";
import { isKeyDetermined } from "../planner/access-path.ts";
import { partitionsOn } from "../planner/assumed-rows.ts";
import { readHop } from "../planner/walk/read-hop.ts";
import { type WalkState, walkForm } from "../query/walk.ts";
import { conditionsForKeys } from "../query/widen-conditions.ts";
import { shareOf } from "../requests/encode-partitions.ts";
import type { Secrets } from "../requests/cursor.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import type { Driver } from "./driver.ts";
import type { ExplainedRequest } from "./explanation.ts";
import { explainAsk, planOf, requestOf, searchOf } from "./make-walk.ts";
import { findNode, parserOf } from "./read-call.ts";
import type { FeedCall, FeedExplanation, FeedOptions, FeedPage } from "./walk-types.ts";

/** The edges that a feed merges, and the walk to their nodes. */
export interface FeedAsk {
  readonly state: WalkState;
  readonly hop: WalkHop;
  /** The values of the walk and of the hop. */
  readonly values: readonly unknown[];
  readonly options: FeedOptions;
}

const PAGE_ROWS = 20;
/** Default number of nodes whose edges a feed merges. */
const MOST_NODES = 100;
const ids = { kind: "ids" } as const;

/** The hop with conditions that find its edges by their keys, and the values of these conditions. */
const widened = ({ catalog }: Driver, { hop, values }: FeedAsk): Pick<FeedAsk, "hop" | "values"> => {
  const kinds = hop.edges.map((name) => ({ of: "edge", name }) as const);
  const wider = conditionsForKeys(catalog, kinds, { conditions: hop.conditions, values });
  return { hop: { ...hop, conditions: wider.conditions }, values: wider.values };
};

/** Plans the read of one node's edges for each node type, from indexes that sort all of them in one order. */
const readingOf = ({ catalog, rulesOff }: Driver, hop: WalkHop): ReadonlyMap<string, ReadPlan> => {
  const plans = new Map<string, ReadPlan>();
  for (const node of hop.near) {
    const plan = readHop({ catalog, off: rulesOff }, hop, { node, gathers: undefined });
    if (plan) plans.set(node, plan);
  }
  const [edge = ""] = hop.edges;
  const steps = [...plans.values()].flatMap(({ sources }) => sources.filter((source) => source.kind === "query"));
  const orders = new Set(steps.map(({ index, sortKey, sort }) => JSON.stringify([index, sortKey, leadOf(sort?.template)])));
  if (orders.size > 1)
    throw new EdgetableError(
      "plan.unsupported",
      `The edges "${edge}" of ${hop.near.join(" and ")} have no common order: make a feed of each.`,
      {
        details: { edge },
      },
    );
  return plans;
};

const hydrateOf = (catalog: Catalog, { far }: WalkHop, ends: HydrateStep["ends"]): HydrateStep => {
  const isAddressable = far.every((name) => {
    const { shape, idFields } = defined(catalog.ends[name], name);
    return isKeyDetermined(catalog, shape, new Set(idFields));
  });
  return { kind: "hydrate", ends, nodes: far, by: isAddressable ? "batchGet" : "query", consistent: false };
};

const needsNodes = ({ of = "entries" }: FeedOptions): boolean => of === "entries" || of === "nodes";

/**
 * The nodes whose edges the feed merges. Their order decides the order of edges with equal sort keys, so it must not depend on the
 * walk.
 */
const nodesOf = async (
  driver: Driver,
  { state, options }: FeedAsk,
  context: CallContext,
): Promise<{ readonly nodes: readonly NodeRef[]; readonly left: number }> => {
  const {
    budget: { requests = 1000, units: most = Number.POSITIVE_INFINITY } = {},
    nodes: wanted = MOST_NODES,
    beyond = "refuse",
  } = options;
  const search = await searchOf(driver, state, context);
  const plan = planOf(driver, { state, collect: ids, search: search?.plan });
  const unbounded = Number.POSITIVE_INFINITY;
  const budget = { requests, readUnits: most, breadth: 10_000, depth: unbounded, time: unbounded, memory: 250_000_000 };
  const request = requestOf(driver, { state, plan, budget, options: {}, search });
  const found = await runWalk(driver.session, request, { context, state: undefined, paths: { limit: 0, simple: false } });
  const { by } = found.stopped ?? {};
  const tooMany = found.ids.length > wanted || by === "breadth" || by === "memory";
  if (tooMany && beyond === "refuse") {
    throw new EdgetableError(
      "traverse.supernode",
      `The feed would merge the edges of more than ${wanted} nodes. Raise nodes (each takes a Query a page), narrow the walk, or set beyond to "sample".`,
      { details: { nodes: wanted } },
    );
  }
  if (by && !tooMany) {
    throw new EdgetableError(
      by === "time" ? "execute.timeout" : "plan.invalidOption",
      `The feed's budget of ${by} ended before the walk had found the nodes. Give it more ${by}.`,
      { details: { budget: by } },
    );
  }
  const names = nodeNames(driver.catalog);
  const named = found.ids.slice(0, wanted).map((node) => [names.pack(node.type, node.id), node] as const);
  const nodes = named.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, node]) => node);
  return { nodes, left: found.ids.length - nodes.length };
};

const readFeed = async (
  driver: Driver,
  ask: FeedAsk,
  context: CallContext,
): Promise<FeedPage<unknown> & { readonly missing: readonly unknown[] }> => {
  const { state, options } = ask;
  const { hop, values } = widened(driver, ask);
  const { limit = PAGE_ROWS, cursor, budget } = options;
  const readings = readingOf(driver, hop);
  const { nodes, left } = await nodesOf(driver, ask, context);
  const of = options.of ?? "entries";
  const lanes = nodes.flatMap(({ type, id }) => {
    const reading = readings.get(type);
    return (reading?.sources ?? []).map((source) => ({ source, binding: { row: { from: id, to: id }, values } }));
  });
  const end = { nodes: nodes.length, left };
  if (lanes.length === 0) return { items: [], next: undefined, previous: undefined, stopped: undefined, ...end, missing: [] };
  const sources = lanes.map(({ source }) => source);
  const reading = defined([...readings.values()][0], "reading");
  const near = reading.near[0] ?? "from";
  const far = near === "from" ? "to" : "from";
  const plan: ReadPlan = {
    ...reading,
    sources,
    merged: true,
    near: sources.map(() => near),
    hydrate: needsNodes(options)
      ? hydrateOf(
          driver.catalog,
          hop,
          sources.map(() => far),
        )
      : undefined,
  };
  const { readPage } = await import("../executor/read-page.ts");
  const { requests = 1000, units: readUnitsLeft } = budget ?? {};
  const { cost } = context.meter;
  const request = {
    plan,
    binding: { row: {}, values },
    bindings: lanes.map(({ binding }) => binding),
    limit,
    budget: {
      requests: requests - cost.requests - driver.secretRequests(),
      readUnits: readUnitsLeft === undefined ? undefined : readUnitsLeft - cost.readUnits,
    },
    findNode: findNode(driver),
    parse: await parserOf(driver, context),
  };
  const form = `${walkForm(state, ids)}|${JSON.stringify(ask.hop)}`;
  const query = `feed|${driver.catalog.table}|${form}|${exactText([state.id, state.search?.values ?? [], ask.values])}`;
  const secret = (makes: boolean): Promise<Secrets | undefined> => driver.cursorSecret(context, makes);
  const page = await readPage(driver.session, { request, query, cursor, secret }, context);
  const nodeOf = ({ node, shape }: Found): Row | undefined => (node && hop.far.length > 1 ? { kind: shape[far], row: node } : node);
  const itemOf = (found: Found): unknown => {
    if (of === "edges") return found.row;
    if (of === "ids") return found.row[far];
    return of === "nodes" ? nodeOf(found) : { edge: found.row, node: nodeOf(found) };
  };
  const items = page.found.map(itemOf).filter((item) => item !== undefined);
  return { items, next: page.next, previous: page.previous, stopped: page.stopped, ...end, missing: missingOf(plan, page.found) };
};

/** Explains a page: the walk, a Query for each node and shard, and the nodes at the far ends. */
const explainFeed = async (driver: Driver, ask: FeedAsk): Promise<FeedExplanation> => {
  const { state, options } = ask;
  const { hop } = widened(driver, ask);
  const { catalog } = driver;
  const { limit = PAGE_ROWS, nodes: most = MOST_NODES } = options;
  const walk = await explainAsk(driver, { state, collect: ids, options: {} });
  const nodes = Math.min(most, Math.ceil(walk.plan.expect.to));
  const readings = readingOf(driver, hop);
  const steps = [...readings.values()].flatMap(({ sources }) => sources as readonly QueryStep[]);
  const requests: ExplainedRequest[] = [...walk.requests];
  for (const step of steps) {
    const partitions = partitionsOn({ partition: step.partition, scatters: step.scatter?.unknown });
    const lanes = (nodes * partitions) / steps.length;
    const share = shareOf(limit, Math.max(1, Math.ceil(lanes)));
    const price = queryPrice(Math.min(share, step.expect.rows) * step.expect.bytes, 1, step);
    const input = `the newest ${share} of each node's edges "${hop.edges.join()}", by ${step.index ?? "the table"}: ${step.partition.source}`;
    requests.push({ operation: "Query", input, times: Math.ceil(lanes), readUnits: lanes * price.readUnits, after: "the walk" });
  }
  if (needsNodes(options)) {
    const bytes = Math.max(0, ...hop.far.map((type) => catalog.ends[type]?.shape.bytes ?? 0));
    const input = `keys of the nodes of a page, ${BATCH_GET_KEYS} a request`;
    const times = Math.ceil(limit / BATCH_GET_KEYS);
    requests.push({ operation: "BatchGetItem", input, times, readUnits: limit * readUnits(bytes), after: "the merge" });
  }
  const cost = { requests: 0, readUnits: 0 };
  for (const one of requests) {
    cost.requests += one.times;
    cost.readUnits += one.readUnits;
  }
  const notes = [`merges the edges of ${nodes} nodes, of ${most} at most; each page walks to them again`, ...walk.notes];
  return { kind: "feed", walk, requests, consistency: "eventual", cost, assumptions: walk.assumptions, notes };
};

/** A call that reads a page of a feed. */
export const feedCall = (driver: Driver, ask: FeedAsk): FeedCall<unknown> =>
  createCall(
    () => explainFeed(driver, ask),
    async (run) => {
      const context: CallContext = { ...driver.context(run), meter: new Meter(1000) };
      const { missing, ...page } = await readFeed(driver, ask, context);
      return reportOf(page, context.meter, missing as readonly Row[]);
    },
  );
