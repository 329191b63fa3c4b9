import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";
import { whole, type Design } from "./describe-design.ts";

const text = z.string();

const featured = z.array(z.object({ deal_title: text })).optional();

// Names in keys are in upper case: so they are here. What is computed from other values (the day of a time, an unread
// message's place in the index) the application gives.
const graph = (table: string) =>
  defineGraph({
    table,
    nodes: {
      deal: node({
        key: "DEAL#{deal_id}",
        schema: z.object({
          deal_id: text,
          day: text,
          title: text,
          link: text,
          price: z.number(),
          category: text,
          brand: text,
          created_at: text,
        }),
      }),
      brand: node({ key: "BRAND#{brand_name}", schema: z.object({ brand_name: text, brand_logo_url: text, likes: z.int() }) }),
      category: node({
        key: "CATEGORY#{category_name}",
        schema: z.object({ category_name: text, featured_deals: featured, likes: z.int() }),
      }),
      user: node({ key: "USER#{user_name}", schema: z.object({ user_name: text, created_at: text }) }),
      inbox: node({ key: "MESSAGES#{user_name}", schema: z.object({ user_name: text }), stored: false }),
      frontPage: node({ key: "FRONTPAGE", schema: z.object({ featured_deals: featured }) }),
      editorsChoice: node({ key: "EDITORSCHOICE", schema: z.object({ featured_deals: featured }) }),
      brandLike: node({ key: "BRANDLIKE#{brand_name}#{user_name}", schema: z.object({ brand_name: text, user_name: text }) }),
    },
    parts: {
      message: part({
        of: "inbox",
        key: "MESSAGE#{message_id}",
        schema: z.object({
          message_id: text,
          subject: text,
          body: text,
          unread: z.boolean(),
          unreadOf: text.optional(),
          unreadId: text.optional(),
          created_at: text,
        }),
      }),
    },
    edges: { watchedBy: edge({ from: "brand", to: "user" }) },
    layout: {
      partitionKey: "PK",
      sortKey: "SK",
      // The type of an item is a set of one text, and singletons have none.
      typeAttribute: "entity_type",
      types: { entity_type: "SS" },
      indexes: {
        GSI1: { partitionKey: "GSI1PK", sortKey: "GSI1SK" },
        GSI2: { partitionKey: "GSI2PK", sortKey: "GSI2SK" },
        GSI3: { partitionKey: "GSI3PK", sortKey: "GSI3SK" },
        user_index: { partitionKey: "user_index" },
      },
      nodes: {
        deal: {
          keys: {
            SK: "{key}",
            GSI1PK: "DEALS#{day}",
            GSI1SK: "{key}",
            GSI2PK: "BRAND#{brand}#{day}",
            GSI2SK: "{key}",
            GSI3PK: "CATEGORY#{category}#{day}",
            GSI3SK: "{key}",
            deal_id: "{deal_id}",
            brand: "{brand}",
            category: "{category}",
          },
          delimiters: { deal_id: whole, brand: whole, category: whole },
        },
        brand: { keys: { SK: "{key}", brand_name: "{brand_name}" }, delimiters: { brand_name: whole } },
        category: { keys: { SK: "{key}", category_name: "{category_name}" }, delimiters: { category_name: whole } },
        user: { keys: { SK: "{key}", user_index: "{key}", user_name: "{user_name}" }, delimiters: { user_name: whole } },
        frontPage: { type: false, keys: { SK: "{key}" } },
        editorsChoice: { type: false, keys: { SK: "{key}" } },
        brandLike: {
          type: "brand_like",
          keys: { SK: "{key}", brand_name: "{brand_name}", user_name: "{user_name}" },
          delimiters: { brand_name: whole, user_name: whole },
        },
      },
      parts: {
        message: {
          keys: { GSI1PK: "MESSAGES#{unreadOf}", GSI1SK: "MESSAGE#{unreadId}", user_name: "{user_name}", message_id: "{message_id}" },
          delimiters: { user_name: whole, message_id: whole },
          sparse: ["GSI1PK", "GSI1SK"],
        },
      },
      edges: {
        watchedBy: {
          type: "brand_watch",
          keys: { PK: "BRANDWATCH#{from.brand_name}", SK: "{to}", brand_name: "{from.brand_name}", user_name: "{to.user_name}" },
          delimiters: { brand_name: whole, user_name: whole },
        },
      },
    },
  });

const is = (type: string) => ({ entity_type: new Set([type]) });
const made = "2024-06-07T08:09:10Z";
const deal = (deal_id: string, brand: string, day: string) => ({
  deal_id,
  title: `Deal ${deal_id}`,
  link: `https://deals.example/${deal_id}`,
  price: 19.95,
  category: "GARDEN",
  brand,
  created_at: `${day}T09:10:11Z`,
});
const dealItem = (id: string, brand: string, day: string) => ({
  PK: `DEAL#${id}`,
  SK: `DEAL#${id}`,
  GSI1PK: `DEALS#${day}`,
  GSI1SK: `DEAL#${id}`,
  GSI2PK: `BRAND#${brand}#${day}`,
  GSI2SK: `DEAL#${id}`,
  GSI3PK: `CATEGORY#GARDEN#${day}`,
  GSI3SK: `DEAL#${id}`,
  ...deal(id, brand, day),
  ...is("deal"),
});
const brand = (brand_name: string, likes: number) => ({ brand_name, brand_logo_url: "https://logo.example", likes });
const brandItem = (name: string, likes: number) => ({ PK: `BRAND#${name}`, SK: `BRAND#${name}`, ...brand(name, likes), ...is("brand") });
const userRow = (user_name: string) => ({ user_name, created_at: made });
const userItem = (name: string) => ({
  PK: `USER#${name}`,
  SK: `USER#${name}`,
  user_index: `USER#${name}`,
  ...userRow(name),
  ...is("user"),
});
const message = (message_id: string, unread: boolean) => ({
  message_id,
  subject: `About ${message_id}`,
  body: "…",
  unread,
  created_at: made,
});
const messageItem = (id: string, unread: boolean) => ({
  PK: "MESSAGES#rea",
  SK: `MESSAGE#${id}`,
  ...(unread ? { GSI1PK: "MESSAGES#rea", GSI1SK: `MESSAGE#${id}` } : {}),
  user_name: "rea",
  ...message(id, unread),
  ...is("message"),
});
const messageRow = (id: string, unread: boolean) => ({
  user_name: "rea",
  ...message(id, unread),
  ...(unread ? { unreadOf: "rea", unreadId: id } : {}),
});
const watchItem = (brand_name: string, user_name: string) => ({
  PK: `BRANDWATCH#${brand_name}`,
  SK: `USER#${user_name}`,
  brand_name,
  user_name,
  ...is("brand_watch"),
});
const likeItem = (brand_name: string, user_name: string) => ({
  PK: `BRANDLIKE#${brand_name}#${user_name}`,
  SK: `BRANDLIKE#${brand_name}#${user_name}`,
  brand_name,
  user_name,
  ...is("brand_like"),
});
const featured_deals = [{ deal_title: "Deal 2bA" }, { deal_title: "Deal 2bC" }];
const category = { category_name: "GARDEN", likes: 4, featured_deals };
const [monday, tuesday] = ["2024-06-10", "2024-06-11"];

type Db = ReturnType<ReturnType<typeof graph>["connect"]>;

export const deals: Design<Db> = {
  name: "deals",
  source:
    "The DynamoDB Book (Alex DeBrie), chapter 20, as in modyne by Marcus Griep: github.com/neoeinstein/modyne, dynamodb-book/ch20-bigtimedeals",
  table: {
    key: ["PK", "SK"],
    indexes: {
      GSI1: { key: ["GSI1PK", "GSI1SK"] },
      GSI2: { key: ["GSI2PK", "GSI2SK"] },
      GSI3: { key: ["GSI3PK", "GSI3SK"] },
      user_index: { key: ["user_index"] },
    },
  },
  graph,
  items: [
    dealItem("2bA", "SPADECO", monday),
    dealItem("2bC", "HOSELY", monday),
    dealItem("2bE", "SPADECO", tuesday),
    brandItem("SPADECO", 2),
    { PK: "CATEGORY#GARDEN", SK: "CATEGORY#GARDEN", ...category, ...is("category") },
    { PK: "FRONTPAGE", SK: "FRONTPAGE", featured_deals },
    userItem("rea"),
    userItem("sam"),
    messageItem("2cA", false),
    messageItem("2cB", true),
    watchItem("SPADECO", "rea"),
    likeItem("SPADECO", "sam"),
  ],
  patterns: [
    {
      question: "get_deal",
      ask: (db) => db.deal.get({ deal_id: "2bA" }),
      answer: { ...deal("2bA", "SPADECO", monday), day: monday },
      requests: ["GetItem: 'DEAL#2bA' / 'DEAL#2bA'"],
    },
    {
      question: "get_deals_by_date, the latest first",
      ask: (db) => db.find("deal").where({ day: monday }).using("GSI1").reverse().limit(25).rows(),
      answer: [
        { ...deal("2bC", "HOSELY", monday), day: monday },
        { ...deal("2bA", "SPADECO", monday), day: monday },
      ],
      requests: [`Query GSI1: GSI1PK = 'DEALS#${monday}' AND begins_with(GSI1SK, 'DEAL#') (descending, limit 25)`],
    },
    {
      question: "get_brand_deals_by_date, after the last one seen",
      ask: (db) =>
        db
          .find("deal")
          .where({ brand: "SPADECO", day: monday, deal_id: { lt: "2bZ" } })
          .using("GSI2")
          .reverse()
          .rows(),
      answer: [{ ...deal("2bA", "SPADECO", monday), day: monday }],
      requests: [`Query GSI2: GSI2PK = 'BRAND#SPADECO#${monday}' AND GSI2SK BETWEEN 'DEAL#' AND 'DEAL#2bZ' (descending)`],
    },
    {
      question: "get_category_deals_by_date",
      ask: (db) => db.find("deal").where({ category: "GARDEN", day: tuesday }).rows(),
      answer: [{ ...deal("2bE", "SPADECO", tuesday), day: tuesday }],
      requests: [`Query GSI3: GSI3PK = 'CATEGORY#GARDEN#${tuesday}' AND begins_with(GSI3SK, 'DEAL#')`],
    },
    {
      question: "get_category",
      ask: (db) => db.category.get({ category_name: "GARDEN" }),
      answer: category,
      requests: ["GetItem: 'CATEGORY#GARDEN' / 'CATEGORY#GARDEN'"],
    },
    {
      question: "get_front_page",
      ask: (db) => db.frontPage.get({}),
      answer: { featured_deals },
      requests: ["GetItem: 'FRONTPAGE' / 'FRONTPAGE'"],
    },
    {
      question: "get_all_messages, the latest first",
      ask: (db) => db.inbox({ user_name: "rea" }).parts("message").reverse().all(),
      answer: [messageRow("2cB", true), messageRow("2cA", false)],
      requests: ["Query: PK = 'MESSAGES#rea' AND begins_with(SK, 'MESSAGE#') (descending)"],
    },
    {
      question: "get_unread_messages",
      ask: (db) => db.find("message").where({ unreadOf: "rea" }).using("GSI1").reverse().rows(),
      answer: [messageRow("2cB", true)],
      requests: ["Query GSI1: GSI1PK = 'MESSAGES#rea' AND begins_with(GSI1SK, 'MESSAGE#') (descending)"],
    },
    {
      question: "get_watchers_by_brand",
      ask: (db) => db.brand({ brand_name: "SPADECO" }).out("watchedBy").ids(),
      answer: [{ user_name: "rea" }],
      requests: ["Query: PK = 'BRANDWATCH#SPADECO' AND begins_with(SK, 'USER#')"],
    },
  ],
  writes: [
    {
      what: "create_deal",
      call: (db) => db.deal.create({ ...deal("2bG", "HOSELY", tuesday), day: tuesday }).orThrow(),
      puts: [dealItem("2bG", "HOSELY", tuesday)],
    },
    {
      what: "set_featured_deals_front_page",
      call: (db) => db.frontPage.update({}, { featured_deals: [] }).orThrow(),
      puts: [{ PK: "FRONTPAGE", SK: "FRONTPAGE", featured_deals: [] }],
    },
    {
      what: "put_brand_like, once for each user",
      call: (db) =>
        db.transact([
          db.brand.update({ brand_name: "SPADECO" }, { add: { likes: 1 } }),
          db.brandLike.create({ brand_name: "SPADECO", user_name: "rea" }),
        ]),
      puts: [brandItem("SPADECO", 3), likeItem("SPADECO", "rea")],
    },
    {
      what: "the same like again",
      call: (db) =>
        db.transact([
          db.brand.update({ brand_name: "SPADECO" }, { add: { likes: 1 } }),
          db.brandLike.create({ brand_name: "SPADECO", user_name: "rea" }),
        ]),
    },
    {
      what: "put_brand_watch",
      call: (db) => db.watchedBy.link({ brand_name: "SPADECO" }, { user_name: "sam" }).orThrow(),
      puts: [watchItem("SPADECO", "sam")],
    },
    {
      what: "create_message",
      call: (db) => db.message.create({ user_name: "rea" }, messageRow("2cC", true)).orThrow(),
      puts: [messageItem("2cC", true)],
    },
    {
      what: "mark_message_read, which leaves the index",
      call: (db) =>
        db.message
          .update({ user_name: "rea" }, { message_id: "2cC" }, { set: { unread: false }, remove: ["unreadOf", "unreadId"] })
          .orThrow(),
      puts: [messageItem("2cC", false)],
    },
  ],
};
