import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { SentRequest } from "../executor/call.ts";
import { edge, node } from "../schema/definition.ts";
import type { IndexProjection, Layout } from "../schema/layout.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import { defineGraph } from "./define-graph.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const project = node({
  key: "project-{id}",
  schema: z.object({ id: z.string(), tenantId: z.string(), name: z.string(), note: z.string().optional() }),
});
const tenant = node({ key: "tenant-{tenantId}", schema: z.object({ tenantId: z.string() }) });
const ofTenant = edge({ from: "project", to: "tenant", stored: "reference", schema: z.object({ name: z.string() }) });
interface Project {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly note?: string;
}
const rows: readonly Project[] = [
  { id: "1", tenantId: "T", name: "Bridge", note: "long" },
  { id: "2", tenantId: "T", name: "Tunnel" },
];

const kept = ({ note, ...row }: Project, keeps: "note" | "nothing"): Project =>
  keeps === "note" && note !== undefined ? { ...row, note } : row;

const open = async (projection: IndexProjection, keeps: "note" | "nothing") => {
  const layout: Layout = {
    partitionKey: "PK",
    sortKey: "SK",
    delimiter: "-",
    indexes: { related: { partitionKey: "SK", sortKey: "Data", projection } },
    nodes: {
      tenant: { keys: { SK: "*" } },
      project: { keys: { SK: "tenant-{tenantId}", Data: "{name}" }, delimiters: { Data: "\u0001" } },
    },
  };
  const short = node({ key: "project-{id}", schema: z.object({ id: z.string(), tenantId: z.string(), name: z.string() }) });
  const nodes = { tenant, project: keeps === "note" ? project : (short as typeof project) };
  const sent: SentRequest[] = [];
  const graph = defineGraph({ table: engine.freshTableName(), nodes, edges: { ofTenant }, layout });
  const db = graph.connect({
    transport: engine.transport,
    cursorSecret: "test".padEnd(43, "-"),
    onRequest: (request) => sent.push(request),
  });
  await db.table.create();
  for (const row of rows) await db.project.create(kept(row, keeps)).orThrow();
  sent.length = 0;
  const off = graph.connect({
    transport: engine.transport,
    cursorSecret: "test".padEnd(43, "-"),
    advanced: { rulesOff: ["use-embedded-node"] },
  });
  const of = { tenantId: "T" };
  return {
    sent: () => sent.map(({ operation, index }) => [operation, index]),
    projects: () => db.tenant(of).in("ofTenant"),
    unruled: () => off.tenant(of).in("ofTenant").nodes({ given: of }),
  };
};

test.each([
  ["KEYS_ONLY", "nothing"],
  [["note"], "note"],
  ["ALL", "note"],
] as const)("nodes whose every attribute is in the index (%j, beside its keys %s) take the Query alone", async (projection, keeps) => {
  const { projects, unruled, sent } = await open(projection, keeps);
  const nodes = await projects().nodes();
  expect(sent()).toEqual([["Query", "related"]]);
  expect(nodes).toEqual(keeps === "note" ? rows : rows.map((row) => ({ id: row!.id, tenantId: "T", name: row!.name })));
  expect(nodes).toEqual(await unruled());
});

test("nodes with an attribute that the index lacks are read by their keys", async () => {
  const { projects, sent } = await open("KEYS_ONLY", "note");
  expect(await projects().nodes({ given: { tenantId: "T" } })).toEqual(rows);
  expect(sent()).toEqual([
    ["Query", "related"],
    ["BatchGetItem", undefined],
  ]);
});

test("nodes of edges of which some attributes are selected are whole", async () => {
  const { projects, sent } = await open("ALL", "note");
  expect(
    await projects()
      .select("name")
      .nodes({ given: { tenantId: "T" } }),
  ).toEqual(rows);
  expect(sent()).toEqual([
    ["Query", "related"],
    ["BatchGetItem", undefined],
  ]);
});
