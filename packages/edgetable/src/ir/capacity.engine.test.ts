import { testEngineName } from "../../../../conformance/engines/engine-name.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { edge, node } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";
import { itemBytes, readUnits, valueBytes, writeUnits } from "./capacity.ts";
import { changeUnits } from "./write-price.ts";

const person = node({ key: "P#{id}", schema: z.object({ id: z.string(), note: z.string().optional() }), mirror: true });
const knows = edge({ from: "person", to: "person", schema: z.object({ at: z.string(), note: z.string().optional() }), orderBy: "at" });

let lab: WriteLab;
beforeAll(async () => {
  lab = await openWriteLab({ table: "Capacity", nodes: { person }, edges: { knows: knows as never } });
});
afterAll(() => lab.stop());

test("bytes follow the documented rules", () => {
  expect(valueBytes({ S: "ß€😀" })).toBe(9);
  expect(["0", "7", "-7", "12", "123", "1000", "0.001", "-1.5e10"].map((text) => valueBytes({ N: text }))).toEqual([
    1, 2, 3, 2, 3, 2, 2, 3,
  ]);
  expect(valueBytes({ B: "AQID" })).toBe(3);
  expect(valueBytes({ M: { a: { BOOL: true }, b: { NULL: true } } })).toBe(3 + 2 + 4);
  expect(valueBytes({ L: [{ S: "ab" }, { SS: ["c", "d"] }] })).toBe(3 + 2 + 4);
  expect(itemBytes({ pk: { S: "x" }, é: { N: "1" } })).toBe(3 + 4);
});

test("units round up by block, double in a transaction and halve where a read may be stale", () => {
  expect([0, 1024, 1025].map((bytes) => writeUnits(bytes))).toEqual([1, 1, 2]);
  expect(writeUnits(1025, true)).toBe(4);
  expect([readUnits(4097), readUnits(4097, { consistent: true }), readUnits(1, { transaction: true })]).toEqual([1, 2, 2]);
});

test("an index entry costs its write, its move twice, and nothing where its projection stays", () => {
  const table = {
    index: { name: undefined, partitionKey: "pk", sortKey: "sk", projection: "ALL" as const },
    indexes: [{ name: "i", partitionKey: "g", sortKey: undefined, projection: "KEYS_ONLY" as const }],
  };
  const item = { pk: { S: "a" }, sk: { S: "b" }, g: { S: "c" } };
  expect(changeUnits(table, { before: undefined, after: item })).toBe(2);
  expect(changeUnits(table, { before: item, after: { ...item, x: { S: "y" } } })).toBe(1);
  expect(changeUnits(table, { before: item, after: { ...item, g: { S: "d" } } })).toBe(3);
  expect(changeUnits(table, { before: item, after: undefined })).toBe(2);
});

// DynamoDB Local misreports what transactions cost in indexes (docs/engines.md).
test.skipIf(testEngineName() === "dynamodb-local")("what is predicted is what the engine charges", async () => {
  const people = lab.node("person");
  const edges = lab.edge("knows");
  await people.create({ id: "0" }).orThrow();
  const calls = [
    people.create({ id: "1" }),
    people.create({ id: "2", note: "x".repeat(2000) }),
    people.put({ id: "3" }),
    people.update({ id: "1" }, { note: "n" }),
    people.delete({ id: "3" }),
    edges.link({ id: "0" }, { id: "1" }, { at: "1" }),
    edges.relink({ id: "0" }, { id: "1" }, { note: "x" }),
    edges.relink({ id: "0" }, { id: "1" }, { at: "2" }),
    edges.unlink({ id: "0" }, { id: "1" }),
  ];
  for (const call of calls) {
    const { cost } = await call.explain();
    expect((await call.orThrow()).cost).toEqual(cost);
  }
});
