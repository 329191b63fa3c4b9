import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { count, defineGraph, edge, node, part } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const home = z.object({ city: text.optional(), tags: z.array(text).optional() });
const renamedHome = (stored: "old" | "new") => ({ home: { from: "address", stored } });
const former = (stored: "old" | "new") => ({
  renamed: renamedHome(stored),
  retyped: { n: { from: z.string(), with: Number, back: String, stored } },
});

test.each(["old", "new"] as const)("a condition leads into a renamed attribute, stored in its %s form", async (stored) => {
  const db = defineGraph({
    table: engine.freshTableName("into-renamed"),
    nodes: { person: node({ key: "P#{id}", schema: z.object({ id: text, home, n: z.int().optional() }), ...former(stored) }) },
    parts: { room: part({ of: "person", key: "R#{room}", schema: z.object({ room: text, home }), renamed: renamedHome(stored) }) },
    edges: { at: edge({ from: "person", to: "person", schema: z.object({ home }), stored: "twice", renamed: renamedHome(stored) }) },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const id = { id: "1" };
  const row = { ...id, home: { city: "Oslo", tags: ["a", "b"] } };
  await db.person.create(row).orThrow();
  await db.room.create(id, { room: "r", home: row.home }).orThrow();
  await db.at.link(id, id, { home: row.home }).orThrow();
  const conditions: readonly (readonly [object, boolean])[] = [
    [{ "home.city": "Oslo" }, true],
    [{ "home.city": "Rome" }, false],
    [{ "home.city": { ne: "Rome" } }, true],
    [{ "home.city": { in: ["Rome", "Oslo"] } }, true],
    [{ "home.city": { beginsWith: "O" } }, true],
    [{ "home.city": { between: ["A", "B"] } }, false],
    [{ "home.tags[0]": "a" }, true],
    [{ "home.tags[2]": { exists: false } }, true],
    [{ "home.tags": { contains: "b" } }, true],
    [{ or: [{ "home.city": "Rome" }, { not: { "home.tags[1]": "a" } }] }, true],
    [{ home: { exists: true } }, true],
  ];
  for (const [filter, holds] of conditions) {
    const options = { if: filter } as never;
    const { ok } = await db.person.check(id, options);
    expect([filter, ok]).toEqual([filter, holds]);
    for (const write of [
      () => db.person.update(id, { n: 1 }, options),
      () => db.person.put(row, options),
      () => db.person.upsert(row, { n: 2 }, options),
      () => db.room.update(id, { room: "r" }, { home: row.home }, options),
      () => db.at.relink(id, id, { home: row.home }, options),
      () => db.transact([db.person.check(id, options)]),
    ])
      expect([filter, (await write()).ok]).toEqual([filter, holds]);
    expect([
      filter,
      await db
        .person(id)
        .out("at")
        .where(filter as never)
        .count(),
    ]).toEqual([filter, holds ? 1 : 0]);
  }
  // A retyped attribute has nothing within it that a path could name.
  await expect((async () => db.person.update(id, { home: row.home }, { if: { "n.x": 1 } } as never))()).rejects.toMatchObject({
    name: "EdgetableError",
  });
  expect(await db.at.unlink(id, id, { if: { "home.city": "Rome" } } as never)).toMatchObject({ ok: false, reason: "conditionFailed" });
  expect(await db.person.delete(id, { if: { "home.city": "Rome" } } as never)).toMatchObject({ ok: false, reason: "conditionFailed" });
});

test.each(["old", "new"] as const)(
  "copies and counts follow a change within a renamed attribute, stored in its %s form",
  async (stored) => {
    const where = { "home.city": "Rome" };
    const both = { from: "cascade", to: "cascade" } as const;
    const db = defineGraph({
      table: engine.freshTableName("within-renamed"),
      nodes: {
        person: node({
          key: "P#{id}",
          schema: z.object({ id: text, home }),
          renamed: renamedHome(stored),
          derived: { romans: count({ in: "at", where }), rooms: count({ parts: "room", where }) },
        }),
      },
      parts: { room: part({ of: "person", key: "R#{room}", schema: z.object({ room: text }), copies: ["home"] }) },
      edges: {
        at: edge({
          from: "person",
          to: "person",
          schema: z.object({ home }),
          stored: "twice",
          renamed: renamedHome(stored),
          onDelete: both,
          copies: { from: { origin: "home" } },
        }),
      },
    }).connect({ transport: engine.transport });
    await db.table.create();
    const id = { id: "1" };
    const oslo = { city: "Oslo", tags: ["a"] };
    await db.person.create({ ...id, home: oslo }).orThrow();
    await db.room.create(id, { room: "r" }).orThrow();
    await db.at.link(id, id, { home: oslo }).orThrow();
    await db.person.update(id, { set: { "home.city": "Rome" }, append: { "home.tags": ["b"] } }).orThrow();
    await db.at.relink(id, id, { set: { "home.city": "Rome" } }).orThrow();
    const rome = { city: "Rome", tags: ["a", "b"] };
    expect(await db.person.get(id)).toEqual({ ...id, home: rome, romans: 1, rooms: 1 });
    expect(await db.room.get(id, { room: "r" })).toMatchObject({ home: rome });
    expect(await db.at.get(id, id)).toMatchObject({ home: { city: "Rome" }, origin: rome });
  },
);

test.each([
  ["old", "old"],
  ["old", "new"],
  ["new", "old"],
  ["new", "new"],
] as const)(
  "a change within a renamed attribute, written in its %s form and held in its %s form, keeps all digits",
  async (stored, held) => {
    const table = engine.freshTableName("renamed-digits");
    const connect = (form: "old" | "new") =>
      defineGraph({
        table,
        nodes: {
          person: node({
            key: "P#{id}",
            schema: z.object({ id: text, home: home.extend({ size: z.number() }) }),
            renamed: renamedHome(form),
          }),
        },
        parts: { room: part({ of: "person", key: "R#{room}", schema: z.object({ room: text }), copies: ["home"] }) },
      }).connect({ transport: engine.transport });
    const [db, holder] = [connect(stored), connect(held)];
    await db.table.create();
    const id = { id: "1" };
    await holder.person.create({ ...id, home: { city: "Oslo", size: 0.3 } }).orThrow();
    const size = "0.30000000000000000001";
    const all = async () => (await engine.transport.send("Scan", { TableName: table })).Items ?? [];
    const attribute = held === "old" ? "address" : "home";
    const item = (await all()).find((one) => attribute in one);
    const exactly = { M: { city: { S: "Oslo" }, size: { N: size } } };
    await engine.transport.send("PutItem", { TableName: table, Item: { ...item, [attribute]: exactly } });
    await db.room.create(id, { room: "r" }).orThrow();
    await db.person.update(id, { set: { "home.city": "Rome" } }).orThrow();
    const homes = (await all()).flatMap((one) => one["address"] ?? one["home"] ?? []);
    expect(homes).toEqual(Array.from({ length: 2 }, () => ({ M: { city: { S: "Rome" }, size: { N: size } } })));
  },
);
