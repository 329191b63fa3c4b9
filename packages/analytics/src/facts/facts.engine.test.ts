import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { average, count, createLeanTransport, defineGraph, distinct, edge, max, min, node, part, sum } from "edgetable";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { derive, derived, extract, openLake, runOnSpark, validate, writeBack, type Lake } from "../index.ts";
import { comparable, hasSpark, python } from "../test-support/spark.ts";

/** Each batch attribute has a twin that transactions keep, where transactions can keep one. */
const batch = { freshness: "batch" } as const;
const enrolled = { in: "enrolledIn" } as const;
const good = { grade: { in: ["A", "B"] }, credits: { gte: 2 } };
const ends = { from: "cascade", to: "cascade" } as const;
const education = defineGraph({
  table: "Education",
  nodes: {
    student: node({
      key: "S#{studentId}",
      schema: z.object({ studentId: z.string(), name: z.string(), mail: z.string().optional() }),
      unique: ["mail"],
    }),
    course: node({
      key: "C#{courseId}",
      schema: z.object({ courseId: z.string() }),
      derived: {
        students: count(enrolled),
        studentsLater: count({ ...enrolled, ...batch }),
        passed: count({ ...enrolled, where: good }),
        passedLater: count({ ...enrolled, where: good, ...batch }),
        credits: sum({ ...enrolled, of: "credits" }),
        creditsLater: sum({ ...enrolled, of: "credits", ...batch }),
        points: sum({ ...enrolled, of: "points" }),
        pointsLater: sum({ ...enrolled, of: "points", ...batch }),
        mean: average({ ...enrolled, of: "points" }),
        meanLater: average({ ...enrolled, of: "points", ...batch }),
        mixed: average({ ...enrolled, of: "mixed" }),
        mixedLater: average({ ...enrolled, of: "mixed", ...batch }),
        firstLater: min<Date>({ ...enrolled, of: "at", ...batch }),
        bestLater: max<string>({ ...enrolled, of: "grade", ...batch }),
        gradesLater: distinct({ ...enrolled, of: "grade", ...batch }),
        namesLater: distinct({ ...enrolled, ...batch }),
        notes: count({ parts: "note" }),
        notesLater: count({ parts: "note", where: { text: { beginsWith: "o'" } }, ...batch }),
        near: count({ in: "nextTo" }),
        nearLater: count({ in: "nextTo", ...batch }),
      },
    }),
  },
  parts: { note: part({ of: "course", key: "N#{n:3}", schema: z.object({ n: z.int(), text: z.string() }), owner: "checked" }) },
  edges: {
    enrolledIn: edge({
      from: "student",
      to: "course",
      dates: ["at"],
      schema: z.object({
        grade: z.string().optional(),
        credits: z.int().optional(),
        points: z.number().optional(),
        mixed: z.union([z.number(), z.string()]).optional(),
        at: z.date().optional(),
      }),
      copies: { from: { studentName: "name" } },
      onDelete: ends,
    }),
    nextTo: edge({ from: "course", to: "course", symmetric: true, onDelete: ends }),
  },
  indexes: { bySize: { entries: { course: { by: "studentsLater:number", sparse: true } } } },
});

let engine: LocalEngine;
let folder: string;
let lake: Lake;
const db = () => education.connect({ endpoint: engine.endpoint });
const relake = async (): Promise<void> => {
  lake?.close();
  await extract(db(), { into: join(folder, "lake"), memoryLimit: "256MB" });
  lake = await openLake(join(folder, "lake"), { memoryLimit: "256MB", threads: 1 });
};

beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), "facts-"));
  const connection = db();
  await connection.table.create();
  for (let n = 0; n < 12; n++) await connection.student.create({ studentId: `s${n}`, name: `Name ${n % 5}`, mail: `${n}@x` }).orThrow();
  for (let n = 0; n < 5; n++) await connection.course.create({ courseId: `c${n}` }).orThrow();
  const grades = ["A", "B", "C", undefined];
  // The last course has no students.
  for (let n = 0; n < 30; n++) {
    const grade = grades[n % 4];
    await connection.enrolledIn.put(
      { studentId: `s${(n * 5) % 12}` },
      { courseId: `c${(n * n) % 4}` },
      {
        ...(grade === undefined ? {} : { grade }),
        ...(n % 3 === 0 ? {} : { credits: n % 5 }),
        ...(n % 5 === 0 ? {} : { points: n / 10 }),
        ...(n % 4 === 0 ? {} : { mixed: n % 2 === 0 ? "5" : n / 4 }),
        at: new Date(Date.UTC(2024, 0, n + 1)),
      },
    );
  }
  for (const [n, text] of ["o'k", "other", "o'"].entries()) await connection.note.create({ courseId: "c1" }, { n, text }).orThrow();
  for (const [a, b] of [
    ["c0", "c1"],
    ["c1", "c2"],
    ["c2", "c2"],
  ] as const)
    await connection.nextTo.link({ courseId: a }, { courseId: b }).orThrow();
  await relake();
});
afterAll(async () => {
  lake?.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

const courses = async () =>
  Promise.all(
    [0, 1, 2, 3, 4].map(
      async (n) =>
        (await db()
          .course({ courseId: `c${n}` })
          .get()) as Readonly<Record<string, unknown>>,
    ),
  );

test("attributes kept in batch are computed from their declarations, and equal those that transactions keep", async () => {
  expect((await courses())[0]).not.toHaveProperty("studentsLater");
  // What no batch job has computed yet differs; nothing else does.
  const before = await validate(lake, education.catalog, { examples: 100 });
  expect(before.kinds.map(({ kind }) => kind)).toEqual(["wrongAggregate"]);
  expect(before.kinds[0]?.examples.filter(({ attribute }) => !attribute?.endsWith("Later"))).toEqual([]);

  expect(await derive(db(), lake, { unitsPerSecond: 10_000 })).toMatchObject({ matched: 5, changes: 5, written: 5, skipped: 0 });
  const rows = await courses();
  for (const row of rows) {
    for (const name of ["students", "passed", "credits", "near"])
      expect([row["courseId"], name, row[`${name}Later`]]).toEqual([row["courseId"], name, row[name]]);
    for (const name of ["points", "mean", "mixed"])
      if (row[name] === undefined) expect(row).not.toHaveProperty(`${name}Later`);
      else expect(row[`${name}Later`]).toBeCloseTo(row[name] as number, 9);
  }
  const edges = await db().course({ courseId: "c1" }).in("enrolledIn").edges();
  expect(rows[1]).toMatchObject({
    students: edges.length,
    firstLater: new Date(Math.min(...edges.map(({ at }) => at!.getTime()))),
    bestLater: edges
      .map(({ grade }) => grade ?? "")
      .toSorted()
      .at(-1),
    gradesLater: new Set(edges.flatMap(({ grade }) => grade ?? [])).size,
    namesLater: new Set(edges.map(({ from }) => from.studentId)).size,
    notes: 3,
    notesLater: 2,
  });
  expect(rows[4]).toMatchObject({ studentsLater: 0, creditsLater: 0, gradesLater: 0 });
  expect(rows[4]).not.toHaveProperty("firstLater");
  expect(rows[4]).not.toHaveProperty("meanLater");
  // The index that is sorted by a derived attribute follows.
  expect(
    (
      await db()
        .find("course")
        .where({ studentsLater: { gte: 0 } })
        .reverse()
        .limit(1)
        .rows()
    )[0]?.studentsLater,
  ).toBe(Math.max(...rows.map((row) => row["studentsLater"] as number)));

  await relake();
  expect(await validate(lake, education.catalog)).toMatchObject({ clean: true, kinds: [] });
  expect(await derive(db(), lake)).toMatchObject({ matched: 5, changes: 0 });
});

test.runIf(hasSpark)(
  "Spark computes the same attributes from the declarations",
  async () => {
    const program = derived(lake, education.catalog);
    const [rows] = await runOnSpark(lake.folder, [program], { python });
    expect(comparable(rows!)).toEqual(comparable(await lake.run(program)));
  },
  300_000,
);

test("only what changed is written, and nobody else may write it", async () => {
  await db().enrolledIn.link({ studentId: "s0" }, { courseId: "c4" }, { credits: 3 }).orThrow();
  await relake();
  expect(await derive(db(), lake)).toMatchObject({ changes: 1, written: 1 });
  expect((await courses())[4]).toMatchObject({ students: 1, studentsLater: 1, creditsLater: 3 });
  await expect(async () => db().course.update({ courseId: "c4" }, { studentsLater: 7 } as object)).rejects.toMatchObject({
    code: "schema.derivedAttribute",
  });
  const one = "select node, 1 as n from course";
  await expect(writeBack(db(), lake, one, { to: { course: { students: "n" } } })).rejects.toMatchObject({
    code: "analytics.result",
    message: expect.stringContaining('"students" of "course" is derived, and not in batch') as string,
  });
  await db().jobs.run("own", {}, async (job) => {
    await expect(job.setDerived("course", { courseId: "c1" }, { students: 1 })).rejects.toMatchObject({
      message: expect.stringContaining('"students" of "course" is not kept in batch. These are: studentsLater,') as string,
    });
    await expect(job.setDerived("cuorse", {}, {})).rejects.toMatchObject({ code: "schema.unknownNode" });
  });
});

test("a validation names what differs, as verify does", async () => {
  const transport = createLeanTransport({ endpoint: engine.endpoint });
  const set = (key: object, names: object, values: object) =>
    transport.send("UpdateItem", {
      TableName: "Education",
      Key: key as never,
      UpdateExpression: "SET #a = :v",
      ExpressionAttributeNames: names as never,
      ExpressionAttributeValues: values as never,
    });
  const key = (pk: string, sk: string) => ({ pk: { S: pk }, sk: { S: sk } });
  await set(key("C#c1", "#"), { "#a": "students" }, { ":v": { N: "77" } });
  await set(key("S#s1", "#"), { "#a": "name" }, { ":v": { S: "Renamed" } });
  await set(key("S#s2", "#"), { "#a": "mail" }, { ":v": { S: "3@x" } });
  await transport.send("DeleteItem", { TableName: "Education", Key: key("S#s4", "#") });
  await relake();
  const report = await validate(lake, education.catalog, { examples: 1 });
  expect(report.clean).toBe(false);
  expect(Object.fromEntries(report.kinds.map(({ kind, count: found }) => [kind, found > 0]))).toEqual({
    dangling: true,
    duplicate: true,
    wrongAggregate: true,
    staleCopy: true,
  });
  const first = Object.fromEntries(report.kinds.map(({ kind, examples }) => [kind, examples[0]]));
  expect(first["wrongAggregate"]).toMatchObject({
    definition: "course",
    attribute: "students",
    item: { node: "course:c1" },
    stored: 77n,
    reason: expect.stringMatching(/^"students" holds 77; the edges of "enrolledIn" make \d+\.$/) as string,
  });
  expect(first["staleCopy"]).toMatchObject({ definition: "enrolledIn", attribute: "studentName", expected: "Renamed" });
  expect(first["duplicate"]).toMatchObject({ definition: "student", attribute: "mail", stored: "3@x" });
  expect(first["dangling"]).toMatchObject({ item: { source: "student:s4" }, reason: "There is no node student:s4." });
});

test("a lake that is older than the model is refused", () => {
  const older = {
    tables: lake.tables.map((table) => ({ ...table, columns: table.columns.filter(({ attribute }) => attribute !== "studentsLater") })),
  };
  expect(() => derived(older, education.catalog)).toThrow(
    'The lake has no column for "studentsLater" of "course": it is older than the model',
  );
});
