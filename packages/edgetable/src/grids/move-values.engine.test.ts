import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, node } from "../index.ts";
import { openFactsLab } from "../streams/facts-lab.test-support.ts";

const text = z.string();
const graphOf = (table: string, storage: "items" | "document") =>
  defineGraph({
    table,
    nodes: {
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
      issue: node({
        key: "ISSUE#{issueId}",
        schema: z.object({ issueId: text, projectId: text, num: z.int() }),
        fields: { of: "project", orderBy: "num:6", storage },
      }),
    },
  });

let opened: Awaited<ReturnType<typeof open>>;
const open = async () => openFactsLab((table) => graphOf(table, "items"));
beforeAll(async () => {
  opened = await open();
});
afterAll(() => opened.lab.stop());

const connect = (storage: "items" | "document") => {
  const { engine, table } = opened.lab;
  return graphOf(table, storage).connect({ transport: engine.transport });
};

const PROJECTS = ["P1", "P2", "P3"];
const ISSUES = 30;
const issue = (at: number) => ({ issueId: `i${at}` });

test("values move into documents and back, while programs of both models write", async () => {
  const [items, documents] = [connect("items"), connect("document")];
  const expected = new Map<number, Map<string, number>>();
  for (const projectId of PROJECTS) {
    await items.project.create({ projectId }).orThrow();
    for (let at = 0; at < 3; at++) await items.issue.fields({ projectId }).define({ fieldId: `f${at}`, name: `F${at}`, type: "number" });
  }
  for (let at = 0; at < ISSUES; at++) {
    await items.issue.create({ ...issue(at), projectId: PROJECTS[at % 3]!, num: at }).orThrow();
    expected.set(at, new Map());
  }
  let value = 0;
  const set = async (db: typeof items, at: number): Promise<void> => {
    const fieldId = `f${(value + Math.floor(value / ISSUES)) % 3}`;
    const mine = value++;
    const isTaken = mine % 7 === 0;
    expect(await db.issue.values(issue(at)).set({ [fieldId]: isTaken ? null : mine })).toMatchObject({ ok: true });
    if (isTaken) expected.get(at)?.delete(fieldId);
    else expected.get(at)?.set(fieldId, mine);
  };
  for (let round = 0; round < 3; round++) for (let at = 0; at < ISSUES; at++) await set(items, at);

  const check = async (): Promise<void> => {
    for (const db of [items, documents]) {
      await opened.lab.drain(opened.session);
      for (const [at, values] of expected) {
        const cells = (await db.issue.values(issue(at)).get()) ?? {};
        expect(Object.fromEntries(Object.entries(cells).map(([id, cell]) => [id, cell.value])), `row ${at}`).toEqual(
          Object.fromEntries(values),
        );
      }
      for (const projectId of PROJECTS)
        for (let field = 0; field < 3; field++) {
          const page = await db.issue.grid({ projectId }).sort(`field:f${field}`).empties("without").page({ limit: 100 });
          const want = [...expected]
            .filter(([at, values]) => PROJECTS[at % 3] === projectId && values.has(`f${field}`))
            .map(([at, values]) => [at, values.get(`f${field}`)] as const)
            .toSorted((a, b) => Number(a[1]) - Number(b[1]));
          expect(page.items.map(({ row, cells }) => [row.num, cells[`f${field}`]?.value])).toEqual(want);
        }
    }
  };
  const stored = async (type: string): Promise<readonly string[]> =>
    (await opened.lab.items()).map((item) => JSON.stringify(item)).filter((one) => one.includes(`"type":{"S":"${type}"}`));
  /** Writers of both models, each with rows of its own, until the work is done. */
  const beside = async (work: Promise<unknown>): Promise<void> => {
    const state = { isOver: false };
    const over = (): void => void (state.isOver = true);
    work.then(over, over);
    const writer = async (db: typeof items, part: number): Promise<void> => {
      for (let at = part; !state.isOver; at = (at + 2) % ISSUES) await set(db, at);
    };
    await Promise.all([work, writer(items, 0), writer(documents, 1)]);
  };
  await check();
  const valued = (): number => [...expected.values()].filter(({ size }) => size > 0).length;

  const { steps, refusals, cost } = await documents.migrations.plan();
  expect(refusals).toEqual([]);
  expect(steps.map(({ kind }) => kind)).toEqual(["moveValues", "record"]);
  expect(steps[0]).toMatchObject({ node: "issue", to: "document", says: 'move the values of "issue" into one document for each row' });
  expect(cost.readUnits + cost.writeUnits).toBeGreaterThan(0);
  expect(await documents.migrations.run({ dryRun: true })).toMatchObject({ complete: false, changed: valued() });
  expect(await stored("issueValues")).toEqual([]);

  const run = documents.migrations.run();
  await beside(run);
  const report = await run;
  expect(report).toMatchObject({ complete: true });
  expect((await stored("issueValues")).length).toBeGreaterThanOrEqual(valued());
  expect((await stored("issueFields")).every((one) => one.includes('"at":{"S":"document"}') && !one.includes('"to"'))).toBe(true);
  await check();
  // A program of the model before follows where the values are.
  expect(await items.issue.values(issue(4)).set({ f0: 5, f1: 6 })).toMatchObject({ atomic: "item" });
  expected.get(4)?.set("f0", 5).set("f1", 6);
  await check();
  expect((await documents.migrations.plan()).steps).toEqual([]);

  expect((await items.migrations.plan()).steps.map(({ kind }) => kind)).toEqual(["moveValues", "record"]);
  const back = items.migrations.run();
  await beside(back);
  expect(await back).toMatchObject({ complete: true });
  expect(await stored("issueValues")).toEqual([]);
  expect((await stored("issueValue")).filter((one) => one.includes('"follows"'))).toEqual([]);
  await check();
  expect(await documents.issue.values(issue(4)).set({ f0: 7, f1: 8 })).toMatchObject({ atomic: "transaction" });
  expected.get(4)?.set("f0", 7).set("f1", 8);

  // And once more: documents of the first time hold nothing.
  const again = documents.migrations.run();
  await beside(again);
  expect(await again).toMatchObject({ complete: true });
  await check();
}, 300_000);

test("a row that no item can hold is named, and a move waits for a field that is being changed", async () => {
  const lab = await openFactsLab((table) => graphOf(table, "items"));
  const { db: items } = lab;
  const documents = graphOf(lab.lab.table, "document").connect({ transport: lab.lab.engine.transport });
  const project = { projectId: "P" };
  await items.project.create(project).orThrow();
  for (let at = 0; at < 5; at++) await items.issue.fields(project).define({ fieldId: `f${at}`, name: `F${at}`, type: "text" });
  for (const num of [1, 2]) await items.issue.create({ ...issue(num), ...project, num }).orThrow();
  const long = "x".repeat(99_000);
  await items.issue.values(issue(1)).set({ f0: long, f1: long, f2: long, f3: long, f4: long });
  await items.issue.values(issue(2)).set({ f0: "short" });
  await expect(documents.migrations.run()).rejects.toMatchObject({
    code: "request.itemTooLarge",
    message: expect.stringContaining('The values of the row {"issueId":"i1"}') as unknown,
  });
  // Nothing is lost: the row has its items, and the other one its document.
  expect(Object.keys((await documents.issue.values(issue(1)).get()) ?? {})).toHaveLength(5);
  expect(await items.issue.values(issue(2)).get()).toEqual({ f0: { type: "text", value: "short" } });
  await expect(items.issue.fields(project).delete("f4").report()).rejects.toMatchObject({ code: "grid.retyping" });
  await items.issue
    .values(issue(1))
    .set({ f4: null })
    .report()
    .catch((error: { code: string }) => expect(error.code).toBe("request.itemTooLarge"));
  await items.issue.values(issue(1)).set({ f3: null, f4: null });
  expect(await documents.migrations.run()).toMatchObject({ complete: true });
  expect(await items.issue.fields(project).delete("f4", { indexLag: 0 })).toEqual({ values: 0 });
  await lab.lab.stop();
});

test("a table without a stream is not given documents", async () => {
  const { engine } = opened.lab;
  const table = engine.freshTableName("still");
  const items = graphOf(table, "items").connect({ transport: engine.transport });
  await items.table.create();
  const documents = graphOf(table, "document").connect({ transport: engine.transport });
  expect((await documents.migrations.plan()).refusals).toEqual([
    'The stream maintains the index of "issue", and the table has no stream. Enable it: settings: { stream: true }.',
  ]);
});

test("a move that is cut off resumes where it was, however often, and loses nothing", async () => {
  const lab = await openFactsLab((table) => graphOf(table, "items"));
  const { engine, table } = lab.lab;
  const many = 150;
  const fields = ["f0", "f1", "f2"];
  const { db } = lab;
  for (const projectId of PROJECTS) {
    await db.project.create({ projectId }).orThrow();
    for (const fieldId of fields) await db.issue.fields({ projectId }).define({ fieldId, name: fieldId, type: "number" });
  }
  const rows = Array.from({ length: many }, (_, at) => ({ ...issue(at), projectId: PROJECTS[at % 3] ?? "", num: at }));
  await db.load(rows.map((row) => ({ node: "issue", row }) as const));
  for (const { issueId, num } of rows) await db.issue.values({ issueId }).set({ f0: num, f1: -num, f2: num % 7 });

  /** Runs until a run completes, each of which ends after some pages: aborted, or dead without a word. */
  const runs = async (
    storage: "items" | "document",
  ): Promise<{ readonly runs: number; readonly begun: number; readonly pages: number }> => {
    let [begun, pages] = [0, 0];
    for (let run = 1; run < 60; run++) {
      let [scans, isDead] = [0, false];
      const transport: typeof engine.transport = {
        send: async (operation, input, options) => {
          if (isDead) throw new Error("dead");
          if (operation === "Scan") {
            if (++scans > 2) {
              isDead = run % 3 === 0;
              throw new Error("cut off");
            }
            pages++;
            if (!("ExclusiveStartKey" in input)) begun++;
          }
          return engine.transport.send(operation, input, options);
        },
        close: () => undefined,
      };
      const other = graphOf(table, storage).connect({ transport, retry: { attempts: 1 } });
      try {
        if ((await other.migrations.run({ lease: 1500 })).complete) return { runs: run, begun, pages };
      } catch (error) {
        if (!/cut off|dead|lost its lease/.test(`${(error as Error).message} ${String((error as Error).cause)}`)) throw error;
        // The lease of a run that died ends by itself.
        if (isDead) await new Promise((resolve) => setTimeout(resolve, 1600));
      }
    }
    throw new Error(`not complete after 60 runs: ${begun} passes were begun, ${pages} pages read`);
  };
  const check = async (): Promise<void> => {
    await lab.lab.drain(lab.session);
    for (const projectId of PROJECTS) {
      const { items } = await db.issue
        .grid({ projectId })
        .sort("field:f1")
        .empties("without")
        .page({ limit: 1000, budget: { requests: 1000 } });
      expect(items.map(({ row, cells }) => [row.num, cells["f0"]?.value, cells["f1"]?.value, cells["f2"]?.value])).toEqual(
        rows
          .filter((row) => row.projectId === projectId)
          .toReversed()
          .map(({ num }) => [num, num, num === 0 ? 0 : -num, num % 7]),
      );
    }
  };
  const there = await runs("document");
  expect(there.runs).toBeGreaterThan(3);
  // Two passes move and one says that all has arrived, unless the state of a run that died was lost before it was saved.
  expect(there.begun).toBeLessThanOrEqual(5);
  await check();
  const back = await runs("items");
  expect(back.begun).toBeLessThanOrEqual(5);
  await check();
  expect((await lab.lab.items()).map((item) => JSON.stringify(item)).filter((one) => one.includes('"issueValues"'))).toEqual([]);
  await lab.lab.stop();
}, 120_000);

test.each([
  [60, 1],
  [12, 8],
])("the plan of a move of %i rows with %i values names no fewer units than it takes", async (rows, values) => {
  const { engine } = opened.lab;
  const table = engine.freshTableName("priced");
  const connect = (storage: "items" | "document") =>
    defineGraph({
      table,
      nodes: {
        project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
        issue: node({ key: "ISSUE#{issueId}", schema: z.object({ issueId: text, projectId: text }), fields: { of: "project", storage } }),
      },
    }).connect({ transport: engine.transport });
  const [items, documents] = [connect("items"), connect("document")];
  await items.table.create({ stream: true });
  const parent = { projectId: "P" };
  await items.project.create(parent).orThrow();
  const ids = Array.from({ length: values }, (_, at) => `f${at}`);
  for (const fieldId of ids) await items.issue.fields(parent).define({ fieldId, name: fieldId, type: "number" });
  for (let at = 0; at < rows; at++) {
    await items.issue.create({ issueId: `i${at}`, ...parent }).orThrow();
    await items.issue.values({ issueId: `i${at}` }).set(Object.fromEntries(ids.map((fieldId) => [fieldId, at])));
  }
  for (const db of [documents, items]) {
    const { cost } = await db.migrations.plan();
    const { complete, cost: taken } = await db.migrations.run();
    expect(complete).toBe(true);
    expect(taken.readUnits).toBeLessThanOrEqual(cost.readUnits);
    expect(taken.readUnits).toBeGreaterThan(cost.readUnits / 16);
    expect(taken.writeUnits).toBeLessThanOrEqual(cost.writeUnits);
  }
});
