import { afterAll, beforeAll, expect, test } from "vitest";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";
import { createFolder, run, type Folder } from "../test-support/lab.ts";

const model = `
import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";
export const school = defineGraph({
  table: "School",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string() }) }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string() }) }),
  },
  edges: { enrolledIn: edge({ from: "student", to: "course", onDelete: { to: "cascade" }, ends: "unchecked" }) },
});
`;
const school = defineGraph({
  table: "School",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string() }) }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string() }) }),
  },
  edges: { enrolledIn: edge({ from: "student", to: "course", onDelete: { to: "cascade" }, ends: "unchecked" }) },
});

let engine: LocalEngine;
let folder: Folder;
let db: ReturnType<typeof school.connect>;
const STUDENTS = 260;

beforeAll(async () => {
  engine = await startEngine();
  // A model that no longer has courses cannot resume their deletion.
  const other = model.replaceAll("course:", "lesson:").replace('to: "course"', 'to: "lesson"');
  folder = createFolder({ "edgetable.ts": model, "other.ts": other });
  db = school.connect({ endpoint: engine.endpoint });
  await db.table.create();
});
afterAll(async () => {
  folder.remove();
  await db.close();
  await engine.stop();
});

const jobs = (argv: readonly string[] = [], columns?: number) =>
  run(["jobs", ...argv, "--endpoint", engine.endpoint], { cwd: folder.path, ...(columns && { columns }) });

/** A deletion that is cut off once it has sent some requests. */
const leaveBehind = async (courseId: string): Promise<void> => {
  await db.course.create({ courseId }).orThrow();
  const students = Array.from({ length: STUDENTS }, (_, at) => ({ studentId: `S${at}` }));
  await db.load(students.map((from) => ({ edge: "enrolledIn" as const, from, to: { courseId }, attributes: {} })));
  const controller = new AbortController();
  let sent = 0;
  const cut = school.connect({ endpoint: engine.endpoint, onRequest: () => ++sent === 6 && controller.abort() });
  await expect(cut.course.delete({ courseId }, { indexLag: 0 }).run({ signal: controller.signal })).rejects.toMatchObject({
    code: "execute.aborted",
  });
  await cut.close();
};

test("the jobs of a table are listed with what they do, how far they are, and who may resume them", async () => {
  expect(await jobs()).toMatchObject({ code: 0, out: "There are no jobs.\n", err: "" });
  await leaveBehind("C1");
  const stopped = db.jobs.run("greet everyone", { fingerprint: "v1" }, async (job) => {
    job.save({ at: 500, last: "S499" });
    throw new Error("stopped");
  });
  await expect(stopped).rejects.toThrow("stopped");
  let end = (): void => undefined;
  const running = db.jobs.run("nightly", { lease: 60_000 }, () => new Promise<void>((resolve) => (end = resolve)));
  await expect.poll(async () => (await db.jobs.list()).length).toBe(3);

  const { code, out, err } = await jobs([], 80);
  expect(code).toBe(1);
  for (const line of out.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  const text = out.replaceAll(/\s+/g, " ");
  expect(text).toContain('delete course ["C1"]');
  expect(text).toContain("deletion");
  expect(text).toMatch(/at 500/);
  expect(text).toContain("left behind");
  expect(text).toMatch(/leased until \d{4}-/);
  expect(err).toContain("edgetable jobs --resume");
  expect(err).toContain("Resume greet everyone with the program that calls db.jobs.run");
  expect(err).not.toContain("nightly");

  const listed = await jobs(["--json"]);
  expect(listed.code).toBe(1);
  expect(JSON.parse(listed.out)).toMatchObject([
    { id: 'delete course ["C1"]', kind: "delete", running: false, facts: { node: "course" } },
    { id: "greet everyone", kind: "custom", running: false, runs: 1, facts: { at: 500, fingerprint: "v1" } },
    { id: "nightly", kind: "custom", running: true },
  ]);

  const resumed = await jobs(["--resume"]);
  expect(resumed).toMatchObject({ code: 0, out: expect.stringMatching(/^delete course \["C1"\]: done, \d+ items\.\n$/) as string });
  expect(await db.course({ courseId: "C1" }).get()).toBeUndefined();
  expect(await db.course({ courseId: "C1" }).in("enrolledIn").count()).toBe(0);
  expect(await jobs(["--resume"])).toMatchObject({ code: 0, out: "There is no deletion or change of copies to resume.\n" });
  end();
  await running;
  await db.jobs.forget("greet everyone");
});

test("one job is resumed by its name; one of another kind, an unknown one and one of another model are refused", async () => {
  await leaveBehind("C2");
  await leaveBehind("C3");
  const other = await jobs(["--resume", "--model", "other.ts", "--json"]);
  expect(other.code).toBe(1);
  expect(JSON.parse(other.out)).toMatchObject({
    resumed: [],
    refused: [
      { id: 'delete course ["C2"]', code: "job.mismatch" },
      { id: 'delete course ["C3"]', code: "job.mismatch" },
    ],
  });
  expect(await jobs(["--resume", 'delete course ["C2"]'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('["C2"]: done') as string,
  });
  expect((await db.jobs.list()).map(({ id }) => id)).toEqual(['delete course ["C3"]']);

  const stopped = db.jobs.run("mine", {}, () => Promise.reject(new Error("stopped")));
  await expect(stopped).rejects.toThrow("stopped");
  expect(await jobs(["--resume", "mine"])).toMatchObject({ code: 1, err: expect.stringContaining("job.mismatch") as string });
  expect(await jobs(["--resume", "nothing"])).toMatchObject({ code: 1, err: expect.stringContaining("job.notFound") as string });

  const whole = await jobs(["--resume", "--json"]);
  expect(whole.code).toBe(0);
  expect(JSON.parse(whole.out)).toMatchObject({ resumed: [{ id: 'delete course ["C3"]' }], failed: [], refused: [], leased: [] });
});
