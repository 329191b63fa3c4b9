import type { Lake } from "@edgetable/analytics";

/** The edges as numbers: a second implementation works on arrays, not on SQL. */
interface Graph {
  readonly names: readonly string[];
  readonly sources: Int32Array;
  readonly targets: Int32Array;
}

const readGraph = async (lake: Lake): Promise<Graph> => {
  const numbers = new Map<string, number>();
  const number = (name: unknown): number => {
    const known = numbers.get(String(name));
    if (known !== undefined) return known;
    numbers.set(String(name), numbers.size);
    return numbers.size - 1;
  };
  const rows = await lake.query("select distinct source, target from links_to");
  const [sources, targets] = [new Int32Array(rows.length), new Int32Array(rows.length)];
  for (const [at, { source, target }] of rows.entries()) {
    sources[at] = number(source);
    targets[at] = number(target);
  }
  return { names: [...numbers.keys()], sources, targets };
};

/** The largest difference between the ranks in a table and those of a plain loop. */
export const rankError = async (lake: Lake, table: string, rounds: number, damping: number): Promise<number> => {
  const { names, sources, targets } = await readGraph(lake);
  const nodes = names.length;
  const leaving = new Int32Array(nodes);
  for (const source of sources) leaving[source]!++;
  let ranks = new Float64Array(nodes).fill(1 / nodes);
  for (let round = 0; round < rounds; round++) {
    const next = new Float64Array(nodes);
    let held = 0;
    for (let node = 0; node < nodes; node++) if (leaving[node] === 0) held += ranks[node]!;
    for (let at = 0; at < sources.length; at++) next[targets[at]!]! += ranks[sources[at]!]! / leaving[sources[at]!]!;
    for (let node = 0; node < nodes; node++) next[node] = (1 - damping) / nodes + damping * (next[node]! + held / nodes);
    ranks = next;
  }
  const numbers = new Map(names.map((name, at) => [name, at]));
  const rows = await lake.query(`select node, rank from ${table}`);
  if (rows.length !== nodes) return Number.POSITIVE_INFINITY;
  return rows.reduce((most, { node, rank }) => Math.max(most, Math.abs(Number(rank) - ranks[numbers.get(String(node))!]!)), 0);
};

/** The number of components by union and find. */
export const countComponents = async (lake: Lake): Promise<number> => {
  const { names, sources, targets } = await readGraph(lake);
  const parents = Int32Array.from(names.keys());
  const root = (node: number): number => {
    let at = node;
    while (parents[at] !== at) at = parents[at] = parents[parents[at]!]!;
    return at;
  };
  let components = names.length;
  for (let at = 0; at < sources.length; at++) {
    const [a, b] = [root(sources[at]!), root(targets[at]!)];
    if (a === b) continue;
    parents[Math.max(a, b)] = Math.min(a, b);
    components--;
  }
  return components;
};
