import { pathsOf } from "../ir/condition.ts";
import { BATCH_GET_KEYS, queryPrice, readUnits, sum } from "../ir/capacity.ts";
import type { LogicalPlan } from "../ir/logical-plan.ts";
import type { Alternative, HydrateStep, MarkerStep, QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { logicalPlanOf } from "../planner/plan.ts";
import { passingPart } from "../planner/assumed-searches.ts";
import { markerKey } from "../planner/writes/rules/unique-markers.ts";
import { pageOf, passesAll } from "../executor/read-rows.ts";
import { partitionsOf, shareOf } from "../requests/encode-partitions.ts";
import {
  askedKeys,
  bindQuery,
  distinctKeys,
  encodeBatchGet,
  encodeGet,
  isBetween,
  pageInput,
  projectionOf,
  type Binding,
} from "../requests/encode-read.ts";
import { filters } from "../requests/filters.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";

/** One request of an explained call. If it depends on another request, `after` names the source of its keys. */
export interface ExplainedRequest {
  readonly operation: string;
  readonly input: unknown;
  /** How many times it is expected to be sent. */
  readonly times: number;
  readonly readUnits: number;
  readonly after?: string;
  /** If a sharded index spreads the items over several partitions: their keys. The request is sent once to each. */
  readonly partitions?: readonly string[];
}

/** What a read will do. Nothing is sent; the call runs this same plan object. */
export interface ReadExplanation {
  readonly kind: "read";
  /** The logical plan, before any rule, from which `plan` was made. */
  readonly logical?: LogicalPlan;
  readonly plan: ReadPlan;
  readonly requests: readonly ExplainedRequest[];
  readonly consistency: "strong" | "eventual";
  /** Predicted from the model's `expect`, else from 10 edges at a node and 200 bytes an item. */
  readonly cost: { readonly requests: number; readonly readUnits: number };
  /** The other indexes that serve a search, the cheapest first, with their predicted prices. */
  readonly alternatives?: readonly Alternative[];
  readonly notes: readonly string[];
}

/** The parts of a call that determine a Query. */
type Asked = Pick<ExplainRequest, "binding" | "limit" | "plan" | "livingAt">;

interface Reading {
  /** The items of the first request; undefined for as many as a page holds. */
  readonly first: number | undefined;
  /** The total number of items read, and the minimum number of requests. */
  readonly items: number;
  readonly requests: number;
}

/** Predicts how much of one partition is read, for an expected number of items and a wanted number of rows, as the read loops proceed. */
const readingOf = (catalog: Catalog, step: QueryStep, { plan, limit }: Asked, share = 1): Reading => {
  const expected = step.expect.rows * share;
  if (limit === undefined) return { first: undefined, items: expected, requests: 1 };
  const conditions = [...step.filter, ...(plan.filter?.conditions ?? [])];
  const passes = passesAll(plan, step);
  const first = pageOf({ wanted: limit, found: 0, read: 0 }, passes);
  const shape = defined(catalog.shapesById[step.shapes[0] ?? ""], "shape");
  const part = conditions.reduce((product, condition) => product * passingPart(catalog, shape, condition), 1);
  let [read, requests] = [0, 0];
  do {
    read += pageOf({ wanted: limit, found: Math.floor(read * part), read }, passes) ?? expected;
    requests++;
  } while (read < expected && read * part < limit);
  return { first, items: Math.min(read, expected), requests };
};

/** The number of partitions that a merged read queries in parallel, each for its share of the rows. */
export const lanesOf = (catalog: Catalog, { plan, binding }: Pick<Asked, "plan" | "binding">): number =>
  plan.sources.reduce((sum, step) => sum + (step.kind === "query" && step.scatter ? partitionsOf(catalog, step, binding).length : 1), 0);

const explainScatter = (catalog: Catalog, step: QueryStep, asked: Asked): ExplainedRequest | undefined => {
  const { binding, limit, livingAt } = asked;
  const partitions = partitionsOf(catalog, step, binding).map(({ text }) => text);
  const count = partitions.length;
  const share = limit === undefined ? undefined : shareOf(limit, asked.plan.merged ? lanesOf(catalog, asked) : count);
  const { first, items, requests } = readingOf(catalog, step, { ...asked, limit: share }, 1 / count);
  const price = queryPrice(items * count * step.expect.bytes, count, step);
  const query = bindQuery(catalog, step, { binding, livingAt, partition: partitions[0], filters });
  const input = pageInput(query, { limit: first, start: undefined, backward: false });
  if (!input) return undefined;
  return {
    operation: "Query",
    input,
    times: Math.max(price.requests, count * requests),
    readUnits: price.readUnits,
    partitions,
  };
};

/** The Queries of a step; undefined if its bounds contradict each other, because then it sends no request. */
const explainQuery = (catalog: Catalog, step: QueryStep, asked: Asked): ExplainedRequest | undefined => {
  if (step.scatter || asked.plan.merged) return explainScatter(catalog, step, asked);
  const { first, items, requests } = readingOf(catalog, step, asked);
  const price = queryPrice(items * step.expect.bytes, 1, step);
  const input = pageInput(bindQuery(catalog, step, { ...asked, filters }), { limit: first, start: undefined, backward: false });
  if (!input) return undefined;
  return {
    operation: "Query",
    input,
    times: Math.max(price.requests, requests),
    readUnits: price.readUnits,
  };
};

const explainHydrate = (catalog: Catalog, step: HydrateStep, rows: number): readonly ExplainedRequest[] => {
  if (step.by === "none" || rows === 0) return [];
  const bytes = Math.max(...step.nodes.map((name) => catalog.ends[name]?.shape.bytes ?? 0));
  const units = rows * readUnits(bytes, step);
  const after = `the ${[...new Set(step.ends)].map((end) => `"${end}"`).join(" or ")} of each edge`;
  if (step.by === "query")
    return [
      {
        operation: "Query",
        input: `one for each ${step.nodes.join(" or ")}: its key holds more than its id`,
        times: rows,
        readUnits: units,
        after,
      },
    ];
  return [
    {
      operation: "BatchGetItem",
      input: `keys of ${step.nodes.join(" or ")}, ${BATCH_GET_KEYS} a request`,
      times: Math.ceil(rows / BATCH_GET_KEYS),
      readUnits: units,
      after,
    },
  ];
};

const notesOf = (catalog: Catalog, { plan, limit, binding }: ExplainRequest): readonly string[] => {
  const notes: string[] = [];
  if (limit !== undefined && plan.sources.some((source) => source.kind === "query" && !passesAll(plan, source)))
    notes.push(
      `reads ${pageOf({ wanted: limit, found: 0, read: 0 }, false)} items first, then more by the share that matched, up to 1 MB a request, until ${limit} rows are found; at most four times the items that it needs`,
    );
  for (const source of plan.sources) {
    if (source.kind !== "query") continue;
    if (source.filter.length > 0)
      notes.push(`filters ${[...new Set(pathsOf(source.filter))].join(", ")} after reading: items that do not match cost read units too`);
    if (source.scatter && partitionsOf(catalog, source, binding).length > 1)
      notes.push(
        `reads ${source.scatter.only ? `the shards ${source.scatter.only.join(", ")}` : "each shard"} of ${source.index ?? "the table"} and merges them: one Query for each, even if a shard is empty`,
      );
    if (source.discards) notes.push("also reads items of other kinds in the same key range, and leaves them out");
  }
  if (plan.filter) notes.push(`checks ${[...new Set(pathsOf(plan.filter.conditions))].join(", ")} in memory`);
  // Two sources may have the same note.
  return [...new Set(notes)];
};

const CONTRADICTION = "the conditions contradict each other: nothing is sent, and no rows are found";

export interface ExplainRequest {
  readonly plan: ReadPlan;
  readonly binding: Binding;
  readonly rows?: readonly Row[];
  readonly limit?: number | undefined;
  readonly empty?: boolean;
  readonly livingAt: number | undefined;
}

/** Explains a read by a unique value: of the marker, then of the node that it names. */
const explainMarker = (catalog: Catalog, marker: MarkerStep, { plan, binding }: ExplainRequest): readonly ExplainedRequest[] => {
  const { node, attribute: field } = marker;
  const key = defined(markerKey(catalog, { node, field }, { [field]: binding.values[0] }), "the key of a marker");
  const { bytes } = defined(catalog.ends[node], node).shape;
  const [source] = plan.sources;
  return [
    { operation: "GetItem", input: encodeGet(catalog, key, marker), times: 1, readUnits: readUnits(0, marker) },
    {
      operation: source?.kind === "query" ? "Query" : "GetItem",
      input: `the key of the ${node} that the marker names`,
      times: 1,
      readUnits: readUnits(bytes, marker),
      after: `the owner of "${field}" in its marker`,
    },
  ];
};

const explainSteps = (catalog: Catalog, request: ExplainRequest): readonly ExplainedRequest[] =>
  request.plan.sources.flatMap((source) => {
    if (source.kind === "query" && source.identity && request.rows) {
      const rows = request.rows.filter((row) => isBetween(defined(catalog.shapesById[source.shapes[0] ?? ""], "shape"), row));
      return rows.flatMap((row) => explainQuery(catalog, source, { ...request, binding: { row, values: [] } }) ?? []);
    }
    if (source.kind === "query") return explainQuery(catalog, source, request) ?? [];
    const shape = defined(catalog.shapesById[source.shapes[0] ?? ""], "shape");
    const keys = distinctKeys(askedKeys(catalog, source, request.rows ?? [request.binding.row]));
    const units = readUnits(shape.bytes, source) * keys.length;
    const [only] = keys;
    const projection = projectionOf(catalog, source);
    if (!source.many && only && keys.length === 1)
      return { operation: "GetItem", input: encodeGet(catalog, only, source, projection), times: 1, readUnits: units };
    return {
      operation: "BatchGetItem",
      input: encodeBatchGet(catalog.table, keys.slice(0, BATCH_GET_KEYS), source.consistent, projection),
      times: Math.ceil(keys.length / BATCH_GET_KEYS),
      readUnits: units,
    };
  });

/** Explains a read from its plan and its values. Pure. */
export const explainRead = (catalog: Catalog, request: ExplainRequest): ReadExplanation => {
  const { plan, limit } = request;
  const { marker } = plan;
  let sources: readonly ExplainedRequest[] = [];
  if (!request.empty) sources = marker ? explainMarker(catalog, marker, request) : explainSteps(catalog, request);
  const rows = sum(plan.sources.map((step) => (step.kind === "query" ? step.expect.rows : 1)));
  const hydrated =
    plan.hydrate && sources.length > 0 ? explainHydrate(catalog, plan.hydrate, Math.min(limit ?? Number.POSITIVE_INFINITY, rows)) : [];
  const requests = [...sources, ...hydrated];
  const cost = { requests: sum(requests.map(({ times }) => times)), readUnits: sum(requests.map((one) => one.readUnits)) };
  const [source] = plan.sources;
  const alternatives = plan.sources.length === 1 && source?.kind === "query" ? source.alternatives : undefined;
  const explained = {
    plan,
    requests,
    consistency: plan.consistency,
    cost,
    notes: sources.length > 0 ? notesOf(catalog, request) : [CONTRADICTION],
  };
  const logical = logicalPlanOf(plan);
  return { kind: "read", ...(logical ? { logical } : {}), ...explained, ...(alternatives ? { alternatives } : {}) };
};
