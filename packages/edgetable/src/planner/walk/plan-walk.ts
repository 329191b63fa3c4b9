import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { ReadPlan } from "../../ir/physical-plan.ts";
import {
  isClosure,
  type Expected,
  type LogicalWalk,
  type NodeAccess,
  type PlannedHop,
  type PlannedStep,
  type WalkHop,
  type WalkPlan,
  type WalkStep,
} from "../../ir/walk-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import { isKeyDetermined } from "../access-path.ts";
import { assumptionsOf, expectHop, expectNodes, expectSearch } from "./expect-walk.ts";
import { hasAttribute, readHop, type WalkPlanning } from "./read-hop.ts";
import { foldedField, rewriteWalk } from "./walk-rules.ts";

/** How nodes of each type are read. */
const accessOf = (catalog: Catalog, types: readonly string[]): Readonly<Record<string, NodeAccess>> => {
  const access: Record<string, NodeAccess> = {};
  for (const type of types) {
    const { shape, idFields, definition } = defined(catalog.ends[type], type);
    if (definition.stored === false) access[type] = "none";
    else access[type] = isKeyDetermined(catalog, shape, new Set(idFields)) ? "batchGet" : "query";
  }
  return access;
};

/** The node types that a step reads. A hop with a filter on its nodes reads them like `whereNode()`. */
const readTypes = (step: WalkStep): readonly string[] => {
  if (step.kind === "hop") return step.nodeConditions.length > 0 ? step.passing : [];
  return step.kind === "filterNodes" || step.kind === "hydrate" ? step.nodes : [];
};

/** The attribute that a walk gathers along a hop's edges. */
const gathersOf = (catalog: Catalog, { steps, collect }: LogicalWalk, hop: WalkHop): string | undefined => {
  const field = foldedField(collect);
  if (field === undefined) return undefined;
  // Values gathered before a dedupe or within a closure are dropped. Levels belong to the closure itself.
  if (isClosure(hop) && collect.kind !== "levels") return undefined;
  const later = steps.slice(steps.indexOf(hop) + 1);
  if (later.some((step) => step.kind === "dedupe" || (step.kind === "hop" && isClosure(step)))) return undefined;
  // Edges without the attribute add nothing.
  return hop.edges.some((edge) => hasAttribute(catalog, edge, field)) ? field : undefined;
};

const planHop = (
  planning: WalkPlanning,
  walk: LogicalWalk,
  { hop, from }: { readonly hop: WalkHop; readonly from: number },
): PlannedHop => {
  const { catalog } = planning;
  const gathers = gathersOf(catalog, walk, hop);
  const reading: Record<string, ReadPlan> = {};
  for (const node of hop.rounds > 1 ? new Set([...hop.near, ...hop.far]) : hop.near) {
    try {
      const plan = readHop(planning, hop, { node, gathers });
      if (plan) reading[node] = plan;
    } catch (error) {
      // The nodes keep the number of edges even if no index finds these.
      if (hop.by !== "kept" || !hop.kept?.[node] || !isEdgetableError(error, "plan.noIndex")) throw error;
    }
  }
  return { ...hop, reading, gathers, expect: expectHop(catalog, hop, { reading, from, isFirst: walk.steps[0] === hop }) };
};

/**
 * Plans a walk. Pure.
 *
 * @throws the errors of planning its hops
 */
export const planWalk = (planning: WalkPlanning, logical: LogicalWalk): WalkPlan => {
  const { catalog, off } = planning;
  const walk = rewriteWalk(catalog, logical, off);
  const { node, collect, ends } = walk;
  const types = new Set([...walk.steps.flatMap(readTypes), ...(collect.kind === "nodes" ? ends : [])]);
  const nodes = accessOf(catalog, [...types]);
  if (types.size > 0 && Object.values(nodes).every((access) => access === "none")) {
    const [missing] = types;
    throw new EdgetableError(
      "plan.unsupported",
      `"${missing}" has no item of its own (stored: false). Use ids(), and leave out whereNode().`,
      {
        details: { node: missing, walk },
      },
    );
  }
  let from = 1;
  const steps = walk.steps.map((step): PlannedStep => {
    if (step.kind === "hop" || step.kind === "search") {
      const planned = step.kind === "hop" ? planHop(planning, walk, { hop: step, from }) : { ...step, expect: expectSearch(step) };
      from = planned.expect.to;
      return planned;
    }
    const read = readTypes(step);
    const unchanged = { from, to: from, requests: 0, readUnits: 0 };
    return { ...step, expect: read.length > 0 ? expectNodes(catalog, accessOf(catalog, read), from) : unchanged };
  });
  const to = steps.at(-1)?.expect.to ?? 1;
  const parts = steps.map((step) => step.expect);
  if (collect.kind === "nodes") parts.push(expectNodes(catalog, nodes, to));
  const expect: Expected = {
    from: 1,
    to: parts.at(-1)?.to ?? 1,
    requests: parts.reduce((sum, { requests }) => sum + requests, 0),
    readUnits: parts.reduce((sum, { readUnits }) => sum + readUnits, 0),
  };
  return Object.freeze({ kind: "walk", node, steps, collect, ends, nodes, expect, assumptions: assumptionsOf(catalog, walk, steps) });
};
