import type { StreamDescription, StreamTransport, WireStreamRecord } from "edgetable";
import type { SimulatedStream } from "./stream-shards.ts";

/** What came newly from one of a table's streams. */
export interface NewChanges {
  readonly of: Pick<SimulatedStream, "arn" | "table" | "label" | "keys" | "view">;
  /** Whether the table still writes to it. */
  readonly enabled: boolean;
  /** Those of one item in order. */
  readonly records: readonly WireStreamRecord[];
}

/** The true changes of a table, from its engine's stream. */
export interface Changes {
  /**
   * Gives what has been written since the last call. Costs a request, and one a shard and a page.
   *
   * @param looks whether to look for new shards, for a request a stream more
   */
  take(looks: boolean): Promise<readonly NewChanges[]>;
}

/** How far one stream of the engine was read. */
interface Reading {
  readonly of: NewChanges["of"];
  enabled: boolean;
  /** The next iterator of each shard; undefined if the shard was read to its end. */
  readonly iterators: Map<string, string | undefined>;
}

/** Reads a table's streams at an engine that tells the truth, from their beginning. */
export const readChanges = (inner: StreamTransport, table: string): Changes => {
  const readings = new Map<string, Reading>();
  // An engine may show old records in a new stream again.
  const seen = new Set<string>();

  const describe = async (arn: string): Promise<Required<Pick<StreamDescription, "Shards">> & StreamDescription> => {
    const shards: NonNullable<StreamDescription["Shards"]>[number][] = [];
    let start: string | undefined;
    for (;;) {
      const { StreamDescription: found = {} } = await inner.send("DescribeStream", {
        StreamArn: arn,
        ...(start !== undefined && { ExclusiveStartShardId: start }),
      });
      shards.push(...(found.Shards ?? []));
      start = found.LastEvaluatedShardId ?? undefined;
      if (start === undefined) return { ...found, Shards: shards };
    }
  };

  const readPages = async (reading: Reading, shard: string): Promise<readonly WireStreamRecord[]> => {
    const records: WireStreamRecord[] = [];
    let iterator = reading.iterators.get(shard);
    while (iterator !== undefined) {
      const page: { readonly Records?: readonly WireStreamRecord[]; readonly NextShardIterator?: string } = await inner.send("GetRecords", {
        ShardIterator: iterator,
      });
      iterator = page.NextShardIterator ?? undefined;
      reading.iterators.set(shard, iterator);
      records.push(...(page.Records ?? []));
      if ((page.Records ?? []).length === 0) break;
    }
    return records;
  };

  /** Looks for streams that are new and, if asked to, for shards. Gives the streams that the engine lists. */
  const discover = async (looks: boolean): Promise<ReadonlySet<string>> => {
    const { Streams = [] } = await inner.send("ListStreams", { TableName: table });
    for (const { StreamArn: arn, StreamLabel: label = "" } of Streams) {
      if (arn === undefined || (!looks && readings.has(arn))) continue;
      const { Shards, StreamViewType, StreamStatus, KeySchema } = await describe(arn);
      const of = { arn, table, label, view: StreamViewType, keys: KeySchema };
      const reading = readings.get(arn) ?? { of, enabled: true, iterators: new Map<string, string | undefined>() };
      reading.enabled = StreamStatus !== "DISABLED" && StreamStatus !== "DISABLING";
      readings.set(arn, reading);
      for (const { ShardId = "" } of Shards) {
        if (reading.iterators.has(ShardId)) continue;
        const { ShardIterator } = await inner.send("GetShardIterator", { StreamArn: arn, ShardId, ShardIteratorType: "TRIM_HORIZON" });
        reading.iterators.set(ShardId, ShardIterator);
      }
    }
    return new Set(Streams.map(({ StreamArn = "" }) => StreamArn));
  };

  return {
    take: async (looks) => {
      const hasEnded = [...readings.values()].some(({ enabled, iterators }) => enabled && [...iterators.values()].includes(undefined));
      const listed = await discover(looks || hasEnded);
      const news: NewChanges[] = [];
      for (const [arn, reading] of readings) {
        const records: WireStreamRecord[] = [];
        // A stream that the engine lists no more was replaced: its iterators would go on with the records of the new one.
        if (listed.has(arn)) for (const shard of reading.iterators.keys()) records.push(...(await readPages(reading, shard)));
        else reading.enabled = false;
        const unseen = records.filter(({ eventID = "" }) => !seen.has(eventID));
        for (const { eventID = "" } of unseen) seen.add(eventID);
        news.push({ of: reading.of, enabled: reading.enabled, records: unseen });
      }
      return news;
    },
  };
};
