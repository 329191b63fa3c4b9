import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, node } from "../index.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "../verify/index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const spy = () => {
  const queries: Record<string, unknown>[] = [];
  const transport: Transport = {
    ...engine.transport,
    send: (operation, input, options) => {
      if (operation === "Query") queries.push(input as unknown as Record<string, unknown>);
      return engine.transport.send(operation, input, options);
    },
  };
  return { queries, transport };
};

const tables = { partitionKey: "PK", sortKey: "SK", typeAttribute: "T", indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } } };
const schema = z.object({ id: text, team: text, city: text, name: text, pay: z.number() });

const people = async (keys: Readonly<Record<string, string>>) => {
  const { queries, transport } = spy();
  const graph = defineGraph({
    table: engine.freshTableName("one-key"),
    nodes: { person: node({ key: "P#{id}", schema }), robot: node({ key: "R#{id}", schema }) },
    edges: { knows: edge({ from: "person", to: "person" }) },
    layout: {
      ...tables,
      nodes: { person: { keys: { SK: "P", ...keys } }, robot: { keys: { SK: "R", ...keys } } },
      edges: { knows: { keys: { SK: "K#{to.id}" } } },
    },
  });
  const db = graph.connect({ transport });
  await db.table.create();
  let id = 0;
  for (const team of ["Core", "core", "CORE", "Web"])
    for (const city of ["Oslo", "oslo", "Rome"]) {
      const row = { id: String(id++), team, city, name: `${team}${city}`, pay: id };
      await db.person.create(row).orThrow();
      await db.robot.create(row).orThrow();
    }
  queries.length = 0;
  return { db, queries };
};

describe.each([
  ["the partition key", { GSI1PK: "T#{team:lower}", GSI1SK: "N#{name:written}" }],
  ["the sort key", { GSI1PK: "T", GSI1SK: "N#{team:lower}#{name:written}" }],
  ["a sort key in which another value follows at once", { GSI1PK: "T", GSI1SK: "{team:lower}{name:written}" }],
])("values of a list that are one in %s", (_, keys) => {
  test("are read once, whatever is made of the rows", async () => {
    const { db, queries } = await people(keys);
    const teams = ["Core", "core", "nobody"];
    const rows = [0, 1, 2, 3, 4, 5].map(String);
    const search = () => db.find("person").where({ team: { in: teams } });
    const idsOf = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).toSorted();
    expect(idsOf(await search().rows())).toEqual(rows);
    expect(queries).toHaveLength(2);
    expect(await search().count()).toBe(6);
    expect(queries).toHaveLength(4);
    expect(await search().limit(4).count()).toBe(4);
    expect(await search().sum("pay")).toBe(21);
    expect(idsOf(await search().reverse().rows())).toEqual(rows);
    expect(idsOf((await search().walk().ids()).items)).toEqual(rows);
    expect((await search().walk().count()).count).toBe(6);
    const paged: string[] = [];
    let next: string | undefined;
    do {
      const page = await search().page({ limit: 4, ...(next === undefined ? {} : { cursor: next }) });
      paged.push(...page.items.map(({ id }) => id));
      next = page.next;
    } while (next !== undefined);
    expect(paged.toSorted()).toEqual(rows);
    expect(
      await db
        .find("person")
        .where({ team: { in: ["Core", "core"] } })
        .count(),
    ).toBe(6);
    const several = db.find(["person", "robot"]).where({ team: { in: ["CORE", "core"] } });
    expect((await several.rows()).length).toBe(12);
    expect(await several.count()).toBe(12);
  });

  test("that one contains another's key are read once", async () => {
    const { db } = await people(keys);
    await db.person.create({ id: "x", team: "C", city: "Bonn", name: "ore", pay: 0 }).orThrow();
    await db.person.create({ id: "y", team: "co", city: "Bonn", name: "re", pay: 0 }).orThrow();
    const search = db.find("person").where({ team: { in: ["C", "co", "Core"] } });
    expect((await search.rows()).map(({ id }) => id).toSorted()).toEqual(["0", "1", "2", "x", "y"]);
    expect(await search.count()).toBe(5);
  });
});

describe("lists of several fields of one key", () => {
  test("are combined where no Query finds the rows by one of them", async () => {
    const { db, queries } = await people({ GSI1PK: "T#{team}#{city:lower}", GSI1SK: "N#{name}" });
    const search = () => db.find("person").where({ team: { in: ["Core", "Web"] }, city: { in: ["Oslo", "oslo", "Rome"] } });
    expect((await search().rows()).map(({ id }) => id).toSorted()).toEqual(["0", "1", "10", "11", "2", "9"].toSorted());
    expect(queries.map(({ ExpressionAttributeValues: values }) => (values as { readonly ":p": { readonly S: string } })[":p"].S)).toEqual([
      "T#Core#oslo",
      "T#Core#rome",
      "T#Web#oslo",
      "T#Web#rome",
    ]);
    expect(await search().count()).toBe(6);
    expect(
      await search()
        .where({ name: { beginsWith: "CoreO" } })
        .count(),
    ).toBe(1);
    expect(
      (
        await db
          .find("person")
          .where({ team: "Core", city: { in: ["oslo", "Rome"] } })
          .rows()
      ).length,
    ).toBe(2);
  });

  test("are refused where they make too many partitions", async () => {
    const { db } = await people({ GSI1PK: "T#{team}#{city}", GSI1SK: "N#{name}" });
    const many = (letter: string) => Array.from({ length: 40 }, (_, at) => `${letter}${at}`);
    await expect(
      db
        .find("person")
        .where({ team: { in: many("t") }, city: { in: many("c") } })
        .rows(),
    ).rejects.toMatchObject({
      code: "plan.unsupported",
      message: expect.stringContaining(
        "The search reads 1600 partitions, for 1600 values or combinations of values, and one search reads 1000",
      ) as unknown,
    });
    expect(
      await db
        .find("person")
        .where({ team: { in: many("t").slice(0, 25) }, city: { in: many("c") } })
        .rows(),
    ).toEqual([]);
    await expect(
      db
        .find("person")
        .where({ team: { in: ["Core"] }, name: { in: ["a"] } })
        .rows(),
    ).rejects.toMatchObject({ code: "plan.noIndex" });
  });
});

test.each(["{name:lower}", "{name:written}", "{name?:upper}", "N#{name:lower}"])(
  "the value of %s may contain the delimiter",
  async (template) => {
    const { db } = await people({ GSI1PK: "{team:written}", GSI1SK: template });
    await db.person.create({ id: "x", team: "#", city: "Bonn", name: "#a#", pay: 0 }).orThrow();
    const ids = async (where: object) => (await db.find("person").where(where).rows()).map(({ id }) => id);
    expect(await ids({ team: "#", name: "#a#" })).toEqual(["x"]);
    expect(await ids({ team: "#", name: { beginsWith: "#" } })).toEqual(["x"]);
    expect(await ids({ team: "#" })).toEqual(["x"]);
    expect(await ids({ team: "#", name: "#" })).toEqual([]);
    await db.person.update({ id: "x" }, { name: "##" }).orThrow();
    expect(await ids({ team: "#", name: { in: ["##", "#a#"] } })).toEqual(["x"]);
    expect(await verify(db)).toMatchObject({ clean: true });
    // DynamoDB refuses an empty key.
    if (!template.startsWith("N")) await expect(db.person.update({ id: "x" }, { name: "" })).rejects.toMatchObject({ code: "keys.empty" });
  },
);

test("a key that would be empty names the optional field that it begins with", async () => {
  const db = defineGraph({
    table: engine.freshTableName("optional"),
    nodes: { task: node({ key: "T#{id}", schema: z.object({ id: text, kind: text, since: text.optional() }) }) },
    layout: { ...tables, nodes: { task: { keys: { SK: "T", GSI1PK: "KIND#{kind}", GSI1SK: "{since?:written}" } } } },
  }).connect({ transport: engine.transport });
  await db.table.create();
  await expect(db.task.create({ id: "1", kind: "k" })).rejects.toMatchObject({
    code: "keys.incomplete",
    message: '"task" needs "since" to fill "GSI1SK" ({since?:written}). Give it. Items may lack it only in an index whose entry is sparse.',
  });
});

test("an edge without direction from a node to itself is one item, whichever case its ends are given in", async () => {
  const db = defineGraph({
    table: engine.freshTableName("self"),
    nodes: { person: node({ key: "P#{id:lower}", schema: z.object({ id: text }), derived: { friends: count({ out: "likes" }) } }) },
    edges: {
      likes: edge({ from: "person", to: "person", symmetric: true, maxDegree: { from: 3 }, onDelete: { from: "cascade", to: "cascade" } }),
    },
    layout: {
      ...tables,
      nodes: { person: { keys: { SK: "P" } } },
      edges: {
        likes: {
          verbatim: { f: "from.id", t: "to.id" },
          keys: { SK: "L#{to}" },
          mirror: { verbatim: { f: "from.id", t: "to.id" }, keys: { SK: "L#{from}" } },
        },
      },
    },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const [ann, lower, bob] = [{ id: "Ann" }, { id: "ann" }, { id: "Bob" }];
  for (const row of [ann, bob]) await db.person.create(row).orThrow();
  await db.likes.link(ann, lower).orThrow();
  expect(await db.likes.link(lower, lower)).toMatchObject({ ok: false, reason: "exists" });
  expect(await db.person(lower).both("likes").edges()).toEqual([{ from: ann, to: lower }]);
  expect(await db.likes.get(ann, ann)).toEqual({ from: ann, to: lower });
  await db.likes.put(lower, ann).orThrow();
  await db.likes.link(ann, bob).orThrow();
  expect(await db.person.get(ann)).toMatchObject({ friends: 2 });
  expect(await db.likes.unlink({ id: "ANN" }, ann)).toMatchObject({ ok: true });
  expect(await db.person(ann).both("likes").count()).toBe(1);
  expect(await db.person.get(ann)).toMatchObject({ friends: 1 });
  expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true });
  await db.likes.link(lower, ann).orThrow();
  const scanned: unknown[] = [];
  for await (const one of db.scan()) if ("edge" in one) scanned.push(one);
  expect(scanned).toHaveLength(2);
});
