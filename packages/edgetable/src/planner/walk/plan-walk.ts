import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { ReadPlan } from "../../ir/physical-plan.ts";
import {
  foldedField,
  isClosure,
  type Expected,
  type LogicalWalk,
  type NodeAccess,
  type PlannedStep,
  type WalkHop,
  type WalkPlan,
  type WalkStep,
} from "../../ir/walk-plan.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import { isKeyDetermined } from "../access-path.ts";
import { assumptionsOf, expectHop, expectNodes, unchanged } from "./expect-walk.ts";
import { readHop, type WalkPlanning } from "./read-hop.ts";
import { walkRules } from "./rules/index.ts";
import { verifyWalk } from "./verify-walk.ts";

const optimize = ({ catalog, off }: WalkPlanning, walk: LogicalWalk): LogicalWalk => {
  let current = walk;
  for (const rule of walkRules) {
    if (off.has(rule.name)) continue;
    const next = rule.rewrite(catalog, current);
    verifyWalk(walk, next, rule.name);
    current = next;
  }
  return current;
};

const accessOf = (catalog: Catalog, type: string): NodeAccess => {
  const { shape, idFields, definition } = defined(catalog.nodes[type], type);
  if (definition.stored === false) return "none";
  return isKeyDetermined(catalog, shape, new Set(idFields)) ? "batchGet" : "query";
};

// A repeat that asks something of its nodes reads them, as whereNode() does.
const readTypes = (step: WalkStep): readonly string[] => {
  if (step.kind === "hop") return step.nodeConditions.length > 0 ? step.passing : [];
  return step.kind === "filterNodes" || step.kind === "hydrate" ? step.nodes : [];
};

const nodesOf = (catalog: Catalog, walk: LogicalWalk): Readonly<Record<string, NodeAccess>> => {
  const types = new Set([...walk.steps.flatMap(readTypes), ...(walk.collect.kind === "nodes" ? walk.ends : [])]);
  return Object.fromEntries([...types].map((type) => [type, accessOf(catalog, type)]));
};

// What was gathered before a dedupe, or within a closure, is forgotten; but levels are of the closure itself.
const isForgotten = ({ steps, collect }: LogicalWalk, hop: WalkHop): boolean =>
  (isClosure(hop) && collect.kind !== "levels") ||
  steps.slice(steps.indexOf(hop) + 1).some((step) => step.kind === "dedupe" || (step.kind === "hop" && isClosure(step)));

const readingOf = (planning: WalkPlanning, walk: LogicalWalk, hop: WalkHop): Readonly<Record<string, ReadPlan>> => {
  const near = hop.rounds > 1 ? new Set([...hop.near, ...hop.far]) : hop.near;
  const gathers = isForgotten(walk, hop) ? undefined : foldedField(walk.collect);
  return Object.fromEntries(
    [...near].flatMap((node) => {
      const plan = readHop(planning, hop, { node, gathers });
      return plan ? [[node, plan]] : [];
    }),
  );
};

const planStep = (planning: WalkPlanning, walk: LogicalWalk, at: { readonly step: WalkStep; readonly from: number }): PlannedStep => {
  const { step, from } = at;
  if (step.kind !== "hop") {
    const types = Object.fromEntries(readTypes(step).map((type) => [type, accessOf(planning.catalog, type)]));
    return { ...step, expect: readTypes(step).length > 0 ? expectNodes(planning.catalog, types, from) : unchanged(from) };
  }
  const reading = readingOf(planning, walk, step);
  return { ...step, reading, expect: expectHop(planning.catalog, step, { reading, from, isFirst: walk.steps[0] === step }) };
};

const planSteps = (planning: WalkPlanning, walk: LogicalWalk): readonly PlannedStep[] => {
  let from = 1;
  return walk.steps.map((step) => {
    const planned = planStep(planning, walk, { step, from });
    from = planned.expect.to;
    return planned;
  });
};

const total = (steps: readonly { readonly expect: Expected }[]): Expected => ({
  from: 1,
  to: steps.at(-1)?.expect.to ?? 1,
  requests: steps.reduce((sum, { expect }) => sum + expect.requests, 0),
  readUnits: steps.reduce((sum, { expect }) => sum + expect.readUnits, 0),
});

const checkNodes = (walk: LogicalWalk, nodes: Readonly<Record<string, NodeAccess>>): void => {
  const missing = Object.keys(nodes).find((type) => nodes[type] === "none");
  if (missing === undefined || Object.keys(nodes).some((type) => nodes[type] !== "none")) return;
  throw new EdgetableError(
    "plan.unsupported",
    `"${missing}" has no item of its own (stored: false): ask for ids(), and leave out whereNode().`,
    { details: { node: missing, walk } },
  );
};

/**
 * How a walk is done: pure.
 *
 * @throws what planning one of its hops throws
 */
export const planWalk = (planning: WalkPlanning, logical: LogicalWalk): WalkPlan => {
  const { catalog } = planning;
  const walk = optimize(planning, logical);
  const nodes = nodesOf(catalog, walk);
  checkNodes(walk, nodes);
  const steps = planSteps(planning, walk);
  const last = total(steps);
  const given = walk.collect.kind === "nodes" ? [...steps, { expect: expectNodes(catalog, nodes, last.to) }] : steps;
  const assumptions = assumptionsOf(catalog, walk, steps);
  const { node, collect, ends } = walk;
  return Object.freeze({ kind: "walk", node, steps, collect, ends, nodes, expect: total(given), assumptions });
};
