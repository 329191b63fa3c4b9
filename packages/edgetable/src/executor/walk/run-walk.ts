import type { CallContext, Session } from "../session.ts";
import type { Amount } from "./amount.ts";
import type { StopReason } from "./budget.ts";
import { checkStart } from "./check-start.ts";
import { ONE_WAY, type Ways } from "./gather.ts";
import type { NodeKey, NodeRef } from "./node-names.ts";
import { pathsOf } from "./paths.ts";
import { readNodes } from "./read-nodes.ts";
import { groupsOf, isBarrier, releasePassed, totalOf } from "./release-passed.ts";
import { runLayer } from "./run-layers.ts";
import { bytesOf, emptyState, isEmpty, layerId, layerPlace, type Layer, type WalkState } from "./walk-state.ts";
import { beginRun, type WalkRequest, type WalkRun } from "./walk-run.ts";
import type { Row } from "../../util/row.ts";

/** Why a walk ended before its end, and what it left. */
export interface Stopped {
  readonly by: StopReason | "limit";
  readonly hop: number;
  readonly left: { readonly nodes: number; readonly sample: readonly NodeRef[] };
}

/** What a walk found; of what was asked for, one member is filled. */
export interface WalkOutcome {
  readonly ids: readonly NodeRef[];
  readonly rows: readonly Row[];
  readonly paths: readonly (readonly NodeRef[])[];
  readonly total: Amount;
  readonly groups: readonly { readonly node: NodeRef; readonly ways: Ways }[];
  readonly levels: readonly { readonly level: number; readonly nodes: number; readonly ways: Ways }[];
  readonly missing: readonly NodeRef[];
  readonly stopped: Stopped | undefined;
  /** What a continuation goes on from; undefined where there is nothing left. */
  readonly state: WalkState | undefined;
}

/** The hop of a layer, the first being 1; a repeat counts as many as it made. */
const hopOf = ({ request: { plan }, state }: WalkRun, { step, round }: Pick<Layer, "step" | "round">): number => {
  let before = 0;
  for (let earlier = 0; earlier < step; earlier++) before += state.rounds.get(earlier) ?? 0;
  return before + Math.floor(round) + (plan.steps[step]?.kind === "hop" ? 1 : 0);
};

/** Keeps in mind how many rounds each hop has made. */
const countRound = ({ state, request: { plan } }: WalkRun, { step, round }: Layer): void => {
  if (plan.steps[step]?.kind === "hop") state.rounds.set(step, Math.max(state.rounds.get(step) ?? 0, Math.floor(round) + 1));
};

/** The first layer that has something to read within the depth. */
const firstLayer = (run: WalkRun): number | undefined => {
  const { layers, held } = run.state;
  // A level is told of when it is whole: what the rest of a supernode leads to must not have been found at a later one.
  const most = run.request.plan.collect.kind === "levels" ? Math.min(...held.keys()) : Number.POSITIVE_INFINITY;
  let first: number | undefined;
  for (const [id, layer] of layers) {
    if (isEmpty(layer)) layers.delete(id);
    else if (
      id < (first ?? Number.POSITIVE_INFINITY) &&
      id <= most &&
      !isBarrier(run, layer) &&
      hopOf(run, layer) <= run.request.budget.depth
    )
      first = id;
  }
  return first;
};

// What a finished layer knew of its nodes is of use only if more may come to it.
const forget = (run: WalkRun, { step, round }: Layer): void => {
  if (run.state.held.size > 0 || run.request.plan.collect.kind === "paths") return;
  const name = `${step}.${round}`;
  const seen = run.state.seen.get(name);
  if (!seen) return;
  run.state.seen.delete(name);
  for (const key of seen.keys()) run.state.bytes -= bytesOf(key);
};

const walkLayers = async (run: WalkRun): Promise<void> => {
  for (let id = firstLayer(run); id !== undefined && run.spend.isOpen(); id = firstLayer(run)) {
    const layer = run.state.layers.get(id);
    if (!layer) return;
    countRound(run, layer);
    await runLayer(run, layer);
    if (isEmpty(layer)) forget(run, layer);
    releasePassed(run);
  }
};

// Where it may end on several kinds of nodes, each says of which it is.
const givenNode = (run: WalkRun, key: NodeKey, row: Row): Row =>
  run.request.plan.ends.length > 1 ? { kind: run.names.typeOf(key), row } : row;

const readFound = async (run: WalkRun): Promise<readonly Row[]> => {
  const rows: Row[] = [];
  const found = run.state.found;
  let at = 0;
  const unread = await readNodes(
    run,
    () => found[at++],
    (key, row) => {
      if (row) rows.push(givenNode(run, key, row));
      else run.missing.push(key);
    },
  );
  run.state.found = [...unread, ...found.slice(at)];
  return rows;
};

// Rows that a filter has read already come without a request.
const giveNodes = async (run: WalkRun): Promise<readonly Row[]> => {
  run.spend.release();
  const known = run.state.found.flatMap((key): readonly Row[] => {
    const row = run.rows.get(key);
    return row ? [givenNode(run, key, row)] : [];
  });
  if (known.length === run.state.found.length) {
    run.state.found = [];
    return known;
  }
  const { found } = run.state;
  run.state.found = found.filter((key) => !run.rows.has(key));
  return [...known, ...(await readFound(run))];
};

interface Left {
  readonly keys: readonly NodeKey[];
  readonly nodes: number;
  readonly first: number | undefined;
}

const SAMPLE = 10;

// A function of the module, and no closure: each closure that generates has a hidden class of its own, which
// lives for long, and with it the whole walk.
function* keysLeft(run: WalkRun, unread: readonly Layer[]): Generator<NodeKey> {
  for (const { works, waiting } of unread) {
    for (const { key } of works) yield key;
    yield* waiting.keys();
  }
  for (const works of run.state.held.values()) for (const { key } of works) yield key;
  if (run.request.plan.collect.kind === "nodes") yield* run.state.found;
}

const leftOf = (run: WalkRun): Left => {
  const { layers, held } = run.state;
  const unread = [...layers.values()].filter((layer) => !isEmpty(layer) && !isBarrier(run, layer));
  const ids = [...unread.map(({ step, round }) => layerId(step, round)), ...held.keys()];
  let nodes = 0;
  const sample: NodeKey[] = [];
  for (const key of keysLeft(run, unread)) if (nodes++ < SAMPLE) sample.push(key);
  return { keys: sample, nodes, first: ids.length > 0 ? Math.min(...ids) : undefined };
};

const stoppedOf = (run: WalkRun, morePaths: boolean): Stopped | undefined => {
  const { keys, nodes, first } = leftOf(run);
  const sampled = run.sampled.length > 0;
  if (nodes === 0 && !sampled && !morePaths) return undefined;
  const waiting = [...run.state.layers.values()].filter((layer) => !isEmpty(layer) && !isBarrier(run, layer));
  // Requests that were kept for the nodes found are let go before the end: what still waits within the depth waits for them.
  const isWithin = waiting.some((layer) => hopOf(run, layer) <= run.request.budget.depth);
  const isHeld = waiting.length === 0 || (run.request.plan.collect.kind === "levels" && run.state.held.size > 0);
  const late = isHeld ? "breadth" : isWithin ? "requests" : "depth";
  const by = nodes === 0 ? (sampled ? "breadth" : "limit") : (run.spend.stopped() ?? late);
  const hop = hopOf(run, first === undefined ? { step: run.request.plan.steps.length, round: 0 } : layerPlace(first));
  const all = [...keys, ...run.sampled];
  return { by, hop, left: { nodes: nodes + run.sampled.length, sample: all.slice(0, SAMPLE).map((key) => run.names.unpack(key)) } };
};

/** Supernodes' rests are gone on with, once a walk is continued. */
const resume = (state: WalkState): void => {
  for (const [id, works] of state.held) {
    const { step, round } = layerPlace(id);
    const layer = state.layers.get(id) ?? { step, round, waiting: new Map<NodeKey, Ways>(), works: [] };
    layer.works.push(...works);
    state.layers.set(id, layer);
  }
  state.held.clear();
};

const start = (run: WalkRun): void => {
  const { type, id } = run.request.start;
  checkStart(run.session, run.request);
  run.flow.arriving(0)({ key: run.names.pack(type, id), ways: ONE_WAY, from: undefined });
};

export interface WalkAt {
  readonly context: CallContext;
  /** Of an earlier walk; undefined to begin. */
  readonly state: WalkState | undefined;
  /** The most paths to give, and whether they may come back to a node. */
  readonly paths: { readonly limit: number; readonly simple: boolean };
}

/** Walks until everything is found or the budget ends. */
export const runWalk = async (session: Session, request: WalkRequest, at: WalkAt): Promise<WalkOutcome> => {
  const state = at.state ?? emptyState();
  const run = beginRun(session, request, { state, context: at.context });
  if (at.state) resume(state);
  else start(run);
  await walkLayers(run);
  const { collect } = request.plan;
  const rows = collect.kind === "nodes" ? await giveNodes(run) : [];
  const paths = collect.kind === "paths" ? pathsOf(run, at.paths) : { paths: [], more: false };
  const stopped = stoppedOf(run, paths.more);
  const unpack = (key: NodeKey): NodeRef => run.names.unpack(key);
  const ids = collect.kind === "ids" ? state.found.splice(0).map(unpack) : [];
  return {
    ids,
    rows,
    paths: paths.paths.map((path) => path.map(unpack)),
    total: totalOf(run),
    groups: [...groupsOf(run)].map(([key, ways]) => ({ node: unpack(key), ways })),
    levels: [...state.levels].map(([level, found]) => ({ level, ...found })).toSorted((a, b) => a.level - b.level),
    missing: run.missing.map(unpack),
    stopped,
    state: stopped && (paths.more || stopped.left.nodes > run.sampled.length) ? state : undefined,
  };
};
