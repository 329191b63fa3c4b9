import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { buildCatalog } from "../schema/build-catalog.ts";
import { type GraphDefinition, node } from "../schema/definition.ts";
import { openWriteLab } from "../test-support/write-lab.ts";
import { propertyRuns, testTime } from "../../../../conformance/engines/property-runs.ts";
import { nodeWrites } from "./writes.ts";
import type { Item } from "../transport/operations.ts";

// Rows that an older model wrote, and single writes of the model that it grew to: an index entry of an item is what a put of
// the same row makes, or, where no write touched it, not there at all. It is never a part.

const FIELDS = ["a", "b", "c"] as const;
const field = fc.constantFrom(...FIELDS);
const value = fc.integer({ min: -2, max: 2 });
const row = fc.record({ a: value, b: value, c: value }, { requiredKeys: [] });
const entry = fc
  .record({ levels: fc.uniqueArray(field, { minLength: 1, maxLength: 3 }), split: fc.nat(2), shards: fc.constantFrom(1, 4) })
  .map(({ levels, split, shards }) => ({
    by: levels.map((level) => `${level}:number`),
    split: Math.min(split, levels.length - 1),
    sparse: true,
    shards,
  }));
const indexes = fc.array(entry, { minLength: 1, maxLength: 3 });
const write = fc.oneof(
  row.filter((set) => Object.keys(set).length > 0).map((set) => ({ set })),
  field.map((name) => ({ remove: [name] })),
  fc.tuple(field, value).map(([name, by]) => ({ add: { [name]: by } })),
  fc
    .tuple(field, field, value)
    .filter(([one, other]) => one !== other)
    .map(([one, other, to]) => ({ set: { [one]: to }, remove: [other] })),
);

const thing = node({
  key: "T#{id}",
  schema: z.object({ id: z.string(), a: z.number().optional(), b: z.number().optional(), c: z.number().optional() }),
});

const model = (entries: readonly object[]): Omit<GraphDefinition, "table"> => ({
  nodes: { thing },
  ...(entries.length > 0
    ? { indexes: Object.fromEntries(entries.map((one, at) => [`by${at}`, { entries: { thing: one } }])) as never }
    : {}),
});

const entryOf = (item: Item, at: number): readonly unknown[] => [item[`by${at}Pk`], item[`by${at}Sk`]];

test("no write leaves half of an index entry, whatever model wrote the item", { timeout: testTime(240_000) }, async () => {
  await fc.assert(
    fc.asyncProperty(indexes, fc.nat(3), row, fc.array(write, { minLength: 1, maxLength: 3 }), async (entries, known, first, writes) => {
      const lab = await openWriteLab({ table: "Grown", ...model(entries) });
      try {
        const catalog = buildCatalog({ ...model(entries.slice(0, known % entries.length)), table: lab.catalog.table });
        const old = { ...lab.driver, catalog, session: { ...lab.driver.session, catalog } };
        await nodeWrites(old, catalog.nodes["thing"]!)
          .create({ id: "1", ...first })
          .orThrow();
        for (const changes of writes) await lab.node("thing").update({ id: "1" }, changes).orThrow();
        const item = (await lab.items())["T#1 / #"]!;
        const fields = Object.fromEntries(
          FIELDS.flatMap((name) => (item[name] && "N" in item[name] ? [[name, Number(item[name].N)]] : [])),
        );
        await lab
          .node("thing")
          .put({ id: "1", ...fields })
          .orThrow();
        const fresh = (await lab.items())["T#1 / #"]!;
        for (const [at, { by }] of entries.entries()) {
          const touched = writes.some((changes) => by.some((level) => JSON.stringify(changes).includes(`"${level.slice(0, 1)}"`)));
          const isNew = at >= known % entries.length;
          const isEmpty = entryOf(item, at).every((half) => half === undefined);
          if (touched || !isNew || !isEmpty) expect(entryOf(item, at)).toEqual(entryOf(fresh, at));
        }
      } finally {
        await lab.stop();
      }
    }),
    propertyRuns(30),
  );
});
