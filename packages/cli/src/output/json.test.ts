import { expect, test } from "vitest";
import { fromJson, toExactJson, toJson } from "./json.ts";

test("what JSON lacks comes back to the last type", () => {
  const value = {
    at: new Date(0),
    text: "1970-01-01T00:00:00.000Z",
    big: 2n ** 70n,
    set: new Set([1, 2n]),
    bytes: new Uint8Array([0, 255]),
    list: [new Date(1), { $set: [1] }, { $object: [] }, { $date: "x", more: 1 }],
    nothing: null,
  };
  expect(fromJson(toExactJson(value))).toEqual(value);
  expect(toExactJson({ at: new Date(0), odd: { $bigint: 1 } })).toBe(
    '{"at":{"$date":"1970-01-01T00:00:00.000Z"},"odd":{"$object":[["$bigint",1]]}}',
  );
});

test("for eyes a date is its text", () => {
  expect(toJson({ at: new Date(0), big: 1n })).toBe('{"at":"1970-01-01T00:00:00.000Z","big":{"$bigint":"1"}}');
});
