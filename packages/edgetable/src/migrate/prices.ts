import { passesOf } from "../executor/facts/refresh-facts.ts";
import { isKeptInFacts } from "../executor/facts/read-memos.ts";
import { overText } from "../executor/facts/contributions.ts";
import { readUnits, sum, writeUnits } from "../ir/capacity.ts";
import { keyBytes } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { ModelDescription } from "../schema/describe-model.ts";
import type { DerivedFact } from "../schema/facts.ts";
import { own } from "../util/row.ts";
import type { Holders } from "./sampled-holders.ts";

/** What a step is predicted to take, at most. */
export interface StepPrice {
  /** Items that it reads or changes, at most: DynamoDB updates the number every six hours. */
  readonly items: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

/** What a table holds, as DynamoDB counted it within the last six hours. */
export interface TableSize {
  readonly items: number;
  /** Of one item, on average. */
  readonly bytes: number;
  /** Items that a step concerns. @default all */
  readonly concerned?: number;
  /** Write units of the update of a concerned item. @default as if each index had an entry that moves */
  readonly perUpdate?: number | undefined;
  /** How many items of each kind there are. @default all items, as if they were of every kind */
  readonly byKind?: ItemsByKind;
}

/** The items of a table by their kinds. */
export interface ItemsByKind {
  /** How many items of a kind there are. */
  readonly rowsOf: (kind: string) => number;
  /** Write units of the update of an item of a kind. @default as if each index had an entry that moves */
  readonly perUpdate?: (kind: string) => number | undefined;
  /** Memos, and items with what the processor adds up. */
  readonly memos: number;
  /** Items that count degrees. @default one for each node that the model limits */
  readonly guards?: number;
  /** How so many rows are spread over what they count at. @default as if all counted at one node */
  readonly holdersOf?: (source: {
    readonly holder: string;
    readonly over: string;
    readonly rows: number;
  }) => readonly Holders[] | undefined;
}

/** Units of one item and of one read of the whole table, at most. */
const unitsOf = ({ indexes }: Catalog, { items, bytes, perUpdate: known }: TableSize) => {
  const [perRead, perWrite] = [Math.max(1, Math.ceil(bytes / 4096)), Math.max(1, Math.ceil(bytes / 1024))];
  // An update writes the item, and deletes and puts its entry in each index.
  const whole = perWrite * (1 + 2 * indexes.length);
  const perUpdate = known ?? whole;
  const read = Math.ceil((items * bytes) / 4096);
  // Each page of a Scan is rounded up by itself.
  return { perRead, perWrite, perUpdate, whole, read, scan: read + Math.ceil(items / 100) + 8 };
};

/** The second pass finds nothing left to change. */
const PASSES = 2;
// What is wrong is read twice, some time apart.
const READINGS = 2;

/**
 * The price of passes that write each item once.
 *
 * @param looks passes before them that write nothing
 */
export const passPrice = (catalog: Catalog, size: TableSize, looks: number = 0): StepPrice => {
  const { perUpdate, scan } = unitsOf(catalog, size);
  const { items, concerned = items } = size;
  return { items: concerned, readUnits: scan * (looks + PASSES), writeUnits: Math.ceil(concerned * perUpdate) };
};

/** Requests of a run for the record and for its own state: where it begins, where it ends, and a few in between. */
const RECORD_REQUESTS = 6;

/** The price of recording a model: the record holds the model before and the one to come while the migration is under way. */
export const recordPrice = (...models: readonly (ModelDescription | undefined)[]): StepPrice => {
  const bytes = keyBytes(JSON.stringify(models));
  return { items: 1, readUnits: RECORD_REQUESTS * readUnits(bytes, { consistent: true }), writeUnits: RECORD_REQUESTS * writeUnits(bytes) };
};

/** The price of an index that DynamoDB fills, and of the pass over all items that follows. */
export const indexPrice = (catalog: Catalog, size: TableSize): StepPrice => {
  const { perWrite, scan } = unitsOf(catalog, size);
  const { items, concerned = items } = size;
  return { items: concerned, readUnits: scan, writeUnits: concerned * perWrite };
};

/** The price of moving each item to another shard of one index. */
export const reshardPrice = (catalog: Catalog, size: TableSize): StepPrice => {
  const { perWrite, read } = unitsOf(catalog, size);
  const { items, concerned = items, perUpdate = perWrite * 3 } = size;
  return { items: concerned, readUnits: read, writeUnits: Math.ceil(concerned * perUpdate) };
};

/**
 * Reads of a row while its values move, in the three passes together: the row, its document and its parent's fields each time,
 * and its values before and after they are written. A row has an item of its own beside those of its values.
 */
const MOVE_READS = 8;

/** The price of moving the values of users' fields to another storage. */
export const movePrice = (catalog: Catalog, size: TableSize): StepPrice => {
  const { perRead, perWrite, scan } = unitsOf(catalog, size);
  const { items } = size;
  return { items, readUnits: scan * PASSES * 2 + items * MOVE_READS * perRead, writeUnits: items * perWrite * 3 };
};

/** The price of reserving so many unique values of each item. */
export const reservePrice = (catalog: Catalog, size: TableSize, attributes: number): StepPrice => {
  const { concerned: items = size.items } = size;
  const { perRead, perWrite, scan } = unitsOf(catalog, size);
  // A transaction of the marker and of a condition on the node takes twice the units of each. An old marker goes as well.
  return {
    items,
    readUnits: scan * PASSES + items * attributes * READINGS * (2 * perRead + 2),
    writeUnits: items * attributes * (4 + 2 * perWrite),
  };
};

const MEMO = 400;
/** Items of a page of the pass that computes what the stream keeps: a row of a node with many rows waits for all of its memos. */
export const REFRESH_PAGE = 200;

/**
 * The read units of what does not add up: it is read from all memos of a node, by each page that has the node, a row of it or a memo.
 *
 * @param pages pages of the whole pass
 */
const gatherUnits = (holders: readonly Holders[], pages: number): number =>
  sum(
    holders.map(({ number, rows, together }) => {
      const adjacent = Math.ceil(rows / REFRESH_PAGE) + 1;
      const read = Math.min(pages, 1 + adjacent + (together ? adjacent : Math.ceil(rows)));
      return number * read * Math.ceil((rows * MEMO) / 4096);
    }),
  );

/**
 * The price of computing what the stream keeps: every row that counts and every memo of one brings its node up to date, in each
 * pass, as if no two rows of a page counted at one node.
 */
const streamPrice = (catalog: Catalog, size: TableSize): Pick<StepPrice, "readUnits" | "writeUnits"> => {
  const { items: all, byKind = { rowsOf: () => all, memos: all } } = size;
  const { rowsOf, perUpdate, memos, holdersOf }: ItemsByKind = byKind;
  const { perRead, whole, scan } = unitsOf(catalog, size);
  const updateOf = (kind: string): number => perUpdate?.(kind) ?? whole;
  const { aggregates, summaries, copies } = catalog.facts;
  const facts = [...aggregates, ...summaries].filter(({ freshness }) => freshness === "stream");
  const holderOf = (fact: DerivedFact): string => ("node" in fact ? fact.node : fact.edge);
  const sourceOf = (fact: DerivedFact): string => JSON.stringify([holderOf(fact), overText(fact)]);
  const gathering = new Set(facts.filter((fact) => !isKeptInFacts(fact)).map(sourceOf));
  const sources = [...new Map(facts.map((fact) => [sourceOf(fact), fact])).values()].map((fact) => {
    // An edge that counts in either direction. Of an edge without direction, each of its two items counts at one end.
    const isTwice = fact.over.kind === "edge" && fact.over.direction === "between";
    const counting = (isTwice ? 2 : 1) * rowsOf(fact.over.name);
    const holder = holderOf(fact);
    const holders = holdersOf?.({ holder, over: overText(fact), rows: counting }) ?? [{ number: 1, rows: counting, together: false }];
    return { holder, counting, holders: gathering.has(sourceOf(fact)) ? holders : [] };
  });
  const counting = sum(sources.map((one) => one.counting));
  const made = memos + counting;
  const memoUnits = Math.ceil((made * MEMO) / 4096);
  const pages = Math.ceil((all + made) / REFRESH_PAGE);
  const gathered = Math.ceil(sum(sources.map((one) => gatherUnits(one.holders, pages) + (one.holders.length > 0 ? 2 * one.counting : 0))));
  // A place is looked at with its row, and with its memo.
  const places = memos + 2 * counting;
  const holders = [...new Set(sources.map(({ holder }) => holder))];
  const [shown, dearest] = [sum(holders.map(rowsOf)), Math.max(0, ...holders.map(updateOf))];
  // What a memo repeats changes nothing.
  const projected = sum(sources.map((one) => one.counting * updateOf(one.holder))) + (memos + shown) * dearest;
  // The pass rolls up sharded counters as well.
  const sharded = aggregates.filter(({ shards = 0 }) => shards > 0);
  const rolledUp = sum(sharded.map(({ node, shards = 0 }) => rowsOf(node) * (shards + perRead)));
  const onto = [...new Set(copies.filter(({ freshness }) => freshness === "stream").map((copy) => copy.onto.name))];
  const reads = scan + 2 * memoUnits + (2 * places + shown) * (1 + perRead) + gathered + 2 * made + rolledUp;
  const writes = (memos + counting) * 4 + 2 * projected + 2 * made + sum(sharded.map(({ node }) => rowsOf(node) * updateOf(node)));
  const passes = passesOf(catalog);
  return {
    readUnits: passes * (reads + sum(onto.map((name) => 4 * rowsOf(name) * perRead))),
    writeUnits: Math.ceil(passes * (writes + sum(onto.map((name) => 2 * rowsOf(name) * updateOf(name))))),
  };
};

/** The kinds whose items count a degree, such as `likes.outDegree`. */
const endsOf = ({ edges }: Catalog, degree: string): readonly string[] => {
  const [name = "", end] = degree.split(".");
  const { from = [], to = [] } = own(edges, name) ?? {};
  return [...new Set([...(end === "inDegree" ? [] : from), ...(end === "outDegree" ? [] : to)])];
};

/** The price of computing derived attributes, copies and degrees: if all of them are wrong, and nobody writes meanwhile. */
export const derivePrice = (catalog: Catalog, size: TableSize, model: ModelDescription, streamed: boolean): StepPrice => {
  const { concerned: items = size.items } = size;
  const { perRead, perUpdate, scan } = unitsOf(catalog, size);
  const { aggregates, copies } = catalog.facts;
  const kept = aggregates.filter(({ freshness }) => freshness === "transaction");
  const { rowsOf, guards: guardsThere }: Pick<ItemsByKind, "rowsOf" | "guards"> = size.byKind ?? { rowsOf: () => items };
  const held = [...new Map(kept.map((fact) => [JSON.stringify([fact.node, fact.over]), fact.node])).values()].map(rowsOf);
  // A guard that is not there is not made: the first edge that is written counts the others.
  const guards = guardsThere ?? sum((model.degrees ?? []).map((degree) => sum(endsOf(catalog, degree).map(rowsOf))));
  const counters = kept.reduce((sum, { shards = 0 }) => sum + shards, 0);
  // The item that counts a degree is in no index.
  const degrees = 2 * guards;
  // The edges or parts of each node, once; nodes, guards, and each edge or part with the nodes that it copies from, twice.
  const counted = sum([...held, ...(guards > 0 ? [guards] : [])].map((holders) => holders * (2 * perRead + 1) + scan));
  const nodes = sum([...new Set(kept.map(({ node }) => node))].map(rowsOf)) * (perRead + counters) + guards;
  const onto = [...new Set(copies.map((copy) => copy.onto.name))];
  // One node for each end that something is copied from.
  const from = [...new Map(copies.map((copy) => [`${copy.onto.name}.${copy.end}`, copy.onto.name])).values()];
  const copying = sum([...onto, ...from].map(rowsOf)) * perRead;
  const stream = streamed ? streamPrice(catalog, size) : { readUnits: 0, writeUnits: 0 };
  return {
    items,
    readUnits: scan * PASSES + counted + READINGS * (nodes + copying) + stream.readUnits,
    // Copies and counters are written by transactions, which take twice the units.
    writeUnits:
      Math.ceil(items * (copies.length + counters > 0 ? 2 * perUpdate + 4 * perRead + 4 * counters : perUpdate)) +
      degrees +
      stream.writeUnits,
  };
};
