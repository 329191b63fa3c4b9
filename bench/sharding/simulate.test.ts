import { recommendShards } from "edgetable/check";
import { expect, test } from "vitest";
import { shareOfFirst } from "../measure/zipf.ts";
import { simulate, type Workload } from "./simulate.ts";

const writes = (change: Partial<Workload>): Workload => ({
  values: 1,
  skew: 0,
  shards: 1,
  writesPerSecond: 5000,
  searchesPerSecond: 0,
  rowsPerSearch: 20,
  itemBytes: 200,
  seconds: 10,
  seed: 7,
  ...change,
});

test("one partition takes a thousand writes a second, and what it saved in its first second", () => {
  const { writes: taken } = simulate(writes({}));
  expect(taken).toBeGreaterThan(1000);
  expect(taken).toBeLessThanOrEqual(1100);
});

test.each([0, 0.6, 0.99, 1.3])("the recommended shards take all of what one could not, at a skew of %d", (skew) => {
  const values = 1000;
  const share = shareOfFirst({ ranks: values, shape: skew });
  const { shards } = recommendShards({ writesPerSecond: 20_000, share });
  const before = simulate(writes({ values, skew, writesPerSecond: 20_000 }));
  const after = simulate(writes({ values, skew, writesPerSecond: 20_000, shards }));
  expect(after.writes).toBeGreaterThan(20_000 * 0.995);
  if (share * 20_000 > 1500) expect(before.writes).toBeLessThan(20_000 * 0.95);
});

test("searches are limited by half a unit on every shard, however many there are", () => {
  const { searches } = recommendShards({ readsPerSecond: 160_000, pageRows: 20 });
  expect(searches).toEqual({ asked: 8000, most: 6000 });
  const taken = (shards: number): number => simulate(writes({ writesPerSecond: 0, searchesPerSecond: 8000, shards, seconds: 5 })).searches;
  expect(taken(1)).toBeLessThan(8000);
  expect(taken(32)).toBeLessThan(8000);
  expect(Math.abs(taken(32) - taken(2))).toBeLessThan(10);
});
