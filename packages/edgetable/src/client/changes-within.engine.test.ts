import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { testEngineName } from "../../../../conformance/engines/engine-name.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";
import { count, defineGraph, edge, node } from "../index.ts";
import { openWriteLab } from "../test-support/write-lab.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const address = z.object({ city: z.string().trim(), size: z.int().optional(), "post.code": z.string().optional() });
const shop = node({
  key: "SHOP#{shopId}",
  schema: z.object({
    shopId: z.string(),
    name: z.string(),
    address: address.optional(),
    tags: z.array(z.string()).optional(),
    labels: z.set(z.string()).optional(),
    stats: z.object({ visits: z.int(), by: z.set(z.string()).optional() }).optional(),
    settings: z.record(z.string(), z.number()).optional(),
  }),
});
const near = edge({
  from: "shop",
  to: "shop",
  stored: "twice",
  schema: z.object({ route: z.object({ metres: z.number(), by: z.string() }) }),
  copies: { to: ["address"] },
});

const open = async () => {
  const graph = defineGraph({ table: engine.freshTableName("within"), nodes: { shop }, edges: { near } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const id = { shopId: "1" };
  const row = {
    shopId: "1",
    name: "Ann's",
    address: { city: "Lisbon", size: 2 },
    tags: ["a", "b", "c"],
    labels: new Set(["x", "y"]),
    stats: { visits: 1 },
    settings: { dark: 1 },
  };
  await db.shop.create(row).orThrow();
  return { db, id, row };
};

test("one UpdateItem changes what lies within attributes, on condition that the parents are there", async () => {
  const lab = await openWriteLab({ table: "Within", nodes: { shop } });
  await lab
    .node("shop")
    .create({ shopId: "1", name: "n", address: { city: "Lisbon" }, tags: ["a"], stats: { visits: 1 } })
    .orThrow();
  lab.sent.length = 0;
  const changes = {
    set: { name: "m", "address.city": " Porto ", 'address["post.code"]': "1", "tags[0]": "b" },
    add: { "stats.visits": 2 },
  };
  const { row } = await lab.node("shop").update({ shopId: "1" }, changes).orThrow();
  expect(row).toEqual({ shopId: "1", name: "m", address: { city: "Porto", "post.code": "1" }, tags: ["b"], stats: { visits: 3 } });
  expect(lab.sent.map(({ operation }) => operation)).toEqual(["UpdateItem"]);
  const { UpdateExpression, ConditionExpression } = lab.sent[0]!.input;
  expect(UpdateExpression).toBe("SET #0 = :0, #1.#2 = :1, #1.#3 = :2, #4[0] = :3 ADD #5.#6 :4");
  expect(ConditionExpression).toContain("attribute_type(#1, :");
  await lab.stop();
});

test("elements of lists and members of sets are added and taken out", async () => {
  const { db, id } = await open();
  const { row } = await db.shop
    .update(id, {
      remove: ["tags[0]", "address.size"],
      append: {},
      add: { "stats.by": new Set(["ann"]), "settings.dark": 2 },
      delete: { labels: new Set(["x", "z"]) },
    })
    .orThrow();
  expect(row).toMatchObject({ tags: ["b", "c"], address: { city: "Lisbon" }, stats: { visits: 1, by: new Set(["ann"]) } });
  expect(row).toMatchObject({ labels: new Set(["y"]), settings: { dark: 3 } });
  const last = await db.shop.update(id, { delete: { labels: new Set(["y"]), "stats.by": new Set(["ann"]) } }).orThrow();
  expect(last.row?.labels).toBeUndefined();
  expect(last.row?.stats).toEqual({ visits: 1 });
});

test("a missing parent, a misspelt member and a value of the wrong type are named; nothing is written", async () => {
  const { db, id, row } = await open();
  await db.shop.create({ shopId: "2", name: "bare" }).orThrow();
  const other = { shopId: "2" };
  await expect(db.shop.update(other, { set: { "address.city": "x" } }).orThrow()).rejects.toThrow(
    '"address.city" cannot be changed (set): the item has no "address". DynamoDB does not create the parents of a path: set the whole "address", to an object.',
  );
  await expect(db.shop.update(other, { add: { "stats.visits": 1 } }).orThrow()).rejects.toThrow('the item has no "stats"');
  await expect(db.transact([db.shop.update(other, { set: { "tags[0]": "x" } }), db.shop.delete(id)]).orThrow()).rejects.toThrow(
    'no "tags"',
  );
  expect(await db.shop.update({ shopId: "3" }, { set: { "address.city": "x" } })).toMatchObject({ ok: false, reason: "notFound" });
  const refused = async (changes: object): Promise<string> =>
    Promise.resolve()
      .then(() => db.shop.update(id, changes).orThrow())
      .then(
        () => "written",
        (error: Error) => error.message,
      );
  expect(await refused({ set: { "address.town": "x" } })).toContain('"address.town": there is no such member');
  expect(await refused({ set: { "address.size": 1.5 } })).toContain('"address.size"');
  expect(await refused({ remove: ["address.city"] })).toContain('"address.city"');
  expect(await refused({ add: { "address.city": 1 } })).toContain("a number can only be added to a number");
  expect(await refused({ set: { "adress.city": "x" } })).toContain('Did you mean "address"');
  expect(await refused({ set: { address: { city: "x" }, "address.city": "y" } })).toContain("one holds the other");
  expect(await refused({ delete: { labels: ["x"] } })).toContain("takes a Set of members");
  expect(await refused({ append: { labels: new Set(["x"]) } })).toContain("`add` puts members into a set");
  expect(await refused({ add: { labels: new Set(["x"]) }, delete: { labels: new Set(["y"]) } })).toContain('cannot change "labels" twice');
  expect(await db.shop.get(id)).toEqual(row);
});

test("copies follow, both copies of an edge change, and an upsert takes paths", async () => {
  const { db, id } = await open();
  await db.shop.create({ shopId: "2", name: "b", address: { city: "Faro" } }).orThrow();
  const other = { shopId: "2" };
  await db.near.link(id, other, { route: { metres: 3, by: "foot" } }).orThrow();
  await db.shop.update(other, { set: { "address.city": "Braga" } }).orThrow();
  expect(await db.shop(id).out("near").edges()).toMatchObject([{ address: { city: "Braga" } }]);
  await db.near.relink(id, other, { set: { "route.metres": 5 } }).orThrow();
  expect(await db.shop(id).out("near").edges()).toMatchObject([{ route: { metres: 5, by: "foot" } }]);
  expect(await db.shop(other).in("near").edges()).toMatchObject([{ route: { metres: 5, by: "foot" }, address: { city: "Braga" } }]);
  const up = await db.shop.upsert({ shopId: "1", name: "n" }, { set: { "address.city": "Evora" } }).orThrow();
  expect(up).toMatchObject({ created: false, row: { address: { city: "Evora", size: 2 } } });
});

test("an entry of a record is taken out", async () => {
  const { db, id, row } = await open();
  await db.shop.update(id, { set: { "settings.light": 2, 'settings["a.b"]': 3 }, remove: ["settings.dark"] }).orThrow();
  await db.shop.update(id, { remove: ['settings["a.b"]', "settings.none"] }).orThrow();
  expect(await db.shop.get(id)).toEqual({ ...row, settings: { light: 2 } });
});

test("a set goes with its last member, also where its attribute is written whole", async () => {
  const labels = z.set(z.string()).optional();
  const tag = node({
    key: "TAG#{id}",
    schema: z.object({ id: z.string(), labels, points: z.set(z.number()).optional(), former: labels }),
    renamed: { former: "old" },
  });
  const graph = defineGraph({
    table: engine.freshTableName("last"),
    nodes: {
      tag,
      page: node({
        key: "PAGE#{id}",
        schema: z.object({ id: z.string() }),
        derived: { marked: count({ in: "has", where: { marks: { exists: true } } }) },
      }),
    },
    edges: {
      has: edge({
        from: "tag",
        to: "page",
        schema: z.object({ marks: labels }),
        copies: { from: { labels: "labels", points: "points", old: "former" } },
        onDelete: { from: "cascade", to: "cascade" },
      }),
    },
  });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [id, page] = [{ id: "1" }, { id: "p" }];
  await db.tag.create({ ...id, labels: new Set(["x", "y"]), points: new Set([1, 2]), former: new Set(["z"]) }).orThrow();
  await db.page.create(page).orThrow();
  await db.has.link(id, page, { marks: new Set(["m"]) }).orThrow();
  await db.tag.update(id, { delete: { labels: new Set(["x"]), points: new Set([1]) } }).orThrow();
  expect(await db.has.get(id, page)).toMatchObject({ labels: new Set(["y"]), points: new Set([2]), old: new Set(["z"]) });
  await db.tag.update(id, { delete: { labels: new Set(["y"]), points: new Set([2, 3]), former: new Set(["z"]) } }).orThrow();
  expect(await db.has.get(id, page)).toEqual({ from: id, to: page, marks: new Set(["m"]) });
  await db.has.relink(id, page, { delete: { marks: new Set(["m"]) } }).orThrow();
  await db.tag.update(id, { delete: { labels: new Set(["y"]) } }).orThrow();
  expect([await db.tag.get(id), await db.page.get(page)]).toEqual([id, { ...page, marked: 0 }]);
});

test("an edge that becomes another type takes what is added to both of its copies", async () => {
  const schema = z.object({ visits: z.int(), route: z.object({ metres: z.int() }) });
  const ends = { from: "shop", to: "shop", stored: "twice", schema } as const;
  const graph = defineGraph({ table: engine.freshTableName("retyped"), nodes: { shop }, edges: { plans: edge(ends), knows: edge(ends) } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  const [one, other] = [{ shopId: "1" }, { shopId: "2" }];
  await db.transact([db.shop.create({ ...one, name: "a" }), db.shop.create({ ...other, name: "b" })]).orThrow();
  await db.plans.link(one, other, { visits: 1, route: { metres: 3 } }).orThrow();
  await db.plans.relink(one, other, { add: { visits: 2, "route.metres": 1 } }, { type: "knows" }).orThrow();
  const now = [{ visits: 3, route: { metres: 4 } }];
  expect(await db.shop(one).out("knows").edges()).toMatchObject(now);
  expect(await db.shop(other).in("knows").edges()).toMatchObject(now);
});

test("elements of a list are removed by their positions before the change", async () => {
  const box = node({ key: "BOX#{id}", schema: z.object({ id: z.string(), v: z.any() }) });
  const db = defineGraph({ table: engine.freshTableName("removed"), nodes: { box } }).connect({ transport: engine.transport });
  await db.table.create();
  const v = { l: ["a", "b", "c", "d"], deep: [["a", "b"], ["c"], ["d"]] };
  await db.box.create({ id: "1", v }).orThrow();
  await db.box.update({ id: "1" }, { remove: ["v.l[0]", "v.l[1]", "v.l[3]", "v.deep[0]", "v.deep[2]"] }).orThrow();
  expect(await db.box.get({ id: "1" })).toMatchObject({ v: { l: ["c"], deep: [["c"]] } });
});

// The embedded engine fills a list with null up to a position behind its end; DynamoDB appends (docs/engines.md).
const positions = testEngineName() === "dynamodb-local" ? ["v.l[0]", "v.l[1]", "v.l[7]"] : ["v.l[0]", "v.l[1]"];
// What is changed: values, members, positions within the list, one behind its end, and two levels.
const change = fc.oneof(
  fc.record({
    verb: fc.constant("set" as const),
    path: fc.constantFrom("v.a", "v.b.c", ...positions),
    value: fc.constantFrom<unknown>("x", 5, ["p"]),
  }),
  fc.record({
    verb: fc.constant("remove" as const),
    path: fc.constantFrom("v.a", "v.b", "v.b.c", "v.l[0]", "v.l[1]"),
    value: fc.constant(undefined),
  }),
  fc.record({ verb: fc.constant("add" as const), path: fc.constantFrom("v.n", "v.b.n"), value: fc.constantFrom<unknown>(2, -0.1) }),
  fc.record({ verb: fc.constant("append" as const), path: fc.constantFrom("v.l", "v.b.l"), value: fc.constant<unknown>(["q"]) }),
  fc.record({
    verb: fc.constant("delete" as const),
    path: fc.constant("v.s"),
    value: fc.constantFrom<unknown>(new Set(["m"]), new Set(["m", "o"])),
  }),
);

test("a change by path leaves the same on the engine as where the row is read and changed in memory", async () => {
  const schema = z.object({ id: z.string(), v: z.any() });
  const box = node({ key: "BOX#{id}", schema });
  const kept = node({ key: "KEPT#{id}", schema });
  const onto = edge({ from: "kept", to: "kept", ends: "unchecked", copies: { from: ["v"] } });
  const graph = defineGraph({ table: engine.freshTableName("both"), nodes: { box, kept }, edges: { onto } });
  const db = graph.connect({ transport: engine.transport });
  await db.table.create();
  let next = 0;
  const v = { a: "a", n: 1, b: { c: "c", n: 0.3 }, l: ["k", "l"], s: new Set(["m", "o"]) };
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(change, { minLength: 1, maxLength: 3, selector: ({ path }) => path }), async (changes) => {
      const id = String(next++);
      await db.transact([db.box.create({ id, v }), db.kept.create({ id, v })]).orThrow();
      const given: Record<string, Record<string, unknown> | string[]> = {};
      for (const { verb, path, value } of changes) {
        if (verb === "remove") ((given["remove"] ??= []) as string[]).push(path);
        else (given[verb] ??= {} as Record<string, unknown>)[path as never] = value as never;
      }
      const ended = async (call: () => Promise<{ readonly ok: boolean }>): Promise<string> =>
        Promise.resolve()
          .then(call)
          .then(
            ({ ok }) => String(ok),
            () => "refused",
          );
      const [native, inMemory] = [
        await ended(() => db.box.update({ id }, given).run()),
        await ended(() => db.kept.update({ id }, given).run()),
      ];
      expect(inMemory).toBe(native);
      expect((await db.kept.get({ id }))?.v).toEqual((await db.box.get({ id }))?.v);
    }),
    propertyRuns(60),
  );
});
