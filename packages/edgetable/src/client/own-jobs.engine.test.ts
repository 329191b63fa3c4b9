import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, node } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const graph = (table: string) =>
  defineGraph({ table, nodes: { place: node({ key: "PLACE#{id}", schema: z.object({ id: z.string(), n: z.int() }) }) }, edges: {} });
type Db = ReturnType<ReturnType<typeof graph>["connect"]>;
let db: Db;
let table: string;
beforeEach(async () => {
  table = engine.freshTableName("own-jobs");
  db = graph(table).connect({ transport: engine.transport });
  await db.table.create();
});

test("work that fails is resumed from what it saved, and leaves nothing when it is done", async () => {
  const seen: unknown[] = [];
  const work = (until: number) =>
    db.jobs.run("count", { fingerprint: "input 1" }, async (job) => {
      seen.push(job.saved);
      for (let at = Number(job.saved["at"] ?? 0); at < 6; at++) {
        job.check();
        if (at === until) throw new Error("cut off");
        await db.place.create({ id: `P${at}`, n: at }).orThrow();
        job.save({ at: at + 1, name: "ß" });
      }
      return "done";
    });
  await expect(work(3)).rejects.toThrow("cut off");
  expect(await db.jobs.list()).toMatchObject([{ id: "count", kind: "custom", running: false, runs: 1, facts: { at: 3, name: "ß" } }]);
  expect(await work(9)).toBe("done");
  expect(seen).toEqual([{}, { at: 3, name: "ß" }]);
  expect(await db.jobs.list()).toEqual([]);
});

test("one process at a time runs a job", async () => {
  let second: unknown;
  await db.jobs.run("alone", {}, async () => {
    second = await db.jobs.run("alone", {}, async () => undefined).catch((error: unknown) => error);
  });
  expect(second).toMatchObject({ code: "job.busy", retryable: true });
});

test("a job whose lease another process took may take no further step", async () => {
  // A process that stands still renews nothing.
  const stands = (_: number, signal?: AbortSignal) => new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
  const effects = { now: Date.now, random: Math.random, sleep: stands };
  const still = graph(table).connect({ transport: engine.transport, advanced: { effects } });
  await still.jobs.run("taken", { lease: 100 }, async (job) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await db.jobs.run("taken", {}, async () => {
      expect(() => job.check()).toThrow('The job "taken" lost its lease');
    });
  });
});

test("another input is refused, and the job can be forgotten", async () => {
  const begin = (fingerprint: string) =>
    db.jobs.run("input", { fingerprint }, async (job) => {
      job.save({ at: 1 });
      throw new Error("cut off");
    });
  await expect(begin("a")).rejects.toThrow("cut off");
  await expect(begin("b")).rejects.toMatchObject({
    code: "job.mismatch",
    message: expect.stringContaining('was begun with another input ("a", now "b")') as string,
  });
  expect(await db.jobs.list()).toMatchObject([{ facts: { at: 1, fingerprint: "a" } }]);
  await expect(db.jobs.resume("input")).rejects.toMatchObject({
    code: "job.mismatch",
    message: expect.stringContaining("by the same db.jobs.run") as string,
  });
  expect(await db.jobs.resumeAll()).toEqual({ resumed: [], leased: [], refused: [] });
  await db.jobs.forget("input");
  expect(await db.jobs.list()).toEqual([]);
});

test("the signal and close end it at its next step", async () => {
  const stop = new AbortController();
  const own = graph(table).connect({ endpoint: engine.endpoint });
  const endless = (signal?: AbortSignal) =>
    own.jobs.run("endless", signal ? { signal } : {}, async (job) => {
      for (;;) {
        job.check();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
  const aborted = endless(stop.signal);
  setTimeout(() => stop.abort(), 20);
  await expect(aborted).rejects.toMatchObject({ code: "execute.aborted" });
  const closed = endless();
  setTimeout(() => void own.close(), 20);
  await expect(closed).rejects.toMatchObject({ code: "execute.aborted" });
});

test("a time limit that nobody else holds ends it, whatever is collected as garbage", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const endless = db.jobs.run("limited", { signal: AbortSignal.timeout(50) }, async (job) => {
    for (const until = Date.now() + 5000; Date.now() < until;) {
      job.check();
      await new Promise((resolve) => setTimeout(resolve, 5));
      collect();
    }
  });
  await expect(endless).rejects.toMatchObject({ code: "execute.aborted", cause: { name: "TimeoutError" } });
});

test.each([
  ["fingerprint", { fingerprint: "x".repeat(1001) }, "at most 1,000 characters"],
  ["lease", { lease: 10 }, "lease"],
  ["nmae", { nmae: 1 }, "nmae"],
])("a wrong option (%s) is refused", async (_, options, message) => {
  await expect(db.jobs.run("wrong", options as object, async () => undefined)).rejects.toMatchObject({
    code: "plan.invalidOption",
    message: expect.stringContaining(message) as string,
  });
});

test("what cannot be saved is refused", async () => {
  await db.jobs.run("facts", {}, async (job) => {
    expect(() => job.save({ at: Number.NaN })).toThrow('cannot save "at" as NaN');
    expect(() => job.save({ fingerprint: "mine" })).toThrow('names other than "fingerprint"');
  });
  await expect(db.jobs.run("", {}, async () => undefined)).rejects.toMatchObject({ code: "plan.invalidOption" });
  const noWork = { code: "plan.invalidOption", message: "The work of a job is a function (job) => …, got undefined." };
  await expect((db.jobs.run as (...given: readonly unknown[]) => Promise<unknown>)("idle", {})).rejects.toMatchObject(noWork);
  expect(await db.jobs.list()).toEqual([]);
});
