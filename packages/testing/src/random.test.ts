import { expect, test } from "vitest";
import { below, hashText, mixSeeds, pick, seededRandom } from "./random.ts";

test("the same seed gives the same numbers, another seed others", () => {
  const draw = (seed: number): number[] => Array.from({ length: 5 }, seededRandom(seed));
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual(draw(8));
});

test("numbers spread evenly over their range", () => {
  const random = seededRandom(1);
  const counts = [0, 0, 0, 0];
  for (let draw = 0; draw < 40_000; draw++) counts[below(random, 4)]!++;
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
});

test("neighbouring ordinals give unrelated first numbers", () => {
  const firsts = Array.from({ length: 10_000 }, (_, n) => seededRandom(mixSeeds(3, n))());
  const mean = firsts.reduce((sum, value) => sum + value, 0) / firsts.length;
  expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
  expect(new Set(firsts).size).toBeGreaterThan(9_990);
  expect(hashText("a")).not.toBe(hashText("b"));
});

test("a pick keeps the order and takes at least one, at most all", () => {
  const list = [1, 2, 3, 4, 5];
  expect(pick(seededRandom(1), list, 1)).toEqual(list);
  expect(pick(seededRandom(1), list, 0)).toHaveLength(1);
  expect(pick(seededRandom(1), [], 0.5)).toEqual([]);
  const some = pick(seededRandom(9), list, 0.5);
  expect(some).toHaveLength(3);
  expect(some).toEqual([...some].toSorted((a, b) => a - b));
});
