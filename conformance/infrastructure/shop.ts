import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";

/** A model with every setting of a table. */
export const shop = defineGraph({
  table: "My-Shop.v2",
  nodes: {
    user: node({
      key: "USER#{userId}",
      schema: z.object({ userId: z.string(), born: z.date(), until: z.int().optional(), kind: z.enum(["a", "b"]) }),
      dates: ["born"],
      ttl: "until",
      version: true,
    }),
    product: node({ key: "PRODUCT#{n:6}", schema: z.object({ n: z.int(), price: z.number(), tags: z.array(z.string()) }) }),
  },
  edges: {
    bought: edge({ from: "user", to: "product", orderBy: "at", schema: z.object({ at: z.string() }) }),
    follows: edge({ from: "user", to: "user", symmetric: true }),
  },
  parts: { note: part({ of: "user", key: "NOTE#{number:number}", schema: z.object({ number: z.number(), text: z.string() }) }) },
  indexes: {
    byKind: { entries: { user: "kind" }, projection: "KEYS_ONLY", shards: 4 },
    byPrice: { entries: { product: "price:number" }, projection: ["price"] },
  },
  settings: { stream: true, pointInTimeRecovery: true, deletionProtection: true },
});
