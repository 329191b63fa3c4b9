import { BATCH_GET_KEYS, queryPrice, readUnits } from "../../ir/capacity.ts";
import type { ReadPlan } from "../../ir/physical-plan.ts";
import {
  isClosure,
  type Expected,
  type LogicalWalk,
  type NodeAccess,
  type PlannedHop,
  type PlannedStep,
  type WalkHop,
  type WalkSearch,
} from "../../ir/walk-plan.ts";
import { mostShards } from "../../keys/template.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { degreeLimit, isSingle } from "../../schema/definition.ts";
import { defined } from "../../util/invariant.ts";
import { assumedEdges } from "../assumed-rows.ts";

/** A closure has no fixed depth. It is assumed to end after this many rounds. */
const CLOSURE_ROUNDS = 4;

interface OneNode {
  readonly edges: number;
  readonly requests: number;
  readonly readUnits: number;
}

/** The expected result and cost of reading the edges of one node. `factor` scales the number of edges. */
const atOneNode = (plan: ReadPlan, { limit, factor }: { readonly limit: number | undefined; readonly factor: number }): OneNode => {
  let [edges, requests, units] = [0, 0, 0];
  for (const [at, source] of plan.sources.entries()) {
    if (source.kind !== "query") continue;
    const near = plan.near[at] ?? "from";
    let partitions = 1;
    for (const part of source.scatter ? source.partition.parts : []) {
      if (part.kind !== "field" || part.format.kind !== "shard") continue;
      // A shard that follows from the node's id is one partition for each count.
      const { sharding } = part.format;
      partitions *= part.path.startsWith(`${near}.`) ? sharding.counts.length : mostShards(sharding);
    }
    const rows = source.expect.rows * factor;
    const price = queryPrice(rows * source.expect.bytes, partitions, source);
    edges += rows;
    requests += price.requests;
    units += price.readUnits;
  }
  return { edges: Math.min(limit ?? edges, edges), requests, readUnits: units };
};

const sidesOf = ({ direction }: Pick<WalkHop, "direction">): readonly ("from" | "to")[] =>
  direction === "both" ? ["from", "to"] : [direction === "out" ? "from" : "to"];

/** The expected result and cost of a hop from this many nodes. */
export const expectHop = (
  catalog: Catalog,
  hop: WalkHop,
  { reading, from, isFirst }: { readonly reading: Readonly<Record<string, ReadPlan>>; readonly from: number; readonly isFirst: boolean },
): Expected => {
  const plans = Object.values(reading);
  const meanOf = (factor: number): OneNode => {
    let [edges, requests, units] = [0, 0, 0];
    for (const plan of plans) {
      const one = atOneNode(plan, { limit: hop.limit, factor });
      edges += one.edges;
      requests += one.requests;
      units += one.readUnits;
    }
    const count = Math.max(1, plans.length);
    return { edges: edges / count, requests: requests / count, readUnits: units / count };
  };
  // Nodes that edges lead to may have more edges than a given one.
  const definitions = hop.edges.map((edge) => defined(catalog.edges[edge], edge).definition);
  const sides = sidesOf(hop);
  const keeping = hop.by === "kept" ? Object.keys(hop.kept ?? {}) : [];
  const factors = sides.flatMap((side) =>
    definitions.map((edge) => {
      const most = edge.expect?.reached?.[side];
      return most === undefined ? 1 : Math.min(most, degreeLimit(edge, side) ?? most) / assumedEdges(edge, side).rows;
    }),
  );
  const skew = factors.reduce((sum, factor) => sum + factor, 0) / factors.length;
  const [given, reached] = [meanOf(1), meanOf(skew)];
  // A frontier holds each node once. In a closure a node is read in one round only.
  const allNodes = hop.far.reduce((sum, type) => sum + (catalog.ends[type]?.definition.expect?.count ?? Number.POSITIVE_INFINITY), 0);
  const closes = hop.emit === "all" && hop.counts === "nodes";
  let [frontier, to, nodes] = [from, 0, 0];
  let [requests, units] = [0, 0];
  for (let round = 0; round < (isClosure(hop) ? CLOSURE_ROUNDS : hop.rounds); round++) {
    const one = isFirst && round === 0 ? given : reached;
    nodes += frontier;
    requests += frontier * one.requests;
    units += frontier * one.readUnits;
    frontier = Math.min(frontier * one.edges, closes ? Math.max(0, allNodes + from - nodes) : allNodes);
    to = Math.min(hop.emit === "all" ? to + frontier : frontier, allNodes);
  }
  if (keeping.length > 0) {
    const bytes = Math.max(...keeping.map((type) => catalog.ends[type]?.shape.bytes ?? 0));
    return { from, to, requests: Math.ceil(from / BATCH_GET_KEYS), readUnits: from * readUnits(bytes, hop) };
  }
  return { from, to, requests: Math.ceil(requests), readUnits: units };
};

/** The expected result and cost of the search from whose rows a walk starts. */
export const expectSearch = ({ reading, limit }: WalkSearch): Expected => {
  const { edges, requests, readUnits: units } = atOneNode(reading, { limit, factor: 1 });
  return { from: 1, to: edges, requests, readUnits: units };
};

/** The expected cost of reading this many nodes. */
export const expectNodes = (catalog: Catalog, nodes: Readonly<Record<string, NodeAccess>>, from: number): Expected => {
  const types = Object.keys(nodes);
  const bytes = Math.max(0, ...types.map((type) => catalog.ends[type]?.shape.bytes ?? 0));
  const single = types.some((type) => nodes[type] === "query");
  return { from, to: from, requests: single ? from : Math.ceil(from / BATCH_GET_KEYS), readUnits: from * readUnits(bytes) };
};

/** The assumptions behind the figures, as sentences. */
export const assumptionsOf = (catalog: Catalog, walk: LogicalWalk, steps: readonly PlannedStep[]): readonly string[] => {
  const hops = steps.filter((step): step is PlannedHop => step.kind === "hop");
  const sentences = new Set<string>();
  for (const [hop, edge] of hops.flatMap((one) => one.edges.map((name) => [one, name] as const))) {
    const { definition } = defined(catalog.edges[edge], edge);
    for (const side of sidesOf(hop)) {
      const { rows, by } = assumedEdges(definition, side);
      const where = side === "from" ? "leave" : "reach";
      const setting = isSingle(definition, side) ? "multiplicity" : `maxDegree.${side}`;
      const edges = `${rows} edges "${edge}" ${where} a node`;
      if (by === "limit") sentences.add(`at most ${edges}, as ${setting} declares`);
      else
        sentences.add(
          by === "expect" ? `${edges}, as expect.${side} declares` : `${edges}: an assumption, because expect.${side} is not declared`,
        );
    }
    for (const side of sidesOf(hop)) {
      const reached = definition.expect?.reached?.[side];
      const where = side === "from" ? "leave" : "reach";
      if (reached !== undefined)
        sentences.add(`${reached} edges "${edge}" ${where} a node that the walk reached, as expect.reached.${side} declares`);
    }
  }
  for (const type of hops.flatMap((hop) => hop.far)) {
    const count = catalog.ends[type]?.definition.expect?.count;
    if (count !== undefined) sentences.add(`there are ${count} nodes "${type}", as expect.count declares`);
  }
  if (hops.length > 1 || hops.some((hop) => hop.rounds > 1))
    sentences.add("each node is reached by one path only, so every figure is an upper bound");
  if (hops.some((hop) => isClosure(hop))) sentences.add(`a closure ends after ${CLOSURE_ROUNDS} rounds`);
  if (walk.steps.some((step) => step.kind === "filterNodes")) sentences.add("every node passes whereNode()");
  return [...sentences];
};

/**
 * The price of reading a hop's edges to known nodes by their keys. Undefined if listing the edges is expected to be cheaper: fewer
 * requests, or an equal number with fewer units.
 *
 * @param frontier the number of nodes, and the number of known nodes to which their edges are wanted
 */
export const endsByGet = (
  { by, expect, consistent }: Pick<PlannedHop, "by" | "expect" | "consistent">,
  { nodes, known }: { readonly nodes: number; readonly known: number },
): Pick<Expected, "requests" | "readUnits"> | undefined => {
  if (by !== "get" || nodes < 1 || known < 1 || known > BATCH_GET_KEYS) return undefined;
  const expectedNodes = Math.max(1, expect.from);
  const listedRequests = nodes * Math.max(1, expect.requests / expectedNodes);
  const listedUnits = (nodes * expect.readUnits) / expectedNodes;
  const requests = Math.ceil(nodes / Math.floor(BATCH_GET_KEYS / known));
  const got = { requests, readUnits: nodes * known * readUnits(0, { consistent }) };
  const isCheaper = requests < listedRequests || (requests === listedRequests && got.readUnits <= listedUnits);
  return isCheaper ? got : undefined;
};
