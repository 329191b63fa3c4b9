import { describe, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, node } from "../index.ts";

const shop = node({
  key: "SHOP#{shopId}",
  schema: z.object({
    shopId: z.string(),
    name: z.string(),
    address: z.object({ city: z.string(), geo: z.object({ lat: z.number(), lon: z.number() }).optional(), "post.code": z.string() }).optional(),
    tags: z.array(z.string()),
    lines: z.array(z.object({ sku: z.string(), amount: z.number() })),
    settings: z.record(z.string(), z.number()),
    labels: z.set(z.string()).optional(),
  }),
});
const near = edge({ from: "shop", to: "shop", schema: z.object({ route: z.object({ metres: z.number() }) }) });
const db = defineGraph({ table: "Shops", nodes: { shop }, edges: { near }, indexes: { byName: { entries: { shop: "shopId" } } } }).connect();

test("booleans have no order", () => {
  const flag = node({ key: "FLAG#{flagId}", schema: z.object({ flagId: z.string(), on: z.boolean(), level: z.union([z.boolean(), z.number()]) }) });
  const flags = defineGraph({ table: "Flags", nodes: { flag }, edges: {}, indexes: { byOn: { entries: { flag: "on:boolean" } } } }).connect();
  void (() => flags.find("flag").where({ on: true, level: { gt: 5, ne: true } }));
  // @ts-expect-error DynamoDB compares no booleans
  void (() => flags.find("flag").where({ on: { gte: false } }));
  // @ts-expect-error nor a boolean among other values
  void (() => flags.find("flag").where({ level: { between: [false, 5] } }));
});

describe("paths into attributes", () => {
  test("filters and conditions compare the value at a path", () => {
    void (() => db.find("shop").where({ "address.city": "Lisbon", "address.geo.lat": { gt: 38 }, "tags[0]": { beginsWith: "a" } }));
    void (() => db.find("shop").where({ "lines[2].sku": "s1", "settings.dark": 1, 'address["post.code"]': "1000", or: [{ "address.city": "Porto" }] }));
    void (() => db.shop({ shopId: "1" }).out("near").where({ "route.metres": { lt: 500 }, to: { shopId: "2" } }));
    void (() => db.find("shop").where({ 'settings["font.size"]': { gt: 10 } }));
    // @ts-expect-error settings are numbers
    void (() => db.find("shop").where({ 'settings["font.size"]': "large" }));
    void (() => db.shop.delete({ shopId: "1" }, { if: { "address.geo": { exists: false } } }));
    // @ts-expect-error city is text
    void (() => db.find("shop").where({ "address.city": 5 }));
    // @ts-expect-error an address has no such member
    void (() => db.find("shop").where({ "address.town": "Lisbon" }));
    // @ts-expect-error amount is a number
    void (() => db.find("shop").where({ "lines[0].amount": "many" }));
    // @ts-expect-error an edge's route has no such member
    void (() => db.shop({ shopId: "1" }).out("near").where({ "route.feet": 1 }));
  });
  test("an attribute that may be null is compared with it, also as a list's member", () => {
    const gate = node({ key: "GATE#{id}", schema: z.object({ id: z.string(), note: z.string().nullable(), level: z.number().nullish() }) });
    const gates = defineGraph({ table: "Gates", nodes: { gate }, indexes: { byId: { entries: { gate: "id" } } } }).connect();
    void (() => gates.find("gate").where({ note: null, level: { ne: null } }));
    void (() => gates.find("gate").where({ note: { in: [null, "x"] } }));
    // @ts-expect-error nothing is less than null
    void (() => gates.find("gate").where({ level: { lt: null } }));
    // @ts-expect-error an id is never null
    void (() => gates.find("gate").where({ id: null }));
  });
  test("attributes named or and not are compared in brackets", () => {
    const gate = node({ key: "GATE#{id}", schema: z.object({ id: z.string(), or: z.number(), not: z.string() }) });
    const gates = defineGraph({ table: "Gates", nodes: { gate }, indexes: { byId: { entries: { gate: "id" } } } }).connect();
    void (() => gates.find("gate").where({ id: "1", '["or"]': { gt: 1 }, or: [{ '["not"]': "x" }, { not: { '["or"]': 2 } }] }));
    // @ts-expect-error the attribute is a number
    void (() => gates.find("gate").where({ '["or"]': "x" }));
    // @ts-expect-error a shop has no attribute of that name
    void (() => db.find("shop").where({ '["or"]': 1 }));
  });
  test("a change set changes the value at a path", () => {
    void (() => db.shop.update({ shopId: "1" }, { set: { name: "n", "address.city": "Faro", "tags[1]": "b", "lines[0].amount": 2 } }));
    void (() => db.shop.update({ shopId: "1" }, { remove: ["address.geo", "tags[0]"], add: { "lines[0].amount": 1 }, delete: { labels: new Set(["x"]) } }));
    // @ts-expect-error city is text
    void (() => db.shop.update({ shopId: "1" }, { set: { "address.city": 5 } }));
    // @ts-expect-error an address has no such member
    void (() => db.shop.update({ shopId: "1" }, { remove: ["address.town"] }));
    // @ts-expect-error city is text, to which nothing can be added
    void (() => db.shop.update({ shopId: "1" }, { add: { "address.city": 1 } }));
    // @ts-expect-error tags are no set
    void (() => db.shop.update({ shopId: "1" }, { delete: { tags: new Set(["a"]) } }));
  });
});
