import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startEngine } from "@edgetable/local";
import { education } from "./model.ts";

// This test starts its own in-memory engine. There is nothing to install or clean up.
const engine = await startEngine();
const db = education.connect({ endpoint: engine.endpoint });

before(async () => {
  await db.table.create();
  await db.student.create({ studentId: "S1", name: "John Doe", email: "john@example.com" }).orThrow();
  await db.student.create({ studentId: "S2", name: "Jane Roe", email: "jane@example.com" }).orThrow();
  await db.course.create({ courseId: "C1", name: "Advanced Mathematics", credits: 3 }).orThrow();
  for (const studentId of ["S1", "S2"])
    await db.enrolledIn.link({ studentId }, { courseId: "C1" }, { enrolledAt: `2024-04-0${studentId.slice(1)}T10:00:00` }).orThrow();
});

after(async () => {
  await db.close();
  await engine.stop();
});

test("an email belongs to one student", async () => {
  const outcome = await db.student.create({ studentId: "S3", name: "Someone Else", email: "john@example.com" });
  assert.equal(outcome.ok ? "created" : outcome.reason, "notUnique");
});

test("lists a course's students in order of enrolment, with two requests", async () => {
  const { value, requests } = await db.course({ courseId: "C1" }).in("enrolledIn").entries().report();
  assert.deepEqual(
    value.map(({ node }) => node?.name),
    ["John Doe", "Jane Roe"],
  );
  assert.deepEqual(
    requests.map(({ operation }) => operation),
    ["Query", "BatchGetItem"],
  );
});
