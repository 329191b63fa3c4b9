import { expect, test } from "vitest";
import { didYouMean } from "./did-you-mean.ts";

test("a near miss is suggested", () => {
  expect(didYouMean("enroledIn", ["teaches", "enrolledIn"])).toBe(' Did you mean "enrolledIn"?');
});

test("a swapped pair of letters counts as one edit", () => {
  expect(didYouMean("hsa", ["has"])).toBe(' Did you mean "has"?');
});

test("a far miss lists what is known", () => {
  expect(didYouMean("zzz", ["teaches", "enrolledIn"])).toBe(" Known: teaches, enrolledIn.");
});
