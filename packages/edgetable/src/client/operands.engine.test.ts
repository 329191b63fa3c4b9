// Operands that no item can hold, wherever a condition is evaluated: on the server, in memory, in a key.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node, part } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const at = { d: z.date(), n: z.number(), t: z.number(), m: z.object({ k: z.number() }) };
const retyped = { t: { from: z.string(), with: Number, back: String } };
const dates = ["d"] as const;

const open = async () => {
  const graph = defineGraph({
    table: engine.freshTableName("operands"),
    nodes: {
      a: node({ key: "A#{id}", schema: z.object({ id: z.string(), g: z.string(), ...at }), dates, retyped }),
      task: node({ key: "T#{id}", schema: z.object({ id: z.string(), a: z.string(), ...at }), dates, retyped, fields: { of: "list" } }),
      list: node({ key: "L#{a}", schema: z.object({ a: z.string() }) }),
    },
    parts: { p: part({ of: "a", key: "P#{k}", schema: z.object({ k: z.string(), ...at }), dates, retyped }) },
    edges: {
      e: edge({ from: "a", to: "a", schema: z.object(at), dates, retyped }),
      o: edge({ from: "a", to: "a", schema: z.object(at), dates, orderBy: "d:date" }),
    },
    indexes: { byG: { entries: { a: { by: ["g"], split: 1 } } } },
  });
  const db = graph.connect({ transport: engine.transport, cursorSecret: "0".repeat(32) });
  await db.table.create();
  const values = { d: new Date("2024-01-01T00:00:00.000Z"), n: 1, t: 1, m: { k: 1 } };
  const one = { id: "1" };
  await db.a.put({ ...one, g: "g", ...values });
  await db.list.put({ a: "l" });
  await db.task.put({ ...one, a: "l", ...values });
  await db.p.put(one, { k: "1", ...values });
  await db.e.put(one, one, values);
  await db.o.put(one, one, values);
  const me = () => db.a(one);
  const calls: Readonly<Record<string, (where: never) => PromiseLike<unknown>>> = {
    find: (where) => db.find("a").where({ g: "g" }).where(where).rows(),
    count: (where) => db.find("a").where({ g: "g" }).where(where).count(),
    edges: (where) => me().out("e").where(where).edges(),
    "ordered edges": (where) => me().out("o").where(where).edges(),
    several: (where) => db.e.getMany(one, [one], { where }),
    parts: (where) => me().parts("p").where(where).all(),
    "edges of a walk": (where) => me().walk().out("e").where(where).ids(),
    "nodes of a walk": (where) => me().walk().out("e").whereNode(where).ids(),
    "edges of a repeated hop": (where) => me().walk().repeat({ out: "e", where }, { depth: 2 }).ids(),
    "nodes of a repeated hop": (where) => me().walk().repeat({ out: "e", whereNode: where }, { depth: 2 }).ids(),
    feed: (where) => me().walk().feed({ out: "o", where }, { limit: 5 }),
    write: (where) => db.a.update(one, { g: "h" }, { if: where }),
    grid: (where) => db.task.grid({ a: "l" }).where(where).page(),
    "count of a grid": (where) => db.task.grid({ a: "l" }).where(where).count(),
  };
  return { db, calls };
};

/** The call's error code, or what it gave. */
const outcome = async (call: () => PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    return (error as { readonly code: unknown }).code;
  }
};

test("operands that no item can hold are refused in every call", async () => {
  const { db, calls } = await open();
  const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e126, -1e-131, 10n ** 38n + 1n];
  const compared = (value: unknown): readonly object[] => [
    { ne: value },
    { gte: value },
    { in: [value] },
    { between: [value, value] },
    { contains: value },
  ];
  const ofNumbers = numbers.flatMap((number) => [number, ...compared(number)]);
  const invalid = new Date("?");
  const text = "2024-01-01T00:00:00.000Z";
  const filters: readonly object[] = [
    ...["n", "t", "m.k"].flatMap((path) => ofNumbers.map((operand) => ({ [path]: operand }))),
    ...[invalid, ...compared(invalid), text, ...compared(text), { beginsWith: "2024" }].map((d) => ({ d })),
    { m: { eq: { k: Number.NaN } } },
    ...compared("\ud800").map((n) => ({ n })),
    { m: { eq: { "\ud800": 1 } } },
    ...[new Set(), new Set([1, "a"]), [[new Set()]]].map((ne) => ({ n: { ne } })),
    ...compared(new Date(0)).flatMap((operand) => [{ n: operand }, { "m.k": operand }]),
    { n: { in: [1, Number.NaN] } },
    { n: { between: [0, Number.NaN] } },
    { or: [{ n: 1 }, { n: Number.NaN }] },
    { not: { d: { gt: "2023" } } },
  ];
  for (const filter of filters)
    for (const [name, call] of Object.entries(calls)) {
      // A grid has no columns within attributes.
      if (name.includes("grid") && ("m.k" in filter || "m" in filter)) continue;
      expect([name, filter, await outcome(() => call(filter as never))]).toEqual([name, filter, "request.unsupportedValue"]);
    }
  // Nothing was written, and what items can hold is compared as before.
  expect(
    await db
      .find("a")
      .where({ g: "g", d: { gt: new Date(0) }, n: { ne: 2 }, t: 1 })
      .rows(),
  ).toHaveLength(1);
});

test("a message names the attribute and the operand", async () => {
  const { calls } = await open();
  await expect((async () => calls["nodes of a walk"]!({ n: { gte: Number.NaN } } as never))()).rejects.toThrow(
    'The condition on "n" compares it with the number NaN, which DynamoDB cannot store. Give another value.',
  );
  await expect((async () => calls["nodes of a walk"]!({ n: { gte: new Date(0) } } as never))()).rejects.toThrow(
    'The condition on "n" compares it with a Date, which DynamoDB cannot store. Give ISO 8601 text, or declare the attribute in `dates`.',
  );
  await expect((async () => calls["edges"]!({ d: { gt: "2023" } } as never))()).rejects.toThrow(
    '"d" is a Date, and the condition compares it with "2023". Give a Date.',
  );
  await expect((async () => calls["edges"]!({ n: { beginsWith: new Uint8Array(2) } } as never))()).rejects.toThrow(
    '"beginsWith" of "n" takes a string, got bytes.',
  );
});

test("a Date contains itself, on the server and in memory", async () => {
  const { db, calls } = await open();
  for (const [day, found] of [
    ["2024-01-01", 1],
    ["2024-01-02", 0],
  ] as const) {
    const where = { d: { contains: new Date(day) } } as never;
    for (const name of ["find", "edges", "parts", "edges of a walk", "nodes of a walk"])
      expect([name, day, [...((await calls[name]!(where)) as Iterable<unknown>)].length]).toEqual([name, day, found]);
    expect(await db.a.update({ id: "1" }, { n: 1 }, { if: where })).toMatchObject({ ok: found === 1 });
  }
});
