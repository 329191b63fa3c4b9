import { expect, test } from "vitest";
import { randomFrom } from "./random.ts";
import { shareOfFirst, zipfFrom } from "./zipf.ts";

test("ranks are drawn in proportion to a power of their place", () => {
  const [ranks, draws] = [1000, 200_000];
  const counts = new Float64Array(ranks);
  const draw = zipfFrom({ ranks, shape: 0.8 }, randomFrom(5));
  for (let index = 0; index < draws; index++) {
    const rank = draw();
    counts[rank] = (counts[rank] as number) + 1;
  }
  const at = (rank: number): number => counts[rank] as number;
  expect(at(0) / at(9)).toBeCloseTo(10 ** 0.8, 0);
  expect((at(0) + at(1)) / (at(98) + at(99))).toBeGreaterThan(25);
  expect(counts.every((count) => count > 0)).toBe(true);
});

test("a shape of nought draws evenly, one rank is always itself", () => {
  const draw = zipfFrom({ ranks: 4, shape: 0 }, randomFrom(1));
  const drawn = Array.from({ length: 4000 }, draw);
  for (const rank of [0, 1, 2, 3]) expect(drawn.filter((one) => one === rank).length).toBeGreaterThan(900);
  expect(zipfFrom({ ranks: 1, shape: 0.8 }, () => 0.999)()).toBe(0);
});

test("the first rank is drawn as often as its share says", () => {
  let at = 0;
  const draw = zipfFrom({ ranks: 100, shape: 1 }, () => at++ / 10_000);
  const firsts = Array.from({ length: 10_000 }, draw).filter((rank) => rank === 0).length;
  expect(firsts / 10_000).toBeCloseTo(shareOfFirst({ ranks: 100, shape: 1 }), 2);
});
