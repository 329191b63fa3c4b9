import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";

const text = z.string();
const user = node({ key: "USER#{userId}", schema: z.object({ userId: text, name: text }) });
const project = node({ key: "PROJECT#{projectId}", schema: z.object({ projectId: text }) });
const task = part({ of: "project", key: "TASK#{taskId:4}", schema: z.object({ taskId: z.int(), title: text }) });
const note = part({ of: "project", key: "NOTE#{noteId}", schema: z.object({ noteId: text }) });

const db = defineGraph({
  table: "Ends",
  nodes: { user, project },
  parts: { task, note },
  edges: {
    assigned: edge({ from: "user", to: "task", schema: z.object({ at: text }), orderBy: "at" }),
    blocks: edge({ from: "task", to: "task" }),
    mentions: edge({ from: "task", to: ["user", "task"] }),
  },
}).connect();

interface TaskId {
  readonly projectId: string;
  readonly taskId: number;
}
interface Task extends TaskId {
  readonly title: string;
}

describe("edges that lead to parts", () => {
  test("are addressed by the part's id with its node's", () => {
    expectTypeOf<Parameters<typeof db.assigned.link>[1]>().toExtend<TaskId>();
    // @ts-expect-error -- the node's id is missing
    void db.assigned.link({ userId: "u" }, { taskId: 1 }, { at: "2026" });
    // @ts-expect-error -- the part's id is a number
    void db.assigned.link({ userId: "u" }, { projectId: "p", taskId: "1" }, { at: "2026" });
    void db.assigned.link({ userId: "u" }, { projectId: "p", taskId: 1 }, { at: "2026" });
    void db.mentions.link({ projectId: "p", taskId: 1 }, { type: "user", userId: "u" });
    // @ts-expect-error -- notes are not at its ends
    void db.mentions.link({ projectId: "p", taskId: 1 }, { type: "note", projectId: "p", noteId: "n" });
  });

  test("give the parts' rows with the id of their node", async () => {
    const [row] = await db.user({ userId: "u" }).out("assigned").nodes();
    expectTypeOf(row!).toEqualTypeOf<{ readonly projectId: string; readonly taskId: number; readonly title: string }>();
    const [entry] = await db.user({ userId: "u" }).out("assigned").entries({ select: ["title"] });
    expectTypeOf(entry!.node!).toExtend<{ readonly title: string }>();
    const [mention] = await db.task({ projectId: "p", taskId: 1 }).out("mentions").nodes();
    expectTypeOf(mention!.kind).toEqualTypeOf<"user" | "task">();
    expectTypeOf(await db.task({ projectId: "p", taskId: 1 }).get()).toExtend<Task | undefined>();
  });

  test("are walked", async () => {
    const { items } = await db.user({ userId: "u" }).out("assigned").out("blocks").in("assigned").nodes();
    expectTypeOf(items).toExtend<readonly { readonly name: string }[]>();
    const ids = await db.task({ projectId: "p", taskId: 1 }).dependencies("blocks").ids();
    expectTypeOf(ids.items[0]!).toExtend<TaskId>();
    void db.user({ userId: "u" }).walk().out("assigned").whereNode({ title: "T" });
    // @ts-expect-error -- the part has no such attribute
    void db.user({ userId: "u" }).walk().out("assigned").whereNode({ titel: "T" });
  });

  test("are found by `find`, scanned and loaded with these ids", async () => {
    void db.load([{ edge: "assigned", from: { userId: "u" }, to: { projectId: "p", taskId: 1 }, attributes: { at: "2026" } }]);
    // @ts-expect-error -- the node's id is missing
    void db.load([{ edge: "assigned", from: { userId: "u" }, to: { taskId: 1 }, attributes: { at: "2026" } }]);
    for await (const row of db.scan()) if ("edge" in row && row.edge === "blocks") expectTypeOf(row.to).toExtend<TaskId>();
  });

  test("are not at every part", () => {
    // @ts-expect-error -- no edge leads to notes
    void db.note({ projectId: "p", noteId: "n" });
    // @ts-expect-error -- it is the target of `assigned`, and not its source
    void db.task({ projectId: "p", taskId: 1 }).out("assigned");
    // @ts-expect-error -- a part is in the collection of its node
    void db.task({ projectId: "p", taskId: 1 }).collection();
    void db.task.delete({ projectId: "p" }, { taskId: 1 }, { indexLag: 0 }).start();
  });
});

test("an end that is neither a node type nor a part is named", () => {
  void defineGraph({
    table: "Ends",
    nodes: { user, project },
    parts: { task },
    // @ts-expect-error -- There is no node type "tsk".
    edges: { assigned: edge({ from: "user", to: "tsk" }) },
  });
});
