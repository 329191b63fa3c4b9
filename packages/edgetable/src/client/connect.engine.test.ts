import { getEventListeners } from "node:events";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, type Transport } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { city: node({ key: "CITY#{cityId}", schema: z.object({ cityId: z.string(), map: z.instanceof(Uint8Array).optional() }) }) },
    edges: { road: edge({ from: "city", to: "city", schema: z.object({ km: z.number() }), symmetric: true, orderBy: "km:number" }) },
  });

test("a model works over the user's own DynamoDBClient", async () => {
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
  const db = graphOf(engine.freshTableName("sdk")).connect({ client });
  await db.table.create();
  await db.transact([
    db.city.create({ cityId: "a", map: new Uint8Array([1, 2]) }),
    db.city.create({ cityId: "b" }),
    db.city.create({ cityId: "c" }),
  ]);
  await db.road.link({ cityId: "a" }, { cityId: "b" }, { km: 12 });
  await db.road.link({ cityId: "c" }, { cityId: "a" }, { km: -1 });
  expect(await db.city({ cityId: "a" }).out("road").ids()).toEqual([{ cityId: "c" }, { cityId: "b" }]);
  expect((await db.city({ cityId: "a" }).get())?.map).toEqual(new Uint8Array([1, 2]));
  client.destroy();
});

test.each([
  [{ concurrency: 0 }, "concurrency is 0"],
  [{ requestTimeout: 600_001 }, "requestTimeout is 600001"],
  [{ deadline: 1.5 }, "deadline is 1.5"],
  [{ retry: { attempts: 0 } }, "attempts is 0"],
  [{ retry: { maxDelay: -1 } }, "maxDelay is -1"],
  [{ cursorSecret: "" }, "cursorSecret is empty"],
  [{ endpoint: "http://127.0.0.1:1" }, "transport and endpoint exclude each other"],
  [{ profile: "dev" }, "transport and profile exclude each other"],
  [{ client: { send: async () => ({}) } }, "transport and client exclude each other"],
  [{ transport: {} as Transport }, "Expected a function for transport.send"],
  [{ transport: undefined, client: {} as never }, "Expected a function for client.send"],
  [{ transport: undefined, client: { send: async () => ({}) }, region: "us-east-1" }, "client and region exclude each other"],
  [{ transport: undefined, endpoint: "http://engine:8000" }, "`allowInsecure: true` in a private network"],
])("a connection with %o is refused before any call", (options, says) => {
  expect(() => graphOf("none").connect({ transport: engine.transport, ...options })).toThrow(
    expect.objectContaining({ code: "plan.invalidOption", message: expect.stringContaining(says) as string }),
  );
});

test("cursors of one process are read by another: the secret lies in the table", async () => {
  const graph = graphOf(engine.freshTableName("cursors"));
  const [one, other] = [graph.connect({ transport: engine.transport }), graph.connect({ transport: engine.transport })];
  await one.table.create();
  for (const cityId of ["a", "b", "c"]) await one.city.create({ cityId });
  await one.road.link({ cityId: "a" }, { cityId: "b" }, { km: 1 });
  await one.road.link({ cityId: "a" }, { cityId: "c" }, { km: 2 });
  const roads = (db: typeof one) => db.city({ cityId: "a" }).out("road");
  // Both are the first to need one: the secret that stands is the same for both.
  const [page, theirs] = await Promise.all([roads(one).page({ limit: 1 }), roads(other).page({ limit: 1 })]);
  expect((await roads(one).page({ limit: 1, cursor: theirs.next })).items).toMatchObject([{ km: 2 }]);
  expect((await roads(other).page({ limit: 1, cursor: page.next })).items).toMatchObject([{ km: 2 }]);
  await expect(roads(other).reverse().page({ limit: 1, cursor: page.next }).run()).rejects.toMatchObject({ code: "cursor.invalid" });
});

test("a cursor that cannot be read is refused before anything is written, and one of another form before anything is sent", async () => {
  const graph = graphOf(engine.freshTableName("unread"));
  const sent: string[] = [];
  const db = graph.connect({ transport: engine.transport, onRequest: ({ operation }) => sent.push(operation) });
  await db.table.create();
  await db.city.create({ cityId: "a" }).orThrow();
  const page = (cursor: string) => db.city({ cityId: "a" }).out("road").page({ cursor }).run();
  sent.length = 0;
  for (const cursor of ["garbage", "", "not base64url!".repeat(9)])
    await expect(page(cursor)).rejects.toMatchObject({ code: "cursor.invalid" });
  expect(sent).toEqual([]);
  const sealed = Buffer.alloc(90).toString("base64url");
  await expect(page(sealed)).rejects.toMatchObject({ code: "cursor.invalid" });
  expect(sent).toEqual(["GetItem"]);
  expect((await db.city({ cityId: "a" }).out("road").page()).items).toEqual([]);
  await expect(page(sealed)).rejects.toMatchObject({ code: "cursor.invalid" });
  expect(sent).toEqual(["GetItem", "GetItem", "UpdateItem", "Query"]);
});

test("an edge's own attribute called version is kept, by link, relink and a change of type", async () => {
  const uses = edge({ from: "city", to: "city", schema: z.object({ version: z.string() }), ends: "unchecked" });
  const graph = defineGraph({
    table: engine.freshTableName("version"),
    nodes: { city: node({ key: "CITY#{cityId}", schema: z.object({ cityId: z.string() }) }) },
    edges: { uses, used: uses },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [a, b] = [{ cityId: "a" }, { cityId: "b" }];
  await db.uses.link(a, b, { version: "1.2" }).orThrow();
  expect(await db.uses.get(a, b)).toMatchObject({ version: "1.2" });
  await db.uses.relink(a, b, { version: "1.3" }).orThrow();
  await db.uses.relink(a, b, {}, { type: "used" }).orThrow();
  expect(await db.used.get(a, b)).toMatchObject({ version: "1.3" });
});

test("a call that waits for room ends by its deadline and its signal, and lets those behind it in", async () => {
  const graph = graphOf(engine.freshTableName("queue"));
  await graph.connect({ transport: engine.transport }).table.create();
  // The first request is answered when the test says so.
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let sent = 0;
  const send: Transport["send"] = async (operation, input, options) => {
    if (sent++ === 0) await opened;
    return engine.transport.send(operation, input, options);
  };
  const db = graph.connect({ transport: { send, close: () => undefined }, concurrency: 1 });
  const first = db.city({ cityId: "a" }).get().run();
  const began = performance.now();
  const abort = new AbortController();
  const late = db.city({ cityId: "b" }).get().run({ deadline: 100 });
  const aborted = db.city({ cityId: "c" }).get().run({ signal: abort.signal });
  const last = db.city({ cityId: "d" }).get().run();
  setTimeout(() => abort.abort(), 20);
  await expect(aborted).rejects.toMatchObject({ code: "execute.aborted" });
  await expect(late).rejects.toMatchObject({
    code: "execute.timeout",
    retryable: true,
    message: expect.stringContaining("was not sent") as string,
  });
  expect(performance.now() - began).toBeGreaterThan(95);
  expect(sent).toBe(1);
  open();
  expect(await Promise.all([first, last])).toEqual([undefined, undefined]);
  expect(sent).toBe(2);
});

test("a signal that many calls share is listened to once, over either transport", async () => {
  const graph = graphOf(engine.freshTableName("listeners"));
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const place = { endpoint: engine.endpoint, region: "us-east-1", credentials };
  const lean = graph.connect({ ...place, concurrency: 8 });
  await lean.table.create();
  const client = new DynamoDBClient({ ...place, maxAttempts: 1 });
  for (const db of [lean, graph.connect({ client, concurrency: 8 })]) {
    const { signal } = new AbortController();
    const counts = new Set<number>();
    const calls = Array.from({ length: 20 }, (_, at) => {
      const city = db.city({ cityId: String(at) });
      const call = at % 2 === 0 ? city.get().run({ signal }) : city.walk().out("road").ids().run({ signal });
      return call.then(() => counts.add(getEventListeners(signal, "abort").length));
    });
    await Promise.all(calls);
    expect([...counts]).toEqual([1]);
  }
  await lean.close();
  client.destroy();
});

test("plain http to another machine is for those who allow it", async () => {
  const db = graphOf("none").connect({
    endpoint: "http://engine.invalid:8000",
    region: "local",
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    allowInsecure: true,
    retry: { attempts: 1 },
  });
  await expect(db.city.get({ cityId: "a" }).run()).rejects.toMatchObject({ code: "execute.connection" });
  await db.close();
});
