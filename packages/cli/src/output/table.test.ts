import { expect, test } from "vitest";
import { renderTable } from "./table.ts";
import { createStyle, widthOf, wrap } from "./terminal.ts";

const style = createStyle(false);
const columns = [{ title: "name" }, { title: "text" }, { title: "n", align: "right" as const, flexible: false }];
const rows = [
  ["first", "a sentence of several words that is rather long", "1"],
  ["second", "short", "100"],
];

test("a table that fits is one line a row", () => {
  expect(
    renderTable(
      {
        columns,
        rows: [
          ["a", "b", "1"],
          ["cc", "d", "22"],
        ],
      },
      80,
      style,
    ),
  ).toBe("name  text   n\na     b      1\ncc    d     22\n");
});

test("a table that is too wide breaks its cells, with a line between rows", () => {
  expect(renderTable({ columns, rows }, 40, style)).toBe(
    "name    text                           n\nfirst   a sentence of several words    1\n        that is rather long\n\nsecond  short                        100\n",
  );
});

test("a table that no terminal can hold becomes records", () => {
  const many = Array.from({ length: 12 }, (_, at) => ({ title: `column${at}` }));
  const text = renderTable({ columns: many, rows: [many.map((_, at) => `value ${at}`)] }, 40, style);
  expect(text.split("\n").slice(0, 2)).toEqual(["column0   value 0", "column1   value 1"]);
});

test("a column may go below its row instead of breaking", () => {
  const below = [{ title: "name" }, { title: "text", below: true }, { title: "n", align: "right" as const }];
  expect(renderTable({ columns: below, rows }, 40, style)).toBe(
    "name      n\nfirst     1\n  a sentence of several words that is\n  rather long\n\nsecond  100\n  short\n",
  );
  expect(renderTable({ columns: below, rows: [["a", "b", "1"]] }, 40, style)).toBe("name  text  n\na     b     1\n");
});

test("nothing is wider than the terminal, whatever is in it", () => {
  for (const width of [30, 40, 61, 80]) {
    const text = renderTable({ columns, rows: [...rows, ["x".repeat(50), "漢字".repeat(30), "7"]] }, width, style);
    for (const line of text.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(width);
  }
});

test("text breaks between words where it can, and within them where it must", () => {
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("abcdefghij k", 4)).toEqual(["abcd", "efgh", "ij k"]);
  expect(wrap("", 10)).toEqual([""]);
});

test("a page of long texts fits, however many words they have", () => {
  const long = Array.from({ length: 10_000 }, (_, at) => [`row ${at}`, "word ".repeat(20), "1"]);
  expect(renderTable({ columns, rows: long }, 80, style)).toContain("row 9999");
});

test("a text of 20,000 words is broken in time", () => {
  const started = performance.now();
  expect(wrap("word ".repeat(20_000), Number.POSITIVE_INFINITY)).toHaveLength(1);
  expect(performance.now() - started).toBeLessThan(2_000);
});
