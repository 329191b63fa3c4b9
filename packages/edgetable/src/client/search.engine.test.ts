import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";

const text = z.string();

const graphOf = (table: string, shards: number | readonly number[]) =>
  defineGraph({
    table,
    nodes: {
      person: node({ key: "PERSON#{personId}", schema: z.object({ personId: text, name: text, age: z.int() }) }),
      place: node({ key: "PLACE#{placeId}", schema: z.object({ placeId: text, country: text, region: text, city: text }) }),
      skill: node({ key: "SKILL#{skillId}", schema: z.object({ skillId: text, skill: text }) }),
      task: node({ key: "TASK#{taskId}", schema: z.object({ taskId: text, dueAt: text.optional(), status: text.optional() }) }),
    },
    edges: {
      bornIn: edge({
        from: "person",
        to: "place",
        schema: z.object({ country: text, region: text, city: text, rent: z.int().optional() }),
        ends: "unchecked",
      }),
      hasSkill: edge({ from: "person", to: "skill", schema: z.object({ skill: text, level: text }), ends: "unchecked" }),
      leads: edge({ from: "person", to: "person", schema: z.object({ since: text }) }),
    },
    parts: { note: part({ of: "person", key: "NOTE#{n:3}", schema: z.object({ n: z.int(), topic: text }) }) },
    indexes: {
      byValue: {
        entries: {
          person: "name",
          place: ["country", "region", "city"],
          bornIn: ["country", "region", "city"],
          hasSkill: { by: ["skill", "level"], split: 1 },
          task: { by: "dueAt", sparse: true, shards: { count: 1, per: "status", hot: { open: 4 } } },
          note: "topic",
        },
        shards,
      },
      byAge: { entries: { person: "age:number" } },
    },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const names = ["Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ivy", "Joe", "Kim", "Lea"];

const open = async (shards: number | readonly number[], table = engine.freshTableName("search")) => {
  const sent: SentRequest[] = [];
  const inputs: { readonly operation: string; readonly input: Readonly<Record<string, unknown>> }[] = [];
  const { transport } = engine;
  const recording: typeof transport = {
    send: async (operation, input, options) => {
      inputs.push({ operation, input: JSON.parse(JSON.stringify(input).replaceAll(table, "T")) as never });
      return transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  const db = graphOf(table, shards).connect({
    transport: recording,
    cursorSecret: "s".padEnd(43, "-"),
    onRequest: (one) => sent.push(one),
  });
  return { db, sent, inputs, table };
};
type Lab = Awaited<ReturnType<typeof open>>;

const fill = async ({ db }: Lab): Promise<void> => {
  await db.table.create();
  await db.load([
    ...names.map((name, at) => ({ node: "person", row: { personId: `p${at}`, name, age: 20 + (at % 5) } }) as const),
    { node: "place", row: { placeId: "1", country: "USA", region: "Texas", city: "Austin" } },
    { node: "place", row: { placeId: "2", country: "USA", region: "Texas", city: "Dallas" } },
    { node: "place", row: { placeId: "3", country: "UK", region: "England", city: "London" } },
  ]);
  const austin = { country: "USA", region: "Texas", city: "Austin" };
  await db.bornIn.link({ personId: "p0" }, { placeId: "1" }, austin);
  await db.bornIn.link({ personId: "p1" }, { placeId: "2" }, { ...austin, city: "Dallas" });
  await db.bornIn.link({ personId: "p2" }, { placeId: "3" }, { country: "UK", region: "England", city: "London" });
  await db.hasSkill.link({ personId: "p0" }, { skillId: "j" }, { skill: "Java", level: "Senior" });
  await db.hasSkill.link({ personId: "p1" }, { skillId: "j" }, { skill: "Java", level: "Junior" });
};

describe("with one shard", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await open(1);
    await fill(lab);
  });

  test("finds nodes by a value: one Query", async () => {
    lab.inputs.length = 0;
    expect(await lab.db.find("person").where({ name: "Bob" }).rows()).toEqual([{ personId: "p1", name: "Bob", age: 21 }]);
    expect(lab.inputs).toEqual([
      {
        operation: "Query",
        input: {
          TableName: "T",
          IndexName: "byValue",
          KeyConditionExpression: "byValuePk = :p AND begins_with(byValueSk, :s)",
          ExpressionAttributeValues: { ":p": { S: "person#0" }, ":s": { S: "Bob#PERSON#" } },
          ReturnConsumedCapacity: "TOTAL",
        },
      },
    ]);
  });

  test("by a prefix, by a range of numbers in their order, and backwards", async () => {
    expect(
      await lab.db
        .find("person")
        .where({ name: { beginsWith: "E" } })
        .rows(),
    ).toMatchObject([{ name: "Eve" }]);
    const old = lab.db.find("person").where({ age: { gte: 23 } });
    expect((await old.rows()).map(({ age }) => age)).toEqual([23, 23, 24, 24]);
    expect((await old.reverse().rows()).map(({ age }) => age)).toEqual([24, 24, 23, 23]);
    expect((await old.explain()).requests[0]?.input).toMatchObject({ IndexName: "byAge" });
  });

  test("a hierarchy at each of its levels, of nodes and of edges", async () => {
    const { db } = lab;
    expect((await db.find("place").where({ country: "USA" }).rows()).map(({ city }) => city)).toEqual(["Austin", "Dallas"]);
    expect(
      await db
        .find("place")
        .where({ country: "USA", region: "Texas", city: { gt: "B" } })
        .rows(),
    ).toMatchObject([{ city: "Dallas" }]);
    expect(await db.find("bornIn").where({ country: "USA", region: "Texas" }).sources()).toMatchObject([{ name: "Ann" }, { name: "Bob" }]);
    expect(await db.find("bornIn").where({ country: "UK" }).targets()).toMatchObject([{ city: "London" }]);
    expect(await db.find("bornIn").where({ country: "UK" }).entries("from")).toMatchObject([
      { edge: { city: "London" }, node: { name: "Cid" } },
    ]);
  });

  test("a hierarchy that is split needs its first level", async () => {
    const { db } = lab;
    expect(await db.find("hasSkill").where({ skill: "Java" }).rows()).toMatchObject([{ level: "Junior" }, { level: "Senior" }]);
    expect(await db.find("hasSkill").where({ skill: "Java", level: "Senior" }).sources()).toMatchObject([{ name: "Ann" }]);
    await expect(async () => db.find("hasSkill").where({ level: "Senior" }).rows()).rejects.toThrow(
      expect.objectContaining({ code: "plan.noIndex", message: expect.stringContaining('No index finds "hasSkill" by "level"') as string }),
    );
  });

  test("a roll-up along a hierarchy: how many, and the sum of an attribute, at each level", async () => {
    const { db, inputs } = await open(3);
    await db.table.create();
    const homes = [
      ["p1", "Texas", "Austin", 7],
      ["p2", "Texas", "Austin", 11],
      ["p3", "Texas", "Dallas", 13],
      ["p4", "Utah", "Provo", 17],
      ["p5", "Texas", "Waco", undefined],
    ] as const;
    await db.load(
      homes.map(([personId, region, city, rent]) => ({
        edge: "bornIn" as const,
        from: { personId },
        to: { placeId: "1" },
        attributes: { country: "USA", region, city, ...(rent === undefined ? {} : { rent }) },
      })),
      { strict: true },
    );
    const texas = { country: "USA", region: "Texas" };
    inputs.length = 0;
    expect(await db.find("bornIn").where(texas).sum("rent")).toBe(31);
    const shardOf = ({ ExpressionAttributeValues: values }: (typeof inputs)[number]["input"]): string => JSON.stringify(values);
    expect(inputs.map(({ input }) => input).toSorted((a, b) => (shardOf(a) < shardOf(b) ? -1 : 1))).toEqual(
      [0, 1, 2].map((shard) => ({
        TableName: "T",
        IndexName: "byValue",
        KeyConditionExpression: "byValuePk = :p AND begins_with(byValueSk, :s)",
        ProjectionExpression: "pk, sk, byValuePk, byValueSk, #0, #1",
        ExpressionAttributeNames: { "#0": "type", "#1": "rent" },
        ExpressionAttributeValues: { ":p": { S: `bornIn#${shard}` }, ":s": { S: "USA#Texas#" } },
        ReturnConsumedCapacity: "TOTAL",
      })),
    );
    expect(await db.find("bornIn").where(texas).count()).toBe(4);
    expect(await db.find("bornIn").where({ country: "USA" }).sum("rent")).toBe(48);
    expect(
      await db
        .find("bornIn")
        .where({ ...texas, city: "Austin" })
        .sum("rent"),
    ).toBe(18);
    expect(await db.find("bornIn").where({ country: "UK" }).sum("rent")).toBe(0);
    await db.bornIn.link({ personId: "p6" }, { placeId: "1" }, { ...texas, city: "Waco", rent: Number.MAX_SAFE_INTEGER }).orThrow();
    expect(await db.find("bornIn").where(texas).sum("rent")).toBe(BigInt(Number.MAX_SAFE_INTEGER) + 31n);
    expect(() => db.find("bornIn").sum("rnt" as "rent")).toThrow(/"rnt" is not an attribute of the edge "bornIn"\. Did you mean "rent"\?/);
  });

  test("several kinds of one index in one order", async () => {
    const found = await lab.db.find(["place", "bornIn"]).where({ country: "USA" }).rows();
    expect(found.map(({ kind, row }) => [kind, row.city])).toEqual([
      ["bornIn", "Austin"],
      ["place", "Austin"],
      ["bornIn", "Dallas"],
      ["place", "Dallas"],
    ]);
  });

  test("a search that no index serves is refused with what to declare; there is no Scan", async () => {
    await expect(async () =>
      lab.db
        .find("skill" as "place")
        .where({ skill: "Java" } as never)
        .rows(),
    ).rejects.toThrow(/No index finds "skill" by "skill". Declare an index: indexes: \{ byValue: \{ entries: \{ skill: "skill" \} \} \}.$/);
    await expect(async () => lab.db.find("bornIn").where({ rent: 5, city: "Rome" }).rows()).rejects.toThrow(
      /Declare .*\{ byRent: \{ entries: \{ bornIn: \["rent:number","city"\] \} \} \}\.$/,
    );
    await expect(async () => lab.db.find("place").where({ city: "Austin" }).rows()).rejects.toThrow(
      /No index finds "place" by "city"; "byValue" does by "country", then "region", then "city"\. Declare .*\{ byCity: \{ entries: \{ place: "city"/,
    );
    await expect(async () => lab.db.find("place").where({ placeId: "P1" }).using("byAge").rows()).rejects.toThrow(
      /The index "byAge" does not find "place" by "placeId"\. Leave out using\("byAge"\): an id needs no index\.$/,
    );
    await expect(async () => lab.db.find("hasSkill").rows()).rejects.toThrow(
      /No index finds "hasSkill"; "byValue" does by "skill", then "level"\. Declare/,
    );
    const either = lab.db.find("person").where({ name: { ne: "Ann" } });
    await expect(async () => either.rows()).rejects.toThrow(
      /No index finds "person" by what is asked; "byValue" does by a value other than null, a range or a prefix of "name"; "byAge" does .* of "age"\. Ask by that, or for all that it holds: using\("byValue"\)\./,
    );
    expect((await either.using("byValue").rows()).map(({ name }) => name)).toEqual(names.slice(1));
    const user = { keys: { PK: "USER#{id}", SK: "USER#{id}", UserIndex: "USER#{id}", Team: "TEAM#{team}" } };
    const adopted = defineGraph({
      table: "Adopted",
      nodes: { user: node({ key: "USER#{id}", schema: z.object({ id: z.string(), team: z.string() }) }) },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        indexes: { UserIndex: { partitionKey: "UserIndex" }, Team: { partitionKey: "Team" } },
        nodes: { user },
      },
    }).connect({ transport: engine.transport });
    await expect(async () => adopted.find("user").using("UserIndex").rows()).rejects.toThrow(
      'The index "UserIndex" does not find "user" but by its id, "id". Get it by its id, or scan() the table for all.',
    );
    await expect(async () => adopted.find("user").using("Team").rows()).rejects.toThrow(
      'The index "Team" does not find "user" without "team", with which its keys begin. Give that in where().',
    );
    expect(() => lab.db.find("persn" as "person")).toThrowError(/Did you mean "person"/);
    expect(() => lab.db.find("person").where({ nam: "x" } as never)).toThrowError(/"nam" is not an attribute of the node "person".*"name"/);
  });
});

describe.each([1, 2, 3, 7, 16, 64])("over %i shards", (shards) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await open(shards);
    await fill(lab);
  });

  test("a search is one Query for each, merged in order", async () => {
    lab.sent.length = 0;
    const all = lab.db.find("person");
    expect((await all.rows()).map(({ name }) => name)).toEqual(names);
    const queries = lab.sent.length;
    expect((await all.explain()).requests[0]?.times ?? 1).toBe(shards);
    expect(queries).toBe(shards);
    expect((await all.reverse().rows()).map(({ name }) => name)).toEqual(names.toReversed());
    expect(await all.count()).toBe(names.length);
    expect((await all.first())?.name).toBe("Ann");
    const walked: string[] = [];
    for await (const { name } of all) walked.push(name);
    expect(walked).toEqual(names);
  });

  test.each([1, 2, 5, 11])("pages of %i: exact, forth and back", async (limit) => {
    for (const search of [lab.db.find("person"), lab.db.find("person").reverse()]) {
      const order = await search.rows();
      const pages: (readonly unknown[])[] = [];
      let page = await search.page({ limit });
      pages.push(page.items);
      while (page.next !== undefined) {
        const next = await search.page({ limit, cursor: page.next });
        // One partition that is read to its very end does not know yet that it is the end.
        if (next.items.length === 0) break;
        page = next;
        pages.push(page.items);
      }
      expect(pages.flat()).toEqual(order);
      expect(pages.slice(0, -1).every((items) => items.length === limit)).toBe(true);
      const back: (readonly unknown[])[] = [page.items];
      while (page.previous !== undefined) {
        page = await search.page({ limit, cursor: page.previous });
        back.unshift(page.items);
      }
      expect(back.flat()).toEqual(order);
    }
  });

  test("filters apply, and pages stay exact", async () => {
    const search = lab.db.find("person").where({ name: { gte: "B" }, age: 22 });
    expect((await search.rows()).map(({ name }) => name)).toEqual(["Cid", "Hal"]);
    const page = await search.using("byValue").page({ limit: 2 });
    expect(page.items.map(({ name }) => name)).toEqual(["Cid", "Hal"]);
  });
});

describe.each([1, 4])("a list of values over %i shards", (shards) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await open(shards);
    await fill(lab);
  });
  const queries = () => lab.sent.filter(({ operation }) => operation === "Query").length;

  test("is one Query for each value and shard, each value once, in the index's order", async () => {
    const search = lab.db.find("person").where({ name: { in: ["Kim", "Bob", "Kim", "Nobody", "Eve"] } });
    expect((await search.explain()).requests.map(({ times }) => times)).toEqual([shards, shards, shards, shards]);
    lab.sent.length = 0;
    expect((await search.rows()).map(({ name }) => name)).toEqual(["Bob", "Eve", "Kim"]);
    expect(queries()).toBe(4 * shards);
    expect(lab.sent.every(({ itemsRead }) => itemsRead <= 1)).toBe(true);
    expect((await search.reverse().rows()).map(({ name }) => name)).toEqual(["Kim", "Eve", "Bob"]);
    expect([await search.count(), await search.limit(2).count(), (await search.first())?.name]).toEqual([3, 2, "Bob"]);
  });

  test("pages forth and back", async () => {
    const search = lab.db.find("person").where({ name: { in: names.filter((_, at) => at % 2 === 0) } });
    const order = await search.rows();
    const first = await search.page({ limit: 4 });
    const second = await search.page({ limit: 4, cursor: first.next });
    expect([...first.items, ...second.items]).toEqual(order);
    expect((await search.page({ limit: 4, cursor: second.previous })).items).toEqual(first.items);
  });

  test("of the level that names the partition, of edges, and their ends", async () => {
    const search = lab.db.find("hasSkill").where({ skill: { in: ["Rust", "Java"] }, level: "Senior" });
    expect(await search.sources()).toMatchObject([{ name: "Ann" }]);
  });

  test("beside a condition that finds fewer rows it is looked for in those", async () => {
    const search = lab.db.find("place").where({ country: { in: ["USA", "UK"] }, city: { in: ["Dallas", "London"] } });
    expect((await search.rows()).map(({ city }) => city)).toEqual(["London", "Dallas"]);
    lab.sent.length = 0;
    const austin = lab.db.find("place").where({ country: "USA", region: "Texas", city: { in: ["Austin", "Nowhere"] } });
    expect((await austin.rows()).map(({ city }) => city)).toEqual(["Austin"]);
    expect(queries()).toBe(shards);
  });

  test("a list in which nothing is, or null, is refused or looked for as before", async () => {
    const { db } = lab;
    expect(() => db.find("person").where({ name: { in: [] } })).toThrow(/takes a list of 1 to 100 values/);
    await expect(async () =>
      db
        .find("person")
        .where({ name: { in: [null as never] } })
        .rows(),
    ).rejects.toThrow(expect.objectContaining({ code: "plan.noIndex" }));
  });
});

test("more values by shards than one search may read are refused before a request", async () => {
  const lab = await open(64);
  lab.sent.length = 0;
  const search = lab.db.find("person").where({ name: { in: Array.from({ length: 20 }, (_, at) => `n${at}`) } });
  await expect(async () => search.rows()).rejects.toThrow(
    expect.objectContaining({ code: "plan.unsupported", message: expect.stringContaining("reads 1280 partitions") as string }),
  );
  expect(lab.sent).toEqual([]);
});

describe("shards by value", () => {
  test("are as many as the value needs, for writer and reader, and move with it", async () => {
    const lab = await open(2);
    await lab.db.table.create();
    const ids = Array.from({ length: 12 }, (_, at) => `t${at}`);
    await lab.db.load(
      ids.map((taskId, at) => ({ node: "task", row: { taskId, dueAt: `2024-01-${10 + at}`, status: at % 2 ? "open" : "done" } }) as const),
    );
    await lab.db.load([{ node: "task", row: { taskId: "never", status: "open" } }]);
    const due = lab.db.find("task").where({ dueAt: { gte: "2024" } });
    expect((await due.rows()).map(({ taskId }) => taskId)).toEqual(ids);
    expect((await due.explain()).requests[0]?.times).toBe(4);
    const done = lab.db.find("task").where({ dueAt: { gte: "2024" }, status: "done" });
    expect((await done.explain()).requests[0]).toMatchObject({ times: 1 });
    expect((await done.rows()).map(({ taskId }) => taskId)).toEqual(ids.filter((_, at) => at % 2 === 0));
    await lab.db.task.update({ taskId: "t0" }, { status: "open" }).orThrow();
    const open4 = lab.db.find("task").where({ dueAt: { gte: "2024" }, status: "open" });
    expect((await open4.rows())[0]).toMatchObject({ taskId: "t0" });
    await lab.db.task.update({ taskId: "t0" }, { remove: ["dueAt"] } as never).orThrow();
    expect(await open4.rows()).toHaveLength(6);
  });

  test("a sparse index is used for what it surely holds, or when it is named", async () => {
    const lab = await open(1);
    await lab.db.table.create();
    await lab.db.task.create({ taskId: "a", dueAt: "2024" }).orThrow();
    await lab.db.task.create({ taskId: "b" }).orThrow();
    await expect(async () => lab.db.find("task").rows()).rejects.toThrow(
      expect.objectContaining({
        code: "plan.noIndex",
        message: '"byValue" is sparse: it finds "task" only with "dueAt". Ask for that too, or name the index: using("byValue").',
      }),
    );
    expect(await lab.db.find("task").using("byValue").rows()).toEqual([{ taskId: "a", dueAt: "2024" }]);
  });
});
