import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { attributeTypes, fits, widened } from "./column-type.ts";

const Level = { Low: 0, High: 1 } as const;

test("a column is text only where a schema gives nothing but texts", () => {
  const zod = attributeTypes(z.object({ size: z.enum(["S", "M"]), level: z.enum(Level) }));
  expect(Object.fromEntries(zod)).toEqual({ size: "text", level: undefined });
  const valibot = attributeTypes(
    v.object({
      size: v.picklist(["S", "M"]),
      level: v.picklist([1, 2]),
      name: v.pipe(v.string(), v.trim(), v.toLowerCase(), v.minLength(1)),
      count: v.pipe(v.string(), v.toNumber()),
      made: v.pipe(v.string(), v.transform(Number)),
    }),
  );
  expect(Object.fromEntries(valibot)).toEqual({ size: "text", level: undefined, name: "text", count: undefined, made: undefined });
});

test.each([
  [10n ** 38n - 1n, "whole"],
  [1n - 10n ** 38n, "whole"],
  [10n ** 38n, "number"],
  [-(10n ** 38n), "number"],
] as const)("%s is held by a column that has its digits", (value, type) => {
  expect(widened(undefined, value)).toBe(type);
  expect(fits("whole", value)).toBe(type === "whole");
});
