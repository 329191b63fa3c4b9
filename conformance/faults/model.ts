import { defineGraph, node, type Graph, type Layout } from "edgetable";
import { z } from "zod";
import { adopted, social, type Social } from "../oracle/model.ts";

type Definition = Social["~types"];

/** What accumulates: a sum, a list of what it was summed from, a number that swings, a unique alias. */
const account = node({
  key: "ACCOUNT#{accountId}",
  schema: z.object({
    accountId: z.string(),
    alias: z.string().optional(),
    total: z.number().optional(),
    swing: z.number().optional(),
    tokens: z.array(z.string()).optional(),
  }),
  unique: ["alias"],
});

type Stormy = Graph<Definition["nodes"] & { readonly account: typeof account }, Definition["edges"], Definition["parts"]>;

/** A connection to the oracle's graph with accounts beside it. */
export type Db = ReturnType<Stormy["connect"]>;

/** The oracle's graph, with accounts beside it, in a table of its own. */
export const stormy = (table: string, layout?: Layout): Stormy => {
  const { nodes, edges, parts } = social(table).catalog.definition as unknown as Definition;
  return defineGraph({ table, nodes: { ...nodes, account }, edges, parts, ...(layout ? { layout } : {}) } as never) as unknown as Stormy;
};

/** The oracle's adopted layout, with a place for accounts. */
export const adoptedStormy: Layout = { ...adopted, nodes: { ...adopted.nodes, account: { keys: { SK: "META" } } } };
