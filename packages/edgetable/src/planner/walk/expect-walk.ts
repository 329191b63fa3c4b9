import { BATCH_GET_KEYS, queryPrice, readUnits } from "../../ir/capacity.ts";
import type { QueryStep, ReadPlan } from "../../ir/physical-plan.ts";
import {
  isClosure,
  type Expected,
  type LogicalWalk,
  type NodeAccess,
  type PlannedHop,
  type PlannedStep,
  type WalkHop,
} from "../../ir/walk-plan.ts";
import { mostShards } from "../../keys/template.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { isSingle } from "../../schema/definition.ts";
import { defined } from "../../util/invariant.ts";
import { assumedEdges, reachedFactor } from "../assumed-rows.ts";

// A closure has no depth of its own: it is assumed to end here.
const CLOSURE_ROUNDS = 4;

interface OneNode {
  readonly edges: number;
  readonly requests: number;
  readonly readUnits: number;
}

// Of a shard that the node's id tells, there is one for each count.
const partitionsAt = ({ scatter, partition }: QueryStep, near: "from" | "to"): number => {
  if (!scatter) return 1;
  return partition.parts.reduce((product, part) => {
    if (part.kind !== "field" || part.format.kind !== "shard") return product;
    const { sharding } = part.format;
    return product * (part.path.startsWith(`${near}.`) ? sharding.counts.length : mostShards(sharding));
  }, 1);
};

const atOneNode = (plan: ReadPlan, { limit, factor }: { readonly limit: number | undefined; readonly factor: number }): OneNode => {
  const sum = { edges: 0, requests: 0, readUnits: 0 };
  for (const [at, source] of plan.sources.entries()) {
    if (source.kind !== "query") continue;
    const { bytes } = source.expect;
    const rows = source.expect.rows * factor;
    const price = queryPrice(rows * bytes, partitionsAt(source, plan.near[at] ?? "from"), source);
    sum.edges += rows;
    sum.requests += price.requests;
    sum.readUnits += price.readUnits;
  }
  return { ...sum, edges: Math.min(limit ?? sum.edges, sum.edges) };
};

const mean = (values: readonly OneNode[]): OneNode => {
  const count = Math.max(1, values.length);
  const sum = (pick: (one: OneNode) => number): number => values.reduce((total, one) => total + pick(one), 0) / count;
  return { edges: sum((one) => one.edges), requests: sum((one) => one.requests), readUnits: sum((one) => one.readUnits) };
};

// A layer holds each node once.
const mostNodes = (catalog: Catalog, types: readonly string[]): number =>
  types.reduce((sum, type) => sum + (catalog.nodes[type]?.definition.expect?.count ?? Number.POSITIVE_INFINITY), 0);

const sidesOf = ({ direction }: Pick<WalkHop, "direction">): readonly ("from" | "to")[] =>
  direction === "both" ? ["from", "to"] : [direction === "out" ? "from" : "to"];

const skewOf = (catalog: Catalog, hop: WalkHop): number => {
  const { definition } = defined(catalog.edges[hop.edge], hop.edge);
  const sides = sidesOf(hop);
  return sides.reduce((sum, side) => sum + reachedFactor(definition, side), 0) / sides.length;
};

/** What is expected of a hop that starts from so many nodes. */
export const expectHop = (
  catalog: Catalog,
  hop: WalkHop,
  { reading, from, isFirst }: { readonly reading: Readonly<Record<string, ReadPlan>>; readonly from: number; readonly isFirst: boolean },
): Expected => {
  const at = (factor: number): OneNode => mean(Object.values(reading).map((plan) => atOneNode(plan, { limit: hop.limit, factor })));
  const [given, reached] = [at(1), at(skewOf(catalog, hop))];
  const most = mostNodes(catalog, hop.far);
  // In a closure a node is read in one round alone.
  const closes = hop.emit === "all" && hop.counts === "nodes";
  let [frontier, to, nodes] = [from, 0, 0];
  let [requests, readUnits] = [0, 0];
  for (let round = 0; round < Math.min(hop.rounds, isClosure(hop) ? CLOSURE_ROUNDS : hop.rounds); round++) {
    const one = isFirst && round === 0 ? given : reached;
    nodes += frontier;
    requests += frontier * one.requests;
    readUnits += frontier * one.readUnits;
    frontier = Math.min(frontier * one.edges, closes ? Math.max(0, most + from - nodes) : most);
    to = Math.min(hop.emit === "all" ? to + frontier : frontier, most);
  }
  return { from, to, requests: Math.ceil(requests), readUnits };
};

/** What is expected of reading so many nodes. */
export const expectNodes = (catalog: Catalog, nodes: Readonly<Record<string, NodeAccess>>, from: number): Expected => {
  const types = Object.keys(nodes);
  const bytes = Math.max(0, ...types.map((type) => catalog.nodes[type]?.shape.bytes ?? 0));
  const single = types.some((type) => nodes[type] === "query");
  return { from, to: from, requests: single ? from : Math.ceil(from / BATCH_GET_KEYS), readUnits: from * readUnits(bytes) };
};

export const unchanged = (from: number): Expected => ({ from, to: from, requests: 0, readUnits: 0 });

const degreesOf = (catalog: Catalog, hop: PlannedHop): readonly string[] => {
  const { edge } = hop;
  const { definition } = defined(catalog.edges[edge], edge);
  const reached = sidesOf(hop).flatMap((side) => {
    const edges = definition.expect?.reached?.[side];
    const where = side === "from" ? "leave" : "reach";
    return edges === undefined ? [] : [`${edges} edges "${edge}" ${where} a node to which an edge led, as expect.reached.${side} declares`];
  });
  const given = sidesOf(hop).map((side) => {
    const { rows, by } = assumedEdges(definition, side);
    const where = side === "from" ? "leave" : "reach";
    const setting = isSingle(definition, side) ? "multiplicity" : `maxDegree.${side}`;
    if (by === "limit") return `the edges "${edge}" that ${where} a node are at most ${rows}, as ${setting} says`;
    const edges = `${rows} edges "${edge}" ${where} a node`;
    return by === "expect" ? `${edges}, as expect.${side} declares` : `${edges}: an assumption, for expect.${side} is not declared`;
  });
  return [...given, ...reached];
};

const countsOf = (catalog: Catalog, type: string): readonly string[] => {
  const count = catalog.nodes[type]?.definition.expect?.count;
  return count === undefined ? [] : [`there are ${count} nodes "${type}", as expect.count declares`];
};

/** The sentences behind the figures. */
export const assumptionsOf = (catalog: Catalog, walk: LogicalWalk, steps: readonly PlannedStep[]): readonly string[] => {
  const hops = steps.filter((step): step is PlannedHop => step.kind === "hop");
  return [
    ...new Set([
      ...hops.flatMap((hop) => degreesOf(catalog, hop)),
      ...hops.flatMap((hop) => hop.far).flatMap((type) => countsOf(catalog, type)),
      ...(hops.length > 1 || hops.some((hop) => hop.rounds > 1)
        ? ["no two ways lead to the same node, so that every figure is a most"]
        : []),
      ...(hops.some((hop) => isClosure(hop)) ? [`a closure ends after ${CLOSURE_ROUNDS} rounds`] : []),
      ...(walk.steps.some((step) => step.kind === "filterNodes") ? ["every node passes whereNode()"] : []),
    ]),
  ];
};
