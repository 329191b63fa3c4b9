import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openEngine, type TestEngine } from "../../../../conformance/engines/open-engine.ts";
import { valueClasses as classes, type Value } from "../../../../conformance/hostile/values.ts";
import { defineGraph, edge, node } from "../index.ts";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";

const value = z.union([z.string(), z.number(), z.bigint(), z.boolean(), z.date()]);
const graphOf = (table: string) =>
  defineGraph({
    table,
    nodes: {
      thing: node({ key: "T#{v:date|number|boolean|text}", schema: z.object({ v: value, at: z.number() }), mirror: true }),
      pair: node({ key: "P#{a}#{v:date|number|boolean|text}", schema: z.object({ a: z.string(), v: value, at: z.number() }) }),
    },
    edges: {
      next: edge({ from: "thing", to: "thing" }),
      follows: edge({ from: "pair", to: "pair" }),
    },
  });

let engine: TestEngine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

const open = async () => {
  const db = graphOf(engine.freshTableName("hostile")).connect({ transport: engine.transport, cursorSecret: "x".repeat(32) });
  await db.table.create();
  return db;
};

/** A graph over some of the classes, by their positions; `spell` chooses how a value is written in each call. */
interface Sample {
  readonly nodes: readonly number[];
  readonly absent: readonly number[];
  readonly edges: readonly (readonly [number, number])[];
  readonly spell: number;
}
const sample: fc.Arbitrary<Sample> = fc.uniqueArray(fc.nat(classes.length - 1), { minLength: 5, maxLength: 12 }).chain((all) => {
  const nodes = all.slice(0, -2);
  return fc.record({
    nodes: fc.constant(nodes),
    absent: fc.constant(all.slice(-2)),
    edges: fc.uniqueArray(fc.tuple(fc.constantFrom(...nodes), fc.constantFrom(...nodes)), { maxLength: 24, selector: String }),
    spell: fc.nat(100),
  });
});

const classOf = (v: unknown): number =>
  classes.findIndex((members) =>
    members.some((one) =>
      one instanceof Date ? v instanceof Date && v.getTime() === one.getTime() : Object.is(v, one) || (v === one && v === 0),
    ),
  );

const ascending = (list: Iterable<number>): readonly number[] => [...list].toSorted((a, b) => a - b);

/** What the model says, over positions alone. */
const modelOf = ({ edges }: Sample) => {
  const out = (from: number): readonly number[] => edges.filter((one) => one[0] === from).map((one) => one[1]);
  const into = (to: number): readonly number[] => edges.filter((one) => one[1] === to).map((one) => one[0]);
  const distance = (from: number, to: number): number | undefined => {
    const seen = new Map([[from, 0]]);
    for (const at of seen.keys()) for (const next of out(at)) if (!seen.has(next)) seen.set(next, seen.get(at)! + 1);
    return seen.get(to);
  };
  return { out, into, distance };
};

describe("ids that are hard to tell apart", () => {
  test("are told apart, and found in every spelling, by reads and walks alike", async () => {
    await fc.assert(
      fc.asyncProperty(sample, async (given) => {
        const db = await open();
        let turn = given.spell;
        const v = (at: number): Value => classes[at]![turn++ % classes[at]!.length]!;
        const model = modelOf(given);
        for (const at of given.nodes) {
          await db.thing.create({ v: v(at), at }).orThrow();
          await db.pair.create({ a: "a", v: v(at), at }).orThrow();
        }
        for (const [from, to] of given.edges) {
          await db.next.link({ v: v(from) }, { v: v(to) }).orThrow();
          await db.follows.link({ a: "a", v: v(from) }, { a: "a", v: v(to) }).orThrow();
        }
        const asked = [...given.nodes, ...given.absent];
        const expected = asked.map((at) => (given.absent.includes(at) ? undefined : at));
        expect((await db.thing.getMany(asked.map((at) => ({ v: v(at) })))).map((row) => row?.at)).toEqual(expected);
        expect((await db.pair.getMany(asked.map((at) => ({ a: "a", v: v(at) })))).map((row) => row?.at)).toEqual(expected);
        for (const at of given.nodes) {
          const whole = await db.thing({ v: v(at) }).collection();
          expect(whole.node?.at).toBe(at);
          expect(ascending((whole.edges.next ?? []).map(({ to }) => classOf(to.v)))).toEqual(ascending(model.out(at)));
          const incoming = await db.thing({ v: v(at) }).incoming();
          expect(ascending((incoming.edges.next ?? []).map(({ from }) => classOf(from.v)))).toEqual(ascending(model.into(at)));
          const near = await db
            .pair({ a: "a", v: v(at) })
            .out("follows")
            .ids();
          expect(ascending(near.map((id) => classOf(id.v)))).toEqual(ascending(model.out(at)));
        }
        const [start = 0, other = 0, third = 0] = given.nodes;
        const two = new Set(model.out(start).flatMap(model.out));
        const left = await db
          .thing({ v: v(start) })
          .out("next")
          .out("next")
          .dedupe()
          .except([{ v: v(other) }, { v: v(third) }])
          .ids();
        expect(ascending([...left].map((id) => classOf(id.v)))).toEqual(ascending([...two].filter((at) => at !== other && at !== third)));
        const shared = await db.pair({ a: "a", v: v(start) }).common({ out: "follows" }, [{ a: "a", v: v(other) }]);
        const both = model.out(start).filter((at) => model.out(other).includes(at));
        expect(ascending([...shared].map((id) => classOf(id.v)))).toEqual(ascending(both));
        const path = await db.thing({ v: v(start) }).shortestPath({ v: v(other) }, { out: "next" });
        expect([...path][0]?.length).toBe(start === other ? undefined : (model.distance(start, other) ?? -1) + 1 || undefined);
        let cursor: string | undefined;
        const paged: number[] = [];
        do {
          const page = await db
            .thing({ v: v(start) })
            .out("next")
            .page({ limit: 1, ...(cursor === undefined ? {} : { cursor }) });
          paged.push(...page.items.map(({ to }) => classOf(to.v)));
          cursor = page.next;
        } while (cursor !== undefined);
        expect(ascending(paged)).toEqual(ascending(model.out(start)));
      }),
      propertyRuns(25),
    );
  });

  test("of two types keep their unique values apart", async () => {
    const graph = defineGraph({
      table: engine.freshTableName("owners"),
      nodes: { thing: node({ key: "T#{v:date|text}", schema: z.object({ v: value, email: z.string() }), unique: ["email"] }) },
    });
    const db = graph.connect({ transport: engine.transport });
    await db.table.create();
    await db.thing.create({ v: new Date(1), email: "a" }).orThrow();
    const other = db.thing.put({ v: new Date(1).toISOString(), email: "a" });
    expect(await other).toMatchObject({ ok: false, reason: "notUnique" });
  });

  test("dates keep their milliseconds in getMany", async () => {
    const db = await open();
    await db.thing.create({ v: new Date(1), at: 1 }).orThrow();
    await db.thing.create({ v: new Date(2), at: 2 }).orThrow();
    const rows = await db.thing.getMany([1, 2, 3].map((ms) => ({ v: new Date(ms) })));
    expect(rows.map((row) => row?.at)).toEqual([1, 2, undefined]);
  });

  test("a cursor belongs to its node, not to one whose id has the same text", async () => {
    const db = await open();
    for (const v of [5, "5n", "5"]) await db.thing.create({ v, at: 0 }).orThrow();
    for (const at of [1, 2]) await db.thing.create({ v: at, at }).orThrow();
    for (const at of [1, 2]) await db.next.link({ v: 5n }, { v: at }).orThrow();
    const { next } = await db.thing({ v: 5n }).out("next").page({ limit: 1 });
    expect((await db.thing({ v: 5 }).out("next").page({ limit: 1, cursor: next! })).items).toHaveLength(1);
    const foreign = db.thing({ v: "5n" }).out("next").page({ limit: 1, cursor: next! });
    await expect(foreign).rejects.toMatchObject({ code: "cursor.invalid" });
  });
});
