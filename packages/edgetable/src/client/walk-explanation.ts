import { pathsOf } from "../ir/condition.ts";
import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import type { LogicalWalk, PlannedHop, WalkPlan } from "../ir/walk-plan.ts";
import { endsByGet } from "../planner/walk/expect-walk.ts";
import { partitionsOf, shareOf } from "../requests/encode-partitions.ts";
import { bindQuery } from "../requests/encode-read.ts";
import { filters } from "../requests/filters.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { Row } from "../util/row.ts";
import type { ExplainedRequest, ReadExplanation } from "./explanation.ts";
import { KEPT_UNLESS, keptNote } from "./kept-counts.ts";

/** What a walk would send, and its estimated cost. The walk runs this same `plan`. */
export interface WalkExplanation {
  readonly kind: "walk";
  /** The logical plan, before any rule, from which `plan` was made. */
  readonly logical: LogicalWalk;
  readonly plan: WalkPlan;
  /** One entry for each kind of request; `times` is the expected number. */
  readonly requests: readonly ExplainedRequest[];
  readonly consistency: "strong" | "eventual";
  /** The expected cost, under the assumptions. */
  readonly cost: { readonly requests: number; readonly readUnits: number };
  /** The assumptions behind the figures. */
  readonly assumptions: readonly string[];
  readonly notes: readonly string[];
}

export interface ExplainedWalk {
  readonly logical: LogicalWalk;
  readonly plan: WalkPlan;
  readonly id: Row;
  readonly values: readonly unknown[];
  readonly breadth: number;
  readonly livingAt: number | undefined;
  /** The search from whose rows the walk starts. */
  readonly search: ReadExplanation | undefined;
  readonly storeCursor: { readonly seconds: number } | undefined;
}

const afterHop = ({ direction, edges }: PlannedHop): string => `each node before ${direction}("${edges.join('", "')}")`;

const explainHop = (
  catalog: Catalog,
  walk: ExplainedWalk,
  { hop, first }: { readonly hop: PlannedHop; readonly first: boolean },
): readonly ExplainedRequest[] => {
  const { id, values, livingAt } = walk;
  const sources = Object.values(hop.reading).flatMap((plan) => plan.sources.filter((source) => source.kind === "query"));
  const binding = { row: { from: id, to: id }, values };
  const limit = Math.min(walk.breadth, hop.limit ?? walk.breadth);
  return sources.map((source) => {
    const partitions = first && source.scatter ? partitionsOf(catalog, source, binding).map(({ text }) => text) : undefined;
    // The keys of a node that is not known yet are shown as templates.
    const partition = first ? partitions?.[0] : source.partition.source;
    const sort = first || !source.sort?.template.fields.length ? source.sort : undefined;
    const { input } = bindQuery(catalog, { ...source, sort }, { binding, livingAt, partition, filters });
    const share = partitions && hop.limit !== undefined ? shareOf(limit, partitions.length) : limit;
    return {
      operation: "Query",
      input: { ...input, ...(source.forward ? {} : { ScanIndexForward: false }), Limit: share },
      times: Math.ceil(hop.expect.requests / Math.max(1, sources.length)),
      readUnits: hop.expect.readUnits / Math.max(1, sources.length),
      ...(partitions ? { partitions } : {}),
      ...(first ? {} : { after: afterHop(hop) }),
    };
  });
};

const notesOf = ({ plan, storeCursor, search }: ExplainedWalk): readonly string[] => {
  const checked = new Set<string>();
  const byKey: string[] = [...(search?.notes ?? [])];
  for (const step of plan.steps) {
    if (step.kind !== "hop") continue;
    for (const { filter } of Object.values(step.reading)) for (const path of pathsOf(filter?.conditions ?? [])) checked.add(path);
    if (step.by === "kept")
      byKey.push(
        ...Object.values(step.kept ?? {}).map(keptNote),
        `${KEPT_UNLESS}; until then, and at nodes without the attribute, edges are counted`,
      );
    if (step.by === "get") byKey.push(`reads edges "${step.edges[0]}" to known nodes by their keys if that is cheaper`);
  }
  const notes = checked.size > 0 ? [`checks ${[...checked].join(", ")} in memory`, ...byKey] : byKey;
  if (!storeCursor) return notes;
  const { seconds } = storeCursor;
  return [
    ...notes,
    `a walk that stops stores its state for ${seconds} s, beyond the budget: 1 write unit for each KB; a continuation reads it for 1 read unit for each 4 KB`,
  ];
};

/** Explains a walk. Pure. */
export const explainWalk = (catalog: Catalog, walk: ExplainedWalk): WalkExplanation => {
  const { plan, values } = walk;
  const requests: ExplainedRequest[] = [];
  let cost = { requests: plan.expect.requests, readUnits: plan.expect.readUnits };
  const nodes = { ...cost };
  let strong = true;
  for (const [at, step] of plan.steps.entries()) {
    const { expect } = step;
    nodes.requests -= expect.requests;
    nodes.readUnits -= expect.readUnits;
    if (step.kind === "search") {
      requests.push(...(walk.search?.requests ?? []));
      strong = false;
      const of = walk.search?.cost ?? expect;
      cost = { requests: cost.requests - expect.requests + of.requests, readUnits: cost.readUnits - expect.readUnits + of.readUnits };
      continue;
    }
    if (step.kind !== "hop") {
      const input = `keys of the nodes so far, ${BATCH_GET_KEYS} a request`;
      if (expect.requests > 0)
        requests.push({ operation: "BatchGetItem", input, times: expect.requests, readUnits: expect.readUnits, after: `step ${at}` });
      continue;
    }
    strong &&= Object.values(step.reading).every(({ consistency }) => consistency === "strong");
    const behind = at === 0 ? {} : { after: afterHop(step) };
    if (step.by === "kept") {
      const input = `keys of ${Object.keys(step.kept ?? {}).join(" or ")}, ${BATCH_GET_KEYS} a request`;
      requests.push({ operation: "BatchGetItem", input, times: expect.requests, readUnits: expect.readUnits, ...behind });
      continue;
    }
    const keep = plan.steps[at + 1];
    const known = keep?.kind === "keep" ? (values[keep.slot] as readonly unknown[]).length : 0;
    const got = endsByGet(step, { nodes: expect.from, known });
    if (!got) {
      requests.push(...explainHop(catalog, walk, { hop: step, first: at === 0 && step.rounds === 1 }));
      continue;
    }
    const input = `keys of the edges "${step.edges[0]}" to the known nodes, ${BATCH_GET_KEYS} a request`;
    requests.push({ operation: "BatchGetItem", input, times: got.requests, readUnits: got.readUnits, ...behind });
    cost = { requests: cost.requests - expect.requests + got.requests, readUnits: cost.readUnits - expect.readUnits + got.readUnits };
  }
  if (plan.collect.kind === "nodes") {
    const { select } = plan.collect;
    const input = `keys of the nodes found, ${BATCH_GET_KEYS} a request${select ? `, for ${select.join(", ")}` : ""}`;
    requests.push({ operation: "BatchGetItem", input, times: nodes.requests, readUnits: nodes.readUnits, after: "the last hop" });
  }
  const consistency = strong && requests.length > 0 ? "strong" : "eventual";
  return { kind: "walk", logical: walk.logical, plan, requests, consistency, cost, assumptions: plan.assumptions, notes: notesOf(walk) };
};
