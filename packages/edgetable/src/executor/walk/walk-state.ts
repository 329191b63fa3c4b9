import { createHash } from "node:crypto";
import type { WalkCollect } from "../../ir/walk-plan.ts";
import { foldedField } from "../../planner/walk/walk-rules.ts";
import { exactText, inKeysCase, readExactText, sameValue } from "../../keys/template.ts";
import type { Position } from "../../requests/cursor.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import { add, times, type Amount } from "../amount.ts";

/** A node as one short text: its type's character, then its id. */
export type NodeKey = string;

export interface NodeRef {
  readonly type: string;
  readonly id: Row;
}

/** Packs nodes for sets of millions, and unpacks them. */
export interface NodeNames {
  /** The first character of an id that is one text. */
  prefix(type: string): string;
  pack(type: string, id: Row): NodeKey;
  unpack(key: NodeKey): NodeRef;
  typeOf(key: NodeKey): string;
}

const makeNames = ({ ends }: Catalog): NodeNames => {
  // Codes start at 1, so that the packed text of a plain id stays one byte a character.
  const types = Object.values(ends).map(({ name, idFields, shape: { folded } }, at) => ({
    name,
    idFields,
    // Ids that differ in case alone are one node where its key holds them in one case: it goes by that.
    folded: idFields.some((field) => field in folded) ? folded : undefined,
    plain: String.fromCharCode(at * 2 + 1),
    other: String.fromCharCode(at * 2 + 2),
    // Cloning and overwriting takes half the time of a literal with a computed name.
    emptyId: { [idFields[0] ?? ""]: "" } as Record<string, unknown>,
  }));
  const byName = new Map(types.map((type) => [type.name, type]));
  const typeAt = (key: NodeKey): (typeof types)[number] => defined(types[(key.charCodeAt(0) - 1) >> 1], "node type");
  return {
    prefix: (type) => defined(byName.get(type), type).plain,
    pack: (type, given) => {
      const { idFields, plain, other, folded } = defined(byName.get(type), type);
      const id = folded ? Object.fromEntries(idFields.map((field) => [field, inKeysCase(folded[field], given[field])])) : given;
      const only = idFields.length === 1 ? id[idFields[0] ?? ""] : undefined;
      return typeof only === "string" ? plain + only : other + exactText(idFields.map((field) => id[field]));
    },
    unpack: (key) => {
      const { name, idFields, emptyId } = typeAt(key);
      if (key.charCodeAt(0) % 2 === 1) {
        const id = { ...emptyId };
        id[idFields[0] ?? ""] = key.slice(1);
        return { type: name, id };
      }
      const values = readExactText(key.slice(1));
      // The name of a level has only its leading fields.
      const given = idFields.flatMap((field, at) => (values[at] === undefined ? [] : [[field, values[at]] as const]));
      return { type: name, id: Object.fromEntries(given) };
    },
    typeOf: (key) => typeAt(key).name,
  };
};

const namesOfCatalogs = new WeakMap<Catalog, NodeNames>();

/** The names of a catalog's nodes. Two characters stand for a type: one for an id that is a single text, one for any other. */
export const nodeNames = (catalog: Catalog): NodeNames => {
  let names = namesOfCatalogs.get(catalog);
  if (!names) namesOfCatalogs.set(catalog, (names = makeNames(catalog)));
  return names;
};

/** A list of nodes to test others against. */
export type NodeList = Pick<ReadonlySet<NodeKey>, "has">;

/** True if a node is named by less than its id: it then stands for all nodes below that level. */
export const isLevel = ({ ends }: Catalog, { type, id }: NodeRef): boolean =>
  ends[type]?.idFields.some((field) => id[field] === undefined) ?? false;

/** A list of nodes, some of which may be levels. */
export const nodeList = (catalog: Catalog, refs: readonly NodeRef[]): NodeList => {
  const names = nodeNames(catalog);
  // As they are in the names of other nodes: in the case of their keys.
  const levels = refs.filter((ref) => isLevel(catalog, ref)).map(({ type, id }) => names.unpack(names.pack(type, id)));
  const listed = new Set(refs.map(({ type, id }) => names.pack(type, id)));
  if (levels.length === 0) return listed;
  const has = (key: NodeKey): boolean => {
    if (listed.has(key)) return true;
    const { type, id } = names.unpack(key);
    return levels.some((level) => type === level.type && Object.entries(level.id).every(([field, value]) => sameValue(id[field], value)));
  };
  return { has };
};

/** The paths that lead to a node: how many there are, and what was gathered along them. */
export interface PathCount {
  readonly count: Amount;
  readonly value: Amount | undefined;
}

/** One path with nothing gathered. Cursors rely on its identity: see `walk-cursor`. */
export const ONE_PATH: PathCount = { count: 1, value: undefined };

/** How the path counts of a node are merged, and how an edge's value adds to one. */
export interface Gather {
  merge(a: PathCount, b: PathCount): PathCount;
  along(paths: PathCount, value: Amount | undefined): PathCount;
}

const countPaths: Gather = { merge: (a, b) => ({ count: add(a.count, b.count), value: undefined }), along: (paths) => paths };

/** How a walk gathers along its paths. It is linear, so parts of a frontier may come one after the other. */
export const gatherOf = (collect: WalkCollect): Gather => {
  if (foldedField(collect) === undefined) return countPaths;
  const by = collect.kind === "fold" ? collect.by : "sum";
  const join = (a: Amount | undefined, b: Amount | undefined): Amount | undefined => {
    if (a === undefined || b === undefined) return a ?? b;
    if (by === "sum") return add(a, b);
    return (by === "min" ? b < a : b > a) ? b : a;
  };
  return {
    merge: (a, b) => ({ count: add(a.count, b.count), value: join(a.value, b.value) }),
    along: (paths, value) => {
      if (value === undefined) return paths;
      return { count: paths.count, value: join(paths.value, by === "sum" ? times(paths.count, value) : value) };
    },
  };
};

/** An edge that may be among the first of all partitions. */
export interface FirstEdge {
  readonly sort: string;
  /** The number of its partition. */
  readonly order: number;
  /** Identifies the edge when it moves to another partition. */
  readonly name: string;
  readonly end: NodeKey;
  readonly value: Amount | undefined;
}

/** The first edges of several partitions, as far as they were read. */
export interface FirstEdges {
  /** Where each partition continues: absent before its first request, null at its end. */
  readonly lanes: ({ readonly start: Key | null; readonly rounds: number } | undefined)[];
  edges: FirstEdge[];
}

/** A node whose edges are to be read, and where to go on. */
export interface Expansion {
  readonly key: NodeKey;
  readonly paths: PathCount;
  /** Go on at this source, in this partition, after this key. Shards may grow meanwhile, so the partition is named, not numbered. */
  readonly source: number;
  readonly partition?: string | undefined;
  readonly start: Key | undefined;
  /** True if only this source is read: the Queries of several edge types run side by side. */
  readonly only?: boolean;
  /** Edges taken so far, for a hop's limit. */
  readonly taken: number;
  /** For a hop with a limit over shards. */
  readonly first?: FirstEdges | undefined;
}

/** A node whose edges have not been read. */
export const unread = (key: NodeKey, paths: PathCount = ONE_PATH): Expansion => ({ key, paths, source: 0, start: undefined, taken: 0 });

/** True if some edges of a node were read. */
export const isBegun = ({ source, partition, start }: Expansion): boolean => source > 0 || partition !== undefined || start !== undefined;

/** The nodes that wait before one round of one step. */
export interface Frontier {
  readonly step: number;
  readonly round: number;
  readonly waiting: Map<NodeKey, PathCount>;
  /** Nodes of which some edges were read when the budget ended. */
  begun: Expansion[];
}

/** One step of a path, backwards: the frontier that a node was reached from, and the node there. Null at the start. */
export type Link = { readonly frontier: number; readonly key: NodeKey } | null;

/** What was folded of a numeric attribute, over all paths to the nodes that have it. */
export interface FoldedField {
  readonly count: Amount;
  readonly sum: Amount;
  readonly min: Amount;
  readonly max: Amount;
}

/** The paths to the nodes of one group, and what was folded of their attributes. */
export interface Tally {
  readonly count: Amount;
  readonly fields: Map<string, FoldedField>;
}

/** Everything that a walk knows at a moment. A continuation starts from it. */
export interface WalkState {
  readonly frontiers: Map<number, Frontier>;
  /** The rounds that each step has made. */
  readonly rounds: Map<number, number>;
  /** The rest of each supernode, by frontier: left for a continuation. */
  readonly deferred: Map<number, Expansion[]>;
  /** Nodes that were at a step or a frontier, with the round in which they were. */
  readonly seen: Map<string, Map<NodeKey, number>>;
  /** Nodes at the end of the walk. */
  readonly ends: Set<NodeKey>;
  /** Those of them that were not given yet. */
  found: NodeKey[];
  total: Amount;
  readonly groups: Map<NodeKey, PathCount>;
  /** For aggregates: by the exact text of the values that a group shares. */
  readonly tallies: Map<string, Tally>;
  /** Where the search at the start continues, and how many rows it has given. */
  search: { readonly from: Position | undefined; readonly taken: number } | undefined;
  /** For `except("passed")`: the nodes that the walk left, with the first step at which it did. */
  readonly passed: Map<NodeKey, number>;
  /** What each round found: new nodes, and the paths there. */
  readonly levels: Map<number, { readonly nodes: number; readonly paths: PathCount }>;
  /** For paths: how each node of each frontier was reached. */
  readonly links: Map<number, Map<NodeKey, Link[]>>;
  /** For paths: the frontiers at which one path to a node is enough. */
  readonly singles: Set<number>;
  readonly givenPaths: Set<string>;
  /** Estimated bytes of the above. */
  bytes: number;
}

export const emptyState = (): WalkState => ({
  frontiers: new Map(),
  rounds: new Map(),
  deferred: new Map(),
  seen: new Map(),
  ends: new Set(),
  found: [],
  total: 0,
  groups: new Map(),
  tallies: new Map(),
  search: undefined,
  passed: new Map(),
  levels: new Map(),
  links: new Map(),
  singles: new Set(),
  givenPaths: new Set(),
  bytes: 0,
});

/** Where a frontier stands: before a round of a step. */
export type Place = Pick<Frontier, "step" | "round">;

// The rounds of a step sort between its neighbours.
const ROUNDS = 2 ** 32;

export const frontierId = ({ step, round }: Place): number => step * ROUNDS + round;

export const placeOf = (id: number): Place => ({ step: Math.floor(id / ROUNDS), round: id % ROUNDS });

// An entry of a Map, and the header of its text.
const ENTRY_BYTES = 96;

/** Estimated bytes of a node in one Map or Set. */
export const bytesOf = (key: NodeKey): number => ENTRY_BYTES + key.length;

/** The member of a Map, created if absent. */
export const memberOf = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
};

/** The frontier at a place, created if absent. */
export const frontierAt = ({ frontiers }: WalkState, place: Place): Frontier =>
  memberOf(frontiers, frontierId(place), () => ({ step: place.step, round: place.round, waiting: new Map(), begun: [] }));

/** A name for a path, long enough that no two of the millions in a cursor collide. */
export const pathPrint = (path: readonly NodeKey[]): string =>
  createHash("sha256").update(JSON.stringify(path)).digest("base64url").slice(0, 16);

/** True if nothing waits there. */
export const isEmpty = ({ waiting, begun }: Frontier): boolean => waiting.size === 0 && begun.length === 0;
