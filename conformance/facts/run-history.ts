import { isDeepStrictEqual } from "node:util";
import { type Effects, type Item, type Key, type Transport } from "edgetable";
import { createLeanStreamTransport } from "edgetable/streams";
import { seededRandom } from "@edgetable/testing";
import { createSession } from "../../packages/edgetable/src/executor/session.ts";
import { maintainFacts, type TimedRecord } from "../../packages/edgetable/src/streams/maintain-facts.ts";
import type { TestEngine } from "../engines/open-engine.ts";
import { wrongFacts } from "./recompute.ts";
import { openSchedule, type Schedule } from "./schedule.ts";
import { type Db, graphIn, randomWrite, type RawPut } from "./world.ts";

/** A request as a broken processor sends it; undefined for one that it leaves out. */
export type Sabotage = (operation: string, input: object) => object | undefined;

/** A table with a stream, in which many histories run, one after the other. */
export interface World {
  readonly table: string;
  readonly engine: Transport;
  readonly connect: (transport: Transport, effects?: Effects) => Db;
  /** The records since the last call. */
  take(): Promise<readonly TimedRecord[]>;
  items(): Promise<readonly Item[]>;
}

/** Makes the table. */
export const openWorld = async ({ transport: engine, endpoint, freshTableName }: TestEngine): Promise<World> => {
  const table = freshTableName("facts");
  const graph = graphIn(table);
  await graph.connect({ transport: engine }).table.create({ stream: true });
  const streams = createLeanStreamTransport({ endpoint });
  const { Streams = [] } = await streams.send("ListStreams", { TableName: table });
  const StreamArn = Streams[0]?.StreamArn ?? "";
  const { StreamDescription } = await streams.send("DescribeStream", { StreamArn });
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId ?? "";
  let { ShardIterator = "" } = await streams.send("GetShardIterator", { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" });
  return {
    table,
    engine,
    connect: (transport, effects) => graph.connect({ transport, ...(effects && { advanced: { effects } }) }),
    take: async () => {
      const records: TimedRecord[] = [];
      for (;;) {
        const { Records = [], NextShardIterator = "" } = await streams.send("GetRecords", { ShardIterator });
        ShardIterator = NextShardIterator;
        if (Records.length === 0) return records;
        for (const { eventName, dynamodb: { Keys, OldImage, NewImage } = {} } of Records) {
          const [before, after] = [eventName === "INSERT" ? undefined : OldImage, eventName === "REMOVE" ? undefined : NewImage];
          // DynamoDB records no write that changes nothing; the embedded engine does.
          if (!isDeepStrictEqual(before, after)) records.push({ key: Keys as Key, before, after, time: Date.now() });
        }
      }
    },
    items: async () => {
      const items: Item[] = [];
      let start: Key | undefined;
      do {
        const page = await engine.send("Scan", { TableName: table, ConsistentRead: true, ...(start && { ExclusiveStartKey: start }) });
        items.push(...(page.Items ?? []));
        start = page.LastEvaluatedKey;
      } while (start);
      return items;
    },
  };
};

const broken = (transport: Transport, sabotage: Sabotage | undefined): Transport =>
  sabotage
    ? {
        ...transport,
        send: async (operation, input, options) => {
          const sent = sabotage(operation, input);
          return sent === undefined ? ({} as never) : transport.send(operation, sent as typeof input, options);
        },
      }
    : transport;

/** A record that has not been dealt with yet; one that has may be told again. */
interface Delivery {
  readonly record: TimedRecord;
  done: boolean;
}

const BATCH = 8;

const beginProcessor = (
  { world, schedule, sabotage }: { readonly world: World; readonly schedule: Schedule; readonly sabotage: Sabotage | undefined },
  name: string,
  batch: readonly Delivery[],
): void =>
  schedule.begin(`processor ${name}`, async (transport, effects) => {
    const { catalog } = world.connect(transport);
    const session = createSession({ catalog, transport: broken(transport, sabotage), effects, retry: { attempts: 3 } });
    const failed = await maintainFacts(session, { indexLag: 0 })?.(batch.map(({ record }) => record));
    for (const one of batch) if (!failed?.some(({ record }) => record === one.record)) one.done = true;
  });

/** How a history ended: what is wrong after everything has been dealt with, and every request of it. */
export interface Outcome {
  readonly wrong: readonly string[];
  readonly log: readonly string[];
}

/**
 * Writers write at random while processors are killed, suspended, and told of changes twice, late and in any order. When all
 * is done, every fact must be what a plain reader computes.
 */
export const runHistory = async (
  world: World,
  { seed, writes, sabotage }: { readonly seed: number; readonly writes: number; readonly sabotage?: Sabotage },
): Promise<Outcome> => {
  const random = seededRandom(seed);
  const history = `h${seed}-`;
  const deliveries: Delivery[] = [];
  await world.take();
  const collect = async (): Promise<void> => {
    for (const record of await world.take()) deliveries.push({ record, done: false });
  };
  const schedule = openSchedule(world.engine, random, { kills: 0.02, stalls: 0.05 });
  let processors = 0;
  const beginWrite = (name: number): void => {
    const write = randomWrite(random);
    schedule.begin(`writer ${name}`, async (transport, effects) => {
      const raw: RawPut = (Item) => transport.send("PutItem", { TableName: world.table, Item });
      await write(world.connect(transport, effects), history, raw);
    });
  };
  const tell = (chosen: readonly Delivery[]): void => {
    if (chosen.length > 0) beginProcessor({ world, schedule, sabotage }, String(++processors), chosen);
  };
  const tellSome = (): void => {
    const open = deliveries.filter(({ done }) => !done);
    const old = deliveries.filter(() => random() < 0.05);
    const chosen = [...open.slice(0, 1 + Math.floor(random() * BATCH)), ...old];
    tell(chosen.toSorted(() => random() - 0.5));
  };
  for (let written = 0; written < writes;) {
    if (random() < 0.3) beginWrite(++written);
    if (random() < 0.15) {
      await collect();
      tellSome();
    }
    await schedule.turn();
  }
  for (let round = 0; round < 200; round++) {
    while (await schedule.turn());
    await collect();
    const open = deliveries.filter(({ done }) => !done);
    if (open.length === 0)
      return { wrong: wrongFacts(world.connect(world.engine).catalog, await world.items(), history), log: schedule.log };
    tell(open.slice(0, 100));
  }
  return { wrong: ["the processors never come to rest"], log: schedule.log };
};
