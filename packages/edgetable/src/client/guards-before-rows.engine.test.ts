import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part } from "../index.ts";

const text = z.string();
const span = { least: z.number(), most: z.number() };
const inOrder = ({ least, most }: { readonly least: number; readonly most: number }): boolean => least <= most;
const checked = { validate: "row", version: true } as const;

const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      term: node({ key: "TERM#{termId}", schema: z.object({ termId: text, ...span }).refine(inOrder), ...checked }),
      user: node({
        key: "USER#{userId}",
        schema: z.object({
          userId: text,
          score: z.number().nullable().optional(),
          tags: z.array(text).nullable().optional(),
          place: z.object({ city: text }).optional(),
        }),
        version: true,
      }),
    },
    parts: { week: part({ of: "term", key: "WEEK#{weekId}", schema: z.object({ weekId: text, ...span }).refine(inOrder), ...checked }) },
    edges: {
      follows: edge({ from: "term", to: "term", schema: z.object(span).refine(inOrder), stored: "twice", ...checked }),
      knows: edge({
        from: "user",
        to: "user",
        copies: { from: ["score", "tags", "place"] },
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const term = { termId: "T1" };
const week = { weekId: "W1" };
const user = { userId: "ann" };
const row = { least: 1, most: 5 };
beforeEach(async () => {
  db = graphOf(engine.freshTableName("guards-before-rows")).connect({ transport: engine.transport });
  await db.table.create();
  await db.term.create({ ...term, ...row }).orThrow();
  await db.week.create(term, { ...week, ...row }).orThrow();
  await db.follows.link(term, term, row).orThrow();
  await db.user.create({ ...user, score: null, tags: null }).orThrow();
});

// A caller that is late learns that, and not that a change which it would not make now makes no row.
describe.each([
  ["versionConflict", { ifVersion: 7 }],
  ["conditionFailed", { if: { most: { gt: 100 } } }],
] as const)("a change whose row breaks a rule, and whose condition does not hold: %s", (reason, guard) => {
  const change = { least: 9 };
  const outcome = { ok: false, reason, current: { ...row, version: 1 } };

  test("of a node, a part and an edge", async () => {
    expect(await db.term.update(term, change, guard)).toMatchObject(outcome);
    expect(await db.week.update(term, week, change, guard)).toMatchObject(outcome);
    expect(await db.follows.relink(term, term, change, guard)).toMatchObject(outcome);
  });

  test("by an upsert", async () => {
    expect(await db.term.upsert({ ...term, ...row }, change, guard)).toMatchObject(outcome);
    expect(await db.week.upsert(term, { ...week, ...row }, change, guard)).toMatchObject(outcome);
    expect(await db.follows.upsert(term, term, row, change, guard)).toMatchObject(outcome);
  });

  test("in a transaction", async () => {
    const { ok, outcomes } = await db.transact([db.term.update(term, change, guard), db.user.update(user, { score: 1 })]);
    expect([ok, ...outcomes]).toMatchObject([false, outcome, { ok: false, reason: "rolledBack" }]);
  });
});

test("a change whose condition holds is refused for its row, and so is one without a condition", async () => {
  for (const guard of [{}, { ifVersion: 1 }, { if: { most: 5 } }, { ifVersion: 1, if: { least: { lt: 2 } } }])
    await expect(db.term.update(term, { least: 9 }, guard)).rejects.toMatchObject({ code: "schema.invalidValue" });
});

test.each([
  ["a sum with what is no number", { add: { score: 1 } }],
  ["a list behind what is no list", { append: { tags: ["x"] } }],
  ["a path whose parent is missing", { set: { "place.city": "Oslo" } }],
])("%s is refused after the condition, whether the attribute is copied or not", async (_, change) => {
  const update = (guard: object) => db.user.update(user, change as never, guard);
  expect(await update({ ifVersion: 9 })).toMatchObject({ ok: false, reason: "versionConflict" });
  expect(await update({ if: { score: { gt: 0 } } })).toMatchObject({ ok: false, reason: "conditionFailed", current: user });
  await expect(update({ ifVersion: 1 })).rejects.toMatchObject({ code: "execute.rejected" });
});
