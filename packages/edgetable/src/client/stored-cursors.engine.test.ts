import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { systemEffects } from "../executor/session.ts";
import { defineGraph, edge, EdgetableError, node, type Item, type SentRequest, type Transport } from "../index.ts";

const text = z.string();
const FRIENDS = 1500;
const GROUPS = 10;
const HOUR = { seconds: 3600 };

// Ids that cannot be deflated, so that the state of the walk takes more than one item.
const longId = (at: number): string =>
  ["a", "b", "c", "d"].map((salt) => createHash("sha512").update(`${salt}${at}`).digest("base64url")).join("");

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { person: node({ key: "PERSON#{id}", schema: z.object({ id: text }) }) },
    edges: { knows: edge({ from: "person", to: "person", ends: "unchecked" }) },
  });

let engine: TestEngine;
let table = "";
let clock = 0;
const sent: SentRequest[] = [];
const person = (id: string) => ({ id });
const connect = (secret = "s", transport: Transport = engine.transport) =>
  graphOf(table).connect({
    transport,
    cursorSecret: secret.padEnd(43, "-"),
    advanced: { effects: { ...systemEffects, now: () => clock } },
    retry: { baseDelay: 1, maxDelay: 2 },
    onRequest: (one) => sent.push(one),
  });
const walkOf = (db: ReturnType<typeof connect> = connect(), start = "hub") => db.person(person(start)).out("knows").out("knows");

const storedItems = async (): Promise<readonly Item[]> => {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const page = await engine.transport.send("Scan", { TableName: table, ...(start ? { ExclusiveStartKey: start } : {}) });
    items.push(...(page.Items ?? []).filter((item) => "~state" in item));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
};

const deleteItem = (item: Item | undefined): Promise<unknown> =>
  engine.transport.send("DeleteItem", { TableName: table, Key: { pk: item?.["pk"] as never, sk: item?.["sk"] as never } });

const clear = async (): Promise<void> => {
  for (const item of await storedItems()) await deleteItem(item);
};

const refusal = async (call: { run(): Promise<unknown> }): Promise<EdgetableError> =>
  call.run().then(
    () => expect.fail("nothing was refused"),
    (error: unknown) => error as EdgetableError,
  );

beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("stored");
  clock = Date.UTC(2030, 0, 1);
  const db = connect();
  await db.table.create();
  const link = (from: string, to: string) => ({ edge: "knows" as const, from: person(from), to: person(to) });
  await db.load([
    ...Array.from({ length: FRIENDS }, (_, at) => link("hub", longId(at))),
    ...Array.from({ length: FRIENDS }, (_, at) => link(longId(at), `g${at % GROUPS}`)),
    ...["x", "y", "z"].flatMap((name) => [link("few", name), link(name, `of ${name}`)]),
  ]);
}, 120_000);
afterAll(() => engine.close());
beforeEach(async () => {
  clock = Date.UTC(2030, 0, 1);
  await clear();
  sent.length = 0;
});

test("a walk that is stopped several times goes on by short cursors, and gives what the whole gives", async () => {
  const whole = await walkOf().groupCount({ budget: { requests: 100_000 } });
  expect(whole.complete).toBe(true);
  let cursor: string | undefined;
  let parts = 0;
  let last: typeof whole;
  do {
    sent.length = 0;
    const report = await walkOf()
      .groupCount({ budget: { requests: 400 }, storeCursor: HOUR, cursor })
      .report();
    last = report.value;
    expect(sent.filter(({ operation }) => operation === "Query").length).toBeLessThanOrEqual(400);
    expect(report.cost.requests).toBe(sent.length);
    const reads = sent.filter(({ operation }) => operation === "BatchGetItem");
    expect(reads).toHaveLength(cursor === undefined ? 0 : 1);
    const writes = sent.filter(({ operation }) => operation === "BatchWriteItem");
    expect(report.cost.writeUnits).toBe(writes.reduce((sum, one) => sum + one.writeUnits, 0));
    if (last.next !== undefined) {
      expect(last.next.length).toBeLessThan(200);
      expect(report.cost.writeUnits).toBeGreaterThan(parts === 0 ? 250 : 0);
    }
    cursor = last.next;
    parts++;
  } while (cursor !== undefined && parts < 20);
  expect(parts).toBeGreaterThanOrEqual(4);
  expect([last.items.toSorted((a, b) => a.id.id.localeCompare(b.id.id)), last.complete]).toEqual([
    whole.items.toSorted((a, b) => a.id.id.localeCompare(b.id.id)),
    true,
  ]);
}, 60_000);

test("a state of more than 350 KB lies in several items, each with its expiry, and reads back strongly consistent", async () => {
  const { items: found, next } = await walkOf().ids({ budget: { requests: 10 }, storeCursor: HOUR });
  const items = await storedItems();
  expect(items.length).toBeGreaterThan(1);
  const until = String(Date.UTC(2030, 0, 1) / 1000 + 3600);
  for (const item of items) {
    expect(Object.keys(item).toSorted()).toEqual(["pk", "sk", "~expires", "~state"]);
    expect(item).toMatchObject({ pk: { S: expect.stringMatching(/^~cursor#[\w-]{22}#\d$/) }, sk: { S: "#" }, "~expires": { N: until } });
    expect(Buffer.from((item["~state"] as { readonly B: string }).B, "base64").length).toBeLessThanOrEqual(350_000);
  }
  // The cursor is sealed, too: it does not show where the state is.
  const [, id = ""] = (items[0]?.["pk"] as { readonly S: string } | undefined)?.S.split("#") ?? [];
  expect(id).toHaveLength(22);
  expect(`${next} ${Buffer.from(next?.slice(7) ?? "", "base64url").toString("latin1")}`).not.toContain(id);
  sent.length = 0;
  const rest = await walkOf().ids({ budget: { requests: 2 * FRIENDS }, cursor: next });
  expect([...found, ...rest.items].map(({ id }) => id).toSorted()).toEqual(Array.from({ length: GROUPS }, (_, at) => `g${at}`));
  expect(sent[0]).toMatchObject({ operation: "BatchGetItem", input: { RequestItems: { [table]: { ConsistentRead: true } } } });
});

test("one request for each part is enough to go on, and a part may be repeated", async () => {
  const found: string[] = [];
  let cursor: string | undefined;
  let parts = 0;
  do {
    const options = { budget: { requests: 1, units: 1 }, storeCursor: HOUR, cursor };
    const part = await walkOf(connect(), "few").ids(options);
    const again = await walkOf(connect(), "few").ids(options);
    expect(again.items).toEqual(part.items);
    found.push(...part.items.map(({ id }) => id));
    cursor = again.next;
    parts++;
  } while (cursor !== undefined && parts < 20);
  expect([found.toSorted(), parts]).toEqual([["of x", "of y", "of z"], 4]);
});

const few = () => connect().person(person("few"));
const calls = {
  nodes: (options) => walkOf(connect(), "few").nodes(options),
  count: (options) => walkOf(connect(), "few").count(options),
  paths: (options) => walkOf(connect(), "few").paths(options),
  levels: (options) => few().subtree({ out: "knows" }, options),
  suggest: (options) => few().suggest({ out: "knows" }, { top: 3, ...options }),
  common: (options) => few().common({ out: "knows" }, [person("few"), person("few")], options),
  shortestPath: (options) => few().shortestPath(person("of z"), { out: "knows" }, options),
  allPaths: (options) => few().allPaths(person("of z"), { out: "knows" }, options),
} satisfies Record<string, (options: object) => { run(): Promise<object>; explain(): Promise<{ readonly notes: readonly string[] }> }>;

test.each(Object.entries(calls))("%s goes on by a short cursor, and its plan says what storing costs", async (_, ask) => {
  const call = ask as (options: object) => { run(): Promise<{ next?: string }>; explain(): Promise<{ readonly notes: readonly string[] }> };
  const whole = await call({}).run();
  let part = await call({ budget: { requests: 1 }, storeCursor: HOUR }).run();
  const parts = [part];
  for (; part.next !== undefined && parts.length < 20; parts.push(part)) {
    expect(part.next.length).toBeLessThan(200);
    part = await call({ budget: { requests: 1 }, storeCursor: HOUR, cursor: part.next }).run();
  }
  expect(parts.length).toBeGreaterThan(1);
  const itemsOf = (one: object): readonly unknown[] => (one as { readonly items?: readonly unknown[] }).items ?? [];
  const all = ["nodes", "paths", "shortestPath", "allPaths", "common"].includes(_) ? parts.flatMap(itemsOf) : itemsOf(part);
  expect(all).toEqual(itemsOf(whole));
  if (_ === "count") expect(part).toMatchObject({ count: 3 });
  expect((await call({ storeCursor: HOUR }).explain()).notes.join()).toMatch(/stores its state for 3600 s.*write unit.*read unit/);
  expect((await call({}).explain()).notes.join()).not.toContain("stores");
});

test("without the option nothing is written, and the cursor holds the state", async () => {
  const { next } = await walkOf().ids({ budget: { requests: 10 } });
  expect(next?.length).toBeGreaterThan(100_000);
  expect([...new Set(sent.map(({ operation }) => operation))]).toEqual(["Query"]);
  expect(await storedItems()).toEqual([]);
  // A walk that ends by itself stores nothing either.
  expect(await walkOf(connect(), "few").ids({ storeCursor: HOUR })).toMatchObject({ complete: true, next: undefined });
  expect(await storedItems()).toEqual([]);
});

test("an expired cursor is refused with its time, and what it stored is deleted", async () => {
  const { next } = await walkOf().ids({ budget: { requests: 10 }, storeCursor: HOUR });
  clock += 3_599_000;
  await walkOf().ids({ budget: { requests: 1 }, cursor: next });
  clock += 2000;
  sent.length = 0;
  expect(await refusal(walkOf().ids({ cursor: next }))).toMatchObject({
    code: "cursor.invalid",
    message: expect.stringMatching(/expired at 2030-01-01T01:00:00.000Z.*storeCursor.*Start the walk again/),
    details: { expires: "2030-01-01T01:00:00.000Z" },
  });
  expect(sent.map(({ operation }) => operation)).toEqual(["BatchWriteItem"]);
  expect(await storedItems()).toEqual([]);
});

test("a forged cursor, one of another walk, and one of another secret are refused, and say which", async () => {
  const next = (await walkOf().ids({ budget: { requests: 10 }, storeCursor: HOUR })).next ?? "";
  sent.length = 0;
  const middle = Math.floor(next.length / 2);
  const forged = `${next.slice(0, middle)}${next[middle] === "A" ? "B" : "A"}${next.slice(middle + 1)}`;
  for (const cursor of [forged, "stored.", "stored.x", next.slice(0, -4), `${next.slice(0, 7)}${"A".repeat(120)}`])
    expect(await refusal(walkOf().ids({ cursor }))).toMatchObject({ code: "cursor.invalid", message: expect.stringContaining("forged") });
  expect(await refusal(walkOf(connect("other")).ids({ cursor: next }))).toMatchObject({
    code: "cursor.invalid",
    message: expect.stringContaining("another secret"),
  });
  const foreign = { code: "cursor.invalid", message: expect.stringMatching(/belongs to another walk.*without the cursor/) };
  expect(await refusal(walkOf(connect(), "few").ids({ cursor: next }))).toMatchObject(foreign);
  expect(await refusal(walkOf().count({ cursor: next }))).toMatchObject(foreign);
  expect(await refusal(few().shortestPath(person("x"), { out: "knows" }, { cursor: next }))).toMatchObject(foreign);
  // Refused before anything is read.
  expect(sent).toEqual([]);
  expect(await refusal(connect().person(person("hub")).out("knows").page({ limit: 1, cursor: next }))).toMatchObject({
    code: "cursor.invalid",
  });
});

test("a cursor of which an item is missing or altered is refused", async () => {
  const { next } = await walkOf().ids({ budget: { requests: 10 }, storeCursor: HOUR });
  const [first, second] = await storedItems();
  await engine.transport.send("PutItem", { TableName: table, Item: { ...first, "~state": { B: "AAAA" } } });
  expect(await refusal(walkOf().ids({ cursor: next }))).toMatchObject({
    code: "cursor.invalid",
    message: expect.stringContaining("altered"),
  });
  await deleteItem(second);
  expect(await refusal(walkOf().ids({ cursor: next }))).toMatchObject({
    code: "cursor.invalid",
    message: expect.stringMatching(/^1 of the \d items.*Start the walk again/),
    details: { missing: 1 },
  });
});

test("a table that refuses writes for a while costs no walk: the cursor holds the state instead", async () => {
  const failing = (code: "execute.throttled" | "execute.rejected", retryable: boolean): Transport => ({
    send: async (operation, input, options) => {
      if (operation !== "BatchWriteItem") return engine.transport.send(operation, input, options);
      clock += 20_000;
      throw new EdgetableError(code, code, { retryable });
    },
    close: () => undefined,
  });
  const { next } = await walkOf(connect("s", failing("execute.throttled", true)), "few").ids({
    budget: { requests: 2 },
    storeCursor: HOUR,
  });
  expect(next?.length).toBeGreaterThan(0);
  expect(next?.startsWith("stored.")).toBe(false);
  expect((await walkOf(connect(), "few").ids({ cursor: next })).complete).toBe(true);
  expect(
    await refusal(walkOf(connect("s", failing("execute.rejected", false)), "few").ids({ budget: { requests: 2 }, storeCursor: HOUR })),
  ).toMatchObject({ code: "execute.rejected" });
});

test("stored states are left out by a scan", async () => {
  await walkOf().ids({ budget: { requests: 10 }, storeCursor: HOUR });
  const strays: unknown[] = [];
  const scan = connect().scan({ onStray: (stray) => strays.push(stray) });
  let rows = 0;
  for await (const row of scan) rows += "edge" in row ? 1 : 0;
  // The record of the model is one more.
  expect([rows, strays, scan.report().system]).toEqual([2 * FRIENDS + 6, [], (await storedItems()).length + 1]);
}, 60_000);

test("the time for which a state is stored is checked at once", () => {
  const walk = walkOf(connect(), "few");
  for (const storeCursor of [
    {},
    { seconds: 0 },
    { seconds: 2_592_001 },
    { seconds: 1.5 },
    { seconds: "60" },
    { second: 60 },
    60,
    null,
    true,
  ])
    expect(() => walk.ids({ storeCursor: storeCursor as never }), JSON.stringify(storeCursor)).toThrow(
      expect.objectContaining({ code: "plan.invalidOption", message: expect.stringMatching(/storeCursor|second/) }),
    );
  void walk.ids({ storeCursor: { seconds: 2_592_000 } });
});

test("where items expire, the state expires by the same attribute, and DynamoDB deletes it", async () => {
  const name = engine.freshTableName("expiring");
  const db = defineGraph({
    table: name,
    nodes: { visit: node({ key: "{id}", schema: z.object({ id: text, gone: z.number().optional() }), ttl: "gone" }) },
    edges: { next: edge({ from: "visit", to: "visit", ends: "unchecked" }) },
  }).connect({
    transport: engine.transport,
    advanced: { effects: { ...systemEffects, now: () => clock } },
    onRequest: (one) => sent.push(one),
  });
  await db.table.create();
  for (const [from, to] of ["ab", "bc", "cd"] as const) await db.next.link(person(from as string), person(to as string)).orThrow();
  const walk = db.visit(person("a")).out("next").out("next").out("next");
  const { next: cursor } = await walk.ids({ budget: { requests: 3 }, storeCursor: HOUR });
  const { Items = [] } = await engine.transport.send("Scan", { TableName: name });
  expect(Items.filter((item) => "~state" in item)).toMatchObject([{ gone: { N: String(clock / 1000 + 3600) } }]);
  expect((await walk.ids({ cursor })).items).toEqual([person("d")]);
  clock += 3_601_000;
  sent.length = 0;
  expect(await refusal(walk.ids({ cursor }))).toMatchObject({ code: "cursor.invalid" });
  expect(sent).toEqual([]);
});

test("a model without a ttl lets the table's time to live delete stored states", async () => {
  await engine.transport.send("UpdateTimeToLive", {
    TableName: table,
    TimeToLiveSpecification: { Enabled: true, AttributeName: "~expires" },
  });
  const difference = { place: "time to live", model: "none", table: "~expires", harmless: true };
  expect(await connect().table.diff()).toEqual([difference]);
});

test("a stored cursor goes on after a new secret has come before the old one", async () => {
  const { next } = await walkOf(connect(), "few").ids({ budget: { requests: 2 }, storeCursor: HOUR });
  const [old, young] = ["s", "young"].map((secret) => secret.padEnd(43, "-")) as [string, string];
  const rotated = graphOf(table).connect({
    transport: engine.transport,
    cursorSecret: [young, old],
    advanced: { effects: { ...systemEffects, now: () => clock } },
  });
  expect(await walkOf(rotated, "few").ids({ cursor: next })).toMatchObject({ complete: true });
});

test("states are stored in tables without a sort key, and in tables whose keys are numbers", async () => {
  const bare = defineGraph({
    table: engine.freshTableName("bare"),
    nodes: {
      user: node({ key: "USER#{email}", schema: z.object({ email: text }) }),
      session: node({ key: "SESSION#{token}", schema: z.object({ token: text, email: text }) }),
    },
    edges: { signedInBy: edge({ from: "session", to: "user", stored: "reference", multiplicity: "many-to-one" }) },
    layout: {
      partitionKey: "Id",
      typeAttribute: "Kind",
      indexes: { byOwner: { partitionKey: "Owner" } },
      nodes: { session: { keys: { Owner: "{email}" } } },
    },
  }).connect({ transport: engine.transport });
  await bare.table.create();
  for (const token of ["1", "2"]) await bare.session.create({ token, email: "a" }).orThrow();
  const around = bare.user({ email: "a" }).walk().in("signedInBy").out("signedInBy");
  const first = await around.count({ budget: { requests: 3 }, storeCursor: HOUR });
  expect(first.next).toMatch(/^stored\./);
  expect(await around.count({ cursor: first.next })).toMatchObject({ count: 2, complete: true });

  const numbered = defineGraph({
    table: engine.freshTableName("numbered"),
    nodes: {
      account: node({ key: "{no:number}", schema: z.object({ no: z.number(), parentNo: z.number().optional() }) }),
    },
    edges: {
      parent: edge({
        from: "account",
        to: "account",
        stored: "reference",
        by: { no: "parentNo" },
        multiplicity: "many-to-one",
        ends: "unchecked",
      }),
    },
    layout: {
      partitionKey: "No",
      types: { No: "N" },
      indexes: { byParent: { partitionKey: "Parent" } },
      nodes: { account: { keys: { Parent: "{parentNo:number}" }, sparse: ["Parent"] } },
    },
  }).connect({ transport: engine.transport });
  await numbered.table.create();
  for (const no of [1, 2, 3, 4]) await numbered.account.create({ no, parentNo: no + 1 }).orThrow();
  const up = numbered.account({ no: 1 }).walk().out("parent").out("parent").out("parent");
  const begun = await up.ids({ budget: { requests: 3 }, storeCursor: HOUR });
  expect(begun.next).toMatch(/^stored\./);
  expect((await up.ids({ cursor: begun.next })).items).toEqual([{ no: 4 }]);
  const scan = numbered.scan();
  let rows = 0;
  for await (const _ of scan) rows++;
  expect([rows, scan.report().system]).toEqual([4, 2]);
});
