import { passesOf } from "../executor/facts/refresh-facts.ts";
import { isKeptInFacts } from "../executor/facts/read-memos.ts";
import { overText } from "../executor/facts/contributions.ts";
import { readUnits, writeUnits } from "../ir/capacity.ts";
import { keyBytes } from "../keys/template.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { ModelDescription } from "../schema/describe-model.ts";

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
  /** The same, of an item from which the stream's processor computes something, or that shows it. */
  readonly perStreamed?: number | undefined;
  /** Items from which the stream's processor computes something, those that show it, and memos. @default all */
  readonly streamed?: number;
}

/** Units of one item and of one read of the whole table, at most. */
const unitsOf = ({ indexes }: Catalog, { items, bytes, ...known }: TableSize) => {
  const [perRead, perWrite] = [Math.max(1, Math.ceil(bytes / 4096)), Math.max(1, Math.ceil(bytes / 1024))];
  // An update writes the item, and deletes and puts its entry in each index.
  const whole = perWrite * (1 + 2 * indexes.length);
  const { perUpdate = whole, perStreamed = whole } = known;
  const read = Math.ceil((items * bytes) / 4096);
  // Each page of a Scan is rounded up by itself.
  return { perRead, perWrite, perUpdate, perStreamed, read, scan: read + Math.ceil(items / 100) + 8 };
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

/** The price of computing what the stream keeps: every row that counts and every memo of one brings its node up to date, in each pass. */
const streamPrice = (catalog: Catalog, size: TableSize): Pick<StepPrice, "readUnits" | "writeUnits"> => {
  const { items: all, streamed: items = all } = size;
  const { perRead, perStreamed, scan } = unitsOf(catalog, size);
  const facts = [...catalog.facts.aggregates, ...catalog.facts.summaries].filter(({ freshness }) => freshness === "stream");
  const sources = new Set(facts.map((fact) => JSON.stringify(["node" in fact ? fact.node : fact.edge, overText(fact)]))).size;
  const hasCopies = catalog.facts.copies.some(({ freshness }) => freshness === "stream");
  const memos = Math.ceil((sources * items * MEMO) / 4096);
  const places = 2 * sources * items;
  // What does not add up is read from all memos of a node, by each page that has a row of it.
  const pages = Math.ceil((all + items * sources) / REFRESH_PAGE);
  const gathered = facts.every(isKeptInFacts) ? 0 : pages * (memos + items);
  const projected = places + items;
  const reads = scan + memos + places * (1 + perRead) + projected * (1 + perRead) + gathered + memos + 2 * items;
  const writes = places * 4 + projected * 2 * perStreamed + 2 * items;
  const copied = hasCopies ? items : 0;
  const passes = passesOf(catalog);
  return { readUnits: passes * (reads + 4 * copied * perRead), writeUnits: Math.ceil(passes * (writes + copied * 2 * perStreamed)) };
};

/** The price of computing derived attributes, copies and degrees: if all of them are wrong, and nobody writes meanwhile. */
export const derivePrice = (catalog: Catalog, size: TableSize, model: ModelDescription, streamed: boolean): StepPrice => {
  const { concerned: items = size.items } = size;
  const { perRead, perUpdate, scan } = unitsOf(catalog, size);
  const kept = catalog.facts.aggregates.filter(({ freshness }) => freshness === "transaction");
  const sources = new Set(kept.map(({ node, over }) => JSON.stringify([node, over]))).size + (model.degrees?.length ?? 0);
  const counters = kept.reduce((sum, { shards = 0 }) => sum + shards, 0);
  const copies = catalog.facts.copies.length;
  // The item that counts a degree is in no index.
  const degrees = items * 2 * (model.degrees?.length ?? 0);
  // The edges or parts of each node, once; nodes, and each edge or part with the nodes that it copies from, twice.
  const counted = sources * (items * (2 * perRead + 1) + scan);
  const nodes = items * (perRead + counters);
  const copying = copies > 0 ? 3 * items * perRead : 0;
  const stream = streamed ? streamPrice(catalog, size) : { readUnits: 0, writeUnits: 0 };
  return {
    items,
    readUnits: scan * PASSES + counted + READINGS * (nodes + copying) + stream.readUnits,
    // Copies and counters are written by transactions, which take twice the units.
    writeUnits:
      Math.ceil(items * (copies + counters > 0 ? 2 * perUpdate + 4 * perRead + 4 * counters : perUpdate)) + degrees + stream.writeUnits,
  };
};
