import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, part, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

const id = z.string();
const ends = { from: "cascade", to: "cascade" } as const;
/** Students sum what their courses are worth, which is copied onto the edges. */
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({
        key: "STUDENT#{id}",
        schema: z.object({ id }),
        derived: {
          credits: sum({ out: "takes", of: "credits" }),
          mean: average({ out: "takes", of: "credits", where: { passed: true } }),
          large: count({ out: "takes", where: { credits: { gte: 5 } } }),
        },
      }),
      course: node({
        key: "COURSE#{id}",
        schema: z.object({ id, credits: z.number().optional() }),
        derived: { largeRooms: count({ parts: "room", where: { credits: { gte: 5 } } }) },
      }),
    },
    edges: {
      takes: edge({
        from: "student",
        to: "course",
        schema: z.object({ passed: z.boolean().optional() }),
        copies: { to: ["credits"] },
        onDelete: ends,
      }),
    },
    parts: { room: part({ of: "course", key: "ROOM#{room}", schema: z.object({ room: id }), copies: ["credits"] }) },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof modelIn>["connect"]>;
beforeAll(async () => {
  engine = await startEngine();
  db = modelIn(engine.freshTableName("counted")).connect({ transport: engine.transport });
  await db.table.create();
});
afterAll(() => engine.stop());

let round = 0;
let [ann, bob, maths, arts] = [{ id: "" }, { id: "" }, { id: "" }, { id: "" }];
beforeEach(async () => {
  round++;
  [ann, bob, maths, arts] = [{ id: `ann${round}` }, { id: `bob${round}` }, { id: `maths${round}` }, { id: `arts${round}` }];
  for (const one of [ann, bob]) await db.student.create(one).orThrow();
  await db.course.create({ ...maths, credits: 4 }).orThrow();
  await db.course.create({ ...arts, credits: 6 }).orThrow();
  await db.takes.link(ann, maths, { passed: true }).orThrow();
  await db.takes.link(ann, arts).orThrow();
  await db.takes.link(bob, maths, { passed: true }).orThrow();
});

test("a change of what is copied changes what other nodes count of the copies", async () => {
  expect(await db.student.get(ann)).toMatchObject({ credits: 10, mean: 4, large: 1 });
  await db.course.update(maths, { credits: 5 }).orThrow();
  expect(await db.student.get(ann)).toMatchObject({ credits: 11, mean: 5, large: 2 });
  expect(await db.student.get(bob)).toMatchObject({ credits: 5, mean: 5, large: 1 });
  await db.course.update(maths, { remove: ["credits"] }).orThrow();
  expect(await db.student.get(ann)).toEqual({ ...ann, credits: 6, large: 1 });
  await db.course.put({ ...maths, credits: 1.5 }).orThrow();
  expect(await db.student.get(ann)).toMatchObject({ credits: 7.5, mean: 1.5, large: 1 });
});

test("a change of what is copied onto parts changes what their own node counts of them", async () => {
  await db.room.create(maths, { room: "1" }).orThrow();
  await db.room.create(maths, { room: "2" }).orThrow();
  await db.course.update(maths, { credits: 9 }).orThrow();
  expect(await db.course.get(maths)).toEqual({ ...maths, credits: 9, largeRooms: 2 });
});

test("beside writers of the edges, every sum is right", async () => {
  const changes = Array.from({ length: 12 }, async (_, at) => {
    await db.course.update(maths, { credits: at }).orThrow({ deadline: 60_000 });
    await db.takes.relink(ann, maths, { passed: at % 2 === 0 }).orThrow({ deadline: 60_000 });
  });
  await Promise.all(changes);
  const { credits = 0 } = (await db.course.get(maths)) ?? {};
  const edgeOfAnn = await db.takes.get(ann, maths, { consistent: true });
  const passed = edgeOfAnn?.passed === true;
  const row = { ...ann, credits: credits + 6, large: (credits >= 5 ? 1 : 0) + 1, ...(passed ? { mean: credits } : {}) };
  expect(await db.student.get(ann, { consistent: true })).toEqual(row);
  expect(await db.student.get(bob, { consistent: true })).toMatchObject({ credits });
});
