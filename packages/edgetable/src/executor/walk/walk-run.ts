import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { BATCH_GET_KEYS } from "../../ir/capacity.ts";
import type { AccessStep } from "../../ir/physical-plan.ts";
import type { WalkPlan } from "../../ir/walk-plan.ts";
import type { Row } from "../../util/row.ts";
import { type CallContext, CLOCK_TOLERANCE, type Session } from "../session.ts";
import type { ParseRow } from "../parse-rows.ts";
import type { FindNode } from "../read-rows.ts";
import type { ReadRequest } from "../run-read.ts";
import { createFlow, type Flow } from "./flow.ts";
import {
  emptyState,
  gatherOf,
  isLevel,
  nodeList,
  nodeNames,
  type Gather,
  type NodeKey,
  type NodeList,
  type NodeNames,
  type NodeRef,
  type WalkState,
} from "./walk-state.ts";

/** What a walk may take. */
export interface WalkBudget {
  readonly requests: number;
  readonly readUnits: number;
  readonly breadth: number;
  readonly depth: number;
  /** Milliseconds. */
  readonly time: number;
  /** Bytes of the nodes that it remembers. */
  readonly memory: number;
}

export type StopReason = "requests" | "units" | "breadth" | "depth" | "time" | "memory";

/** What happens to a node with more edges than the budget's breadth. */
export type Supernode = "page" | "sample" | "refuse";

export interface WalkRequest {
  readonly plan: WalkPlan;
  readonly start: NodeRef;
  readonly values: readonly unknown[];
  readonly budget: WalkBudget;
  readonly supernode: Supernode;
  readonly findNode: FindNode;
  /** The search at whose rows it starts. */
  readonly search?: ReadRequest | undefined;
  /** Parses the rows of the nodes at its end. */
  readonly parse?: ParseRow | undefined;
}

/** The reads of which a walk consists. */
export const readsOf = ({ plan }: Pick<WalkRequest, "plan">): readonly AccessStep[] =>
  plan.steps.flatMap((step) =>
    step.kind === "search"
      ? step.reading.sources
      : step.kind === "hop"
        ? Object.values(step.reading).flatMap(({ sources }) => sources)
        : [],
  );

/** Counts what a walk spends, and ends it at its budget. */
export interface Spending {
  /** The budget that ended the walk; undefined while it runs. */
  stopped(): Exclude<StopReason, "breadth" | "depth"> | undefined;
  /** True if another request may begin. The first refusal ends the walk. */
  isOpen(): boolean;
  /** True if another attempt may be sent; counts it. */
  take(): boolean;
  /** How many attempts, and units, are left. */
  left(): { readonly requests: number; readonly readUnits: number };
  /** Counts attempts that were sent within what was left. */
  spent(requests: number): void;
  /** Releases the requests that were reserved for reading the nodes found. */
  release(): void;
  /** True if the walk's time is over, so that an error came from its deadline. */
  isLate(): boolean;
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
  /** Nodes that a filter read and the walk will give. */
  readonly rows: Map<NodeKey, Row>;
  readonly missing: NodeKey[];
  /** Supernodes of which only a sample was taken. */
  readonly sampled: NodeKey[];
}

const spending = (
  { budget, plan }: WalkRequest,
  { session, context, state }: { readonly session: Session; readonly context: CallContext; readonly state: WalkState },
): Spending => {
  let taken = 0;
  let reserves = plan.collect.kind === "nodes";
  let stopped: ReturnType<Spending["stopped"]>;
  const reason = (): ReturnType<Spending["stopped"]> => {
    const reserved = reserves ? Math.ceil(state.found.length / BATCH_GET_KEYS) : 0;
    if (taken + reserved >= budget.requests) return "requests";
    if (context.meter.readUnits >= budget.readUnits) return "units";
    if (session.effects.now() >= context.deadline) return "time";
    return state.bytes > budget.memory ? "memory" : undefined;
  };
  const isOpen = (): boolean => (stopped ??= reason()) === undefined;
  const take = (): boolean => {
    if (!isOpen()) return false;
    taken++;
    return true;
  };
  const release = (): void => {
    reserves = false;
    if (stopped === "requests") stopped = undefined;
  };
  const isLate = (): boolean => {
    if (session.effects.now() + CLOCK_TOLERANCE < context.deadline) return false;
    stopped ??= "time";
    return true;
  };
  const left: Spending["left"] = () => ({
    requests: budget.requests - taken,
    readUnits: budget.readUnits - context.meter.readUnits,
  });
  const spent = (requests: number): void => {
    taken += requests;
  };
  return { stopped: () => stopped, isOpen, take, left, spent, release, isLate };
};

/** How many requests of a walk may be in flight: one more for each round of answers, half as many when DynamoDB throttles. */
export interface Width {
  now(): number;
  answered(): void;
  throttled(): void;
}

/** Additive increase, multiplicative decrease, between 1 and `limit`. */
export const adaptiveWidth = (limit: number): Width => {
  let width = limit;
  // DynamoDB throttles the requests of one burst together: that counts once.
  let answersSinceThrottling = 0;
  const answered = (): void => {
    answersSinceThrottling++;
    if (width < limit) width = Math.min(limit, width + 1 / width);
  };
  const throttled = (): void => {
    if (answersSinceThrottling === 0) return;
    answersSinceThrottling = 0;
    width = Math.max(1, width / 2);
  };
  return { now: () => Math.max(1, Math.floor(width)), answered, throttled };
};

interface Jobs<Job, Result> {
  readonly width: Width;
  /** The next job; undefined if there is none, or none may begin. */
  readonly next: () => Job | undefined;
  readonly run: (job: Job) => Promise<Result>;
  /** Takes the results in the order of their jobs. */
  readonly done: (result: Result) => void;
}

// Results that wait for an earlier one stay in memory.
const MAX_AHEAD = 4096;

/** Runs jobs concurrently and hands on their results in order. */
export const runInFlight = <Job, Result>({ width, next, run, done }: Jobs<Job, Result>): Promise<void> =>
  new Promise((resolve, reject) => {
    const waiting = new Map<number, Result>();
    let [begun, handed, inFlight, failed] = [0, 0, 0, false];
    const fail = (error: Error): void => {
      failed = true;
      reject(error);
    };
    const begin = async (job: Job, at: number): Promise<void> => {
      inFlight++;
      const result = await run(job);
      inFlight--;
      if (failed) return;
      waiting.set(at, result);
      for (let ready = waiting.get(handed); ready !== undefined; ready = waiting.get(handed)) {
        waiting.delete(handed++);
        done(ready);
      }
      pump();
    };
    const pump = (): void => {
      while (inFlight < width.now() && begun - handed < MAX_AHEAD) {
        const job = next();
        if (job === undefined) break;
        begin(job, begun++).catch(fail);
      }
      if (inFlight === 0) resolve();
    };
    pump();
  });

/** Begins a run from a state. */
export const beginRun = (
  session: Session,
  request: WalkRequest,
  at: { readonly state: WalkState; readonly context: CallContext },
): WalkRun => {
  const { state } = at;
  const { plan, budget, start, values } = request;
  const { catalog } = session;
  const names = nodeNames(catalog);
  const known = new Map<number, ReadonlySet<NodeKey>>();
  const lists = new Map<number, NodeList>();
  for (const step of plan.steps) {
    if (step.kind !== "keep" && step.kind !== "except") continue;
    const refs = values[step.slot] as readonly NodeRef[];
    if (step.kind === "keep") known.set(step.slot, new Set(refs.map(({ type, id }) => names.pack(type, id))));
    lists.set(step.slot, known.get(step.slot) ?? nodeList(catalog, refs));
  }
  const startLevel = !request.search && isLevel(catalog, start) ? nodeList(catalog, [start]) : undefined;
  const { meter, signal, livingAt } = at.context;
  const width = adaptiveWidth(session.concurrency);
  const admits = (failed: unknown): boolean => {
    if (isEdgetableError(failed, "execute.throttled")) width.throttled();
    return spend.take();
  };
  const deadline = Math.min(at.context.deadline, session.effects.now() + budget.time);
  const context: CallContext = { meter, signal, deadline, admits, livingAt };
  const spend = spending(request, { session, context, state });
  const gather = gatherOf(plan.collect);
  const flow = createFlow({ plan, state, gather, lists, startLevel });
  return { request, session, context, names, state, flow, gather, spend, width, known, rows: new Map(), missing: [], sampled: [] };
};

/** A second run that shares the first one's budget. */
export const besideRun = (run: WalkRun, request: WalkRequest): WalkRun => {
  const state = emptyState();
  const flow = createFlow({ plan: request.plan, state, gather: run.gather, lists: new Map(), startLevel: undefined });
  return { ...run, request, state, flow, known: new Map() };
};

/** True if an error only reports the end of the budget. Non-retryable errors would recur when the walk is continued. */
export const isBudgetEnd = (run: WalkRun, error: unknown): boolean => {
  if (run.context.signal?.aborted || !isEdgetableError(error)) return false;
  if (!error.retryable && error.code !== "execute.aborted") return false;
  return run.spend.stopped() !== undefined || run.spend.isLate();
};
