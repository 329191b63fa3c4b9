import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import { startEngine, type TestEngine } from "../test-support/engine.ts";
import type { AttributeValue, Item } from "../transport/operations.ts";
import { verify } from "./index.ts";
import { contentOf } from "./lab.test-support.ts";

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const id = z.string();
const weights = z.object({ weight: z.number(), at: z.object({ x: z.number() }).optional(), label: z.string().optional() });
const LONG = "0.30000000000000000001";
const SHORT = "0.3";

for (const form of ["stored twice", "without direction"] as const)
  describe(`an edge ${form}`, () => {
    const open = async () => {
      const table = engine.freshTableName("digits");
      const graph = defineGraph({
        table,
        nodes: { a: node({ key: "A#{id}", schema: z.object({ id }) }) },
        edges: {
          near: edge({
            from: "a",
            to: "a",
            schema: weights,
            ...(form === "stored twice" ? { stored: "twice" as const } : { symmetric: true }),
          }),
        },
      });
      const db = graph.connect({ transport: engine.transport });
      await db.table.create();
      for (const one of ["x", "y"]) await db.a.create({ id: one }).orThrow();
      await db.near.link({ id: "x" }, { id: "y" }, { weight: 0.3, at: { x: 0.3 }, label: "l" }).orThrow();
      const copies = async () => [...(await contentOf(engine.transport, table)).values()].filter(({ weight }) => weight);
      const put = (item: Item) => engine.transport.send("PutItem", { TableName: table, Item: item });
      const own = async () => (await copies()).toSorted((one) => ((one["sk"] as { readonly S: string }).S.startsWith("~") ? 1 : -1));
      return { db, table, put, copies: own };
    };
    const nested = (text: string): AttributeValue => ({ M: { x: { N: text } } });

    test("has copies that differ in digits which no double holds: it is found, and the second copy follows the first", async () => {
      const { db, put, copies } = await open();
      const [first, second] = await copies();
      await put({ ...first!, weight: { N: LONG } });
      const report = await verify(db, { settle: 0 });
      expect(report.kinds).toMatchObject([{ kind: "differing", count: 1 }]);
      const [example] = report.kinds[0]!.examples;
      const shown = [example?.stored, example?.expected];
      if (form === "stored twice") expect(shown).toEqual([{ weight: SHORT }, { weight: LONG }]);
      expect(example?.reason).toBe('The copies differ in "weight".');
      expect(await verify(db, { settle: 0, repair: true, differing: "mend" })).toMatchObject({ clean: true });
      const [lead, follower] = await copies();
      expect(lead?.["weight"]).toEqual(follower?.["weight"]);
      if (form === "stored twice") expect(follower?.["weight"]).toEqual({ N: LONG });
      await put({ ...lead!, at: nested(LONG) });
      await put({ ...second!, weight: lead!["weight"]!, at: nested(SHORT) });
      expect((await verify(db, { settle: 0 })).kinds).toMatchObject([{ kind: "differing", count: 1, examples: [{ attribute: "at" }] }]);
      expect((await verify(db, { settle: 0, differing: "keep" })).kinds).toEqual([]);
      await put({ ...second!, weight: lead!["weight"]!, at: nested(LONG) });
      expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
    });

    test("has a copy that is missing restored with all digits of the other", async () => {
      const { db, table, put, copies } = await open();
      const [first, second] = await copies();
      await put({ ...first!, weight: { N: LONG }, at: nested(LONG) });
      const { pk, sk } = second!;
      await engine.transport.send("DeleteItem", { TableName: table, Key: { pk: pk!, sk: sk! } });
      expect(await verify(db, { settle: 0, repair: true })).toMatchObject({ clean: true, kinds: [{ kind: "oneSided", repaired: 1 }] });
      const [, restored] = await copies();
      expect(restored).toMatchObject({ weight: { N: LONG }, at: nested(LONG) });
      expect(await verify(db, { settle: 0 })).toMatchObject({ clean: true, kinds: [] });
    });
  });
