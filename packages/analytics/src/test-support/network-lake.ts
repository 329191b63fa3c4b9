import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineGraph, edge, node } from "edgetable";
import { startEngine } from "@edgetable/local";
import { z } from "zod";
import { extract, openLake, type Lake } from "../index.ts";

export const network = defineGraph({
  table: "Network",
  nodes: { page: node({ key: "PAGE#{pageId}", schema: z.object({ pageId: z.string() }) }) },
  edges: { linksTo: edge({ from: "page", to: "page", schema: z.object({}) }) },
});

export interface NetworkLake {
  readonly lake: Lake;
  /** Closes the lake and removes its folder. */
  close(): Promise<void>;
}

/** Loads pages and the links between them into an engine, and extracts them as a lake. */
export const networkLake = async (
  pages: readonly string[],
  links: readonly (readonly [from: string, to: string])[],
): Promise<NetworkLake> => {
  const folder = await mkdtemp(join(tmpdir(), "lake-"));
  const into = join(folder, "lake");
  const engine = await startEngine();
  try {
    const db = network.connect({ endpoint: engine.endpoint });
    await db.table.create();
    await db.load(pages.map((pageId) => ({ node: "page" as const, row: { pageId } })));
    await db.load(links.map(([from, to]) => ({ edge: "linksTo" as const, from: { pageId: from }, to: { pageId: to } })));
    await extract(db, { into, segments: 2, memoryLimit: "256MB" });
    await db.close();
  } finally {
    await engine.stop();
  }
  const lake = await openLake(into, { memoryLimit: "256MB", threads: 2 });
  return {
    lake,
    close: async () => {
      lake.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
