import { BATCH_GET_KEYS, readUnits } from "../ir/capacity.ts";
import type { HydrateStep, QueryStep, ReadPlan } from "../ir/physical-plan.ts";
import { askedKeys, distinctKeys, encodeBatchGet, encodeGet } from "../requests/encode-get.ts";
import { encodeQuery, type Binding } from "../requests/encode-read.ts";
import { inPartition, partitionsOf, shareOf } from "../requests/partitions.ts";
import type { Catalog } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";

/** One request of an explained call; `after` says what a dependent request takes its keys from. */
export interface ExplainedRequest {
  readonly operation: string;
  readonly input: unknown;
  /** How often it is predicted to be sent. */
  readonly times: number;
  readonly readUnits: number;
  readonly after?: string;
  /** The partition keys to which it is sent, once each, where a sharded index spreads the items over several. */
  readonly partitions?: readonly string[];
}

/** What a read will do, without doing it. The same plan object is what runs. */
export interface ReadExplanation {
  readonly kind: "read";
  readonly plan: ReadPlan;
  readonly requests: readonly ExplainedRequest[];
  readonly consistency: "strong" | "eventual";
  /** Predicted from the model's `expect`, else from 10 edges at a node and 200 bytes an item. */
  readonly cost: { readonly requests: number; readonly readUnits: number };
  readonly notes: readonly string[];
}

/** What of a call a Query follows from. */
type Asked = Pick<ExplainRequest, "binding" | "limit">;

const expectedOf = (step: QueryStep, limit: number | undefined): number =>
  Math.min(limit ?? Number.POSITIVE_INFINITY, step.sort?.kind === "equals" ? 1 : step.expect.rows);

const explainScatter = (catalog: Catalog, step: QueryStep, { binding, limit }: Asked): ExplainedRequest => {
  const partitions = partitionsOf(catalog, step, binding).map(({ text }) => text);
  const each = inPartition(step, partitions[0] ?? "");
  const share = limit === undefined ? undefined : shareOf(limit, partitions.length);
  const bytes = Math.ceil(expectedOf(step, limit) / partitions.length) * step.expect.bytes;
  return {
    operation: "Query",
    input: encodeQuery(catalog, each, { binding, limit: share, start: undefined, backward: false }),
    times: partitions.length,
    readUnits: partitions.length * readUnits(bytes),
    partitions,
  };
};

const explainQuery = (catalog: Catalog, step: QueryStep, asked: Asked): ExplainedRequest => {
  if (step.scatter) return explainScatter(catalog, step, asked);
  const { binding, limit } = asked;
  return {
    operation: "Query",
    input: encodeQuery(catalog, step, { binding, limit, start: undefined, backward: false }),
    times: 1,
    readUnits: readUnits(expectedOf(step, limit) * step.expect.bytes, step),
  };
};

const expectedRows = (plan: ReadPlan, limit: number | undefined): number => {
  const rows = plan.sources.reduce(
    (sum, source) => sum + (source.kind === "query" ? (source.sort?.kind === "equals" ? 1 : source.expect.rows) : 1),
    0,
  );
  return Math.min(limit ?? Number.POSITIVE_INFINITY, rows);
};

const explainHydrate = (catalog: Catalog, step: HydrateStep, rows: number): readonly ExplainedRequest[] => {
  if (step.by === "none" || rows === 0) return [];
  const bytes = Math.max(...step.nodes.map((name) => catalog.nodes[name]?.shape.bytes ?? 0));
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

const notesOf = (plan: ReadPlan): readonly string[] => {
  const notes: string[] = [];
  for (const source of plan.sources) {
    if (source.kind !== "query") continue;
    if (source.filter.length > 0)
      notes.push(`filters ${source.filter.map((condition) => condition.path).join(", ")} after reading: items passed over are paid for`);
    if (source.scatter)
      notes.push(
        `reads each shard of ${source.index ?? "the table"} and merges them: one Query for each, even where a shard holds nothing`,
      );
    if (source.discards) notes.push("items of other kinds may lie in the range; they are read and passed over");
  }
  if (plan.filter) notes.push(`checks ${plan.filter.conditions.map((condition) => condition.path).join(", ")} in memory`);
  return notes;
};

export interface ExplainRequest {
  readonly plan: ReadPlan;
  readonly binding: Binding;
  readonly rows?: readonly Row[];
  readonly limit?: number | undefined;
}

const explainSources = (catalog: Catalog, request: ExplainRequest): readonly ExplainedRequest[] =>
  request.plan.sources.map((source) => {
    if (source.kind === "query") return explainQuery(catalog, source, request);
    const shape = defined(catalog.shapesById[source.shapes[0] ?? ""], "shape");
    const keys = distinctKeys(askedKeys(catalog, source, request.rows ?? [request.binding.row]));
    const units = readUnits(shape.bytes, source) * keys.length;
    const [only] = keys;
    if (!source.many && only && keys.length === 1)
      return { operation: "GetItem", input: encodeGet(catalog, only, source), times: 1, readUnits: units };
    return {
      operation: "BatchGetItem",
      input: encodeBatchGet(catalog.table, keys.slice(0, BATCH_GET_KEYS), source.consistent),
      times: Math.ceil(keys.length / BATCH_GET_KEYS),
      readUnits: units,
    };
  });

/** Explains a read: pure, from the plan and the call's values. */
export const explainRead = (catalog: Catalog, request: ExplainRequest): ReadExplanation => {
  const { plan } = request;
  const hydrated = plan.hydrate ? explainHydrate(catalog, plan.hydrate, expectedRows(plan, request.limit)) : [];
  const requests = [...explainSources(catalog, request), ...hydrated];
  const cost = {
    requests: requests.reduce((sum, one) => sum + one.times, 0),
    readUnits: requests.reduce((sum, one) => sum + one.readUnits, 0),
  };
  return { kind: "read", plan, requests, consistency: plan.consistency, cost, notes: notesOf(plan) };
};
