import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, node } from "../index.ts";
import { createLeanStreamTransport } from "../transport/lean/lean-stream-transport.ts";
import type { StreamTransport } from "../transport/stream-operations.ts";
import { verify } from "../verify/index.ts";
import {
  type StreamProgress,
  createStreamConsumer,
  listConsumers,
  listDeadLetters,
  type ConsumerOptions,
  type StreamGap,
} from "./index.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id, name: z.string() }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, title: z.string().optional() }),
        derived: { students: count({ in: "enrolledIn", freshness: "stream" }) },
      }),
    },
    edges: { enrolledIn: edge({ from: "student", to: "course" }) },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const open = async (stream = true) => {
  const graph = modelIn(engine.freshTableName("consumer"));
  const { endpoint } = engine;
  const connect = () => graph.connect({ endpoint });
  const db = connect();
  await db.table.create({ stream });
  return { db, connect, table: graph.catalog.table };
};
const quick: ConsumerOptions = { indexLag: 0, attempts: 2, pollInterval: 20, lease: 500, batchSize: 100 };
const [ann, maths] = [{ id: "ann" }, { id: "maths" }];
const students = (count: number, from = 0) => Array.from({ length: count }, (_, at) => ({ id: `s${from + at}`, name: "N" }));

describe("one consumer", () => {
  test("keeps facts and calls handlers, from the oldest record on, and goes on where it stopped", async () => {
    const { db } = await open();
    const seen: string[] = [];
    await db.course.create(maths).orThrow();
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    await db.enrolledIn.link(ann, maths).orThrow();
    const consumer = createStreamConsumer(db, { seen: { on: "student", created: ({ after }) => void seen.push(after.id) } }, quick);
    // On a busy machine, DynamoDB Local shows a record in the stream half a second after its write.
    const first = await consumer.run({ idle: 1000 });
    expect(seen).toEqual(["ann"]);
    expect(await db.course(maths).get()).toMatchObject({ students: 1 });
    expect(first).toMatchObject({ deadLetters: 0, failures: 0, gaps: 0, shards: 0, error: undefined });
    expect(first.records).toBeGreaterThanOrEqual(3);
    await db.student.create({ id: "bob", name: "Bob" }).orThrow();
    await consumer.run({ idle: 1000 });
    expect(seen).toEqual(["ann", "bob"]);
  });

  test("is listed with how far its group is behind, also when it has ended", async () => {
    const { db } = await open();
    expect(await listConsumers(db)).toEqual([]);
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    const consumer = createStreamConsumer(db, {}, { ...quick, name: "search" });
    const stopped = new AbortController();
    const run = consumer.run({ signal: stopped.signal });
    const seen = async () => (await listConsumers(db))[0];
    while ((await seen())?.lag !== 0 || (await seen())?.consumers !== 1) await new Promise((resolve) => setTimeout(resolve, 50));
    stopped.abort();
    await run;
    // Its own bookkeeping is no change that it has yet to process.
    expect(await seen()).toMatchObject({ name: "search", consumers: 0, lag: 0 });
    await db.student.create({ id: "bob", name: "Bob" }).orThrow();
    const before = await seen();
    expect(before?.lag).toBeGreaterThan(0);
    await consumer.run({ idle: 300 });
    expect(await seen()).toMatchObject({ consumers: 0, lag: 0 });
  });

  test("begins at the present end if it is asked to", async () => {
    const { db } = await open();
    const seen: string[] = [];
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    const consumer = createStreamConsumer(
      db,
      { seen: { on: "student", created: ({ after }) => void seen.push(after.id) } },
      { ...quick, from: "latest" },
    );
    const stopped = new AbortController();
    const run = consumer.run({ signal: stopped.signal });
    // Nobody tells when it has begun: students come until it sees one.
    for (let at = 0; seen.length === 0; at++) {
      await db.student.create({ id: `bob${at}`, name: "Bob" }).orThrow();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    stopped.abort();
    await run;
    expect(seen).not.toContain(ann.id);
  });

  test("goes on from there where nothing came before it stopped", async () => {
    const { db } = await open();
    const seen: string[] = [];
    const handlers = {
      seen: { on: "student", created: ({ after }: { readonly after: { readonly id: string } }) => void seen.push(after.id) },
    } as const;
    const consumer = createStreamConsumer(db, handlers, { ...quick, from: "latest" });
    await consumer.run({ idle: 200 });
    await db.student.create({ id: "bob", name: "Bob" }).orThrow();
    // A busy engine shows a record a moment late.
    await consumer.run({ idle: 2000 });
    expect(seen).toEqual(["bob"]);
    await consumer.run({ idle: 200 });
    expect(seen).toEqual(["bob"]);
  });

  test("does not take Edgetable's own items for the end, however long they take to read", async () => {
    const { db } = await open();
    const seen: string[] = [];
    for (const name of ["a", "b", "c"]) await db.jobs.run(name, {}, async () => undefined);
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    const stream = createLeanStreamTransport({ endpoint: engine.endpoint });
    const send: StreamTransport["send"] = async (operation, input, options) => {
      if (operation === "GetRecords") await new Promise((resolve) => setTimeout(resolve, 40));
      return stream.send(operation, input, options);
    };
    const handlers = {
      seen: { on: "student", created: ({ after }: { readonly after: { readonly id: string } }) => void seen.push(after.id) },
    } as const;
    // Each heartbeat of the consumer is an own item to read, too: DynamoDB Local's four shards have one lease each.
    const slow = { ...quick, lease: 3000, batchSize: 1, stream: { ...stream, send } };
    await createStreamConsumer(db, handlers, slow).run({ idle: 60 });
    expect(seen).toEqual(["ann"]);
    await stream.close();
  });

  test("puts a record aside that keeps failing, and goes on", async () => {
    const { db } = await open();
    const seen: string[] = [];
    await db.load(students(5).map((row) => ({ node: "student", row })));
    const fail = (id: string): void => {
      if (id === "s2") throw new Error("no s2 today");
      seen.push(id);
    };
    const report = await createStreamConsumer(db, { fail: { on: "student", created: ({ after }) => fail(after.id) } }, quick).run({
      idle: 300,
    });
    expect(seen.toSorted()).toEqual(["s0", "s1", "s3", "s4"]);
    expect(report.deadLetters).toBe(1);
    expect(await listDeadLetters(db)).toMatchObject([{ handler: "fail", error: { message: "no s2 today" }, attempts: 2 }]);
  });

  test("without dead letters waits for a record that fails, and keeps its position", async () => {
    const { db } = await open();
    let isBroken = true;
    const seen: string[] = [];
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    await db.student.create({ id: "bob", name: "Bob" }).orThrow();
    const consumer = createStreamConsumer(
      db,
      {
        seen: {
          on: "student",
          created: ({ after }) => {
            if (isBroken && after.id === "ann") throw new Error("not yet");
            seen.push(after.id);
          },
        },
      },
      { ...quick, deadLetters: false, attempts: 1 },
    );
    const stop = new AbortController();
    const run = consumer.run({ signal: stop.signal });
    await expect.poll(() => seen.includes("bob")).toBe(true);
    stop.abort();
    expect((await run).failures).toBeGreaterThanOrEqual(1);
    isBroken = false;
    seen.length = 0;
    await consumer.run({ idle: 300 });
    expect(seen).toContain("ann");
    expect(await listDeadLetters(db)).toEqual([]);
  });

  test("tells how far it has come, and releases its leases when it stops", async () => {
    const { db } = await open();
    const told: StreamProgress[] = [];
    const stop = new AbortController();
    const run = createStreamConsumer(db, {}, quick).run({ signal: stop.signal, onProgress: (one) => told.push(one), progressEvery: 20 });
    await db.load(students(300).map((row) => ({ node: "student", row })));
    await expect.poll(() => told.at(-1)?.records).toBe(300);
    expect(told.some(({ rate }) => rate > 0)).toBe(true);
    expect(told.at(-1)).toMatchObject({ shards: 1, gaps: 0 });
    stop.abort();
    expect(await run).toMatchObject({ records: 300, shards: 0 });
    expect((await db.jobs.list()).filter(({ running }) => running)).toEqual([]);
  });

  test("ends with the connection", async () => {
    const { db, connect } = await open();
    const own = connect();
    const run = createStreamConsumer(own, {}, quick).run();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await own.close();
    expect(await run).toMatchObject({ gaps: 0 });
    expect((await db.jobs.list()).filter(({ running }) => running)).toEqual([]);
  });

  test("an error of onProgress ends the run", async () => {
    const { db } = await open();
    const onProgress = (): never => {
      throw new Error("screen gone");
    };
    await expect(createStreamConsumer(db, {}, quick).run({ onProgress, progressEvery: 20 })).rejects.toThrow("screen gone");
  });
});

describe("several consumers", () => {
  test("of one name: one reads the shard, and the other takes over when it is gone", async () => {
    const { db, connect } = await open();
    const seen: string[][] = [[], []];
    const stops = [new AbortController(), new AbortController()];
    const runs = stops.map(({ signal }, at) =>
      createStreamConsumer(connect(), { seen: { on: "student", created: ({ after }) => void seen[at]?.push(after.id) } }, quick).run({
        signal,
      }),
    );
    await db.load(students(100).map((row) => ({ node: "student", row })));
    await expect.poll(() => seen.flat().length).toBe(100);
    const reader = (seen[0] ?? []).length > 0 ? 0 : 1;
    expect(seen[1 - reader]).toEqual([]);
    stops[reader]?.abort();
    await runs[reader];
    await db.load(students(100, 100).map((row) => ({ node: "student", row })));
    await expect.poll(() => seen[1 - reader]?.length).toBe(100);
    for (const stop of stops) stop.abort();
    await Promise.all(runs);
    expect(new Set(seen.flat()).size).toBe(200);
  });

  test("of two names: each reads everything", async () => {
    const { db } = await open();
    const seen: string[] = [];
    await db.student.create({ ...ann, name: "Ann" }).orThrow();
    const named = (name: string) =>
      createStreamConsumer(db, { seen: { on: "student", created: () => void seen.push(name) } }, { ...quick, name }).run({ idle: 300 });
    await Promise.all([named("mail"), named("audit")]);
    expect(seen.toSorted()).toEqual(["audit", "mail"]);
  });
});

describe("is refused", () => {
  test("a table without a stream", async () => {
    const { db } = await open(false);
    await expect(createStreamConsumer(db, {}, quick).run()).rejects.toMatchObject({
      code: "stream.notEnabled",
      message: expect.stringContaining("edgetable table create --stream"),
    });
  });

  test("a stream without images", async () => {
    const { db, table } = await open(false);
    await engine.transport.send("UpdateTable", {
      TableName: table,
      StreamSpecification: { StreamEnabled: true, StreamViewType: "KEYS_ONLY" },
    });
    await expect(createStreamConsumer(db, {}, quick).run()).rejects.toMatchObject({ code: "stream.images" });
  });

  test("a connection whose stream cannot be found, an option and a handler that are not one", async () => {
    const { db, table } = await open();
    const own = modelIn(table).connect({ transport: engine.transport });
    await expect(createStreamConsumer(own, {}).run()).rejects.toMatchObject({
      code: "plan.invalidOption",
      message: expect.stringContaining("give `stream`"),
    });
    expect(() => createStreamConsumer(db, {}, { name: "a b" })).toThrow(expect.objectContaining({ code: "plan.invalidOption" }));
    expect(() => createStreamConsumer(db, { a: { on: "nobody" } } as never)).toThrow(/nobody/);
    await expect(createStreamConsumer(db, {}).run({ idle: 0 })).rejects.toMatchObject({ code: "plan.invalidOption" });
  });
});

test("positions are kept by jobs and verification, which take them for what they are", async () => {
  const { db } = await open();
  await db.student.create({ ...ann, name: "Ann" }).orThrow();
  await createStreamConsumer(db, {}, quick).run({ idle: 200 });
  const jobs = await db.jobs.list();
  expect(jobs.map(({ kind, running }) => [kind, running])).toEqual([
    ["stream", false],
    ["stream", false],
  ]);
  await expect(db.jobs.resume(jobs[0]?.id ?? "")).rejects.toMatchObject({ code: "job.mismatch" });
  expect(await db.jobs.resumeAll()).toEqual({ resumed: [], leased: [], refused: [] });
  expect(await verify(db, { repair: true, deleteOrphans: true })).toMatchObject({ clean: true, kinds: [] });
  expect(await db.jobs.list()).toHaveLength(2);
});

test("a stream that was switched off and on is a gap", async () => {
  const { db, table } = await open();
  const gaps: StreamGap[] = [];
  await db.student.create({ ...ann, name: "Ann" }).orThrow();
  const consumer = createStreamConsumer(db, {}, { ...quick, onGap: (gap) => gaps.push(gap), discovery: 50 });
  await consumer.run({ idle: 300 });
  expect(gaps).toEqual([]);
  await engine.transport.send("UpdateTable", { TableName: table, StreamSpecification: { StreamEnabled: false } });
  await db.table.create({ stream: true });
  const report = await consumer.run({ idle: 500 });
  expect(report.gaps).toBe(gaps.length);
  expect(gaps.map(({ kind }) => kind)).toContain("replaced");
  await expect(createStreamConsumer(db, {}, { ...quick, gaps: "throw" }).run({ idle: 300 })).resolves.toMatchObject({ gaps: 0 });
});
