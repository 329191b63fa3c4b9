import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { compareValues } from "../ir/holds.ts";
import { defineGraph, node, part } from "../index.ts";

// Ranges of a field by the key that holds it, compared with the values themselves.

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();
const numbers = [0, 1, 7, 9, 10, 99, 100, 999];
const texts = ["5", "a", "b"];

/** How a key writes the field, and the values of its rows. */
const formats: readonly (readonly [string, readonly (string | number)[]])[] = [
  ["3", numbers],
  ["3|text", [...numbers, ...texts]],
  ["number|text", [...numbers, -2.5, ...texts]],
  ["plain", numbers],
  ["plain|text", [...numbers, "a", "b"]],
  ["3|number", [...numbers, -2.5, 0.5, 1000]],
  ["digits|text", texts],
];

type Operand = number | bigint | string;
const operands: readonly Operand[] = [-3, -2.5, -0.5, 0, 0.5, 2.5, 9, 10, 99.5, 999, 999.5, 1000, 1e20, 7n, "5", "a", "b"];

const ranges = ["gt", "gte", "lt", "lte"] as const;
const fulfils = (value: unknown, operator: (typeof ranges)[number], operand: Operand): boolean => {
  const order = compareValues(value, operand) ?? Number.NaN;
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator];
};

describe.each(formats)("a field written as %s", (format, values) => {
  const schema = z.object({ id: text, n: z.union([z.number(), text]) });
  const open = async (sort: string) => {
    const graph = defineGraph({
      table: engine.freshTableName("ranges"),
      nodes: { thing: node({ key: "T#{id}", schema }) },
      layout: {
        partitionKey: "PK",
        sortKey: "SK",
        indexes: { all: { partitionKey: "GP", sortKey: "GS" } },
        nodes: { thing: { keys: { SK: "T", GP: "ALL", GS: sort } } },
      },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    for (const [at, n] of values.entries()) await db.thing.put({ id: `i${at}`, n }).orThrow();
    return db;
  };

  test.each([
    ["at the end of a key", `N#{n:${format}}`],
    ["before another field", `{n:${format}}#{id}`],
  ])("%s has the ranges of its values", async (_, sort) => {
    const db = await open(sort);
    const find = async (n: object) => new Set((await db.find("thing").where({ n }).using("all").rows()).map((row) => row.n));
    const kinds = new Set(values.map((value) => typeof value));
    const isAsked = (operand: Operand): boolean => kinds.has(typeof operand === "string" ? "string" : "number");
    for (const operand of operands.filter(isAsked))
      for (const operator of ranges)
        expect(await find({ [operator]: operand }), `${operator} ${operand}`).toEqual(
          new Set(values.filter((value) => fulfils(value, operator, operand))),
        );
    for (const [low, high] of [
      [-0.5, 9],
      [2.5, 1000],
      [9, 10],
      [1000, 2000],
      [0.25, 0.75],
      ["5", "a"],
    ] as const) {
      if (!isAsked(low)) continue;
      expect(await find({ between: [low, high] }), `${low} to ${high}`).toEqual(
        new Set(values.filter((value) => fulfils(value, "gte", low) && fulfils(value, "lte", high))),
      );
    }
  });
});

test("parts are asked for beyond what their keys write", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("lines"),
    nodes: { order: node({ key: "O#{id}", schema: z.object({ id: text }) }) },
    parts: { line: part({ of: "order", key: "LINE#{n:3}", schema: z.object({ n: z.int() }) }) },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  for (const n of [0, 7, 999]) await db.line.put({ id: "o" }, { n }).orThrow();
  const lines = db.order({ id: "o" }).parts("line");
  expect(await lines.where({ n: { gte: -1, lt: 1000 } }).count()).toBe(3);
  const { value, requests } = await lines
    .where({ n: { gt: 999 } })
    .all()
    .report();
  expect([value, requests.length]).toEqual([[], 1]);
  const none = await lines
    .where({ n: { gt: 1000 } })
    .all()
    .report();
  expect([none.value, none.requests]).toEqual([[], []]);
});

test("a prefix that ends with the last character there is has all texts that begin with it", async () => {
  const last = "\u{10FFFF}";
  const graph = defineGraph({
    table: engine.freshTableName("last"),
    nodes: { doc: node({ key: "D#{id}", schema: z.object({ id: text, name: text }) }) },
    indexes: { byName: { entries: { doc: "name" }, shards: 2 } },
  });
  const db = graph.connect({ transport: engine.transport, cursorSecret: "s".padEnd(43, "-") });
  await db.table.create();
  for (const name of [`a${last}`, `a${last}1`, `a${last}2`, `a${last}${last}`, "b"]) await db.doc.put({ id: name, name }).orThrow();
  const search = db.find("doc").where({ name: { beginsWith: `a${last}`, gte: "a" } });
  expect(await search.rows()).toHaveLength(4);
  const first = await search.page({ limit: 1 });
  expect((await search.page({ limit: 9, cursor: first.next })).items).toHaveLength(3);
});

test("a bound with the delimiter leaves out no key of values that may hold it", async () => {
  const graph = defineGraph({
    table: engine.freshTableName("loose"),
    nodes: { thing: node({ key: "T#{id}", schema: z.object({ id: text, x: text, y: text, open: z.boolean() }) }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: { open: { partitionKey: "GP", sortKey: "GS" } },
      nodes: { thing: { keys: { SK: "T", GP: "ALL", GS: "{x}#{y:lower}" }, when: { GP: { open: true } } } },
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  for (const [at, x] of ["a", "a#", "a#b", "a#c", "b"].entries()) await db.thing.put({ id: `i${at}`, x, y: "z", open: true }).orThrow();
  const found = await db
    .find("thing")
    .where({ open: true, x: { lte: "a#b" } })
    .rows();
  expect(found.map(({ x }) => x).toSorted()).toEqual(["a", "a#", "a#b"]);
});

test.each(["own", "adopted"])("filters and conditions of writes take bounds that the key cannot write (%s layout)", async (place) => {
  const graph = defineGraph({
    table: engine.freshTableName("bounds"),
    nodes: { shelf: node({ key: "SHELF#{n:3}", schema: z.object({ n: z.int(), name: text }) }) },
    ...(place === "own"
      ? { indexes: { byName: { entries: { shelf: "name" } } } }
      : {
          layout: {
            partitionKey: "PK",
            sortKey: "SK",
            indexes: { byName: { partitionKey: "GP", sortKey: "GS" } },
            nodes: { shelf: { keys: { SK: "SHELF", GP: "SHELVES", GS: "{name}" } } },
          },
        }),
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const values = [0, 7, 8, 999];
  for (const n of values) await db.shelf.create({ n, name: "a" }).orThrow();
  const numbers = [-3, -0.5, 0, 7, 7.5, 999, 999.5, 1000, 7n];
  const filters = [
    ...numbers.flatMap((operand) => ranges.map((operator) => ({ operator, operand }))),
    ...numbers.flatMap((low) => numbers.map((high) => ({ operator: "between" as const, operand: [low, high] as const }))),
  ];
  for (const { operator, operand } of filters) {
    const one = { [operator]: operand };
    const isWithin = (n: number): boolean =>
      operator === "between"
        ? fulfils(n, "gte", (operand as readonly Operand[])[0]!) && fulfils(n, "lte", (operand as readonly Operand[])[1]!)
        : fulfils(n, operator, operand as Operand);
    const search = db
      .find("shelf")
      .where({ name: "a", or: [{ n: one }, { n: one }] })
      .using("byName");
    const found = (await search.rows()).map(({ n }) => n).toSorted((a, b) => a - b);
    expect(found, `${operator} ${String(operand)}`).toEqual(values.filter(isWithin));
    expect(await search.count()).toBe(found.length);
    const outcome = await db.shelf.update({ n: 7 }, { name: "a" }, { if: { n: one } });
    expect(outcome.ok, `if ${operator} ${String(operand)}`).toBe(isWithin(7));
  }
});

describe.each([
  ["digits", ["1", "12", "2", "99"], ["", "1", "1#2", "1!", "1a", "a", "12", "~", "2"]],
  ["letters", ["a", "ab", "b", "Z"], ["", "1", "a#b", "a1", "a!", "a", "~", "Z", "_"]],
  ["text", ["a", "ab", "b", "Z"], ["", "1", "a#b", "a1", "a!", "a", "~", "Z"]],
] as const)("a field of %s takes any text as a bound and as a beginning", (format, values, operands) => {
  const schema = z.object({ id: text, code: text });
  const field = `{code:${format}}`;
  test.each([
    ["at the end of a key", "T#{id}", field],
    ["before another field", "T#{id}", `${field}#{id}`],
    ["in a filter", `T#${field}`, "{id}"],
    ["in Edgetable's own layout", "T#{id}", undefined],
  ])("%s", async (_, key, sort) => {
    const keys = { SK: "T", GP: "ALL", ...(sort !== undefined && { GS: sort }) };
    const graph = defineGraph({
      table: engine.freshTableName("bounds"),
      nodes: { thing: node({ key, schema }) },
      ...(sort === undefined
        ? { indexes: { all: { entries: { thing: "code" } } } }
        : {
            layout: {
              partitionKey: "PK",
              sortKey: "SK",
              indexes: { all: { partitionKey: "GP", sortKey: "GS" } },
              nodes: { thing: { keys } },
            },
          }),
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    for (const code of values) await db.thing.put({ id: `i${code}`, code }).orThrow();
    for (const operand of operands)
      for (const operator of [...ranges, "beginsWith"] as const) {
        const where = { code: { [operator]: operand } };
        const isWithin = (code: string): boolean =>
          operator === "beginsWith" ? code.startsWith(operand) : fulfils(code, operator, operand);
        for (const search of [where, ...(operator === "beginsWith" ? [] : [{ or: [where, where] }])]) {
          const found = await db.find("thing").where(search).using("all").rows();
          expect(new Set(found.map(({ code }) => code)), JSON.stringify(search)).toEqual(new Set(values.filter(isWithin)));
        }
      }
  });
});
