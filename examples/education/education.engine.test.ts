import { expect, test } from "vitest";
import { describeExample } from "../test-support/describe-example.ts";
import type { ExampleLab } from "../test-support/example-lab.ts";
import { education, type EducationDb } from "./model.ts";
import { system } from "./system.ts";

const [example] = await system.tables();

const further = (lab: () => ExampleLab): void => {
  const connect = (): EducationDb => education.connect({ transport: lab().transport });
  const alice = { studentId: "S9" };
  const physics = { courseId: "C2" };

  test("a student enrols, is graded and leaves, and a course is renamed, each in one place", async () => {
    const db = connect();
    await db.student.create({ ...alice, name: "Alice Ito", email: "alice@example.com", yearLevel: 1 }).orThrow();
    await db.enrolledIn.link(alice, physics, { enrolledAt: "2024-04-01T08:00:00" }).orThrow();
    await db.enrolledIn.relink(alice, physics, { grade: "B" }).orThrow();
    expect(await db.enrolledIn.get(alice, physics)).toEqual({ from: alice, to: physics, enrolledAt: "2024-04-01T08:00:00", grade: "B" });
    await db.course.update(physics, { name: "Physics 102" }).orThrow();
    const [entry] = await db.student(alice).out("enrolledIn").entries();
    expect(entry?.node?.name).toBe("Physics 102");
    await db.enrolledIn.unlink(alice, physics).orThrow();
    expect(await db.student(alice).has("enrolledIn", physics)).toBe(false);
  });

  test("a second enrolment in the same course, and one in a course that is not there, do not happen", async () => {
    const db = connect();
    const again = await db.enrolledIn.link({ studentId: "S1" }, { courseId: "C1" }, { enrolledAt: "2024-04-01T08:00:00" });
    expect(again).toMatchObject({ ok: false, reason: "exists" });
    const nowhere = await db.enrolledIn.link({ studentId: "S1" }, { courseId: "C7" }, { enrolledAt: "2024-04-01T08:00:00" });
    expect(nowhere).toMatchObject({ ok: false, reason: "endMissing", end: "to" });
  });
};

describeExample("education", example!, { seed: "education.json", further });
