import { describe, expect, test } from "vitest";
import { checkRanges, inRange } from "./check-range.ts";

describe("ranges of options", () => {
  test("least and most belong to the range", () => {
    expect([inRange("limit", 1, [1, 3]), inRange("limit", 3, [1, 3])]).toEqual([1, 3]);
  });

  test.each([0, 4, 1.5, Number.NaN])("%d is refused, and what is allowed is said", (value) => {
    expect(() => inRange("limit", value, [1, 3])).toThrow(
      expect.objectContaining({ code: "plan.invalidOption", message: `limit is ${value}: give a whole number from 1 to 3.` }),
    );
  });

  test("what is not given is not checked", () => {
    const ranges = { lease: [100, 200], named: [0, 5] } as const;
    expect(() => checkRanges({ lease: 100 }, ranges)).not.toThrow();
    expect(() => checkRanges({ named: 6 }, ranges)).toThrow("named is 6");
  });
});
