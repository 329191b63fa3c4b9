import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine, type LocalEngine } from "@edgetable/local";
import { defineGraph, edge, node, part } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { extract, openLake, validate, writeBulk } from "./index.ts";

const graph = defineGraph({
  table: "PartEnds",
  nodes: {
    user: node({ key: "USER#{userId}", schema: z.object({ userId: z.string() }) }),
    project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: z.string() }) }),
  },
  parts: { task: part({ of: "project", key: "TASK#{taskId:4}", schema: z.object({ taskId: z.int(), title: z.string() }) }) },
  edges: { assigned: edge({ from: "user", to: "task", onDelete: { to: "cascade" } }), blocks: edge({ from: "task", to: "task" }) },
});

let engine: LocalEngine;
let folder: string;
beforeAll(async () => {
  engine = await startEngine();
  folder = await mkdtemp(join(tmpdir(), "part-ends-"));
});
afterAll(async () => {
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

test("a lake names parts at ends of edges as their edges do", async () => {
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.load([
    { node: "user", row: { userId: "ann" } },
    { node: "project", row: { projectId: "p" } },
    { part: "task", owner: { projectId: "p" }, row: { taskId: 1, title: "Plan" } },
    { part: "task", owner: { projectId: "p" }, row: { taskId: 2, title: "Build" } },
    { edge: "assigned", from: { userId: "ann" }, to: { projectId: "p", taskId: 1 } },
    { edge: "assigned", from: { userId: "ann" }, to: { projectId: "p", taskId: 9 } },
    { edge: "blocks", from: { projectId: "p", taskId: 1 }, to: { projectId: "p", taskId: 2 } },
  ]);
  const lake = join(folder, "lake");
  await extract(db, { into: lake, memoryLimit: "256MB" });
  const opened = await openLake(lake, { memoryLimit: "256MB" });
  expect(await validate(opened, graph.catalog)).toMatchObject({
    kinds: [{ kind: "dangling", count: 1, examples: [{ definition: "assigned", item: { source: "user:ann", target: "task:p/=9" } }] }],
  });
  await writeBulk(opened, { into: join(folder, "bulk"), format: "neo4j" });
  expect(await readFile(join(folder, "bulk", "nodes", "task.csv"), "utf8")).toContain('"task:p/=1","task","p","1","Plan"');
  expect(await readFile(join(folder, "bulk", "edges", "blocks.csv"), "utf8")).toContain('"task:p/=1","task:p/=2"');
  opened.close();
  await db.close();
});
