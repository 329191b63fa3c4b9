/** A directed graph without parallel edges: the targets of node `n` stand from `offsets[n]` to `offsets[n + 1]`, ascending. */
export interface Graph {
  readonly nodes: number;
  readonly edges: number;
  readonly offsets: Uint32Array;
  readonly targets: Uint32Array;
}

/** Packs edges that lie anywhere in two lists of the same length. */
export const packGraph = (nodes: number, from: Uint32Array, to: Uint32Array): Graph => {
  const offsets = new Uint32Array(nodes + 1);
  for (const node of from) offsets[node + 1] = (offsets[node + 1] as number) + 1;
  for (let node = 0; node < nodes; node++) offsets[node + 1] = (offsets[node + 1] as number) + (offsets[node] as number);
  const next = offsets.slice();
  const targets = new Uint32Array(from.length);
  for (let index = 0; index < from.length; index++) {
    const node = from[index] as number;
    const place = next[node] as number;
    targets[place] = to[index] as number;
    next[node] = place + 1;
  }
  for (let node = 0; node < nodes; node++) targets.subarray(offsets[node], offsets[node + 1]).sort();
  return { nodes, edges: targets.length, offsets, targets };
};

export const targetsOf = (graph: Graph, node: number): Uint32Array => graph.targets.subarray(graph.offsets[node], graph.offsets[node + 1]);

export const degreeOf = (graph: Graph, node: number): number => targetsOf(graph, node).length;

/** The same edges, seen from their targets. */
export const reversed = (graph: Graph): Graph => {
  const from = new Uint32Array(graph.edges);
  for (let node = 0; node < graph.nodes; node++) from.fill(node, graph.offsets[node], graph.offsets[node + 1]);
  return packGraph(graph.nodes, graph.targets, from);
};
