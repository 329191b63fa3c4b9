import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { defineGraph, edge, node, part, type StandardSchema } from "../index.ts";

interface Row {
  readonly id: string;
  readonly name?: string;
}

// Standard Schema asks for a promise; what a library gives may be anything with a `then`.
const thenable = <T>(make: () => Promise<T>): Promise<T> =>
  // oxlint-disable-next-line unicorn/no-thenable -- that is the point
  ({ then: (...listeners: Parameters<Promise<T>["then"]>) => make().then(...listeners) }) as Promise<T>;

const ways = {
  "throws at once": (make: () => { value: Row }) => make(),
  "rejects a promise": async (make: () => { value: Row }) => make(),
  "rejects another thenable": (make: () => { value: Row }) => thenable(async () => make()),
} as const;

// Trims names, and fails on the name "boom".
const schemaOf = (way: (typeof ways)[keyof typeof ways]): StandardSchema<Row> => ({
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      way(() => {
        const row = value as Row;
        if (row.name === "boom") throw new RangeError("the schema's own");
        return { value: row.name === undefined ? row : { ...row, name: row.name.trim() } };
      }),
  },
});

const graphOf = (table: string, schema: StandardSchema<Row>) =>
  defineGraph({
    table,
    nodes: { user: node({ key: "USER#{id}", schema }) },
    parts: { note: part({ of: "user", key: "NOTE#{n}", schema: schema as unknown as StandardSchema<{ n: string; name?: string }> }) },
    edges: {
      likes: edge({ from: "user", to: "user", ends: "unchecked", schema, stored: "twice" }),
      hates: edge({ from: "user", to: "user", ends: "unchecked", schema }),
    },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const A = { id: "a" };
const B = { id: "b" };
const bad = { id: "a", name: "boom" };

describe.each(Object.entries(ways))("a schema that %s", (_, way) => {
  let db: ReturnType<ReturnType<typeof graphOf>["connect"]>;
  const sent: string[] = [];
  beforeAll(async () => {
    const transport: typeof engine.transport = {
      ...engine.transport,
      send: (operation, input, options) => {
        sent.push(operation);
        return engine.transport.send(operation, input, options);
      },
    };
    db = graphOf(engine.freshTableName("failing"), schemaOf(way)).connect({ transport });
    await db.table.create();
    await db.user.put({ id: "a", name: " Ada " }).orThrow();
    await db.likes.link(A, B, { id: "e", name: " much " }).orThrow();
  });

  test("gives its output where it does not fail", async () => {
    expect(await db.user(A).get()).toEqual({ id: "a", name: "Ada" });
    expect(await db.likes.get(A, B)).toMatchObject({ name: "much" });
  });

  test.each<[string, () => PromiseLike<unknown>, string]>([
    ["create", () => db.user.create(bad), '"user"'],
    ["put", () => db.user.put(bad), '"user"'],
    ["update", () => db.user.update(A, { name: "boom" }), '"user"'],
    ["put of a part", () => db.note.put(A, { n: "1", name: "boom" }), '"note"'],
    ["link", () => db.hates.link(A, B, bad), '"hates"'],
    ["link with another copy", () => db.likes.link(A, B, { id: "e" }, { reverse: { name: "boom" } }), 'the other copy of "likes"'],
    ["put of an edge", () => db.likes.put(A, B, bad), '"likes"'],
    ["relink", () => db.likes.relink(A, B, { name: "boom" }), '"likes"'],
    ["batch", () => db.batch([db.user.put(bad)]), '"user"'],
    ["transaction", () => db.transact([db.user.put(bad)]), '"user"'],
  ])("fails a %s by name, and nothing is sent", async (_kind, write, what) => {
    sent.length = 0;
    const error = await (async () => write())().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "schema.failed", details: { of: what }, cause: { message: "the schema's own" } });
    expect((error as Error).message).toBe(`The schema of ${what} failed instead of reporting issues: the schema's own.`);
    expect(sent).toEqual([]);
  });

  test("fails one row of a load", async () => {
    const report = await db.load([
      { node: "user", row: bad },
      { node: "user", row: { id: "c" } },
    ]);
    expect(report).toMatchObject({ items: 1, failures: [{ row: 0, error: { code: "schema.failed" } }] });
  });
});

test("of changed attributes that are asked one by one, the one whose schema fails is named", async () => {
  const name = v.pipe(
    v.string(),
    v.check((text) => {
      if (text === "boom") throw new RangeError("the schema's own");
      return true;
    }),
  );
  const schema = v.object({ id: v.string(), name: v.optional(name) });
  const graph = defineGraph({ table: engine.freshTableName("failing"), nodes: { user: node({ key: "USER#{id}", schema }) } });
  const db = graph.connect({ transport: engine.transport });
  await expect(db.user.update(A, { name: "boom" }).run()).rejects.toMatchObject({
    code: "schema.failed",
    message: 'The schema of "name" of "user" failed instead of reporting issues: the schema\'s own.',
  });
});
