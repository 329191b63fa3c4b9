import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { edge, node } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

const named = (key: string, field: string) =>
  node({ key: `${key}#{${field}}` as "X#{id}", schema: z.object({ [field]: z.string(), name: z.string().optional() }) as never });
const student = named("STUDENT", "studentId");
const course = named("COURSE", "courseId");

const enrolledIn = edge({
  from: "student",
  to: "course",
  schema: z.object({ at: z.string(), grade: z.string().optional(), term: z.string() }),
  orderBy: "at",
  key: ["term"],
});
const friendOf = edge({
  from: "student",
  to: "student",
  symmetric: true,
  schema: z.object({ since: z.string(), nick: z.string().optional() }),
  ends: "unchecked",
});
const bestFriendOf = edge({
  from: "student",
  to: "student",
  symmetric: true,
  schema: z.object({ since: z.string(), nick: z.string().optional() }),
  maxDegree: { from: 1 },
});
const teaches = edge({
  from: "student",
  to: "course",
  stored: "twice",
  schema: z.object({ a: z.string(), b: z.string() }),
  sides: { from: ["a"], to: ["b"] },
  onDelete: { to: "restrict" },
});
const mentors = edge({ from: "student", to: "student", multiplicity: "one-to-many", maxDegree: { from: 2 }, ends: "unchecked" });
const likes = edge({ from: "student", to: ["student", "course"], ends: "unchecked" });
const lovers = edge({ from: "student", to: ["student", "course"], ends: "unchecked", schema: z.object({ much: z.string() }) });
const thesis = node({ key: "THESIS#{thesisId}", schema: z.object({ thesisId: z.string(), studentId: z.string() }) });
const owes = edge({
  from: "student",
  to: ["student", "course"],
  ends: "unchecked",
  schema: z.object({ much: z.string().transform(async (text) => `${text}!`) }),
});
const writtenBy = edge({ from: "thesis", to: "student", stored: "reference" });

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({
    table: "Edges",
    nodes: { student, course, thesis },
    edges: { enrolledIn, friendOf, bestFriendOf, teaches, mentors, likes, lovers, owes, writtenBy } as never,
  });
  for (const id of ["S1", "S2", "S3", "S4"]) await lab.node("student").create({ studentId: id }).orThrow();
  for (const id of ["C1", "C2"]) await lab.node("course").create({ courseId: id }).orThrow();
});
afterAll(() => lab.stop());
beforeEach(() => {
  lab.sent.length = 0;
});

const S = (studentId: string) => ({ studentId });
const C = (courseId: string) => ({ courseId });
const codeOf = async (act: () => unknown): Promise<string> => {
  try {
    await act();
    return "none";
  } catch (error) {
    return error instanceof EdgetableError ? error.code : String(error);
  }
};
const keys = async (part: string): Promise<readonly string[]> =>
  Object.keys(await lab.items())
    .filter((key) => key.includes(part))
    .toSorted();

test("link writes the edge and checks both ends in one transaction", async () => {
  const outcome = await lab.edge("enrolledIn").link(S("S1"), C("C1"), { at: "2024", term: "T1" });
  expect(outcome).toMatchObject({
    ok: true,
    row: { from: S("S1"), to: C("C1"), at: "2024", term: "T1" },
    atomic: { kind: "transaction", items: 3 },
  });
  const items = lab.sent[0]?.input.TransactItems;
  expect(items[0].Put.Item).toEqual({
    pk: { S: "STUDENT#S1" },
    sk: { S: "enrolledIn#COURSE#C1#T1" },
    gsi1pk: { S: "COURSE#C1" },
    gsi1sk: { S: "enrolledIn#2024#STUDENT#S1#T1" },
    gsi2pk: { S: "STUDENT#S1" },
    gsi2sk: { S: "enrolledIn#2024#COURSE#C1#T1" },
    type: { S: "enrolledIn" },
    at: { S: "2024" },
  });
  expect(items[1]).toEqual({
    ConditionCheck: {
      TableName: "Edges",
      Key: { pk: { S: "STUDENT#S1" }, sk: { S: "#" } },
      ConditionExpression: "attribute_exists(pk)",
      ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    },
  });
  expect(await lab.edge("enrolledIn").link(S("S1"), C("C1"), { at: "2025", term: "T1" })).toMatchObject({
    ok: false,
    reason: "exists",
    current: { at: "2024" },
  });
  expect(await lab.edge("enrolledIn").link(S("S1"), C("C9"), { at: "2025", term: "T1" })).toMatchObject({
    ok: false,
    reason: "endMissing",
    end: "to",
    id: C("C9"),
  });
});

test("relink moves an edge in its order by one UpdateItem that rewrites every index key", async () => {
  const outcome = await lab
    .edge("enrolledIn")
    .relink(S("S1"), C("C1"), { at: "2030", grade: "A" }, { key: { term: "T1" }, if: { at: "2024" } });
  expect(outcome).toMatchObject({ ok: true, row: { from: S("S1"), to: C("C1"), at: "2030", grade: "A", term: "T1" } });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["UpdateItem"]);
  expect((await lab.items())["STUDENT#S1 / enrolledIn#COURSE#C1#T1"]).toMatchObject({
    gsi1sk: { S: "enrolledIn#2030#STUDENT#S1#T1" },
    gsi2sk: { S: "enrolledIn#2030#COURSE#C1#T1" },
    at: { S: "2030" },
  });
  expect(await codeOf(() => lab.edge("enrolledIn").relink(S("S1"), C("C1"), { term: "T2" }, { key: { term: "T1" } }))).toBe(
    "schema.immutableAttribute",
  );
  expect(await codeOf(() => lab.edge("enrolledIn").relink(S("S1"), C("C1"), { grade: "B" }))).toBe("schema.invalidValue");
});

test("unlink is one DeleteItem that gives the edge", async () => {
  expect(await lab.edge("enrolledIn").unlink(S("S1"), C("C1"), { key: { term: "T1" } })).toMatchObject({
    ok: true,
    row: { grade: "A" },
    atomic: { kind: "item" },
  });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["DeleteItem"]);
  expect(await lab.edge("enrolledIn").unlink(S("S1"), C("C1"), { key: { term: "T1" } })).toMatchObject({ ok: false, reason: "notFound" });
});

test("a symmetric edge is written, changed and removed at both ends together", async () => {
  const friends = lab.edge("friendOf");
  expect(await friends.link(S("S1"), S("S2"), { since: "2020", nick: "two" }, { reverse: { nick: "one" } })).toMatchObject({
    ok: true,
    atomic: { items: 2 },
  });
  expect((await lab.items())["STUDENT#S2 / friendOf#STUDENT#S1"]).toMatchObject({ since: { S: "2020" }, nick: { S: "one" } });
  expect(await friends.link(S("S2"), S("S1"), { since: "2021" })).toMatchObject({ ok: false, reason: "exists" });
  expect(await friends.relink(S("S2"), S("S1"), { since: "2022" })).toMatchObject({ ok: true });
  expect((await lab.items())["STUDENT#S1 / friendOf#STUDENT#S2"]).toMatchObject({ since: { S: "2022" }, nick: { S: "two" } });
  expect(await friends.link(S("S3"), S("S3"), { since: "2020" })).toMatchObject({ ok: true, atomic: { kind: "item" } });
  expect(await friends.unlink(S("S1"), S("S2"))).toMatchObject({ ok: true });
  expect(await keys("friendOf")).toEqual(["STUDENT#S3 / friendOf#STUDENT#S3"]);
});

test("an edge stored twice holds on each side what that side is for, and restricts deletion", async () => {
  expect(await lab.edge("teaches").link(S("S1"), C("C2"), { a: "1", b: "2" })).toMatchObject({ ok: true });
  const items = await lab.items();
  expect(items["STUDENT#S1 / teaches#COURSE#C2"]).toMatchObject({ a: { S: "1" }, type: { S: "teaches" } });
  expect(items["STUDENT#S1 / teaches#COURSE#C2"]).not.toHaveProperty("b");
  expect(items["COURSE#C2 / ~teaches#STUDENT#S1"]).toMatchObject({ b: { S: "2" }, type: { S: "~teaches" } });
  expect(items["COURSE#C2 / ~degree#teaches#in"]).toMatchObject({ "~count": { N: "1" }, type: { S: "~degree" } });
  expect(await lab.edge("teaches").relink(S("S1"), C("C2"), { b: "3" })).toMatchObject({ ok: true });
  expect((await lab.items())["COURSE#C2 / ~teaches#STUDENT#S1"]).toMatchObject({ b: { S: "3" } });
  expect(await lab.node("course").delete(C("C2"))).toMatchObject({ ok: false, reason: "hasEdges", edge: "teaches", end: "to" });
  const both = await lab.transact([lab.edge("teaches").unlink(S("S1"), C("C2")), lab.node("course").delete(C("C2"))]);
  expect(both).toMatchObject({ ok: true, outcomes: [{ ok: true }, { ok: true }] });
  expect(await keys("C2")).toEqual([]);
});

test("a degree is limited exactly, also when several links race", async () => {
  const mentors = lab.edge("mentors");
  const outcomes = await Promise.all(["S2", "S3", "S4"].map((id) => mentors.link(S("S1"), S(id))));
  expect(outcomes.filter((outcome) => outcome.ok)).toHaveLength(2);
  expect(outcomes.find((outcome) => !outcome.ok)).toMatchObject({ reason: "degreeExceeded", edge: "mentors", end: "from", limit: 2 });
  const linked = outcomes.findIndex((outcome) => outcome.ok);
  const id = ["S2", "S3", "S4"][linked]!;
  expect(await mentors.link(S("S4"), S(id))).toMatchObject({ ok: false, reason: "degreeExceeded", end: "to", limit: 1 });
  expect(await mentors.unlink(S("S1"), S(id))).toMatchObject({ ok: true });
  expect(await mentors.link(S("S4"), S(id))).toMatchObject({ ok: true });
  expect((await lab.items())["STUDENT#S1 / ~degree#mentors#out"]).toMatchObject({ "~count": { N: "1" } });
});

test("several links of one transaction count at their common node together", async () => {
  const best = lab.edge("bestFriendOf");
  const two = await lab.transact([best.link(S("S1"), S("S2"), { since: "1" }), best.link(S("S1"), S("S3"), { since: "1" })]);
  expect(two).toMatchObject({ ok: false, outcomes: [{ reason: "degreeExceeded" }, { reason: "degreeExceeded" }] });
  expect(await keys("bestFriendOf")).toEqual([]);
});

test("an edge changes its type with what it holds", async () => {
  await lab.edge("friendOf").link(S("S1"), S("S4"), { since: "2020", nick: "four" }, { reverse: { nick: "one" } });
  lab.sent.length = 0;
  expect(await lab.edge("friendOf").relink(S("S1"), S("S4"), {}, { type: "bestFriendOf" })).toMatchObject({
    ok: true,
    row: { since: "2020", nick: "four" },
  });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["BatchGetItem", "Query", "Query", "TransactWriteItems"]);
  const items = await lab.items();
  expect(items["STUDENT#S4 / bestFriendOf#STUDENT#S1"]).toMatchObject({ nick: { S: "one" } });
  expect(Object.keys(items).filter((key) => key.includes("/ friendOf"))).toEqual(["STUDENT#S3 / friendOf#STUDENT#S3"]);
  await lab.edge("likes").link(S("S1"), { type: "course", ...C("C1") });
  expect(await codeOf(() => lab.edge("likes").relink(S("S1"), C("C1"), {}, { type: "lovers" }))).toBe("schema.invalidValue");
  expect(await lab.edge("likes").relink(S("S1"), C("C1"), { much: "very" }, { type: "lovers" })).toMatchObject({
    ok: true,
    row: { to: { type: "course", courseId: "C1" } },
  });
});

test("an edge that takes on a type with an asynchronous schema is stored as that schema gives it back", async () => {
  await lab.edge("likes").link(S("S4"), { type: "course", ...C("C1") });
  lab.sent.length = 0;
  const retyped = lab.edge("likes").relink(S("S4"), { type: "course", ...C("C1") }, { much: "a lot" }, { type: "owes" });
  expect(await retyped).toMatchObject({ ok: true, row: { much: "a lot!" } });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["GetItem", "TransactWriteItems"]);
});

test("misuse of edges is refused", async () => {
  expect(await codeOf(() => lab.edge("writtenBy").link({ thesisId: "T1" }, S("S1")))).toBe("plan.unsupported");
  expect(await codeOf(() => lab.edge("likes").link(S("S1"), { type: "cours", courseId: "C1" }))).toBe("schema.unknownNode");
  expect(await codeOf(() => lab.edge("likes").link(S("S1"), { nothing: "C1" }))).toBe("schema.unknownNode");
  expect(await codeOf(() => lab.edge("friendOf").relink(S("S1"), S("S2"), {}, { type: "frendOf" }))).toBe("schema.unknownEdge");
  expect(await codeOf(() => lab.edge("friendOf").link(S("S1"), S("S2"), { sinze: "x" }))).toBe("schema.unknownAttribute");
  expect(lab.sent).toEqual([]);
});

test("a transaction takes its calls apart: an end created in it needs no check, one item is written once", async () => {
  const students = lab.node("student");
  const call = lab.transact([students.create(S("N1")), lab.edge("enrolledIn").link(S("N1"), C("C1"), { at: "1", term: "T" })]);
  expect(await call.explain()).toMatchObject({ kind: "write", atomic: { kind: "transaction", items: 3 } });
  expect(await call).toMatchObject({ ok: true, outcomes: [{ ok: true }, { ok: true, row: { at: "1" } }] });
  expect(lab.sent[0]?.input.TransactItems.map((item: object) => Object.keys(item)[0])).toEqual(["Put", "Put", "ConditionCheck"]);
  const failed = await lab.transact([students.create(S("N1")), students.update(S("S2"), { name: "x" })]);
  expect(failed).toMatchObject({ ok: false, outcomes: [{ reason: "exists" }, { reason: "rolledBack" }] });
  expect(await codeOf(() => lab.transact([students.update(S("S1"), { name: "x" }), students.delete(S("S1"))]))).toBe("plan.unsupported");
  expect(await codeOf(() => lab.transact([]))).toBe("plan.invalidOption");
  expect(await codeOf(() => lab.transact([Promise.resolve() as never]))).toBe("plan.invalidOption");
  const many = Array.from({ length: 101 }, (_, at) => students.create(S(`M${at}`)));
  expect(await codeOf(() => lab.transact(many))).toBe("request.transactionTooLarge");
});

test("a transaction refuses calls that were awaited, and calls that are not single writes", async () => {
  const students = lab.node("student");
  const call = students.create(S("N7"));
  await call.run();
  // Every run makes the call anew, so it may be part of a transaction as well.
  expect(await lab.transact([call])).toMatchObject({ ok: false, outcomes: [{ reason: "exists" }] });
  await call;
  const wrong = (message: string) => expect.objectContaining({ code: "plan.invalidOption", message });
  expect(() => lab.transact([students.create(S("N8")), call])).toThrow(
    wrong("Call 2 was already awaited, and would be sent again. Pass write calls that were not awaited, such as db.student.put({ ... })."),
  );
  expect(() => lab.transact([lab.transact([students.create(S("N8"))]) as never])).toThrow(
    wrong("Call 1 is not a single write. Reads, batches and other transactions cannot be part of a transaction or batch."),
  );
});

test("a condition that fails in a transaction is told to the call that set it alone", async () => {
  const created = await lab.transact([lab.edge("friendOf").link(S("S1"), S("S3"), { since: "x" }), lab.node("student").create(S("S1"))]);
  expect(created).toMatchObject({ ok: false, outcomes: [{ reason: "rolledBack" }, { reason: "exists" }] });
  const changed = await lab.transact([
    lab.edge("friendOf").link(S("S1"), S("nobody"), { since: "x" }),
    lab.node("student").update(S("nobody"), { name: "x" }),
  ]);
  expect(changed).toMatchObject({ ok: false, outcomes: [{ reason: "rolledBack" }, { reason: "notFound" }] });
});
