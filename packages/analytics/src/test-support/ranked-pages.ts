import { defineGraph, edge, node, part } from "edgetable";
import { z } from "zod";

/** Pages that keep a version and a rank, and links that are stored twice. */
export const rankedPages = defineGraph({
  table: "Ranked",
  nodes: {
    page: node({
      key: "PAGE#{site}#{at:date}",
      version: true,
      dates: ["at", "seen"],
      schema: z.object({
        site: z.string(),
        at: z.date(),
        title: z.string().optional(),
        rank: z.number().optional(),
        links: z.int().optional(),
        seen: z.date().optional(),
        tags: z.set(z.string()).optional(),
        sizes: z.set(z.number()).optional(),
      }),
    }),
    site: node({
      key: "SITE#{siteId}",
      schema: z.object({ siteId: z.string(), rank: z.number().optional(), group: z.string().optional() }),
    }),
  },
  parts: {
    comment: part({ of: "page", key: "C#{n:5}", schema: z.object({ n: z.int(), score: z.bigint().optional() }) }),
  },
  edges: {
    linksTo: edge({ from: "page", to: "page", schema: z.object({ weight: z.number().optional() }), stored: "twice" }),
    cites: edge({
      from: ["page", "site"],
      to: "site",
      key: ["year"],
      schema: z.object({ year: z.int(), weight: z.number().optional() }),
    }),
  },
});
