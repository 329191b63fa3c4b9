import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import type { PatternAnswer } from "../wire.ts";
import { continued, programOf, sourceOf } from "./call-result.tsx";
import { linkOver } from "./graph-store.ts";
import { showPlain } from "./pattern-answer.tsx";
import { readAs } from "./patterns-view.tsx";
import { chosenBy } from "./row-cells.tsx";
import { editText, withBreaksOf, withFields } from "./row-edits.ts";

test("a value is copied as source that makes it, and a program imports what the model exports", () => {
  const wire = {
    at: { $date: "2024-01-02T00:00:00.000Z" },
    large: { $bigint: "12345678901234567890" },
    tags: { $set: ["a", { $bigint: "5" }] },
    bytes: { $bytes: "AQI=" },
    marked: { $object: [["$set", [1]]] },
    "a-b": [null, true, { x: 'y"`${1}' }],
    none: {},
    reference: { $ref: "x" },
  };
  expect(runInThisContext(`(${sourceOf(wire)})`)).toEqual({
    at: new Date("2024-01-02"),
    large: 12345678901234567890n,
    tags: new Set(["a", 5n]),
    bytes: new Uint8Array([1, 2]),
    marked: { $set: [1] },
    "a-b": [null, true, { x: 'y"`${1}' }],
    none: {},
    reference: { $ref: "x" },
  });
  expect(programOf({ graph: "college", file: "./model.ts" }, [])).toContain('import { college } from "./model.ts";');
  expect(programOf({ graph: "default", file: "model.ts" }, [])).toContain('import graph from "./model.ts";');
});

test("an object of one member is shown as it is, unless it stands for what JSON lacks", () => {
  const shown = [{ $ref: "x" }, { $date: "d" }, { $bigint: "5" }, { $set: [1, "a"] }, { $object: [["$set", [1]]] }].map(showPlain);
  expect(shown).toEqual(['{"$ref":"x"}', "d", "5", "{1, a}", '{"$set":[1]}']);
  expect(editText({ $object: [["$set", [1]]] })).toBe('{"$object":[["$set",[1]]]}');
});

test.each([
  ["a\r\nb", "a\nb", "a\r\nb"],
  ["a\r\nb", "a\nb\nc", "a\r\nb\r\nc"],
  ["a\nb", "a\nc", "a\nc"],
  ["a\r\nb\nc", "a\nb\nc", "a\r\nb\nc"],
  ["a\r\nb\nc", "a\nb\nd", "a\nb\nd"],
  ["a", "a\nb", "a\nb"],
  ["a\rb", "a\nb", "a\rb"],
  ["a\rb", "a\nc", "a\nc"],
])("%j that became %j in a text area is %j", (stored, text, written) => expect(withBreaksOf(stored, text)).toBe(written));

test.each([
  ["2024-05-06", "2024-05-06T00:00:00.000Z"],
  ["2024-05-06T07:08:09+02:00", "2024-05-06T05:08:09.000Z"],
  ["2024-05-06T07:08:09", undefined],
  ["2024-05-06 07:08:09", undefined],
  ["May 6, 2024", undefined],
  ["2024-02-30", undefined],
  ["2024-05-06T25:00:00Z", undefined],
])("the parameter %s is the moment %s, wherever the browser is", (text, at) =>
  expect(readAs(text, { $date: "" })).toEqual(at === undefined ? undefined : { $date: at }),
);

test.each([
  ["12", 12],
  [" -1.5 ", -1.5],
  ["9007199254740993", { $bigint: "9007199254740993" }],
  ["1e3", 1000],
  ["many", undefined],
])("the parameter %s keeps its digits where the example is a number", (text, value) => expect(readAs(text, 5)).toEqual(value));

test("a row keeps its values of users' fields where none was sent, and loses the last one where it was removed", () => {
  const [before, now] = [
    { id: "a", name: "A", "field:f1": 5 },
    { id: "a", name: "B" },
  ];
  expect(withFields(before, now, ["name"])).toEqual({ ...now, "field:f1": 5 });
  expect(withFields(before, now, ["name", "field:f1"])).toEqual(now);
  expect(withFields(before, { ...now, "field:f1": 6 }, ["name"])).toEqual({ ...now, "field:f1": 6 });
  expect(withFields(undefined, now, ["name"])).toEqual(now);
});

test.each([
  ["Open", "Open"],
  ["o", "Open later"],
  ["DO", "Done"],
  ["", ""],
  ["Gone", ""],
])("of a list of choices, %j chooses %j", (text, chosen) => expect(chosenBy(["Open later", "Open", "Done"], text)).toBe(chosen));

test("parallel edges differ by their key", () => {
  const way = { edge: "paid", direction: "in", to: ["person"], key: ["year"] } as const;
  const entry = { node: { type: "person", id: { id: "b" }, partition: "" }, attributes: { year: 2024, price: 5 } };
  expect(linkOver(way, { type: "person", id: { id: "a" } }, entry)).toEqual({
    edge: "paid",
    from: { type: "person", id: { id: "b" } },
    to: { type: "person", id: { id: "a" } },
    key: { year: 2024 },
  });
});

test.each([
  ["nodes", { items: [{ id: "a" }] }, { items: [{ id: "b" }] }, { items: [{ id: "a" }, { id: "b" }] }],
  ["paths", { items: [["a"]] }, { items: [] }, { items: [["a"]] }],
  ["count", { count: 3 }, { count: 5 }, { count: 5 }],
  ["levels", { items: [{ level: 1, nodes: 2 }] }, { items: [{ level: 1, nodes: 3 }] }, { items: [{ level: 1, nodes: 3 }] }],
  ["groups", { items: [{ id: "a", count: 1 }] }, { items: [{ id: "a", count: 2 }] }, { items: [{ id: "a", count: 2 }] }],
])("parts of a walk that collects %s are shown as one answer", (kind, first, second, whole) => {
  const part = (answer: object): PatternAnswer => ({
    plan: { logical: { kind: "walk", collect: { kind } } } as PatternAnswer["plan"],
    run: { answer, cost: { requests: 2, readUnits: 1 }, attempts: [], duration: 5, cut: false },
  });
  expect(continued(part(first), part(second)).run).toMatchObject({ answer: whole, cost: { requests: 4, readUnits: 2 } });
});
