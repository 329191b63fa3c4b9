import { describe, expect, test } from "vitest";
import { nameIn, namesOf, Placeholders } from "./expression.ts";

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
