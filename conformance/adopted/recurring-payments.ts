import { defineGraph, node, part } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();

const graph = (table: string) =>
  defineGraph({
    table,
    nodes: { account: node({ key: "ACC#{accountId}", schema: z.object({ accountId: text }), stored: false }) },
    parts: {
      subscription: part({
        of: "account",
        key: "SUB#{subscriptionId}#SKU#{sku}",
        schema: z.object({
          subscriptionId: text,
          sku: text,
          email: text,
          paymentDay: text,
          paymentAmount: text,
          lastPayment: text,
          nextPayment: text,
          lastReminder: text,
          nextReminder: text,
          paymentDetails: z.object({ card: text }),
          created: text,
        }),
      }),
      receipt: part({
        of: "account",
        key: "REC#{processed}#SKU#{sku}",
        schema: z.object({ processed: text, sku: text, email: text, amount: text, until: z.int() }),
        ttl: "until",
      }),
    },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      indexes: {
        "GSI-1": {
          partitionKey: "NextReminderDate",
          sortKey: "LastReminderDate",
          projection: ["SK", "PK", "SKU", "Email", "NextPaymentDate"],
        },
        "GSI-2": {
          partitionKey: "NextPaymentDate",
          sortKey: "LastPaymentDate",
          projection: ["PK", "SK", "Email", "PaymentDay", "PaymentAmount", "SKU", "PaymentDetails"],
        },
      },
      parts: {
        subscription: {
          keys: {
            SKU: "{sku}",
            NextReminderDate: "{nextReminder}",
            LastReminderDate: "{lastReminder}",
            NextPaymentDate: "{nextPayment}",
            LastPaymentDate: "{lastPayment}",
          },
          delimiters: { SKU: whole },
          attributes: {
            email: "Email",
            paymentDay: "PaymentDay",
            paymentAmount: "PaymentAmount",
            paymentDetails: "PaymentDetails",
            created: "CreatedDate",
          },
        },
        receipt: {
          keys: { SKU: "{sku}", ProcessedDate: "{processed}" },
          delimiters: { SKU: whole, ProcessedDate: whole },
          attributes: { email: "Email", amount: "ProcessedAmount", until: "TTL" },
        },
      },
    },
  });

const subscription = (account: string, [id, sku]: readonly [string, string], [last, next]: readonly [string, string]) => ({
  PK: `ACC#${account}`,
  SK: `SUB#${id}#SKU#${sku}`,
  SKU: sku,
  Email: `${account}@example.org`,
  PaymentDay: "28",
  PaymentAmount: "12.50",
  LastPaymentDate: last,
  NextPaymentDate: next,
  LastReminderDate: `${last}T07:00:00`,
  NextReminderDate: `${next.slice(0, 8)}21`,
  PaymentDetails: { card: "ends in 17" },
  CreatedDate: "2024-01-01",
});
const receipt = (account: string, [at, sku]: readonly [string, string]) => ({
  PK: `ACC#${account}`,
  SK: `REC#${at}#SKU#${sku}`,
  SKU: sku,
  ProcessedDate: at,
  Email: `${account}@example.org`,
  ProcessedAmount: "12.50",
  TTL: 4_102_444_800,
});
const row = (accountId: string, [subscriptionId, sku]: readonly [string, string], [last, next]: readonly [string, string]) => ({
  accountId,
  subscriptionId,
  sku,
  email: `${accountId}@example.org`,
  paymentDay: "28",
  paymentAmount: "12.50",
  lastPayment: last,
  nextPayment: next,
  lastReminder: `${last}T07:00:00`,
  nextReminder: `${next.slice(0, 8)}21`,
  paymentDetails: { card: "ends in 17" },
  created: "2024-01-01",
});
const receiptRow = (accountId: string, [processed, sku]: readonly [string, string]) => ({
  accountId,
  processed,
  sku,
  email: `${accountId}@example.org`,
  amount: "12.50",
  until: 4_102_444_800,
});

const [may, june, july] = ["2024-05-28", "2024-06-28", "2024-07-28"];
const found = row("7", ["1", "900"], [may, june]);
const {
  lastPayment: _lastPayment,
  paymentDay: _day,
  paymentAmount: _amount,
  paymentDetails: _details,
  created: _created,
  ...reminded
} = found;
const { nextReminder: _next, lastReminder: _last, created: _made, ...due } = found;

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const recurringPayments: Design<Db> = {
  name: "recurring-payments",
  source: "AWS, Recurring payments schema: github.com/aws-samples/aws-dynamodb-examples, schema_design/SchemaExamples/RecurringPayments",
  table: {
    ttl: "TTL",
    key: ["PK", "SK"],
    indexes: {
      "GSI-1": { key: ["NextReminderDate", "LastReminderDate"], projection: ["SK", "PK", "SKU", "Email", "NextPaymentDate"] },
      "GSI-2": {
        key: ["NextPaymentDate", "LastPaymentDate"],
        projection: ["PK", "SK", "Email", "PaymentDay", "PaymentAmount", "SKU", "PaymentDetails"],
      },
    },
  },
  graph,
  items: [
    subscription("7", ["1", "900"], [may, june]),
    subscription("7", ["2", "901"], [may, july]),
    subscription("8", ["3", "900"], [may, july]),
    receipt("7", [may, "900"]),
    receipt("7", [may, "901"]),
  ],
  patterns: [
    {
      question: "Get all subscriptions for an account",
      ask: (db) => db.account({ accountId: "7" }).parts("subscription").all(),
      answer: [found, row("7", ["2", "901"], [may, july])],
      requests: ["Query: PK = 'ACC#7' AND begins_with(SK, 'SUB#')"],
    },
    {
      question: "Get all receipts for an account",
      ask: (db) => db.account({ accountId: "7" }).parts("receipt").all(),
      answer: [receiptRow("7", [may, "900"]), receiptRow("7", [may, "901"])],
      requests: ["Query: PK = 'ACC#7' AND begins_with(SK, 'REC#')"],
    },
    {
      question: "Get specific subscription details",
      ask: (db) => db.account({ accountId: "7" }).parts("subscription").where({ subscriptionId: "1", sku: "900" }).all(),
      answer: [found],
      requests: ["Query: PK = 'ACC#7' AND SK = 'SUB#1#SKU#900'"],
    },
    {
      question: "getDueRemindersByDate",
      ask: (db) => db.find("subscription").where({ nextReminder: "2024-06-21" }).rows(),
      answer: [reminded],
      requests: ["Query GSI-1: NextReminderDate = '2024-06-21'"],
    },
    {
      question: "getDuePaymentsByDate",
      ask: (db) => db.find("subscription").where({ nextPayment: june }).rows(),
      answer: [due],
      requests: [`Query GSI-2: NextPaymentDate = '${june}'`],
    },
  ],
  writes: [
    {
      what: "Create new subscription",
      call: (db) => db.subscription.create({ accountId: "9" }, row("9", ["4", "902"], [may, june])).orThrow(),
      puts: [subscription("9", ["4", "902"], [may, june])],
    },
    {
      what: "Create new receipt",
      call: (db) => db.receipt.create({ accountId: "9" }, receiptRow("9", [june, "902"])).orThrow(),
      puts: [receipt("9", [june, "902"])],
    },
    {
      what: "Update subscription: it moves in both indexes",
      call: (db) =>
        db.subscription
          .update(
            { accountId: "9" },
            { subscriptionId: "4", sku: "902" },
            { lastPayment: june, nextPayment: july, lastReminder: `${june}T07:00:00`, nextReminder: "2024-07-21" },
          )
          .orThrow(),
      puts: [subscription("9", ["4", "902"], [june, july])],
    },
  ],
};
