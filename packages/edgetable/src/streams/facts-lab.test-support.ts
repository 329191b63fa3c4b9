import { afterAll, beforeAll } from "vitest";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import type { ConnectOptions } from "../client/connect.ts";
import type { TableAdmin } from "../client/table.ts";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { createSession, type Session, systemEffects } from "../executor/session.ts";
import type { Item, Key } from "../transport/operations.ts";
import { createLeanStreamTransport } from "../transport/lean/lean-stream-transport.ts";
import type { Transport } from "../transport/transport.ts";
import { maintainFacts, type MaintainOptions, type TimedRecord } from "./maintain-facts.ts";

/** A table with a stream, and a processor that is fed with its records when a test says so. */
export interface FactsLab {
  readonly engine: TestEngine;
  readonly table: string;
  /** Reads the records that were written since the last call. */
  take(): Promise<readonly TimedRecord[]>;
  /** Feeds the processor until its own writes bring nothing new. Gives the number of records that it was fed. */
  drain(session: Session, options?: MaintainOptions): Promise<number>;
  items(): Promise<readonly Item[]>;
  stop(): Promise<void>;
}

export const sessionOn = (catalog: Session["catalog"], transport: Transport): Session =>
  createSession({ catalog, transport, effects: systemEffects });

/** Opens a lab for the model of a table's name, whose table is made with a stream. */
export const openFactsLab = async <Connected extends { readonly catalog: Session["catalog"]; readonly table: TableAdmin }>(
  modelIn: (table: string) => { connect(options: ConnectOptions): Connected },
) => {
  const engine = await openEngine();
  const table = engine.freshTableName("facts");
  const db = modelIn(table).connect({ transport: engine.transport });
  await db.table.create({ stream: true });
  const streams = createLeanStreamTransport({ endpoint: engine.endpoint });
  const { Streams = [] } = await streams.send("ListStreams", { TableName: table });
  const StreamArn = Streams[0]?.StreamArn ?? "";
  const { StreamDescription } = await streams.send("DescribeStream", { StreamArn });
  const ShardId = StreamDescription?.Shards?.[0]?.ShardId ?? "";
  const oldest = async (): Promise<string> =>
    (await streams.send("GetShardIterator", { StreamArn, ShardId, ShardIteratorType: "TRIM_HORIZON" })).ShardIterator ?? "";
  let ShardIterator = await oldest();
  // DynamoDB Local sometimes calls the oldest record of a new stream trimmed; another iterator gives it.
  const read = async () =>
    streams.send("GetRecords", { ShardIterator }).catch(async (error: unknown) => {
      if (!isEdgetableError(error) || error.details["fault"] !== "TrimmedDataAccessException") throw error;
      return streams.send("GetRecords", { ShardIterator: await oldest() });
    });
  const take = async (): Promise<readonly TimedRecord[]> => {
    const records: TimedRecord[] = [];
    for (;;) {
      const { Records = [], NextShardIterator = "" } = await read();
      ShardIterator = NextShardIterator;
      if (Records.length === 0) return records;
      for (const { dynamodb = {}, eventName } of Records) {
        const { Keys, OldImage, NewImage } = dynamodb;
        records.push({
          key: Keys as Key,
          before: eventName === "INSERT" ? undefined : OldImage,
          after: eventName === "REMOVE" ? undefined : NewImage,
          time: Date.now(),
        });
      }
    }
  };
  const lab: FactsLab = {
    engine,
    table,
    take,
    drain: async (session, options = { indexLag: 0 }) => {
      const handle = maintainFacts(session, options);
      let fed = 0;
      for (let round = 0; round < 50; round++) {
        const records = await take();
        if (records.length === 0) return fed;
        fed += records.length;
        const failed = (await handle?.(records)) ?? [];
        if (failed[0]) throw failed[0].error;
      }
      throw new Error("the processor's own writes never end");
    },
    items: async () => {
      const items: Item[] = [];
      let start: Key | undefined;
      do {
        const output = await engine.transport.send("Scan", { TableName: table, ...(start && { ExclusiveStartKey: start }) });
        items.push(...(output.Items ?? []));
        start = output.LastEvaluatedKey;
      } while (start);
      return items;
    },
    stop: async () => {
      await streams.close();
      await engine.close();
    },
  };
  return { db, session: sessionOn(db.catalog, engine.transport), lab };
};

/** Opens a lab before the tests of a file, and ends it after them. */
export const factsLabOfFile = <Connected extends { readonly catalog: Session["catalog"]; readonly table: TableAdmin }>(
  modelIn: (table: string) => { connect(options: ConnectOptions): Connected },
) => {
  let opened: Awaited<ReturnType<typeof openFactsLab<Connected>>>;
  beforeAll(async () => {
    opened = await openFactsLab(modelIn);
  });
  afterAll(() => opened.lab.stop());
  return { opened: () => opened, drain: () => opened.lab.drain(opened.session) };
};
