import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { average, count, defineGraph, edge, node, part, type SentRequest, sum } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id, name: z.string(), born: z.string() }), immutable: ["born"] }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id, name: z.string(), room: z.string().optional() }), version: true }),
    },
    edges: {
      takes: edge({
        from: "student",
        to: "course",
        schema: z.object({ grade: z.number().optional() }),
        copies: { to: { course: "name", room: "room" }, from: { student: "name", born: { of: "born", freshness: "immutable" } } },
        orderBy: "course",
        onDelete: { from: "cascade", to: "cascade" },
      }),
      teaches: edge({ from: "student", to: "course", copies: { to: ["name"] }, stored: "twice", version: true }),
    },
    parts: {
      lesson: part({ of: "course", key: "LESSON#{at}", schema: z.object({ at: z.string() }), copies: { course: "name" } }),
    },
    indexes: { byCourse: { entries: { takes: "course" } } },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof modelIn>["connect"]>;
const sent: SentRequest[] = [];
beforeAll(async () => {
  engine = await startEngine();
  db = modelIn(engine.freshTableName("copies")).connect({ transport: engine.transport, onRequest: (one) => sent.push(one) });
  await db.table.create();
});
afterAll(() => engine.stop());

let round = 0;
let [ann, bob, maths, arts] = [{ id: "" }, { id: "" }, { id: "" }, { id: "" }];
beforeEach(async () => {
  round++;
  [ann, bob, maths, arts] = [{ id: `ann${round}` }, { id: `bob${round}` }, { id: `maths${round}` }, { id: `arts${round}` }];
  for (const one of [ann, bob]) await db.student.create({ ...one, name: one.id, born: "2000" }).orThrow();
  for (const one of [maths, arts]) await db.course.create({ ...one, name: one.id }).orThrow();
  sent.length = 0;
});
const operations = (): readonly string[] => sent.map(({ operation }) => operation);
const edgeOf = async (from: { readonly id: string }, to: { readonly id: string }): Promise<unknown> => {
  const { from: _from, to: _to, ...rest } = (await db.takes.get(from, to, { consistent: true })) as Record<string, unknown>;
  return rest;
};

describe("copies on an edge", () => {
  test("are read from its ends and written on condition that they have not changed", async () => {
    // The first edge of a node makes the counter of its edges.
    await db.takes.link(bob, maths).orThrow();
    await db.takes.link(ann, arts).orThrow();
    sent.length = 0;
    const { row } = await db.takes.link(ann, maths, { grade: 1 }).orThrow();
    expect(operations()).toEqual(["BatchGetItem", "TransactWriteItems"]);
    expect(row).toMatchObject({ grade: 1, course: maths.id, student: ann.id, born: "2000" });
    expect(await edgeOf(ann, maths)).toEqual({ grade: 1, course: maths.id, student: ann.id, born: "2000" });
  });

  test("change with their source, in one transaction, and index keys and orders move with them", async () => {
    for (const student of [ann, bob]) await db.takes.link(student, maths).orThrow();
    await db.takes.link(ann, arts).orThrow();
    await db.teaches.link(bob, maths).orThrow();
    const name = `z${round}`;
    const { atomic } = await db.course.update(maths, { name }).orThrow();
    // The course, two edges of one type, both copies of an edge of the other, and two counters.
    expect(atomic).toEqual({ kind: "transaction", items: 7 });
    expect(await edgeOf(ann, maths)).toMatchObject({ course: name });
    expect(await edgeOf(bob, maths)).toMatchObject({ course: name });
    expect(await edgeOf(ann, arts)).toMatchObject({ course: arts.id });
    expect(await db.teaches.get(bob, maths)).toMatchObject({ name, version: 1 });
    expect((await db.course(maths).in("teaches").edges()).map((one) => one.name)).toEqual([name]);
    const found = await db.find("takes").where({ course: name }).rows();
    expect(found.map(({ from }) => from.id).toSorted()).toEqual([ann.id, bob.id]);
    expect((await db.student(ann).out("takes").edges()).map(({ course }) => course)).toEqual([arts.id, name]);
  });

  test("follow a put and a removed attribute", async () => {
    await db.course.update(maths, { room: "1" }).orThrow();
    await db.takes.link(ann, maths).orThrow();
    expect(await edgeOf(ann, maths)).toMatchObject({ room: "1" });
    await db.course.put({ ...maths, name: "put" }).orThrow();
    expect(await edgeOf(ann, maths)).toEqual({ course: "put", student: ann.id, born: "2000" });
    await db.course.update(maths, { room: "2" }).orThrow();
    await db.course.update(maths, { remove: ["room"] }).orThrow();
    expect(await edgeOf(ann, maths)).not.toHaveProperty("room");
  });

  test("cannot be set, and stay when the edge changes", async () => {
    await db.takes.link(ann, maths).orThrow();
    expect(() => db.takes.relink(ann, maths, { course: "x" } as never)).toThrow(
      expect.objectContaining({ code: "schema.derivedAttribute" }) as Error,
    );
    await db.takes.relink(ann, maths, { grade: 2 }).orThrow();
    expect(await edgeOf(ann, maths)).toMatchObject({ grade: 2, course: maths.id });
    await db.takes.put(ann, maths, { grade: 3, course: "forged" } as never).orThrow();
    expect(await edgeOf(ann, maths)).toMatchObject({ grade: 3, course: maths.id });
  });

  test("an update of something else reads nothing", async () => {
    await db.takes.link(ann, maths).orThrow();
    sent.length = 0;
    await db.student.update(ann, { name: "Ann" }).orThrow();
    expect(operations()[0]).not.toBe("UpdateItem");
    sent.length = 0;
    await db.takes.relink(ann, maths, { grade: 5 }).orThrow();
    expect(operations()).toEqual(["UpdateItem"]);
  });

  test("an end that is not there is the outcome", async () => {
    expect(await db.takes.link(ann, { id: "none" })).toMatchObject({ ok: false, reason: "endMissing", end: "to" });
  });

  test("more than a transaction holds is refused, with the number", async () => {
    const students = Array.from({ length: 101 }, (_, at) => ({ id: `s${round}-${at}` }));
    await Promise.all(students.map((one) => db.student.create({ ...one, name: "x", born: "2000" }).orThrow()));
    await Promise.all(students.map((one) => db.takes.link(one, maths).orThrow({ deadline: 60_000 })));
    await expect(db.course.update(maths, { name: "new" })).rejects.toMatchObject({
      code: "request.transactionTooLarge",
      message: expect.stringContaining("copied onto 101 items") as string,
    });
    expect(await db.course.get(maths)).toMatchObject({ name: maths.id });
  });
});

describe("copies on a part", () => {
  test("are taken from the node and change with it", async () => {
    await db.lesson.create(maths, { at: "1" }).orThrow();
    await db.lesson.put(maths, { at: "2" }).orThrow();
    expect((await db.course(maths).parts("lesson").all()).map(({ course }) => course)).toEqual([maths.id, maths.id]);
    await db.course.update(maths, { name: "new" }).orThrow();
    expect((await db.course(maths).parts("lesson").all()).map(({ course }) => course)).toEqual(["new", "new"]);
  });
});

describe("copies on a part whose node counts it", () => {
  const countedIn = (owner: "checked" | "unchecked") =>
    defineGraph({
      table: engine.freshTableName("counted"),
      nodes: {
        user: node({ key: "USER#{id}", schema: z.object({ id }) }),
        post: node({
          key: "POST#{id}",
          schema: z.object({ id, title: z.string() }),
          derived: {
            notes: count({ parts: "note" }),
            words: sum({ parts: "note", of: "words" }),
            mean: average({ parts: "note", of: "words" }),
            likes: count({ in: "likes" }),
          },
        }),
      },
      edges: { likes: edge({ from: "user", to: "post", copies: { to: ["title"] }, onDelete: { from: "cascade", to: "cascade" } }) },
      parts: {
        note: part({
          of: "post",
          key: "NOTE#{at}",
          schema: z.object({ at: z.string(), words: z.number() }),
          copies: ["title"],
          ...(owner === "checked" && { owner }),
        }),
      },
    });

  test.each(["checked", "unchecked"] as const)("keep both in every write of the part and of the node, owner %s", async (owner) => {
    const graph = countedIn(owner).connect({ transport: engine.transport });
    await graph.table.create();
    const post = { id: "p" };
    const shown = async (): Promise<unknown> => ({
      ...(await graph.post.get(post, { consistent: true })),
      titles: (await graph.post(post).parts("note").all()).map((one) => one.title),
    });
    await graph.post.create({ ...post, title: "a" }).orThrow();
    expect(await graph.note.create({ id: "none" }, { at: "1", words: 1 })).toMatchObject({ ok: false, reason: "endMissing" });
    const { atomic } = await graph.note.create(post, { at: "1", words: 1 }).orThrow();
    expect(atomic).toEqual({ kind: "transaction", items: 2 });
    await graph.note.put(post, { at: "2", words: 2 }).orThrow();
    await graph.note.put(post, { at: "2", words: 4 }).orThrow();
    await graph.transact([graph.note.create(post, { at: "3", words: 7 }), graph.note.create(post, { at: "4", words: 8 })]).orThrow();
    expect(await shown()).toEqual({ ...post, title: "a", notes: 4, words: 20, mean: 5, likes: 0, titles: ["a", "a", "a", "a"] });
    await graph.note.update(post, { at: "1" }, { words: 3 }).orThrow();
    await graph.note.delete(post, { at: "4" }).orThrow();
    await graph.post.update(post, { title: "b" }).orThrow();
    expect(await shown()).toEqual({ ...post, title: "b", notes: 3, words: 14, mean: 14 / 3, likes: 0, titles: ["b", "b", "b"] });
    await graph.user.create({ id: "u" }).orThrow();
    await graph.likes.link({ id: "u" }, post).orThrow();
    await graph.post.put({ ...post, title: "c" }).orThrow();
    expect(await shown()).toEqual({ ...post, title: "c", notes: 3, words: 14, mean: 14 / 3, likes: 1, titles: ["c", "c", "c"] });
    expect(await graph.post(post).in("likes").edges()).toMatchObject([{ title: "c" }]);
  });
});

describe("a part that is created while its node is written", () => {
  // Whichever read of the node's write is answered late, and whichever is asked late, the part comes between.
  const late = (["put", "update"] as const).flatMap((call) =>
    [0, 1, 2].flatMap((read) => [{ call, read, side: "before" } as const, { call, read, side: "after" } as const]),
  );
  test.each(late)("has the new value: $call, $side read $read", async ({ call, read, side }) => {
    await db.lesson.create(maths, { at: "1" }).orThrow();
    let reads = 0;
    const transport: typeof engine.transport = {
      ...engine.transport,
      send: async (operation, input, options) => {
        const isHeld = operation !== "TransactWriteItems" && reads++ === read;
        const between = async (): Promise<void> => {
          // The reads beside it are answered first.
          await new Promise((resolve) => setTimeout(resolve, 50));
          await db.lesson.create(maths, { at: "2" }).orThrow();
        };
        if (isHeld && side === "before") await between();
        const output = await engine.transport.send(operation, input, options);
        if (isHeld && side === "after") await between();
        return output;
      },
    };
    const writer = modelIn(db.catalog.table).connect({ transport });
    if (call === "put") await writer.course.put({ ...maths, name: "new" }).orThrow();
    else await writer.course.update(maths, { name: "new" }).orThrow();
    const lessons = await db.course(maths).parts("lesson").all();
    expect(new Set(lessons.map(({ course }) => course))).toEqual(new Set(["new"]));
  });

  test("is noted by the node, and a put keeps the note", async () => {
    const stored = async (): Promise<unknown> => {
      const key = { pk: { S: `COURSE#${maths.id}` }, sk: { S: "#" } };
      const { Item } = await engine.transport.send("GetItem", { TableName: db.catalog.table, Key: key, ConsistentRead: true });
      return Item?.["~derived"];
    };
    await db.lesson.create(maths, { at: "1" }).orThrow();
    expect(await stored()).toEqual({ N: "1" });
    await db.course.put({ ...maths, name: "new" }).orThrow();
    expect(await stored()).toEqual({ N: "1" });
  });
});

test("links and renames at once leave no stale copy", async () => {
  const students = Array.from({ length: 12 }, (_, at) => ({ id: `r${at}` }));
  await Promise.all(students.map((one) => db.student.create({ ...one, name: "x", born: "2000" }).orThrow()));
  const renames = async (): Promise<void> => {
    for (let at = 0; at < 10; at++) await db.course.update(maths, { name: `n${at}` }).orThrow({ deadline: 60_000 });
  };
  const links = students.map(async (one, at) => {
    await db.takes.link(one, maths).orThrow({ deadline: 60_000 });
    await db.lesson.create(maths, { at: `l${at}` }).orThrow({ deadline: 60_000 });
  });
  await Promise.all([renames(), ...links]);
  expect(new Set((await db.course(maths).in("takes").edges()).map(({ course }) => course))).toEqual(new Set(["n9"]));
  expect(new Set((await db.course(maths).parts("lesson").all()).map(({ course }) => course))).toEqual(new Set(["n9"]));
});
