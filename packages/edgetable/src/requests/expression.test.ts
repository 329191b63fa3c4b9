import { describe, expect, test } from "vitest";
import type { SortCondition } from "../ir/physical-plan.ts";
import { parseTemplate } from "../keys/template.ts";
import { nameIn, namesOf, Placeholders } from "./expression.ts";
import { filters } from "./filters.ts";

const { keyRange } = filters;

describe("an attribute's name in an expression", () => {
  test.each(["pk", "SK", "gsi1pk", "GSI1SK", "byNamePk", "SEC_KEY", "a1"])("%s stands as it is", (attribute) => {
    const placeholders = new Placeholders();
    expect(placeholders.name(attribute)).toBe(attribute);
    expect(placeholders.fields).toEqual({});
    const names = {};
    expect([nameIn(names, attribute, "#p"), namesOf(names)]).toEqual([attribute, {}]);
  });

  // Reserved, or perhaps; not of letters and digits; too short or wrongly begun for the grammar of expressions.
  test.each(["data", "status", "Name", "GSI-1-PK", "é1pk", "a.b1", "~version1", "_pk1", "1pk", "p_k", "9", ""])(
    "%s has a placeholder",
    (attribute) => {
      const placeholders = new Placeholders();
      expect([placeholders.name(attribute), placeholders.name("sk"), placeholders.name(attribute)]).toEqual(["#0", "sk", "#0"]);
      expect(placeholders.fields).toEqual({ ExpressionAttributeNames: { "#0": attribute } });
      const names = {};
      expect([nameIn(names, attribute, "#p"), namesOf(names)]).toEqual(["#p", { ExpressionAttributeNames: { "#p": attribute } }]);
    },
  );
});

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
