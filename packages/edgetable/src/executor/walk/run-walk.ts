import { holds } from "../../ir/holds.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import { EdgetableError } from "../../errors/edgetable-error.ts";
import { endsByGet } from "../../planner/walk/expect-walk.ts";
import { readExactText } from "../../keys/template.ts";
import { add, type Amount, times } from "../amount.ts";
import { readAll, readComplete } from "../run-read.ts";
import type { CallContext, Session } from "../session.ts";
import type { Sink } from "./flow.ts";
import { getEdges, readNodes } from "./read-by-key.ts";
import { countKept } from "./count-kept.ts";
import { checkStart, edgeReader, type Expanded, sharedBreadth } from "./read-edges.ts";
import { beginRun, isBudgetEnd, readsOf, runInFlight, type StopReason, type WalkRequest, type WalkRun } from "./walk-run.ts";
import {
  bytesOf,
  emptyState,
  frontierAt,
  frontierId,
  isEmpty,
  memberOf,
  ONE_PATH,
  pathPrint,
  placeOf,
  unread,
  type Expansion,
  type Frontier,
  type NodeKey,
  type NodeRef,
  type PathCount,
  type Place,
  type Tally,
  type WalkState,
} from "./walk-state.ts";

/** Why a walk ended early, and what it left. */
export interface Stopped {
  readonly by: StopReason | "limit";
  /** The first hop at which something is left. */
  readonly hop: number;
  /** The distinct nodes left at any hop. */
  readonly left: { readonly nodes: number; readonly sample: readonly NodeRef[] };
}

/** What a walk found. Only the member that was asked for is filled. */
export interface WalkOutcome {
  readonly ids: readonly NodeRef[];
  readonly rows: readonly Row[];
  readonly paths: readonly (readonly NodeRef[])[];
  readonly total: Amount;
  readonly groups: readonly { readonly node: NodeRef; readonly paths: PathCount }[];
  readonly tallies: readonly { readonly values: readonly unknown[]; readonly tally: Tally }[];
  readonly levels: readonly { readonly level: number; readonly nodes: number; readonly paths: PathCount }[];
  readonly missing: readonly NodeRef[];
  readonly stopped: Stopped | undefined;
  /** The state that a continuation starts from; undefined if nothing is left. */
  readonly state: WalkState | undefined;
}

/** The hop of a place, the first being 1; a repeat counts as many as the rounds that it made. */
const hopOf = ({ request: { plan }, state }: WalkRun, { step, round }: Place): number => {
  let before = 0;
  for (let earlier = 0; earlier < step; earlier++) before += state.rounds.get(earlier) ?? 0;
  return before + Math.floor(round) + (plan.steps[step]?.kind === "hop" ? 1 : 0);
};

/** True if nodes wait at a place until it is known where the walk passes. */
const isBarrier = ({ request: { plan } }: WalkRun, { step }: Place): boolean => plan.steps[step]?.kind === "exceptPassed";

/** Runs one hop: reads the edges of every node that waits, and lets the nodes behind them go on. */
const runHop = async (run: WalkRun, hop: PlannedHop, frontier: Frontier): Promise<void> => {
  const { state, flow, gather, spend, width, request } = run;
  const id = frontierId(frontier);
  const cross = flow.crossing(frontier, hop);
  const waiting = frontier.waiting.keys();
  // The Queries of several edge types at one node run side by side. A hop with a limit has one type.
  const sources = (node: Expansion): number => hop.reading[run.names.typeOf(node.key)]?.sources.length ?? 1;
  const splits = hop.edges.length > 1 && hop.by === "list";
  let others: Expansion[] = [];
  // A node that is taken from the frontier belongs to its request. The budget's end puts it back.
  const next = (): Expansion | undefined => {
    if (!spend.isOpen()) return undefined;
    const begun = others.shift() ?? frontier.begun.shift();
    if (begun) return begun;
    for (const key of waiting) {
      const node = unread(key, frontier.waiting.get(key));
      frontier.waiting.delete(key);
      state.bytes -= bytesOf(key);
      if (flow.isStale(frontier, key)) continue;
      const count = splits ? sources(node) : 1;
      if (count <= 1) return node;
      others = Array.from({ length: count }, (_, source) => ({ ...node, source, only: true }));
      return others.shift();
    }
    return undefined;
  };
  const within = sharedBreadth(run, hop);
  const done = (expanded: Expanded): void => {
    const { node, keys, values, rest, why } = within(expanded);
    const from = { frontier: id, key: node.key };
    const before = hop.counts === "nodes" ? ONE_PATH : node.paths;
    for (let at = 0; at < keys.length; at++)
      cross({ key: keys[at] as NodeKey, paths: values ? gather.along(before, values[at]) : before, from });
    if (!rest) return;
    if (why === "stopped") frontier.begun.push(rest);
    else if (request.supernode === "page") memberOf(state.deferred, id, () => []).push(rest);
    else run.sampled.push(node.key);
  };
  const counted = ({ key, paths }: Expansion, edges: Amount, sum: Amount | undefined): void => {
    if (edges === 0) return;
    const before = { count: paths.count, value: paths.value === undefined ? undefined : times(paths.value, edges) };
    cross({ key, paths: { count: times(paths.count, edges), value: gather.along(before, sum).value }, from: { frontier: id, key } });
  };
  const keep = request.plan.steps[frontier.step + 1];
  const known = (keep?.kind === "keep" && run.known.get(keep.slot)) || new Set<NodeKey>();
  const byKey = frontier.begun.length === 0 && endsByGet(hop, { nodes: frontier.waiting.size, known: known.size });
  if (hop.by === "kept") await countKept(run, hop, { next, done, counted });
  else if (byKey) await getEdges(run, hop, { known, next, done });
  else await runInFlight({ width, next, run: edgeReader(run, hop), done });
  frontier.begun.push(...others);
};

/** Reads the search at whose rows a walk starts, a page of as many rows as the breadth at a time. */
const runSearch = async (run: WalkRun, frontier: Frontier): Promise<void> => {
  const { state, request, session, spend, names, flow } = run;
  // The page counts its own attempts.
  const { admits: _admits, ...context } = run.context;
  const { search, budget, supernode, start } = request;
  if (!search) throw new EdgetableError("invariant", "a walk from a search without one: a defect of edgetable");
  const key = names.pack(start.type, start.id);
  frontier.waiting.clear();
  frontier.begun = [];
  if (search.empty) return;
  const { from, taken } = state.search ?? { from: undefined, taken: 0 };
  const most = Math.min(budget.breadth + (supernode === "page" ? 0 : 1), (search.limit ?? Number.POSITIVE_INFINITY) - taken);
  const before = context.meter.cost.requests;
  try {
    const page = await readAll(session, { ...search, limit: most, from, budget: spend.left() }, context);
    const given = supernode === "page" ? page.found : page.found.slice(0, budget.breadth);
    state.search = { from: page.next, taken: taken + given.length };
    const arrive = flow.arriving(frontier.step + 1);
    for (const { shape, row } of given) arrive({ key: names.pack(shape.definition, row), paths: ONE_PATH, from: null });
    const isOver = page.found.length > given.length;
    if (isOver && supernode === "refuse")
      throw new EdgetableError(
        "traverse.supernode",
        `The search for "${start.type}" finds more than ${budget.breadth} rows. Raise the budget's breadth, limit() the search, or set supernode to "page" or "sample".`,
        { details: { node: start.type, breadth: budget.breadth } },
      );
    if (isOver) run.sampled.push(key);
    const isAll = !page.next || isOver || state.search.taken === search.limit;
    if (isAll) return;
    if (page.stopped) frontier.waiting.set(key, ONE_PATH);
    else memberOf(state.deferred, frontierId(frontier), () => []).push(unread(key));
  } catch (error) {
    if (!isBudgetEnd(run, error)) throw error;
    frontier.waiting.set(key, ONE_PATH);
  } finally {
    spend.spent(context.meter.cost.requests - before);
  }
};

/** Runs a step that reads nodes: a filter, or a hop that filters the nodes that it reached. */
const runNodes = async (run: WalkRun, frontier: Frontier): Promise<void> => {
  const { plan, values } = run.request;
  const step = plan.steps[frontier.step];
  const filter =
    step?.kind === "hop"
      ? { types: step.passing, conditions: step.nodeConditions }
      : step?.kind === "filterNodes"
        ? { types: step.nodes, conditions: step.conditions }
        : undefined;
  const pass: Sink = step?.kind === "hop" ? run.flow.passing(frontier, step) : run.flow.arriving(frontier.step + 1);
  const waiting = new Map(frontier.waiting);
  frontier.waiting.clear();
  // Nodes of other types never pass, so they are not read.
  if (filter) for (const key of waiting.keys()) if (!filter.types.includes(run.names.typeOf(key))) waiting.delete(key);
  const isLast = !plan.steps.slice(frontier.step + 1).some(({ kind }) => kind === "hop");
  const gives = isLast && (plan.collect.kind === "nodes" || plan.collect.kind === "aggregate");
  const isTally = plan.collect.kind === "aggregate" && frontier.step === plan.steps.length - 1;
  const from = frontierId(frontier);
  // A filter before has read some of the nodes whose attributes are folded.
  for (const [key, paths] of isTally ? [...waiting] : []) {
    const row = run.rows.get(key);
    if (!row) continue;
    waiting.delete(key);
    pass({ key, paths, from: { frontier: from, key }, row });
  }
  const keys = waiting.keys();
  const left = await readNodes(run, keys, (key, row) => {
    if (isTally && !row) run.missing.push(key);
    if (filter && (!row || !filter.conditions.every((condition) => holds(condition, row, values)))) return;
    if (gives && row) run.rows.set(key, row);
    pass({ key, paths: waiting.get(key) ?? ONE_PATH, from: { frontier: from, key }, row });
  });
  for (const key of [...left, ...keys]) frontier.waiting.set(key, waiting.get(key) ?? ONE_PATH);
};

/**
 * Releases the nodes that wait before each `except("passed")` for which every node that the walk passes is known. Until
 * then they wait: where the rest of a supernode leads is unknown before it is read, and given nodes cannot be taken back.
 */
const releasePassed = (run: WalkRun): void => {
  const { state, flow, request } = run;
  const { steps } = request.plan;
  for (const [step, { kind }] of steps.entries()) {
    const frontier = kind === "exceptPassed" ? state.frontiers.get(frontierId({ step, round: 0 })) : undefined;
    if (!frontier) continue;
    // After the last round of the last hop before the step, the walk passes no other node.
    const lastHop = steps.findLastIndex((one, at) => at < step && one.kind === "hop");
    const hop = steps[lastHop];
    const rounds = hop?.kind === "hop" ? hop.rounds : 0;
    const pending = [...state.deferred.keys()];
    for (const [id, one] of state.frontiers) if (!isEmpty(one)) pending.push(id);
    const isSettled = pending.every((id) => {
      const at = placeOf(id);
      return at.step >= step || at.step > lastHop || (at.step === lastHop && Math.floor(at.round) + 1 >= rounds);
    });
    if (!isSettled) continue;
    const nodes = [...frontier.waiting];
    frontier.waiting.clear();
    const arrive = flow.arriving(step + 1);
    for (const [key, paths] of nodes) {
      state.bytes -= bytesOf(key);
      if (!flow.isPassed(step, key)) arrive({ key, paths, from: { frontier: frontierId(frontier), key } });
    }
  }
};

/** The first frontier within the depth that has something to read. */
const nextFrontier = (run: WalkRun): Frontier | undefined => {
  const { frontiers, deferred } = run.state;
  // A level is complete before the next one begins: what the rest of a supernode leads to must not count at a later level.
  const last = run.request.plan.collect.kind === "levels" ? Math.min(...deferred.keys()) : Number.POSITIVE_INFINITY;
  let first: number | undefined;
  for (const [id, frontier] of frontiers) {
    if (isEmpty(frontier)) frontiers.delete(id);
    else if (id > last || id > (first ?? id) || isBarrier(run, frontier) || hopOf(run, frontier) > run.request.budget.depth) continue;
    else first = id;
  }
  return first === undefined ? undefined : frontiers.get(first);
};

const runFrontiers = async (run: WalkRun): Promise<void> => {
  const { state, request } = run;
  for (let frontier = nextFrontier(run); frontier && run.spend.isOpen(); frontier = nextFrontier(run)) {
    const { step, round } = frontier;
    const hop = request.plan.steps[step];
    if (hop?.kind === "hop") state.rounds.set(step, Math.max(state.rounds.get(step) ?? 0, Math.floor(round) + 1));
    if (hop?.kind === "search") await runSearch(run, frontier);
    else if (hop?.kind === "hop" && Number.isInteger(round)) await runHop(run, hop, frontier);
    else await runNodes(run, frontier);
    // The nodes of a finished frontier are of use only if more may come to it.
    const name = `${step}.${round}`;
    const seen = isEmpty(frontier) && state.deferred.size === 0 && request.plan.collect.kind !== "paths" ? state.seen.get(name) : undefined;
    for (const key of seen?.keys() ?? []) state.bytes -= bytesOf(key);
    if (seen) state.seen.delete(name);
    releasePassed(run);
  }
};

/** The rows of the nodes found. Those that a filter read cost no request. */
const giveNodes = async (run: WalkRun): Promise<readonly Row[]> => {
  const { state, names } = run;
  run.spend.release();
  const several = run.request.plan.ends.length > 1;
  const rows: Row[] = [];
  const { parse, plan } = run.request;
  const select = plan.collect.kind === "nodes" ? plan.collect.select : undefined;
  const give = (key: NodeKey, stored: Row): void => {
    const kind = names.typeOf(key);
    const row = parse ? parse({ shape: defined(run.session.catalog.ends[kind], kind).shape, row: stored }, { select }) : stored;
    if (row) rows.push(several ? { kind, row } : row);
  };
  const others: NodeKey[] = [];
  for (const key of state.found) {
    const row = run.rows.get(key);
    if (row) give(key, row);
    else others.push(key);
  }
  const keys = others.values();
  const done = (key: NodeKey, row: Row | undefined): void => {
    if (row) give(key, row);
    else run.missing.push(key);
  };
  const left = await readNodes(run, keys, done, select);
  state.found = [...left, ...keys];
  return rows;
};

type Path = readonly NodeKey[];

/** The paths to a node of a frontier, from their ends backwards. Lazy, because there may be very many. */
function* pathsTo(run: WalkRun, at: { readonly frontier: number; readonly key: NodeKey }, behind: Path): Generator<Path> {
  for (const link of run.state.links.get(at.frontier)?.get(at.key) ?? []) {
    if (!link) {
      yield behind;
      continue;
    }
    // A filter passes on the same node; a hop came from another one.
    const { step, round } = placeOf(link.frontier);
    const isHop = run.request.plan.steps[step]?.kind === "hop" && Number.isInteger(round);
    for (const path of pathsTo(run, link, isHop ? [link.key, ...behind] : behind)) {
      yield path;
      if (run.state.singles.has(at.frontier)) return;
    }
  }
}

/** The paths to the nodes reached that were not given yet. */
const pathsOf = (run: WalkRun, options: WalkAt["paths"]): { readonly paths: readonly Path[]; readonly more: boolean } => {
  const { links, givenPaths } = run.state;
  const paths: Path[] = [];
  if (run.request.plan.collect.kind !== "paths") return { paths, more: false };
  const frontier = frontierId({ step: run.request.plan.steps.length, round: 0 });
  for (const key of links.get(frontier)?.keys() ?? []) {
    for (const path of pathsTo(run, { frontier, key }, [key])) {
      if (options.simple && new Set(path).size < path.length) continue;
      const print = pathPrint(path);
      if (givenPaths.has(print)) continue;
      if (paths.length === options.limit) return { paths, more: true };
      givenPaths.add(print);
      paths.push(path);
    }
  }
  return { paths, more: false };
};

const SAMPLE = 10;

// A function of the module, because the hidden class of a closure that generates lives long, and the whole walk with it.
function* keysLeft({ state, request }: WalkRun, unfinished: readonly Frontier[]): Generator<NodeKey> {
  for (const { begun, waiting } of unfinished) {
    for (const { key } of begun) yield key;
    yield* waiting.keys();
  }
  for (const nodes of state.deferred.values()) for (const { key } of nodes) yield key;
  if (request.plan.collect.kind === "nodes") yield* state.found;
}

/** Why a walk ended early, and whether a continuation has something left to find. */
const stoppedOf = (run: WalkRun, morePaths: boolean): { readonly stopped: Stopped | undefined; readonly continues: boolean } => {
  const { state, request, sampled, spend } = run;
  const unfinished = [...state.frontiers.values()].filter((frontier) => !isEmpty(frontier) && !isBarrier(run, frontier));
  // A node may be left at several hops, and counts once.
  const left = new Set(keysLeft(run, unfinished));
  const continues = morePaths || left.size > 0;
  if (!continues && sampled.length === 0) return { stopped: undefined, continues };
  let by: Stopped["by"] = sampled.length > 0 ? "breadth" : "limit";
  if (left.size > 0) {
    const isDeferred = unfinished.length === 0 || (request.plan.collect.kind === "levels" && state.deferred.size > 0);
    // Requests reserved for the nodes found are released at the end: a frontier within the depth then stopped by requests.
    const isWithin = unfinished.some((frontier) => hopOf(run, frontier) <= request.budget.depth);
    by = spend.stopped() ?? (isDeferred ? "breadth" : isWithin ? "requests" : "depth");
  }
  const places = [...unfinished.map(frontierId), ...state.deferred.keys()];
  const place = places.length > 0 ? placeOf(Math.min(...places)) : { step: request.plan.steps.length, round: 0 };
  for (const key of sampled) left.add(key);
  const sample = [...left].slice(0, SAMPLE).map((key) => run.names.unpack(key));
  return { stopped: { by, hop: hopOf(run, place), left: { nodes: left.size, sample } }, continues };
};

/** Adds the nodes that wait at a final `except("passed")` and would be given as far as is known. A continuation gives the figures anew. */
const figuresOf = (run: WalkRun): Pick<WalkState, "total" | "groups"> => {
  const { state, flow, gather, request } = run;
  const { steps, collect } = request.plan;
  const step = steps.length - 1;
  const frontier = steps[step]?.kind === "exceptPassed" ? state.frontiers.get(frontierId({ step, round: 0 })) : undefined;
  if (!frontier) return state;
  let { total } = state;
  const groups = new Map(state.groups);
  for (const [key, paths] of frontier.waiting) {
    if (flow.isPassed(step, key)) continue;
    const known = groups.get(key);
    if (collect.kind === "count") total = add(total, paths.count);
    else if (collect.kind === "groups" || collect.kind === "fold") groups.set(key, known ? gather.merge(known, paths) : paths);
  }
  return { total, groups };
};

export interface WalkAt {
  readonly context: CallContext;
  /** The state of an earlier part; undefined to begin. */
  readonly state: WalkState | undefined;
  /** How many paths to give, and whether they may come back to a node. */
  readonly paths: { readonly limit: number; readonly simple: boolean };
}

/** Walks until everything is found or the budget ends. */
export const runWalk = async (session: Session, request: WalkRequest, at: WalkAt): Promise<WalkOutcome> => {
  const state = at.state ?? emptyState();
  const run = beginRun(session, request, { state, context: at.context });
  const { collect } = request.plan;
  if (at.state) {
    for (const [id, nodes] of state.deferred) frontierAt(state, placeOf(id)).begun.push(...nodes);
    state.deferred.clear();
  } else {
    checkStart(session, request);
    run.flow.arriving(0)({ key: run.names.pack(request.start.type, request.start.id), paths: ONE_PATH, from: null });
  }
  await readComplete(session, { steps: readsOf(request) }, at.context, () => runFrontiers(run));
  const rows = collect.kind === "nodes" ? await giveNodes(run) : [];
  const { paths, more } = pathsOf(run, at.paths);
  const { stopped, continues } = stoppedOf(run, more);
  const unpack = (key: NodeKey): NodeRef => run.names.unpack(key);
  const { total, groups } = figuresOf(run);
  return {
    ids: collect.kind === "ids" ? state.found.splice(0).map(unpack) : [],
    rows,
    paths: paths.map((path) => path.map(unpack)),
    total,
    groups: [...groups].map(([key, counted]) => ({ node: unpack(key), paths: counted })),
    tallies: [...state.tallies].map(([text, tally]) => ({ values: readExactText(text), tally })),
    levels: [...state.levels].map(([level, found]) => ({ level, ...found })).toSorted((a, b) => a.level - b.level),
    missing: run.missing.map(unpack),
    stopped,
    state: continues ? state : undefined,
  };
};
