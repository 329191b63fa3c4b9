import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { BATCH_GET_KEYS } from "../../ir/capacity.ts";
import type { PlannedHop, WalkPlan } from "../../ir/walk-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { FindNode } from "../hydrate.ts";
import type { CallContext, Session } from "../session.ts";
import { spending, type Spending, type WalkBudget } from "./budget.ts";
import { createFlow, type Flow } from "./flow.ts";
import { gatherOf, type Gather } from "./gather.ts";
import { adaptiveWidth, type Width } from "./lanes.ts";
import { isLevel, nodeList, type NodeList } from "./node-list.ts";
import { nodeNames, type NodeKey, type NodeNames, type NodeRef } from "./node-names.ts";
import { emptyState, type WalkState, type Work } from "./walk-state.ts";
import { jsonText } from "../../util/json-text.ts";
import type { Row } from "../../util/row.ts";

/** What becomes of a node with more edges than the budget's breadth. */
export type Supernode = "page" | "sample" | "refuse";

export interface WalkRequest {
  readonly plan: WalkPlan;
  readonly start: NodeRef;
  readonly values: readonly unknown[];
  readonly budget: WalkBudget;
  readonly supernode: Supernode;
  readonly findNode: FindNode;
}

/** One run of a walk: what its parts share. */
export interface WalkRun {
  readonly request: WalkRequest;
  readonly session: Session;
  readonly context: CallContext;
  readonly names: NodeNames;
  readonly state: WalkState;
  readonly flow: Flow;
  readonly gather: Gather;
  readonly spend: Spending;
  readonly width: Width;
  /** The nodes that `keep` names, by slot. */
  readonly known: ReadonlyMap<number, ReadonlySet<NodeKey>>;
  /** Nodes that were read on the way and will be given. */
  readonly rows: Map<NodeKey, Row>;
  readonly missing: NodeKey[];
  /** Nodes of which only a sample was taken. */
  readonly sampled: NodeKey[];
}

const knownOf = ({ plan, values }: WalkRequest, names: NodeNames): ReadonlyMap<number, ReadonlySet<NodeKey>> =>
  new Map(
    plan.steps.flatMap((step) => {
      if (step.kind !== "keep") return [];
      const nodes = values[step.slot] as readonly NodeRef[];
      return [[step.slot, new Set(nodes.map(({ type, id }) => names.pack(type, id)))] as const];
    }),
  );

const exceptedOf = ({ plan, values }: WalkRequest, catalog: Catalog, names: NodeNames): readonly (readonly [number, NodeList])[] =>
  plan.steps.flatMap((step) =>
    step.kind === "except" ? [[step.slot, nodeList(catalog, names, values[step.slot] as readonly NodeRef[])] as const] : [],
  );

/** Begins a run from a state. */
export const beginRun = (
  session: Session,
  request: WalkRequest,
  at: { readonly state: WalkState; readonly context: CallContext },
): WalkRun => {
  const { state } = at;
  const { plan, budget } = request;
  const names = nodeNames(session.catalog);
  const known = knownOf(request, names);
  const lists = new Map<number, NodeList>([...known, ...exceptedOf(request, session.catalog, names)]);
  const startLevel = isLevel(session.catalog, request.start) ? nodeList(session.catalog, names, [request.start]) : undefined;
  const gather = gatherOf(plan.collect);
  const now = (): number => session.effects.now();
  const deadline = Math.min(at.context.deadline, now() + budget.time);
  // Nodes found are also to be read.
  const kept = (): number => (plan.collect.kind === "nodes" ? Math.ceil(state.found.length / BATCH_GET_KEYS) : 0);
  const spend = spending({ budget, meter: at.context.meter, now, deadline, bytes: () => state.bytes, kept });
  const width = adaptiveWidth(session.concurrency);
  const admits = (failed: unknown): boolean => {
    if (isEdgetableError(failed) && failed.code === "execute.throttled") width.throttled();
    return spend.take();
  };
  const { meter, signal, livingAt } = at.context;
  const context: CallContext = { meter, signal, deadline, admits, livingAt };
  const remembers = plan.steps.some((step) => step.kind === "exceptPassed");
  const flow = createFlow({ plan, state, gather, lists, startLevel, remembers });
  return { request, session, context, names, state, flow, gather, spend, width, known, rows: new Map(), missing: [], sampled: [] };
};

/** A second run that shares the first one's budget. */
export const besideRun = (run: WalkRun, request: WalkRequest): WalkRun => {
  const state = emptyState();
  const flow = createFlow({ plan: request.plan, state, gather: run.gather, lists: new Map(), startLevel: undefined, remembers: false });
  return { ...run, request, state, flow, known: new Map() };
};

/** Whether an error is no more than the budget's end: what another attempt could not mend, who goes on would meet again. */
export const isEnd = (run: WalkRun, error: unknown): boolean => {
  if (run.context.signal?.aborted || !isEdgetableError(error)) return false;
  if (!error.retryable && error.code !== "execute.aborted") return false;
  return run.spend.stopped() !== undefined || run.spend.isLate();
};

/** Refuses a supernode where the caller wants that. */
export const refuseSupernode = (run: WalkRun, hop: PlannedHop, work: Work): never => {
  const { type, id } = run.names.unpack(work.key);
  const { breadth } = run.request.budget;
  throw new EdgetableError(
    "traverse.supernode",
    `${type} ${jsonText(id)} has more than ${breadth} edges "${hop.edge}". Raise the budget's breadth, or take a page or a sample of them by supernode: "page" or "sample".`,
    { details: { node: { type, id }, edge: hop.edge, breadth } },
  );
};
