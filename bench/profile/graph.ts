import { degreeOf, reversed } from "../graph/graphs/graph.ts";
import { layersOf } from "../graph/graphs/reach.ts";
import { linksSet, socialSet } from "../graph/store/data-set.ts";
import { databaseOf, startOn } from "../graph/store/database.ts";
import { percentilesOf } from "../measure/statistics.ts";
import { connectSide, walkSides } from "../graph/walks/sides.ts";
import type { WalkSide } from "../graph/walks/sides.ts";

// `graph.js <rounds> <social|links> <nodes> <edges> <out|both> <depth> [side…]`: wall time and client CPU of a walk, each side in this process.
const [rounds = "5", kind = "social", nodes = "10000", edges = "50000", direction = "out", depth = "3", ...chosen] = process.argv.slice(2);
const sides = chosen.length > 0 ? (chosen as WalkSide[]) : walkSides;
const seed = 20_261_121;
const set = kind === "social" ? socialSet({ nodes: Number(nodes), edges: Number(edges), seed }) : linksSet({ nodes: Number(nodes), seed });
const engine = await startOn(await databaseOf(set, console.log));
const graph = set.graph();
const wanted = kind === "social" ? Math.round(graph.edges / graph.nodes) : 150;
const start = Array.from({ length: graph.nodes }, (_, node) => node).findLast(
  (node) => Math.abs(degreeOf(graph, node) - wanted) <= 0.1 * wanted,
) as number;
const graphs = direction === "out" ? [graph] : [graph, reversed(graph)];
const layers = layersOf(graphs, start, Number(depth));
console.log(`start ${start}, layers ${layers.map((layer) => layer.length).join(" ")}`);
const expected = layers.flat().reduce((sum, id) => sum + id, 0);
const edge = kind === "social" ? "follows" : "link";
for (const side of sides) {
  const walker = await connectSide(side, { endpoint: engine.endpoint, table: set.table, edge });
  const times: { readonly wall: number; readonly cpu: number }[] = [];
  for (let round = 0; round < Number(rounds); round++) {
    const cpu = process.cpuUsage();
    const before = performance.now();
    const { ids, requests } = await walker.walk({ start: String(start), direction: direction as "out", depth: Number(depth) });
    const { user, system } = process.cpuUsage(cpu);
    times.push({ wall: performance.now() - before, cpu: (user + system) / 1000 });
    if (round === 0)
      console.log(
        `${side}: ${requests} requests, ${ids.length} nodes, ${ids.reduce((sum, id) => sum + Number(id), 0) === expected ? "right" : "WRONG"}`,
      );
  }
  const quick = (of: "wall" | "cpu"): string => percentilesOf(times.map((time) => time[of])).p25.toFixed(2);
  console.log(`  lower quartile: wall ${quick("wall")} ms, CPU ${quick("cpu")} ms`);
  await walker.close();
}
await engine.stop();
process.exit(0);
