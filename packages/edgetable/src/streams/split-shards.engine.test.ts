import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type Transport } from "../index.ts";
import type { StreamTransport, WireStreamRecord } from "../transport/stream-operations.ts";
import { serviceError } from "../transport/transport-error.ts";
import { createStreamConsumer, type ConsumerOptions, type StreamGap } from "./index.ts";
import { splitStream } from "./split-stream.test-support.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const quick: ConsumerOptions = { pollInterval: 5, lease: 500, batchSize: 3, discovery: 20 };

const open = async (sequenceOf?: (number: number) => string, transport: Transport = engine.transport) => {
  const table = engine.freshTableName("split");
  const db = defineGraph({
    table,
    nodes: { student: node({ key: "STUDENT#{id}", schema: z.object({ id: z.string(), turn: z.number() }) }) },
    // Enough attempts for the longest time for which a test's table is away, whatever the waits between them are.
  }).connect({ transport, retry: { attempts: 100, maxDelay: 200 } });
  await db.table.create({ stream: true });
  const stream = splitStream(table, sequenceOf);
  const seen: number[] = [];
  const gaps: StreamGap[] = [];
  let turn = 0;
  const item = (id: string, now: number) => ({ pk: { S: `STUDENT#${id}` }, sk: { S: "#" }, id: { S: id }, turn: { N: String(now) } });
  /** Records of as many changes of one student, whose turns count on. */
  const turns = (count: number, id = "s"): readonly WireStreamRecord[] =>
    Array.from({ length: count }, () => {
      const { pk, sk, ...rest } = item(id, ++turn);
      return {
        eventID: `e${turn}`,
        eventName: "MODIFY",
        dynamodb: {
          ApproximateCreationDateTime: Math.floor(Date.now() / 1000),
          Keys: { pk, sk },
          OldImage: item(id, turn - 1),
          NewImage: { pk, sk, ...rest },
        },
      };
    });
  const consumer = (more: ConsumerOptions = {}, onTurn: (turn: number) => void | Promise<void> = () => undefined) =>
    createStreamConsumer(
      db,
      {
        seen: {
          on: "student",
          updated: async ({ after }) => {
            await onTurn(after.turn);
            seen.push(after.turn);
          },
        },
      },
      { ...quick, stream: stream.transport, onGap: (gap) => gaps.push(gap), ...more },
    );
  return { db, stream, seen, gaps, turns, consumer };
};
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test("children are read after their parents, from their beginning, whatever the listing's order", async () => {
  const { stream, seen, turns, consumer } = await open();
  stream.open("c", "b");
  stream.open("b", "a");
  stream.open("a");
  stream.write("a", turns(10));
  stream.write("b", turns(10));
  stream.write("c", turns(10));
  stream.close("a");
  stream.close("b");
  stream.faults.emptyPages = true;
  await consumer().run({ idle: 300 });
  expect(seen).toEqual(upTo(30));
  expect(stream.begun).toEqual({ a: 1, b: 1, c: 1 });
});

test("a shard that splits while it is read loses and repeats nothing; a second run reads nothing again", async () => {
  const { stream, seen, turns, consumer } = await open();
  stream.open("a");
  stream.write("a", turns(5));
  const run = consumer().run({ idle: 400 });
  await expect.poll(() => seen.length).toBe(5);
  stream.write("a", turns(5));
  stream.close("a");
  stream.open("b", "a");
  stream.open("c", "a");
  stream.write("b", turns(5));
  await run;
  expect(seen).toEqual(upTo(15));
  stream.write("c", turns(5));
  await consumer().run({ idle: 200 });
  expect(seen).toEqual(upTo(20));
  expect(stream.begun["a"]).toBe(1);
});

/** Sabotage: the service is asked for another position than the one that was read last. */
const asking = (transport: StreamTransport, change: (sequence: string) => string): StreamTransport => ({
  ...transport,
  send: (operation, input, options) => {
    const changed = "SequenceNumber" in input ? { ...input, SequenceNumber: change(input.SequenceNumber) } : input;
    return transport.send(operation, changed, options);
  },
});

describe.each([
  ["that grow from 9 to 10", String, (sequence: string) => (sequence > "10" ? "10" : sequence)],
  ["of 40 digits", undefined, (sequence: string) => BigInt(Number(sequence)).toString()],
] as const)("sequence numbers %s", (_, sequenceOf, broken) => {
  const readInParts = async (through: (transport: StreamTransport) => StreamTransport) => {
    const { stream, seen, turns, consumer } = await open(sequenceOf);
    stream.open("a");
    for (let run = 0; run < 4; run++) {
      stream.write("a", turns(3));
      await consumer({ stream: through(stream.transport) }).run({ idle: 100 });
    }
    return seen;
  };
  test("are positions to go on from", async () => {
    expect(await readInParts((transport) => transport)).toEqual(upTo(12));
  });
  test("would lead elsewhere if they were compared as text or rounded", async () => {
    expect(await readInParts((transport) => asking(transport, broken))).not.toEqual(upTo(12));
  });
});

test("a parent that is not listed was trimmed, and is not waited for", async () => {
  const { stream, seen, gaps, turns, consumer } = await open();
  stream.open("b", "long gone");
  stream.write("b", turns(4));
  await consumer().run({ idle: 200 });
  expect(seen).toEqual(upTo(4));
  expect(gaps).toEqual([]);
});

test("an iterator that expires, throttling and a lost answer cost nothing but time", async () => {
  const { stream, seen, turns, consumer } = await open();
  stream.open("a");
  stream.write("a", turns(9));
  stream.faults.failing = [
    "",
    "",
    "",
    "LimitExceededException",
    "ExpiredIteratorException",
    "",
    "InternalServerError",
    "",
    "ExpiredIteratorException",
  ];
  await consumer().run({ idle: 500 });
  expect(seen).toEqual(upTo(9));
});

test("records that were trimmed behind the position are a gap, told once, and the rest is read", async () => {
  const { stream, seen, gaps, turns, consumer } = await open();
  stream.open("a");
  stream.write("a", turns(3));
  await consumer().run({ idle: 200 });
  stream.write("a", turns(6));
  stream.trim("a", 6);
  expect(await consumer().run({ idle: 200 })).toMatchObject({ gaps: 1 });
  expect(seen).toEqual([1, 2, 3, 7, 8, 9]);
  expect(gaps).toMatchObject([{ shard: "a", kind: "trimmed", after: expect.stringMatching(/^9\d{38}3$/) }]);
});

test("a gap ends the consumer if it is asked to, and the next run goes on behind it", async () => {
  const { stream, seen, turns, consumer } = await open();
  stream.open("a");
  stream.write("a", turns(3));
  await consumer().run({ idle: 200 });
  stream.write("a", turns(6));
  stream.trim("a", 6);
  await expect(consumer({ gaps: "throw" }).run({ idle: 200 })).rejects.toMatchObject({
    code: "stream.gap",
    details: { shard: "a", kind: "trimmed" },
  });
  await consumer({ gaps: "throw" }).run({ idle: 200 });
  expect(seen.slice(-3)).toEqual([7, 8, 9]);
});

test("a shard that is gone before it was read to its end is a gap, and its position is let go", async () => {
  const { stream, seen, gaps, turns, consumer } = await open();
  stream.open("a");
  stream.write("a", turns(3));
  await consumer().run({ idle: 200 });
  stream.trim("a");
  stream.open("b", "a");
  stream.write("b", turns(2));
  await consumer().run({ idle: 300 });
  expect(seen).toEqual(upTo(5));
  expect(gaps).toMatchObject([{ shard: "a", kind: "gone" }]);
  await consumer().run({ idle: 300 });
  expect(gaps).toHaveLength(1);
});

test("a listing that lacks a finished parent once does not make it be read again", async () => {
  const { stream, seen, gaps, turns, consumer } = await open();
  stream.open("a");
  stream.write("a", turns(3));
  stream.close("a");
  stream.open("b", "a");
  stream.write("b", turns(3));
  await consumer().run({ idle: 200 });
  stream.faults.hidden = ["a"];
  await consumer().run({ idle: 200 });
  expect(seen).toEqual(upTo(6));
  expect(stream.begun["a"]).toBe(1);
  expect(gaps).toEqual([]);
});

test("two consumers share the shards, one that comes later gets its part, and one that stops leaves its own", async () => {
  const { stream, turns, consumer } = await open();
  const by: Record<string, number[]> = { one: [], two: [] };
  const shards = ["a", "b", "c", "d"];
  for (const shard of shards) stream.open(shard);
  const stops = { one: new AbortController(), two: new AbortController() };
  let told = 0;
  const start = (name: "one" | "two") =>
    consumer({}, (turn) => void by[name]?.push(turn)).run({
      signal: stops[name].signal,
      onProgress: (progress) => (told = name === "one" ? progress.shards : told),
      progressEvery: 10,
    });
  const one = start("one");
  await expect.poll(() => told).toBe(4);
  const two = start("two");
  await expect.poll(() => told).toBe(2);
  for (const shard of shards) stream.write(shard, turns(5, shard));
  await expect.poll(() => (by["one"] ?? []).length + (by["two"] ?? []).length).toBe(20);
  expect(by["one"]).toHaveLength(10);
  stops.two.abort();
  await two;
  for (const shard of shards) stream.write(shard, turns(5, shard));
  await expect.poll(() => by["one"]?.length).toBe(30);
  stops.one.abort();
  await one;
});

test("of a stream that begins at its end, closed shards are left out", async () => {
  const { stream, seen, turns, consumer } = await open();
  stream.open("a");
  stream.write("a", turns(3));
  stream.close("a");
  stream.open("b", "a");
  stream.write("b", turns(3));
  const run = consumer({ from: "latest" }).run({ idle: 500 });
  await expect.poll(() => stream.begun["b"]).toBe(1);
  stream.write("b", turns(2));
  stream.close("b");
  stream.open("c", "b");
  stream.write("c", turns(2));
  await run;
  expect(seen).toEqual([7, 8, 9, 10]);
});

test("a stream that begins at its end begins once, although the table is away as that is recorded", async () => {
  let isAway = true;
  const transport: Transport = {
    send: async (operation, input, options) => {
      const isBeginning = operation === "UpdateItem" && /"begun":\{"N":"1"\}/.test(JSON.stringify(input));
      if (isAway && isBeginning) throw serviceError({ name: "InternalServerError", message: "away", status: 500 }, { operation, input });
      return engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  const { stream, seen, turns, consumer } = await open(undefined, transport);
  stream.open("a");
  const stopping = new AbortController();
  const first = consumer({ from: "latest" }).run({ signal: stopping.signal });
  // Longer than a release is tried for.
  setTimeout(() => (isAway = false), 2500);
  await expect.poll(() => stream.begun["a"], { timeout: 10_000 }).toBe(1);
  stream.write("a", turns(2));
  await expect.poll(() => seen).toEqual([1, 2]);
  stopping.abort();
  await first;
  stream.close("a");
  stream.open("b", "a");
  stream.write("b", turns(2));
  stream.close("b");
  stream.open("c", "b");
  stream.write("c", turns(2));
  await consumer({ from: "latest" }).run({ idle: 500 });
  expect(seen).toEqual(upTo(6));
});
