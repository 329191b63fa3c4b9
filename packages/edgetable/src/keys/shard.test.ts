import { expect, test } from "vitest";
import { decodeShard, encodeShard } from "./shard.ts";

// Stored keys depend on these: a change here is a change of every sharded table.
test.each([
  ["John Doe", 16, "15"],
  ["1", 16, "15"],
  ["é", 1000, "943"],
  ["語", 1000, "243"],
  ["😀", 1000, "642"],
  [7, 10, "8"],
  [true, 10, "7"],
  [new Date(0), 10, "3"],
])("the shard of %o among %i is %s, for good", (value, count, shard) => {
  expect(encodeShard(value, count)).toBe(shard);
});

test("equal numbers share a shard, whatever their type", () => {
  expect(encodeShard(5n, 64)).toBe(encodeShard(5, 64));
});

test("one shard holds everything", () => {
  expect(encodeShard("anything", 1)).toBe("0");
});

test("a shard's text is its plain number, so that it is the same among more", () => {
  expect(decodeShard("7", 101)).toBe(7);
  expect(decodeShard("007", 101)).toBeUndefined();
  expect(decodeShard("101", 101)).toBeUndefined();
});

test.each([7, 10, 16, 64])("sequential ids spread evenly over %i shards", (count) => {
  const sizes = new Map<unknown, number>();
  const each = 1000;
  for (let id = 0; id < count * each; id++) {
    const shard = encodeShard(`S${id}`, count);
    sizes.set(shard, (sizes.get(shard) ?? 0) + 1);
  }
  expect(sizes.size).toBe(count);
  // Five standard deviations of a fair draw.
  for (const size of sizes.values()) expect(Math.abs(size - each)).toBeLessThan(5 * Math.sqrt(each));
});
