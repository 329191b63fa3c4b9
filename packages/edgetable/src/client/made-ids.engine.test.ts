import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

// Ids that the schema makes of what is given.
const lower = z.string().toLowerCase();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({
        key: "USER#{userId}",
        schema: z.object({ userId: lower, name: z.string(), email: lower.optional() }),
        unique: ["email"],
        version: true,
      }),
      setting: node({ key: "SETTING#{settingId}", schema: z.object({ settingId: z.string(), value: z.int() }) }),
    },
    parts: {
      shift: part({
        of: "user",
        key: "SHIFT#{at:date}",
        schema: z.object({ at: z.coerce.date<Date | string>(), hours: z.int() }),
        dates: ["at"],
      }),
      note: part({ of: "user", key: "NOTE#{noteId}", schema: z.object({ noteId: lower, text: z.string() }) }),
    },
    edges: {
      rates: edge({ from: "user", to: "user", schema: z.object({ topic: lower, stars: z.int() }), key: ["topic"], stored: "twice" }),
    },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
beforeAll(async () => {
  engine = await openEngine();
  db = graphOf(engine.freshTableName("made-ids")).connect({ transport: engine.transport });
  await db.table.create();
});
afterAll(() => engine.close());

describe.each([{}, { expect: "new" }, { idempotent: true }] as const)("an upsert with %o", (options) => {
  const suffix = JSON.stringify(options).length;
  const userId = `user${suffix}`;
  const given = userId.toUpperCase();

  test("creates and changes the node that the row names after its schema", async () => {
    const first = await db.user.upsert({ userId: given, name: "Ann", email: `A${suffix}@X` }, { name: "Bea" }, options).orThrow();
    const second = await db.user.upsert({ userId: given, name: "Ann" }, { name: "Bea" }, options).orThrow();
    expect([first.created, second.created]).toEqual([true, false]);
    expect(await db.user.get({ userId })).toEqual({ userId, name: "Bea", email: `a${suffix}@x`, version: 2 });
  });

  test("so with parts and edges", async () => {
    const id = { userId };
    for (const text of ["one", "two"]) {
      await db.note.upsert(id, { noteId: "N1", text: "none" }, { text }, options).orThrow();
      await db.rates.upsert(id, id, { topic: "TEA", stars: 1 }, { stars: text.length }, options).orThrow();
    }
    expect(await db.user(id).parts("note").all()).toEqual([{ userId, noteId: "n1", text: "two" }]);
    expect(await db.user(id).out("rates").edges()).toEqual([{ from: id, to: id, topic: "tea", stars: 3 }]);
    expect(await db.user(id).in("rates").edges()).toEqual([{ from: id, to: id, topic: "tea", stars: 3 }]);
  });
});

test("an upsert in a transaction", async () => {
  await db.user.create({ userId: "tx", name: "Ann" }).orThrow();
  await db
    .transact([db.user.upsert({ userId: "TX", name: "new" }, { name: "changed" }), db.setting.put({ settingId: "other", value: 1 })])
    .orThrow();
  expect((await db.user.get({ userId: "tx" }))?.name).toBe("changed");
});

test("an upsert of a row whose id the schema makes a Date", async () => {
  await db.user.create({ userId: "doc", name: "Doc" }).orThrow();
  const upsert = () => db.shift.upsert({ userId: "doc" }, { at: "2026-01-01", hours: 1 }, { add: { hours: 2 } }).orThrow();
  expect([(await upsert()).created, (await upsert()).created]).toEqual([true, false]);
  expect(await db.user({ userId: "doc" }).parts("shift").all()).toEqual([{ userId: "doc", at: new Date("2026-01-01"), hours: 3 }]);
});
