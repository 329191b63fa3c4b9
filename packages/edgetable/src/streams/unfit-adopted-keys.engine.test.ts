import { expect, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, max, node } from "../index.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";
import { refreshFacts } from "./refresh-facts.ts";

const text = z.string();
/** A table of somebody else: keys without escapes, and an index whose key is a derived attribute itself. */
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text, name: text }) }),
      course: node({
        key: "COURSE#{courseId}",
        schema: z.object({ courseId: text }),
        derived: { lastNote: max({ in: "takes", of: "note", freshness: "stream" }), students: count({ in: "takes", freshness: "stream" }) },
      }),
    },
    edges: {
      takes: edge({
        from: "user",
        to: "course",
        schema: z.object({ note: text }),
        copies: { from: { who: { of: "name", freshness: "stream" } } },
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { byWho: { partitionKey: "G1PK", sortKey: "G1SK" }, byNote: { partitionKey: "kind", sortKey: "lastNote" } },
      nodes: {
        user: { keys: { SK: "user" } },
        course: { keys: { SK: "course", kind: "COURSES", lastNote: "{lastNote}" }, sparse: ["kind", "lastNote"] },
      },
      edges: { takes: { keys: { SK: "TAKES#{to.courseId}", G1PK: "{to}", G1SK: "WHO#{who:lower}#{from.userId}" } } },
    },
  });

const lab = factsLabOfFile(modelIn);
const [user, c] = [{ userId: "u" }, { courseId: "c" }];

const found = async (repair = false) => {
  const { kinds } = await verify(lab.opened().db, { settle: 10, staleAfter: 10, repair });
  return kinds.flatMap(({ kind, examples }) => examples.map(({ attribute, reason }) => [kind, attribute, reason]));
};

test.each([
  ["that contains the delimiter", "a#b", "contains the delimiter"],
  ["that is too long", "z".repeat(1100), "DynamoDB allows 1024"],
])("a copy %s is stored, its entry is left out, and verify reports it", async (_, name, problem) => {
  const { db } = lab.opened();
  await db.course.put(c).orThrow();
  await db.user.put({ ...user, name: "Ann" }).orThrow();
  await db.takes.put(user, c, { note: "m" }).orThrow();
  await lab.drain();
  expect(await db.course(c).in("takes").edges()).toMatchObject([{ who: "Ann" }]);
  await db.user.update(user, { name }).orThrow();
  await lab.drain();
  expect((await db.takes.get(user, c))?.who).toBe(name);
  expect(await db.course(c).in("takes").edges()).toEqual([]);
  const invalid = ["invalid", expect.stringMatching(/^(who|G1SK)$/), expect.stringContaining(problem)];
  expect(await found()).toEqual([invalid]);
  expect(await found(true)).toEqual([invalid]);
  await db.takes.put(user, c, { note: "n" }).orThrow();
  expect((await db.takes.get(user, c))?.who).toBe(name);
  expect((await refreshFacts(db)).failed).toEqual([]);
  await db.user.update(user, { name: "Bea" }).orThrow();
  await lab.drain();
  expect(await db.course(c).in("takes").edges()).toMatchObject([{ who: "Bea" }]);
  expect(await found()).toEqual([]);
});

test("a derived attribute that is the key of an index itself is left out of its row while it does not fit", async () => {
  const { db } = lab.opened();
  const d = { courseId: "d" };
  await db.course.create(d).orThrow();
  await db.user.put({ ...user, name: "Ann" }).orThrow();
  await db.takes.put(user, d, { note: "m" }).orThrow();
  await lab.drain();
  expect(await db.course.get(d)).toEqual({ ...d, lastNote: "m", students: 1 });
  for (const note of ["", "z".repeat(1100)]) {
    await db.takes.put(user, d, { note }).orThrow();
    await lab.drain();
    expect(await db.course.get(d)).toEqual({ ...d, students: 1 });
    const findings = await found(true);
    expect(findings.filter(([kind]) => kind !== "staleFact")).toEqual([]);
  }
  await db.takes.put(user, d, { note: "n" }).orThrow();
  await lab.drain();
  expect(await db.course.get(d)).toEqual({ ...d, lastNote: "n", students: 1 });
  expect(await found()).toEqual([]);
});
