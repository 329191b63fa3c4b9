import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

// Open schemas that check what they know, over a layout that renames and computes attributes.
const role = z.enum(["user", "admin"]).exclude(["admin"]);
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { user: node({ key: "USER#{id}", schema: z.looseObject({ id: z.string(), role: role.optional() }), version: true }) },
    parts: { note: part({ of: "user", key: "NOTE#{n}", schema: z.looseObject({ n: z.string(), role: role.optional() }) }) },
    edges: {
      likes: edge({ from: "user", to: "user", ends: "unchecked", schema: z.looseObject({ role: role.optional() }), stored: "twice" }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "Kind",
      indexes: { byTeam: { partitionKey: "TeamPk", sortKey: "PK" } },
      nodes: { user: { attributes: { role: "Role" }, keys: { SK: "PROFILE", TeamPk: "TEAM#{team}" }, sparse: ["TeamPk"] } },
      parts: { note: { attributes: { role: "Role" } } },
      edges: {
        likes: {
          attributes: { role: "Role" },
          keys: { SK: "LIKES#{to}" },
          mirror: { type: "liked", attributes: { role: "Role" }, keys: { SK: "LIKED#{from}" } },
        },
      },
    },
  });

let engine: TestEngine;
let table: string;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
let unchecked: typeof db;
beforeAll(async () => {
  engine = await openEngine();
  table = engine.freshTableName("renamed");
  db = graphOf(table).connect({ transport: engine.transport });
  unchecked = graphOf(table).connect({ transport: engine.transport, validate: false });
  await db.table.create();
  await db.user.create({ id: "ada", role: "user" }).orThrow();
  await db.user.create({ id: "bob" }).orThrow();
  await db.likes.link({ id: "ada" }, { id: "bob" }, { role: "user" }).orThrow();
  await db.note.put({ id: "ada" }, { n: "1", role: "user" }).orThrow();
});
afterAll(() => engine.close());

const ada = { id: "ada" };
const bob = { id: "bob" };
const admin = { Role: "admin" };

test.each([
  ["create", () => db.user.create({ id: "eve", role: "user", ...admin })],
  ["put", () => db.user.put({ ...ada, ...admin })],
  ["put without validation", () => unchecked.user.put({ ...ada, ...admin })],
  ["update", () => db.user.update(ada, admin)],
  ["update by set", () => db.user.update(ada, { set: admin })],
  ["update by add", () => db.user.update(ada, { add: { Role: 1 } } as never)],
  ["update by append", () => db.user.update(ada, { append: { Role: ["admin"] } } as never)],
  ["update by remove", () => db.user.update(ada, { remove: ["Role"] } as never)],
  ["a condition", () => db.user.update(ada, { name: "Ada" }, { if: admin } as never)],
  ["put of a part", () => db.note.put(ada, { n: "2", ...admin })],
  ["update of a part", () => db.note.update(ada, { n: "1" }, admin)],
  ["link", () => db.likes.link(ada, { id: "eve" }, admin)],
  ["link, for the other copy", () => db.likes.link(ada, { id: "eve" }, {}, { reverse: admin })],
  ["put of an edge", () => db.likes.put(ada, bob, admin)],
  ["relink", () => db.likes.relink(ada, bob, admin)],
  ["a batch", () => db.batch([db.user.put({ id: "eve", ...admin })])],
  ["a transaction", () => db.transact([db.user.put({ id: "eve", ...admin })])],
  ["a filter of edges", () => db.user(ada).out("likes").where(admin).edges()],
  ["a filter of parts", () => db.user(ada).parts("note").where(admin).all()],
  ["a computed key", () => db.user.update(ada, { TeamPk: "TEAM#a" })],
  ["the type attribute", () => db.user.put({ ...ada, Kind: "liked" })],
  ["the version", () => db.user.update(ada, { version: 7 } as never)],
  ["the owner of a unique value", () => db.user.put({ ...ada, "~owner": "x" })],
  ["a count of edges", () => db.user.update(ada, { "~count": 0 })],
  ["a lease", () => db.user.update(ada, { "~holder": "x" })],
])("%s does not write or ask for an attribute by the name it is stored under", async (_, call) => {
  await expect((async () => call())()).rejects.toMatchObject({ code: expect.stringMatching(/^schema\.(unknown|immutable)Attribute$/) });
});

test("nothing of it came into the table, and the message says what to give", async () => {
  expect(await db.load([{ node: "user", row: { id: "eve", ...admin } }])).toMatchObject({
    items: 0,
    failures: [{ row: 0, error: { code: "schema.unknownAttribute" } }],
  });
  const { Items = [] } = await engine.transport.send("Scan", { TableName: table });
  expect(JSON.stringify(Items)).not.toContain("admin");
  await expect((async () => db.user.update(ada, admin))()).rejects.toThrow(
    '"Role" is not an attribute of "user": "role" is stored under that name. Give "role" instead.',
  );
});

test("a version that a row claims is not taken", async () => {
  await unchecked.user.put({ id: "eve", version: 99 } as never).orThrow();
  expect(await db.user({ id: "eve" }).get()).toEqual({ id: "eve", version: 1 });
});
