import fc from "fast-check";
import { expect, test } from "vitest";
import { toSdk, toWire } from "./binary.ts";

const base64 = fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.record({ S: fc.string() }),
    fc.record({ B: base64 }),
    fc.record({ BS: fc.array(base64, { minLength: 1, maxLength: 3 }) }),
    fc.record({ SS: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) }),
    fc.record({ L: fc.array(tie("value"), { maxLength: 3 }) }),
    fc.record({ M: fc.dictionary(fc.constantFrom("B", "BS", "S", "M", "L", "name"), tie("value"), { noNullPrototype: true }) }),
  ),
}));

test("what goes to the SDK and back is the same", () => {
  fc.assert(
    fc.property(fc.array(value), (Items) => {
      expect(toWire(toSdk({ Items }))).toEqual({ Items });
    }),
  );
});

test("binary becomes bytes, also in attributes that are called as the types are", () => {
  const item = { B: { B: "AQI=" }, BS: { BS: ["AQ=="] }, M: { M: { B: { S: "text" } } } };
  expect(toSdk(item)).toEqual({ B: { B: Buffer.from([1, 2]) }, BS: { BS: [Buffer.from([1])] }, M: { M: { B: { S: "text" } } } });
});

test("a view into a larger buffer gives its own bytes only", () => {
  expect(toWire({ B: new Uint8Array([9, 1, 2, 9]).subarray(1, 3) })).toEqual({ B: "AQI=" });
});

test("what holds no binary is not copied", () => {
  const input = { TableName: "Test", Key: { PK: { S: "a" }, list: { L: [{ N: "1" }, { M: {} }] } } };
  expect(toSdk(input)).toBe(input);
  expect(toWire(input)).toBe(input);
});
