import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../../index.ts";
import { dyingTransport, leasesEnded } from "../../test-support/dying-transport.ts";
import { startEngine, type TestEngine } from "../../test-support/engine.ts";
import type { Item } from "../../transport/operations.ts";
import type { Transport } from "../../transport/transport.ts";
import { createSession, systemEffects } from "../session.ts";
import { openCopyJob, runCopyJob } from "./copy-job.ts";
import { verify } from "../../verify/index.ts";

const id = z.string();
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id, name: z.string(), title: z.string() }) }),
    },
    edges: {
      takes: edge({
        from: "student",
        to: "course",
        copies: { to: { course: { of: "name", beyond: "job" } } },
        orderBy: "course",
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
    parts: {
      lesson: part({ of: "course", key: "LESSON#{at}", schema: z.object({ at: id }), copies: { title: { of: "title", beyond: "job" } } }),
    },
  });

let engine: TestEngine;
let table: string;
type Db = ReturnType<ReturnType<typeof modelIn>["connect"]>;
let db: Db;
const STUDENTS = 130;
const maths = { id: "maths" };

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  table = engine.freshTableName("copyjob");
  db = modelIn(table).connect({ transport: engine.transport });
  await db.table.create();
  await db.course.create({ ...maths, name: "v0", title: "t0" }).orThrow();
  const students = Array.from({ length: STUDENTS }, (_, at) => ({ id: `s${at}` }));
  await db.load(students.map((row) => ({ node: "student", row }) as const));
  await db.load(students.map((from) => ({ edge: "takes", from, to: maths }) as const));
});

const names = async (): Promise<ReadonlySet<unknown>> => new Set((await db.course(maths).in("takes").edges()).map(({ course }) => course));

/** Begins a change of the name in a process that dies after so many requests, unless it is through before. */
const renameUntil = async (name: string, answers: number): Promise<void> => {
  const { transport, died } = dyingTransport(engine.transport, answers);
  const renamed = modelIn(table)
    .connect({ transport })
    .course.update(maths, { name })
    .run({ deadline: 600_000 })
    .catch(() => undefined);
  await Promise.race([renamed, died]);
};

/** Changes the name by a program that dies right after: gives the job that it leaves. */
const renameAndDie = async (name: string): Promise<string> => {
  for (let n = 1; ; n++) {
    await renameUntil(name, n);
    const jobs = await db.jobs.list();
    expect(jobs.length).toBe((await db.course.get(maths, { consistent: true }))?.name === name ? 1 : 0);
    if (jobs[0]) {
      expect(jobs).toMatchObject([{ kind: "copy", running: false }]);
      return jobs[0].id;
    }
  }
};

test("100 copies and more are changed by a job, and what is linked or refused meanwhile is right", async () => {
  expect(JSON.stringify((await db.course.update(maths, { title: "v1" }).explain()).notes)).toContain("by a job, at 1 read unit");
  for (let at = 0; at < 105; at++) await db.lesson.create(maths, { at: `l${at}` }).orThrow();
  const renamed = db.course.update(maths, { title: "v1" }).orThrow();
  await db.lesson.create(maths, { at: "late" }).orThrow();
  const { atomic, cost } = await renamed;
  expect(atomic).toMatchObject({ kind: "job", id: expect.stringContaining("copy course") as string });
  expect((atomic as { readonly items: number }).items).toBeGreaterThanOrEqual(105);
  expect(cost.writeUnits).toBeGreaterThan(105);
  expect(new Set((await db.course(maths).parts("lesson").all()).map(({ title }) => title))).toEqual(new Set(["v1"]));
  expect(await db.jobs.list()).toEqual([]);
  // Few are changed in the transaction.
  const arts = { id: "arts" };
  await db.course.create({ ...arts, name: "x", title: "x" }).orThrow();
  await db.takes.link({ id: "s1" }, arts).orThrow();
  expect((await db.course.update(arts, { name: "y" }).orThrow()).atomic).toMatchObject({ kind: "transaction" });
  expect(await db.takes.get({ id: "s1" }, arts)).toMatchObject({ course: "y" });
  expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
});

test("edges that only an index finds are written once, and those that it showed late by the second pass", async () => {
  const late = `STUDENT#s${STUDENTS - 1}`;
  const written: string[] = [];
  let looks = 0;
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const output = await engine.transport.send(operation, input, options);
      if (operation === "UpdateItem" && JSON.stringify(input).includes("takes#"))
        written.push(JSON.stringify((input as { Key: Item }).Key));
      if (operation !== "Query" || !("Items" in output) || !JSON.stringify(input).includes("COURSE#maths")) return output;
      const items = output.Items as readonly Item[];
      const shown = looks === 0 ? items.filter((item) => !JSON.stringify(item).includes(late)) : items;
      if (output.LastEvaluatedKey === undefined) looks++;
      return { ...output, Items: shown };
    },
    close: () => undefined,
  };
  const { atomic } = await modelIn(table).connect({ transport }).course.update(maths, { name: "v1" }).orThrow();
  expect(looks).toBe(2);
  expect(atomic).toMatchObject({ kind: "job", items: STUDENTS });
  expect(written.length).toBe(STUDENTS);
  expect(new Set(written).size).toBe(STUDENTS);
  expect(written.at(-1)).toContain(late);
  expect(await names()).toEqual(new Set(["v1"]));
  expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
});

test("a job that is killed after any request is in the list, and goes on where it was", { timeout: 180_000 }, async () => {
  const job = await renameAndDie("v1");
  await expect(db.jobs.forget(job)).rejects.toMatchObject({ code: "job.mismatch" });
  const settings = { indexLag: 5, lease: 1_500, signal: undefined, deadline: Number.POSITIVE_INFINITY };
  const left = async () => (await db.jobs.list()).map(({ id: one }) => one);
  let deaths = 0;
  for (const n of [1, 2, 4, 60, 150]) {
    const { transport, died } = dyingTransport(engine.transport, n);
    const session = createSession({ catalog: db.catalog, transport, effects: systemEffects });
    const ended = runCopyJob(openCopyJob(session, job, settings)).catch(() => undefined);
    await Promise.race([ended, died]);
    // What earlier runs did is not done again: the last one may come to the end.
    if ((await left()).length === 0) break;
    expect(await left()).toEqual([job]);
    deaths++;
    await leasesEnded(db);
  }
  expect(deaths).toBeGreaterThan(3);
  if ((await left()).length > 0) {
    const handle = await db.jobs.resume(job, { indexLag: 5 });
    expect(await handle.done).toMatchObject({ ok: true, atomic: { kind: "job", id: job } });
  }
  expect(await names()).toEqual(new Set(["v1"]));
  expect(await db.jobs.list()).toEqual([]);
  expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
});

test("jobs of two changes that run at once, the older one late, end with the last change", async () => {
  const first = await renameAndDie("v1");
  const { leasedUntil } = (await db.jobs.list())[0]!;
  expect(leasedUntil).toBe(0);
  await renameUntil("v2", 3);
  const jobs = await db.jobs.list();
  expect(jobs.map((one) => one.id)).toContain(first);
  const { resumed } = await db.jobs.resumeAll({ indexLag: 5 });
  await Promise.all(resumed.map(({ done }) => done));
  const { name } = (await db.course.get(maths, { consistent: true }))!;
  expect(await names()).toEqual(new Set([name]));
});

test("a load changes the copies of what it changes, and leaves no job", async () => {
  const report = await db.load([
    { node: "student", row: { id: "new" } },
    { node: "course", row: { ...maths, name: "v1", title: "t0" } },
  ] as const);
  expect(report).toMatchObject({ rows: 2, failed: 0 });
  expect(report.cost.writeUnits).toBeGreaterThan(STUDENTS);
  expect(await db.jobs.list()).toEqual([]);
  expect(await names()).toEqual(new Set(["v1"]));
  expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
});

const lessons = Array.from({ length: 120 }, (_, at) => ({ part: "lesson" as const, owner: maths, row: { at: `${at}` } }));
const titles = async (): Promise<ReadonlySet<unknown>> => new Set((await db.course(maths).parts("lesson").all()).map(({ title }) => title));

test("a call whose process was suspended for longer than its lease goes on, and ends when all copies have changed", async () => {
  await db.load(lessons);
  let [skew, writes] = [0, 0];
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      if (operation === "UpdateItem" && JSON.stringify(input).includes("LESSON") && ++writes === 30) skew += 60_000;
      return engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  const effects = { ...systemEffects, now: () => Date.now() + skew };
  const suspended = modelIn(table).connect({ transport, advanced: { effects } });
  expect(await suspended.course.update(maths, { title: "t1" })).toMatchObject({ ok: true, atomic: { kind: "job" } });
  expect(skew).toBe(60_000);
  expect(await titles()).toEqual(new Set(["t1"]));
  expect(await db.jobs.list()).toEqual([]);
});

test("a call whose job another process has taken over waits for its end", async () => {
  await db.load(lessons);
  let resuming: Promise<unknown> | undefined;
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const output = await engine.transport.send(operation, input, options);
      if (operation !== "TransactWriteItems" || resuming) return output;
      const { resumed } = await db.jobs.resumeAll({ indexLag: 0 });
      resuming = resumed[0]?.done;
      const isTaken = ({ running }: { readonly running: boolean }): boolean => running;
      for (let jobs = await db.jobs.list(); jobs.length > 0 && !jobs.every(isTaken);) jobs = await db.jobs.list();
      return output;
    },
    close: () => undefined,
  };
  const overtaken = modelIn(table).connect({ transport });
  expect(await overtaken.course.update(maths, { title: "t1" })).toMatchObject({ ok: true });
  expect(resuming).toBeDefined();
  expect(await titles()).toEqual(new Set(["t1"]));
  expect(await db.jobs.list()).toEqual([]);
  await resuming;
});
