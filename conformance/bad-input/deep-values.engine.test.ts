import { afterAll, beforeAll, expect, test } from "vitest";
import { defineGraph, edge, EdgetableError, node, part } from "edgetable";
import { z } from "zod";
import { openEngine, type TestEngine } from "../engines/open-engine.ts";

/** DynamoDB takes 32 levels of nesting. What is deeper is refused by name, however deep it is. */
const anything = z.any().optional();
const thing = node({
  key: "T#{id}",
  schema: z.object({ id: z.string(), meta: anything, json: z.json().optional(), tags: z.array(z.any()).optional() }),
});
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: { thing },
    edges: { to: edge({ from: "thing", to: "thing", schema: z.object({ meta: anything }) }) },
    parts: { note: part({ of: "thing", key: "N#{n}", schema: z.object({ n: z.string(), meta: anything }) }) },
  });

let engine: TestEngine;
let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
beforeAll(async () => {
  engine = await openEngine();
  db = graphOf(engine.freshTableName("deep")).connect({ transport: engine.transport });
  await db.table.create();
  await db.thing.create({ id: "1" });
});
afterAll(async () => {
  await db.close();
  await engine.close();
});

const nested = (levels: number): unknown => {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { value } : [value];
  return value;
};

const calls: Readonly<Record<string, (value: never) => PromiseLike<unknown>>> = {
  create: (meta) => db.thing.create({ id: "a", meta }),
  "create under a recursive schema": (json) => db.thing.create({ id: "a", json }),
  put: (meta) => db.thing.put({ id: "a", meta }),
  update: (meta) => db.thing.update({ id: "1" }, { meta }),
  append: (tag) => db.thing.update({ id: "1" }, { tags: { append: [tag] } as never }),
  "a condition": (meta) => db.thing.update({ id: "1" }, { meta: 1 }, { if: { meta: { eq: meta } } }),
  link: (meta) => db.to.link({ id: "1" }, { id: "1" }, { meta }),
  "a part": (meta) => db.note.create({ id: "1" }, { n: "1", meta }),
  transact: (meta) => db.transact([db.thing.create({ id: "a", meta })]),
  where: (meta) =>
    db
      .thing({ id: "1" })
      .out("to")
      .where({ meta: { eq: meta } })
      .edges(),
  "an id": (id) => db.thing({ id }).get(),
};

test.each(Object.keys(calls).flatMap((name) => [33, 50_000].map((levels) => [name, levels] as const)))(
  "%s of a value %i levels deep is refused by a typed error",
  async (name, levels) => {
    const error = await Promise.resolve()
      .then(() => calls[name]?.(nested(levels) as never))
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(EdgetableError);
    expect((error as EdgetableError).code).not.toBe("invariant");
  },
);

test("a load refuses the row that is nested too deeply, and goes on", async () => {
  const rows = [nested(50_000), "row", nested(50_000)].map((meta, at) => ({ node: "thing" as const, row: { id: `L${at}`, meta } }));
  const refused: unknown[] = [];
  const report = await db.load(rows, { onFailure: ({ row, error }) => void refused.push([row, (error as EdgetableError).code]) });
  expect(report).toMatchObject({ rows: 3, items: 1, failed: 2 });
  expect(refused).toEqual([
    [0, "request.unsupportedValue"],
    [2, "request.unsupportedValue"],
  ]);
});

test("32 levels come back as they were", async () => {
  const meta = nested(31);
  await db.thing.put({ id: "deepest", meta });
  expect(await db.thing({ id: "deepest" }).get()).toEqual({ id: "deepest", meta });
});
