import { average, count, defineGraph, distinct, edge, max, min, node, part, sum } from "edgetable";
import { z } from "zod";

const id = z.string();

/**
 * A model whose every kind of derived fact is kept by the stream: invoices add up lines, bills copy the total, payers add up
 * bills; both ends of friendships, references, edges that are stored twice or that only an index finds.
 */
export const streamModel = (table: string) =>
  defineGraph({
    table,
    nodes: {
      invoice: node({
        key: "INVOICE#{id}",
        schema: z.object({ id }),
        version: true,
        derived: {
          total: sum({ parts: "line", of: "amount", freshness: "stream" }),
          lines: count({ parts: "line", freshness: "stream" }),
        },
      }),
      payer: node({
        key: "PAYER#{id}",
        schema: z.object({ id, name: z.string().optional() }),
        derived: {
          bills: count({ in: "billed", freshness: "stream" }),
          high: count({ in: "billed", where: { total: { gte: 5 } }, freshness: "stream" }),
          owed: sum({ in: "billed", of: "total", freshness: "stream" }),
          mean: average({ in: "billed", of: "total", freshness: "stream" }),
          least: min({ in: "billed", of: "total" }),
          most: max({ in: "billed", of: "total" }),
          totals: distinct({ in: "billed", of: "total" }),
          senders: distinct({ in: "mailed" }),
          friends: count({ in: "knows", freshness: "stream" }),
        },
      }),
      folder: node({
        key: "FOLDER#{folderId}",
        schema: z.object({ folderId: id }),
        derived: { docs: count({ in: "filedIn", freshness: "stream" }) },
      }),
      doc: node({ key: "DOC#{id}", schema: z.object({ id, folderId: id.optional() }) }),
    },
    edges: {
      billed: edge({
        from: "invoice",
        to: "payer",
        schema: z.object({ term: z.string(), note: z.string().optional() }),
        key: ["term"],
        copies: { from: { total: { of: "total", freshness: "stream" } }, to: { payerName: { of: "name", freshness: "stream" } } },
        ends: "unchecked",
      }),
      mailed: edge({
        from: "invoice",
        to: "payer",
        stored: "twice",
        copies: { to: { payerName: { of: "name", freshness: "stream" } } },
        onDelete: { from: "cascade", to: "cascade" },
      }),
      knows: edge({ from: "payer", to: "payer", symmetric: true, onDelete: { from: "cascade", to: "cascade" } }),
      filedIn: edge({ from: "doc", to: "folder", stored: "reference" }),
    },
    parts: {
      line: part({ of: "invoice", key: "LINE#{line}", schema: z.object({ line: id, amount: z.number().optional() }) }),
      remark: part({
        of: "payer",
        key: "REMARK#{remark}",
        schema: z.object({ remark: id }),
        copies: { owner: { of: "name", freshness: "stream" } },
      }),
    },
    indexes: { byOwed: { entries: { payer: "owed:number" } } },
  });

/** A connection of the model. */
export type StreamDb = ReturnType<ReturnType<typeof streamModel>["connect"]>;
