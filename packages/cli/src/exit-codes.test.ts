import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exitCode, exitCodeOf } from "./exit-codes.ts";

const documented = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8").matchAll(/^### (\S+)$/gm);

test("no error but a defect ends as a defect", () => {
  const codes = [...documented].map(([, code = ""]) => code);
  expect(codes.length).toBeGreaterThan(40);
  expect(codes.filter((code) => exitCodeOf(code) === exitCode.defect)).toEqual(["invariant"]);
});

test.each(["constructor", "__proto__", "toString.x"])("a code %s that no error has ends as a defect", (code) => {
  expect(exitCodeOf(code)).toBe(exitCode.defect);
});
