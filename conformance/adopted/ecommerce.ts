import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();
const address = z.object({ street: text, city: text, state: text });

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      customer: node({
        key: "CUSTOMER#{user_name}",
        schema: z.object({ user_name: text, name: text, email: text, addresses: z.record(text, address) }),
      }),
      email: node({ key: "CUSTOMEREMAIL#{email}", schema: z.object({ email: text, user_name: text }) }),
      order: node({
        key: "CUSTOMER#{user_name}#ORDER#{order_id}",
        schema: z.object({
          order_id: text,
          user_name: text,
          created_at: text,
          number_of_items: z.int(),
          amount: z.number(),
          status: z.enum(["ACCEPTED", "CANCELED", "SHIPPED", "DELIVERED"]),
        }),
      }),
      item: node({
        key: "ORDER#{order_id}#ITEM#{item_id}",
        schema: z.object({ order_id: text, item_id: text, description: text, price: z.number() }),
      }),
    },
    edges: { placedBy: edge({ from: "order", to: "customer", stored: "reference" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "entity_type",
      indexes: { GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" } },
      nodes: {
        customer: { keys: { SK: "{key}", user_name: "{user_name}" }, delimiters: { user_name: whole } },
        email: { type: "customer_email", keys: { SK: "{key}", email: "{email}" }, delimiters: { email: whole } },
        order: {
          keys: {
            PK: "CUSTOMER#{user_name}",
            SK: "#ORDER#{order_id}",
            GSI1PK: "ORDER#{order_id}",
            GSI1SK: "ORDER#{order_id}",
            user_name: "{user_name}",
            order_id: "{order_id}",
          },
          delimiters: { user_name: whole, order_id: whole },
        },
        item: {
          type: "order_item",
          keys: {
            PK: "ORDER#{order_id}",
            SK: "{key}",
            GSI1PK: "ORDER#{order_id}",
            GSI1SK: "ITEM#{item_id}",
            order_id: "{order_id}",
            item_id: "{item_id}",
          },
          delimiters: { order_id: whole, item_id: whole },
        },
      },
    },
  });

const home = { street: "1 Elm Street", city: "Lincoln", state: "NE" };
const customer = { user_name: "vic", name: "Vic", email: "vic@example.org", addresses: { home } };
const orderRow = (order_id: string, status: "ACCEPTED" | "SHIPPED") => ({
  order_id,
  user_name: "vic",
  created_at: "2024-01-03T01:57:44Z",
  number_of_items: 2,
  amount: 67.43,
  status,
});
const itemRow = (order_id: string, item_id: string) => ({ order_id, item_id, description: `a ${item_id}`, price: 33.5 });

const customerItem = { PK: "CUSTOMER#vic", SK: "CUSTOMER#vic", entity_type: "customer", ...customer };
const emailItem = {
  PK: "CUSTOMEREMAIL#vic@example.org",
  SK: "CUSTOMEREMAIL#vic@example.org",
  entity_type: "customer_email",
  email: "vic@example.org",
  user_name: "vic",
};
const order = (id: string, status: "ACCEPTED" | "SHIPPED") => ({
  PK: "CUSTOMER#vic",
  SK: `#ORDER#${id}`,
  GSI1PK: `ORDER#${id}`,
  GSI1SK: `ORDER#${id}`,
  entity_type: "order",
  ...orderRow(id, status),
});
const item = (id: string, itemId: string) => ({
  PK: `ORDER#${id}`,
  SK: `ORDER#${id}#ITEM#${itemId}`,
  GSI1PK: `ORDER#${id}`,
  GSI1SK: `ITEM#${itemId}`,
  entity_type: "order_item",
  ...itemRow(id, itemId),
});

const [first, second, third] = ["1VrgXBQ0VCshuQUnh1HrDIHQNwA", "1VwVAvJk1GvBFfpTAjm0KG7Cg9B", "1W1ngWwjLY9CXQN4EonZ2Z1a2cC"] as const;

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const ecommerce: Design<Db> = {
  name: "ecommerce",
  source:
    "The DynamoDB Book (Alex DeBrie), chapter 19, as in modyne by Marcus Griep: github.com/neoeinstein/modyne, dynamodb-book/ch19-ecomm",
  table: { key: ["PK", "SK"], indexes: { GSI1: { key: ["GSI1PK", "GSI1SK"] } } },
  graph,
  items: [customerItem, emailItem, order(first, "SHIPPED"), order(second, "ACCEPTED"), item(first, "lamp"), item(first, "rug")],
  patterns: [
    {
      question: "a customer",
      ask: (db) => db.customer.get({ user_name: "vic" }),
      answer: customer,
      requests: ["GetItem: 'CUSTOMER#vic' / 'CUSTOMER#vic'"],
    },
    {
      question: "the orders of a customer, the latest first",
      ask: (db) => db.find("order").where({ user_name: "vic" }).reverse().limit(10).rows(),
      answer: [orderRow(second, "ACCEPTED"), orderRow(first, "SHIPPED")],
      requests: ["Query: PK = 'CUSTOMER#vic' AND begins_with(SK, '#ORDER#') (descending, limit 10)"],
    },
    {
      question: "an order with its items",
      ask: (db) => db.find(["order", "item"]).where({ order_id: first }).using("GSI1").rows(),
      answer: [
        { kind: "item", row: itemRow(first, "lamp") },
        { kind: "item", row: itemRow(first, "rug") },
        { kind: "order", row: orderRow(first, "SHIPPED") },
      ],
      requests: [`Query GSI1: GSI1PK = 'ORDER#${first}'`],
    },
    {
      question: "a customer and their latest orders",
      ask: (db) => db.find(["customer", "order"]).where({ user_name: "vic" }).reverse().limit(11).rows(),
      answer: [
        { kind: "customer", row: customer },
        { kind: "order", row: orderRow(second, "ACCEPTED") },
        { kind: "order", row: orderRow(first, "SHIPPED") },
      ],
      requests: ["Query: PK = 'CUSTOMER#vic' (descending, limit 11)"],
    },
  ],
  writes: [
    {
      what: "create_customer, with the marker of the address",
      call: (db) =>
        db.transact([
          db.customer.create({ ...customer, user_name: "una", email: "una@example.org" }),
          db.email.create({ email: "una@example.org", user_name: "una" }),
        ]),
      puts: [
        { ...customerItem, PK: "CUSTOMER#una", SK: "CUSTOMER#una", user_name: "una", email: "una@example.org" },
        {
          ...emailItem,
          PK: "CUSTOMEREMAIL#una@example.org",
          SK: "CUSTOMEREMAIL#una@example.org",
          email: "una@example.org",
          user_name: "una",
        },
      ],
    },
    {
      what: "create_customer with an address that is taken",
      call: (db) =>
        db.transact([
          db.customer.create({ ...customer, user_name: "vera", email: "una@example.org" }),
          db.email.create({ email: "una@example.org", user_name: "vera" }),
        ]),
    },
    {
      what: "save_order",
      call: (db) => db.transact([db.order.create(orderRow(third, "ACCEPTED")), db.item.create(itemRow(third, "vase"))]),
      puts: [order(third, "ACCEPTED"), item(third, "vase")],
    },
    {
      what: "update_order_status",
      call: (db) => db.order.update({ user_name: "vic", order_id: third }, { status: "SHIPPED" }).orThrow(),
      puts: [order(third, "SHIPPED")],
    },
    {
      what: "one address set beside another",
      call: (db) => db.customer.update({ user_name: "vic" }, { set: { "addresses.work": home } }).orThrow(),
      puts: [{ ...customerItem, addresses: { home, work: home } }],
    },
  ],
};
