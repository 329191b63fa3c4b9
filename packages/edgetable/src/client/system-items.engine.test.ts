import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { defineGraph, edge, node, part, type Layout } from "../index.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const text = z.string();

// Both edges count at their source. The parts lie in the partition in which that count lies.
const adopted: Layout = {
  partitionKey: "PK",
  sortKey: "SK",
  sharedIds: true,
  indexes: { inverted: { partitionKey: "SK", sortKey: "PK" } },
  nodes: { hostile: { keys: { SK: "R#R#R#R#R" } }, victim: { keys: { SK: "R#R#R#R#R" } } },
  edges: { limited: { keys: { SK: "L#L#L#L#L#L#{to}" } }, owns: { keys: { SK: "O#O#O#O#O#O#{to}" } } },
};
const graphOf = (table: string, { key, thing, layout }: Model) =>
  defineGraph({
    table,
    nodes: {
      hostile: node({ key: key as "{a}#{b}", schema: z.object({ a: text, b: text, c: text, d: text, note: text.optional() }) }),
      victim: node({ key: "V#V#V#V#V#V#{id}", schema: z.object({ id: text, email: text }), unique: ["email"] }),
    },
    parts: { thing: part({ of: "hostile", key: thing as "{x}", schema: z.object({ x: text, y: text, z: text, note: text.optional() }) }) },
    edges: {
      limited: edge({ from: "hostile", to: "victim", maxDegree: { from: 2 }, ends: "unchecked" }),
      owns: edge({ from: "victim", to: "victim", maxDegree: { from: 2 }, ends: "unchecked" }),
    },
    ...(layout === "own" ? {} : { layout: adopted }),
  });

interface Model {
  readonly key: string;
  readonly thing: string;
  readonly layout: "own" | "adopted";
}
const model: fc.Arbitrary<Model> = fc.record({
  key: fc.constantFrom("{a}", "{a}#{b}", "{a}#{b}#{c}", "{a}#{b}#{c}#{d}", "{a:number|text}#{b}", "K#{a}"),
  thing: fc.constantFrom("{x}", "{x}#{y}", "{x}#{y}#{z}", "T#{x}"),
  layout: fc.constantFrom("own", "adopted"),
});

// Every piece of which the keys of Edgetable's own items consist.
const systemKeys = [
  "~secret",
  "cursor",
  "~secret#cursor",
  "~cursor",
  "~cursor#a#0",
  "~unique",
  "~unique#victim#email#e",
  "~job",
  "~degree",
  "~degree#limited#out",
];
const names = ["victim", "email", "e", "limited", "owns", "out", "in", "delete"];
const piece = fc.constantFrom(...systemKeys, ...names, "#", "~", "~~", "~~secret", "~~~", "a", "ROOT");
const row = fc.record({ a: piece, b: piece, c: piece, d: piece });
const inner = fc.record({ x: piece, y: piece, z: piece });
const verb = fc.constantFrom("put", "create", "update", "delete", "get", "collection", "find", "part", "parts", "unpart", "load", "walk");
const attack = fc.record({ verb, row, inner });

/** Of a row, what a key template names. */
const named = (template: string, whole: Readonly<Record<string, string>>): never =>
  Object.fromEntries(Object.entries(whole).filter(([field]) => new RegExp(`\\{${field}[:}]`).test(template))) as never;

const guarded = async (call: () => PromiseLike<unknown>, layout: Model["layout"]): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    const code = layout === "own" ? [] : ["keys.reserved", "keys.delimiter", "traverse.start"];
    if (isEdgetableError(error) && code.includes(error.code)) return "refused";
    throw error;
  }
};

describe("whatever ids are given, Edgetable's own items are out of reach", () => {
  test("in models whose keys begin with a field, in Edgetable's own layout and adopted ones", async () => {
    await fc.assert(
      fc.asyncProperty(model, fc.array(attack, { minLength: 10, maxLength: 25 }), async (shape, attacks) => {
        const table = engine.freshTableName("attack");
        const db = graphOf(table, shape).connect({ transport: engine.transport });
        await db.table.create();
        const [pk, sk] = shape.layout === "own" ? (["pk", "sk"] as const) : (["PK", "SK"] as const);
        const whole = { a: "1", b: "b", c: "c", d: "d" };
        const plain = named(shape.key, whole);
        await db.hostile.create(whole).orThrow();
        await db.victim.create({ id: "v", email: "e" }).orThrow();
        await db.limited.link(plain, { id: "v" }).orThrow();
        await db.owns.link({ id: "v" }, { id: "v" }).orThrow();
        await db.victim({ id: "v" }).out("owns").page({ limit: 1 });
        await db.owns.link({ id: "v" }, { id: "w" }).orThrow();
        await db.victim({ id: "v" }).out("owns").page({ limit: 1 });
        await engine.transport.send("PutItem", {
          TableName: table,
          Item: { [pk]: { S: "~job" }, [sk]: { S: "delete" }, "~facts": { M: {} }, "~kind": { S: "load" } },
        });
        const own = async (): Promise<unknown> => {
          const { Items = [] } = await engine.transport.send("Scan", { TableName: table, ConsistentRead: true });
          const names = ["~secret", "~owner", "~count", "~facts"];
          return Items.filter((item) => names.some((name) => name in item))
            .map((item) => JSON.stringify(Object.entries(item).toSorted()))
            .toSorted();
        };
        const before = await own();
        expect(before).toHaveLength(5);
        for (const [at, { verb: kind, row: id, inner: thing }] of attacks.entries()) {
          const key = named(shape.key, id);
          const inThing = named(shape.thing, thing);
          const call = {
            put: () => db.hostile.put({ ...id, note: `${at}` }),
            create: () => db.hostile.create({ ...id, note: `${at}` }),
            update: () => db.hostile.update(key, { note: `${at}` }),
            delete: () => db.hostile.delete(key),
            get: () => db.hostile(key).get(),
            collection: () => db.hostile(key).collection(),
            find: () => db.hostile.getMany([key]),
            part: () => db.thing.put(plain, { ...thing, note: `${at}` }),
            parts: () => db.hostile(plain).parts("thing").all(),
            unpart: () => db.thing.delete(plain, inThing),
            load: () => db.load([{ node: "hostile", row: { ...id, note: `${at}` } }]),
            walk: () => db.hostile(key).out("limited").out("owns").ids(),
          }[kind];
          const answer = await guarded(call as () => PromiseLike<unknown>, shape.layout);
          expect(JSON.stringify(answer) ?? "").not.toMatch(/"~(owner|count|secret|facts|kind)":/);
          expect(await own()).toEqual(before);
          if (kind === "put" && answer !== "refused") expect(await db.hostile(key).get()).toMatchObject({ note: `${at}` });
          if (kind === "part" && answer !== "refused")
            expect(await db.hostile(plain).parts("thing").all()).toContainEqual(
              expect.objectContaining({ ...(inThing as object), note: `${at}` }),
            );
        }
        expect(await db.jobs.list()).toHaveLength(1);
        const again = graphOf(table, shape).connect({ transport: engine.transport });
        expect(await again.victim.create({ id: "w", email: "e" })).toMatchObject({ ok: false, reason: "notUnique" });
      }),
      propertyRuns(25),
    );
  });

  test("a model whose table keys begin with a tilde is refused, and an edge whose copies would look like counts", () => {
    const schema = z.object({ id: text });
    const own = () => defineGraph({ table: "t", nodes: { a: node({ key: "~secret#{id}", schema }) } });
    expect(own).toThrow('"~secret#{id}" begins with "~", which only keys of Edgetable\'s own items do.');
    const layout: Layout = { partitionKey: "PK", sortKey: "SK", nodes: { a: { keys: { SK: "~degree#x" } } } };
    expect(() => defineGraph({ table: "t", nodes: { a: node({ key: "A#{id}", schema }) }, layout })).toThrow('"~degree#x" begins with "~"');
    const index: Layout = { partitionKey: "PK", sortKey: "SK", indexes: { byJob: { partitionKey: "~kind" } } };
    expect(() => defineGraph({ table: "t", nodes: { a: node({ key: "A#{id}", schema }) }, layout: index })).toThrow(
      '"~kind" is an attribute',
    );
    const copies = () =>
      defineGraph({
        table: "t",
        nodes: { a: node({ key: "{id}", schema }) },
        edges: { degree: edge({ from: "a", to: "a", stored: "twice" }) },
      });
    expect(copies).toThrow('"degree" cannot be stored twice');
  });

  test("an item of somebody else's with such a key is no row of an adopted table", async () => {
    const table = engine.freshTableName("foreign");
    const db = graphOf(table, { key: "{a}", thing: "{x}", layout: "adopted" }).connect({ transport: engine.transport });
    await db.table.create();
    const foreign = { PK: { S: "~else" }, SK: { S: "R#R#R#R#R" }, note: { S: "x" } };
    await engine.transport.send("PutItem", { TableName: table, Item: foreign });
    const strays: unknown[] = [];
    const rows: unknown[] = [];
    for await (const one of db.scan({ onStray: (stray) => strays.push(stray) })) rows.push(one);
    expect(rows).toEqual([]);
    expect(strays).toHaveLength(1);
    await expect((async () => db.hostile({ a: "~else" } as never).get())()).rejects.toMatchObject({ code: "keys.reserved" });
  });

  test("texts that begin with a tilde keep their order among all others", async () => {
    const graph = defineGraph({
      table: engine.freshTableName("tilde"),
      nodes: { owner: node({ key: "{id}", schema: z.object({ id: text }) }) },
      parts: { tag: part({ of: "owner", key: "T#{name}", schema: z.object({ name: text }) }) },
      indexes: { byId: { entries: { owner: { by: "id:text" } } } },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    const ids = ["a", "}", "~", "~!", "~a", "~~", "~~a", "\u007f", "é"];
    for (const id of ids.toReversed()) await db.owner.create({ id }).orThrow();
    expect(
      (
        await db
          .find("owner")
          .where({ id: { gte: "a" } })
          .rows()
      ).map(({ id }) => id),
    ).toEqual(ids);
    expect(
      (
        await db
          .find("owner")
          .where({ id: { beginsWith: "~" } })
          .rows()
      ).map(({ id }) => id),
    ).toEqual(ids.slice(2, 7));
    expect(
      (
        await db
          .find("owner")
          .where({ id: { beginsWith: "~~" } })
          .rows()
      ).map(({ id }) => id),
    ).toEqual(ids.slice(5, 7));
    expect(
      (
        await db
          .find("owner")
          .where({ id: { between: ["~", "~a"] } })
          .rows()
      ).map(({ id }) => id),
    ).toEqual(ids.slice(2, 5));
    expect(
      (
        await db
          .find("owner")
          .where({ id: { lte: "~" } })
          .rows()
      ).map(({ id }) => id),
    ).toEqual(ids.slice(0, 3));
  });
});
