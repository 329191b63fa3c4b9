import { join } from "node:path";
import { createLeanTransport, defineGraph, edge, type Key, node } from "edgetable";
import { extract } from "@edgetable/analytics";
import { z } from "zod";
import { startEngine } from "../engine/engine.ts";

const graph = defineGraph({
  table: "Bench",
  nodes: {
    page: node({
      key: "PAGE#{pageId}",
      schema: z.object({ pageId: z.string(), title: z.string(), words: z.int(), score: z.number(), tags: z.array(z.string()) }),
    }),
  },
  edges: { linksTo: edge({ from: "page", to: "page", schema: z.object({ weight: z.number(), since: z.string() }) }) },
});

const SEGMENTS = 4;
const TURNS = 3;

type Db = ReturnType<typeof graph.connect>;
type Row = Parameters<Db["load"]>[0] extends Iterable<infer One> | AsyncIterable<unknown> ? One : never;

const rowsOf = function* (edges: number): Generator<Row> {
  const pages = Math.floor(edges / 10);
  for (let at = 0; at < pages; at++)
    yield {
      node: "page",
      row: { pageId: `p${at}`, title: `Page number ${at}`, words: at % 997, score: at / 7, tags: ["a", `t${at % 13}`] },
    };
  for (let at = 0; at < edges; at++)
    yield {
      edge: "linksTo",
      from: { pageId: `p${at % pages}` },
      to: { pageId: `p${(at * 7919 + Math.floor(at / pages)) % pages}` },
      attributes: { weight: at / 3, since: "2026-01-01" },
    };
};

/** Reads every page of every segment and drops it: nothing that reads the table is quicker. */
const bareScan = async (endpoint: string): Promise<number> => {
  const transport = createLeanTransport({ endpoint });
  const segment = async (at: number): Promise<number> => {
    let items = 0;
    let start: Key | undefined;
    do {
      const page = await transport.send("Scan", {
        TableName: "Bench",
        Segment: at,
        TotalSegments: SEGMENTS,
        Limit: 1000,
        ReturnConsumedCapacity: "TOTAL",
        ...(start ? { ExclusiveStartKey: start } : {}),
      });
      items += page.Items?.length ?? 0;
      start = page.LastEvaluatedKey;
    } while (start);
    return items;
  };
  const items = await Promise.all(Array.from({ length: SEGMENTS }, (_, at) => segment(at)));
  await transport.close();
  return items.reduce((sum, one) => sum + one, 0);
};

/** Items per second of a bare Scan and of an extraction to Parquet, in turns on one engine. */
export const extractRates = async (folder: string, edges: number): Promise<readonly object[]> => {
  const engine = await startEngine(join(folder, "bench.db"));
  const db = graph.connect({ endpoint: engine.endpoint });
  await db.table.create();
  await db.load(rowsOf(edges), { collisions: "ignore" });
  const turns: object[] = [];
  for (let turn = 0; turn < TURNS; turn++) {
    let began = performance.now();
    const items = await bareScan(engine.endpoint);
    const scan = items / ((performance.now() - began) / 1000);
    began = performance.now();
    const { scan: report } = await extract(db, { into: join(folder, "lake"), segments: SEGMENTS, threads: 2, memoryLimit: "2GB" });
    const extraction = report.items / ((performance.now() - began) / 1000);
    turns.push({ items, "scan/s": Math.round(scan), "extract/s": Math.round(extraction), share: Number((extraction / scan).toFixed(3)) });
  }
  await db.close();
  await engine.stop();
  return turns;
};
