import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCode, exitCodeOf } from "./exit-codes.ts";

const documented = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8").matchAll(/^### (\S+)$/gm);

test("only an invariant error exits as a bug", () => {
  const codes = [...documented].map(([, code = ""]) => code);
  expect(codes.length).toBeGreaterThan(40);
  expect(codes.filter((code) => exitCodeOf(code) === exitCode.defect)).toEqual(["invariant"]);
});

test.each(["constructor", "__proto__", "toString.x"])("the unknown code %s exits as a bug", (code) => {
  expect(exitCodeOf(code)).toBe(exitCode.defect);
});
