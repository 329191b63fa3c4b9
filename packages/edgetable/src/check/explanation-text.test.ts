import { expect, test } from "vitest";
import { z } from "zod";
import { createLeanTransport, defineGraph, edge, node } from "../index.ts";
import { explanationText } from "./index.ts";

const text = z.string();
const graph = defineGraph({
  table: "Education",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: text, email: text }), unique: ["email"] }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: text }) }),
  },
  edges: { takes: edge({ from: "student", to: "course", schema: z.object({ grade: text }) }) },
});
// Nothing is sent.
const db = graph.connect({ transport: createLeanTransport({ endpoint: "http://127.0.0.1:1", region: "local" }) });
const john = db.student({ studentId: "S1" });

test("a read: its requests with their values, then the facts", async () => {
  const explanation = await john.out("takes").where({ grade: "A" }).nodes().explain();
  expect(explanationText(explanation)).toBe(`1  Query  0.5 RCU
   table   Education
   key     pk = "STUDENT#S1" AND begins_with(sk, "takes#COURSE#")
   filter  grade = "A"

2  BatchGetItem, after: the "to" of each edge  5 RCU
   input  keys of course, 100 a request

consistency  eventual
predicted    2 requests, 5.5 RCU
notes        filters grade after reading: items that do not match cost read units too
`);
});

test("a walk has its assumptions, once each", async () => {
  const shown = explanationText(await john.out("takes").in("takes").ids().explain());
  expect(shown).toContain("assuming     10 edges");
  expect(shown).toContain("Query × 10, after: ");
});

test("writes: a put, a transaction of several items, a batch", async () => {
  const put = await db.course.put({ courseId: "C1" }).explain();
  expect(explanationText(put)).toContain('item   pk = "COURSE#C1", sk = "#"');
  const link = explanationText(await db.takes.link({ studentId: "S1" }, { courseId: "C1" }, { grade: "A" }).explain());
  expect(link).toContain("1  TransactWriteItems  ");
  expect(link).toMatch(/ {3}put +pk = "STUDENT#S1", sk = "takes#COURSE#C1"/);
  expect(link).toMatch(/ {3}check +pk = "COURSE#C1", sk = "#"; condition attribute_exists\(pk\)/);
  expect(link).toContain("atomic     transaction of 3");
  const batch = await db.batch([db.course.put({ courseId: "C1" }), db.course.delete({ courseId: "C2" })]).explain();
  expect(explanationText(batch)).toContain('delete  pk = "COURSE#C2", sk = "#"');
});
