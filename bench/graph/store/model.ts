import { defineGraph, edge, node } from "edgetable";
import { z } from "zod";

/** Who follows whom: what is walked over. The default layout, nothing ordered. */
export const social = defineGraph({
  table: "Social",
  nodes: { user: node({ key: "{id}", schema: z.object({ id: z.string(), name: z.string() }) }) },
  edges: { follows: edge({ from: "user", to: "user", ends: "unchecked", schema: z.object({ since: z.string() }) }) },
});

/**
 * LinkBench's and TAO's objects and associations: lists newest first, a link without regard to whether
 * its ends are there, a deleted object without its links.
 */
export const links = defineGraph({
  table: "Links",
  nodes: {
    object: node({ key: "{id}", schema: z.object({ id: z.string(), time: z.int(), version: z.int(), data: z.string() }) }),
  },
  edges: {
    link: edge({
      from: "object",
      to: "object",
      ends: "unchecked",
      schema: z.object({ time: z.int(), data: z.string() }),
      orderBy: "time:number",
    }),
  },
});

export type LinksDb = ReturnType<typeof links.connect>;
