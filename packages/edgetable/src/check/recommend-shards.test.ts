import { expect, test } from "vitest";
import { recommendShards } from "./recommend-shards.ts";

test("AWS's own example: 20 % of 3,000,000 rows a second of 250 bytes need 13, and 15 with room", () => {
  expect(recommendShards({ readsPerSecond: 0.2 * 3_000_000, itemBytes: 250 })).toEqual({
    shards: 15,
    forWrites: 1,
    forReads: 13,
    searches: undefined,
  });
});

test.each([
  [{}, 1],
  [{ writesPerSecond: 1000 }, 1],
  [{ writesPerSecond: 1001 }, 3],
  [{ writesPerSecond: 5000 }, 6],
  [{ writesPerSecond: 5000, itemBytes: 1500 }, 12],
  [{ writesPerSecond: 5000, share: 0.1 }, 1],
  [{ readsPerSecond: 10_000, itemBytes: 5000 }, 9],
  [{ readsPerSecond: 10_000, writesPerSecond: 4000 }, 5],
])("%j need %i", (demand, shards) => {
  expect(recommendShards(demand).shards).toBe(shards);
});

test("more searches than half a unit on every shard allows are told: no number of shards answers them", () => {
  expect(recommendShards({ readsPerSecond: 200_000, pageRows: 20 }).searches).toEqual({ asked: 10_000, most: 6000 });
});
