import { defineGraph, edge, node, part, type ConnectOptions } from "edgetable";
import { z } from "zod";

const text = z.string();

const graphOf = (table: string, shards: readonly number[]) =>
  defineGraph({
    table,
    nodes: {
      /** Alone, so that batches may delete it; found by its value, in shards. */
      item: node({ key: "ITEM#{itemId}", schema: z.object({ itemId: text, value: text }) }),
      user: node({
        key: "USER#{userId}",
        schema: z.object({ userId: text, value: text, handle: text.optional() }),
        unique: ["handle"],
      }),
      group: node({ key: "GROUP#{groupId}", schema: z.object({ groupId: text, value: text }) }),
    },
    parts: { note: part({ of: "group", key: "NOTE#{line:4}", schema: z.object({ line: z.int(), value: text }), owner: "checked" }) },
    edges: {
      /** Stored once: from its target, an index that lags finds it. */
      belongs: edge({ from: "group", to: "user", schema: z.object({ value: text }), onDelete: { from: "cascade", to: "cascade" } }),
      /** Counted. */
      pins: edge({
        from: "group",
        to: "user",
        schema: z.object({ value: text }),
        maxDegree: { from: 2 },
        onDelete: { from: "cascade", to: "cascade" },
      }),
      near: edge({ from: "user", to: "user", schema: z.object({ value: text }), symmetric: true, onDelete: { from: "cascade" } }),
    },
    indexes: { byValue: { entries: { item: "value" }, shards } },
  });

/** A connection on the graph that is written in bulk. */
export type BulkDb = ReturnType<ReturnType<typeof graphOf>["connect"]>;

/** Opens a connection after the shards grew. */
export const connect = (table: string, options: ConnectOptions): BulkDb => graphOf(table, [6, 2]).connect(options);

/** The same from before. */
export const connectBefore = (table: string, options: ConnectOptions): BulkDb => graphOf(table, [2]).connect(options);
