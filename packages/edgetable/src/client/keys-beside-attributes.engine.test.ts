import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node, type Layout, type Transport } from "../index.ts";
import { verify } from "../verify/index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const layout: Layout = {
  partitionKey: "pk",
  sortKey: "sk",
  indexes: { gsi1: { partitionKey: "gsi1pk", sortKey: "gsi1sk" }, gsi2: { partitionKey: "gsi2pk", sortKey: "gsi2sk" } },
  nodes: {
    task: {
      keys: {
        sk: "task#",
        gsi1pk: "status#{status}",
        gsi1sk: "task#{address.city}#{points:4}",
        gsi2pk: "$app#team_{team:lower}",
        gsi2sk: "$task_1#a_{a?:lower}#b_{b?:lower}",
      },
      verbatim: ["status", "points"],
      sparse: ["gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk"],
    },
  },
};

const open = async (given: Layout = layout) => {
  const table = engine.freshTableName("beside");
  const graph = defineGraph({
    table,
    nodes: {
      task: node({
        key: "task#{id}",
        schema: z.object({
          id: text,
          status: text.optional(),
          points: z.number().optional(),
          address: z.object({ city: text.optional(), zip: text.optional() }).optional(),
          team: text.optional(),
          a: text.optional(),
          b: text.optional(),
        }),
      }),
    },
    layout: given,
  });
  const sent: [string, Record<string, unknown>][] = [];
  const transport: Transport = {
    ...engine.transport,
    send: (operation, input, options) => {
      sent.push([operation, input as unknown as Record<string, unknown>]);
      return engine.transport.send(operation, input, options);
    },
  };
  const db = graph.connect({ transport });
  await db.table.create();
  const keys = async (id: string) => {
    const { Item = {} } = await engine.transport.send("GetItem", {
      TableName: table,
      Key: { pk: { S: `task#${id}` }, sk: { S: "task#" } },
    });
    return Object.fromEntries(
      Object.entries(Item).flatMap(([name, value]) => (name.startsWith("gsi") && "S" in value ? [[name, value.S]] : [])),
    );
  };
  const queries = () => sent.filter(([operation]) => operation === "Query").map(([, input]) => input);
  return { db, sent, keys, queries };
};

describe("a key with a field within an attribute", () => {
  test("follows every change of the attribute, and finds rows", async () => {
    const { db, sent, keys, queries } = await open();
    await db.task.create({ id: "1", status: "open", points: 3, address: { city: "Oslo" } }).orThrow();
    expect(await keys("1")).toEqual({ gsi1pk: "status#open", gsi1sk: "task#Oslo#0003" });
    sent.length = 0;
    expect(await db.find("task").where({ status: "open", "address.city": "Oslo" }).using("gsi1").rows()).toMatchObject([
      { id: "1", address: { city: "Oslo" } },
    ]);
    expect(queries()).toMatchObject([
      {
        KeyConditionExpression: "gsi1pk = :p AND begins_with(gsi1sk, :s)",
        ExpressionAttributeValues: { ":p": { S: "status#open" }, ":s": { S: "task#Oslo#" } },
      },
    ]);
    expect(queries()[0]).not.toHaveProperty("FilterExpression");
    sent.length = 0;
    await db.task.update({ id: "1" }, { set: { "address.city": "Rome" } }).orThrow();
    expect(sent.map(([operation]) => operation)).toEqual(["GetItem", "UpdateItem"]);
    expect(await keys("1")).toEqual({ gsi1pk: "status#open", gsi1sk: "task#Rome#0003" });
    await db.task.update({ id: "1" }, { address: { city: "Bari", zip: "7" } }).orThrow();
    expect(await keys("1")).toMatchObject({ gsi1sk: "task#Bari#0003" });
    await db.task.update({ id: "1" }, { remove: ["address.city"] }).orThrow();
    expect(await keys("1")).toEqual({});
    expect(await db.task.get({ id: "1" })).toEqual({ id: "1", status: "open", points: 3, address: { zip: "7" } });
    await db.task.update({ id: "1" }, { set: { "address.city": "Kyiv" } }).orThrow();
    expect(await keys("1")).toEqual({ gsi1pk: "status#open", gsi1sk: "task#Kyiv#0003" });
    await db.task.update({ id: "1" }, { remove: ["address"] }).orThrow();
    expect(await keys("1")).toEqual({});
    expect(await verify(db)).toMatchObject({ clean: true });
  });
});

describe("a key that ends where a field is missing", () => {
  test("is written up to there, as ElectroDB does, and finds its rows", async () => {
    const { db, keys } = await open();
    await db.task.create({ id: "1", team: "Core" }).orThrow();
    await db.task.create({ id: "2", team: "Core", a: "X" }).orThrow();
    await db.task.create({ id: "3", team: "Core", a: "X#b_y", b: "" }).orThrow();
    await db.task.create({ id: "4", a: "X" }).orThrow();
    expect(await keys("1")).toEqual({ gsi2pk: "$app#team_core", gsi2sk: "$task_1#a_" });
    expect(await keys("2")).toEqual({ gsi2pk: "$app#team_core", gsi2sk: "$task_1#a_x#b_" });
    expect(await keys("3")).toEqual({ gsi2pk: "$app#team_core", gsi2sk: "$task_1#a_x#b_y#b_" });
    expect(await keys("4")).toEqual({});
    const ids = async (rows: PromiseLike<readonly { id: string }[]>) => (await rows).map(({ id }) => id).toSorted();
    expect(await ids(db.find("task").where({ team: "Core" }).rows())).toEqual(["1", "2", "3"]);
    expect(await ids(db.find("task").where({ team: "Core", a: "X" }).rows())).toEqual(["2"]);
    expect(await ids(db.find("task").where({ team: "Core", a: "X#b_y" }).rows())).toEqual(["3"]);
    await db.task.update({ id: "2" }, { remove: ["a"] }).orThrow();
    expect(await keys("2")).toMatchObject({ gsi2sk: "$task_1#a_" });
    await db.task.update({ id: "2" }, { a: "Y" }).orThrow();
    expect(await keys("2")).toMatchObject({ gsi2sk: "$task_1#a_y#b_" });
    expect(await verify(db)).toMatchObject({ clean: true });
  });

  test("fields may stand beside each other without a delimiter, where nothing reads them", async () => {
    const { db, keys, queries } = await open({
      ...layout,
      nodes: { task: { keys: { sk: "task#", gsi2pk: "T{team:upper}", gsi2sk: "{a:written}{b:written}" }, sparse: ["gsi2pk", "gsi2sk"] } },
    });
    await db.task.create({ id: "1", team: "Te", a: "x", b: "yz" }).orThrow();
    await db.task.create({ id: "2", team: "Te", a: "xy", b: "z" }).orThrow();
    expect(await keys("1")).toEqual({ gsi2pk: "TTE", gsi2sk: "xyz" });
    expect(await keys("2")).toEqual(await keys("1"));
    expect(await db.find("task").where({ team: "Te", a: "x" }).using("gsi2").rows()).toMatchObject([{ id: "1" }]);
    expect(queries()).toMatchObject([{ KeyConditionExpression: "gsi2pk = :p AND begins_with(gsi2sk, :s)" }]);
    expect(await db.find("task").where({ team: "Te", a: "xy", b: "z" }).using("gsi2").rows()).toMatchObject([{ id: "2" }]);
  });
});

test.each([
  ["{a?}", 'only "lower", "upper" and "written" may be missing'],
  ["{a?:6}", 'only "lower", "upper" and "written" may be missing'],
  ["{a}{b:lower}", 'nothing stands between {a} and {b}; put "#" there.'],
])("%s is refused", async (template, message) => {
  await expect(open({ ...layout, nodes: { task: { keys: { sk: "task#", gsi2pk: "T#{team}", gsi2sk: template } } } })).rejects.toThrow(
    message,
  );
});

test("the table's own key is always whole", async () => {
  await expect(open({ ...layout, nodes: { task: { keys: { sk: "task#{a?:lower}" } } } })).rejects.toThrow(
    "{a?} says that the key ends where the field is missing, but a key of the table is always whole.",
  );
  await expect(open({ ...layout, nodes: { task: { keys: { sk: "task#{a:lower}{b:lower}" } } } })).rejects.toThrow("nothing stands between");
});

test("a number of fixed width in keys, and as a number beside them", async () => {
  const table = engine.freshTableName("widths");
  const db = defineGraph({
    table,
    nodes: {
      issue: node({ key: "ISSUE#{repo}#{number:written(6)}", schema: z.object({ repo: text, number: z.int(), votes: z.int() }) }),
    },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: { gsi1: { partitionKey: "gsi1pk", sortKey: "gsi1sk" } },
      nodes: { issue: { keys: { gsi1pk: "REPO#{repo}", gsi1sk: "{votes:written(4)}#{number:written(6)}" } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  await db.issue.create({ repo: "web", number: 7, votes: 10 }).orThrow();
  await db.issue.create({ repo: "web", number: 12, votes: 9 }).orThrow();
  const { Item } = await engine.transport.send("GetItem", {
    TableName: table,
    Key: { pk: { S: "ISSUE#web#000007" }, sk: { S: "ISSUE#web#000007" } },
  });
  expect(Item).toEqual({
    pk: { S: "ISSUE#web#000007" },
    sk: { S: "ISSUE#web#000007" },
    gsi1pk: { S: "REPO#web" },
    gsi1sk: { S: "0010#000007" },
    number: { N: "7" },
    votes: { N: "10" },
  });
  expect(await db.issue.get({ repo: "web", number: 7 })).toEqual({ repo: "web", number: 7, votes: 10 });
  expect(await db.find("issue").where({ repo: "web" }).using("gsi1").reverse().rows()).toMatchObject([{ number: 7 }, { number: 12 }]);
  expect(await db.find("issue").where({ repo: "web", votes: 9 }).using("gsi1").rows()).toMatchObject([{ number: 12 }]);
  await db.issue.update({ repo: "web", number: 7 }, { add: { votes: 1 } }).orThrow();
  expect(await db.find("issue").where({ repo: "web", votes: 11 }).using("gsi1").rows()).toMatchObject([{ number: 7 }]);
  expect(await verify(db)).toMatchObject({ clean: true });
});

test("a field behind one where the key may end has an attribute of its own, since some keys lack it", async () => {
  const table = engine.freshTableName("behind");
  const row = { id: text, a: text.optional(), done: z.boolean(), at: text, rank: z.int().optional() };
  const db = defineGraph({
    table,
    nodes: { task: node({ key: "TASK#{id}", schema: z.object(row) }) },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: { gsi1: { partitionKey: "gsi1pk", sortKey: "gsi1sk" } },
      nodes: { task: { keys: { gsi1pk: "AT#{at}#A#{a?:lower}#{done:boolean}", gsi1sk: "A#{a?:written}#RANK#{rank:6}" } } },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const rows = [
    { id: "1", done: true, at: "2024" },
    { id: "2", done: false, at: "2024", a: "Ann", rank: 7 },
  ];
  for (const one of rows) await db.task.create(one).orThrow();
  for (const one of rows) expect(await db.task.get({ id: one.id })).toEqual(one);
  expect(await db.find("task").where({ at: "2024", a: "Ann", done: false }).rows()).toEqual([rows[1]]);
  const { Item } = await engine.transport.send("GetItem", { TableName: table, Key: { pk: { S: "TASK#1" }, sk: { S: "TASK#1" } } });
  expect(Item).toEqual({
    pk: { S: "TASK#1" },
    sk: { S: "TASK#1" },
    gsi1pk: { S: "AT#2024#A#" },
    gsi1sk: { S: "A#" },
    done: { BOOL: true },
  });
  await db.task.update({ id: "2" }, { remove: ["a"] }).orThrow();
  expect(await db.task.get({ id: "2" })).toEqual({ id: "2", done: false, at: "2024", rank: 7 });
  expect(await verify(db)).toMatchObject({ clean: true });
});

test("sparse keys whose fields may all be missing are both there if a row has one of the fields", async () => {
  const table = engine.freshTableName("either");
  const row = { isbn: text, member: text.optional(), ends: text.optional(), title: text };
  const db = defineGraph({
    table,
    nodes: { book: node({ key: "$book#isbn_{isbn:lower}", schema: z.object(row) }) },
    layout: {
      partitionKey: "pk",
      sortKey: "sk",
      indexes: { gsi1: { partitionKey: "gsi1pk", sortKey: "gsi1sk" } },
      nodes: {
        book: {
          keys: { sk: "$book", gsi1pk: "$library#member_{member?:lower}", gsi1sk: "$loan#ends_{ends?:lower}" },
          sparse: ["gsi1pk", "gsi1sk"],
        },
      },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const keys = async (isbn: string) => {
    const Key = { pk: { S: `$book#isbn_${isbn}` }, sk: { S: "$book" } };
    const { Item = {} } = await engine.transport.send("GetItem", { TableName: table, Key });
    return ["gsi1pk", "gsi1sk"].map((name) => (Item[name] as { readonly S: string } | undefined)?.S);
  };
  const none = [undefined, undefined];
  await db.book.create({ isbn: "1", title: "a" }).orThrow();
  expect(await keys("1")).toEqual(none);
  await db.book.update({ isbn: "1" }, { ends: "AVAILABLE" }).orThrow();
  expect(await keys("1")).toEqual(["$library#member_", "$loan#ends_available"]);
  await db.book.update({ isbn: "1" }, { set: { member: "Ann" }, remove: ["ends"] }).orThrow();
  expect(await keys("1")).toEqual(["$library#member_ann", "$loan#ends_"]);
  expect(await db.find("book").where({ member: "Ann" }).rows()).toEqual([{ isbn: "1", title: "a", member: "Ann" }]);
  await db.book.update({ isbn: "1" }, { remove: ["member"] }).orThrow();
  expect(await keys("1")).toEqual(none);
  await db.book.put({ isbn: "2", title: "b", ends: "2024" }).orThrow();
  await db.book.upsert({ isbn: "2", title: "b" }, { remove: ["ends"] }).orThrow();
  expect(await keys("2")).toEqual(none);
  await db.batch([db.book.put({ isbn: "3", title: "c", member: "Bob" }), db.book.put({ isbn: "4", title: "d" })]);
  expect(await keys("3")).toEqual(["$library#member_bob", "$loan#ends_"]);
  expect(await db.find("book").using("gsi1").where({ member: "Bob" }).count()).toBe(1);
  await expect(
    db
      .find("book")
      .where({ title: { gte: "a" } })
      .rows(),
  ).rejects.toMatchObject({ code: "plan.noIndex" });
  expect(await verify(db, { settle: 1 })).toMatchObject({ clean: true, kinds: [] });
  await engine.transport.send("UpdateItem", {
    TableName: table,
    Key: { pk: { S: "$book#isbn_4" }, sk: { S: "$book" } },
    UpdateExpression: "SET gsi1pk = :p, gsi1sk = :s",
    ExpressionAttributeValues: { ":p": { S: "$library#member_" }, ":s": { S: "$loan#ends_" } },
  });
  expect((await verify(db, { settle: 1, repair: true })).kinds).toMatchObject([{ kind: "indexKey", count: 1, repaired: 1 }]);
  expect(await keys("4")).toEqual(none);
});
