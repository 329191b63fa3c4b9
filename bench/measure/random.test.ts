import { expect, test } from "vitest";
import { randomFrom, shuffled } from "./random.ts";

test("a seed gives the same order again, another seed another order, and nothing is lost", () => {
  const values = Array.from({ length: 20 }, (_, index) => index);
  const first = shuffled(values, randomFrom(7));
  expect(shuffled(values, randomFrom(7))).toEqual(first);
  expect(shuffled(values, randomFrom(8))).not.toEqual(first);
  expect([...first].sort((left, right) => left - right)).toEqual(values);
});
