import type { Key } from "../../transport/operations.ts";
import type { Amount } from "./amount.ts";
import { type Ways } from "./gather.ts";
import type { NodeKey } from "./node-names.ts";

/** A node of which some edges have been read. */
export interface Work {
  readonly key: NodeKey;
  readonly ways: Ways;
  /** Where to go on: at a source, in one of its partitions, behind a key. Shards may grow meanwhile, so it has a name and no number. */
  readonly source: number;
  readonly partition?: string | undefined;
  readonly start: Key | undefined;
  /** Edges that were taken, for a hop's limit. */
  readonly taken: number;
  /** Of a limited hop over shards: what is known of their edges so far. */
  readonly merge?: Merge | undefined;
}

/** An edge that may be among the first of all partitions. */
export interface FirstEdge {
  readonly sort: string;
  /** The number of its partition. */
  readonly order: number;
  /** Tells it from the others, wherever it moves. */
  readonly name: string;
  readonly end: NodeKey;
  readonly value: Amount | undefined;
}

/** How far one partition was read: undefined where it was not yet, null at its end. */
export interface LaneEnd {
  readonly start: Key | null | undefined;
  readonly rounds: number;
}

/** The first edges of several partitions, as far as they were read. */
export interface Merge {
  readonly lanes: LaneEnd[];
  first: FirstEdge[];
}

/** The nodes that stand before one round of one step. */
export interface Layer {
  readonly step: number;
  readonly round: number;
  readonly waiting: Map<NodeKey, Ways>;
  /** Nodes begun and not finished. */
  works: Work[];
}

/** A step of a path backwards: the layer that a node was reached from, and the node there; undefined at the start. */
export interface Link {
  readonly layer: number;
  readonly key: NodeKey;
}

export interface Level {
  readonly nodes: number;
  readonly ways: Ways;
}

/** Everything that a walk knows at a moment: whoever has it can go on. */
export interface WalkState {
  readonly layers: Map<number, Layer>;
  /** Rounds that each step has made. */
  readonly rounds: Map<number, number>;
  /** Supernodes' rests, by layer: left for a continuation. */
  readonly held: Map<number, Work[]>;
  /** Nodes that have been at a step or a layer, with the round in which they were. */
  readonly seen: Map<string, Map<NodeKey, number>>;
  /** Nodes at the end, and of these the ones not given yet. */
  readonly ends: Set<NodeKey>;
  found: NodeKey[];
  total: Amount;
  readonly groups: Map<NodeKey, Ways>;
  /** Nodes from which the walk went on, where it is not to come back to them, with the first step by which it did. */
  readonly passed: Map<NodeKey, number>;
  /** What each round found: new nodes, and the ways there. */
  readonly levels: Map<number, Level>;
  /** For paths: how each node of each layer was reached, and the layers at which one way is enough. */
  readonly links: Map<number, Map<NodeKey, (Link | undefined)[]>>;
  readonly singles: Set<number>;
  readonly givenPaths: Set<string>;
  /** Estimated bytes of the above. */
  bytes: number;
}

export const emptyState = (): WalkState => ({
  layers: new Map(),
  rounds: new Map(),
  held: new Map(),
  seen: new Map(),
  ends: new Set(),
  found: [],
  total: 0,
  groups: new Map(),
  passed: new Map(),
  levels: new Map(),
  links: new Map(),
  singles: new Set(),
  givenPaths: new Set(),
  bytes: 0,
});

// Rounds of one step stand between its neighbours'.
const ROUNDS = 2 ** 32;

export const layerId = (step: number, round: number): number => step * ROUNDS + round;

export const layerPlace = (id: number): { readonly step: number; readonly round: number } => ({
  step: Math.floor(id / ROUNDS),
  round: id % ROUNDS,
});

// An entry of a Map, and the head of the text that it names.
const ENTRY_BYTES = 96;

export const bytesOf = (key: NodeKey): number => ENTRY_BYTES + key.length;

/** The layer, made when it is not there yet. */
export const layerAt = (state: WalkState, step: number, round: number): Layer => {
  const id = layerId(step, round);
  let layer = state.layers.get(id);
  if (!layer) state.layers.set(id, (layer = { step, round, waiting: new Map(), works: [] }));
  return layer;
};

/** Whether nothing waits there. */
export const isEmpty = (layer: Layer): boolean => layer.waiting.size === 0 && layer.works.length === 0;

/** The member of a Map, made when it is not there yet. */
export const memberOf = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
};
