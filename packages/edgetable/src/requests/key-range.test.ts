import { expect, test } from "vitest";
import type { SortCondition } from "../ir/physical-plan.ts";
import { parseTemplate } from "../keys/template.ts";
import { keyRange } from "./key-range.ts";

const whole = parseTemplate("NAME#{name}", { delimiter: "#", escapes: true });
const prefix = parseTemplate("NAME#", { delimiter: "#", escapes: true });

const rangeOf = (...operators: readonly ("gte" | "lte" | "between")[]): Extract<SortCondition, { kind: "range" }> => ({
  kind: "range",
  template: prefix,
  path: "name",
  whole,
  followed: false,
  bounds: operators.map((operator, slot) => ({ path: "name", operator, slot })),
});

// UTF-16 puts U+FF01 above the surrogates of U+1F600; DynamoDB compares the bytes of UTF-8, where it is below.
const [below, above] = ["\uFF01", "\u{1F600}"];

test("of several bounds the tighter one in DynamoDB's order stands, beyond the plane of 16 bits too", () => {
  expect(keyRange(rangeOf("gte", "gte"), {}, [above, below])).toEqual({ kind: "between", low: `NAME#${above}`, high: "NAME$" });
  expect(keyRange(rangeOf("gte", "gte"), {}, [below, above])).toEqual({ kind: "between", low: `NAME#${above}`, high: "NAME$" });
  expect(keyRange(rangeOf("lte", "lte"), {}, [above, below])).toEqual({ kind: "between", low: "NAME#", high: `NAME#${below}` });
  expect(keyRange(rangeOf("between", "gte"), {}, [[below, above], above])).toEqual({
    kind: "between",
    low: `NAME#${above}`,
    high: `NAME#${above}`,
  });
});
