import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { testRuns } from "../../../../conformance/engines/property-runs.ts";
import { defineGraph, node } from "../index.ts";

const text = z.string();
let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const bridge = { projectId: "35e9" };
const quick = { indexLag: 0 };

const open = async (issues: number) => {
  const graph = defineGraph({
    table: engine.freshTableName("fields"),
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int() }),
        fields: { of: "project", orderBy: "num:6" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.project.create(bridge).orThrow();
  for (let num = 1; num <= issues; num++) await db.issue.create({ issueId: `i${num}`, ...bridge, num }).orThrow();
  const fields = db.issue.fields(bridge);
  const grid = db.issue.grid(bridge);
  const set = (num: number, value: string | number | null) => db.issue.values({ issueId: `i${num}` }).set({ size: value });
  const sorted = async () =>
    (await grid.sort("field:size").empties("without").page()).items.map(({ row, cells }) => [row.num, cells["size"]?.value]);
  return { graph, db, fields, grid, set, sorted };
};

test("a field is given another type: values are listed that would be lost, and the others keep their rows", async () => {
  const { fields, set, sorted, db, grid } = await open(5);
  await fields.define({ fieldId: "size", name: "Size", type: "text", default: "7" });
  const given = ["10", "9", "tbd", "-1.5"];
  for (const [at, value] of given.entries()) await set(at + 1, value);
  expect(await sorted()).toEqual([
    [4, "-1.5"],
    [1, "10"],
    [2, "9"],
    [3, "tbd"],
  ]);

  const number = { type: "number" } as const;
  const losses = [{ row: { issueId: "i3" }, value: "tbd" }];
  expect(await fields.retype("size", number, { dryRun: true })).toMatchObject({ values: 4, lost: 1, losses });
  await expect(fields.retype("size", number, quick).report()).rejects.toMatchObject({
    code: "grid.lostValues",
    message: expect.stringContaining('1 of 4 values of the text field "Size" (size) do not fit the type number: "tbd"') as unknown,
    details: { lost: 1, values: 4, losses },
  });
  expect(await fields.list()).toMatchObject([{ type: "text" }]);
  expect((await fields.list())[0]).not.toHaveProperty("state");
  expect(await sorted()).toHaveLength(4);

  await set(3, "12");
  const before = await grid.sort("field:size").page({ limit: 2 });
  expect(await fields.retype("size", number, quick)).toMatchObject({ values: 4, field: { type: "number", default: 7 } });
  expect(await sorted()).toEqual([
    [4, -1.5],
    [2, 9],
    [1, 10],
    [3, 12],
  ]);
  await expect(grid.sort("field:size").page({ cursor: before.next }).report()).rejects.toMatchObject({ code: "cursor.invalid" });
  await expect(set(5, "x").report()).rejects.toMatchObject({ code: "grid.invalidValue" });

  const choice = { type: "choice", choices: ["12", "9"] } as const;
  expect(await fields.retype("size", choice, { ...quick, losing: "remove" })).toMatchObject({ field: { type: "choice" } });
  expect(await sorted()).toEqual([
    [3, "12"],
    [2, "9"],
  ]);
  expect(await fields.retype("size", { type: "choice", choices: ["9", "12"] }, quick)).toMatchObject({ values: 2 });
  expect(await sorted()).toEqual([
    [2, "9"],
    [3, "12"],
  ]);
  expect(await db.jobs.list()).toEqual([]);
});

const VALUES = Math.max(500, Math.min(3000, testRuns(3000)));

test(`of ${String(VALUES)} values, those that a new type would lose are listed before anything happens`, async () => {
  const { fields, grid, sorted } = await open(0);
  await fields.define({ fieldId: "size", name: "Size", type: "text" });
  const isLost = (num: number): boolean => num % 250 === 7;
  const numbers = Array.from({ length: VALUES }, (_, at) => at + 1);
  const records = numbers.map((num) => [`i${num}`, String(num), isLost(num) ? `about ${num}` : String(num * 2)]);
  await grid.importCsv([["issueId", "num", "Size"], ...records], { concurrency: 50 });
  const lost = numbers.filter(isLost);
  const number = { type: "number" } as const;
  const listed = await fields.retype("size", number, { dryRun: true });
  expect(listed).toMatchObject({ values: VALUES, lost: lost.length, field: { type: "text" } });
  expect(listed.losses.map(({ row, value }) => [row["issueId"], value]).toSorted()).toEqual(
    lost.map((num) => [`i${num}`, `about ${num}`]).toSorted(),
  );
  await expect(fields.retype("size", number, quick).report()).rejects.toMatchObject({
    code: "grid.lostValues",
    details: { lost: lost.length, values: VALUES, losses: { length: lost.length } },
  });
  expect((await fields.list())[0]).toMatchObject({ type: "text" });
  expect(await fields.retype("size", number, { ...quick, losing: "remove" })).toMatchObject({ field: { type: "number" } });
  const kept = numbers.filter((num) => !isLost(num));
  expect(await sorted()).toEqual(kept.slice(0, 50).map((num) => [num, num * 2]));
  expect(await grid.where({ "field:size": { exists: true } }).count({ budget: { requests: 1000 } })).toMatchObject({ rows: kept.length });
}, 60_000);

test("while values are checked, none is set that the new type would lose", async () => {
  const { fields, set, sorted } = await open(3);
  await fields.define({ fieldId: "size", name: "Size", type: "text" });
  await set(1, "large");
  const refused: unknown[] = [];
  // What is set while the check waits for the index.
  const meanwhile = async (): Promise<void> => {
    while ((await fields.list())[0]?.state !== "checking") await new Promise((next) => void setImmediate(next));
    for (const value of [";", " ", " ; ", ",", "x"])
      await set(2, value).catch((error: { code: string }) => refused.push([value, error.code]));
    await set(3, "small;large");
  };
  const retyped = fields.retype("size", { type: "choices", choices: ["small", "large"] }, { indexLag: 1000 }).run();
  await meanwhile();
  await retyped;
  expect(refused).toEqual([";", " ", " ; ", ",", "x"].map((value) => [value, "grid.invalidValue"]));
  expect(await sorted()).toEqual([
    [3, ["small", "large"]],
    [1, ["large"]],
  ]);
});

test("a job that is cut off leaves a field that is shown, not sorted by, and resumed by the same call", async () => {
  const { fields, set, sorted, graph, db, grid } = await open(3);
  await fields.define({ fieldId: "size", name: "Size", type: "text" });
  for (const num of [1, 2, 3]) await set(num, `${4 - num}`);
  let puts = 0;
  const failing: typeof engine.transport = {
    send: (operation, input, options) => {
      if (JSON.stringify(input).includes('"issueValue"') && operation === "PutItem" && ++puts > 1) throw new Error("cut off");
      return engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  const other = graph.connect({ transport: failing, retry: { attempts: 1 } });
  const number = { type: "number" } as const;
  await expect(other.issue.fields(bridge).retype("size", number, quick).report()).rejects.toThrow("cut off");
  expect(puts).toBeGreaterThan(1);
  await expect(sorted()).rejects.toMatchObject({ code: "grid.retyping", retryable: true });
  await expect(fields.retype("size", { type: "boolean" }, quick).report()).rejects.toMatchObject({
    code: "grid.retyping",
    message: expect.stringContaining("is being changed to number. First resume that change") as unknown,
  });
  expect((await grid.page()).items.map(({ cells }) => cells["size"])).toEqual([3, 2, 1].map((value) => ({ type: "number", value })));
  await set(1, 5);
  await fields.retype("size", number, quick);
  expect(await sorted()).toEqual([
    [3, 1],
    [2, 2],
    [1, 5],
  ]);
  expect(await db.jobs.list()).toEqual([]);
});

test("a value that is written while its field is changed or deleted is never lost, and never left", async () => {
  const { fields, set, sorted, db, grid } = await open(30);
  await fields.define({ fieldId: "size", name: "Size", type: "text" });
  const numbers = Array.from({ length: 30 }, (_, at) => at + 1);
  const writing = Promise.all(numbers.map((num) => set(num, String(num)).catch(() => set(num, num))));
  await fields.retype("size", { type: "number" }, { indexLag: 20 });
  await writing;
  expect(await sorted()).toEqual(numbers.map((num) => [num, num]));

  const page = await grid.sort("field:size").page({ limit: 5 });
  const again = Promise.all(
    numbers.map((num) =>
      set(num, -num).then(
        () => "set",
        (error: { code: string }) => error.code,
      ),
    ),
  );
  await fields.delete("size", { indexLag: 20 });
  for (const one of await again) expect(["set", "grid.unknownField"]).toContain(one);
  await expect(grid.sort("field:size").page({ cursor: page.next }).report()).rejects.toMatchObject({ code: "grid.unknownField" });
  expect(await fields.list()).toEqual([]);
  await expect(fields.delete("size").report()).rejects.toMatchObject({ code: "grid.unknownField" });
  for (const num of numbers) expect((await db.issue({ issueId: `i${num}` }).collection()).parts).toEqual({});
});

test("a change of type that was refused leaves no job behind, and another type may be given", async () => {
  const { fields, set, db } = await open(1);
  await fields.define({ fieldId: "size", name: "Size", type: "text" });
  await set(1, "2023-05-01");
  await expect(fields.retype("size", { type: "number" }, quick).report()).rejects.toMatchObject({ code: "grid.lostValues" });
  expect(await db.jobs.list()).toEqual([]);
  expect(await fields.retype("size", { type: "date" }, quick)).toMatchObject({ field: { type: "date" } });
});

test("values that are set while one of their fields gets another type are all set, and that one is converted", async () => {
  const { graph, db, fields } = await open(1);
  await fields.define({ fieldId: "size", name: "Size", type: "text" });
  await fields.define({ fieldId: "note", name: "Note", type: "text" });
  for (const [size, expected] of [
    ["12", { type: "number", value: 12 }],
    ["tbd", undefined],
  ] as const) {
    await fields.retype("size", { type: "text" }, quick);
    let isChanged = false;
    const slow = graph.connect({
      transport: {
        ...engine.transport,
        send: async (operation, input, options) => {
          const answer = await engine.transport.send(operation, input, options);
          if (operation === "TransactWriteItems" && !isChanged) {
            isChanged = true;
            await fields.retype("size", { type: "number" }, { ...quick, losing: "remove" });
          }
          return answer;
        },
      },
    });
    const values = slow.issue.values({ issueId: "i1" });
    expect(await values.set({ size, note: `about ${size}` })).toMatchObject({ ok: true });
    expect(isChanged).toBe(true);
    const note = { type: "text", value: `about ${size}` };
    expect(await db.issue.values({ issueId: "i1" }).get()).toEqual(expected ? { size: expected, note } : { note });
  }
});

test.each(["while its values are checked", "between two passes"])(
  "a change that is aborted in a wait, %s, says that it can be resumed, and is",
  async (when) => {
    const { fields, set, sorted } = await open(2);
    await fields.define({ fieldId: "size", name: "Size", type: "text" });
    await set(1, "10");
    await set(2, "9");
    const stop = new AbortController();
    const options = { indexLag: 600_000, ...(when === "between two passes" ? { losing: "remove" as const } : {}) };
    const changing = fields.retype("size", { type: "number" }, options).run({ signal: stop.signal });
    const state = when === "between two passes" ? "converting" : "checking";
    void expect
      .poll(async () => (await fields.list())[0], { timeout: 20_000 })
      .toMatchObject({ state })
      .then(() => stop.abort("enough"));
    await expect(changing).rejects.toMatchObject({
      code: "execute.aborted",
      message: expect.stringMatching(
        /^The job "retype issue size .*" was aborted[.] Completed work is kept; call again to resume[.]$/,
      ) as unknown,
    });
    expect(await fields.retype("size", { type: "number" }, quick)).toMatchObject({ field: { type: "number" } });
    expect(await sorted()).toEqual([
      [2, 9],
      [1, 10],
    ]);
  },
);
