import { EdgetableError } from "../../errors/edgetable-error.ts";
import { pathsOf } from "../../ir/condition.ts";
import type { LogicalWalk, WalkCollect, WalkHop } from "../../ir/walk-plan.ts";
import { type Catalog, idPaths, type Shape } from "../../schema/catalog.ts";
import { isKeyDetermined } from "../access-path.ts";
import { lackingOnCopy } from "../projected-attributes.ts";
import type { WalkRuleName } from "../rule-names.ts";

/** The attribute that a walk gathers along its edges. */
export const foldedField = (collect: WalkCollect): string | undefined =>
  collect.kind === "fold" || collect.kind === "levels" ? collect.field : undefined;

/** True if a walk returns each node once, so that the number of paths to it does not matter. */
const givesEachOnce = ({ collect }: Pick<LogicalWalk, "collect">): boolean => collect.kind === "ids" || collect.kind === "nodes";

/** Rewrites a walk. It never changes the answer, only the cost. */
export interface WalkRule {
  readonly name: WalkRuleName;
  rewrite(catalog: Catalog, walk: LogicalWalk): LogicalWalk;
}

/** The same walk with its hops rewritten. */
const mapHops = (walk: LogicalWalk, change: (hop: WalkHop, at: number) => WalkHop): LogicalWalk => ({
  ...walk,
  steps: walk.steps.map((step, at) => (step.kind === "hop" ? change(step, at) : step)),
});

/** If only distinct nodes matter after a step, the hops before it count each node once. */
const dedupeEarly: WalkRule = {
  name: "dedupe-early",
  rewrite: (_, walk) => {
    const { kind } = walk.collect;
    if (kind === "paths") return walk;
    const countsPaths = kind === "count" || kind === "groups" || kind === "fold" || kind === "aggregate";
    const last = countsPaths ? walk.steps.findLastIndex((step) => step.kind === "dedupe") : walk.steps.length;
    return mapHops(walk, (hop, at) => (at < last ? { ...hop, counts: "nodes" } : hop));
  },
};

/** If a walk returns each node once anyway, it does not record the returned nodes separately. */
const dropDedupe: WalkRule = {
  name: "drop-dedupe",
  rewrite: (_, walk) => (givesEachOnce(walk) ? { ...walk, steps: walk.steps.filter((step) => step.kind !== "dedupe") } : walk),
};

/** Nodes are read only for a filter, or if the walk returns them. */
const hydrateLate: WalkRule = {
  name: "hydrate-late",
  rewrite: (_, walk) => ({ ...walk, steps: walk.steps.filter((step) => step.kind !== "hydrate") }),
};

/** If no attribute of an edge is needed, only its far end is sent. */
const projectEnds: WalkRule = {
  name: "project-ends",
  rewrite: (_, walk) => mapHops(walk, (hop) => ({ ...hop, reads: "ends" })),
};

/**
 * Edges to a few known nodes are read by their keys, 100 a request, instead of listing all edges of every node. The
 * executor still lists them if that is expected to be cheaper.
 */
const checkEndsByGet: WalkRule = {
  name: "check-ends-by-get",
  rewrite: (catalog, walk) =>
    mapHops(walk, (hop, at) => {
      if (walk.steps[at + 1]?.kind !== "keep" || foldedField(walk.collect) !== undefined) return hop;
      const edge = hop.edges.length === 1 ? catalog.edges[hop.edges[0] ?? ""] : undefined;
      const isSimple =
        edge !== undefined &&
        hop.rounds === 1 &&
        (hop.direction !== "both" || edge.definition.symmetric === true) &&
        hop.limit === undefined &&
        hop.index === undefined &&
        hop.anchor === undefined;
      // An edge between two known nodes is one item with its own key, unless further key parts tell parallel edges apart. The item
      // is the source's copy.
      const isOneItem = (shape: Shape): boolean =>
        shape.role !== "reference" && !edge?.key.length && isKeyDetermined(catalog, shape, new Set(idPaths(catalog, shape)));
      const compared = pathsOf(hop.conditions);
      const hasKeys = edge?.shapes.every((shape) => isOneItem(shape) && lackingOnCopy(shape, compared) === undefined);
      return isSimple && hasKeys ? { ...hop, by: "get" } : hop;
    }),
};

/** If only the number of a last hop's edges matters, it is read from the nodes that keep it, 100 per request. */
const useKeptCounts: WalkRule = {
  name: "use-kept-counts",
  rewrite: (_, walk) => mapHops(walk, (hop) => (hop.kept ? { ...hop, by: "kept" } : hop)),
};

/** If edges of several types are next to each other in the key, one Query reads them all, unless that is expected to cost more. */
const joinTypes: WalkRule = {
  name: "join-types",
  rewrite: (_, walk) => mapHops(walk, (hop) => (hop.edges.length > 1 ? { ...hop, joins: true } : hop)),
};

/** The rules for walks, in the order in which they run. Each can be switched off by name; answers stay the same. */
export const walkRules: readonly WalkRule[] = [dedupeEarly, dropDedupe, hydrateLate, projectEnds, checkEndsByGet, useKeptCounts, joinTypes];

// The meaning of a walk is everything except how edges are read, counted and found. Reading a node does not change it, nor does
// deduplicating nodes that are returned once.
const meaningOf = (walk: LogicalWalk): string => {
  const steps: object[] = [];
  for (const step of walk.steps) {
    if (step.kind === "hydrate" || (step.kind === "dedupe" && givesEachOnce(walk))) continue;
    steps.push(step.kind === "hop" ? { ...step, reads: undefined, counts: undefined, by: undefined, joins: undefined } : step);
  }
  return JSON.stringify([walk.node, walk.collect, steps]);
};

/**
 * Applies the rules that are not switched off. Each must keep the hops, their order and conditions, and the steps between them. A
 * violation is a defect of Edgetable and stops the walk before any request.
 */
export const rewriteWalk = (catalog: Catalog, walk: LogicalWalk, off: ReadonlySet<string>): LogicalWalk => {
  const meaning = meaningOf(walk);
  let current = walk;
  for (const rule of walkRules) {
    if (off.has(rule.name)) continue;
    const next = rule.rewrite(catalog, current);
    if (meaningOf(next) !== meaning)
      throw new EdgetableError("invariant", `The rule "${rule.name}" changed the meaning of a walk. This is a defect of edgetable.`, {
        details: { rule: rule.name, before: walk, after: next },
      });
    current = next;
  }
  return current;
};
