import { expect, test } from "vitest";
import { walkRuleNames } from "./rule-names.ts";
import { walkRules } from "./walk/walk-rules.ts";

test("every rule of walks can be switched off by its name", () => {
  expect(walkRuleNames.filter((name) => name !== "smaller-side").toSorted()).toEqual(walkRules.map(({ name }) => name).toSorted());
});
