import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dyingTransport, leasesEnded } from "../test-support/dying-transport.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { damages, damageTable } from "./damages.test-support.ts";
import { verify, type VerifyOptions, type VerifyReport } from "./index.ts";
import { contentOf, fillLab, type LabDb, labGraph } from "./lab.test-support.ts";

let engine: TestEngine;
let folder: string;
beforeAll(async () => {
  engine = await startEngine();
  folder = mkdtempSync(join(tmpdir(), "edgetable-verify-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await engine.stop();
});

let seed = 3;
const random = (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

const damaged = async () => {
  const table = engine.freshTableName("resume");
  const db = labGraph(table).connect({ transport: engine.transport });
  await db.table.create();
  await fillLab(db, 120);
  const { done, expected } = await damageTable({ transport: engine.transport, table }, { times: damages.length, random });
  return { table, db, done, expected };
};

const countsOf = ({ kinds }: VerifyReport): Readonly<Record<string, number>> =>
  Object.fromEntries(kinds.map(({ kind, count }) => [kind, count]));

/** The jobs of these tests: damages are jobs, too. */
const jobsOf = async (db: LabDb) => (await db.jobs.list()).filter(({ id }) => id === "v");

const options: VerifyOptions = { job: "v", segments: 12, concurrency: 2, settle: 5, saveEvery: 0, expectedItems: 1000, differing: "mend" };

test("a job that is aborted again and again finds what one run finds", async () => {
  const { db, done } = await damaged();
  const state = join(folder, "aborted.state");
  const whole = await verify(db, { ...options, job: "whole", state: join(folder, "whole.state") });
  expect(Object.values(countsOf(whole)).reduce((a, b) => a + b)).toBe(done.length);
  let report: VerifyReport | undefined;
  let runs = 0;
  for (; !report; runs++) {
    const stopping = new AbortController();
    let pages = 0;
    const onProgress = (): void => void (++pages === 3 && stopping.abort());
    report = await verify(db, { ...options, state, signal: stopping.signal, onProgress, progressEvery: 1 }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "execute.aborted", message: expect.stringContaining("call again to resume") });
      return undefined;
    });
    if (!report) expect(await jobsOf(db)).toMatchObject([{ kind: "verify", running: false }]);
    // The last pass begins again each time: in the end it is let through.
    if (runs > 4) report ??= await verify(db, { ...options, state });
  }
  expect(runs).toBeGreaterThan(3);
  expect(report.resumed).toBe(true);
  expect(countsOf(report)).toEqual(countsOf(whole));
  expect(report.items).toBe(whole.items);
  expect(await jobsOf(db)).toEqual([]);
  expect(() => statSync(state)).toThrow("ENOENT");
});

test("what a repair that is killed again and again leaves is repaired by the next run", async () => {
  const { table, db, expected } = await damaged();
  const state = join(folder, "killed.state");
  const repairing: VerifyOptions = { ...options, state, repair: true, deleteOrphans: true, lease: 400 };
  for (const n of [0, 3, 11, 29]) {
    const { transport, died } = dyingTransport(engine.transport, n);
    const other = labGraph(table).connect({ transport });
    const verified = verify(other, repairing).catch(() => undefined);
    await Promise.race([verified, died]);
    await leasesEnded(db);
  }
  await verify(db, { ...repairing, lease: 60_000 });
  expect([...(await contentOf(engine.transport, table))].toSorted()).toEqual([...expected].toSorted());
  expect(countsOf(await verify(db, { settle: 5 }))).toEqual({ invalid: 1 });
  expect(await db.jobs.list()).toEqual([]);
});

test("a state that is damaged, missing or of another model begins anew; a second process is refused", async () => {
  const { table, db, done } = await damaged();
  const state = join(folder, "broken.state");
  const cutOff = async (): Promise<void> => {
    const stopping = new AbortController();
    let pages = 0;
    const onProgress = (): void => void (++pages === 3 && stopping.abort());
    await verify(db, { ...options, state, signal: stopping.signal, onProgress, progressEvery: 1 }).catch(() => undefined);
  };
  const total = (report: VerifyReport): number => Object.values(countsOf(report)).reduce((a, b) => a + b);
  const breaking: readonly (() => void)[] = [
    () => truncateSync(state, statSync(state).size - 100),
    () => writeFileSync(state, "not JSON"),
    () => rmSync(state),
  ];
  for (const breakState of breaking) {
    await cutOff();
    breakState();
    const report = await verify(db, { ...options, state });
    expect(report.resumed).toBe(false);
    expect(total(report)).toBe(done.length);
  }
  await cutOff();
  const grown = labGraph(table, [8, 4]).connect({ transport: engine.transport });
  expect(await verify(grown, { ...options, state })).toMatchObject({ resumed: false });

  const both = await Promise.allSettled([1, 2].map(() => verify(db, { ...options, state })));
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "job.busy" } });
  await expect(verify(db, { ...options, state: join(folder, "nowhere", "state") })).rejects.toMatchObject({
    code: "plan.invalidOption",
    message: expect.stringContaining("The state cannot be written: "),
  });
  await expect(verify(db, { ...options, state: folder })).rejects.toMatchObject({ code: "plan.invalidOption" });
  // No job was begun.
  expect(await jobsOf(db)).toEqual([]);
});
