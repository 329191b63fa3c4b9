import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { count, defineGraph, edge, node, part, type RowOf } from "../index.ts";
import type { HandlersOf } from "../streams/index.ts";

const text = z.string();
const stock = defineGraph({
  table: "Stock",
  nodes: {
    shop: node({ key: "SHOP#{shopId}", schema: z.object({ shopId: text }), version: true, derived: { goods: count({ out: "sells" }) } }),
    good: node({ key: "GOOD#{goodId}", schema: z.object({ goodId: text, name: text.optional() }) }),
  },
  parts: { note: part({ of: "shop", key: "NOTE#{n:3}", schema: z.object({ n: z.int(), text }) }) },
  edges: { sells: edge({ from: "shop", to: "good", schema: z.object({ price: z.number() }), onDelete: { from: "cascade" } }) },
});
const db = stock.connect();

test("the rows of a graph have names", () => {
  expectTypeOf<RowOf<typeof stock, "shop">["goods"]>().toEqualTypeOf<number>();
  expectTypeOf<RowOf<typeof stock, "shop">["version"]>().toEqualTypeOf<number>();
  expectTypeOf<RowOf<typeof stock, "note">["shopId" | "text"]>().toEqualTypeOf<string>();
  expectTypeOf<RowOf<typeof stock, "sells">["from"]["shopId"]>().toEqualTypeOf<string>();
  const ofShop = async (): Promise<RowOf<typeof stock, "shop"> | undefined> => db.shop.get({ shopId: "1" });
  const ofEdges = async (): Promise<readonly RowOf<typeof stock, "sells">[]> => db.shop({ shopId: "1" }).out("sells").edges();
  void [ofShop, ofEdges];
  // @ts-expect-error -- no such kind
  type Wrong = RowOf<typeof stock, "shops">;
  void ((one: Wrong) => one);
});

test("handlers in a file of their own know what they are given", () => {
  const handlers: HandlersOf<typeof stock> = {
    sold: { on: "sells", linked: ({ after }) => expectTypeOf(after.price).toEqualTypeOf<number>() },
    named: { on: "good", whenChanged: ["name"], updated: ({ before }) => expectTypeOf(before.name).toEqualTypeOf<string | undefined>() },
  };
  // @ts-expect-error -- no such kind
  const wrong: HandlersOf<typeof stock> = { sold: { on: "sold" } };
  void [handlers, wrong];
});
