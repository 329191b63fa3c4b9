import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { Transport } from "../transport/transport.ts";
import { verify } from "../verify/index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const [ann, maths] = [{ id: "ann" }, { id: "maths" }];

test("copies follow on an edge that has just moved to another sort key, though an index still shows the old one", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("moved"),
    nodes: {
      student: node({ key: "STUDENT#{id}", schema: z.object({ id }) }),
      course: node({ key: "COURSE#{id}", schema: z.object({ id, name: id }) }),
    },
    edges: { takes: edge({ from: "student", to: "course", schema: z.object({ grade: id }), copies: { to: { course: "name" } } }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: { student: { keys: { SK: "student" } }, course: { keys: { SK: "course" } } },
      edges: { takes: { keys: { SK: "TAKES#{grade}#{to.id}", GSI1PK: "{to}", GSI1SK: "TAKES#{from.id}" } } },
    },
  });
  let [answer, late]: [unknown, number] = [undefined, 0];
  const transport: Transport = {
    ...engine.transport,
    send: async (operation, input, options) => {
      const isIndex = operation === "Query" && (input as { readonly IndexName?: string }).IndexName !== undefined;
      if (isIndex && late-- > 0) return answer as never;
      const output = await engine.transport.send(operation, input, options);
      if (isIndex) answer = output;
      return output;
    },
    close: () => undefined,
  };
  const db = graph.connect({ transport });
  await db.table.create();
  await db.student.create(ann).orThrow();
  await db.course.create({ ...maths, name: "Maths" }).orThrow();
  await db.takes.link(ann, maths, { grade: "B" }).orThrow();
  await db.course.update(maths, { name: "Algebra" }).orThrow();
  expect(answer).toBeDefined();
  await db.takes.relink(ann, maths, { grade: "A" }).orThrow();
  late = 4;
  await db.course.update(maths, { name: "Logic" }).orThrow();
  expect(await db.student(ann).out("takes").edges()).toMatchObject([{ grade: "A", course: "Logic" }]);
  expect(await verify(db, { settle: 5 })).toMatchObject({ clean: true, kinds: [] });
});
