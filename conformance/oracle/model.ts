import { defineGraph, edge, node, part, type Graph, type Layout } from "edgetable";
import { z } from "zod";

const person = node({
  key: "PERSON#{personId}",
  schema: z.object({ personId: z.string(), name: z.string(), handle: z.string().optional(), age: z.number().optional() }),
  unique: ["handle"],
});
const post = node({ key: "POST#{postId}", schema: z.object({ postId: z.string(), authorId: z.string().optional(), title: z.string() }) });
const tag = node({ key: "TAG#{tagId}", schema: z.object({ tagId: z.string(), name: z.string() }) });

const nodes = { person, post, tag };

const edges = {
  /** Ordered, stored once. */
  follows: edge({ from: "person", to: "person", schema: z.object({ since: z.string(), weight: z.number().optional() }), orderBy: "since" }),
  /** Symmetric. */
  friend: edge({ from: "person", to: "person", schema: z.object({ note: z.string().optional() }), symmetric: true }),
  /** Several node types at one end, ordered by a number. */
  likes: edge({ from: "person", to: ["post", "tag"], schema: z.object({ rank: z.number() }), orderBy: "rank:number" }),
  /** Parallel edges by role, unordered. */
  worksOn: edge({ from: "person", to: "post", schema: z.object({ role: z.string(), hours: z.number().optional() }), key: ["role"] }),
  /** Stored in both partitions. */
  tagged: edge({ from: "post", to: "tag", schema: z.object({ by: z.string().optional() }), stored: "twice" }),
  /** At most two for each source, counted by a guard. */
  pins: edge({ from: "person", to: "post", schema: z.object({ at: z.string().optional() }), maxDegree: { from: 2 } }),
};

const parts = {
  comment: part({ of: "post", key: "COMMENT#{line:4}", schema: z.object({ line: z.int(), text: z.string() }) }),
};

export type Social = Graph<typeof nodes, typeof edges, typeof parts>;

/** The graph of the oracle, in Edgetable's own layout or in an adopted one. */
export const social = (table: string, layout?: Layout): Social =>
  defineGraph({ table, nodes, edges, parts, ...(layout ? { layout } : {}) });

/** The same graph in a layout of another hand: other names, another delimiter, no type attribute. */
export const adopted: Layout = {
  partitionKey: "PK",
  sortKey: "SK",
  indexes: { byTarget: { partitionKey: "GSI1-PK", sortKey: "GSI1-SK" }, bySource: { partitionKey: "GSI2-PK", sortKey: "GSI2-SK" } },
  nodes: { person: { keys: { SK: "META" } }, post: { keys: { SK: "META" } }, tag: { keys: { SK: "META" } } },
  edges: {
    follows: {
      keys: {
        SK: "FOLLOWS#{to}",
        "GSI1-PK": "{to}",
        "GSI1-SK": "FOLLOWS#{since}#{from}",
        "GSI2-PK": "{from}",
        "GSI2-SK": "FOLLOWS#{since}#{to}",
      },
    },
    friend: { keys: { SK: "FRIEND#{to}" } },
    likes: {
      keys: {
        SK: "LIKES#{to}",
        "GSI1-PK": "{to}",
        "GSI1-SK": "LIKES#{rank:number}#{from}",
        "GSI2-PK": "{from}",
        "GSI2-SK": "LIKES#{rank:number}#{to}",
      },
    },
    worksOn: { keys: { SK: "WORKS#{to}#{role}", "GSI1-PK": "{to}", "GSI1-SK": "WORKS#{from}#{role}" } },
    tagged: { keys: { SK: "TAGGED#{to}" }, mirror: { keys: { SK: "TAGS#{from}" } } },
    pins: { keys: { SK: "PINS#{to}", "GSI1-PK": "{to}", "GSI1-SK": "PINS#{from}" } },
  },
  parts: { comment: { keys: { SK: "COMMENT#{line:4}" } } },
};
