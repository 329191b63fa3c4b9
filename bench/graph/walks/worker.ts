import { answerParent } from "../../workers/child.ts";
import { connectSide } from "./sides.ts";
import type { WalkSide } from "./sides.ts";
import type { Neighbourhood } from "./walk.ts";

/** What one walk found, short enough to send: the parent knows the graph. */
export interface Answer {
  readonly requests: number;
  readonly found: number;
  /** Sum of the ids. */
  readonly sum: number;
}

/** Walks made one after the other. */
export interface WalkBlock {
  /** Milliseconds of wall time, and of this process's CPU. */
  readonly wall: number;
  readonly cpu: number;
  readonly answers: readonly Answer[];
}

const [side, endpoint = "", table = "", edge = ""] = process.argv.slice(2);
const walker = await connectSide(side as WalkSide, { endpoint, table, edge });

answerParent<readonly Neighbourhood[]>(async (neighbourhoods) => {
  const found = [];
  const cpuBefore = process.cpuUsage();
  const before = performance.now();
  for (const neighbourhood of neighbourhoods) found.push(await walker.walk(neighbourhood));
  const wall = performance.now() - before;
  const { user, system } = process.cpuUsage(cpuBefore);
  const answers = found.map(({ ids, requests }) => ({ requests, found: ids.length, sum: ids.reduce((sum, id) => sum + Number(id), 0) }));
  return { wall, cpu: (user + system) / 1000, answers } satisfies WalkBlock;
});
