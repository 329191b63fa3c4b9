import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { edge, node } from "../schema/definition.ts";
import { openWriteLab, type WriteLab } from "../test-support/write-lab.ts";
import type { AttributeValue } from "../transport/operations.ts";

// Whatever was written can be read, changed and deleted: values that are older than the rule that they are unique or in an index.

let lab: WriteLab;
const any = z.any().optional();
beforeAll(async () => {
  const thing = node({ key: "T#{id}", schema: z.object({ id: z.string(), value: any, note: z.string().optional() }), unique: ["value"] });
  const listed = node({ key: "L#{id}", schema: z.object({ id: z.string(), size: any, kind: z.string().optional() }) });
  const near = edge({ from: "listed", to: "listed", ends: "unchecked", schema: z.object({ size: any }), orderBy: "size:number" as never });
  lab = await openWriteLab({
    table: "Old",
    nodes: { thing, listed },
    edges: { near: near as never },
    indexes: { bySize: { entries: { listed: { by: ["kind", "size:number"], split: 1, sparse: true } } } } as never,
  });
});
afterAll(() => lab.stop());

const values: readonly (readonly [string, AttributeValue])[] = [
  ["an empty text", { S: "" }],
  ["a list", { L: [{ S: "a" }] }],
  ["a map", { M: { a: { S: "b" } } }],
  ["a set", { SS: ["a", "b"] }],
  ["bytes", { B: "AQID" }],
  ["a text above the limit of a key", { S: "x".repeat(3000) }],
  ["1e38", { N: "1e38" }],
  ["9.9e125", { N: "9.9e125" }],
];

describe.each(values)("%s", (_, value) => {
  test("as a unique value can be replaced and deleted", async () => {
    const things = lab.node("thing");
    await lab.put({ pk: { S: "T#1" }, sk: { S: "#" }, type: { S: "thing" }, value });
    expect(await things.update({ id: "1" }, { note: "n" })).toMatchObject({ ok: true });
    expect(await things.update({ id: "1" }, { value: "new" })).toMatchObject({ ok: true });
    expect(Object.keys(await lab.items()).filter((key) => key.startsWith("~"))).toEqual(["~unique#thing#value#new / #"]);
    await lab.put({ pk: { S: "T#1" }, sk: { S: "#" }, type: { S: "thing" }, value });
    expect(await things.put({ id: "1", value: "new" })).toMatchObject({ ok: true });
    await lab.put({ pk: { S: "T#2" }, sk: { S: "#" }, type: { S: "thing" }, value });
    expect(await things.delete({ id: "2" })).toMatchObject({ ok: true });
    expect(await things.delete({ id: "1" })).toMatchObject({ ok: true });
    expect(await lab.items()).toEqual({});
  });

  test("in an index can be changed beside it, replaced and deleted", async () => {
    const listed = lab.node("listed");
    await lab.put({ pk: { S: "L#1" }, sk: { S: "#" }, type: { S: "listed" }, size: value, bySizePk: { S: "listed#old#0" } });
    expect(await listed.update({ id: "1" }, { kind: "b" })).toMatchObject({ ok: true });
    const { bySizePk, bySizeSk } = (await lab.items())["L#1 / #"]!;
    expect(bySizePk === undefined).toBe(bySizeSk === undefined);
    expect(bySizePk === undefined).toBe(!("N" in value));
    expect(await listed.update({ id: "1" }, { size: 7 })).toMatchObject({ ok: true });
    expect((await lab.items())["L#1 / #"]).toMatchObject({ bySizePk: { S: "listed#b#0" }, bySizeSk: { S: "p5007#L#1" } });
    expect(await listed.delete({ id: "1" })).toMatchObject({ ok: true });
  });
});

test("values of several types that share a text are several unique values", async () => {
  const things = lab.node("thing");
  for (const [at, value] of [5, "p5005", 0, "o", true, "true", "number#p5005"].entries())
    expect(await things.create({ id: `k${at}`, value })).toMatchObject({ ok: true });
  for (const value of [5, 5n, "p5005", 0, "o", true, "true"])
    expect(await things.create({ id: "k9", value })).toMatchObject({ ok: false, reason: "notUnique" });
  for (let at = 0; at < 7; at++) await things.delete({ id: `k${at}` }).orThrow();
  expect(await lab.items()).toEqual({});
});
