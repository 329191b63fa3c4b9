import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, offline } from "../index.ts";

const graph = defineGraph({
  table: "College",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string() }) }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string(), title: z.string() }) }),
  },
  edges: { enrolledIn: edge({ from: "student", to: "course", schema: z.object({ at: z.string() }), orderBy: "at" }) },
});
const db = graph.connect({ transport: offline });

test("explain() tells what a read asks, in graph words, beside the physical plan", async () => {
  const call = db
    .student({ studentId: "S1" })
    .out("enrolledIn")
    .where({ at: { gte: "2026" } })
    .entries();
  const { logical, plan } = await call.explain();
  expect(logical).toMatchObject({
    kind: "hydrate",
    input: {
      kind: "filter",
      conditions: [{ path: "at" }],
      input: { kind: "expand", node: "student", edge: "enrolledIn", direction: "out" },
    },
  });
  // A rule has moved the condition into the key: the physical plan has no filter.
  expect(plan.sources).toMatchObject([{ kind: "query", index: "ordered", filter: [] }]);
});

test("a second call of the same form has the same logical plan", async () => {
  const [first, second] = await Promise.all(["S1", "S2"].map((studentId) => db.student({ studentId }).get().explain()));
  expect(first?.logical).toMatchObject({ kind: "lookup", of: "node", name: "student" });
  expect(second?.logical).toBe(first?.logical);
});

test("explain() tells the steps of a walk before its rules", async () => {
  const { logical } = await db.student({ studentId: "S1" }).out("enrolledIn").in("enrolledIn").dedupe().ids().explain();
  expect(logical.steps.map((step) => step.kind)).toEqual(["hop", "hop", "dedupe"]);
});
