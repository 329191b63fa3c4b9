import type { Amount } from "./amount.ts";
import type { Ways } from "./gather.ts";
import type { NodeKey } from "./node-names.ts";
import { emptyState, type FirstEdge, type Link, type Merge, type WalkState, type Work } from "./walk-state.ts";

type PlainAmount = number | { readonly n: string };

const plainAmount = (amount: Amount): PlainAmount => (typeof amount === "bigint" ? { n: String(amount) } : amount);
const amountOf = (plain: PlainAmount): Amount => (typeof plain === "object" ? BigInt(plain.n) : plain);

// One way with nothing gathered is by far the most common, and is left out.
type PlainWays = readonly [] | readonly [PlainAmount, PlainAmount?];

const plainWays = ({ count, value }: Ways): PlainWays => {
  if (value !== undefined) return [plainAmount(count), plainAmount(value)];
  return count === 1 ? [] : [plainAmount(count)];
};

const waysOf = ([count = 1, value]: PlainWays): Ways => ({
  count: amountOf(count),
  value: value === undefined ? undefined : amountOf(value),
});

type Entry<T> = readonly [NodeKey, T];
interface PlainMerge {
  readonly lanes: Merge["lanes"];
  readonly first: readonly (Omit<FirstEdge, "value"> & { readonly value?: PlainAmount })[];
}

type PlainWork = Omit<Work, "ways" | "merge"> & { readonly ways: PlainWays; readonly merge?: PlainMerge };

const plainMerge = ({ lanes, first }: Merge): PlainMerge => ({
  lanes,
  first: first.map(({ value, ...edge }) => (value === undefined ? edge : { ...edge, value: plainAmount(value) })),
});

const mergeOf = ({ lanes, first }: PlainMerge): Merge => ({
  lanes: [...lanes],
  first: first.map(({ value, ...edge }) => ({ ...edge, value: value === undefined ? undefined : amountOf(value) })),
});

const plainWork = ({ merge, ...work }: Work): PlainWork => ({
  ...work,
  ways: plainWays(work.ways),
  ...(merge ? { merge: plainMerge(merge) } : {}),
});
const workOf = ({ merge, ...work }: PlainWork): Work => ({
  ...work,
  start: work.start,
  ways: waysOf(work.ways),
  ...(merge ? { merge: mergeOf(merge) } : {}),
});

interface PlainLayer {
  readonly step: number;
  readonly round: number;
  readonly waiting: readonly Entry<PlainWays>[];
  readonly works: readonly PlainWork[];
}

export interface PlainState {
  readonly rounds: readonly (readonly [number, number])[];
  readonly layers: readonly (readonly [number, PlainLayer])[];
  readonly held: readonly (readonly [number, readonly PlainWork[]])[];
  readonly seen: readonly (readonly [string, readonly Entry<number>[]])[];
  readonly ends: readonly NodeKey[];
  readonly found: readonly NodeKey[];
  readonly total: PlainAmount;
  readonly groups: readonly Entry<PlainWays>[];
  readonly passed: readonly Entry<number>[];
  readonly levels: readonly (readonly [number, number, PlainWays])[];
  readonly links: readonly (readonly [number, readonly Entry<readonly (Link | null)[]>[]])[];
  readonly singles: readonly number[];
  readonly givenPaths: readonly string[];
  readonly bytes: number;
}

const ways = (map: ReadonlyMap<NodeKey, Ways>): readonly Entry<PlainWays>[] => [...map].map(([key, one]) => [key, plainWays(one)]);

/** What a walk left, and what it must remember to give nothing twice, as a cursor holds it. */
export const plainWalk = (state: WalkState): PlainState => ({
  rounds: [...state.rounds],
  layers: [...state.layers].map(([id, layer]) => [id, { ...layer, waiting: ways(layer.waiting), works: layer.works.map(plainWork) }]),
  held: [...state.held].map(([id, works]) => [id, works.map(plainWork)]),
  seen: [...state.seen].map(([name, rounds]) => [name, [...rounds]]),
  ends: [...state.ends],
  found: state.found,
  total: plainAmount(state.total),
  groups: ways(state.groups),
  passed: [...state.passed],
  levels: [...state.levels].map(([level, found]) => [level, found.nodes, plainWays(found.ways)]),
  links: [...state.links].map(([id, nodes]) => [id, [...nodes].map(([key, links]) => [key, links.map((link) => link ?? null)])]),
  singles: [...state.singles],
  givenPaths: [...state.givenPaths],
  bytes: state.bytes,
});

const waysMap = (entries: readonly Entry<PlainWays>[]): Map<NodeKey, Ways> => new Map(entries.map(([key, one]) => [key, waysOf(one)]));

/** The state that {@link plainWalk} made plain. */
export const walkOf = (plain: PlainState): WalkState => ({
  ...emptyState(),
  rounds: new Map(plain.rounds),
  layers: new Map(plain.layers.map(([id, layer]) => [id, { ...layer, waiting: waysMap(layer.waiting), works: layer.works.map(workOf) }])),
  held: new Map(plain.held.map(([id, works]) => [id, works.map(workOf)])),
  seen: new Map(plain.seen.map(([name, rounds]) => [name, new Map(rounds)])),
  ends: new Set(plain.ends),
  found: [...plain.found],
  total: amountOf(plain.total),
  groups: waysMap(plain.groups),
  passed: new Map(plain.passed),
  levels: new Map(plain.levels.map(([level, nodes, one]) => [level, { nodes, ways: waysOf(one) }])),
  links: new Map(
    plain.links.map(([id, nodes]) => [id, new Map(nodes.map(([key, links]) => [key, links.map((link) => link ?? undefined)]))]),
  ),
  singles: new Set(plain.singles),
  givenPaths: new Set(plain.givenPaths),
  bytes: plain.bytes,
});
