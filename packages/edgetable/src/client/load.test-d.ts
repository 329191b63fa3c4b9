import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { LoadReport } from "../executor/load/load-state.ts";
import { edge, node, part } from "../schema/definition.ts";
import type { BatchOutcome } from "./batch.ts";
import { defineGraph } from "./define-graph.ts";
import type { JobHandle } from "./write-types.ts";

const graph = defineGraph({
  table: "Types",
  nodes: {
    student: node({ key: "STUDENT#{studentId}", schema: z.object({ studentId: z.string(), name: z.string() }) }),
    course: node({ key: "COURSE#{courseId}", schema: z.object({ courseId: z.string() }) }),
  },
  edges: { takes: edge({ from: "student", to: "course", schema: z.object({ grade: z.string().optional() }) }) },
  parts: { remark: part({ of: "student", key: "REMARK#{n:4}", schema: z.object({ n: z.number() }) }) },
});
const db = graph.connect({ endpoint: "http://127.0.0.1:1" });

test("rows of a load are nodes, parts and edges of the model", () => {
  expectTypeOf(db.load).returns.resolves.toEqualTypeOf<LoadReport>();
  const load = (): unknown =>
    db.load([
      { node: "student", row: { studentId: "S1", name: "Ann" } },
      { part: "remark", owner: { studentId: "S1" }, row: { n: 1 } },
      { edge: "takes", from: { studentId: "S1" }, to: { courseId: "C1" }, attributes: { grade: "A" } },
      { edge: "takes", from: { studentId: "S1" }, to: { courseId: "C1" } },
    ]);
  void load;
  const wrong = (): unknown => [
    // @ts-expect-error -- no such node
    db.load([{ node: "stduent", row: { studentId: "S1", name: "Ann" } }]),
    // @ts-expect-error -- name is missing
    db.load([{ node: "student", row: { studentId: "S1" } }]),
    // @ts-expect-error -- the row of another node
    db.load([{ node: "course", row: { studentId: "S1", name: "Ann" } }]),
    // @ts-expect-error -- the ends are the wrong way round
    db.load([{ edge: "takes", from: { courseId: "C1" }, to: { studentId: "S1" } }]),
    // @ts-expect-error -- the owner is missing
    db.load([{ part: "remark", row: { n: 1 } }]),
    // @ts-expect-error -- no such order
    db.load([], { order: "keep" }),
  ];
  void wrong;
});

test("a batch takes write calls, and a deletion gives a handle", () => {
  const batch = () => db.batch([db.student.put({ studentId: "S1", name: "x" }), db.takes.put({ studentId: "S1" }, { courseId: "C1" }), db.remark.delete({ studentId: "S1" }, { n: 1 })]);
  expectTypeOf<Awaited<ReturnType<typeof batch>>>().toEqualTypeOf<BatchOutcome>();
  // @ts-expect-error -- not a write
  void (() => db.batch([db.student.get({ studentId: "S1" })]));
  void (() => db.batch([db.takes.unlink({ studentId: "S1" }, { courseId: "C1" }), db.remark.put({ studentId: "S1" }, { n: 1 }), db.student.delete({ studentId: "S1" })]));
  // @ts-expect-error Property '[batchable]' is missing in type 'WriteCall<…>' but required in type 'BatchableCall<unknown>'
  void (() => db.batch([db.student.create({ studentId: "S1", name: "x" })]));
  // @ts-expect-error -- an update
  void (() => db.batch([db.student.update({ studentId: "S1" }, { name: "x" })]));
  // @ts-expect-error -- an upsert
  void (() => db.batch([db.student.upsert({ studentId: "S1", name: "x" }, { name: "y" })]));
  // @ts-expect-error -- a check
  void (() => db.batch([db.student.check({ studentId: "S1" })]));
  // @ts-expect-error -- a link
  void (() => db.batch([db.takes.link({ studentId: "S1" }, { courseId: "C1" })]));
  // @ts-expect-error -- a change of an edge
  void (() => db.batch([db.takes.relink({ studentId: "S1" }, { courseId: "C1" }, { grade: "A" })]));
  const start = () => db.student.delete({ studentId: "S1" }, { indexLag: 0 }).start();
  expectTypeOf<Awaited<ReturnType<typeof start>>>().toExtend<JobHandle<unknown>>();
});

test("what a scan gives is what a load takes", () => {
  const db = graph.connect();
  const scan = db.scan({ only: ["student"] });
  const load: Parameters<typeof db.load>[0] = scan;
  expectTypeOf(load).not.toBeNever();
  type Row = typeof scan extends AsyncIterable<infer One> ? One : never;
  expectTypeOf<Extract<Row, { edge: "takes" }>["attributes"]>().toEqualTypeOf<{ grade?: string | undefined }>();
  expectTypeOf<Extract<Row, { part: "remark" }>["owner"]>().toEqualTypeOf<{ readonly studentId: string }>();
});
