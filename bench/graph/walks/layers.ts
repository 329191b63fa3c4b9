import { inFlight } from "./walk.ts";
import type { Neighbourhood, Walked } from "./walk.ts";

/** One Query for a node's edges in one direction; gives the far ends and how many pages they took. */
export type ReadEdges = (node: string, side: "out" | "in", found: (id: string) => void) => Promise<number>;

const sidesOf = { out: ["out"], both: ["out", "in"] } as const;

/** Breadth first, a layer at a time, each node read once, `inFlight` reads under way. */
export const walkLayers = async (read: ReadEdges, { start, direction, depth }: Neighbourhood): Promise<Walked> => {
  const seen = new Set([start]);
  const ids: string[] = [];
  let requests = 0;
  let from = 0;
  for (let layer: readonly string[] = [start], hop = 0; hop < depth && layer.length > 0; hop++) {
    const jobs = sidesOf[direction].length * layer.length;
    let next = 0;
    const found = (id: string): void => {
      const before = seen.size;
      if (seen.add(id).size > before) ids.push(id);
    };
    const lane = async (): Promise<void> => {
      while (next < jobs) {
        const job = next++;
        const side = sidesOf[direction][job % sidesOf[direction].length] as "out" | "in";
        const pages = await read(layer[Math.floor(job / sidesOf[direction].length)] as string, side, found);
        requests += pages;
      }
    };
    await Promise.all(Array.from({ length: Math.min(inFlight, jobs) }, lane));
    layer = ids.slice(from);
    from = ids.length;
  }
  return { ids, requests };
};
