import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type SentRequest } from "../index.ts";
import { verify } from "../verify/index.ts";

const text = z.string();
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      user: node({ key: "USER#{userId}", schema: z.object({ userId: text, name: text }) }),
      project: node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) }),
    },
    parts: {
      task: part({ of: "project", key: "TASK#{taskId:4}", schema: z.object({ taskId: z.int(), title: text }) }),
    },
    edges: {
      assigned: edge({
        from: "user",
        to: "task",
        schema: z.object({ at: text }),
        orderBy: "at",
        onDelete: { from: "cascade", to: "cascade" },
      }),
      blocks: edge({ from: "task", to: "task", onDelete: { from: "cascade", to: "cascade" } }),
      mentions: edge({ from: ["task", "user"], to: ["user", "project"], multiplicity: "many-to-one" }),
    },
  });

let engine: TestEngine;
let sent: SentRequest[] = [];
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
let table = "";

const requests = () => sent.splice(0).map(({ operation, input }) => ({ operation, input }));

beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.stop());
beforeEach(async () => {
  table = engine.freshTableName("ends");
  db = graphOf(table).connect({
    transport: engine.transport,
    cursorSecret: "test".padEnd(43, "-"),
    onRequest: (request) => sent.push(request),
  });
  await db.table.create();
  await db.user.create({ userId: "u1", name: "Ann" }).orThrow();
  await db.user.create({ userId: "u2", name: "Bob" }).orThrow();
  await db.project.create({ projectId: "p1" }).orThrow();
  for (const taskId of [1, 2, 3]) await db.task.create({ projectId: "p1" }, { taskId, title: `T${taskId}` }).orThrow();
  sent = [];
});

test("links, reads and walks", async () => {
  await db.assigned.link({ userId: "u1" }, { projectId: "p1", taskId: 1 }, { at: "2026" }).orThrow();
  console.log(JSON.stringify(requests(), null, 1));
  await db.assigned.link({ userId: "u2" }, { projectId: "p1", taskId: 1 }, { at: "2025" }).orThrow();
  await db.blocks.link({ projectId: "p1", taskId: 1 }, { projectId: "p1", taskId: 2 }).orThrow();
  await db.mentions.link({ projectId: "p1", taskId: 1 }, { userId: "u2" }).orThrow();
  sent = [];
  console.log(JSON.stringify(await db.user({ userId: "u1" }).out("assigned").entries()));
  console.log(JSON.stringify(requests(), null, 1));
  console.log(JSON.stringify(await db.task({ projectId: "p1", taskId: 1 }).in("assigned").nodes()));
  console.log(JSON.stringify(await db.task({ projectId: "p1", taskId: 1 }).out("mentions").entries()));
  console.log(JSON.stringify(await db.task({ projectId: "p1", taskId: 1 }).get({select: ["title", "projectId"]})));
  console.log(JSON.stringify(requests(), null, 1));
  console.log(JSON.stringify(await db.user({ userId: "u1" }).out("assigned").out("blocks").nodes()));
  console.log(JSON.stringify(requests(), null, 1));
  console.log(JSON.stringify(await db.task({ projectId: "p1", taskId: 2 }).in("blocks").in("assigned").ids()));
  console.log(JSON.stringify((await verify(db)).findings));
  sent = [];
  console.log(JSON.stringify(await db.task.delete({ projectId: "p1" }, { taskId: 1 }, { indexLag: 0 })));
  console.log(JSON.stringify(requests(), null, 1));
  console.log(JSON.stringify((await verify(db)).findings));
  const rows = []; for await (const row of db.scan()) rows.push(row); console.log(JSON.stringify(rows));
  await db.assigned.link({ userId: "u1" }, { projectId: "p1", taskId: 2 }, { at: "2026" }).orThrow();
  await db.blocks.link({ projectId: "p1", taskId: 2 }, { projectId: "p1", taskId: 3 }).orThrow();
  sent = [];
  console.log(JSON.stringify(await db.project.delete({ projectId: "p1" }, { indexLag: 0 })));
  console.log(JSON.stringify(requests(), null, 1));
  console.log(JSON.stringify((await verify(db)).findings));
  for await (const row of db.scan()) console.log(JSON.stringify(row));
});
