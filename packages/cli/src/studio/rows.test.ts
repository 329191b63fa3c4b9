import { startEngine, type LocalEngine } from "@edgetable/local";
import { count, createLeanTransport, defineGraph, edge, node, part, type Transport } from "edgetable";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { UntypedDb } from "../connection.ts";
import { fromJson, toExactJson } from "../output/json.ts";
import { matches } from "./cells.ts";
import {
  changeEdge,
  changeRow,
  createRow,
  deleteRow,
  edgeRow,
  importRows,
  linkNodes,
  readRows,
  type RowsRequest,
  sortsOf,
  unlinkNodes,
  writePart,
} from "./rows.ts";

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
    // Takes other attributes, whose types only a stored value tells.
    open: node({ key: "OPEN#{id}", schema: z.looseObject({ id }) }),
    visit: node({ key: "VISIT#{id}", schema: z.object({ id, name: z.string(), until: z.int() }), ttl: "until" }),
  },
  edges: {
    owns: edge({
      from: "owner",
      to: "thing",
      schema: z.object({ since: z.int(), tags: z.set(z.string()).optional(), remark: z.string().optional() }),
      onDelete: { from: "cascade", to: "cascade" },
    }),
    // Several between two nodes, in both of their partitions, in an order that a change may move them in.
    rents: edge({
      from: "owner",
      to: "thing",
      schema: z.object({ year: z.int(), price: z.number() }),
      key: ["year"],
      orderBy: "price:number",
      stored: "twice",
    }),
  },
  parts: {
    label: part({ of: "thing", key: "LABEL#{lang}", schema: z.object({ lang: z.string(), text: z.string(), size: z.int().optional() }) }),
  },
  indexes: { byName: { entries: { thing: "name", owner: "name", visit: "name" }, shards: 3 } },
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

test.each<[unknown, string, unknown]>([
  [true, "false", false],
  [false, " TRUE ", true],
  [null, "null", null],
  [null, "x", "x"],
  [5, "6", 6],
  [1 / 3, "0.6666666666666666", 2 / 3],
  [12345678901234567890n, "12345678901234567891", 12345678901234567891n],
  ["true", "false", "false"],
  [new Set([12345678901234567890n, 2]), "3, 12345678901234567891", new Set([3, 12345678901234567891n])],
  [new Set([new Uint8Array([1])]), "AQ==, Ag==", new Set([new Uint8Array([1]), new Uint8Array([2])])],
  [{ $ref: "a" }, '{"$ref":"b"}', { $ref: "b" }],
  [[1, { a: null }], "[2]", [2]],
  ["text", "", ""],
  [5, "", undefined],
  [true, "", undefined],
  [{ a: 1 }, "", undefined],
  [new Uint8Array([1]), "", undefined],
  [null, "", undefined],
])("a cell whose type the schema does not tell keeps that of its value (%#)", async (was, text, value) => {
  await typed.open.put({ id: "1", cell: was } as never).orThrow();
  const body = { type: "open", id: { id: "1" }, set: { cell: { text } }, was: { cell: was } };
  expect(await changeRow(db, sent(body))).toMatchObject({ ok: true });
  expect(await typed.open.get({ id: "1" })).toEqual(value === undefined ? { id: "1" } : { id: "1", cell: value });
});

test("a boolean takes no other text", async () => {
  await typed.open.put({ id: "1", cell: true } as never).orThrow();
  const body = { type: "open", id: { id: "1" }, set: { cell: { text: "maybe" } }, was: { cell: true } };
  await expect(changeRow(db, sent(body))).rejects.toThrow('"maybe" is neither true nor false');
});

test("a change that is sent twice is no other's: by a second click, or because its answer was lost", async () => {
  const body = { name: { text: "Lantern" }, tags: { text: "b, c" }, code: null };
  expect((await Promise.all([change(body), change(body)])).map(({ ok }) => ok)).toEqual([true, true]);
  expect(await change(body)).toMatchObject({ ok: true, row: { name: "Lantern" } });
  // One of its cells holds something else.
  await typed.thing.update({ id: "1" }, { name: "Torch" }).orThrow();
  expect(await change(body)).toMatchObject({ ok: false, row: { name: "Torch" } });
});

test("expired rows are in no order", async () => {
  const now = Math.floor(Date.now() / 1000);
  for (const [id, until] of [
    ["past", now - 10],
    ["present", now + 1000],
  ] as const)
    await typed.visit.put({ id, name: id, until }).orThrow();
  for (const sort of [undefined, "byName"]) expect((await read({ type: "visit", sort })).rows).toMatchObject([{ id: "present" }]);
});

test("a cell that is cleared is removed; a required one is not", async () => {
  expect(await change({ code: null, tags: null })).toMatchObject({ ok: true });
  expect(await stored()).not.toHaveProperty("code");
  await typed.open.put({ id: "1", cell: null } as never).orThrow();
  expect(await changeRow(db, sent({ type: "open", id: { id: "1" }, set: { cell: null }, was: { cell: null } }))).toMatchObject({
    ok: true,
  });
  expect(await typed.open.get({ id: "1" })).toEqual({ id: "1" });
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
    problem: "A row with this id exists already.",
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
  expect(await linkNodes(db, sent({ ...ends, set: { since: { text: "2020" } } }))).toMatchObject({ ok: true });
  expect(await typed.thing.get({ id: "2" }, { consistent: true })).toMatchObject({ owners: 1 });
  expect(await linkNodes(db, sent({ ...ends, to: { id: "none" }, set: { since: { text: "2020" } } }))).toMatchObject({
    ok: false,
    problem: 'There is no node at its end "to".',
  });
  expect(await unlinkNodes(db, sent(ends))).toMatchObject({ ok: true });
  expect(await deleteRow(db, sent({ type: "thing", id: { id: "2" } }))).toMatchObject({ ok: true });
  expect(await typed.thing.get({ id: "2" })).toBeUndefined();
  await expect(deleteRow(db, sent({ type: "none", id: {} }))).rejects.toMatchObject({ code: "cli.usage" });
  await expect(changeRow(db, 7)).rejects.toMatchObject({ code: "cli.usage" });
  for (const cell of [5, "x", [], {}, { text: 5 }])
    for (const name of ["name", "field:f"])
      await expect(changeRow(db, { type: "thing", id: { id: "1" }, set: { [name]: cell }, was: {} })).rejects.toMatchObject({
        code: "cli.usage",
      });
});

test("an edge: only what was changed is written, if it holds what was read, and what the model refuses is not", async () => {
  await typed.owner.put({ id: "ann", name: "Ann" }).orThrow();
  const [from, to] = [{ id: "ann" }, { id: "1" }];
  const row = { since: 2020, tags: new Set(["a"]) };
  await typed.owns.put(from, to, row).orThrow();
  const change = (set: object, was: object = row) => changeEdge(db, sent({ edge: "owns", from, to, set, was }));
  expect(await change({ since: { text: "2021" } })).toMatchObject({ ok: true, row: { since: 2021, from, to } });
  expect(await typed.owns.get(from, to)).toEqual({ from, to, ...row, since: 2021 });
  // Somebody else's value stays, and the answer has it.
  expect(await change({ since: { text: "2022" } })).toMatchObject({
    ok: false,
    row: { since: 2021 },
    problem: expect.stringContaining("meanwhile") as string,
  });
  expect(await change({ tags: { text: "b, c" }, remark: { text: "7" } })).toMatchObject({ ok: true });
  expect(await typed.owns.get(from, to)).toEqual({ from, to, since: 2021, tags: new Set(["b", "c"]), remark: "7" });
  await expect(change({ since: { text: "early" } })).rejects.toThrow('"early" is not a number');
  await expect(change({ since: { text: "1.5" } })).rejects.toMatchObject({ code: "schema.invalidValue" });
  expect(await unlinkNodes(db, sent({ edge: "owns", from, to }))).toMatchObject({ ok: true });
  expect(await unlinkNodes(db, sent({ edge: "owns", from, to }))).toMatchObject({ ok: false, problem: "It is not there any more." });
  await expect(changeEdge(db, sent({ edge: "own", from, to, set: {}, was: {} }))).rejects.toThrow("Did you mean");
});

test("parallel edges are told apart by their key, and a change moves both copies in their order", async () => {
  await typed.owner.put({ id: "ann", name: "Ann" }).orThrow();
  const [from, to] = [{ id: "ann" }, { id: "1" }];
  for (const year of [2023, 2024]) await typed.rents.put(from, to, { year, price: year - 2000 }).orThrow();
  const was = { year: 2023, price: 23 };
  const body = { edge: "rents", from, to, key: { year: 2023 } };
  expect(await changeEdge(db, sent({ ...body, set: { price: { text: "99.5" } }, was }))).toMatchObject({ ok: true, row: { price: 99.5 } });
  const [out, back] = await Promise.all([typed.owner(from).out("rents").edges(), typed.thing(to).in("rents").edges()]);
  expect([out.map(({ price }) => price), back.map(({ price }) => price)]).toEqual([
    [24, 99.5],
    [24, 99.5],
  ]);
  // The row of a copy is read where it is changed.
  expect(await edgeRow(db, "rents", { from, to, year: 2024, price: 0 })).toMatchObject({ year: 2024, price: 24 });
  expect(await unlinkNodes(db, sent(body))).toMatchObject({ ok: true });
  expect(await typed.thing(to).in("rents").edges()).toMatchObject([{ year: 2024 }]);
});

test("a part is created, changed and deleted", async () => {
  const own = { part: "label", owner: { id: "1" } };
  const set = { lang: { text: "de" }, text: { text: "Lampe" }, size: { text: "" } };
  expect(await writePart(db, sent({ ...own, set }), "create")).toMatchObject({ ok: true });
  expect(await writePart(db, sent({ ...own, set }), "create")).toMatchObject({ ok: false, problem: "A row with this id exists already." });
  const id = { lang: "de" };
  const change = (cells: object, was: object) => writePart(db, sent({ ...own, id, set: cells, was }), "change");
  expect(await change({ size: { text: "4" } }, { text: "Lampe" })).toMatchObject({ ok: true, row: { text: "Lampe", size: 4 } });
  expect(await change({ size: { text: "5" } }, { text: "Lampe" })).toMatchObject({ ok: false, row: { size: 4 } });
  await expect(change({ text: null }, { text: "Lampe" })).rejects.toMatchObject({ code: "schema.invalidValue" });
  expect(await typed.label.get({ id: "1" }, id)).toEqual({ id: "1", lang: "de", text: "Lampe", size: 4 });
  expect(await writePart(db, sent({ ...own, id }), "delete")).toMatchObject({ ok: true });
  expect(await writePart(db, sent({ ...own, id }), "delete")).toMatchObject({ ok: false });
  await expect(writePart(db, sent({ ...own, part: "none", id }), "delete")).rejects.toMatchObject({ code: "cli.usage" });
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
  [" x ", "= x ", true],
  ["x", "= x ", true],
])("matches(%j, %s) is %s", (value, filter, expected) => expect(matches(value, filter)).toBe(expected));

test("filters compare every digit of a number that a double cannot hold", () => {
  const large = 1234567890123456789n;
  expect(matches(large, `=${large}`)).toBe(true);
  expect(matches(large, `=${large + 1n}`)).toBe(false);
  expect(matches(large, `<${large + 1n}`)).toBe(true);
  expect(matches(-large, `<${large}`)).toBe(true);
});

test("a CSV file is imported, and what does not fit is told by its line", async () => {
  const csv = 'id,name,tags,rank\n10,Desk,"a, b",3\n11,,x,4\n12,"Chair, old",,\n';
  const answer = await importRows(db, sent({ type: "thing", csv }), signal);
  expect(answer).toMatchObject({ rows: 3, failed: 1, failures: [{ line: 3, problem: expect.stringContaining("name") as string }] });
  expect(await typed.thing.get({ id: "10" })).toEqual({ id: "10", name: "Desk", tags: new Set(["a", "b"]), rank: 3, owners: 0 });
  expect(await typed.thing.get({ id: "12" })).toMatchObject({ name: "Chair, old" });
  await expect(importRows(db, sent({ type: "thing", csv: 'a,"b\n1' }), signal)).rejects.toThrow("not valid CSV");
  await expect(importRows(db, sent({ type: "thing", csv: "id,name,name\n13,a,b\n" }), signal)).rejects.toThrow('two columns "name"');
});
