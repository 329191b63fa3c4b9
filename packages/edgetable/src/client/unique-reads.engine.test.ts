import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { defineGraph, node, type SentRequest } from "../index.ts";
import type { Operation } from "../transport/operations.ts";
import type { Transport } from "../transport/transport.ts";

const account = node({
  key: "ACCOUNT#{realm}#{id:number}",
  schema: z.object({ realm: z.string(), id: z.int(), email: z.string(), badge: z.int().optional(), since: z.date().optional() }),
  unique: ["email", "badge", "since"],
  dates: ["since"],
});
const plain = node({ key: "PLAIN#{id}", schema: z.object({ id: z.string(), name: z.string() }) });

const mixed = node({
  key: "MIXED#{id:date|number|boolean|text}",
  schema: z.object({ id: z.union([z.string(), z.number(), z.date()]), name: z.string() }),
  unique: ["name"],
});

let engine: TestEngine;
/** Called before each request goes out. */
let before: (operation: Operation, count: number) => Promise<void> = async () => {};
const sent: SentRequest[] = [];

const openDb = async (engineOf: TestEngine) => {
  let count = 0;
  const transport: Transport = {
    ...engineOf.transport,
    send: async (operation, input, options) => {
      await before(operation, ++count);
      return engineOf.transport.send(operation, input, options);
    },
  };
  const graph = defineGraph({ table: engineOf.freshTableName("unique"), nodes: { account, plain, mixed } });
  const writer = graph.connect({ transport: engineOf.transport });
  const db = graph.connect({ transport, onRequest: (request) => void sent.push(request) });
  // It knows the table that it created: no read looks at the record.
  await db.table.create();
  return { db, writer, table: graph.catalog.table, restart: () => (count = 0) };
};
let lab: Awaited<ReturnType<typeof openDb>>;

beforeAll(async () => {
  engine = await openEngine();
  lab = await openDb(engine);
});
afterAll(() => engine.close());
beforeEach(() => {
  sent.length = 0;
  before = async () => {};
  lab.restart();
});

const markerOf = (email: string) => ({ pk: { S: `~unique#account#email#${email}` }, sk: { S: "#" } });
const shown = () => sent.map(({ operation, input }) => ({ operation, input }));

test("a unique value is two point reads, as explained", async () => {
  const { db, writer, table } = lab;
  const ann = { realm: "a#b", id: -7, email: "ann@x.org", badge: 12, since: new Date("2024-05-06T07:08:09.123Z") };
  await writer.account.create(ann).orThrow();
  const call = db.account.by({ email: "ann@x.org" });
  const explained = await call.explain();
  expect(sent).toEqual([]);
  const marker = { TableName: table, Key: markerOf("ann@x.org"), ReturnConsumedCapacity: "TOTAL" };
  expect(explained.requests).toEqual([
    { operation: "GetItem", input: marker, times: 1, readUnits: 0.5 },
    {
      operation: "GetItem",
      input: "the key of the account that the marker names",
      times: 1,
      readUnits: 0.5,
      after: 'the owner of "email" in its marker',
    },
  ]);
  expect(explained).toMatchObject({ consistency: "eventual", cost: { requests: 2, readUnits: 1 } });
  const report = await call.report();
  expect(report).toMatchObject({ value: ann, cost: { requests: 2, readUnits: 1 } });
  const [first, second] = shown();
  expect(first).toEqual({ operation: "GetItem", input: marker });
  expect(second).toMatchObject({ operation: "GetItem", input: { Key: { pk: { S: expect.stringContaining("ACCOUNT#a") as string } } } });

  expect(await db.account.by({ badge: 12 })).toEqual(ann);
  expect(await db.account.by({ since: ann.since })).toEqual(ann);
  sent.length = 0;
  const strong = db.account.by({ email: "ann@x.org" }, { consistent: true });
  expect(await strong.explain()).toMatchObject({ consistency: "strong", cost: { requests: 2, readUnits: 2 } });
  expect(await strong).toEqual(ann);
  expect(sent.map(({ input }) => (input as { ConsistentRead?: boolean }).ConsistentRead)).toEqual([true, true]);
});

test("a value that nobody has is one read, and undefined", async () => {
  const report = await lab.db.account.by({ email: "nobody@x.org" }).report();
  expect(report).toMatchObject({ value: undefined, cost: { requests: 1 } });
});

test("a value that passes to another node between the two reads is read again, strongly consistent", async () => {
  const { db, writer } = lab;
  await writer.account.create({ realm: "r", id: 1, email: "moves@x.org" }).orThrow();
  await writer.account.create({ realm: "r", id: 2, email: "two@x.org" }).orThrow();
  before = async (_, count) => {
    if (count !== 2) return;
    await writer.account.update({ realm: "r", id: 1 }, { email: "one@x.org" }).orThrow();
    await writer.account.update({ realm: "r", id: 2 }, { email: "moves@x.org" }).orThrow();
  };
  expect(await db.account.by({ email: "moves@x.org" })).toEqual({ realm: "r", id: 2, email: "moves@x.org" });
  expect(sent.map(({ input }) => (input as { ConsistentRead?: boolean }).ConsistentRead ?? false)).toEqual([false, false, true, true]);
});

test("a value that its node gave up, or that went with its node, between the two reads is nobody's", async () => {
  const { db, writer } = lab;
  await writer.account.create({ realm: "r", id: 3, email: "given-up@x.org" }).orThrow();
  before = async (_, count) => {
    if (count === 2) await writer.account.update({ realm: "r", id: 3 }, { email: "three@x.org" }).orThrow();
  };
  expect(await db.account.by({ email: "given-up@x.org" }, { consistent: true })).toBeUndefined();
  lab.restart();
  before = async (_, count) => {
    if (count === 2) await writer.account.delete({ realm: "r", id: 3 }).orThrow();
  };
  expect(await db.account.by({ email: "three@x.org" })).toBeUndefined();
});

test("an id keeps its type, also where its text reads as a number or a date", async () => {
  const { db, writer } = lab;
  const ids = ["o", 0, "p5005", "2024-05-06T07:08:09.123Z", new Date("2024-05-06T07:08:09.123Z")];
  for (const [at, id] of ids.entries()) await writer.mixed.create({ id, name: `n${at}` }).orThrow();
  for (const [at, id] of ids.entries()) expect(await db.mixed.by({ name: `n${at}` })).toEqual({ id, name: `n${at}` });
});

test("a marker without its node, of another's writing or unreadable, gives no row and does not read forever", async () => {
  const { db, writer, table } = lab;
  await writer.account.create({ realm: "r", id: 4, email: "four@x.org" }).orThrow();
  const put = (email: string, owner: string) =>
    engine.transport.send("PutItem", {
      TableName: table,
      Item: { ...markerOf(email), type: { S: "~unique" }, "~owner": { S: owner } },
      ReturnConsumedCapacity: "TOTAL",
    } as never);
  await put("gone@x.org", '["r",99]');
  await put("wrong@x.org", '["r",4]');
  await put("broken@x.org", "{");
  for (const [email, requests] of [
    ["gone@x.org", 6],
    ["wrong@x.org", 6],
    ["broken@x.org", 1],
  ] as const) {
    expect(await db.account.by({ email }).report(), email).toMatchObject({ value: undefined, cost: { requests } });
  }
});

test("misuse is refused at once", () => {
  const { db } = lab;
  const messageOf = (act: () => unknown): string => {
    try {
      act();
      return "";
    } catch (error) {
      return error instanceof EdgetableError ? `${error.code}: ${error.message}` : String(error);
    }
  };
  const by = db.account.by as (value: unknown, options?: unknown) => unknown;
  expect(messageOf(() => by({ emial: "x" }))).toBe(
    'plan.invalidOption: "emial" of "account" is not unique. Did you mean "email"? Give one of: email, badge, since.',
  );
  expect(messageOf(() => by({ email: "x", badge: 1 }))).toBe(
    "plan.invalidOption: by() takes one attribute, not 2. Give one of: email, badge, since.",
  );
  expect(messageOf(() => by({ email: undefined }))).toBe(
    'plan.invalidOption: by() takes a text, number, boolean or Date for "email", got undefined.',
  );
  expect(messageOf(() => (db.plain.by as typeof by)({ name: "x" }))).toBe(
    'plan.invalidOption: "name" of "plain" is not unique. Declare unique: ["name"], or use find().',
  );
  expect(messageOf(() => by({ email: "x" }, { consitent: true }))).toContain('Did you mean "consistent"?');
  expect(messageOf(() => by({}))).toContain("by() takes one attribute, not 0.");
});

test("a value that no key can hold is refused, as a writer would be", async () => {
  await expect(lab.db.account.by({ email: "x".repeat(3000) })).rejects.toMatchObject({ code: "keys.tooLong" });
  const message = '"email" of "account" is unique, and its value is empty. Give at least one character, or leave the attribute out.';
  await expect(lab.db.account.by({ email: "" })).rejects.toMatchObject({ code: "keys.empty", message });
});
