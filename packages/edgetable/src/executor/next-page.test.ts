import fc from "fast-check";
import { expect, test } from "vitest";
import { FIRST_ITEMS, pageOf } from "./read-rows.ts";

const seed = process.env["EDGETABLE_SEED"];
const runs = { numRuns: Number(process.env["EDGETABLE_RUNS"] ?? 500), ...(seed === undefined ? {} : { seed: Number(seed) }) };

/** Reads items, of which some pass a filter, until enough of them do. */
const read = (items: readonly boolean[], wanted: number) => {
  let [at, found, requests] = [0, 0, 0];
  while (found < wanted && at < items.length) {
    const limit = pageOf({ wanted, found, read: at }, false) ?? items.length;
    requests++;
    for (const passes of items.slice(at, at + limit)) if (passes) found++;
    at += limit;
  }
  return { read: Math.min(at, items.length), requests };
};

test("a filtered read takes at most four times the items it needs, and few requests", () => {
  const runsOf = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 3000 })), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(runsOf, fc.integer({ min: 1, max: 1000 }), (lengths, wanted) => {
      const items = lengths.flatMap(([passes, length]) => Array.from({ length }, () => passes));
      let [needed, left] = [0, wanted];
      while (needed < items.length && left > 0) if (items[needed++]) left--;
      const first = Math.max(wanted, FIRST_ITEMS);
      const taken = read(items, wanted);
      expect(taken.read).toBeLessThanOrEqual(4 * needed + first);
      expect(taken.requests).toBeLessThanOrEqual(2 + Math.ceil(Math.log2(1 + needed / FIRST_ITEMS)));
    }),
    runs,
  );
});

test("what no filter thins out is asked for exactly", () => {
  expect(pageOf({ wanted: 20, found: 5, read: 5 }, true)).toBe(15);
});

test("a filtered read begins small, grows by its hit rate, and ends with whole pages", () => {
  expect(pageOf({ wanted: 20, found: 0, read: 0 }, false)).toBe(50);
  expect(pageOf({ wanted: 20, found: 19, read: 50 }, false)).toBe(50);
  expect(pageOf({ wanted: 20, found: 10, read: 50 }, false)).toBe(60);
  expect(pageOf({ wanted: 20, found: 0, read: 50 }, false)).toBe(150);
  expect(pageOf({ wanted: 20, found: 0, read: 12_800 }, false)).toBeUndefined();
});
