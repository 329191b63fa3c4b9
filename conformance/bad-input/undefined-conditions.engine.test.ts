import type { Search } from "edgetable";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTables, untyped, type Tables } from "./open-tables.ts";
import { expectRefusal } from "./refusal.ts";

/** A condition that is undefined is a mistake: without it the call would read or write more than it was meant to. */
let engine: Tables["engine"];
let own: Tables["own"];
let inOwn: Tables["inOwn"];

beforeAll(async () => {
  ({ engine, own, inOwn } = await openTables());
  await own.helps.link({ studentId: "S1" }, { studentId: "S1" }, { hours: 1 }).orThrow();
});
afterAll(() => engine.close());

const id = { studentId: "S1" };
const desk = { floor: 1, door: "a" };
const nothing = untyped(undefined);
const noName = untyped({ name: undefined });
const noHours = untyped({ hours: undefined });

const conditions: readonly (readonly [what: string, path: string, call: () => unknown])[] = [
  ["if of a put", "name", () => own.student.put({ ...id, name: "Bob" }, { if: noName })],
  ["if of an update", "name", () => own.student.update(id, { name: "Bob" }, { if: noName })],
  ["if of a deletion", "name", () => own.student.delete(id, { if: noName })],
  ["if with one operand", "name", () => own.student.delete(id, { if: { name: { eq: nothing } } })],
  ["if with one operand of two", "name", () => own.student.delete(id, { if: { name: { gte: "A", lt: nothing } } })],
  ["if of a part", "wide", () => own.desk.delete(desk, { desk: "D" }, { if: untyped({ wide: undefined }) })],
  ["if of relink", "hours", () => own.helps.relink(id, id, { hours: 2 }, { if: noHours })],
  ["if of unlink", "hours", () => own.helps.unlink(id, id, { if: noHours })],
  ["if of unlink, at an end", "to.studentId", () => own.helps.unlink(id, id, { if: untyped({ to: { studentId: undefined } }) })],
  ["if of unlink, a whole end", "to", () => own.helps.unlink(id, id, { if: untyped({ to: undefined }) })],
  ["where of neighbours", "hours", () => own.student(id).out("helps").where(noHours).edges()],
  [
    "where of neighbours, a whole end",
    "to",
    () =>
      own
        .student(id)
        .out("helps")
        .where(untyped({ to: undefined }))
        .edges(),
  ],
  ["where of edges by their ends", "hours", () => own.helps.getMany(id, [id], { where: noHours })],
  ["where of a search", "name", () => (own.find as (kind: string) => Search<unknown, object>)("student").where(noName).rows()],
  [
    "where of parts",
    "wide",
    () =>
      own
        .room(desk)
        .parts("desk")
        .where(untyped({ wide: undefined }))
        .all(),
  ],
  ["where of a walk", "hours", () => own.student(id).walk().out("helps").where(noHours).ids()],
  ["whereNode of a walk", "name", () => own.student(id).walk().out("helps").whereNode(noName).ids()],
  ["where of a hop", "hours", () => own.student(id).walk().repeat({ out: "helps", where: noHours }, { depth: 2 }).ids()],
  ["whereNode of a hop", "name", () => own.student(id).walk().repeat({ out: "helps", whereNode: noName }, { depth: 2 }).ids()],
];

test.each(conditions)("an undefined value is refused: %s", async (_, path, call) => {
  const says = [`"${path}" is undefined. Leave the key out`, "{ exists: false }"];
  const error = await expectRefusal(call, { code: "plan.invalidOption", says }, inOwn);
  expect(error.details).toMatchObject({ path });
});

const options: readonly (readonly [option: string, call: () => unknown])[] = [
  ["ifVersion", () => own.student.put({ ...id, name: "Bob" }, { ifVersion: nothing })],
  ["ifVersion", () => own.student.update(id, { name: "Bob" }, { ifVersion: nothing })],
  ["ifVersion", () => own.student.delete(id, { ifVersion: nothing })],
  ["ifVersion", () => own.desk.delete(desk, { desk: "D" }, { ifVersion: nothing })],
  ["ifVersion", () => own.helps.relink(id, id, { hours: 2 }, { ifVersion: nothing })],
  ["ifVersion", () => own.helps.unlink(id, id, { ifVersion: nothing })],
  ["if", () => own.student.delete(id, { if: nothing })],
  ["where", () => own.helps.getMany(id, [id], { where: nothing })],
  ["where", () => own.student(id).walk().repeat({ out: "helps", where: nothing }, { depth: 2 }).ids()],
  ["whereNode", () => own.student(id).walk().repeat({ out: "helps", whereNode: nothing }, { depth: 2 }).ids()],
];

test.each(options)("an option that is a condition is refused when it is undefined: %s", async (option, call) => {
  const says = [`${option} is undefined`, "Leave the option out"];
  const error = await expectRefusal(call, { code: "plan.invalidOption", says }, inOwn);
  expect(error.details).toMatchObject({ option });
});

test("an attribute without a comparison is refused", async () => {
  const says = ['The condition on "name" is empty', "{ eq: … }"];
  await expectRefusal(() => own.student.delete(id, { if: { name: {} } }), { code: "plan.invalidOption", says }, inOwn);
});

test("an undefined cursor means the first page", async () => {
  expect((await own.student(id).out("enrolledIn").page({ limit: 2, cursor: nothing })).items).toHaveLength(2);
});
