import fc from "fast-check";
import { expect, test } from "vitest";
import { addDecimals, negateDecimal } from "../util/decimal.ts";
import { openTallies } from "./tallies.ts";

const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), fc.integer({ min: -130, max: 87 }))
  .map(([units, exponent]) => addDecimals(`${units}e${exponent}`, "0"));
const id = ["sum", "a"];
const open = () => openTallies({ seed: 7, bits: 2 ** 10 });

test("decimals come to zero when their sum does, and only then", () => {
  fc.assert(
    fc.property(fc.array(decimal, { minLength: 1, maxLength: 5 }), decimal, (all, more) => {
      const tallies = open();
      for (const one of all) tallies.add(id, {}, one);
      tallies.add(id, {}, negateDecimal(all.reduce(addDecimals, "0")));
      expect(tallies.differs(id)).toBe(false);
      tallies.add(id, {}, more);
      expect(tallies.differs(id)).toBe(more !== "0");
    }),
  );
});

test.each(["8388608", "67108864", "4294967296", "4294967291", "0.0000001", "1e-130", "1e125", "-0.0000004", "9007199254740993"])(
  "a sum that is off by %s differs",
  (difference) => {
    const tallies = open();
    tallies.add(id, {}, "1000000");
    tallies.add(id, {}, negateDecimal("1000000"));
    expect(tallies.agrees()).toBe(true);
    tallies.add(id, {}, difference);
    expect(tallies.differs(id)).toBe(true);
    tallies.add(id, {}, negateDecimal(difference));
    expect(tallies.agrees()).toBe(true);
  },
);

test("a fact that is told as often as it is taken off agrees", () => {
  const tallies = open();
  for (let n = 0; n < 1000; n++) tallies.add(["edge", String(n)], { n }, 1);
  for (let n = 0; n < 1000; n++) tallies.add(["edge", String(n)], { n }, -1);
  tallies.add(id, {}, 3);
  tallies.add(id, {}, -2);
  expect(tallies.differs(id)).toBe(true);
  tallies.add(id, {}, -1);
  expect(tallies.agrees()).toBe(true);
});
