import { MultiDirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

/** A graph to lay out, and where its nodes are now. */
export interface LayoutRequest {
  readonly nodes: readonly (readonly [key: string, x: number, y: number])[];
  readonly edges: readonly (readonly [source: string, target: string])[];
  /** Rounds of steps; positions are sent after each. */
  readonly rounds: number;
}

/** Positions after a round. */
export type LayoutAnswer = readonly (readonly [key: string, x: number, y: number])[];

const STEPS = 12;

onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const graph = new MultiDirectedGraph();
  for (const [key, x, y] of data.nodes) graph.addNode(key, { x, y, size: 8 });
  for (const [source, target] of data.edges) graph.addEdge(source, target);
  const settings = { ...forceAtlas2.inferSettings(graph), gravity: 1.4, scalingRatio: 14, adjustSizes: true, slowDown: 4 };
  for (let round = 0; round < data.rounds; round++) {
    forceAtlas2.assign(graph, { iterations: STEPS, settings });
    postMessage(graph.mapNodes((key, { x, y }) => [key, x, y] as const) satisfies LayoutAnswer);
  }
};
