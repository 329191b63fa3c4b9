// Operands of `add`, `append` and `delete` of another type than the attribute, in every way in which an update is written.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, isEdgetableError, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const schema = z.object({ id: z.string(), v: z.any(), m: z.any() });
const ways = {
  plain: {},
  "read first": { validate: "row" },
  renamed: { renamed: { v: "former", m: "before" } },
} as const;

const values: Readonly<Record<string, unknown>> = {
  texts: new Set(["a", "b"]),
  numbers: new Set([1, 2, 3]),
  bytes: new Set([Uint8Array.of(1), Uint8Array.of(2)]),
  number: 1,
  text: "a",
  list: [1],
};
const changes: readonly [string, Readonly<Record<string, unknown>>][] = Object.entries({
  texts: { delete: new Set(["a"]), add: new Set(["c"]) },
  numbers: { delete: new Set([1n]), add: new Set([4]) },
  bytes: { delete: new Set([Uint8Array.of(1)]), add: new Set([Uint8Array.of(3)]) },
  number: { add: 1 },
  list: { append: ["x"] },
});

test.each(Object.entries(ways))("an operand of another type is refused, and its attribute named: %s", async (_, settings) => {
  const graph = defineGraph({ table: engine.freshTableName("operands"), nodes: { a: node({ key: "A#{id}", schema, ...settings }) } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const id = { id: "1" };
  for (const [kind, v] of Object.entries(values))
    for (const [operand, verbs] of changes)
      for (const [verb, value] of Object.entries(verbs))
        for (const path of ["v", "m.v"]) {
          await db.a.put({ ...id, v, m: { v } });
          const change = db.a.update(id, { [verb]: { [path]: value } } as never);
          const outcome = await Promise.resolve(change).catch((error: unknown) => {
            if (!isEdgetableError(error, "execute.rejected")) throw error;
            return error.message;
          });
          const row = await db.a.get(id);
          const what = `${verb} ${operand} at ${path} of ${kind}`;
          if (kind === operand) expect([what, outcome]).toMatchObject([what, { ok: true }]);
          else {
            expect([what, outcome]).toEqual([
              what,
              `"${path}" holds a value of another type; overwrite it instead of using add, append or delete.`,
            ]);
            expect(row).toEqual({ ...id, v, m: { v } });
          }
          const [, ...others] = v instanceof Set ? [...(v as ReadonlySet<unknown>)] : [];
          const left = new Set(others);
          if (kind === operand && verb === "delete")
            expect(row).toMatchObject(path === "v" ? { v: left, m: { v } } : { v, m: { v: left } });
        }
});

test.each(Object.entries(ways))("a set within an attribute is overwritten by a set of any type: %s", async (_, settings) => {
  const graph = defineGraph({ table: engine.freshTableName("sets"), nodes: { a: node({ key: "A#{id}", schema, ...settings }) } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const id = { id: "1" };
  const sets = [values["texts"], values["numbers"], values["bytes"], new Set([0.5, 2n ** 60n])];
  for (const before of sets)
    for (const after of sets) {
      await db.a.put({ ...id, v: 1, m: { v: before, other: before } });
      await db.a.update(id, { set: { "m.v": after } }).orThrow();
      expect(await db.a.get(id)).toEqual({ ...id, v: 1, m: { v: after, other: before } });
    }
});
