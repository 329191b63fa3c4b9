import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { checkGraph, describeItem } from "../check/index.ts";
import { defineGraph, edge, node, part, type Transport } from "../index.ts";
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
      note: part({ of: "project", key: "NOTE#{noteId}", schema: z.object({ noteId: text }) }),
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
      related: edge({ from: "task", to: "task", symmetric: true, onDelete: { from: "cascade" } }),
      leads: edge({ from: "user", to: "task", stored: "twice", maxDegree: { to: 1 }, onDelete: { to: "cascade" } }),
      mentions: edge({ from: ["note", "task"], to: ["user", "task"] }),
    },
  });

interface Request {
  readonly operation: string;
  readonly input: Record<string, unknown>;
}

let engine: TestEngine;
let table = "";
let graph: ReturnType<typeof graphOf>;
let db: ReturnType<typeof graph.connect>;
const sent: Request[] = [];
/** Called before a request goes out. */
let before: ((request: Request) => Promise<void> | void) | undefined;

const recorded = (transport: Transport): Transport => ({
  send: async (operation, input, options) => {
    const request = JSON.parse(JSON.stringify({ operation, input }).replaceAll(table, "T")) as Request;
    sent.push(request);
    await before?.(request);
    return transport.send(operation, input, options);
  },
  close: async () => undefined,
});

/** The requests since the last call of it, each as its operation, index and keys. */
const shown = (): readonly string[] =>
  sent.splice(0).map(({ operation, input }) => {
    const keys = [...JSON.stringify(input).matchAll(/"(?:pk|sk|:p|:s)":\{"S":"([^"]*)"\}/g)].map(([, key]) => key);
    return [operation, input["IndexName"], keys.join(" / ")].filter((one) => one !== undefined && one !== "").join(" ");
  });

const rows = async (): Promise<readonly object[]> => {
  const all: object[] = [];
  for await (const row of db.scan()) all.push(row);
  return all;
};
const edges = async (): Promise<readonly unknown[]> =>
  (await rows())
    .filter((row) => "edge" in row)
    .map((row) => JSON.stringify(row))
    .toSorted();

beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());
beforeEach(async () => {
  before = undefined;
  table = engine.freshTableName("ends");
  graph = graphOf(table);
  db = graph.connect({ transport: recorded(engine.transport), cursorSecret: "test".padEnd(43, "-") });
  await db.table.create();
  const tasks = [1, 2, 3].map((taskId) => ({ part: "task", owner: { projectId: "p" }, row: { taskId, title: `T${taskId}` } }) as const);
  await db.load([
    { node: "user", row: { userId: "ann", name: "Ann" } },
    { node: "user", row: { userId: "bob", name: "Bob" } },
    { node: "project", row: { projectId: "p" } },
    { part: "note", owner: { projectId: "p" }, row: { noteId: "n" } },
    ...tasks,
  ]);
  sent.length = 0;
});

const task = (taskId: number) => ({ projectId: "p", taskId });
const [ann, bob] = [{ userId: "ann" }, { userId: "bob" }];

describe("edges that lead to parts", () => {
  test("are linked by the part's id with its node's, and check the part's item", async () => {
    const outcome = await db.assigned.link(ann, task(1), { at: "2026" });
    expect(outcome).toMatchObject({ ok: true, row: { from: ann, to: task(1), at: "2026" }, atomic: { kind: "transaction", items: 3 } });
    expect(sent.splice(0)).toMatchObject([
      {
        operation: "TransactWriteItems",
        input: {
          TransactItems: [
            {
              Put: {
                Item: {
                  pk: { S: "USER#ann" },
                  sk: { S: "assigned#PROJECT#p#TASK#0001" },
                  gsi1pk: { S: "PROJECT#p#TASK#0001" },
                  gsi1sk: { S: "assigned#2026#USER#ann" },
                  gsi2pk: { S: "USER#ann" },
                  gsi2sk: { S: "assigned#2026#PROJECT#p#TASK#0001" },
                  type: { S: "assigned" },
                  at: { S: "2026" },
                },
                ConditionExpression: "attribute_not_exists(pk)",
              },
            },
            { ConditionCheck: { Key: { pk: { S: "USER#ann" }, sk: { S: "#" } } } },
            {
              ConditionCheck: {
                Key: { pk: { S: "PROJECT#p" }, sk: { S: "TASK#0001" } },
                ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(#0)",
                ExpressionAttributeNames: { "#0": "~deleting" },
              },
            },
          ],
        },
      },
    ]);
    expect(await db.assigned.get(ann, task(1))).toEqual({ from: ann, to: task(1), at: "2026" });
    expect(await db.user(ann).has("assigned", task(2))).toBe(false);
    expect(await db.assigned.link(ann, task(9), { at: "2026" })).toMatchObject({ ok: false, reason: "endMissing", end: "to", id: task(9) });
    expect(await db.assigned.unlink(ann, task(1))).toMatchObject({ ok: true });
    expect(await edges()).toEqual([]);
  });

  test("are read from both ends, with the parts that they lead to", async () => {
    await db.assigned.link(ann, task(2), { at: "2026" }).orThrow();
    await db.assigned.link(ann, task(1), { at: "2027" }).orThrow();
    await db.assigned.link(bob, task(1), { at: "2025" }).orThrow();
    await db.blocks.link(task(1), task(3)).orThrow();
    shown();
    expect(await db.user(ann).out("assigned").entries()).toEqual([
      { edge: { from: ann, to: task(2), at: "2026" }, node: { ...task(2), title: "T2" } },
      { edge: { from: ann, to: task(1), at: "2027" }, node: { ...task(1), title: "T1" } },
    ]);
    expect(shown()).toEqual(["Query ordered USER#ann / assigned#", "BatchGetItem PROJECT#p / TASK#0002 / PROJECT#p / TASK#0001"]);
    expect(
      await db
        .task(task(1))
        .in("assigned")
        .nodes({ select: ["name"] }),
    ).toEqual([{ name: "Bob" }, { name: "Ann" }]);
    expect(await db.task(task(1)).in("assigned").count()).toBe(2);
    expect(await db.task(task(1)).in("assigned").page({ limit: 1, of: "ids" })).toMatchObject({ items: [bob] });
    expect(
      await db
        .user(ann)
        .out("assigned")
        .where({ to: task(1) })
        .edges(),
    ).toHaveLength(1);
    shown();
    expect(
      await db
        .user(ann)
        .out("assigned")
        .nodes({ select: ["title", "projectId"] }),
    ).toEqual([
      { title: "T2", projectId: "p" },
      { title: "T1", projectId: "p" },
    ]);
    expect(await db.task(task(1)).out("blocks").consistent().ids()).toEqual([task(3)]);
    expect(await db.task(task(1)).get({ select: ["title"] })).toEqual({ title: "T1" });
    expect(shown()).toEqual([
      "Query ordered USER#ann / assigned#",
      "BatchGetItem PROJECT#p / TASK#0002 / PROJECT#p / TASK#0001",
      "Query PROJECT#p#TASK#0001 / blocks#PROJECT#",
      "GetItem PROJECT#p / TASK#0001",
    ]);
    // The node's own collection holds its parts, and no edge of theirs.
    expect(await db.project({ projectId: "p" }).collection()).toMatchObject({ edges: {}, parts: { task: [{}, {}, {}], note: [{}] } });
    expect((db.task(task(1)) as { readonly collection?: unknown }).collection).toBeUndefined();
  });

  test("may lead to nodes too, and then say which of them", async () => {
    await db.mentions.link({ type: "task", ...task(1) }, { type: "user", ...ann }).orThrow();
    await db.mentions.link({ projectId: "p", noteId: "n" }, task(1)).orThrow();
    expect(await db.task(task(1)).out("mentions").entries()).toEqual([
      {
        edge: { from: { type: "task", ...task(1) }, to: { type: "user", ...ann } },
        node: { kind: "user", row: { ...ann, name: "Ann" } },
      },
    ]);
    expect(await db.task(task(1)).in("mentions").nodes()).toEqual([{ kind: "note", row: { projectId: "p", noteId: "n" } }]);
    expect(() => db.task(task(1)).out("assigned" as "blocks")).toThrow('The source of the edge "assigned" is user, not "task".');
  });

  test("are walked, each frontier by the ids of its kind", async () => {
    await db.assigned.link(ann, task(1), { at: "1" }).orThrow();
    await db.blocks.link(task(1), task(2)).orThrow();
    await db.blocks.link(task(2), task(3)).orThrow();
    await db.assigned.link(bob, task(3), { at: "2" }).orThrow();
    shown();
    const walk = db.user(ann).out("assigned").walk().repeat({ out: "blocks" }, { depth: 2, emit: "last" }).in("assigned");
    expect((await walk.nodes()).items).toEqual([{ ...bob, name: "Bob" }]);
    expect(shown()).toEqual([
      "Query USER#ann / assigned#PROJECT#",
      "Query PROJECT#p#TASK#0001 / blocks#PROJECT#",
      "Query PROJECT#p#TASK#0002 / blocks#PROJECT#",
      "Query reverse PROJECT#p#TASK#0003 / assigned#",
      "BatchGetItem USER#bob / #",
    ]);
    expect((await db.task(task(1)).dependencies("blocks").ids()).items).toEqual([task(2), task(3)]);
    expect((await db.user(ann).out("assigned").walk().whereNode({ title: "T1", projectId: "p" }).nodes()).items).toEqual([
      { ...task(1), title: "T1" },
    ]);
    expect((await db.task(task(1)).shortestPath(task(3), { out: "blocks" })).items).toEqual([
      [1, 2, 3].map((taskId) => ({ type: "task", ...task(taskId) })),
    ]);
    const { next } = await db
      .user(ann)
      .out("assigned")
      .out("blocks")
      .ids({ budget: { requests: 1 } });
    expect((await db.user(ann).out("assigned").out("blocks").ids({ cursor: next })).items).toEqual([task(2)]);
    expect(await walk.explain()).toMatchObject({ cost: { requests: expect.any(Number) as number } });
  });

  test("are counted for a limit in a counter of the part's own", async () => {
    await db.leads.link(ann, task(1)).orThrow();
    expect(await db.leads.link(bob, task(1))).toMatchObject({ ok: false, reason: "degreeExceeded", edge: "leads", end: "to", limit: 1 });
    expect(shown().find((one) => one.includes("~degree"))).toContain("PROJECT#p#TASK#0001 / ~degree#leads#in");
    expect(await verify(db)).toMatchObject({ clean: true, kinds: [] });
    expect(await db.task.delete({ projectId: "p" }, { taskId: 1 })).toMatchObject({ ok: true });
    expect((await rows()).filter((row) => JSON.stringify(row).includes("leads"))).toEqual([]);
    expect(await verify(db)).toMatchObject({ clean: true, kinds: [] });
  });
});

describe("deleting", () => {
  const link = async (): Promise<void> => {
    await db.assigned.link(ann, task(1), { at: "1" }).orThrow();
    await db.blocks.link(task(1), task(2)).orThrow();
    await db.blocks.link(task(3), task(1)).orThrow();
    await db.related.link(task(1), task(3)).orThrow();
    await db.mentions.link({ type: "task", ...task(1) }, { type: "user", ...ann }).orThrow();
    shown();
  };

  test("a part takes its edges along, in one transaction", async () => {
    await link();
    expect(await db.task.delete({ projectId: "p" }, { taskId: 1 }, { indexLag: 0 })).toMatchObject({
      ok: true,
      row: { ...task(1), title: "T1" },
      atomic: { kind: "transaction", items: 8 },
    });
    const requests = shown();
    expect(requests.slice(0, -1)).toEqual([
      "GetItem PROJECT#p / TASK#0001",
      "TransactWriteItems PROJECT#p / TASK#0001 / ~job / delete$Ptask$P[$Rp$R,1]",
      "Query PROJECT#p#TASK#0001",
      "Query reverse PROJECT#p#TASK#0001 / assigned#",
      "Query reverse PROJECT#p#TASK#0001 / blocks#PROJECT#",
    ]);
    // The Queries run side by side: what they find is deleted in the order in which they answer.
    const found = ["PROJECT#p#TASK#0001 / blocks#PROJECT#p#TASK#0002", "PROJECT#p#TASK#0001 / related#PROJECT#p#TASK#0003"];
    const items = ["PROJECT#p#TASK#0001 / ~degree#leads#in", ...found, "PROJECT#p#TASK#0003 / related#PROJECT#p#TASK#0001"];
    const others = ["USER#ann / assigned#PROJECT#p#TASK#0001", "PROJECT#p#TASK#0003 / blocks#PROJECT#p#TASK#0001"];
    const inAnyOrder = (text: string): readonly string[] => text.split(/ \/ (?=PROJECT#|USER#|~job)/).toSorted();
    const last = `TransactWriteItems ${["PROJECT#p / TASK#0001", ...items, ...others, "~job / delete$Ptask$P[$Rp$R,1]"].join(" / ")}`;
    expect(inAnyOrder(requests.at(-1)!)).toEqual(inAnyOrder(last));
    // "mentions" leaves its edges, as an edge of nodes does.
    expect(await edges()).toEqual([expect.stringContaining("mentions")]);
    expect(await db.user(ann).in("mentions").entries()).toEqual([
      { edge: { from: { type: "task", ...task(1) }, to: { type: "user", ...ann } }, node: undefined },
    ]);
    expect(await verify(db)).toMatchObject({ clean: true, kinds: [{ kind: "leftEdge", count: 1 }] });
  });

  test("a node takes its parts and their edges along", async () => {
    await link();
    expect(await db.project.delete({ projectId: "p" }, { indexLag: 0 })).toMatchObject({
      ok: true,
      atomic: { kind: "transaction", items: 14 },
    });
    expect(await edges()).toEqual([expect.stringContaining("mentions")]);
    expect(await rows()).toHaveLength(3);
    expect(await verify(db)).toMatchObject({ clean: true, kinds: [{ kind: "leftEdge", count: 1 }] });
  });

  test("a node says what it reads for its parts", async () => {
    const { requests, notes } = await db.project.delete({ projectId: "p" }).explain();
    expect(requests).toHaveLength(2);
    expect(notes).toContain(
      'marks each "task" as it does the node, and removes its edges before it: 10 expected, 1 write unit to mark and 3 requests to find the edges of each',
    );
  });

  test("a node with more than a transaction holds is a job, which goes on where it stopped", async () => {
    const tasks = Array.from({ length: 35 }, (_, at) => at + 10);
    await db.load(tasks.map((taskId) => ({ part: "task", owner: { projectId: "p" }, row: { taskId, title: "" } }) as const));
    await db.load(
      tasks.flatMap((taskId) => [
        { edge: "assigned", from: ann, to: task(taskId), attributes: { at: "1" } } as const,
        { edge: "blocks", from: task(taskId), to: task(1) } as const,
      ]),
    );
    sent.length = 0;
    let left = 60;
    before = () => {
      if (--left < 0) throw new Error("the process ends");
    };
    // On a busy machine, the job's renewals fail first.
    await expect(db.project.delete({ projectId: "p" }, { indexLag: 0, lease: 1000 })).rejects.toThrow(/the process ends|lost its lease/);
    before = undefined;
    expect(await db.project({ projectId: "p" }).get()).toEqual({ projectId: "p" });
    // Whatever was removed, nothing is linked to what is left.
    expect(await db.assigned.link(bob, task(1), { at: "1" })).toMatchObject({ ok: false, reason: "endMissing" });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const { resumed } = await db.jobs.resumeAll({ indexLag: 0 });
    expect(await Promise.all(resumed.map(({ done }) => done))).toMatchObject([{ ok: true, atomic: { kind: "job" } }]);
    expect(await edges()).toEqual([]);
    expect(await rows()).toHaveLength(2);
    expect(await verify(db)).toMatchObject({ clean: true, kinds: [] });
  });

  test("a part that is written anew meanwhile loses the edges that it had, and goes with its node", async () => {
    await db.assigned.link(ann, task(1), { at: "1" }).orThrow();
    let done = false;
    const other = graph.connect({ transport: engine.transport });
    before = async ({ operation, input }) => {
      if (done || operation !== "TransactWriteItems" || !JSON.stringify(input).includes("assigned#")) return;
      done = true;
      await other.task.put({ projectId: "p" }, { taskId: 1, title: "again" }).orThrow();
      await other.assigned.link(bob, task(1), { at: "2" }).orThrow();
    };
    expect(await db.project.delete({ projectId: "p" }, { indexLag: 0 })).toMatchObject({ ok: true });
    expect(done).toBe(true);
    expect(await edges()).toEqual([]);
    expect(await verify(db)).toMatchObject({ clean: true, kinds: [] });
  });

  test("a part is left to the job that deletes its node", async () => {
    before = ({ operation, input }) => {
      if (operation === "TransactWriteItems" && JSON.stringify(input).includes('"Delete"')) throw new Error("the process ends");
    };
    // On a busy machine, the job's renewals fail first.
    await expect(db.project.delete({ projectId: "p" }, { indexLag: 0, lease: 1000 })).rejects.toThrow(/the process ends|lost its lease/);
    before = undefined;
    await expect(db.task.delete({ projectId: "p" }, { taskId: 1 })).rejects.toMatchObject({ code: "job.busy" });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await db.project.delete({ projectId: "p" }, { indexLag: 0 })).toMatchObject({ ok: true });
    expect(await verify(db)).toMatchObject({ clean: true, kinds: [] });
  });

  test("a part with edges is not for a batch or a transaction of several calls", async () => {
    expect(() => db.transact([db.task.delete({ projectId: "p" }, { taskId: 1 })])).toThrow(
      'Deleting "task" also deletes its parts or edges',
    );
    await expect(db.batch([db.task.delete({ projectId: "p" }, { taskId: 1 })])).rejects.toThrow("takes its parts or edges along");
    await db.batch([db.note.delete({ projectId: "p" }, { noteId: "n" })]);
  });
});

test("a scan gives the edges of parts, and a load takes them", async () => {
  await db.assigned.link(ann, task(1), { at: "1" }).orThrow();
  await db.mentions.link({ projectId: "p", noteId: "n" }, task(1)).orThrow();
  const all = await rows();
  const copy = graphOf(engine.freshTableName("copy")).connect({ transport: engine.transport });
  await copy.table.create();
  const isEdge = (row: object): boolean => "edge" in row;
  type LoadRows = Parameters<typeof copy.load>[0];
  expect(await copy.load(all.filter((row) => !isEdge(row)) as LoadRows)).toMatchObject({ failures: [] });
  expect(await copy.load(all.filter(isEdge) as LoadRows, { ends: "checked" })).toMatchObject({ failures: [] });
  const again: unknown[] = [];
  for await (const row of copy.scan()) again.push(row);
  expect(again.map((row) => JSON.stringify(row)).toSorted()).toEqual(all.map((row) => JSON.stringify(row)).toSorted());
});

test("a verification finds and repairs edges that lead to no part", async () => {
  await db.assigned.link(ann, task(1), { at: "1" }).orThrow();
  const Key = { pk: { S: "PROJECT#p" }, sk: { S: "TASK#0001" } };
  await engine.transport.send("DeleteItem", { TableName: table, Key });
  expect(await verify(db)).toMatchObject({
    clean: false,
    kinds: [{ kind: "dangling", count: 1, examples: [{ reason: 'There is no "task" at its end "to".' }] }],
  });
  expect(await verify(db, { repair: true, deleteOrphans: true })).toMatchObject({ clean: true });
  expect(await edges()).toEqual([]);
});

test("an item's description names the parts at its ends", async () => {
  await db.assigned.link(ann, task(1), { at: "1" }).orThrow();
  const Key = { pk: { S: "USER#ann" }, sk: { S: "assigned#PROJECT#p#TASK#0001" } };
  const { Item = {} } = await engine.transport.send("GetItem", { TableName: table, Key });
  expect(describeItem(graph, Item)).toMatchObject({
    kind: "edge",
    name: "assigned",
    ends: [{ role: "to", type: "task", id: task(1), partition: "PROJECT#p#TASK#0001" }],
  });
});

test("a tenant's connection fills its own id in at parts too, and reaches no other tenant's", async () => {
  const rented = defineGraph({
    table: engine.freshTableName("rented"),
    nodes: {
      user: node({ key: "T#{tenantId}#USER#{userId}", schema: z.object({ tenantId: text, userId: text }) }),
      project: node({ key: "T#{tenantId}#PROJECT#{projectId}", schema: z.object({ tenantId: text, projectId: text }) }),
    },
    parts: { task: part({ of: "project", key: "TASK#{taskId}", schema: z.object({ taskId: text }) }) },
    edges: {
      assigned: edge({ from: "user", to: "task", maxDegree: { to: 2 }, onDelete: { to: "cascade" } }),
      blocks: edge({ from: "task", to: "task", onDelete: { from: "cascade" } }),
    },
  }).connect({ transport: engine.transport });
  await rented.table.create();
  for (const tenantId of ["a", "b"]) {
    const own = rented.as({ tenantId });
    await own.user.create({ userId: "u" }).orThrow();
    await own.project.create({ projectId: "p" }).orThrow();
    await own.task.create({ projectId: "p" }, { taskId: tenantId }).orThrow();
    await own.assigned.link({ userId: "u" }, { projectId: "p", taskId: tenantId }).orThrow();
  }
  const own = rented.as({ tenantId: "a" });
  expect(await own.user({ userId: "u" }).out("assigned").nodes()).toEqual([{ tenantId: "a", projectId: "p", taskId: "a" }]);
  expect(await own.task({ projectId: "p", taskId: "a" }).in("assigned").count()).toBe(1);
  expect(await own.assigned.link({ userId: "u" }, { projectId: "p", taskId: "b" })).toMatchObject({ ok: false, reason: "endMissing" });
  expect(() => own.task({ tenantId: "b", projectId: "p", taskId: "b" } as never)).toThrow("this connection's is");
  expect(await own.task.delete({ projectId: "p" }, { taskId: "a" }, { indexLag: 0 })).toMatchObject({ ok: true });
  expect(await own.user({ userId: "u" }).out("assigned").count()).toBe(0);
  expect(await own.project.delete({ projectId: "p" }, { indexLag: 0 })).toMatchObject({ ok: true });
  expect(await rented.as({ tenantId: "b" }).user({ userId: "u" }).out("assigned").count()).toBe(1);
});

test("advice is about the partitions of nodes", () => {
  expect(checkGraph(graph).map(({ definition, message }) => `${definition}: ${message}`)).toEqual([
    'assigned: collection() of "user" reads all its "assigned" edges, and nothing bounds their number.',
    'leads: collection() of "user" reads all its "leads" edges, and nothing bounds their number.',
  ]);
});
