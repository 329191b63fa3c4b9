import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, distinct, edge, max, node } from "../index.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";
import { refreshFacts } from "./refresh-facts.ts";
import type { AttributeValue } from "../transport/operations.ts";

const text = z.string();
const date = z.date().optional();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text, born: z.any() }), dates: ["born"] }),
      course: node({
        key: "COURSE#{courseId}",
        schema: z.object({ courseId: text }),
        derived: {
          last: max<Date>({ in: "takes", of: "at", freshness: "stream" }),
          times: distinct({ in: "takes", of: "at", freshness: "stream" }),
          until: max({ in: "takes", of: "until", freshness: "stream" }),
          oldest: max<Date>({ in: "takes", of: "born", freshness: "stream" }),
          students: count({ in: "takes", freshness: "stream" }),
        },
      }),
    },
    edges: {
      takes: edge({
        from: "user",
        to: "course",
        schema: z.object({ at: date, until: z.any() }),
        dates: ["at"],
        ttl: "until",
        copies: { from: { born: { of: "born", freshness: "stream" } } },
      }),
      held: edge({ from: "user", to: "course", copies: { from: { born: { of: "born" } } } }),
    },
    indexes: { byBorn: { entries: { held: { by: "born:date", sparse: true } } } },
  });

const lab = factsLabOfFile(modelIn);
const course = { courseId: "c" };
const [a, b, c] = [{ userId: "a" }, { userId: "b" }, { userId: "c" }];
const until = 4_000_000_000;

/** Writes an attribute as another program does. */
const store = (pk: string, sk: string, name: string, value: AttributeValue) =>
  lab.opened().lab.engine.transport.send("UpdateItem", {
    TableName: lab.opened().lab.table,
    Key: { pk: { S: pk }, sk: { S: sk } },
    UpdateExpression: "SET #a = :v",
    ExpressionAttributeNames: { "#a": name },
    ExpressionAttributeValues: { ":v": value },
  });

const found = async (repair = false) => {
  const { kinds } = await verify(lab.opened().db, { settle: 10, staleAfter: 10, repair });
  return kinds.flatMap(({ kind, examples }) =>
    examples.map(({ key, attribute, stored }) => [kind, Object.values(key)[0], attribute, stored]),
  );
};

test("a date that cannot be read does not count, and verify names its item", async () => {
  const { db } = lab.opened();
  await db.course.create(course).orThrow();
  for (const user of [a, b, c]) await db.user.create({ ...user, born: new Date(7) }).orThrow();
  await db.takes.link(a, course, { at: new Date(1), until }).orThrow();
  await db.takes.link(b, course, { at: new Date(2), until }).orThrow();
  await lab.drain();
  const facts = { times: 2, students: 2, until, oldest: new Date(7) };
  expect(await db.course.get(course)).toEqual({ ...course, ...facts, last: new Date(2) });
  await store("USER#b", "takes#COURSE#c", "at", { S: "2024-13-45" });
  await lab.drain();
  expect(await db.course.get(course)).toEqual({ ...course, ...facts, times: 1, last: new Date(1) });
  const invalid = [["invalid", { S: "USER#b" }, "at", "2024-13-45"]];
  expect(await found()).toEqual(invalid);
  expect(await found(true)).toEqual(invalid);
  expect((await refreshFacts(db)).failed).toEqual([]);
  await db.takes.link(c, course, { at: new Date(3), until }).orThrow();
  await lab.drain();
  expect(await db.course.get(course)).toMatchObject({ times: 2, students: 3, last: new Date(3) });
  // A row that is complete when it comes: of it, only the date is left out.
  await db.takes.unlink(b, course).orThrow();
  await db.takes.link(b, course, { at: new Date(4), until }).orThrow();
  await store("USER#b", "takes#COURSE#c", "at", { S: "yesterday" });
  await lab.drain();
  expect(await db.course.get(course)).toMatchObject({ times: 2, students: 3, last: new Date(3) });
  await db.takes.put(b, course, { at: new Date(5), until }).orThrow();
  await lab.drain();
  expect(await db.course.get(course)).toMatchObject({ times: 3, students: 3, last: new Date(5) });
  expect(await found()).toEqual([]);
});

test("an expiry time that cannot be read does not count", async () => {
  const { db } = lab.opened();
  await store("USER#a", "takes#COURSE#c", "until", { S: "soon" });
  await lab.drain();
  expect(await db.course.get(course)).toMatchObject({ students: 3, until });
  expect(await found(true)).toEqual([["invalid", { S: "USER#a" }, "until", "soon"]]);
  expect((await refreshFacts(db)).failed).toEqual([]);
  await store("USER#a", "takes#COURSE#c", "until", { N: String(until) });
  await lab.drain();
});

test("a date of a node that cannot be read is not copied", async () => {
  const { db } = lab.opened();
  await db.held.link(a, course).orThrow();
  await store("USER#a", "#", "born", { S: "2024-02-31T99:00" });
  await db.user.update(b, { born: new Date(6) }).orThrow();
  await lab.drain();
  expect(await db.takes.get(a, course)).not.toHaveProperty("born");
  expect(await db.takes.get(b, course)).toMatchObject({ born: new Date(6) });
  const invalid = ["invalid", { S: "USER#a" }, "born", "2024-02-31T99:00"];
  expect(await found()).toEqual([invalid, ["staleCopy", { S: "USER#a" }, "born", new Date(7)]]);
  expect(await found(true)).toEqual([invalid, ["staleCopy", { S: "USER#a" }, "born", new Date(7)]]);
  expect(await found()).toEqual([invalid]);
  await db.held.put(a, course).orThrow();
  expect(await db.held.get(a, course)).not.toHaveProperty("born");
  expect((await refreshFacts(db)).failed).toEqual([]);
  await db.user.update(a, { born: new Date(8) }).orThrow();
  await lab.drain();
  expect(await db.takes.get(a, course)).toMatchObject({ born: new Date(8) });
  expect(await db.held.get(a, course)).toMatchObject({ born: new Date(8) });
  expect(await found()).toEqual([]);
});

test("a copy of a date that cannot be read is written again", async () => {
  const { db } = lab.opened();
  await store("USER#a", "takes#COURSE#c", "born", { S: "never" });
  expect((await found()).map(([kind, key, attribute]) => [kind, key, attribute])).toEqual([
    ["staleFact", { S: "COURSE#c" }, "oldest"],
    ["staleCopy", { S: "USER#a" }, "born"],
  ]);
  await found(true);
  expect(await db.takes.get(a, course)).toMatchObject({ born: new Date(8) });
  await lab.drain();
  expect(await found()).toEqual([]);
});
