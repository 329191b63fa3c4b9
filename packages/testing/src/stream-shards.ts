import type { Item, KeySchemaElement, StreamViewType, WireStreamRecord } from "edgetable";
import { canonicalValue } from "./expression.ts";
import { below, hashText, type Random } from "./random.ts";

/** A record in its shard. */
export interface PlacedRecord {
  readonly wire: WireStreamRecord;
  readonly sequence: bigint;
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
}

/** One shard: the records of the items whose keys' hashes are in its range. */
export interface SimulatedShard {
  readonly id: string;
  readonly parent: string | undefined;
  /** From `low` (included) to `high` (excluded), out of 2^32. */
  readonly range: { readonly low: number; readonly high: number };
  readonly first: bigint;
  readonly records: PlacedRecord[];
  /** How many of its first records were trimmed. */
  trimmed: number;
  /** Whether it is listed no more: it was closed, and all of its records were trimmed. */
  gone: boolean;
  /** Records after which it is closed. */
  readonly capacity: number;
  /** When it was closed; undefined while it is open. */
  closedAt: number | undefined;
  /** The listing from which on it is shown, and the one from which on it is shown to be closed. */
  readonly shownFrom: number;
  shownClosedFrom: number;
}

/** One stream of a table: what has come, in shards that roll and split. */
export interface SimulatedStream {
  readonly arn: string;
  readonly table: string;
  readonly label: string;
  readonly keys: readonly KeySchemaElement[] | undefined;
  readonly view: StreamViewType | undefined;
  /** In the order of their creation. */
  readonly shards: SimulatedShard[];
  /** Records that have not reached a shard yet. */
  readonly late: WireStreamRecord[];
  enabled: boolean;
  sequence: bigint;
  listings: number;
}

/** How shards grow, and how wrong a listing may be. */
export interface ShardRules {
  readonly random: Random;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly records: readonly [least: number, most: number];
  readonly most: number;
  /** Whether children are shown late, and closed shards as open. */
  readonly lies: boolean;
  /** Whether records of different items lose their order. */
  readonly disorder: boolean;
}

const HASHES = 2 ** 32;
// SequenceNumber: 21 to 40 digits (StreamRecord, DynamoDB Streams API reference).
const FIRST_SEQUENCE = 999_999_999_999_999_999_000n;
const LAST_SEQUENCE = 10n ** 40n;

/** A text that two keys share exactly when they are equal. Attributes come in any order. */
export const itemText = (key: Item): string =>
  JSON.stringify(
    Object.entries(key)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, canonicalValue(value)]),
  );

const nextSequence = (stream: SimulatedStream, random: Random): bigint => {
  const step = BigInt(1 + below(random, 900));
  // A number sometimes grows by a digit at once, so that texts of any length follow each other.
  const grown = random() < 0.02 ? stream.sequence * 10n : stream.sequence;
  stream.sequence = grown < LAST_SEQUENCE ? grown + step : stream.sequence + step;
  return stream.sequence;
};

/** Creates a shard. Its id begins with the time, so that ids sort by creation. */
const openShard = (stream: SimulatedStream, rules: ShardRules, from: Pick<SimulatedShard, "parent" | "range">): SimulatedShard => {
  const { random, records, lies } = rules;
  const [least, most] = records;
  const number = String(stream.shards.length + 1);
  const shownFrom = lies ? stream.listings + below(random, 3) : 0;
  const shard: SimulatedShard = {
    ...from,
    id: `shardId-${number.padStart(20, "0")}-${hashText(`${stream.arn} ${number}`).toString(16).padStart(8, "0")}`,
    first: nextSequence(stream, random),
    records: [],
    trimmed: 0,
    gone: false,
    capacity: least + below(random, most - least + 1),
    closedAt: undefined,
    // A parent is shown before its children: one that a whole listing lacks has been trimmed.
    shownFrom: Math.max(shownFrom, stream.shards.at(-1)?.shownFrom ?? 0),
    shownClosedFrom: 0,
  };
  stream.shards.push(shard);
  return shard;
};

/** A new stream with so many open shards. */
export const openStream = (
  of: Pick<SimulatedStream, "arn" | "table" | "label" | "keys" | "view">,
  rules: ShardRules,
  count: number,
): SimulatedStream => {
  const stream: SimulatedStream = { ...of, shards: [], late: [], enabled: true, sequence: FIRST_SEQUENCE, listings: 0 };
  const edge = (at: number): number => Math.floor((at * HASHES) / count);
  for (let at = 0; at < count; at++)
    openShard(stream, { ...rules, lies: false }, { parent: undefined, range: { low: edge(at), high: edge(at + 1) } });
  return stream;
};

/** Closes a shard. */
export const closeShard = (stream: SimulatedStream, rules: ShardRules, shard: SimulatedShard): void => {
  shard.closedAt = rules.now();
  shard.shownClosedFrom = rules.lies ? stream.listings + below(rules.random, 3) : 0;
};

/** Closes a shard and continues it as one shard, or as two of half its range. DynamoDB never merges shards. */
export const continueShard = (stream: SimulatedStream, rules: ShardRules, shard: SimulatedShard, into: 1 | 2): void => {
  const { low, high } = shard.range;
  const middle = Math.floor((low + high) / 2);
  closeShard(stream, rules, shard);
  const halves = [
    { low, high: middle },
    { low: middle, high },
  ];
  for (const range of into === 1 ? [shard.range] : halves) openShard(stream, rules, { parent: shard.id, range });
};

/** Adds a record to the open shard of its item. The shard may be continued by another before or after it. */
const place = (stream: SimulatedStream, rules: ShardRules, wire: WireStreamRecord): void => {
  const { random, most } = rules;
  const now = rules.now();
  const hash = hashText(itemText(wire.dynamodb?.Keys ?? {}));
  const shard = stream.shards.find(({ closedAt, range }) => closedAt === undefined && range.low <= hash && hash < range.high);
  if (!shard) throw new Error(`The stream ${stream.arn} has no open shard for a record.`);
  const sequence = nextSequence(stream, random);
  const eventID = hashText(`${stream.arn} ${String(sequence)}`)
    .toString(16)
    .padStart(32, "0");
  const dynamodb = {
    ...wire.dynamodb,
    SequenceNumber: String(sequence),
    // Whole seconds, as production tells them.
    ApproximateCreationDateTime: Math.floor(now / 1000),
  };
  shard.records.push({ wire: { ...wire, eventID, dynamodb }, sequence, at: now });
  if (shard.trimmed + shard.records.length < shard.capacity) return;
  const open = stream.shards.filter(({ closedAt }) => closedAt === undefined).length;
  continueShard(stream, rules, shard, open < most && random() < 0.6 ? 2 : 1);
};

/**
 * Gives records to the shards: those of one item in their order, different items in any order, so that the records of one
 * transaction arrive apart. Some stay behind for a later call.
 *
 * @param all whether every record arrives now
 */
export const arrive = (stream: SimulatedStream, rules: ShardRules, all: boolean): void => {
  const { random } = rules;
  if (!rules.disorder) {
    for (const wire of stream.late.splice(0)) place(stream, rules, wire);
    return;
  }
  const lanes = new Map<string, WireStreamRecord[]>();
  for (const wire of stream.late.splice(0)) {
    const item = itemText(wire.dynamodb?.Keys ?? {});
    lanes.set(item, [...(lanes.get(item) ?? []), wire]);
  }
  const open = [...lanes.values()];
  let places = all ? Infinity : Math.ceil(random() * 1.5 * open.reduce((sum, { length }) => sum + length, 0));
  for (; open.length > 0 && places > 0; places--) {
    const at = below(random, open.length);
    const lane = open[at] ?? [];
    const next = lane.shift();
    if (next) place(stream, rules, next);
    if (lane.length === 0) open.splice(at, 1);
  }
  stream.late.push(...open.flat());
};

/** Removes the records that are older than a time, in milliseconds since 1970, and the closed shards that have none left. */
export const trimBefore = (stream: SimulatedStream, time: number): void => {
  for (const shard of stream.shards) {
    const kept = shard.records.findIndex(({ at }) => at >= time);
    const gone = kept === -1 ? shard.records.length : kept;
    shard.records.splice(0, gone);
    shard.trimmed += gone;
    if (shard.records.length === 0 && shard.closedAt !== undefined && shard.closedAt < time) shard.gone = true;
  }
};
