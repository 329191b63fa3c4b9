import {
  attemptError,
  EdgetableError,
  type Item,
  type SendOptions,
  serviceError,
  type ShardDescription,
  type StreamDescription,
  type StreamOperation,
  type StreamOperationInputs,
  type StreamOperationOutputs,
  type StreamTransport,
  type WireStreamRecord,
} from "edgetable";
import type { FaultEffects } from "./fault-options.ts";
import { below, mixSeeds, type Random, seededRandom } from "./random.ts";
import { type Changes, readChanges } from "./read-changes.ts";
import {
  arrive,
  closeShard,
  continueShard,
  itemText,
  openStream,
  type ShardRules,
  type SimulatedShard,
  type SimulatedStream,
  trimBefore,
} from "./stream-shards.ts";
import { sleep } from "./virtual-clock.ts";

/** A way in which a stream source answers otherwise than a local engine. */
export type StreamLie =
  | "emptyPage"
  | "shortPage"
  | "throttle"
  | "internalError"
  | "reset"
  | "expiredIterator"
  /** Records of different items out of order and apart, records that arrive late. */
  | "disorder"
  /** Few shards a page, children that are shown late, closed parents that are shown as open. */
  | "listing";

/** Options of a stream source. */
export interface StreamSourceOptions {
  /** The same seed, changes and calls give the same answers. @default 0 */
  readonly seed?: number;
  /** Open shards at the beginning, 1 to 100. @default 2 */
  readonly shards?: number;
  /** Open shards at the same time, at most; no shard splits beyond it. @default 8 */
  readonly mostShards?: number;
  /** Records after which a shard is closed and continued by one or two others: lower and upper bound. @default [5, 60] */
  readonly recordsPerShard?: readonly [least: number, most: number];
  /** Probability of each lie, 0 to 1, or one number for all. `disorder` and `listing` are on above 0. @default 0.1 */
  readonly rates?: number | Readonly<Partial<Record<StreamLie, number>>>;
  /** Milliseconds for which records can be read. @default 86,400,000 */
  readonly retention?: number;
  /** Whether removals by DynamoDB's TTL lack their mark, as in a region that they were replicated to. @default false */
  readonly replicated?: boolean;
  /** Clock and sleep. @default the system's */
  readonly effects?: FaultEffects;
}

/** A transport of a table's stream that lies as production does. */
export interface StreamSource extends StreamTransport {
  /** Closes every open shard of the newest stream. Each is continued by one shard, or by two. */
  roll(into?: 1 | 2): Promise<void>;
  /** Trims everything that has come so far, whether or not it was read. Closed shards are gone then. */
  trim(): Promise<void>;
  /**
   * Marks the next removal of an item as one of DynamoDB's TTL. Delete the item after this call.
   *
   * @param key the item's key
   */
  expire(key: Item): void;
  /** Every record of the table so far that has not been trimmed; those of one item in order. Nothing is late any more. */
  records(): Promise<readonly WireStreamRecord[]>;
  /** How often each lie was told. */
  readonly told: Readonly<Record<StreamLie, number>>;
  /** The ids of all shards so far. */
  readonly shards: readonly string[];
}

// GetShardIterator: "A shard iterator expires 15 minutes after it is retrieved".
const ITERATOR_LIFE = 900_000;
const RETENTION = 86_400_000;
// GetRecords: 1,000 records; DescribeStream: 100 shards (DynamoDB Streams API reference).
const MOST_RECORDS = 1_000;
const MOST_SHARDS = 100;
const IN_A_ROW = 3;

const LIES: readonly StreamLie[] = [
  "emptyPage",
  "shortPage",
  "throttle",
  "internalError",
  "reset",
  "expiredIterator",
  "disorder",
  "listing",
];

/** The position that an iterator stands for. */
interface Position {
  readonly arn: string;
  readonly shard: string;
  /** Number of records of the shard before it, trimmed ones included. */
  readonly at: number;
  readonly issued: number;
}

const pack = (position: Position): string => Buffer.from(JSON.stringify(position)).toString("base64");
const unpack = (iterator: string): Position | undefined => {
  try {
    return JSON.parse(Buffer.from(iterator, "base64").toString()) as Position;
  } catch {
    return undefined;
  }
};

/** A stream source, as its answers need it. */
interface World {
  readonly options: StreamSourceOptions;
  readonly rules: ShardRules;
  readonly now: () => number;
  readonly streams: SimulatedStream[];
  /** True if this answer is to be such a lie. It is counted. */
  lie(kind: StreamLie): boolean;
}

type Refuse = (name: string, message: string) => EdgetableError;

const refusal =
  (operation: string, input: unknown): Refuse =>
  (name, message) =>
    serviceError({ name, message, status: name === "InternalServerError" ? 500 : 400 }, { operation, input });

const streamOf = (world: World, arn: string, refuse: Refuse): SimulatedStream => {
  const stream = world.streams.find((one) => one.arn === arn);
  if (!stream) throw refuse("ResourceNotFoundException", `Requested resource not found: Stream: ${arn} not found`);
  return stream;
};

const shardOf = (stream: SimulatedStream, id: string, refuse: Refuse): SimulatedShard => {
  const shard = stream.shards.find((one) => one.id === id && !one.gone);
  if (!shard) throw refuse("ResourceNotFoundException", `Requested resource not found: Shard: ${id} in Stream: ${stream.arn} not found`);
  return shard;
};

const describeShard = (stream: SimulatedStream, shard: SimulatedShard): ShardDescription => ({
  ShardId: shard.id,
  ...(shard.parent !== undefined && { ParentShardId: shard.parent }),
  SequenceNumberRange: {
    StartingSequenceNumber: String(shard.first),
    ...(shard.closedAt !== undefined &&
      shard.shownClosedFrom <= stream.listings && { EndingSequenceNumber: String(shard.records.at(-1)?.sequence ?? shard.first) }),
  },
});

const describeStream = (world: World, input: StreamOperationInputs["DescribeStream"], refuse: Refuse): StreamDescription => {
  const stream = streamOf(world, input.StreamArn, refuse);
  const { ExclusiveStartShardId: start, Limit = MOST_SHARDS } = input;
  if (start === undefined) stream.listings++;
  // A child that is not shown yet hides what was created after it: every listing is a beginning of the truth.
  const hidden = stream.shards.findIndex(({ shownFrom }) => shownFrom > stream.listings);
  const shown = (hidden === -1 ? stream.shards : stream.shards.slice(0, hidden)).filter(({ gone }) => !gone);
  const rest = shown.filter(({ id }) => start === undefined || id > start);
  const page = rest.slice(0, world.lie("listing") ? Math.min(Limit, 1 + below(world.rules.random, 3)) : Limit);
  return {
    StreamArn: stream.arn,
    TableName: stream.table,
    StreamLabel: stream.label,
    StreamStatus: stream.enabled ? "ENABLED" : "DISABLED",
    ...(stream.view && { StreamViewType: stream.view }),
    ...(stream.keys && { KeySchema: stream.keys }),
    Shards: page.map((shard) => describeShard(stream, shard)),
    ...(page.length < rest.length && { LastEvaluatedShardId: page.at(-1)?.id ?? "" }),
  };
};

const shardIterator = (world: World, input: StreamOperationInputs["GetShardIterator"], refuse: Refuse): string => {
  const stream = streamOf(world, input.StreamArn, refuse);
  const shard = shardOf(stream, input.ShardId, refuse);
  const at = (index: number): string => pack({ arn: stream.arn, shard: shard.id, at: shard.trimmed + index, issued: world.now() });
  if (input.ShardIteratorType === "TRIM_HORIZON") return at(0);
  if (input.ShardIteratorType === "LATEST") return at(shard.records.length);
  if (!/^\d{1,40}$/.test(input.SequenceNumber ?? "")) throw refuse("ValidationException", "Invalid SequenceNumber");
  const wanted = BigInt(input.SequenceNumber ?? "");
  const isAfter = input.ShardIteratorType === "AFTER_SEQUENCE_NUMBER";
  const found = shard.records.findIndex(({ sequence }) => (isAfter ? sequence > wanted : sequence >= wanted));
  // The number itself must still be there: what lies between would be lost without a word.
  if (shard.trimmed > 0 && (shard.records[0] === undefined || wanted < shard.records[0].sequence))
    throw refuse("TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in a shard.");
  return at(found === -1 ? shard.records.length : found);
};

const getRecords = (world: World, input: StreamOperationInputs["GetRecords"], refuse: Refuse): StreamOperationOutputs["GetRecords"] => {
  const { now, rules } = world;
  const position = unpack(input.ShardIterator);
  if (!position) throw refuse("ValidationException", "Invalid ShardIterator");
  const shard = shardOf(streamOf(world, position.arn, refuse), position.shard, refuse);
  if (now() - position.issued > ITERATOR_LIFE || world.lie("expiredIterator"))
    throw refuse("ExpiredIteratorException", "The shard iterator has expired and can no longer be used to retrieve stream records.");
  const from = position.at - shard.trimmed;
  if (from < 0) throw refuse("TrimmedDataAccessException", "The operation attempted to read past the oldest stream record in a shard.");
  const left = shard.records.slice(from, from + Math.min(input.Limit ?? MOST_RECORDS, MOST_RECORDS));
  const isEmpty = left.length > 0 && world.lie("emptyPage");
  const size = isEmpty ? 0 : left.length > 1 && world.lie("shortPage") ? 1 + below(rules.random, left.length - 1) : left.length;
  const Records = left.slice(0, size).map(({ wire }) => wire);
  if (shard.closedAt !== undefined && !isEmpty && from + size >= shard.records.length) {
    // The last page may hold records. What ends a shard is no iterator, or null.
    return rules.random() < 0.5 ? { Records } : { Records, NextShardIterator: null as never };
  }
  return { Records, NextShardIterator: pack({ ...position, at: position.at + size, issued: now() }) };
};

const listStreams = (world: World, { TableName: table }: StreamOperationInputs["ListStreams"]): StreamOperationOutputs["ListStreams"] => ({
  Streams: world.streams
    .filter((stream) => table === undefined || stream.table === table)
    .map((stream) => ({ StreamArn: stream.arn, TableName: stream.table, StreamLabel: stream.label })),
});

const answer = (world: World, operation: StreamOperation, input: never, refuse: Refuse): StreamOperationOutputs[StreamOperation] => {
  switch (operation) {
    case "ListStreams":
      return listStreams(world, input);
    case "DescribeStream":
      return { StreamDescription: describeStream(world, input, refuse) };
    case "GetShardIterator":
      return { ShardIterator: shardIterator(world, input, refuse) };
    case "GetRecords":
      return getRecords(world, input, refuse);
  }
};

const checkOptions = ({
  seed = 0,
  shards = 2,
  mostShards = 8,
  recordsPerShard = [5, 60],
  rates = 0.1,
  retention = RETENTION,
}: StreamSourceOptions): void => {
  const isWhole = (value: number, least: number, most: number): boolean => Number.isInteger(value) && value >= least && value <= most;
  const isShare = (value: number): boolean => value >= 0 && value <= 1;
  const given = typeof rates === "number" ? { all: rates } : rates;
  const findings = [
    ...(Number.isInteger(seed) ? [] : [`seed is ${String(seed)}, not a whole number.`]),
    ...(isWhole(shards, 1, 100) ? [] : [`shards is ${String(shards)}, not a whole number within 1 to 100.`]),
    ...(isWhole(mostShards, shards, 1_000) ? [] : [`mostShards is ${String(mostShards)}, not a whole number within shards to 1,000.`]),
    ...(isWhole(recordsPerShard[0], 1, recordsPerShard[1])
      ? []
      : ["recordsPerShard takes two whole numbers, the lower one first, from 1 on."]),
    ...(retention > 0 ? [] : [`retention is ${String(retention)}, not above 0.`]),
    ...Object.entries(given).flatMap(([kind, rate]) => [
      ...(kind === "all" || LIES.includes(kind as StreamLie) ? [] : [`rates names the unknown lie "${kind}".`]),
      ...(isShare(rate) ? [] : [`rates.${kind} is ${String(rate)}, not within 0 to 1.`]),
    ]),
  ];
  if (findings.length > 0) throw new EdgetableError("plan.invalidOption", `createStreamSource: ${findings.join(" ")}`);
};

/** Marks a removal as one of DynamoDB's TTL. */
const SERVICE = { Type: "Service", PrincipalId: "dynamodb.amazonaws.com" };

interface IntakeCall {
  /** Whether every record arrives now. */
  readonly all: boolean;
  /** Whether to look for new streams and shards of the engine. */
  readonly discover: boolean;
}

/** Brings the simulated streams up to date with the changes that were made. */
const createIntake = (changes: Changes, world: World) => {
  const expiring = new Set<string>();
  const { rules, options, streams } = world;
  const marked = (wire: WireStreamRecord): WireStreamRecord => {
    const { userIdentity: _, ...rest } = wire;
    const item = itemText(wire.dynamodb?.Keys ?? {});
    const expired = wire.eventName === "REMOVE" && expiring.delete(item);
    if (options.replicated) return rest;
    return expired ? { ...rest, userIdentity: SERVICE } : wire;
  };
  const take = async (how: IntakeCall): Promise<void> => {
    for (const { of, enabled, records } of await changes.take(how.discover)) {
      let stream = streams.find(({ arn }) => arn === of.arn);
      if (!stream) streams.push((stream = openStream(of, rules, options.shards ?? 2)));
      for (const wire of records) stream.late.push(marked(wire));
      if (!enabled && stream.enabled) {
        arrive(stream, rules, true);
        for (const shard of stream.shards) if (shard.closedAt === undefined) closeShard(stream, rules, shard);
        stream.enabled = false;
      }
    }
    for (const stream of streams) {
      if (stream.late.length > 0) arrive(stream, rules, how.all || !world.lie("disorder"));
      trimBefore(stream, world.now() - (options.retention ?? RETENTION));
    }
  };
  // One at a time, or records of two calls would overtake each other.
  let last: Promise<void> = Promise.resolve();
  return {
    take: (how: IntakeCall): Promise<void> => {
      last = last.catch(() => undefined).then(() => take(how));
      return last;
    },
    expire: (key: Item): void => void expiring.add(itemText(key)),
  };
};

/**
 * A stream that lies as production does, over the stream of a local engine: it takes the engine's true records and gives
 * them out again over shards that roll and split, with gaps in sequence numbers of 21 to 40 digits, empty and short pages,
 * late and partial listings, throttling, expired iterators and trimmed records. The records of one item stay in order; of
 * others, those of one transaction included, the order is lost. Each record comes once: DynamoDB Streams has no duplicates.
 *
 * @param inner the engine's stream, such as of `createLeanStreamTransport`
 * @param table whose streams to give
 * @throws {plan.invalidOption} if an option is out of range
 */
export const createStreamSource = (inner: StreamTransport, table: string, options: StreamSourceOptions = {}): StreamSource => {
  checkOptions(options);
  const effects: FaultEffects = options.effects ?? { now: () => Date.now(), sleep };
  const { seed = 0, rates = 0.1, recordsPerShard = [5, 60], mostShards = 8 } = options;
  const rateOf = (kind: StreamLie): number => (typeof rates === "number" ? rates : (rates[kind] ?? 0));
  const told = Object.fromEntries(LIES.map((kind) => [kind, 0])) as Record<StreamLie, number>;
  let ordinal = 0;
  let random: Random = seededRandom(seed);
  const rules: ShardRules = {
    random: () => random(),
    now: () => effects.now(),
    records: recordsPerShard,
    most: mostShards,
    lies: rateOf("listing") > 0,
    disorder: rateOf("disorder") > 0,
  };
  const rows = new Map<StreamLie, number>();
  const world: World = {
    options,
    rules,
    now: () => effects.now(),
    streams: [],
    lie: (kind) => {
      // Nobody is refused for ever.
      const row = rows.get(kind) ?? 0;
      const lies = row < IN_A_ROW && random() < rateOf(kind);
      rows.set(kind, lies ? row + 1 : 0);
      if (lies) told[kind]++;
      return lies;
    },
  };
  const watched = <T>(work: Promise<T>): Promise<T> => effects.hold?.(work) ?? work;
  const intake = createIntake(readChanges(inner, table), world);

  const send = async <O extends StreamOperation>(
    operation: O,
    input: StreamOperationInputs[O],
    { signal }: Pick<SendOptions, "signal" | "timeout"> = {},
  ): Promise<StreamOperationOutputs[O]> => {
    const attempt = { operation, input };
    const refuse = refusal(operation, input);
    if (signal?.aborted) throw attemptError(attempt, { code: "execute.aborted", message: "aborted before it was sent", ambiguous: false });
    await watched(intake.take({ all: false, discover: operation === "ListStreams" || operation === "DescribeStream" }));
    random = seededRandom(mixSeeds(seed, ++ordinal));
    if (world.lie("throttle")) {
      const name = operation === "GetRecords" ? "ProvisionedThroughputExceededException" : "LimitExceededException";
      throw refuse(name, "Too many requests");
    }
    if (world.lie("internalError")) throw refuse("InternalServerError", "Internal server error");
    if (world.lie("reset")) throw attemptError(attempt, { code: "execute.connection", message: "socket hang up", ambiguous: true });
    return answer(world, operation, input as never, refuse);
  };

  return {
    send,
    close: () => inner.close(),
    roll: async (into = 2) => {
      await watched(intake.take({ all: true, discover: true }));
      const newest = world.streams.at(-1);
      if (!newest) return;
      for (const shard of newest.shards.slice()) if (shard.closedAt === undefined) continueShard(newest, rules, shard, into);
    },
    trim: async () => {
      await watched(intake.take({ all: true, discover: true }));
      for (const stream of world.streams) trimBefore(stream, Infinity);
    },
    expire: (key) => intake.expire(key),
    records: async () => {
      await watched(intake.take({ all: true, discover: true }));
      return world.streams.flatMap(({ shards }) => shards.flatMap(({ records }) => records.map(({ wire }) => wire)));
    },
    told,
    get shards() {
      return world.streams.flatMap(({ shards }) => shards.map(({ id }) => id));
    },
  };
};
