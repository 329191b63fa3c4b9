import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";
import { defineGraph, edge, node } from "../index.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const shop = node({
  key: "SHOP#{shopId}",
  schema: z.object({
    shopId: z.string(),
    name: z.string(),
    address: z
      .object({
        city: z.string(),
        size: z.number().optional(),
        geo: z.object({ lat: z.number() }).optional(),
        "post.code": z.string().optional(),
      })
      .optional(),
    tags: z.array(z.string()).optional(),
    lines: z.array(z.object({ sku: z.string(), amount: z.number() })).optional(),
  }),
});
const near = edge({
  from: "shop",
  to: "shop",
  ends: "unchecked",
  schema: z.object({ route: z.object({ metres: z.number(), by: z.string() }) }),
});

const open = async () => {
  const graph = defineGraph({ table: engine.freshTableName("nested"), nodes: { shop }, edges: { near } });
  const { transport } = engine;
  const [db, memory] = [graph.connect({ transport }), graph.connect({ transport, advanced: { rulesOff: ["filter-on-server"] } })];
  await db.table.create();
  return { db, memory };
};

const lisbon = {
  shopId: "1",
  name: "Ann's",
  address: { city: "Lisbon", size: 2, geo: { lat: 38.7 }, "post.code": "1000" },
  tags: ["a", "b"],
  lines: [{ sku: "s", amount: 1 }],
};

test("conditions of writes and filters of edges compare what lies within an attribute", async () => {
  const { db } = await open();
  await db.shop.create(lisbon).orThrow();
  const passes = async (filter: NonNullable<NonNullable<Parameters<typeof db.shop.check>[1]>["if"]>): Promise<boolean> =>
    (await db.shop.check({ shopId: "1" }, { if: filter })).ok;
  expect(await passes({ "address.city": "Lisbon", "address.geo.lat": { gt: 38 }, 'address["post.code"]': "1000" })).toBe(true);
  expect(await passes({ "address.size": { between: [1, 2] }, "tags[1]": "b", "lines[0].sku": { beginsWith: "s" } })).toBe(true);
  expect(await passes({ or: [{ "tags[2]": "c" }, { "lines[0].amount": { in: [1, 3] } }], not: { "address.city": "Porto" } })).toBe(true);
  expect(await passes({ "tags[2]": { exists: false }, "lines[1].sku": { ne: "s" } })).toBe(true);
  expect(await passes({ "address.city": "Porto" })).toBe(false);
  expect(await passes({ "tags[0]": "b" })).toBe(false);
  await db.near.link({ shopId: "1" }, { shopId: "2" }, { route: { metres: 300, by: "foot" } }).orThrow();
  await db.near.link({ shopId: "1" }, { shopId: "3" }, { route: { metres: 900, by: "bus" } }).orThrow();
  const close = db
    .shop({ shopId: "1" })
    .out("near")
    .where({ "route.metres": { lt: 500 } });
  expect((await close.edges()).map(({ to }) => to.shopId)).toEqual(["2"]);
  expect(await close.count()).toBe(1);
  expect((await close.select("to").edges()).length).toBe(1);
  const { plan: _plan, ...explained } = (await close.explain()) as unknown as { readonly plan: unknown };
  expect(JSON.stringify(explained)).toContain("#0.#1 < :");
});

test("a path names an attribute of the schema, and has a form", async () => {
  const { db } = await open();
  const check = (filter: object) => () => db.shop.check({ shopId: "1" }, { if: filter });
  expect(check({ "adress.city": "x" })).toThrow(/"adress" is not an attribute of "shop"\. Did you mean "address"\?/);
  for (const path of ["address..city", "tags[x]", "tags[0", ".city", "tags[-1]", 'address["post.code]'])
    expect(check({ [path]: "x" })).toThrow(/is not a path within an attribute\. Write "address\.city"/);
  expect(() => db.near.getMany({ shopId: "1" }, [{ shopId: "2" }], { where: { "rout.metres": 1 } as never })).toThrow(
    /"rout" is not an attribute/,
  );
});

test("a name in brackets is any text, as it is or with JSON's escapes", async () => {
  const held = z.record(z.string(), z.string());
  const box = node({ key: "BOX#{id}", schema: z.object({ id: z.string(), m: held }) });
  const db = defineGraph({
    table: engine.freshTableName("names"),
    nodes: { box },
    edges: { holds: edge({ from: "box", to: "box", schema: z.object({ m: held }) }) },
  }).connect({ transport: engine.transport });
  await db.table.create();
  const names = ["x\ty", "a\nb", "\u0000", "\u001f", "\u007f", "é", "😀", 'say "x"', "back\\slash", "a.b", "a]b", " ", "\u2028"];
  const m = Object.fromEntries(names.map((name) => [name, "v"]));
  await db.box.create({ id: "1", m }).orThrow();
  await db.holds.link({ id: "1" }, { id: "1" }, { m }).orThrow();
  for (const name of names)
    for (const text of new Set([JSON.stringify(name), `"${name.replaceAll(/["\\]/g, "\\$&")}"`])) {
      const path = `m[${text}]`;
      const passes = async (value: string) => (await db.box.check({ id: "1" }, { if: { [path]: value } } as never)).ok;
      expect([name, await passes("v"), await passes("w")]).toEqual([name, true, false]);
      expect([
        name,
        await db
          .box({ id: "1" })
          .out("holds")
          .where({ [path]: "v" } as never)
          .count(),
      ]).toEqual([name, 1]);
      await db.box.update({ id: "1" }, { set: { [path]: "w" } } as never).orThrow();
      expect([name, (await db.box.get({ id: "1" }))?.m[name]]).toEqual([name, "w"]);
      await db.box.update({ id: "1" }, { set: { [path]: "v" } } as never).orThrow();
    }
  for (const path of ['m["\\x"]', 'm["\\u12"]', 'm[""]', 'm["a" ]', 'm["a""b"]', 'm["a', 'm["\\"]']) {
    const refused = { code: "plan.invalidOption", message: expect.stringContaining("is not a path within an attribute") as unknown };
    await expect((async () => db.box.check({ id: "1" }, { if: { [path]: "v" } } as never))()).rejects.toMatchObject(refused);
    await expect((async () => db.box.update({ id: "1" }, { set: { [path]: "v" } } as never))()).rejects.toMatchObject(refused);
    await expect(
      (async () =>
        db
          .box({ id: "1" })
          .out("holds")
          .where({ [path]: "v" } as never)
          .edges())(),
    ).rejects.toMatchObject(refused);
  }
});

type Row = Readonly<Record<string, unknown>>;
const scalar = fc.constantFrom<unknown>("a", "ab", "é", 0, 1, -2.5, true, null);
const tree = fc.letrec<{ value: unknown; map: Row; list: readonly unknown[] }>((tie) => ({
  value: fc.oneof({ maxDepth: 2 }, scalar, tie("map"), tie("list")),
  map: fc.dictionary(fc.constantFrom("a", "b", "a.b", "size"), tie("value"), { maxKeys: 2 }),
  list: fc.array(tie("value"), { maxLength: 2 }),
})).value;
const step = fc.oneof(fc.constantFrom<string | number>("a", "b", "a.b", "size"), fc.constantFrom<string | number>(0, 1));
const steps = fc.array(step, { minLength: 1, maxLength: 3 });
// A range takes texts and numbers alone.
const comparison = fc.oneof(
  fc.record({ steps, operator: fc.constantFrom("eq", "ne", "contains"), operand: scalar }),
  fc.record({ steps, operator: fc.constantFrom("lt", "gte"), operand: fc.constantFrom("ab", 0) }),
  fc.record({ steps, operator: fc.constant("exists"), operand: fc.boolean() }),
);

/** What the naive reader finds by a path; undefined if a step is missing. */
const found = (value: unknown, [first, ...rest]: readonly (string | number)[]): unknown => {
  if (first === undefined) return value;
  const isRight = typeof value === "object" && value !== null && Array.isArray(value) === (typeof first === "number");
  return isRight ? found((value as Readonly<Record<string | number, unknown>>)[first], rest) : undefined;
};

const textOf = (steps: readonly (string | number)[]): string =>
  `v${steps.map((one) => (typeof one === "number" ? `[${one}]` : one.includes(".") ? `[${JSON.stringify(one)}]` : `.${one}`)).join("")}`;

test("a filter by path keeps the same edges in memory as on the server, whatever they hold", async () => {
  const { transport } = engine;
  const graph = defineGraph({
    table: engine.freshTableName("paths"),
    nodes: { box: node({ key: "BOX#{id}", schema: z.object({ id: z.string() }) }) },
    edges: { holds: edge({ from: "box", to: "box", schema: z.object({ v: z.any() }), ends: "unchecked" }) },
  });
  const [db, memory] = [graph.connect({ transport }), graph.connect({ transport, advanced: { rulesOff: ["filter-on-server"] } })];
  await db.table.create();
  let box = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(tree, { minLength: 4, maxLength: 10 }),
      fc.array(comparison, { minLength: 4, maxLength: 8 }),
      async (values, asked) => {
        const id = String(box++);
        for (const [at, v] of values.entries()) await db.holds.link({ id }, { id: String(at) }, { v }).orThrow();
        for (const { steps: path, operator, operand } of asked) {
          const where = { [textOf(path)]: { [operator]: operand } };
          const idsOf = async ({ box: of }: typeof db): Promise<readonly string[]> =>
            (await of({ id }).out("holds").where(where).edges()).map(({ to }) => to.id).toSorted();
          const inMemory = await idsOf(memory);
          expect(await idsOf(db)).toEqual(inMemory);
          if (operator !== "exists") continue;
          const expected = values.flatMap((v, at) => ((found(v, path) !== undefined) === operand ? [String(at)] : []));
          expect(inMemory).toEqual(expected.toSorted());
        }
      },
    ),
    propertyRuns(20),
  );
});
