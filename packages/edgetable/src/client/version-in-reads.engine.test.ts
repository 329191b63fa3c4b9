import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const text = z.string();
const at = z.object({ at: text });
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text, name: text }), version: true }),
      room: node({ key: "ROOM#{roomId}", schema: z.object({ roomId: text }) }),
    },
    parts: { note: part({ of: "course", key: "NOTE#{at}", schema: at, version: true }) },
    edges: { heldIn: edge({ from: "course", to: "room", schema: at, orderBy: "at", version: true }) },
    indexes: { byName: { entries: { course: "name", heldIn: "at", note: "at" }, projection: ["version"] } },
  });

test("conditions and selections of every read may name the version", async () => {
  const db = modelIn(engine.freshTableName("versions")).connect({ transport: engine.transport });
  await db.table.create();
  const [first, room] = [{ courseId: "C1" }, { roomId: "R" }];
  await db.room.create(room).orThrow();
  for (const courseId of ["C1", "C2"]) {
    await db.course.create({ courseId, name: "Art" }).orThrow();
    await db.heldIn.link({ courseId }, room, { at: "1" }).orThrow();
    await db.note.create({ courseId }, { at: "1" }).orThrow();
  }
  // What has been written twice has version 2.
  await db.course.put({ ...first, name: "Art" }).orThrow();
  await db.heldIn.put(first, room, { at: "1" }).orThrow();
  await db.note.put(first, { at: "1" }).orThrow();

  const changed = { version: { gte: 2 } } as const;
  expect(
    await db
      .find("course")
      .where({ name: "Art", ...changed })
      .select("courseId", "version")
      .rows(),
  ).toEqual([{ ...first, version: 2 }]);
  expect(
    await db
      .find("note")
      .where({ at: "1", ...changed })
      .select("version")
      .rows(),
  ).toEqual([{ version: 2 }]);
  expect(
    await db
      .find("heldIn")
      .where({ at: "1", ...changed })
      .select("version")
      .rows(),
  ).toMatchObject([{ from: first, version: 2 }]);
  expect(await db.room(room).in("heldIn").where(changed).select("version").edges()).toMatchObject([{ from: first, version: 2 }]);
  expect(
    await db
      .course(first)
      .out("heldIn")
      .where({ or: [changed, { not: changed }] })
      .count(),
  ).toBe(1);
  expect(await db.course(first).parts("note").where({ version: 2 }).all()).toMatchObject([{ at: "1", version: 2 }]);
  expect(await db.course(first).parts("note").where({ version: 1 }).all()).toEqual([]);
  const walk = db.room(room).walk().in("heldIn");
  expect((await walk.whereNode(changed).ids()).items).toEqual([first]);
  expect((await walk.where({ version: 1 }).ids()).items).toEqual([{ courseId: "C2" }]);
  const groups = (await walk.groupBy("version")).items.map(({ group, count }) => [group.version, count]);
  expect(groups.toSorted()).toEqual([
    [1, 1],
    [2, 1],
  ]);
  const rooms = db.course(first).walk().out("heldIn");
  expect(() => rooms.whereNode({ version: 1 } as never)).toThrow('"version" is not an attribute of the node "room"');
});
