import { BATCH_GET_KEYS } from "../ir/capacity.ts";
import { endsByGet } from "../ir/ends-by-get.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import type { PlannedHop, PlannedStep, WalkPlan } from "../ir/walk-plan.ts";
import { encodeQuery } from "../requests/encode-read.ts";
import { inPartition, partitionsOf, shareOf } from "../requests/encode-scatter.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { ExplainedRequest } from "./explanation.ts";
import type { StoreCursor } from "./walk-options.ts";
import type { Row } from "../util/row.ts";

/** What a walk will do, and about how much, without doing it. The same plan object is what runs. */
export interface WalkExplanation {
  readonly kind: "walk";
  readonly plan: WalkPlan;
  /** One for each kind of request; `times` is how many are expected. */
  readonly requests: readonly ExplainedRequest[];
  readonly consistency: "strong" | "eventual";
  /** Expected, where nodes are as many as the assumptions say. */
  readonly cost: { readonly requests: number; readonly readUnits: number };
  /** What the figures rest on. */
  readonly assumptions: readonly string[];
  readonly notes: readonly string[];
}

export interface ExplainedWalk {
  readonly plan: WalkPlan;
  readonly id: Row;
  readonly values: readonly unknown[];
  readonly breadth: number;
  readonly livingAt: number | undefined;
  readonly storeCursor: StoreCursor | undefined;
}

// A node that is not known yet stands in a request by its key's form.
const anyPartition = (step: QueryStep): QueryStep => ({
  ...step,
  sort: step.sort?.template.fields.length ? undefined : step.sort,
  partition: { ...step.partition, parts: [{ kind: "literal", text: step.partition.source }], fields: [], optional: [] },
});

const explainHop = (
  catalog: Catalog,
  walk: ExplainedWalk,
  at: { readonly hop: PlannedHop; readonly first: boolean },
): readonly ExplainedRequest[] => {
  const { hop, first } = at;
  const sources = Object.values(hop.reading).flatMap((plan) => plan.sources.flatMap((source) => (source.kind === "query" ? [source] : [])));
  const share = Math.max(1, sources.length);
  const binding = { row: { from: walk.id, to: walk.id }, values: walk.values };
  const most = Math.min(walk.breadth, hop.limit ?? walk.breadth);
  return sources.map((source) => {
    const partitions = first && source.scatter ? partitionsOf(catalog, source, binding).map(({ text }) => text) : undefined;
    const step = partitions ? inPartition(source, partitions[0] ?? "") : first ? source : anyPartition(source);
    const limit = partitions && hop.limit !== undefined ? shareOf(most, partitions.length) : most;
    return {
      operation: "Query",
      input: encodeQuery(catalog, step, { binding, limit, start: undefined, backward: false, livingAt: walk.livingAt }),
      times: Math.ceil(hop.expect.requests / share),
      readUnits: hop.expect.readUnits / share,
      ...(partitions ? { partitions } : {}),
      ...(first ? {} : { after: `each node before ${hop.direction}("${hop.edge}")` }),
    };
  });
};

// Edges to known nodes, where they are asked for by their keys.
const gotAt = ({ plan, values }: ExplainedWalk, at: number): ReturnType<typeof endsByGet> => {
  const [step, keep] = plan.steps.slice(at, at + 2);
  if (step?.kind !== "hop" || keep?.kind !== "keep") return undefined;
  return endsByGet(step, { nodes: step.expect.from, known: (values[keep.slot] as readonly unknown[]).length });
};

const explainStep = (catalog: Catalog, walk: ExplainedWalk, at: number): readonly ExplainedRequest[] => {
  const step: PlannedStep | undefined = walk.plan.steps[at];
  const got = gotAt(walk, at);
  if (step?.kind === "hop" && got) {
    const input = `keys of the edges "${step.edge}" to the known nodes, ${BATCH_GET_KEYS} a request`;
    const after = at === 0 ? {} : { after: `each node before ${step.direction}("${step.edge}")` };
    return [{ operation: "BatchGetItem", input, times: got.requests, readUnits: got.readUnits, ...after }];
  }
  if (step?.kind === "hop") return explainHop(catalog, walk, { hop: step, first: at === 0 && step.rounds === 1 });
  if (!step || step.expect.requests === 0) return [];
  const { requests: times, readUnits } = step.expect;
  return [
    { operation: "BatchGetItem", input: `keys of the nodes so far, ${BATCH_GET_KEYS} a request`, times, readUnits, after: `step ${at}` },
  ];
};

const explainNodes = ({ plan }: ExplainedWalk): readonly ExplainedRequest[] => {
  if (plan.collect.kind !== "nodes") return [];
  const spent = plan.steps.reduce(
    (sum, { expect }) => ({ requests: sum.requests + expect.requests, readUnits: sum.readUnits + expect.readUnits }),
    {
      requests: 0,
      readUnits: 0,
    },
  );
  const [times, readUnits] = [plan.expect.requests - spent.requests, plan.expect.readUnits - spent.readUnits];
  return [
    { operation: "BatchGetItem", input: `keys of the nodes found, ${BATCH_GET_KEYS} a request`, times, readUnits, after: "the last hop" },
  ];
};

const notesOf = ({ plan, storeCursor }: ExplainedWalk): readonly string[] => {
  const hops = plan.steps.filter((step): step is PlannedHop => step.kind === "hop");
  const checked = hops.flatMap((hop) => Object.values(hop.reading).flatMap((read) => read.filter?.conditions ?? []));
  return [
    ...(checked.length > 0 ? [`checks ${[...new Set(checked.map((one) => one.path))].join(", ")} in memory`] : []),
    ...hops.flatMap((hop) =>
      hop.by === "get" ? [`asks for edges "${hop.edge}" to known nodes by their keys, where that is cheaper`] : [],
    ),
    ...(storeCursor
      ? [
          `a walk that stops stores its state for ${storeCursor.seconds} s, beyond the budget: 1 write unit for each KB; going on reads it for 1 read unit for each 4 KB`,
        ]
      : []),
  ];
};

/** What the whole is expected to cost: of the plan, less what is asked for by keys instead. */
const costOf = (walk: ExplainedWalk): WalkExplanation["cost"] =>
  walk.plan.steps.reduce(
    (cost, { expect }, at) => {
      const got = gotAt(walk, at);
      if (!got) return cost;
      return { requests: cost.requests - expect.requests + got.requests, readUnits: cost.readUnits - expect.readUnits + got.readUnits };
    },
    { requests: walk.plan.expect.requests, readUnits: walk.plan.expect.readUnits },
  );

/** Explains a walk: pure. */
export const explainWalk = (catalog: Catalog, walk: ExplainedWalk): WalkExplanation => {
  const { plan } = walk;
  const requests = [...plan.steps.flatMap((_, at) => explainStep(catalog, walk, at)), ...explainNodes(walk)];
  const hops = plan.steps.filter((step): step is PlannedHop => step.kind === "hop");
  const strong = hops.every((hop) => Object.values(hop.reading).every((read) => read.consistency === "strong"));
  return {
    kind: "walk",
    plan,
    requests,
    consistency: strong && requests.length > 0 ? "strong" : "eventual",
    cost: costOf(walk),
    assumptions: plan.assumptions,
    notes: notesOf(walk),
  };
};
