import { defineGraph, node, type Transport } from "edgetable";
import { verify } from "edgetable/verify";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { propertyRuns } from "../engines/property-runs.ts";
import { endpoint, forthAndBack, freshTableName, openTransport } from "./engine.ts";

const text = z.string();

interface Thing {
  readonly id: string;
  readonly p?: string | undefined;
  readonly q?: number | undefined;
  readonly s?: string | undefined;
  readonly n?: number | undefined;
}

/** Keys that are attributes of the schema, keys that templates make, and keys with a shard. */
const thingsIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      thing: node({
        key: "THING#{id}",
        schema: z.object({ id: text, p: text.optional(), q: z.number().optional(), s: text.optional(), n: z.number().optional() }),
      }),
    },
    layout: {
      partitionKey: "pk",
      types: { n: "N" },
      indexes: {
        plain: { partitionKey: ["p", "q"], sortKey: ["s", "n", "pk"] },
        made: { partitionKey: ["gp", "q"], sortKey: ["gs", "n"], projection: ["s", "p"] },
        spread: { partitionKey: ["p", "shard"], sortKey: ["n", "s", "pk"] },
      },
      nodes: {
        thing: {
          keys: { gp: "P#{p}", gs: "S#{s}#{id}", shard: "{id:shard(3)}" },
          sparse: ["gp", "gs"],
        },
      },
    },
  });

type Index = "plain" | "made" | "spread";
/** The attributes of each index: those that a search gives, those that order its rows, and those that an item needs. */
const INDEXES: Readonly<Record<Index, { readonly partition: readonly (keyof Thing)[]; readonly sort: readonly (keyof Thing)[] }>> = {
  plain: { partition: ["p", "q"], sort: ["s", "n", "id"] },
  made: { partition: ["p", "q"], sort: ["s", "id", "n"] },
  spread: { partition: ["p"], sort: ["n", "s", "id"] },
};

const texts = fc.constantFrom("a", "b", "ba", "bb", "c");
const numbers = fc.constantFrom(-100, -9.5, -1, 0, 0.25, 2, 10, 1e15);
const p = fc.constantFrom("x", "y");
const q = fc.constantFrom(-1, 10);
const rows = fc
  .array(
    fc.record({
      p: fc.option(p, { nil: undefined, freq: 8 }),
      q,
      s: fc.option(texts, { nil: undefined, freq: 8 }),
      n: fc.option(numbers, { nil: undefined, freq: 8 }),
    }),
    { minLength: 4, maxLength: 20 },
  )
  .map((all) => all.map((row, at): Thing => ({ id: String(at), ...row })));

const conditionOf = <Value>(values: fc.Arbitrary<Value>) =>
  fc.oneof(
    values,
    fc.constant(undefined),
    fc.record({ gte: values }),
    fc.record({ lt: values }),
    fc.record({ between: fc.tuple(values, values) }),
    fc.record({ in: fc.uniqueArray(values, { minLength: 1, maxLength: 3 }) }),
  );
const searches = fc.record({
  index: fc.constantFrom<Index>("plain", "made", "spread"),
  p,
  q,
  s: fc.oneof(conditionOf(texts), fc.record({ beginsWith: fc.constantFrom("a", "b") })),
  n: conditionOf(numbers),
  limit: fc.integer({ min: 1, max: 4 }),
  reverse: fc.boolean(),
});
const changes = fc.array(
  fc.record({ id: fc.nat({ max: 19 }), kind: fc.constantFrom("update", "remove", "delete"), s: texts, n: numbers }),
  { maxLength: 6 },
);

interface Operand {
  readonly gte?: unknown;
  readonly lt?: unknown;
  readonly between?: readonly [unknown, unknown];
  readonly in?: readonly unknown[];
  readonly beginsWith?: string;
}

const compare = (a: unknown, b: unknown): number => (a === b ? 0 : (a as string) < (b as string) ? -1 : 1);

/** Whether a value passes a condition, as the documentation says it. */
const passes = (value: unknown, condition: unknown): boolean => {
  if (condition === undefined) return true;
  if (value === undefined) return false;
  if (typeof condition !== "object") return value === condition;
  const { gte, lt, between, in: list, beginsWith } = condition as Operand;
  if (gte !== undefined) return compare(value, gte) >= 0;
  if (lt !== undefined) return compare(value, lt) < 0;
  if (between) return compare(value, between[0]) >= 0 && compare(value, between[1]) <= 0;
  if (list) return list.includes(value);
  return (value as string).startsWith(beginsWith ?? "");
};

const isList = (condition: unknown): boolean => typeof condition === "object" && condition !== null && "in" in condition;

describe.skipIf(endpoint === undefined)("random searches by index keys of several attributes", () => {
  let transport: Transport;
  beforeAll(() => {
    transport = openTransport();
  });
  afterAll(() => transport.close());

  test("find, count and page what plain arrays hold, in their order", async () => {
    await fc.assert(
      fc.asyncProperty(rows, changes, fc.array(searches, { minLength: 4, maxLength: 8 }), async (given, changed, asked) => {
        const db = thingsIn(freshTableName("things")).connect({ transport });
        await db.table.create();
        const held = new Map<string, Thing>();
        for (const row of given) {
          const item = Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as unknown as Thing;
          await db.thing.create(item).orThrow();
          held.set(row.id, item);
        }
        for (const { id: number, kind, s, n } of changed) {
          const id = String(number);
          const before = held.get(id);
          if (!before) continue;
          if (kind === "delete") {
            await db.thing.delete({ id }).orThrow();
            held.delete(id);
          } else if (kind === "update") {
            await db.thing.update({ id }, { s, n }).orThrow();
            held.set(id, { ...before, s, n });
          } else if (before.n !== undefined) {
            await db.thing.update({ id }, { set: { s }, remove: ["n"] }).orThrow();
            const { n: _, ...rest } = before;
            held.set(id, { ...rest, s });
          }
        }
        for (const { index, limit, reverse, ...conditions } of asked) {
          const { partition, sort } = INDEXES[index];
          const where = Object.fromEntries(
            Object.entries(conditions).filter(([field, value]) => value !== undefined && (field !== "q" || partition.includes("q"))),
          );
          const needed = [...partition, ...sort];
          const wanted = [...held.values()]
            .filter((row) => needed.every((field) => row[field] !== undefined))
            .filter((row) => Object.entries(where).every(([field, condition]) => passes(row[field as keyof Thing], condition)))
            .toSorted((a, b) => sort.reduce((order, field) => order || compare(a[field], b[field]), 0));
          const search = reverse ? db.find("thing").where(where).using(index).reverse() : db.find("thing").where(where).using(index);
          const found = (await search.rows()) as readonly Thing[];
          const label = JSON.stringify({ index, where, reverse });
          // Lists and shards are merged by one attribute: the order within one value of it is by partition.
          const isMerged = index === "spread" || Object.values(where).some(isList);
          const shown = index === "made" ? wanted.map(({ q: _q, ...row }) => row) : wanted;
          const ids = (all: readonly { readonly id: string }[]) => all.map(({ id }) => id);
          if (isMerged) expect(ids(found).toSorted(), label).toEqual(ids(shown).toSorted());
          else expect(ids(found), label).toEqual(ids(reverse ? shown.toReversed() : shown));
          if (index === "spread" && !Object.values(where).some(isList)) {
            const order = found.map(({ n }) => n!);
            expect(order, label).toEqual(order.toSorted((a, b) => (reverse ? b - a : a - b)));
          }
          expect(await search.count(), label).toBe(wanted.length);
          const { forth, back } = await forthAndBack((options) => search.page(options), limit);
          expect(ids(forth as readonly Thing[]), label).toEqual(ids(found));
          expect(ids(back as readonly Thing[]), label).toEqual(ids(found));
        }
        expect(await verify(db)).toMatchObject({ clean: true });
      }),
      propertyRuns(30),
    );
  });
});
