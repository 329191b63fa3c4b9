import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";
import type { Item } from "../transport/operations.ts";
import { verify } from "../verify/index.ts";
import { factsLabOfFile } from "./facts-lab.test-support.ts";

const text = z.string();
/** A table of somebody else, with numbers in keys: of a copy that has an attribute beside, and of one that is stored there alone. */
const modelIn = (table: string) =>
  defineGraph({
    table,
    nodes: {
      item: node({ key: "ITEM#{itemId}", schema: z.object({ itemId: text, price: z.number(), rank: z.number(), tax: z.number() }) }),
      cart: node({ key: "CART#{cartId}", schema: z.object({ cartId: text }) }),
    },
    edges: {
      holds: edge({
        from: "item",
        to: "cart",
        copies: { from: { price: { of: "price", freshness: "stream" }, rank: "rank", tax: { of: "tax", freshness: "stream" } } },
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      types: { price: "N", Rank: "N", Tax: "N" },
      indexes: {
        byPrice: { partitionKey: "G1PK", sortKey: "price" },
        byRank: { partitionKey: "G2PK", sortKey: "Rank" },
        byTax: { partitionKey: "G3PK", sortKey: "Tax" },
      },
      nodes: { item: { keys: { SK: "item" } }, cart: { keys: { SK: "cart" } } },
      edges: {
        holds: {
          keys: {
            SK: "IN#{to.cartId}",
            G1PK: "{to}",
            price: "{price:number}",
            G2PK: "R#{to}",
            Rank: "{rank:number}",
            G3PK: "T#{to}",
            Tax: "{tax:number}",
          },
        },
      },
    },
  });

const lab = factsLabOfFile(modelIn);
const [i, c] = [{ itemId: "i" }, { cartId: "c" }];
const DIGITS = "0.12345678901234567890123456789012345678";
const MORE = "0.12345678901234567890123456789012345679";

const items = () => lab.opened().lab.items();
const isEdge = ({ SK }: Item): boolean => "S" in SK! && SK.S.startsWith("IN#");
const edit = async (which: (item: Item) => boolean, to: Item) => {
  const { engine, table } = lab.opened().lab;
  for (const one of await items()) if (which(one)) await engine.transport.send("PutItem", { TableName: table, Item: { ...one, ...to } });
};
const numbers = (N: string): Item => ({ price: { N }, rank: { N }, tax: { N } });
const stored = async () => (await items()).filter(isEdge).map(({ price, Rank, Tax }) => [price, Rank, Tax]);
const found = async (repair = false) =>
  (await verify(lab.opened().db, { settle: 10, staleAfter: 10, repair })).kinds.map(({ kind }) => kind);

test("copies in keys of numbers keep every digit, by writes, the stream and repairs", async () => {
  const { db } = lab.opened();
  await db.cart.create(c).orThrow();
  await db.item.create({ ...i, price: 1, rank: 1, tax: 1 }).orThrow();
  await edit((one) => "rank" in one, numbers(DIGITS));
  await db.holds.link(i, c).orThrow();
  expect(await stored()).toEqual([[{ N: DIGITS }, { N: DIGITS }, { N: DIGITS }]]);
  await lab.drain();
  expect(await stored()).toEqual([[{ N: DIGITS }, { N: DIGITS }, { N: DIGITS }]]);
  expect(await found()).toEqual([]);
  // A change that no double shows.
  await edit((one) => "rank" in one, numbers(MORE));
  await lab.drain();
  expect(await stored()).toMatchObject([[{ N: MORE }, {}, { N: MORE }]]);
  expect(await found(true)).toEqual(["staleCopy"]);
  expect(await stored()).toEqual([[{ N: MORE }, { N: MORE }, { N: MORE }]]);
  // A program that reads doubles rounds a copy.
  await edit(isEdge, { price: { N: String(Number(MORE)) }, Tax: { N: String(Number(MORE)) } });
  await lab.drain();
  expect(await stored()).toEqual([[{ N: MORE }, { N: MORE }, { N: MORE }]]);
  await db.item.update(i, { add: { rank: 0.5 } }).orThrow();
  expect(await stored()).toMatchObject([[{}, { N: MORE.replace("0.1", "0.6") }, {}]]);
});
