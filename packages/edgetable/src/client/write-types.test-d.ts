import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { Where } from "../ir/condition.ts";
import type { Reason, Upserted, WriteOutcome, Written } from "../ir/write-outcome.ts";
import { edge, node, part } from "../schema/definition.ts";
import type { EdgeWrites, NodeWrites, PartWrites, Transact } from "./write-types.ts";

const student = node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string(), year: z.number().default(1), tags: z.array(z.string()).optional() }) });
const enrolledIn = edge({ from: "student", to: "course", schema: z.object({ term: z.string(), grade: z.string().optional() }), key: ["term"] });
const line = part({ of: "student", key: "LINE#{n:4}", schema: z.object({ n: z.number(), text: z.string() }) });

interface Edge {
  readonly from: { readonly studentId: string };
  readonly to: { readonly courseId: string };
  readonly term: string;
  readonly grade?: string | undefined;
}
declare const students: NodeWrites<(typeof student)["~types"]>;
declare const enrolments: EdgeWrites<{ from: Edge["from"]; to: Edge["to"]; edge: Edge; filter: Where<Edge> }, (typeof enrolledIn)["~types"]>;
declare const lines: PartWrites<{ readonly studentId: string }, (typeof line)["~types"]>;
declare const transact: Transact;

type Student = (typeof student)["~types"]["row"];

test("a node is created from the schema's input and comes back as its output", async () => {
  expectTypeOf(await students.create({ studentId: "S1", name: "John" })).toEqualTypeOf<WriteOutcome<Student>>();
  expectTypeOf(await students.create({ studentId: "S1", name: "John" }).orThrow()).toEqualTypeOf<Written<Student>>();
  // @ts-expect-error -- name is missing
  void students.create({ studentId: "S1" });
  // @ts-expect-error -- no such attribute
  void students.create({ studentId: "S1", name: "John", nmae: "x" });
});

test("an outcome can be destructured, and its ok tells the rest", async () => {
  const { ok, row, atomic, reason } = await students.put({ studentId: "S1", name: "John" });
  if (ok) {
    expectTypeOf(row).toEqualTypeOf<Student | undefined>();
    expectTypeOf(atomic).toEqualTypeOf<Written<Student>["atomic"]>();
    expectTypeOf(reason).toEqualTypeOf<undefined>();
  } else {
    expectTypeOf(reason).toEqualTypeOf<Reason>();
    expectTypeOf(atomic).toEqualTypeOf<undefined>();
  }
});

test("an upsert takes a whole row and changes, and says whether it created", async () => {
  const outcome = await students.upsert({ studentId: "S1", name: "John" }, { set: { name: "Jo" }, add: { year: 1 } }, { expect: "new", if: { year: 1 } });
  expectTypeOf(outcome.created).toEqualTypeOf<boolean | undefined>();
  if (outcome.ok) expectTypeOf(outcome.created).toEqualTypeOf<boolean>();
  expectTypeOf(await students.upsert({ studentId: "S1", name: "John" }, { name: "Jo" }).orThrow()).toEqualTypeOf<Upserted<Student>>();
  const { outcomes } = await transact([students.upsert({ studentId: "S1", name: "John" }, { name: "Jo" }), lines.delete({ studentId: "S1" }, { n: 1 })]).orThrow();
  expectTypeOf(outcomes[0]).toEqualTypeOf<Upserted<Student>>();
  void enrolments.upsert({ studentId: "S1" }, { courseId: "C1" }, { term: "T" }, { grade: "A" }, { if: { to: { courseId: "C1" } } });
  void lines.upsert({ studentId: "S1" }, { n: 1, text: "a" }, { text: "b" });
  // @ts-expect-error -- the new row lacks its name
  void students.upsert({ studentId: "S1" }, { name: "Jo" });
  // @ts-expect-error -- no such attribute
  void students.upsert({ studentId: "S1", name: "John" }, { nmae: "Jo" });
  // @ts-expect-error -- the edge's own key is missing
  void enrolments.upsert({ studentId: "S1" }, { courseId: "C1" }, {}, { grade: "A" });
});

test("only numbers and sets are added to, only lists are appended to", () => {
  const tally = node({
    key: "TALLY#{id}",
    schema: z.object({ id: z.string(), count: z.number().optional(), exact: z.bigint(), seen: z.set(z.string()), steps: z.array(z.number()), text: z.string(), any: z.unknown() }),
  });
  const tallies = null as unknown as NodeWrites<(typeof tally)["~types"]>;
  void tallies.update({ id: "1" }, { add: { count: -1, exact: 2n, seen: new Set(["a"]), any: 1 }, append: { steps: [1] } });
  // @ts-expect-error -- a text cannot be added to
  void tallies.update({ id: "1" }, { add: { text: 1 } });
  // @ts-expect-error -- a list is appended to, not added to
  void tallies.update({ id: "1" }, { add: { steps: 1 } });
  // @ts-expect-error -- a set of texts has no number as a member
  void tallies.update({ id: "1" }, { add: { seen: new Set([1]) } });
  // @ts-expect-error -- a number is not a list
  void tallies.update({ id: "1" }, { append: { count: [1] } });
  // @ts-expect-error -- a list of numbers takes no text
  void tallies.update({ id: "1" }, { append: { steps: ["1"] } });
});

test("changes are values or a change set, never of the key", () => {
  void students.update({ studentId: "S1" }, { name: "x" }, { if: { year: { gte: 2 } } });
  void students.update({ studentId: "S1" }, { set: { name: "x" }, remove: ["tags"], add: { year: 1 }, append: {} });
  // @ts-expect-error -- part of the key
  void students.update({ studentId: "S1" }, { studentId: "S2" });
  // @ts-expect-error -- no such attribute
  void students.update({ studentId: "S1" }, { nmae: "x" });
  // @ts-expect-error -- no such attribute
  void students.update({ studentId: "S1" }, { remove: ["nmae"] });
  // @ts-expect-error -- the id's field is missing
  void students.delete({});
  // @ts-expect-error -- no such attribute
  void students.delete({ studentId: "S1" }, { if: { nmae: "x" } });
});

test("an edge is linked by its ends, changed and removed by its key", () => {
  void enrolments.link({ studentId: "S1" }, { courseId: "C1" }, { term: "T1" }, { reverse: { grade: "B" } });
  void enrolments.relink({ studentId: "S1" }, { courseId: "C1" }, { grade: "A" }, { key: { term: "T1" }, if: { grade: "B" } });
  void enrolments.unlink({ studentId: "S1" }, { courseId: "C1" }, { key: { term: "T1" } });
  // @ts-expect-error -- the key says which of several edges
  void enrolments.unlink({ studentId: "S1" }, { courseId: "C1" });
  // @ts-expect-error -- the key says which of several edges
  void enrolments.relink({ studentId: "S1" }, { courseId: "C1" }, { grade: "A" });
  // @ts-expect-error -- the key is an option
  void enrolments.unlink({ studentId: "S1" }, { courseId: "C1" }, { term: "T1" });
  // @ts-expect-error -- the ends are the wrong way round
  void enrolments.link({ courseId: "C1" }, { studentId: "S1" }, { term: "T1" });
  // @ts-expect-error -- part of the key
  void enrolments.relink({ studentId: "S1" }, { courseId: "C1" }, { term: "T2" });
});

test("a part is written within its owner", () => {
  void lines.update({ studentId: "S1" }, { n: 1 }, { text: "x" });
  // @ts-expect-error -- the owner's id is missing
  void lines.create({}, { n: 1, text: "x" });
});

test("a transaction's outcomes stand in the order of its calls", async () => {
  const { outcomes } = await transact([students.create({ studentId: "S1", name: "x" }), enrolments.unlink({ studentId: "S1" }, { courseId: "C1" }, { key: { term: "T" } })]);
  expectTypeOf(outcomes).toEqualTypeOf<readonly [WriteOutcome<Student>, WriteOutcome<Edge>]>();
});

test("a transaction that throws gives what each call wrote", async () => {
  const done = await transact([students.check({ studentId: "S1" }, { if: { name: "John" } }), lines.put({ studentId: "S1" }, { n: 1, text: "x" })], { token: "t" }).orThrow();
  expectTypeOf(done.ok).toEqualTypeOf<true>();
  expectTypeOf(done.outcomes[0]).toEqualTypeOf<Written<Student>>();
  expectTypeOf(done.outcomes[1].row).toEqualTypeOf<{ n: number; text: string } | undefined>();
  // @ts-expect-error -- a check sends nothing of its own
  void students.check({ studentId: "S1" }, { idempotent: true });
  // @ts-expect-error -- no such attribute
  void students.check({ studentId: "S1" }, { if: { nmae: "x" } });
});

test("`or` and `not` take the same conditions, in whatever depth", () => {
  void students.update({ studentId: "S1" }, { name: "x" }, { if: { year: 1, or: [{ name: "a" }, { not: { name: { gte: "b" }, or: [{ year: 2 }] } }] } });
  void enrolments.unlink({ studentId: "S1" }, { courseId: "C1" }, { key: { term: "T" }, if: { not: { grade: "A" } } });
  // @ts-expect-error -- no such attribute
  void students.update({ studentId: "S1" }, { name: "x" }, { if: { or: [{ nmae: "a" }] } });
  // @ts-expect-error -- another type
  void students.update({ studentId: "S1" }, { name: "x" }, { if: { not: { year: "a" } } });
  // @ts-expect-error -- `or` takes a list
  void students.update({ studentId: "S1" }, { name: "x" }, { if: { or: { name: "a" } } });
});

test("reads is one of two words, and leaves the types of rows as they are", () => {
  const schema = z.object({ itemId: z.string(), size: z.int().default(1) });
  const parsed = node({ key: "ITEM#{itemId}", schema, reads: "parsed" });
  const stored = node({ key: "ITEM#{itemId}", schema });
  expectTypeOf<(typeof parsed)["~types"]["row"]>().toEqualTypeOf<(typeof stored)["~types"]["row"]>();
  // @ts-expect-error -- no such word
  node({ key: "ITEM#{itemId}", schema, reads: "checked" });
  // @ts-expect-error -- no such word
  edge({ from: "item", to: "item", schema, reads: true });
  // @ts-expect-error -- no such word
  part({ of: "item", key: "PART#{itemId}", schema, reads: "raw" });
});
