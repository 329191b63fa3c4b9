import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { declareFunctions } from "../../scripts/declare-functions.mjs";

test.each([
  ["var a = () => 1;", "function a() { return 1; }"],
  ["const a = async x => await x", "async function a(x) { return await x; }"],
  [
    "var a = async (x, y = () => 2) => {\n\treturn x + y();\n};\nvar b = 1;",
    "async function a(x, y = () => 2) {\n\treturn x + y();\n}\nvar b = 1;",
  ],
  ["var a = (x) => ({ x });", "function a(x) { return ({ x }); }"],
  // Nothing may stand between `return` and what it gives.
  ["var a = (x) =>\n\tx + 1;", "function a(x) { return x + 1; }"],
  ["var a = ({ x, y: [z] }, ...rest) => x ? () => z : rest;", "function a({ x, y: [z] }, ...rest) { return x ? () => z : rest; }"],
])("%j is declared", (code, declared) => {
  expect(declareFunctions(code).code).toBe(declared);
});

test.each([
  "var a = () => this;",
  "var a = () => () => arguments;",
  "var a = () => import.meta.url;",
  "var a = function () { return 1; };",
  "var a = () => 1, b = 2;",
  "var { a } = () => 1;",
  "if (true) { var a = () => 1; }",
  "list.map((a) => a);",
])("%j stays", (code) => {
  expect(declareFunctions(code).code).toBe(code);
});

test("declared functions do what they did, and can be called by what stands before them", () => {
  const code = "var three = add(1, 2);\nvar add = (a, b) => a + b;\nvar pair = (a) => ({ a, own: [1, (a, 2)] });\n[three, pair(4)];";
  expect(runInNewContext(declareFunctions(code).code)).toEqual([3, { a: 4, own: [1, 2] }]);
});
