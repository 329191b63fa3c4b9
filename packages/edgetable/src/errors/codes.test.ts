import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { ErrorCode } from "./codes.ts";
import { EdgetableError } from "./edgetable-error.ts";

/** Walks the code table: each code is explained in docs/errors.md, thrown by a source and expected by a test. */
const root = fileURLToPath(new URL("../../../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const codes = [...read("packages/edgetable/src/errors/codes.ts").matchAll(/^ {2}\| "([^"]+)"/gm)].map(([, code]) => code as ErrorCode);
const modelRules = [...read("packages/edgetable/src/schema/check-model/finding.ts").matchAll(/^ {2}\| "([^"]+)"/gm)].map(
  ([, rule]) => rule,
);
const documentation = read("docs/errors.md");

const filesIn = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules") && !path.includes("dist/"))
    .map((path) => join(folder, path));

const isTest = (path: string): boolean => /\.test(-d|-support)?\.ts$|test-support\//.test(path);
const isTable = (path: string): boolean =>
  path.endsWith("errors/codes.ts") || path.endsWith("exit-codes.ts") || path.endsWith("errors/codes.test.ts");
const files = [
  "packages/edgetable/src",
  "packages/local/src",
  "packages/testing/src",
  "packages/opentelemetry/src",
  "packages/cli/src",
  "packages/analytics/src",
  "conformance",
  "examples",
]
  .flatMap(filesIn)
  .filter((path) => !isTable(path));
const textOf = (wanted: (path: string) => boolean): string => files.filter(wanted).map(read).join("\n");
// What a source compares with is no proof that anything throws it.
const sources = textOf((path) => !isTest(path) && path.startsWith("packages/")).replaceAll(
  /(?:===|!==|isEdgetableError\(\w+,|hasCode\(\w+,) *"[^"]+"/g,
  "",
);
const tests = textOf((path) => path.endsWith(".test.ts"));

const sections = new Map(
  documentation
    .split(/^### /m)
    .slice(1)
    .map((section) => [section.split("\n")[0] ?? "", section.split(/^## /m)[0] ?? ""]),
);
// GitHub's anchors: lower case, without punctuation.
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

test("the table lists each code once", () => {
  expect(codes.length).toBeGreaterThan(40);
  expect(new Set(codes).size).toBe(codes.length);
});

describe.each(codes)("%s", (code) => {
  test("is explained where its error points", () => {
    expect([...sections.keys()]).toContain(code);
    expect(new EdgetableError(code, "").docs).toBe(`docs/errors.md#${anchorOf(code)}`);
    for (const part of ["**When**", "**Says**", "**Do**", "**Retryable**", "**Details**"]) expect(sections.get(code)).toContain(part);
  });

  test("is thrown by a source", () => {
    expect(sources).toContain(code === "cli.usage" ? `EdgetableError("${code}"` : `"${code}"`);
  });

  test("is expected by a test", () => {
    expect(tests.includes(`"${code}"`) || tests.includes(`${code} · docs/errors.md`)).toBe(true);
  });
});

test("nothing is explained that is no code", () => {
  expect([...sections.keys()].toSorted()).toEqual([...codes].toSorted());
});

test("every rule of the model is listed", () => {
  const listed = [...(sections.get("schema.invalidModel") ?? "").matchAll(/^\| `(\w+)` \|/gm)].map(([, rule]) => rule);
  expect(listed.toSorted()).toEqual(modelRules.toSorted());
});
