import { expect, test } from "vitest";
import { filterRules } from "./filter-rules.ts";
import { readRuleNames, walkRuleNames } from "./rule-names.ts";
import { rules } from "./rules.ts";
import { walkRules } from "./walk/walk-rules.ts";

test("every rule of reads can be switched off by its name", () => {
  expect(readRuleNames).toEqual([...filterRules, ...rules].map(({ name }) => name));
});

test("every rule of walks can be switched off by its name", () => {
  expect(walkRuleNames.filter((name) => name !== "smaller-side").toSorted()).toEqual(walkRules.map(({ name }) => name).toSorted());
});
