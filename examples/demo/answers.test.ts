import { describe, expect, test } from "vitest";
import { sameAnswer } from "./run-system.ts";
import { tableLines } from "./terminal.ts";
import { answerSections } from "./text-reporter.ts";
import { someCursor } from "../system.ts";

describe("an answer is the expected one", () => {
  const requests: readonly string[] = [];

  test("to the last attribute, whatever their order", () => {
    expect(sameAnswer({ a: 1, b: undefined, c: [2, 3] }, { answer: { c: [2, 3], a: 1 }, requests })).toBe(true);
    expect(sameAnswer({ a: 1, b: 2 }, { answer: { a: 1 }, requests })).toBe(false);
    expect(sameAnswer([{ a: "1" }], { answer: [{ a: 1 }], requests })).toBe(false);
  });

  test("in its order, unless none is promised", () => {
    expect(sameAnswer([1, 2], { answer: [2, 1], requests })).toBe(false);
    expect(
      sameAnswer({ list: [{ a: 1, b: 2 }, { a: 3 }] }, { answer: { list: [{ a: 3 }, { b: 2, a: 1 }] }, anyOrder: true, requests }),
    ).toBe(true);
    expect(sameAnswer([1, 1], { answer: [1], anyOrder: true, requests })).toBe(false);
  });

  test("with any cursor where one is expected", () => {
    const page = { items: [1], next: "x7", previous: undefined };
    expect(sameAnswer(page, { answer: { items: [1], next: someCursor }, requests })).toBe(true);
    expect(sameAnswer({ ...page, next: undefined }, { answer: { items: [1], next: someCursor }, requests })).toBe(false);
    expect(sameAnswer(page, { answer: { items: [1] }, requests })).toBe(false);
  });
});

describe("an answer is shown", () => {
  test("as one table for edges with their nodes, each id once, in the expected answer's order", () => {
    const row = { edge: { to: { c: "C1" }, from: { s: "S1" }, grade: "A" }, node: { name: "John", s: "S1" } };
    const like = { edge: { from: { s: "" }, to: { c: "" }, grade: "" }, node: { s: "", name: "" } };
    expect(answerSections([row], [like])).toEqual([
      { title: undefined, columns: ["s", "c", "grade", "name"], rows: [["S1", "C1", "A", "John"]], numeric: [false, false, false, false] },
    ]);
  });

  test("as a table for each kind in a collection", () => {
    const titles = answerSections({ node: { a: 1 }, edges: { takes: [{ b: "x" }], none: [] }, parts: {} }, undefined).map(
      ({ title, columns }) => [title, ...columns],
    );
    expect(titles).toEqual([["node", "a"], ["takes", "b"], ["none"]]);
  });

  test("as a line where it is one value, or nothing", () => {
    const text = (answer: unknown): unknown => answerSections(answer, undefined)[0]?.rows;
    expect([text(true), text(3), text(undefined), text([])]).toEqual([[["yes"]], [["3"]], [["none"]], [["none"]]]);
  });

  test("cut from the widest column where there is no room", () => {
    expect(
      tableLines(
        [
          ["id", "text"],
          ["1", "a long text that does not fit"],
        ],
        { width: 20, right: [true, false] },
      ),
    ).toEqual(["id  text", " 1  a long text tha…"]);
  });

  test("cut in front where it begins alike", () => {
    const rows = [["path"], ["node_modules/vite"], ["node_modules/vitest"], ["."]];
    expect(tableLines(rows, { width: 12 })).toEqual(["path", "…odules/vite", "…ules/vitest", "."]);
  });

  test("without the last columns where not even cut ones have room, which are named", () => {
    const rows = [
      ["one", "two", "three", "four"],
      ["an answer of one", "an answer of two", "an answer of three", "x"],
    ];
    expect(tableLines(rows, { width: 30 })).toEqual(["one             two", "an answer of …  an answer of …", "… and three, four"]);
  });
});
