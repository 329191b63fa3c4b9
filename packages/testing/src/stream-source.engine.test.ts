import { createLeanStreamTransport } from "edgetable/streams";
import { isEdgetableError, type Item, type StreamTransport, type WireStreamRecord } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../../../conformance/engines/open-engine.ts";
import { createStreamSource, type StreamSourceOptions } from "./stream-source.ts";
import { virtualClock } from "./virtual-clock.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const streamed = { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" } as const;

const open = async (options?: StreamSourceOptions) => {
  const TableName = engine.freshTableName("source");
  await engine.transport.send("CreateTable", {
    TableName,
    AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    BillingMode: "PAY_PER_REQUEST",
    StreamSpecification: streamed,
  });
  const source = createStreamSource(createLeanStreamTransport({ endpoint: engine.endpoint }), TableName, options);
  const key = (pk: string): Item => ({ pk: { S: pk } });
  const put = (pk: string, n: number) => engine.transport.send("PutItem", { TableName, Item: { ...key(pk), n: { N: String(n) } } });
  const remove = (pk: string) => engine.transport.send("DeleteItem", { TableName, Key: key(pk) });
  return { TableName, source, put, remove, key };
};

/** Sends until the answer is no refusal that passes. */
const persist = async <T>(send: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!isEdgetableError(error) || !(error.retryable || error.details["fault"] === "ExpiredIteratorException")) throw error;
    }
  }
};

/** Reads everything as a client should: parents before children, parents that are not listed assumed to be trimmed. */
const readAll = async (source: StreamTransport, TableName: string) => {
  const read: { readonly shard: string; readonly record: WireStreamRecord }[] = [];
  const { Streams = [] } = await persist(() => source.send("ListStreams", { TableName }));
  const StreamArn = Streams.at(-1)?.StreamArn ?? "";
  const done = new Set<string>();
  for (let idle = 0; idle < 5; idle++) {
    const shards = new Map<string, string | undefined>();
    let start: string | undefined;
    do {
      const input = { StreamArn, ...(start !== undefined && { ExclusiveStartShardId: start }) };
      const { StreamDescription } = await persist(() => source.send("DescribeStream", input));
      for (const { ShardId = "", ParentShardId } of StreamDescription?.Shards ?? []) shards.set(ShardId, ParentShardId);
      start = StreamDescription?.LastEvaluatedShardId;
    } while (start !== undefined);
    for (const [shard, parent] of shards) {
      if (done.has(shard) || (parent !== undefined && shards.has(parent) && !done.has(parent))) continue;
      const before = read.filter((one) => one.shard === shard);
      const at = before.at(-1)?.record.dynamodb?.SequenceNumber;
      const from =
        at === undefined
          ? { ShardIteratorType: "TRIM_HORIZON" as const }
          : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER" as const, SequenceNumber: at };
      const ask = () => source.send("GetShardIterator", { StreamArn, ShardId: shard, ...from });
      let iterator = (await persist(ask)).ShardIterator;
      for (let empty = 0; empty < 5;) {
        const page = await source.send("GetRecords", { ShardIterator: iterator ?? "" }).catch((error: unknown) => {
          if (isEdgetableError(error) && (error.retryable || error.details["fault"] === "ExpiredIteratorException")) return undefined;
          throw error;
        });
        if (!page) continue;
        for (const record of page.Records ?? []) read.push({ shard, record });
        if ((page.Records ?? []).length > 0) idle = 0;
        empty = (page.Records ?? []).length > 0 ? 0 : empty + 1;
        iterator = page.NextShardIterator ?? undefined;
        if (iterator === undefined) {
          done.add(shard);
          idle = 0;
          break;
        }
      }
    }
  }
  return read;
};

test("every record comes once, those of an item in order, over shards that split, whatever it lies", async () => {
  const { TableName, source, put, remove } = await open({ seed: 3, rates: 0.3, recordsPerShard: [3, 12] });
  const expected = new Map<string, string[]>();
  for (let n = 0; n < 300; n++) {
    const pk = `item ${String(n % 17)}`;
    const isRemoval = n % 23 === 22;
    if (n % 20 === 0) await persist(() => source.send("ListStreams", { TableName }));
    await (isRemoval ? remove(pk) : put(pk, n));
    if (!isRemoval || expected.get(pk)?.at(-1) !== "gone") expected.set(pk, [...(expected.get(pk) ?? []), isRemoval ? "gone" : String(n)]);
  }
  const read = await readAll(source, TableName);
  const told = new Map<string, string[]>();
  const sequences = new Map<string, bigint>();
  for (const { shard, record } of read) {
    const { Keys, NewImage, SequenceNumber = "0" } = record.dynamodb ?? {};
    const pk = Keys?.["pk"];
    const name = pk && "S" in pk ? pk.S : "";
    const image = NewImage?.["n"];
    told.set(name, [...(told.get(name) ?? []), image && "N" in image ? image.N : "gone"]);
    expect(BigInt(SequenceNumber)).toBeGreaterThan(sequences.get(shard) ?? 0n);
    sequences.set(shard, BigInt(SequenceNumber));
    expect(SequenceNumber).toMatch(/^\d{21,40}$/);
  }
  expect(told).toEqual(expected);
  expect(new Set(read.map(({ record }) => record.eventID)).size).toBe(read.length);
  expect(source.shards.length).toBeGreaterThan(20);
  for (const [kind, times] of Object.entries(source.told)) expect([kind, times > 0]).toEqual([kind, true]);
  // As text, "10…" sorts before "9…".
  const texts = [...sequences.values()].map(String);
  expect(new Set(texts.map(({ length }) => length)).size).toBeGreaterThan(1);
  await source.close();
});

test("without lies it shows the same records at once", async () => {
  const { TableName, source, put } = await open({ rates: 0, recordsPerShard: [100, 100] });
  for (let n = 0; n < 10; n++) await put("a", n);
  expect((await readAll(source, TableName)).map(({ record }) => record.eventName)).toEqual(["INSERT", ...Array(9).fill("MODIFY")]);
  expect(Object.values(source.told)).toEqual(Object.values(source.told).map(() => 0));
  await source.close();
});

test("records are trimmed by age, iterators expire, and gone shards are not found", async () => {
  const clock = virtualClock();
  const { TableName, source, put } = await open({ rates: 0, shards: 1, recordsPerShard: [4, 4], effects: clock });
  for (let n = 0; n < 6; n++) await put("a", n);
  const StreamArn = (await source.send("ListStreams", { TableName })).Streams?.[0]?.StreamArn ?? "";
  const listed = async () => (await source.send("DescribeStream", { StreamArn })).StreamDescription?.Shards ?? [];
  const [parent] = await listed();
  const place = { StreamArn, ShardId: parent?.ShardId ?? "" };
  const SequenceNumber = parent?.SequenceNumberRange?.EndingSequenceNumber ?? "";
  const { ShardIterator = "" } = await source.send("GetShardIterator", { ...place, ShardIteratorType: "TRIM_HORIZON" });
  expect((await source.send("GetRecords", { ShardIterator })).Records).toHaveLength(4);
  await clock.advance(901_000);
  await expect(source.send("GetRecords", { ShardIterator })).rejects.toMatchObject({ details: { fault: "ExpiredIteratorException" } });
  await clock.advance(86_400_000);
  expect((await listed()).map(({ ShardId }) => ShardId)).not.toContain(parent?.ShardId);
  const ask = source.send("GetShardIterator", { ...place, ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber });
  await expect(ask).rejects.toMatchObject({ code: "execute.streamNotFound" });
  const [child] = await listed();
  expect(child?.ParentShardId).toBe(parent?.ShardId);
  const late = { StreamArn, ShardId: child?.ShardId ?? "", ShardIteratorType: "AFTER_SEQUENCE_NUMBER" as const };
  await expect(
    source.send("GetShardIterator", { ...late, SequenceNumber: child?.SequenceNumberRange?.StartingSequenceNumber ?? "" }),
  ).rejects.toMatchObject({
    details: { fault: "TrimmedDataAccessException" },
  });
  await source.close();
});

test("a stream that is switched off ends, and another follows with what was written from then on", async () => {
  const { TableName, source, put } = await open({ rates: 0 });
  await put("a", 1);
  expect(await readAll(source, TableName)).toHaveLength(1);
  await engine.transport.send("UpdateTable", { TableName, StreamSpecification: { StreamEnabled: false } } as never);
  await put("a", 2);
  await engine.transport.send("UpdateTable", { TableName, StreamSpecification: streamed } as never);
  await put("a", 3);
  const { Streams = [] } = await source.send("ListStreams", { TableName });
  expect(Streams).toHaveLength(2);
  const old = (await source.send("DescribeStream", { StreamArn: Streams[0]?.StreamArn ?? "" })).StreamDescription;
  expect(old?.StreamStatus).toBe("DISABLED");
  expect(old?.Shards?.every(({ SequenceNumberRange: range }) => range?.EndingSequenceNumber !== undefined)).toBe(true);
  expect((await readAll(source, TableName)).map(({ record }) => record.dynamodb?.NewImage?.["n"])).toEqual([{ N: "3" }]);
  await source.close();
});

test("expiry bears the service's name, except where it was replicated", async () => {
  for (const replicated of [false, true]) {
    const { source, put, remove, key } = await open({ rates: 0, replicated });
    await put("a", 1);
    await put("b", 1);
    await source.records();
    source.expire(key("a"));
    await remove("b");
    await remove("a");
    const removals = (await source.records()).filter(({ eventName }) => eventName === "REMOVE");
    const expected = { Type: "Service", PrincipalId: "dynamodb.amazonaws.com" };
    expect(removals.map(({ dynamodb, userIdentity }) => [dynamodb?.Keys, userIdentity])).toEqual(
      expect.arrayContaining([
        [key("b"), undefined],
        [key("a"), replicated ? undefined : expected],
      ]),
    );
    await source.close();
  }
});

test("options out of range are refused, all at once", () => {
  const wrong = { shards: 0, mostShards: 0.5, recordsPerShard: [9, 3], rates: { emptyPgae: 2 }, retention: 0 };
  const make = () => createStreamSource(createLeanStreamTransport({ endpoint: engine.endpoint }), "t", wrong as never);
  expect(make).toThrow(expect.objectContaining({ code: "plan.invalidOption" }));
  expect(make).toThrow(/shards is 0.*mostShards.*recordsPerShard.*retention.*emptyPgae/);
});
