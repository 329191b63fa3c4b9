import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
import type { Design } from "./describe-design.ts";

const text = z.string();
const address = z.object({ City: text, Street: text });

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      customer: node({ key: "c#{customerId}", schema: z.object({ customerId: text, Email: text, Name: text }) }),
      product: node({ key: "p#{productId}", schema: z.object({ productId: text, Detail: z.object({ Name: text }), Price: text }) }),
      warehouse: node({ key: "w#{warehouseId}", schema: z.object({ warehouseId: text, Address: address }) }),
      order: node({ key: "o#{orderId}", schema: z.object({ orderId: text, customerId: text, Date: text }) }),
    },
    parts: {
      invoice: part({
        of: "order",
        key: "i#{invoiceId}",
        schema: z.object({
          invoiceId: text,
          customerId: text,
          at: text,
          Amount: text,
          Detail: z.object({ Payments: z.array(z.object({ Type: text, Amount: z.number() })) }),
        }),
      }),
      shipment: part({
        of: "order",
        key: "sh#{shipmentId}",
        schema: z.object({ shipmentId: text, warehouseId: text, Address: address, Type: text }),
      }),
      shipmentItem: part({
        of: "order",
        key: "shp#{shipmentItemId}",
        schema: z.object({ shipmentItemId: text, shipmentId: text, productId: text, Quantity: text }),
      }),
    },
    edges: {
      stockedIn: edge({ from: "product", to: "warehouse", schema: z.object({ Quantity: text }) }),
      contains: edge({
        from: "order",
        to: "product",
        schema: z.object({ customerId: text, at: text, Price: text, Quantity: text }),
        orderBy: "at",
        ends: "unchecked",
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      typeAttribute: "EntityType",
      indexes: {
        GSI1: { partitionKey: "GSI1-PK", sortKey: "GSI1-SK" },
        GSI2: { partitionKey: "GSI2-PK", sortKey: "GSI2-SK" },
      },
      nodes: { order: { keys: { SK: "c#{customerId}" } } },
      parts: {
        invoice: { keys: { "GSI1-PK": "{key}", "GSI1-SK": "{key}", "GSI2-PK": "c#{customerId}", "GSI2-SK": "{at}" } },
        shipment: { keys: { "GSI1-PK": "{key}", "GSI1-SK": "{key}", "GSI2-PK": "w#{warehouseId}", "GSI2-SK": "{key}" } },
        shipmentItem: { keys: { "GSI1-PK": "sh#{shipmentId}", "GSI1-SK": "p#{productId}" } },
      },
      edges: {
        stockedIn: { type: "warehouseItem", keys: { "GSI2-PK": "{to}", "GSI2-SK": "{from}" } },
        contains: {
          type: "orderItem",
          keys: { "GSI1-PK": "{to}", "GSI1-SK": "{at}", "GSI2-PK": "c#{customerId}", "GSI2-SK": "{at}" },
        },
      },
    },
  });

const [morning, noon, next] = ["2024-06-21T08:00:00", "2024-06-21T12:00:00", "2024-06-22T08:00:00"];
const street = (City: string) => ({ City, Street: "High Street" });
const payments = [
  { Type: "GiftCard", Amount: 10 },
  { Type: "Card", Amount: 32.5 },
];

const customerItem = (id: string) => ({ PK: `c#${id}`, SK: `c#${id}`, EntityType: "customer", Email: `${id}@example.org`, Name: id });
const productItem = (id: string) => ({ PK: `p#${id}`, SK: `p#${id}`, EntityType: "product", Detail: { Name: id }, Price: "10" });
const warehouseItem = (id: string) => ({ PK: `w#${id}`, SK: `w#${id}`, EntityType: "warehouse", Address: street(id) });
const stock = (product: string, warehouse: string, Quantity: string) => ({
  PK: `p#${product}`,
  SK: `w#${warehouse}`,
  EntityType: "warehouseItem",
  "GSI2-PK": `w#${warehouse}`,
  "GSI2-SK": `p#${product}`,
  Quantity,
});
const orderItem = (order: string, product: string, at: string) => ({
  PK: `o#${order}`,
  SK: `p#${product}`,
  EntityType: "orderItem",
  "GSI1-PK": `p#${product}`,
  "GSI1-SK": at,
  "GSI2-PK": "c#Ali",
  "GSI2-SK": at,
  Price: "10",
  Quantity: "2",
});
const invoiceItem = (order: string, invoice: string, at: string) => ({
  PK: `o#${order}`,
  SK: `i#${invoice}`,
  EntityType: "invoice",
  "GSI1-PK": `i#${invoice}`,
  "GSI1-SK": `i#${invoice}`,
  "GSI2-PK": "c#Ali",
  "GSI2-SK": at,
  Amount: "42.5",
  Detail: { Payments: payments },
});
const shipmentItem = (order: string, shipment: string, warehouse: string) => ({
  PK: `o#${order}`,
  SK: `sh#${shipment}`,
  EntityType: "shipment",
  "GSI1-PK": `sh#${shipment}`,
  "GSI1-SK": `sh#${shipment}`,
  "GSI2-PK": `w#${warehouse}`,
  "GSI2-SK": `sh#${shipment}`,
  Address: street("Oslo"),
  Type: "Express",
});
const shipped = (order: string, id: string, [shipment, product]: readonly [string, string]) => ({
  PK: `o#${order}`,
  SK: `shp#${id}`,
  EntityType: "shipmentItem",
  "GSI1-PK": `sh#${shipment}`,
  "GSI1-SK": `p#${product}`,
  Quantity: "2",
});

const contained = (order: string, product: string, at: string) => ({
  from: { orderId: order },
  to: { productId: product },
  customerId: "Ali",
  at,
  Price: "10",
  Quantity: "2",
});
const invoiceValues = { invoiceId: "I1", customerId: "Ali", at: noon, Amount: "42.5", Detail: { Payments: payments } };
const shipmentValues = { shipmentId: "S1", warehouseId: "North", Address: street("Oslo"), Type: "Express" };
const shipmentItemValues = { shipmentItemId: "SI1", shipmentId: "S1", productId: "pen", Quantity: "2" };
const [invoice, shipment, shipmentRow] = [
  { orderId: "1", ...invoiceValues },
  { orderId: "1", ...shipmentValues },
  { orderId: "1", ...shipmentItemValues },
];

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const onlineShop: Design<Db> = {
  name: "online-shop",
  source: "AWS, An online shop: github.com/aws-samples/amazon-dynamodb-design-patterns, examples/an-online-shop",
  table: { key: ["PK", "SK"], indexes: { GSI1: { key: ["GSI1-PK", "GSI1-SK"] }, GSI2: { key: ["GSI2-PK", "GSI2-SK"] } } },
  graph,
  items: [
    customerItem("Ali"),
    productItem("pen"),
    productItem("ink"),
    warehouseItem("North"),
    warehouseItem("South"),
    stock("pen", "North", "50"),
    stock("pen", "South", "7"),
    stock("ink", "North", "4"),
    { PK: "o#1", SK: "c#Ali", EntityType: "order", Date: morning },
    orderItem("1", "pen", morning),
    orderItem("1", "ink", noon),
    { PK: "o#2", SK: "c#Ali", EntityType: "order", Date: next },
    orderItem("2", "pen", next),
    invoiceItem("1", "I1", noon),
    shipmentItem("1", "S1", "North"),
    shipped("1", "SI1", ["S1", "pen"]),
  ],
  patterns: [
    {
      question: "Get customer for a given customerId",
      ask: (db) => db.customer.get({ customerId: "Ali" }),
      answer: { customerId: "Ali", Email: "Ali@example.org", Name: "Ali" },
      requests: ["GetItem: 'c#Ali' / 'c#Ali'"],
    },
    {
      question: "Get product for a given productId",
      ask: (db) => db.product.get({ productId: "pen" }),
      answer: { productId: "pen", Detail: { Name: "pen" }, Price: "10" },
      requests: ["GetItem: 'p#pen' / 'p#pen'"],
    },
    {
      question: "Get warehouse for a given warehouseId",
      ask: (db) => db.warehouse.get({ warehouseId: "North" }),
      answer: { warehouseId: "North", Address: street("North") },
      requests: ["GetItem: 'w#North' / 'w#North'"],
    },
    {
      question: "Get a product inventory for all warehouses by a productId",
      ask: (db) => db.product({ productId: "pen" }).out("stockedIn").edges(),
      answer: [
        { from: { productId: "pen" }, to: { warehouseId: "North" }, Quantity: "50" },
        { from: { productId: "pen" }, to: { warehouseId: "South" }, Quantity: "7" },
      ],
      requests: ["Query: PK = 'p#pen' AND begins_with(SK, 'w#')"],
    },
    {
      question: "Get all order details for a given orderId",
      ask: (db) => db.order({ orderId: "1" }).collection(),
      answer: {
        node: { orderId: "1", customerId: "Ali", Date: morning },
        edges: { contains: [contained("1", "ink", noon), contained("1", "pen", morning)] },
        parts: { invoice: [invoice], shipment: [shipment], shipmentItem: [shipmentRow] },
      },
      requests: ["Query: PK = 'o#1'"],
    },
    {
      question: "Get all products for a given orderId",
      ask: (db) => db.order({ orderId: "1" }).out("contains").unordered().edges(),
      answer: [contained("1", "ink", noon), contained("1", "pen", morning)],
      requests: ["Query: PK = 'o#1' AND begins_with(SK, 'p#')"],
    },
    {
      question: "Get invoice for a given orderId",
      ask: (db) => db.order({ orderId: "1" }).parts("invoice").all(),
      answer: [invoice],
      requests: ["Query: PK = 'o#1' AND begins_with(SK, 'i#')"],
    },
    {
      question: "Get all shipments for a given orderId",
      ask: (db) => db.order({ orderId: "1" }).parts("shipment").all(),
      answer: [shipment],
      requests: ["Query: PK = 'o#1' AND begins_with(SK, 'sh#')"],
    },
    {
      question: "Get all orders for a given productId for a given date range",
      ask: (db) =>
        db
          .product({ productId: "pen" })
          .in("contains")
          .where({ at: { between: ["2024-06-21", "2024-06-22"] } })
          .edges(),
      answer: [contained("1", "pen", morning)],
      requests: ["Query GSI1: GSI1-PK = 'p#pen' AND GSI1-SK BETWEEN '2024-06-21' AND '2024-06-22'"],
    },
    {
      question: "Get invoice, and its payments, for a given invoiceId",
      ask: (db) => db.find("invoice").where({ invoiceId: "I1" }).rows(),
      answer: [invoice],
      requests: ["Query GSI1: GSI1-PK = 'i#I1' AND GSI1-SK = 'i#I1'"],
    },
    {
      question: "Get shipment detail for a given shipmentId",
      ask: (db) => db.find(["shipment", "shipmentItem"]).where({ shipmentId: "S1" }).rows(),
      answer: [
        { kind: "shipmentItem", row: shipmentRow },
        { kind: "shipment", row: shipment },
      ],
      requests: ["Query GSI1: GSI1-PK = 'sh#S1'"],
    },
    {
      question: "Get all shipments for a given warehouseId",
      ask: (db) => db.find("shipment").where({ warehouseId: "North" }).rows(),
      answer: [shipment],
      requests: ["Query GSI2: GSI2-PK = 'w#North' AND begins_with(GSI2-SK, 'sh#')"],
    },
    {
      question: "Get inventory of all products for a given warehouseId",
      ask: (db) => db.warehouse({ warehouseId: "North" }).in("stockedIn").edges(),
      answer: [
        { from: { productId: "ink" }, to: { warehouseId: "North" }, Quantity: "4" },
        { from: { productId: "pen" }, to: { warehouseId: "North" }, Quantity: "50" },
      ],
      requests: ["Query GSI2: GSI2-PK = 'w#North' AND begins_with(GSI2-SK, 'p#')"],
    },
    {
      question: "Get all invoices for a given customerId for a given date range",
      ask: (db) =>
        db
          .find("invoice")
          .where({ customerId: "Ali", at: { between: ["2024-06-01", "2024-06-30"] } })
          .rows(),
      answer: [invoice],
      requests: ["Query GSI2: GSI2-PK = 'c#Ali' AND GSI2-SK BETWEEN '2024-06-01' AND '2024-06-30'"],
    },
    {
      question: "Get all products ordered by a given customerId for a given date range",
      ask: (db) =>
        db
          .find("contains")
          .where({ customerId: "Ali", at: { between: ["2024-06-01", "2024-06-30"] } })
          .rows(),
      answer: [contained("1", "pen", morning), contained("1", "ink", noon), contained("2", "pen", next)],
      requests: ["Query GSI2: GSI2-PK = 'c#Ali' AND GSI2-SK BETWEEN '2024-06-01' AND '2024-06-30'"],
    },
    {
      question: "Get all products ordered and also invoices for a given customerId for a given date range",
      ask: (db) =>
        db
          .find(["contains", "invoice"])
          .where({ customerId: "Ali", at: { between: ["2024-06-22", "2024-06-30"] } })
          .rows(),
      answer: [{ kind: "contains", row: contained("2", "pen", next) }],
      requests: ["Query GSI2: GSI2-PK = 'c#Ali' AND GSI2-SK BETWEEN '2024-06-22' AND '2024-06-30'"],
    },
  ],
  writes: [
    {
      what: "an order and its items",
      call: (db) =>
        db.transact([
          db.order.create({ orderId: "3", customerId: "Ali", Date: next }),
          db.contains.link({ orderId: "3" }, { productId: "ink" }, { customerId: "Ali", at: next, Price: "10", Quantity: "2" }),
        ]),
      puts: [{ PK: "o#3", SK: "c#Ali", EntityType: "order", Date: next }, orderItem("3", "ink", next)],
    },
    {
      what: "an invoice",
      call: (db) => db.invoice.create({ orderId: "3" }, { ...invoiceValues, invoiceId: "I3", at: next }).orThrow(),
      puts: [invoiceItem("3", "I3", next)],
    },
    {
      what: "a shipment and its items",
      call: (db) =>
        db.transact([
          db.shipment.create({ orderId: "3" }, { ...shipmentValues, shipmentId: "S3", warehouseId: "South" }),
          db.shipmentItem.create({ orderId: "3" }, { ...shipmentItemValues, shipmentItemId: "SI3", shipmentId: "S3", productId: "ink" }),
        ]),
      puts: [shipmentItem("3", "S3", "South"), shipped("3", "SI3", ["S3", "ink"])],
    },
    {
      what: "stock in another warehouse",
      call: (db) => db.stockedIn.link({ productId: "ink" }, { warehouseId: "South" }, { Quantity: "9" }).orThrow(),
      puts: [stock("ink", "South", "9")],
    },
    {
      what: "less stock",
      call: (db) => db.stockedIn.relink({ productId: "ink" }, { warehouseId: "South" }, { Quantity: "8" }).orThrow(),
      puts: [stock("ink", "South", "8")],
    },
  ],
};
