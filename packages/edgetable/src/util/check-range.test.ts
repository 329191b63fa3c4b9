import { describe, expect, test } from "vitest";
import { inRange } from "./check-range.ts";

describe("ranges of options", () => {
  test("least and most belong to the range", () => {
    expect([inRange("limit", 1, [1, 3]), inRange("limit", 3, [1, 3])]).toEqual([1, 3]);
  });

  test.each([0, 4, 1.5, Number.NaN])("%d is refused, and what is allowed is said", (value) => {
    expect(() => inRange("limit", value, [1, 3])).toThrow(
      expect.objectContaining({ code: "plan.invalidOption", message: `limit is ${value}: give a whole number from 1 to 3.` }),
    );
  });
});
