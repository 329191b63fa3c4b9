import type { Random } from "@edgetable/testing";
import { type History, type Scene, type Task, interleave, longestTask, type Trouble } from "./interleave.ts";

/** A row that counts at the node it points to, such as an edge or a part. */
interface Row {
  readonly target: string;
  readonly value: number;
}

/** What a row contributes to one node, as last added. Without a contribution it is a tombstone. */
interface Memo {
  readonly rev: number;
  readonly contribution: number | undefined;
  /** The turn from which on the service may delete the item. */
  readonly expires?: number;
}

/** The aggregates of one node. Each change adds 1 to `rev`. */
interface Facts {
  readonly rev: number;
  readonly sum: number;
}

/** A node's own item, with copies of its aggregates and the revisions at which they were read. */
interface Node {
  readonly sum?: number;
  readonly sumRev?: number;
  readonly min?: number | undefined;
  readonly minRev?: number;
}

/** The rules of the design, each of which a test breaks. The values say what is done instead. */
export type BrokenRule =
  | "the row is read before the memo"
  | "the memo's value is compared instead of its revision"
  | "the memo is deleted with its row"
  | "no memo is written for a row that is gone"
  | "the difference is added without a memo"
  | "nothing is written if the contribution is unchanged"
  | "the node is updated only after a difference"
  | "the node is updated without a revision"
  | "the node is updated even if it does not exist"
  | "a new node's record does not update it"
  | "the memos are read before the revision"
  | "a tombstone that is used again still expires"
  | "the revisions of a memo restart after its tombstone"
  | "the facts item is deleted with its node"
  | "a repair looks at rows only"
  | "a repair does not wait for refreshes under way";

interface World {
  readonly broken: BrokenRule | undefined;
  /** Whether processors are given the records of their own writes to nodes. */
  readonly ownRecords: boolean;
  readonly rows: Map<string, Row>;
  readonly nodes: Map<string, Node>;
  readonly memos: Map<string, Memo>;
  readonly facts: Map<string, Facts>;
  /** What users know to exist. */
  readonly alive: Set<string>;
  records: Change[];
  now: number;
}

type Change =
  | { readonly kind: "row"; readonly key: string; readonly before: Row | undefined; readonly after: Row | undefined }
  | { readonly kind: "node"; readonly key: string }
  | { readonly kind: "pair"; readonly node: string; readonly row: string };

const rowKeys = ["r1", "r2", "r3"];
const nodeKeys = ["A", "B"];
const memoKey = (node: string, row: string): string => `${node} ${row}`;
/** Longer than any task lives, zombies included. */
const tombstoneLife = longestTask + 1;

const setRow = (world: World, key: string, after: Row | undefined): void => {
  const before = world.rows.get(key);
  if (after) world.rows.set(key, after);
  else world.rows.delete(key);
  if (before || after) world.records.push({ kind: "row", key, before, after });
};

const setNode = (world: World, key: string, node: Node | undefined, isOwn = false): void => {
  if (node) world.nodes.set(key, node);
  else world.nodes.delete(key);
  if (!isOwn || world.ownRecords) world.records.push({ kind: "node", key });
};

const contributionOf = (row: Row | undefined, node: string): number | undefined => (row?.target === node ? row.value : undefined);

/** The transaction: the memo if it is as read, and the difference. */
const commit = (world: World, place: { node: string; row: string }, seen: Memo | undefined, want: number | undefined): boolean => {
  const key = memoKey(place.node, place.row);
  const { broken } = world;
  const memo = world.memos.get(key);
  const unchanged =
    broken === "the memo's value is compared instead of its revision" ? memo?.contribution === seen?.contribution : memo?.rev === seen?.rev;
  if (!unchanged && broken !== "the difference is added without a memo") return false;
  // A memo that follows an expired tombstone must not repeat the revision that a late task has read from that tombstone.
  const rev = memo || broken === "the revisions of a memo restart after its tombstone" ? (memo?.rev ?? 0) + 1 : world.now * 1_000;
  const keepsExpiry = broken === "a tombstone that is used again still expires" && memo?.expires !== undefined;
  const expires = want === undefined ? world.now + tombstoneLife : keepsExpiry ? memo.expires : undefined;
  const forgets =
    broken === "the memo is deleted with its row" || (broken === "no memo is written for a row that is gone" && memo === undefined);
  if (want === undefined && forgets) world.memos.delete(key);
  else world.memos.set(key, { rev, contribution: want, ...(expires !== undefined && { expires }) });
  const facts = world.facts.get(place.node) ?? { rev: 0, sum: 0 };
  world.facts.set(place.node, { rev: facts.rev + 1, sum: facts.sum + (want ?? 0) - (seen?.contribution ?? 0) });
  return true;
};

/** Brings what one row contributes to one node up to date, and then the node's item. */
function* refresh(world: World, node: string, row: string): Task {
  const { broken } = world;
  for (;;) {
    const early = world.rows.get(row);
    if (broken === "the row is read before the memo") yield `reads ${row}`;
    const memo = world.memos.get(memoKey(node, row));
    yield `reads memo ${node} ${row}: rev ${String(memo?.rev)}, ${String(memo?.contribution)}`;
    const source = broken === "the row is read before the memo" ? early : world.rows.get(row);
    const want = contributionOf(source, node);
    if (broken !== "the row is read before the memo") yield `reads ${row}: ${String(want)}`;
    if (broken === "nothing is written if the contribution is unchanged" && want === memo?.contribution) break;
    if (commit(world, { node, row }, memo, want)) {
      yield `sets memo ${node} ${row} to ${String(want)}, adds ${String((want ?? 0) - (memo?.contribution ?? 0))}`;
      if (broken === "the node is updated only after a difference" && want === memo?.contribution) return;
      break;
    }
    yield `finds memo ${node} ${row} changed`;
  }
  yield* project(world, node);
}

/** Copies a node's aggregates to its item. */
function* project(world: World, node: string): Task {
  const { broken } = world;
  const facts = world.facts.get(node);
  yield `reads facts ${node}: rev ${String(facts?.rev)}, sum ${String(facts?.sum)}`;
  const memos: (number | undefined)[] = [];
  // A Query is not a snapshot: each memo is as it is when it is read.
  for (const row of rowKeys) {
    memos.push(world.memos.get(memoKey(node, row))?.contribution);
    yield `reads memo ${node} ${row}: ${String(memos.at(-1))}`;
  }
  const values = memos.filter((value) => value !== undefined);
  const min = values.length === 0 ? undefined : Math.min(...values);
  const minFacts = broken === "the memos are read before the revision" ? world.facts.get(node) : facts;
  if (facts && minFacts) update(world, node, { sum: facts.sum, sumRev: facts.rev, min, minRev: minFacts.rev });
  yield `updates ${node}: sum ${String(facts?.sum)}, min ${String(min)}`;
}

/** Two conditional updates: each sets an aggregate if the node exists and its revision is older. */
const update = (world: World, key: string, { sum, sumRev, min, minRev }: Required<Node>): void => {
  const { broken } = world;
  const node = world.nodes.get(key) ?? (broken === "the node is updated even if it does not exist" ? {} : undefined);
  if (!node) return;
  const older = (revision: number | undefined, than: number): boolean =>
    broken === "the node is updated without a revision" || (revision ?? 0) < than;
  const after: Node = { ...node, ...(older(node.sumRev, sumRev) && { sum, sumRev }), ...(older(node.minRev, minRev) && { min, minRev }) };
  if (JSON.stringify(after) !== JSON.stringify(node)) setNode(world, key, after, true);
};

/** A record is a trigger, and says only which nodes a row may have left or reached. */
function* process(world: World, change: Change): Task {
  if (change.kind === "pair") return yield* refresh(world, change.node, change.row);
  if (change.kind === "node") {
    if (world.broken !== "a new node's record does not update it") yield* project(world, change.key);
    return;
  }
  for (const node of nodeKeys) {
    // A row that contributes the same before and after needs no refresh: no reader can have seen anything else.
    if (contributionOf(change.before, node) !== contributionOf(change.after, node)) yield* refresh(world, node, change.key);
  }
}

/** What a repair refreshes: every row and, because a row's deletion may be among what was lost, every memo. */
const repair = (world: World): readonly Change[] => {
  const pairs = new Set([...world.rows].map(([row, { target }]) => memoKey(target, row)));
  if (world.broken !== "a repair looks at rows only") for (const key of world.memos.keys()) pairs.add(key);
  return [
    ...[...pairs].map((pair): Change => ({ kind: "pair", node: pair.slice(0, 1), row: pair.slice(2) })),
    ...nodeKeys.map((key): Change => ({ kind: "node", key })),
  ];
};

/** One user's random writes. All are single requests, which Edgetable's conditions do not concern here. */
function* use(world: World, random: Random, writes: number): Task {
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? "";
  for (let write = 0; write < writes; write++) {
    const [dice, key, node] = [random(), pick(rowKeys), pick(nodeKeys)];
    if (dice < 0.5) {
      // Values repeat often, so that a change is undone by another (A, B, A).
      const row: Row = { target: node, value: 1 + Math.floor(random() * 3) };
      setRow(world, key, row);
      yield `puts ${key}: ${String(row.value)} at ${node}`;
    } else if (dice < 0.75) {
      setRow(world, key, undefined);
      yield `deletes ${key}`;
    } else if (dice < 0.9) {
      // A put replaces the whole item, computed attributes included.
      setNode(world, node, {});
      world.alive.add(node);
      yield `puts ${node}`;
    } else {
      if (world.nodes.has(node)) setNode(world, node, undefined);
      world.alive.delete(node);
      if (world.broken === "the facts item is deleted with its node") world.facts.delete(node);
      yield `deletes ${node}`;
    }
  }
}

/** What is wrong at the end, compared with a recomputation from the rows. */
const complaints = (world: World): readonly string[] =>
  nodeKeys.flatMap((key) => {
    const values = [...world.rows.values()].filter(({ target }) => target === key).map(({ value }) => value);
    const sum = values.reduce((total, value) => total + value, 0);
    const min = values.length === 0 ? undefined : Math.min(...values);
    const [facts, node] = [world.facts.get(key)?.sum ?? 0, world.nodes.get(key)];
    return [
      ...(facts === sum ? [] : [`the facts of ${key} say ${String(facts)} instead of ${String(sum)}`]),
      ...(node && !world.alive.has(key) ? [`${key} was deleted and is back`] : []),
      ...(node && (node.sum ?? 0) !== sum ? [`${key} has sum ${String(node.sum)} instead of ${String(sum)}`] : []),
      ...(node && node.min !== min ? [`${key} has min ${String(node.min)} instead of ${String(min)}`] : []),
    ];
  });

/** Runs one random history of rows that come, move, change and go while processors keep a sum and a minimum at two nodes. */
export const runAggregates = (random: Random, trouble: Trouble, broken?: BrokenRule): History => {
  const world: World = {
    broken,
    ownRecords: random() < 0.5,
    rows: new Map(),
    nodes: new Map(nodeKeys.map((key) => [key, {}])),
    memos: new Map(),
    facts: new Map(),
    alive: new Set(nodeKeys),
    records: [],
    now: 0,
  };
  const scene: Scene<Change> = {
    users: [use(world, random, 4), use(world, random, 4)],
    takeRecords: () => world.records.splice(0),
    process: (record) => process(world, record),
    repair: () => repair(world),
    // A refresh that has read a row before its deletion was lost may still write a memo that the repair has not seen.
    repairDelay: broken === "a repair does not wait for refreshes under way" ? 0 : longestTask + 1,
    tick(now) {
      world.now = now;
      // The service deletes expired items some time later, or not at all.
      for (const [key, { expires }] of world.memos) if (expires !== undefined && expires <= now && random() < 0.3) world.memos.delete(key);
    },
  };
  const lines = interleave(random, scene, trouble);
  return { complaints: complaints(world), lines };
};
