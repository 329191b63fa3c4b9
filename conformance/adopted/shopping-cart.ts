import { defineGraph, node, part } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();
const line = z.object({
  productId: text,
  quantity: z.int(),
  expirationTime: z.int(),
  productDetail: z.object({ name: text, price: z.number(), tags: z.array(text) }),
});

// Carts are of visitors ("cart#…") or of users ("user#…"); a stream keeps each product's total.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      cart: node({ key: "cart#{cartId}", schema: z.object({ cartId: text }), stored: false }),
      user: node({ key: "user#{sub}", schema: z.object({ sub: text }), stored: false }),
      product: node({ key: "product#{productId}", schema: z.object({ productId: text, quantity: z.int() }) }),
    },
    parts: {
      cartLine: part({ of: "cart", key: "product#{productId}", schema: line, ttl: "expirationTime" }),
      userLine: part({ of: "user", key: "product#{productId}", schema: line, ttl: "expirationTime" }),
    },
    layout: { partitionKey: "pk", sortKey: "sk", nodes: { product: { keys: { sk: "totalquantity" } } } },
  });

const [day, week] = [4_102_444_800, 4_103_049_600];
const productDetail = { name: "Kite", price: 19.9, tags: ["red", "wind"] };
const item = (pk: string, [id, quantity, expirationTime]: readonly [string, number, number]) => ({
  pk,
  sk: `product#${id}`,
  quantity,
  expirationTime,
  productDetail,
});

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const shoppingCart: Design<Db> = {
  name: "shopping-cart",
  source: "AWS, Serverless shopping cart microservice: github.com/aws-samples/aws-serverless-shopping-cart, backend/shopping-cart-service",
  table: { ttl: "expirationTime", key: ["pk", "sk"] },
  graph,
  items: [
    item("cart#9f", ["p1", 2, day]),
    item("cart#9f", ["p2", 0, day]),
    item("user#u1", ["p1", 1, week]),
    { pk: "product#p1", sk: "totalquantity", quantity: 3 },
  ],
  patterns: [
    {
      question: "list_cart of a visitor",
      ask: (db) =>
        db
          .cart({ cartId: "9f" })
          .parts("cartLine")
          .where({ quantity: { gt: 0 } })
          .all(),
      answer: [{ cartId: "9f", productId: "p1", quantity: 2, expirationTime: day, productDetail }],
      requests: ["Query: pk = 'cart#9f' AND begins_with(sk, 'product#') (filter quantity > 0)"],
    },
    {
      question: "the cart of a user, strongly consistent",
      ask: (db) => db.user({ sub: "u1" }).parts("userLine").consistent().all(),
      answer: [{ sub: "u1", productId: "p1", quantity: 1, expirationTime: week, productDetail }],
      requests: ["Query: pk = 'user#u1' AND begins_with(sk, 'product#')"],
    },
    {
      question: "get_cart_total",
      ask: (db) => db.product.get({ productId: "p1" }),
      answer: { productId: "p1", quantity: 3 },
      requests: ["GetItem: 'product#p1' / 'totalquantity'"],
    },
  ],
  writes: [
    {
      what: "update_cart, which overwrites the quantity",
      call: (db) => db.userLine.put({ sub: "u1" }, { productId: "p2", quantity: 4, expirationTime: week, productDetail }).orThrow(),
      puts: [item("user#u1", ["p2", 4, week])],
    },
    {
      what: "add_to_cart of a product that is there",
      call: (db) =>
        db.userLine
          .update({ sub: "u1" }, { productId: "p1" }, { add: { quantity: 2 }, set: { expirationTime: day, productDetail } })
          .orThrow(),
      puts: [item("user#u1", ["p1", 3, day])],
    },
    {
      what: "add_to_cart of a negative quantity, not below 0",
      call: (db) =>
        db.userLine
          .update(
            { sub: "u1" },
            { productId: "p1" },
            { add: { quantity: -3 }, set: { expirationTime: week } },
            { if: { quantity: { gte: 3 } } },
          )
          .orThrow(),
      puts: [item("user#u1", ["p1", 0, week])],
    },
    {
      what: "the stream's total",
      call: (db) => db.product.update({ productId: "p1" }, { add: { quantity: -1 } }).orThrow(),
      puts: [{ pk: "product#p1", sk: "totalquantity", quantity: 2 }],
    },
    {
      what: "checkout_cart",
      call: (db) =>
        db.batch([db.userLine.delete({ sub: "u1" }, { productId: "p1" }), db.userLine.delete({ sub: "u1" }, { productId: "p2" })]),
      deletes: [
        { pk: "user#u1", sk: "product#p1" },
        { pk: "user#u1", sk: "product#p2" },
      ],
    },
  ],
  cannot: [
    {
      needs: "an update that makes the item where there is none: add_to_cart's first ADD, and a product's first total",
      attempt: (db) => db.product.update({ productId: "p9" }, { add: { quantity: 1 } }).orThrow(),
      refusal: "notFound",
    },
  ],
};
