import { describe, expect, test } from "vitest";
import { briefly, checkOptions, inRange, listOf, type OptionChecks } from "./check-options.ts";

interface Options {
  readonly lease?: number;
  readonly order?: "any" | "kept";
  readonly strict?: boolean;
  readonly budget?: { readonly requests?: number };
  readonly cursor?: unknown;
}

const checks: OptionChecks<Options> = {
  lease: [100, 200],
  order: ["any", "kept"],
  strict: "boolean",
  budget: { requests: [1, 5] },
  cursor: undefined,
};

const check = (given: unknown): unknown => checkOptions(given as Options, checks);

describe("checkOptions", () => {
  test("valid options come back without undefined members", () => {
    const options = { lease: 100, order: "kept", strict: undefined, budget: { requests: 5 }, cursor: null };
    expect(check(options)).toStrictEqual({ lease: 100, order: "kept", budget: { requests: 5 }, cursor: null });
    expect(check({})).toEqual({});
  });

  test.each([
    ["a misspelt name", { budgte: {} }, 'There is no option "budgte". Did you mean "budget"?'],
    ["a name that every object inherits", { toString: 1 }, 'There is no option "toString". Known: lease, order'],
    ["a number out of its range", { lease: 99 }, "lease is 99: give a whole number from 100 to 200."],
    ["null for a number", { lease: null }, "lease is null: give a whole number"],
    ["an unknown word", { order: "kpet" }, 'There is no order "kpet". Did you mean "kept"?'],
    ["another type", { strict: "yes" }, 'Expected a boolean for strict, got "yes".'],
    ["a circular value", { strict: Object.assign([], { 0: checks }) }, "Expected a boolean for strict"],
    ["a misspelt name within", { budget: { request: 1 } }, 'There is no option "request". Did you mean "requests"?'],
    ["null within", { budget: null }, "Expected an object for budget, such as { requests: … }, got null."],
    ["a list", ["lease"], 'Expected an object, such as { lease: … }, got ["lease"].'],
    ["an empty list", [], "Expected an object, such as { lease: … }, got []."],
    ["a Map", new Map([["lease", 100]]), "Expected an object, such as { lease: … }, got a Map."],
    ["a Date", new Date(0), 'Expected an object, such as { lease: … }, got "1970-01-01T00:00:00.000Z".'],
    ["a list within", { budget: [] }, "Expected an object for budget, such as { requests: … }, got []."],
    ["null", null, "Expected an object, such as { lease: … }, got null."],
    ["a text", "fast", 'Expected an object, such as { lease: … }, got "fast".'],
  ])("%s is refused", (_, given, message) => {
    expect(() => check(given)).toThrow(
      expect.objectContaining({ code: "plan.invalidOption", message: expect.stringContaining(message) as string }),
    );
  });
});

describe("inRange", () => {
  test("a range includes its ends", () => {
    expect([inRange("limit", 1, [1, 3]), inRange("limit", 3, [1, 3])]).toEqual([1, 3]);
  });

  test.each([0, 4, 1.5, Number.NaN])("%d is refused with the allowed range", (value) => {
    expect(() => inRange("limit", value, [1, 3])).toThrow(
      expect.objectContaining({ code: "plan.invalidOption", message: `limit is ${value}: give a whole number from 1 to 3.` }),
    );
  });
});

describe("briefly", () => {
  const long = Array.from({ length: 500 }, (_, n) => `value ${n}`);

  test("a message shows the beginning of a long value", () => {
    expect(briefly("v".repeat(298))).toBe(`"${"v".repeat(298)}"`);
    expect(briefly(long)).toMatch(/^\["value 0",.{289}…$/);
    expect(briefly(Number.NaN)).toBe("NaN");
  });

  test.each([
    ["an option", () => check({ strict: long })],
    ["options", () => check(long)],
    ["a word", () => check({ order: "v".repeat(5000) })],
    ["a list", () => listOf("v".repeat(5000) as never)],
  ])("a refusal of %s that is long is short", (_, refused) => {
    expect(refused).toThrow(expect.objectContaining({ message: expect.stringMatching(/^.{50,450}$/) }));
  });
});
