import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { systemEffects } from "../executor/session.ts";
import { defineGraph, edge, node, type Effects, type Transport } from "../index.ts";
import { renderTemplate } from "../keys/template.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const graphOf = (table: string, shards: readonly number[], projection: "ALL" | "KEYS_ONLY" = "ALL") =>
  defineGraph({
    table,
    nodes: {
      task: node({ key: "TASK#{taskId}", schema: z.object({ taskId: text, name: text, status: text.optional() }), stored: true }),
      skill: node({ key: "SKILL#{skillId}", schema: z.object({ skillId: text }) }),
    },
    edges: { needs: edge({ from: "task", to: "skill", schema: z.object({ skill: text, level: text }), ends: "unchecked" }) },
    indexes: {
      byName: { entries: { task: "name" }, shards, projection },
      byStatus: { entries: { task: { by: "name", shards: { count: 1, per: "status", hot: { open: shards } } } }, projection },
      bySkill: { entries: { needs: { by: ["skill", "level"], split: 1 } }, shards },
    },
  });
type Graph = ReturnType<typeof graphOf>;

const ids = Array.from({ length: 150 }, (_, at) => `t${String(at).padStart(3, "0")}`);

const fill = async (graph: Graph): Promise<void> => {
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  await db.load([
    ...ids.map((taskId, at) => ({ node: "task", row: { taskId, name: `N${at}`, status: at % 3 ? "open" : "done" } }) as const),
    ...ids.map(
      (taskId, at) =>
        ({ edge: "needs", from: { taskId }, to: { skillId: "s" }, attributes: { skill: `k${at % 4}`, level: `${at}` } }) as const,
    ),
  ]);
};

/** Items that are not where a writer would put them. */
const misplaced = async (graph: Graph): Promise<readonly string[]> => {
  const { catalog } = graph;
  const { Items = [] } = await engine.transport.send("Scan", { TableName: catalog.table, ConsistentRead: true });
  return Items.flatMap((item) => {
    const of = (name: string): string => (item[name] && "S" in item[name] ? item[name].S : "");
    const [kind] = of("type").split(":");
    const shape = kind === "task" ? catalog.nodes["task"]!.shape : catalog.edges["needs"]!.shapes[0]!;
    const id = of("pk").slice("TASK#".length);
    const row = { taskId: id, name: of("name"), status: of("status"), skill: of("skill"), from: { taskId: id } };
    if (kind !== "task" && kind !== "needs") return [];
    return ["byNamePk", "byStatusPk", "bySkillPk"].filter(
      (attribute) => shape.keys[attribute] && renderTemplate(shape.keys[attribute], row) !== of(attribute),
    );
  });
};

const quick = { rate: 100_000, indexLag: 0 };

describe.each(["ALL", "KEYS_ONLY"] as const)("with a projection of %s", (projection) => {
  test("moves every item to where writers put it, and the old count can go", async () => {
    const table = engine.freshTableName("reshard");
    await fill(graphOf(table, [2], projection));
    const grown = graphOf(table, [8, 2], projection);
    const db = grown.connect({ transport: engine.transport });
    const before = await misplaced(grown);
    expect(before.length).toBeGreaterThan(200);
    const progress: number[] = [];
    const report = await db.reshard({ ...quick, onProgress: ({ moved }) => progress.push(moved) });
    expect(await misplaced(grown)).toEqual([]);
    expect(report).toMatchObject({ moved: before.length, passes: 2, partitions: { done: 5, all: 5 } });
    expect(progress.at(-1)).toBe(before.length);
    expect(report.cost.writeUnits).toBeGreaterThan(before.length);
    expect(await db.jobs.list()).toEqual([]);
    const after = graphOf(table, [8], projection).connect({ transport: engine.transport });
    expect(await after.find("task").using("byName").count()).toBe(ids.length);
    expect(await after.find("needs").where({ skill: "k1" }).count()).toBe(38);
    expect((await db.reshard(quick)).moved).toBe(0);
    expect(await after.reshard(quick)).toMatchObject({ moved: 0, passes: 0, cost: { requests: 0 } });
  });
});

test("goes on where it was cut off, and refuses to run twice", async () => {
  const table = engine.freshTableName("reshard");
  await fill(graphOf(table, [1]));
  const grown = graphOf(table, [4, 1]);
  const db = grown.connect({ transport: engine.transport });
  const stopping = new AbortController();
  const cut = db.reshard({ ...quick, signal: stopping.signal, onProgress: () => stopping.abort() });
  await expect(cut).rejects.toMatchObject({ code: "execute.aborted" });
  const [job] = await db.jobs.list();
  expect(job).toMatchObject({ id: "reshard", kind: "reshard", running: false });
  const moved = Number(job?.facts["moved"]);
  expect(moved).toBeGreaterThan(0);
  await expect(db.jobs.resume("reshard")).rejects.toMatchObject({ code: "job.mismatch" });
  let busy: unknown;
  const report = await db.reshard({
    ...quick,
    onProgress: () => {
      busy ??= db.reshard(quick).then(
        () => "done",
        (error: { code: string }) => error.code,
      );
    },
  });
  expect(await busy).toBe("job.busy");
  expect(report.moved).toBeGreaterThan(moved);
  expect(await misplaced(grown)).toEqual([]);
});

test("does no harm beside writers: what they change meanwhile stays as they left it", async () => {
  const table = engine.freshTableName("reshard");
  await fill(graphOf(table, [2]));
  const grown = graphOf(table, [8, 2]);
  const writer = grown.connect({ transport: engine.transport });
  let turn = 0;
  const disturbed: Transport = {
    send: async (operation, input, options) => {
      // Between the Query and the change of an item, its status and name change.
      if (operation === "UpdateItem" && JSON.stringify(input).includes(":old")) {
        const taskId = ids[(turn++ * 7) % ids.length]!;
        const key = (input as { readonly Key: { readonly pk: { readonly S: string } } }).Key.pk.S.slice("TASK#".length);
        for (const one of [taskId, key]) await writer.task.update({ taskId: one }, { status: turn % 2 ? "done" : "open" }).orThrow();
      }
      return engine.transport.send(operation, input, options);
    },
    close: () => undefined,
  };
  const db = grown.connect({ transport: disturbed });
  await db.reshard(quick);
  await writer.reshard(quick);
  expect(await misplaced(grown)).toEqual([]);
  expect(await writer.find("task").using("byStatus").count()).toBe(ids.length);
});

const HEARTBEAT = 1000;

test.each([
  ["on its own clock", 0],
  ["when the clock is set back", -3_600_000],
  ["when the clock is set forth", 500_000],
])("keeps to its rate %s", async (_, step) => {
  const table = engine.freshTableName("reshard");
  await fill(graphOf(table, [1]));
  let now = Date.now();
  let waited = 0;
  const sleep: Effects["sleep"] = async (milliseconds, signal) => {
    if (milliseconds === HEARTBEAT) return systemEffects.sleep(5, signal);
    now += milliseconds;
    waited += milliseconds;
  };
  const db = graphOf(table, [4, 1]).connect({
    transport: engine.transport,
    advanced: { effects: { ...systemEffects, now: () => now, sleep } },
  });
  let pages = 0;
  const onProgress = (): void => {
    if (pages++ === 0) now += step;
  };
  const { moved } = await db.reshard({ rate: 50, indexLag: 0, index: "byName", lease: 600_000, onProgress });
  expect(moved).toBeGreaterThan(100);
  const wanted = (moved / 50) * 1000;
  expect(waited).toBeGreaterThan(wanted - 2000);
  expect(waited).toBeLessThan(wanted + 2000);
});

test.each([
  [{ rate: 0 }, "plan.invalidOption"],
  [{ lease: 1 }, "plan.invalidOption"],
  [{ job: "" }, "plan.invalidOption"],
  [{ index: "byNam" }, "plan.noIndex"],
])("refuses %j", async (options, code) => {
  const db = graphOf("Nowhere", [2, 1]).connect({ transport: engine.transport });
  await expect(db.reshard(options)).rejects.toMatchObject({ code });
});

test("a job that goes on with another model begins its pass anew, however late their places differ", async () => {
  const table = engine.freshTableName("reshard");
  const shardedGraph = (byName: readonly number[], byStatus: readonly number[]) =>
    defineGraph({
      table,
      nodes: {
        taskWithALongName: node({ key: "TASK#{taskId}", schema: z.object({ taskId: text, name: text, status: text }), stored: true }),
      },
      edges: {},
      indexes: {
        byName: { entries: { taskWithALongName: "name" }, shards: byName },
        byStatus: { entries: { taskWithALongName: "status" }, shards: byStatus },
      },
    });
  const connected = (byName: readonly number[], byStatus: readonly number[]) =>
    shardedGraph(byName, byStatus).connect({ transport: engine.transport });
  const old = connected([800], [2]);
  await old.table.create();
  await old.load(ids.map((taskId) => ({ node: "taskWithALongName", row: { taskId, name: taskId, status: "open" } }) as const));
  const stop = new AbortController();
  const onProgress = ({ partitions }: { readonly partitions: { readonly done: number } }): void => {
    if (partitions.done > 210) stop.abort();
  };
  await expect(connected([800, 400], [2]).reshard({ ...quick, signal: stop.signal, onProgress })).rejects.toMatchObject({
    code: "execute.aborted",
  });
  const report = await connected([800, 200], [8, 2]).reshard(quick);
  expect(report.moved).toBeGreaterThan(50);
});
