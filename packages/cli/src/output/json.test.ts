import { expect, test } from "vitest";
import { fromJson, toExactJson, toJson } from "./json.ts";

test("values that JSON lacks survive a round trip", () => {
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

test("an object whose one member is called as every object's own is given back as it is", () => {
  for (const name of ["constructor", "toString", "valueOf"]) expect(fromJson(`{"row":{"${name}":"x"}}`)).toEqual({ row: { [name]: "x" } });
});

test.each([
  '{"$set":5}',
  '{"$set":{"$bigint":"1"}}',
  '{"$bytes":5}',
  '{"$object":5}',
  '{"$bigint":1.5}',
  '{"$bigint":null}',
  '{"$bigint":"x"}',
  '{"$bigint":""}',
  '{"$bigint":true}',
  '{"$bigint":"0x1f"}',
  '{"$set":"abc"}',
  '{"$bytes":"a*b"}',
  '{"$bytes":"YQ=\\n"}',
  '{"$date":true}',
  '{"$date":5}',
  '{"$date":"soon"}',
])("%s is rejected", (text) => {
  expect(() => fromJson(text)).toThrow(SyntaxError);
});

test("whole numbers keep all digits, as numbers if a double holds them", () => {
  const text =
    '{"a":12345678901234567890,"b":[-9007199254740993,9007199254740992],"c":"12345678901234567890","12345678901234567890":0.12345678901234567890}';
  expect(fromJson(text)).toEqual({
    a: 12345678901234567890n,
    b: [-9007199254740993n, 2 ** 53],
    c: "12345678901234567890",
    "12345678901234567890": 0.12345678901234568,
  });
  expect(fromJson('{"x":"\\"1234567890123456789","y":1e400,"z":1000000000000000000000}')).toEqual({
    x: '"1234567890123456789',
    y: Infinity,
    z: 1e21,
  });
  expect(fromJson('{"$bigint":12345678901234567891}')).toBe(12345678901234567891n);
});
