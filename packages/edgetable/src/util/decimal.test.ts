import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../../../../conformance/engines/property-runs.ts";
import { addDecimals, negateDecimal, readDecimal, sameDecimals } from "./decimal.ts";

test.each([
  ["0.1", "0.2", "0.3"],
  ["1.1", "-1.1", "0"],
  ["0.5", "0.5", "1"],
  ["-0.25", "0.75", "0.5"],
  ["1e-7", "1", "1.0000001"],
  ["1e20", "1", "100000000000000000001"],
  ["1E+3", "0.50", "1000.5"],
  ["9007199254740991", "2", "9007199254740993"],
  ["9007199254740993", "0.5", "9007199254740993.5"],
  ["1e15", "0.06", "1000000000000000.06"],
  ["-0.06", "0.05", "-0.01"],
  ["99999999999999999999.999999999999999999", "0.000000000000000001", "100000000000000000000"],
  ["0", "0", "0"],
])("%s and %s are %s", (a, b, sum) => {
  expect(addDecimals(a, b)).toBe(sum);
  expect(addDecimals(b, a)).toBe(sum);
  expect(addDecimals(negateDecimal(a), negateDecimal(b))).toBe(negateDecimal(sum));
});

const numbers = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e30, max: 1e30 }).map((value) => (Math.abs(value) < 1e-30 ? 0 : value)),
  fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }),
  fc.integer(),
);

test("what is added and taken away again leaves nothing, in any order", () => {
  const amounts = fc.array(numbers, { maxLength: 12 }).chain((all) => {
    const steps = [...all.map((value) => String(value)), ...all.map((value) => negateDecimal(String(value)))];
    return fc.shuffledSubarray(steps, { minLength: steps.length });
  });
  fc.assert(
    fc.property(amounts, (steps) => {
      expect(steps.reduce(addDecimals, "0")).toBe("0");
    }),
    propertyRuns(200),
  );
});

test("a number is read as it was written, and two notations of it are the same", () => {
  fc.assert(
    fc.property(numbers, (value) => {
      const text = addDecimals(String(value), "0");
      expect(Number(readDecimal(text))).toBe(Number(value));
      expect(sameDecimals(text, String(value))).toBe(true);
      expect(sameDecimals(addDecimals(text, "1e-40"), text)).toBe(false);
    }),
    propertyRuns(200),
  );
});
