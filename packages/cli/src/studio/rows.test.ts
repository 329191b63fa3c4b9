import { startEngine, type LocalEngine } from "@edgetable/local";
import { count, createLeanTransport, defineGraph, edge, node, type Transport } from "edgetable";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { UntypedDb } from "../connection.ts";
import { fromJson, toExactJson } from "../output/json.ts";
import { changeRow, createRow, deleteRow, importRows, linkNodes, matches, readRows, type RowsRequest, sortsOf } from "./rows.ts";

const id = z.string();
const graph = defineGraph({
  table: "Rows",
  nodes: {
    thing: node({
      key: "THING#{id}",
      schema: z.object({
        id,
        name: z.string().min(1),
        code: z.string().optional(),
        rank: z.union([z.number(), z.bigint()]).optional(),
        tags: z.set(z.string()).optional(),
        marks: z.set(z.number()).optional(),
        image: z.instanceof(Uint8Array).optional(),
        made: z.date().optional(),
        good: z.boolean().optional(),
        sizes: z.array(z.number()).optional(),
        email: z.string().optional(),
      }),
      dates: ["made"],
      unique: ["email"],
      derived: { owners: count({ in: "owns" }) },
    }),
    owner: node({ key: "OWNER#{id}", schema: z.object({ id, name: z.string() }) }),
  },
  edges: { owns: edge({ from: "owner", to: "thing", schema: z.object({ since: z.int() }), onDelete: { from: "cascade", to: "cascade" } }) },
  indexes: { byName: { entries: { thing: "name", owner: "name" }, shards: 3 } },
});
type Db = ReturnType<typeof graph.connect>;

let engine: LocalEngine;
let transport: Transport;
let typed: Db;
let db: UntypedDb;
beforeAll(async () => {
  engine = await startEngine();
  transport = createLeanTransport({ endpoint: engine.endpoint });
  typed = graph.connect({ transport });
  db = typed as unknown as UntypedDb;
});
afterAll(async () => {
  await typed.close();
  await transport.close();
  await engine.stop();
});

const whole = {
  id: "1",
  name: "Lamp",
  code: "5",
  rank: 12345678901234567890123456789012345678n,
  tags: new Set(["a", "b"]),
  marks: new Set([1, 2.5]),
  image: new Uint8Array([1, 2, 255]),
  made: new Date("2024-05-06T07:08:09.123Z"),
  good: true,
  sizes: [1, 2],
};

beforeEach(async () => {
  await typed.table.create();
  await typed.thing.put(whole).orThrow();
});

const { signal } = new AbortController();
const read = async (request: Partial<RowsRequest> = {}) =>
  readRows(
    graph,
    { db, transport },
    { type: "thing", sort: undefined, reverse: false, filters: {}, cursor: undefined, limit: 100, ...request },
    signal,
  );
/** What a page sends: JSON, there and back. */
const sent = (body: object): unknown => fromJson(toExactJson(body));
const change = async (set: object, was: object = whole) => changeRow(db, sent({ type: "thing", id: { id: "1" }, set, was }));
const stored = async () => typed.thing.get({ id: "1" }, { consistent: true });

test("a change of one cell writes that attribute alone: the others keep value and type", async () => {
  expect(await change({ name: { text: "Lantern" } })).toMatchObject({ ok: true, row: { name: "Lantern" } });
  expect(await stored()).toEqual({ ...whole, name: "Lantern", owners: 0 });
});

test.each([
  ["a text that looks like a number", "code", "7", "7"],
  ["an integer of 38 digits", "rank", "99999999999999999999999999999999999999", 99999999999999999999999999999999999999n],
  ["a small integer", "rank", " 7 ", 7],
  ["a fraction", "rank", "0.25", 0.25],
  ["a set of texts", "tags", "x, y,  x", new Set(["x", "y"])],
  ["a set of numbers", "marks", "3, 4", new Set([3, 4])],
  ["bytes", "image", "AAEC", new Uint8Array([0, 1, 2])],
  ["a date", "made", "2025-01-02", new Date("2025-01-02")],
  ["a boolean", "good", "false", false],
  ["a list", "sizes", "[3, 4]", [3, 4]],
  ["an empty set, which DynamoDB cannot store", "tags", "", undefined],
])("a cell keeps its type: %s", async (_, name, text, value) => {
  const absent = { ...whole, [name]: undefined };
  // The cell held a value; and it held none, so that only the schema knows.
  for (const was of [whole, absent]) {
    await typed.thing.put(was).orThrow();
    expect(await change({ [name]: { text } }, was)).toMatchObject({ ok: true });
    expect((await stored()) as object).toEqual({ ...whole, owners: 0, [name]: was === absent && text === "" ? undefined : value });
  }
});

test("a cell that is cleared is removed; a required one is not", async () => {
  expect(await change({ code: null, tags: null })).toMatchObject({ ok: true });
  expect(await stored()).not.toHaveProperty("code");
  await expect(change({ name: null })).rejects.toThrow("name");
  await expect(change({ name: { text: "" } })).rejects.toMatchObject({ code: "schema.invalidValue" });
});

test.each([
  ["rank", "many", '"many" is not a number'],
  ["rank", "1.2345678901234567890", "20 digits"],
  ["image", "###", "base64"],
  ["made", "2024-02-30", "not a date"],
  ["sizes", "[1,", "not JSON"],
])("%s takes no %s", async (name, text, message) => {
  await expect(change({ [name]: { text } })).rejects.toThrow(message);
  expect(await stored()).toEqual({ ...whole, owners: 0 });
});

test("what somebody else changed meanwhile is not overwritten, and the answer has what is stored", async () => {
  await typed.thing.update({ id: "1" }, { name: "Torch", tags: new Set(["c"]) }).orThrow();
  expect(await change({ name: { text: "Lantern" } })).toMatchObject({ ok: false, row: { name: "Torch" } });
  expect(await change({ tags: { text: "d" } })).toMatchObject({ ok: false, problem: expect.stringContaining("meanwhile") as string });
  expect(await change({ code: { text: "6" } })).toMatchObject({ ok: true, row: { name: "Torch", code: "6" } });
  await typed.thing.delete({ id: "1" }).orThrow();
  expect(await change({ name: { text: "x" } }, { name: "Torch" })).toMatchObject({ ok: false });
});

test("rows are created, linked, unlinked and deleted as the model says", async () => {
  expect(await createRow(db, sent({ type: "thing", set: { id: { text: "1" }, name: { text: "x" } } }))).toMatchObject({
    ok: false,
    problem: "There is one with this id already.",
  });
  expect(
    await createRow(
      db,
      sent({ type: "thing", set: { id: { text: "2" }, name: { text: "Bulb" }, rank: { text: "4" }, code: { text: "" } } }),
    ),
  ).toMatchObject({ ok: true });
  expect(await typed.thing.get({ id: "2" })).toEqual({ id: "2", name: "Bulb", rank: 4, owners: 0 });
  await typed.owner.put({ id: "ann", name: "Ann" }).orThrow();
  const ends = { edge: "owns", from: { id: "ann" }, to: { id: "2" } };
  expect(await linkNodes(db, sent({ ...ends, set: { since: { text: "2020" } } }), false)).toMatchObject({ ok: true });
  expect(await typed.thing.get({ id: "2" }, { consistent: true })).toMatchObject({ owners: 1 });
  expect(await linkNodes(db, sent({ ...ends, to: { id: "none" }, set: { since: { text: "2020" } } }), false)).toMatchObject({
    ok: false,
    problem: 'There is no node at its end "to".',
  });
  expect(await linkNodes(db, sent(ends), true)).toMatchObject({ ok: true });
  expect(await deleteRow(db, sent({ type: "thing", id: { id: "2" } }))).toMatchObject({ ok: true });
  expect(await typed.thing.get({ id: "2" })).toBeUndefined();
  await expect(deleteRow(db, sent({ type: "none", id: {} }))).rejects.toMatchObject({ code: "cli.usage" });
  await expect(changeRow(db, 7)).rejects.toMatchObject({ code: "cli.usage" });
});

test("rows in the order of an index, in pages, filtered by their cells", async () => {
  const names = ["Ada", "Bea", "Cy", "Dan", "Eve", "Flo"];
  for (const [at, name] of names.entries()) await typed.owner.put({ id: `o${9 - at}`, name }).orThrow();
  expect((await sortsOf(graph)).get("owner")).toEqual([{ index: "byName", by: ["name"] }]);
  const all = async (request: Partial<RowsRequest>): Promise<readonly unknown[]> => {
    const rows: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await read({ type: "owner", limit: 2, cursor, ...request });
      rows.push(...page.rows.map(({ name }) => name));
      cursor = page.next;
    } while (cursor !== undefined);
    return rows;
  };
  const own = names.filter((name) => name !== "Ann");
  expect((await all({})).filter((name) => name !== "Ann").toSorted()).toEqual(own);
  expect(await all({ sort: "byName", filters: { name: "!=Ann" } })).toEqual(own);
  expect(await all({ sort: "byName", reverse: true, filters: { name: ">=D" } })).toEqual(["Flo", "Eve", "Dan"]);
  expect(await all({ filters: { id: "=o7" } })).toEqual(["Cy"]);
  await expect(read({ sort: "none" })).rejects.toThrow("none");
  await expect(read({ type: "none" })).rejects.toMatchObject({ code: "cli.usage" });
});

test.each<[unknown, string, boolean]>([
  ["Lamp", "lam", true],
  ["Lamp", "=lamp", false],
  [10, ">9", true],
  ["9999999999999999999999", "<9", false],
  ["10", "<=9", false],
  [undefined, ">9", false],
  [undefined, "=", true],
  ["x", "=", false],
  [undefined, "!=x", true],
  [new Set(["a", "b"]), "b", true],
  [new Date("2024-05-06T00:00:00Z"), ">2024-05-05", true],
  [{ city: "Porto" }, "porto", true],
])("matches(%j, %s) is %s", (value, filter, expected) => expect(matches(value, filter)).toBe(expected));

test("a CSV file is imported, and what does not fit is told by its line", async () => {
  const csv = 'id,name,tags,rank\n10,Desk,"a, b",3\n11,,x,4\n12,"Chair, old",,\n';
  const answer = await importRows(db, sent({ type: "thing", csv }), signal);
  expect(answer).toMatchObject({ rows: 3, failed: 1, failures: [{ line: 3, problem: expect.stringContaining("name") as string }] });
  expect(await typed.thing.get({ id: "10" })).toEqual({ id: "10", name: "Desk", tags: new Set(["a", "b"]), rank: 3, owners: 0 });
  expect(await typed.thing.get({ id: "12" })).toMatchObject({ name: "Chair, old" });
  await expect(importRows(db, sent({ type: "thing", csv: 'a,"b\n1' }), signal)).rejects.toThrow("no CSV");
});
