import { EdgetableError } from "../../errors/edgetable-error.ts";
import { holds } from "../../ir/holds.ts";
import type { QueryStep, ReadPlan } from "../../ir/physical-plan.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import type { Partition } from "../../keys/partitions.ts";
import { comparePrimary } from "../../keys/template.ts";
import { refers, shapeOf } from "../../requests/decode-item.ts";
import { hopQuery, type HopQuery, partitionsOf, shareOf, shortName } from "../../requests/encode-partitions.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Item, Key, QueryOutput } from "../../transport/operations.ts";
import type { TextColumn } from "../../transport/transport.ts";
import { defined } from "../../util/invariant.ts";
import { jsonText } from "../../util/json-text.ts";
import type { Row } from "../../util/row.ts";
import { amountIn, type Amount } from "../amount.ts";
import { FIRST_ITEMS, pageOf, sortTextOf, foreignField, identity, readRow } from "../read-rows.ts";
import type { CallContext, Session } from "../session.ts";
import { endColumn, endReader } from "./edge-ends.ts";
import { isBudgetEnd, type Supernode, type WalkRequest, type WalkRun } from "./walk-run.ts";
import { memberOf, nodeNames, type Expansion, type FirstEdge, type FirstEdges, type NodeKey } from "./walk-state.ts";

/** Where a node's edges lead, and the values that the hop gathers, if it gathers any. */
interface Ends {
  readonly keys: NodeKey[];
  readonly values: (Amount | undefined)[] | undefined;
}

/** What reading a node's edges gave, and what is left of it. */
export interface Expanded extends Ends {
  readonly node: Expansion;
  /** Items that DynamoDB read for it, and the requests that this took. */
  readonly read: number;
  readonly requests: number;
  readonly rest: Expansion | undefined;
  /** Why there is a rest. */
  readonly why: "stopped" | "breadth" | undefined;
}

/** How many edges of a node are read, and what happens to the rest. */
export interface Breadth {
  readonly breadth: number;
  readonly supernode: Supernode;
}

/** One of a hop's Queries, and how its items are read. */
interface Source {
  readonly step: QueryStep;
  readonly query: HopQuery;
  /** The only attribute of its items that is needed. */
  readonly column: TextColumn | undefined;
  readonly take: (run: WalkRun, output: QueryOutput, ends: Ends) => void;
}

/** A source, or one of its partitions; with `merges`, all its partitions in one order. */
interface Part {
  readonly source: Source;
  /** The source's place in the plan. */
  readonly at: number;
  readonly partition: string | undefined;
  readonly merges: boolean;
}

/** How far a node's edges were read. */
interface Reading {
  readonly node: Expansion;
  readonly id: Row;
  readonly parts: readonly Part[];
  readonly ends: Ends;
  /** The part that is being read, and the key after which it continues. */
  part: number;
  start: Key | undefined;
  first: FirstEdges | undefined;
  /** Items that DynamoDB read for this node, and the requests that this took. */
  read: number;
  requests: number;
  readonly within: Breadth;
}

const sourceOf = (
  catalog: Catalog,
  hop: PlannedHop,
  at: { readonly plan: ReadPlan; readonly step: QueryStep; readonly near: "from" | "to"; readonly values: readonly unknown[] },
): Source => {
  const { plan, step, near, values } = at;
  const names = nodeNames(catalog);
  const end = near === "from" ? "to" : "from";
  const query = hopQuery(catalog, step, { near, values });
  if (step.attributes) {
    const read = endReader(catalog, { step, end });
    const ending = endColumn(catalog, { step, end });
    const take: Source["take"] = ({ session: { tenant }, context }, { Texts, Items = [] }, { keys }) => {
      if (Texts && ending) {
        for (const text of Texts) {
          const key = ending.read(text);
          if (key !== undefined) keys.push(key);
        }
        return;
      }
      for (const item of Items) {
        const key = read(item);
        if (key === undefined) continue;
        if (tenant && foreignField(tenant, names.unpack(key).id) !== undefined) context.meter.strays++;
        else keys.push(key);
      }
    };
    return { step, query, column: ending?.column, take };
  }
  const shapes = step.shapes.map((id) => defined(catalog.shapesById[id], id));
  const conditions = plan.filter?.conditions ?? [];
  const take: Source["take"] = (run, { Items = [] }, ends) => {
    for (const item of Items) {
      const shape = shapeOf(catalog, shapes, item);
      const row = shape && readRow(run, [shape, item]);
      if (!row || !refers(shape, row) || conditions.some((condition) => !holds(condition, row, values))) continue;
      ends.keys.push(names.pack(defined(shape[end], "end"), row[end] as Row));
      if (hop.gathers !== undefined) ends.values?.push(amountIn(row, hop.gathers));
    }
  };
  return { step, query, column: undefined, take };
};

/** The parts of a node of each type. */
type PartsByType = ReadonlyMap<string, (id: Row) => readonly Part[]>;

const partsOfHops = new WeakMap<PlannedHop, PartsByType>();

/** What a hop reads of a node. It is the same for all walks of a plan, unless it depends on a walk's values. */
const hopParts = (catalog: Catalog, hop: PlannedHop, values: readonly unknown[]): PartsByType => {
  const known = partsOfHops.get(hop);
  if (known) return known;
  const parts = new Map<string, (id: Row) => readonly Part[]>();
  for (const [type, plan] of Object.entries(hop.reading)) {
    // With a limit, the first edges are those of all partitions.
    const merges = hop.limit !== undefined;
    const whole: Part[] = [];
    for (const [at, step] of plan.sources.entries()) {
      if (step.kind !== "query") continue;
      const source = sourceOf(catalog, hop, { plan, step, near: plan.near[at] ?? "from", values });
      whole.push({ source, at: whole.length, partition: undefined, merges: merges && source.query.partitions !== undefined });
    }
    const isSpread = !merges && whole.some(({ source }) => source.query.partitions);
    parts.set(type, (id) => {
      if (!isSpread) return whole;
      return whole.flatMap((part): readonly Part[] => {
        const partitions = part.source.query.partitions?.(id);
        return partitions?.map((partition) => ({ ...part, partition })) ?? [part];
      });
    });
  }
  if (hop.conditions.length === 0 && !hop.anchor) partsOfHops.set(hop, parts);
  return parts;
};

/**
 * Makes the keys of a walk's start before the first request, so that a wrong id is an error of the walk and not of a hop.
 *
 * @throws {traverse.start}
 */
export const checkStart = ({ catalog }: Session, { plan, start: { type, id }, values }: WalkRequest): void => {
  const [hop] = plan.steps;
  try {
    nodeNames(catalog).pack(type, id);
    if (hop?.kind !== "hop") return;
    for (const { source, partition = source.query.partitions?.(id)[0] } of hopParts(catalog, hop, values).get(type)?.(id) ?? [])
      source.query.encode(id, { partition, limit: undefined, start: undefined, livingAt: undefined });
  } catch (cause) {
    throw new EdgetableError("traverse.start", `A walk cannot start at ${type} ${jsonText(id)}: ${(cause as Error).message}`, {
      details: { node: { type, id } },
      cause,
    });
  }
};

// One edge more than the breadth tells a supernode from a node that just fits. With "page" the rest stays where it is.
const breadthLeft = ({ within: { breadth, supernode }, read }: Reading): number => breadth - read + (supernode === "page" ? 0 : 1);

const isFull = ({ limit }: PlannedHop, { node, ends }: Reading): boolean => limit !== undefined && node.taken + ends.keys.length >= limit;

const takeFirst = (reading: Reading): void => {
  for (const { end, value } of reading.first?.edges ?? []) {
    reading.ends.keys.push(end);
    reading.ends.values?.push(value);
  }
  reading.first = undefined;
};

const compareEdges = (step: QueryStep, a: Pick<FirstEdge, "sort" | "order">, b: Pick<FirstEdge, "sort" | "order">): number => {
  const order = comparePrimary(a.sort, b.sort) || a.order - b.order;
  return step.forward ? order : -order;
};

/** A partition that may hold an edge before the last of those that are known. */
interface Lane {
  readonly order: number;
  readonly partition: Partition;
}

const openLanes = (
  first: FirstEdges,
  step: QueryStep,
  at: { readonly partitions: readonly Partition[]; readonly wanted: number },
): readonly Lane[] => {
  const last = first.edges[at.wanted - 1];
  const open = at.partitions
    .map((partition, order) => ({ partition, order }))
    .filter(({ order }) => {
      const start = first.lanes[order]?.start;
      if (start === null || start === undefined || !last) return start !== null;
      return compareEdges(step, { sort: sortTextOf(step, start), order }, last) < 0;
    });
  // While shards grow, edges move to partitions of later turns: reading those afterwards meets every edge.
  const turn = Math.min(...open.map(({ partition }) => partition.turn));
  return open.filter(({ partition }) => partition.turn === turn);
};

const readLane = async (
  run: WalkRun,
  { reading, source, first }: { readonly reading: Reading; readonly source: Source; readonly first: FirstEdges },
  { order, partition, limit }: Lane & { readonly limit: number },
): Promise<readonly FirstEdge[]> => {
  const lane = first.lanes[order];
  const page = { partition: partition.text, limit, start: lane?.start ?? undefined, livingAt: run.context.livingAt };
  const input = source.query.encode(reading.id, page);
  const output = input && (await run.session.send("Query", input, run.context));
  run.width.answered();
  reading.requests++;
  reading.read += output?.ScannedCount ?? output?.Items?.length ?? 0;
  first.lanes[order] = { start: output?.LastEvaluatedKey ?? null, rounds: (lane?.rounds ?? 0) + 1 };
  const edges: FirstEdge[] = [];
  for (const item of output?.Items ?? ([] as readonly Item[])) {
    const ends: Ends = { keys: [], values: reading.ends.values && [] };
    source.take(run, { Items: [item] }, ends);
    const [end] = ends.keys;
    if (end === undefined) continue;
    const name = shortName(identity(run.session.catalog, item));
    edges.push({ sort: sortTextOf(source.step, item), order, name, end, value: ends.values?.[0] });
  }
  return edges;
};

/**
 * Reads on in the partitions that a hop's limit spans: one round of concurrent Queries. When no partition can hold an
 * earlier edge, the first edges are taken.
 *
 * @throws what its requests throw, after the answers of the others were kept
 */
const readFirst = async (
  run: WalkRun,
  hop: PlannedHop,
  { reading, source }: { readonly reading: Reading; readonly source: Source },
): Promise<void> => {
  const { id, node, ends } = reading;
  const { step } = source;
  const partitions = partitionsOf(run.session.catalog, step, { row: { from: id, to: id }, values: run.request.values });
  const wanted = (hop.limit ?? 0) - node.taken - ends.keys.length;
  const first = (reading.first ??= { lanes: [], edges: [] });
  const open = openLanes(first, step, { partitions, wanted });
  const evenShare = shareOf(wanted, open.length);
  const share = hop.conditions.length > 0 ? Math.max(FIRST_ITEMS, evenShare) : evenShare;
  let left = breadthLeft(reading);
  const round: (Lane & { readonly limit: number })[] = [];
  for (const lane of open.slice(0, run.width.now())) {
    if (left <= 0) break;
    // A partition that has to be read again holds more than its share.
    const limit = Math.min(left, share * 2 ** Math.min(first.lanes[lane.order]?.rounds ?? 0, 10));
    left -= limit;
    round.push({ ...lane, limit });
  }
  const answers = await Promise.allSettled(round.map(async (lane) => readLane(run, { reading, source, first }, lane)));
  const known = new Set(first.edges.map(({ name }) => name));
  for (const answer of answers) if (answer.status === "fulfilled") first.edges.push(...answer.value.filter(({ name }) => !known.has(name)));
  first.edges = first.edges.toSorted((a, b) => compareEdges(step, a, b)).slice(0, wanted);
  const failed = answers.find((answer) => answer.status === "rejected");
  if (failed) throw failed.reason;
  if (openLanes(first, step, { partitions, wanted }).length > 0) return;
  takeFirst(reading);
  reading.part++;
};

const supernodeError = (run: WalkRun, { edges }: PlannedHop, key: NodeKey): EdgetableError => {
  const { breadth } = run.request.budget;
  const node = run.names.unpack(key);
  return new EdgetableError(
    "traverse.supernode",
    `${node.type} ${jsonText(node.id)} has more than ${breadth} edges "${edges.join('" and "')}". Raise the budget's breadth, or set supernode to "page" or "sample".`,
    { details: { node, edge: edges.length === 1 ? edges[0] : edges, breadth } },
  );
};

// One async function: a walk of thousands of requests pays for every other one.
const readNode = async (
  run: WalkRun,
  hop: PlannedHop,
  at: { readonly reading: Reading; readonly contextOf: (source: Source) => CallContext },
): Promise<Expanded["why"]> => {
  const { reading } = at;
  const { breadth, supernode } = reading.within;
  while (reading.part < reading.parts.length && !isFull(hop, reading)) {
    const { source, partition, merges } = defined(reading.parts[reading.part], "part");
    try {
      if (merges) await readFirst(run, hop, { reading, source });
      else {
        const { read, start } = reading;
        let limit = breadthLeft(reading);
        if (hop.limit !== undefined && hop.conditions.length === 0) limit = Math.min(limit, hop.limit);
        else if (hop.limit !== undefined)
          limit = Math.min(limit, pageOf({ wanted: hop.limit, found: reading.ends.keys.length, read }, false) ?? limit);
        const input = source.query.encode(reading.id, { partition, limit, start, livingAt: run.context.livingAt });
        const output = input ? await run.session.send("Query", input, at.contextOf(source)) : {};
        run.width.answered();
        reading.requests++;
        source.take(run, output, reading.ends);
        reading.read += output.ScannedCount ?? output.Count ?? 0;
        reading.start = output.LastEvaluatedKey;
        if (reading.start === undefined) reading.part++;
      }
    } catch (error) {
      if (isBudgetEnd(run, error)) return "stopped";
      throw error;
    }
    if (isFull(hop, reading)) return undefined;
    const isOver = supernode === "page" ? reading.read >= breadth && reading.part < reading.parts.length : reading.read > breadth;
    if (isOver && supernode !== "refuse") return "breadth";
    if (!isOver) continue;
    throw supernodeError(run, hop, reading.node.key);
  }
  return undefined;
};

/**
 * The Queries of several edge types at one node run side by side and share its breadth: what one reads beyond it is left,
 * as if they had run one after the other.
 *
 * @throws {traverse.supernode}
 */
export const sharedBreadth = (run: WalkRun, hop: PlannedHop): ((expanded: Expanded) => Expanded) => {
  const { budget, supernode } = run.request;
  const before = new Map<NodeKey, { readonly read: number; readonly taken: number }>();
  return (expanded) => {
    const { node, keys, values } = expanded;
    if (!node.only) return expanded;
    const { read, taken } = before.get(node.key) ?? { read: 0, taken: 0 };
    before.set(node.key, { read: read + expanded.read, taken: taken + keys.length });
    if (read === 0 || read + expanded.read <= budget.breadth) return expanded;
    if (supernode === "refuse") throw supernodeError(run, hop, node.key);
    const most = supernode === "page" ? 0 : Math.max(0, budget.breadth - taken);
    return { ...expanded, keys: keys.slice(0, most), values: values?.slice(0, most), rest: node, why: "breadth" };
  };
};

// Partitions that were added since stand after those that were read.
const partOf = (parts: readonly Part[], { source, partition }: Expansion): number => {
  const at = parts.findIndex((part) => part.at === source && (partition === undefined || part.partition === partition));
  if (at !== -1 || parts.length === 0) return Math.max(0, at);
  throw new EdgetableError(
    "cursor.outgrown",
    `The cursor points to partition "${partition}", which the model no longer has. Start again without the cursor.`,
    { details: { partition } },
  );
};

/** The least number of Queries that read the edges of a node. */
export const queriesAt = ({ session, names, request }: WalkRun, hop: PlannedHop, key: NodeKey): number => {
  const { type, id } = names.unpack(key);
  return hopParts(session.catalog, hop, request.values).get(type)?.(id).length ?? 0;
};

/** A reader of the edges of one hop, for one node after another, within the budget's breadth or another one. */
export const edgeReader = (run: WalkRun, hop: PlannedHop): ((node: Expansion, within?: Breadth) => Promise<Expanded>) => {
  const byType = hopParts(run.session.catalog, hop, run.request.values);
  const contexts = new Map<TextColumn, CallContext>();
  const contextOf = ({ column }: Source): CallContext =>
    column ? memberOf(contexts, column, () => ({ column, ...run.context })) : run.context;
  const { budget, supernode: beyond } = run.request;
  const whole: Breadth = { breadth: budget.breadth, supernode: beyond };
  return async (node, within = whole) => {
    const { type, id } = run.names.unpack(node.key);
    const all = byType.get(type)?.(id) ?? [];
    const parts = node.only ? all.filter(({ at }) => at === node.source) : all;
    const ends: Ends = { keys: [], values: hop.gathers === undefined ? undefined : [] };
    const reading: Reading = {
      node,
      id,
      parts,
      ends,
      part: partOf(parts, node),
      start: node.start,
      first: node.first,
      read: 0,
      requests: 0,
      within,
    };
    const why = await readNode(run, hop, { reading, contextOf });
    const isSample = why === "breadth" && within.supernode === "sample";
    if (isSample) takeFirst(reading);
    const { keys, values } = ends;
    if (hop.limit !== undefined) {
      keys.length = Math.min(keys.length, hop.limit - node.taken);
      if (values) values.length = keys.length;
    }
    if (isSample) keys.length = Math.min(keys.length, within.breadth);
    const { start, first } = reading;
    const part = parts[reading.part];
    const taken = node.taken + keys.length;
    const rest = why && { ...node, source: part?.at ?? 0, partition: part?.partition, start, taken, first };
    return { node, read: reading.read, requests: reading.requests, keys, values, rest, why };
  };
};
