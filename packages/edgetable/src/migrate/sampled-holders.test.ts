import { expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, edge, max, node } from "../index.ts";
import { sum } from "../ir/capacity.ts";
import { describeModel } from "../schema/describe-model.ts";
import type { Item } from "../transport/operations.ts";
import { derivePrice, REFRESH_PAGE } from "./prices.ts";
import { holdersIn } from "./sampled-holders.ts";

const id = z.string();
const modelOf = (over: object) =>
  defineGraph({
    table: "graph",
    nodes: {
      a: node({ key: "A#{id}", schema: z.object({ id }), derived: { most: max({ ...over, of: "w", freshness: "stream" } as never) } }),
    },
    edges: { e: edge({ from: "a", to: "a", schema: z.object({ w: z.number() }), onDelete: { from: "cascade", to: "cascade" } }) },
  }).connect({ endpoint: "http://127.0.0.1:1", credentials: { accessKeyId: "x", secretAccessKey: "x" }, region: "local" }).catalog;

const catalogs = { in: modelOf({ in: "e" }), out: modelOf({ out: "e" }) };

const edgeItem = (from: number, to: number): Item => {
  const [pk, end] = [`A#${from}`, `A#${to}`];
  return {
    pk: { S: pk },
    sk: { S: `e#${end}` },
    gsi1pk: { S: end },
    gsi1sk: { S: `e#${pk}` },
    type: { S: "e" },
    w: { N: "1" },
  };
};

const [EDGES, NODES] = [20_000, 2000];
const range = (length: number): readonly number[] => Array.from({ length }, (_, at) => at);
/** Numbers in an order that looks random. */
const mixed = (at: number, below: number): number => ((at * 2_654_435_761) % 4_294_967_291) % below;

/** Edges as a scan finds them: those of each source together, the sources in any order. */
const tables: Readonly<Record<string, readonly Item[]>> = {
  "as many at each node": range(EDGES).map((at) => edgeItem(mixed(Math.floor(at / 9.5), NODES * 10), mixed(at, NODES))),
  "many targets, of which a few have most": range(EDGES).map((at) =>
    edgeItem(Math.floor(at / 9.5), mixed(at, 3) > 0 ? mixed(at * 7, 20) : mixed(at, NODES)),
  ),
  "one source that has nearly all": range(EDGES).map((at) => edgeItem(at < EDGES - 1000 ? 1 : at, mixed(at, NODES))),
  "fifty sources": range(EDGES).map((at) => edgeItem(Math.floor(at / (EDGES / 50)), mixed(at, NODES))),
  "one edge at each source": range(EDGES).map((at) => edgeItem(at + NODES, mixed(at, NODES))),
};

/** Read units of the memos of each node, read once for each page with an edge or a memo of it. */
const gathered = (items: readonly Item[], end: "pk" | "gsi1pk"): number => {
  const nodes = new Map<string, { rows: number; readonly pages: Set<number> }>();
  for (const [at, item] of items.entries()) {
    const name = JSON.stringify(item[end]);
    const own = nodes.get(name) ?? { rows: 0, pages: new Set() };
    nodes.set(name, own);
    own.rows++;
    own.pages.add(Math.floor(at / REFRESH_PAGE));
  }
  return sum(
    Array.from(nodes.values(), ({ rows, pages }) => Math.ceil((rows * 400) / 4096) * (pages.size + Math.ceil(rows / REFRESH_PAGE))),
  );
};

for (const [name, items] of Object.entries(tables))
  for (const direction of ["in", "out"] as const)
    test(`a sample tells what the extremes of ${direction}-edges take: ${name}`, () => {
      const catalog = catalogs[direction];
      const starts = range(4).map((at) => Math.floor((at * EDGES) / 4));
      const sample = starts.flatMap((start) => items.slice(start, start + 500));
      const priced = (holdersOf?: ReturnType<typeof holdersIn>) => {
        const byKind = { rowsOf: (kind: string) => (kind === "e" ? EDGES : NODES), memos: 0, ...(holdersOf && { holdersOf }) };
        return derivePrice(catalog, { items: EDGES, bytes: 200, byKind }, describeModel(catalog), true).readUnits;
      };
      const without = priced(() => []);
      const exact = gathered(items, direction === "in" ? "gsi1pk" : "pk");
      for (const read of [holdersIn(catalog, sample, false), holdersIn(catalog, items, true)]) {
        const price = priced(read) - without;
        expect(price).toBeGreaterThanOrEqual(exact);
        expect(price).toBeLessThan(12 * exact + 2 * EDGES);
      }
    });
