import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { edge, node, part } from "../schema/definition.ts";
import { count } from "../schema/derived.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";

const student = node({
  key: "STUDENT#{studentId}",
  schema: z.object({ studentId: z.string(), name: z.string().trim(), visits: z.int().optional(), first: z.string().optional() }),
});
const account = node({
  key: "ACCOUNT#{id}",
  schema: z.object({ id: z.string(), email: z.string(), note: z.string().optional() }),
  unique: ["email"],
  version: true,
});
const session = node({
  key: "SESSION#{id}",
  schema: z.object({ id: z.string(), until: z.number(), by: z.string().optional() }),
  ttl: "until",
});
const course = node({
  key: "COURSE#{courseId}",
  schema: z.object({ courseId: z.string(), name: z.string() }),
  derived: { students: count({ in: "takes" }) },
});
const line = part({ of: "student", key: "LINE#{n:4}", schema: z.object({ n: z.int(), text: z.string() }) });
const takes = edge({
  from: "student",
  to: "course",
  schema: z.object({ at: z.string(), grade: z.string().optional(), course: z.string().optional() }),
  orderBy: "at",
  maxDegree: { from: 2 },
});
const rated = edge({
  from: "student",
  to: "course",
  schema: z.object({ term: z.string(), stars: z.int() }),
  key: ["term"],
  stored: "twice",
});

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({
    table: "Upserts",
    nodes: { student, account, session, course },
    parts: { line },
    edges: { takes, rated },
  } as never);
  await lab.node("course").create({ courseId: "C1", name: "Algebra" });
  await lab.node("course").create({ courseId: "C2", name: "Logic" });
  await lab.node("course").create({ courseId: "C3", name: "Sets" });
});
afterAll(() => lab.stop());
beforeEach(() => {
  lab.sent.length = 0;
  lab.hooks = {};
});

const operations = (): readonly string[] => lab.sent.map(({ operation }) => operation);

const failing = async (act: PromiseLike<unknown>): Promise<EdgetableError> => {
  try {
    await act;
  } catch (error) {
    if (error instanceof EdgetableError) return error;
    throw error;
  }
  throw new Error("it did not fail");
};

test("an upsert of what exists is one UpdateItem, of what does not a refused one and a PutItem", async () => {
  const upsert = () =>
    lab
      .node("student")
      .upsert({ studentId: "S1", name: " Ann ", first: "today", visits: 1 }, { set: { name: "Anna" }, add: { visits: 1 } });
  const explained = await upsert().explain();
  expect(explained.requests.map(({ operation }) => operation)).toEqual(["UpdateItem"]);
  const created = await upsert();
  expect(operations()).toEqual(["UpdateItem", "PutItem"]);
  expect(created).toMatchObject({ ok: true, created: true, atomic: { kind: "item" } });
  expect(created.row).toEqual({ studentId: "S1", name: "Ann", first: "today", visits: 1 });
  expect(created.cost.requests).toBe(2);
  lab.sent.length = 0;
  const changed = await upsert();
  expect(operations()).toEqual(["UpdateItem"]);
  expect(lab.sent[0]?.input).toEqual(explained.requests[0] && lab.shown(explained.requests[0].input));
  expect(changed).toMatchObject({ ok: true, created: false });
  expect(changed.row).toEqual({ studentId: "S1", name: "Anna", first: "today", visits: 2 });
});

test("with `expect: new` the PutItem comes first, and is the only request for a new item", async () => {
  const upsert = () => lab.node("student").upsert({ studentId: "S2", name: "Bob" }, { first: "again" }, { expect: "new" });
  expect(await upsert()).toMatchObject({ created: true });
  expect(operations()).toEqual(["PutItem"]);
  lab.sent.length = 0;
  expect(await upsert()).toMatchObject({ created: false, row: { studentId: "S2", name: "Bob", first: "again" } });
  expect(operations()).toEqual(["PutItem", "UpdateItem"]);
});

test("conditions are for the item that is there", async () => {
  const upsert = (name: string) => lab.node("student").upsert({ studentId: "S3", name }, { name }, { if: { name: "one" } });
  expect(await upsert("one")).toMatchObject({ ok: true, created: true });
  expect(await upsert("two")).toMatchObject({ ok: true, created: false, row: { name: "two" } });
  const refused = await upsert("three");
  expect(refused).toMatchObject({ ok: false, reason: "conditionFailed", current: { name: "two" } });
  expect(refused.created).toBeUndefined();
  expect((await failing(upsert("four").orThrow())).message).toContain(
    'The upsert of "student" {"studentId":"S3"} did not happen: conditionFailed',
  );
});

test("unique values and versions are kept either way", async () => {
  const accounts = lab.node("account");
  expect(await accounts.upsert({ id: "A", email: "a@x" }, { note: "seen" })).toMatchObject({ created: true, row: { version: 1 } });
  expect(await accounts.upsert({ id: "A", email: "b@x" }, { email: "b@x" })).toMatchObject({
    created: false,
    row: { email: "b@x", version: 2 },
  });
  expect(await accounts.upsert({ id: "B", email: "b@x" }, { note: "x" })).toMatchObject({ ok: false, reason: "notUnique" });
  expect(await accounts.upsert({ id: "B", email: "a@x" }, { note: "x" })).toMatchObject({ created: true });
  expect(await accounts.upsert({ id: "A", email: "c@x" }, { note: "x" }, { ifVersion: 1 })).toMatchObject({ reason: "versionConflict" });
  const markers = Object.keys(await lab.items()).filter((key) => key.startsWith("~unique#account"));
  expect(markers.toSorted()).toEqual(["~unique#account#email#a@x / #", "~unique#account#email#b@x / #"]);
});

test("edges: created with their counts and limits, changed in every copy", async () => {
  await lab.node("student").create({ studentId: "E", name: "Eve" });
  const take = (courseId: string, grade: string) =>
    lab.edge("takes").upsert({ studentId: "E" }, { courseId }, { at: "2024" }, { at: "2025", grade });
  expect(await take("C1", "A")).toMatchObject({ created: true, row: { at: "2024", from: { studentId: "E" }, to: { courseId: "C1" } } });
  expect(await take("C1", "A")).toMatchObject({ created: false, row: { at: "2025", grade: "A" } });
  expect(await take("C2", "B")).toMatchObject({ created: true });
  expect(await take("C3", "C")).toMatchObject({ ok: false, reason: "degreeExceeded" });
  expect(await take("C2", "C")).toMatchObject({ created: false });
  expect(await take("C9", "C")).toMatchObject({ ok: false, reason: "endMissing" });
  const items = await lab.items();
  expect(items["COURSE#C1 / #"]?.["students"]).toEqual({ N: "1" });
  expect(items["COURSE#C2 / #"]?.["students"]).toEqual({ N: "1" });

  const rate = (stars: number) => lab.edge("rated").upsert({ studentId: "E" }, { courseId: "C1" }, { term: "T1", stars }, { stars });
  expect(await rate(3)).toMatchObject({ created: true, atomic: { kind: "transaction" } });
  expect(await rate(5)).toMatchObject({ created: false });
  const copies = Object.values(await lab.items()).filter((item) => item["stars"] !== undefined);
  expect(copies.map((item) => item["stars"])).toEqual([{ N: "5" }, { N: "5" }]);
});

test("parts, and several in one transaction: each says whether it was created", async () => {
  const lines = lab.part("line");
  await lines.create({ studentId: "S1" }, { n: 1, text: "old" });
  const outcome = await lab.transact([
    lines.upsert({ studentId: "S1" }, { n: 1, text: "one" }, { text: "changed" }) as never,
    lines.upsert({ studentId: "S1" }, { n: 2, text: "two" }, { text: "changed" }) as never,
    lab.node("student").update({ studentId: "S1" }, { first: "then" }),
  ]);
  expect(outcome.ok).toBe(true);
  expect(outcome.outcomes.map((one) => (one as { created?: boolean }).created)).toEqual([false, true, undefined]);
  expect(operations().filter((operation) => operation === "TransactWriteItems")).toHaveLength(2);
  const items = await lab.items();
  expect([items["STUDENT#S1 / LINE#0001"]?.["text"], items["STUDENT#S1 / LINE#0002"]?.["text"]]).toEqual([{ S: "changed" }, { S: "two" }]);
});

test("an expired item counts as absent", async () => {
  const gone = Math.floor(Date.now() / 1000) - 1000;
  const later = gone + 100_000;
  await lab.node("session").create({ id: "X", until: gone, by: "old" });
  lab.sent.length = 0;
  const upsert = () => lab.node("session").upsert({ id: "X", until: later }, { until: later + 1 });
  expect(await upsert()).toMatchObject({ created: true, row: { id: "X", until: later } });
  expect(operations()).toEqual(["UpdateItem", "PutItem"]);
  expect((await lab.items())["SESSION#X / #"]?.["by"]).toBeUndefined();
  expect(await upsert()).toMatchObject({ created: false, row: { until: later + 1 } });
});

const lose = (operation: string): void => {
  let lost = false;
  lab.hooks.after = (sent) => {
    if (lost || sent.operation !== operation) return;
    lost = true;
    throw new EdgetableError("execute.connection", "lost", { retryable: true, details: { ambiguous: true } });
  };
};

test("a lost answer: a change is repeated, a creation is ambiguous, and idempotent ones are exact", async () => {
  const upsert = (id: string, options = {}) =>
    lab.node("student").upsert({ studentId: id, name: "new", visits: 1 }, { set: { name: "changed" } }, options);
  await upsert("L1");
  lose("UpdateItem");
  expect(await upsert("L1")).toMatchObject({ created: false, row: { name: "changed", visits: 1 } });
  // The refusal of the UpdateItem is what gets lost here, and nothing was written by it.
  lab.hooks = {};
  lose("PutItem");
  expect((await failing(upsert("L2"))).code).toBe("execute.ambiguous");
  lose("TransactWriteItems");
  expect(await upsert("L3", { idempotent: true })).toMatchObject({ created: true, row: { name: "new" } });
});

test("two upserts at once: one creates, the other changes", async () => {
  const results = await Promise.all(
    Array.from({ length: 8 }, () =>
      lab.node("student").upsert({ studentId: "R", name: "new", visits: 1 }, { add: { visits: 1 } }, { expect: "new" }),
    ),
  );
  expect(results.filter((one) => one.created === true)).toHaveLength(1);
  expect((await lab.items())["STUDENT#R / #"]?.["visits"]).toEqual({ N: "8" });
});

test("misuse is named", async () => {
  const students = lab.node("student");
  expect(() => students.upsert({ name: "no id" }, { name: "x" })).toThrow(/studentId/);
  expect(() => students.upsert({ studentId: "M", name: "x" }, {})).toThrow(/nothing to change/);
  expect(() => students.upsert({ studentId: "M", name: "x" }, { studentId: "N" })).toThrow(/cannot change/);
  expect(() => students.upsert({ studentId: "M", name: "x" }, { name: "y" }, { expect: "old" } as never)).toThrow(/expect/);
  expect(() => lab.node("account").upsert({ id: "M", email: "m", version: 3 }, { note: "y" })).toThrow(/version/);
});
