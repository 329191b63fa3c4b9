import { describe, expect, test } from "vitest";
import { checkOptions, type Kinds } from "./check-options.ts";

interface Options {
  readonly lease?: number;
  readonly order?: "any" | "kept";
  readonly strict?: boolean;
  readonly budget?: { readonly requests?: number };
  readonly cursor?: unknown;
}

const kinds: Kinds<Options> = {
  lease: [100, 200],
  order: ["any", "kept"],
  strict: "boolean",
  budget: { requests: [1, 5] },
  cursor: undefined,
};

const check = (given: unknown): unknown => checkOptions(given as Options, kinds);

describe("options by name and kind", () => {
  test("what fits is given back, less what is undefined", () => {
    const options = { lease: 100, order: "kept", strict: undefined, budget: { requests: 5 }, cursor: null };
    expect(check(options)).toStrictEqual({ lease: 100, order: "kept", budget: { requests: 5 }, cursor: null });
    expect(check({})).toEqual({});
  });

  test.each([
    ["a misspelt name", { budgte: {} }, 'There is no option "budgte". Did you mean "budget"?'],
    ["a name that every object has", { toString: 1 }, 'There is no option "toString". Known: lease, order'],
    ["a number out of its range", { lease: 99 }, "lease is 99: give a whole number from 100 to 200."],
    ["null for a number", { lease: null }, "lease is null: give a whole number"],
    ["a word that is none of the known", { order: "kpet" }, 'There is no order "kpet". Did you mean "kept"?'],
    ["another type", { strict: "yes" }, 'strict takes a boolean: "yes" is none.'],
    ["a value in a circle", { strict: Object.assign([], { 0: kinds }) }, "strict takes a boolean:"],
    ["a misspelt name within", { budget: { request: 1 } }, 'There is no option "request". Did you mean "requests"?'],
    ["null within", { budget: null }, "Give an object for budget, such as { requests: … }: null is none."],
    ["null", null, "Give an object, such as { lease: … }: null is none."],
    ["a text", "fast", 'Give an object, such as { lease: … }: "fast" is none.'],
  ])("%s is refused", (_, given, message) => {
    expect(() => check(given)).toThrow(
      expect.objectContaining({ code: "plan.invalidOption", message: expect.stringContaining(message) as string }),
    );
  });
});
