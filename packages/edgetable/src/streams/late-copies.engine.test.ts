import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, node } from "../index.ts";
import { type Effects, systemEffects } from "../executor/session.ts";
import type { Item } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";
import { createStreamConsumer, type ConsumerOptions, type StaleFact } from "./index.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, title: z.string() }),
        derived: {
          students: count({ in: "takes", freshness: "stream", within: 1 }),
          all: count({ in: "takes", freshness: "stream", within: 3600 }),
          any: count({ in: "takes", freshness: "stream" }),
        },
      }),
    },
    // Only an index finds the edges that reach a course.
    edges: { takes: edge({ from: "student", to: "course", copies: { to: { title: { of: "title", freshness: "stream", within: 1 } } } }) },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const [ann, maths] = [{ id: "ann" }, { id: "maths" }];
const INDEX_LAG = 600_000;
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

const open = async () => {
  const graph = modelIn(engine.freshTableName("late"));
  const { endpoint, transport } = engine;
  const db = graph.connect({ transport });
  await db.table.create({ stream: true });
  await db.student.create(ann).orThrow();
  await db.course.create({ ...maths, title: "old" }).orThrow();
  await db.takes.link(ann, maths).orThrow();
  const log: string[] = [];
  const writes: string[] = [];
  // The index's lag ends when a test says so: DynamoDB Local rounds the times of changes down to minutes.
  let endLag = (): void => undefined;
  const lag = new Promise<void>((resolve) => (endLag = resolve));
  const effects: Effects = {
    ...systemEffects,
    sleep: (time, signal) =>
      time > INDEX_LAG / 2 ? Promise.race([lag, systemEffects.sleep(time, signal)]) : systemEffects.sleep(time, signal),
  };
  /** A consumer that logs its reads of the index and the students it is told of. The index may show nothing to it. */
  const consumer = (options: ConsumerOptions, shows = true) => {
    const send: Transport["send"] = async (operation, input, given) => {
      const output = await transport.send(operation, input, given);
      if (operation === "UpdateItem" && JSON.stringify(input).includes("takes#")) writes.push(JSON.stringify((input as { Key: Item }).Key));
      if (operation !== "Query" || !("IndexName" in input)) return output;
      log.push("index");
      return shows ? output : { ...output, Items: [] };
    };
    const handlers = {
      seen: { on: "student", created: ({ after }: { readonly after: { readonly id: string } }) => void log.push(after.id) },
    } as const;
    const own = graph.connect({ transport: { ...transport, send }, advanced: { effects } });
    return createStreamConsumer(own, handlers, { pollInterval: 10, lease: 500, stream: { endpoint }, ...options });
  };
  await consumer({ indexLag: 0 }).run({ idle: 300 });
  log.length = 0;
  writes.length = 0;
  const title = async () => (await db.student(ann).out("takes").edges())[0]?.title;
  return { db, log, writes, consumer, title, endLag: () => endLag() };
};

test("changes behind that of a copied node are processed before its copies are looked for again", async () => {
  const { db, log, consumer, title, endLag } = await open();
  await db.course.update(maths, { title: "new" }).orThrow();
  const run = consumer({ indexLag: INDEX_LAG, batchSize: 1 }).run({ idle: 200 });
  await expect.poll(() => log).toContain("index");
  await db.student.create({ id: "later" }).orThrow();
  await expect.poll(() => log).toContain("later");
  expect(log).toEqual(["index", "later"]);
  endLag();
  await run;
  expect(log).toEqual(["index", "later", "index"]);
  expect(await title()).toBe("new");
  await consumer({ indexLag: INDEX_LAG }).run({ idle: 200 });
  expect(log).toEqual(["index", "later", "index"]);
});

test("the second look writes the edges that the first one did not find", async () => {
  const { db, log, writes, consumer, endLag } = await open();
  const run = consumer({ indexLag: INDEX_LAG }).run({ idle: 200 });
  await db.course.update(maths, { title: "new" }).orThrow();
  await expect.poll(() => writes.length).toBe(1);
  await db.student.create({ id: "bob" }).orThrow();
  await db.takes.link({ id: "bob" }, maths).orThrow();
  await expect.poll(() => writes.length).toBe(2);
  endLag();
  await run;
  expect(log.filter((one) => one === "index")).toHaveLength(2);
  // Bob's edge was refreshed by its own record, before the second look found it.
  expect(writes.map((key) => key.includes("bob"))).toEqual([false, true, true]);
  expect((await db.course(maths).in("takes").edges()).map(({ title }) => title)).toEqual(["new", "new"]);
});

test("until then the position stays before it: whoever comes next looks again", async () => {
  const { db, log, consumer, title } = await open();
  await db.course.update(maths, { title: "new" }).orThrow();
  await db.student.create({ id: "later" }).orThrow();
  const stopping = new AbortController();
  const run = consumer({ indexLag: INDEX_LAG, batchSize: 1 }, false).run({ signal: stopping.signal });
  await expect.poll(() => log).toContain("later");
  stopping.abort();
  expect(await run).toMatchObject({ failures: 0, deadLetters: 0 });
  expect(await title()).toBe("old");
  await consumer({ indexLag: 0 }).run({ idle: 300 });
  expect(await title()).toBe("new");
  expect(log.filter((one) => one === "later")).toHaveLength(2);
});

test("what followed later than the model's bound is reported, once for a batch", async () => {
  const { db, consumer } = await open();
  await db.student.create({ id: "bob" }).orThrow();
  await db.takes.link({ id: "bob" }, maths).orThrow();
  await db.course.update(maths, { title: "new" }).orThrow();
  await pause(2_200);
  const stale: StaleFact[] = [];
  let longest = 0;
  const report = await consumer({
    indexLag: 0,
    onStale: (one) => stale.push(one),
    onRefreshed: ({ staleness }) => (longest = Math.max(longest, staleness)),
  }).run({ idle: 300 });
  const found = new Set(stale.map(({ definition, attribute, within }) => `${definition}.${attribute} ${within}`));
  expect(found).toEqual(new Set(["course.students 1", "takes.title 1"]));
  for (const { staleness } of stale) expect(staleness).toBeGreaterThan(1000);
  expect(report).toMatchObject({ stale: stale.length, staleness: longest });
  expect(longest).toBeGreaterThan(2000);
});
