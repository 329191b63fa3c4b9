import { pathsOf } from "../../ir/condition.ts";
import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { QueryStep, ReadPlan } from "../../ir/physical-plan.ts";
import type { WalkHop } from "../../ir/walk-plan.ts";
import { type Catalog, endSources, needsIdentity, projectedAttributes } from "../../schema/catalog.ts";
import { defined } from "../../util/invariant.ts";
import { checkProjected } from "../projected-attributes.ts";
import { planRead } from "../plan.ts";

/** What planning a walk needs beside the walk. */
export interface WalkPlanning {
  readonly catalog: Catalog;
  /** The names of the rules that are switched off. */
  readonly off: ReadonlySet<string>;
}

/** A hop at one node: the union of its directions, with its conditions. */
const logicalHop = (
  catalog: Catalog,
  hop: WalkHop,
  at: { readonly node: string; readonly select: readonly string[] | undefined },
): LogicalPlan | undefined => {
  const { node, select } = at;
  const { edge, ordered, forward, consistent, index, conditions } = hop;
  const { definition, from, to } = defined(catalog.edges[edge], "edge");
  const wanted =
    hop.direction === "both" && !definition.symmetric
      ? (["out", "in"] as const)
      : ([definition.symmetric ? "out" : hop.direction] as ("out" | "in")[]);
  const anchor = hop.anchor ?? defined(catalog.nodes[node], "node").idFields;
  const inputs: LogicalPlan[] = [];
  for (const direction of wanted) {
    if (!(direction === "out" ? from : to).includes(node)) continue;
    const unfiltered = { known: [], range: [], filter: [] };
    const input: LogicalPlan = {
      kind: "expand",
      node,
      direction,
      edge,
      anchor,
      ...unfiltered,
      ordered,
      forward,
      consistent,
      index,
      select,
    };
    inputs.push(conditions.length === 0 ? input : { kind: "filter", input, conditions });
  }
  return inputs.length > 1 ? { kind: "union", inputs } : inputs[0];
};

/** The same Query, reading only the key attributes that tell where its edges lead; unchanged if they do not tell it. */
const projectEnds = (
  catalog: Catalog,
  step: QueryStep,
  { far, merges }: { readonly far: "from" | "to"; readonly merges: boolean },
): QueryStep => {
  const { partitionKey, sortKey } = catalog.index;
  const index = catalog.indexes.find(({ name }) => name === step.index);
  const projected = index && projectedAttributes(catalog, index);
  const attributes = new Set<string | undefined>();
  if (needsIdentity(catalog, step)) {
    const projection = index?.projection ?? "ALL";
    const hasType = projection === "ALL" || (Array.isArray(projection) && projection.includes(catalog.typeAttribute ?? ""));
    for (const name of [partitionKey, sortKey, hasType ? catalog.typeAttribute : undefined]) attributes.add(name);
  }
  // Edges of several partitions are ordered by their sort key, and identified by the table's key.
  if (merges && step.scatter) for (const name of [partitionKey, sortKey, step.sortKey]) attributes.add(name);
  for (const id of step.shapes) {
    const sources = endSources(catalog, defined(catalog.shapesById[id], id), far);
    if (!sources || sources.some(({ attribute }) => projected && !projected.has(attribute))) return step;
    for (const { attribute } of sources) attributes.add(attribute);
  }
  return { ...step, attributes: [...attributes].filter((name) => name !== undefined) };
};

/**
 * Plans how the edges of one node are read; undefined if no edge of the type can be at it.
 *
 * @param at `gathers` is the attribute that the walk gathers along these edges
 * @throws {plan.noIndex} when nothing finds the edges, or what finds them lacks an attribute that is needed
 */
export const readHop = (
  { catalog, off }: WalkPlanning,
  hop: WalkHop,
  { node, gathers }: { readonly node: string; readonly gathers: string | undefined },
): ReadPlan | undefined => {
  const logical = logicalHop(catalog, hop, { node, select: undefined });
  if (!logical) return undefined;
  const whole = planRead(catalog, logical, { off });
  const queries = whole.sources.filter((source) => source.kind === "query");
  if (hop.reads === "ends") {
    const needed = new Set(gathers === undefined ? [] : [gathers]);
    for (const path of pathsOf(whole.filter?.conditions ?? [])) if (!path.includes(".")) needed.add(path);
    if (needed.size === 0 && !whole.filter) {
      const merges = hop.limit !== undefined;
      const sources = whole.sources.map((source, at) =>
        source.kind === "query" ? projectEnds(catalog, source, { far: whole.near[at] === "from" ? "to" : "from", merges }) : source,
      );
      return { ...whole, sources };
    }
    const hasReference = queries.some(({ shapes }) => shapes.some((id) => catalog.shapesById[id]?.role === "reference"));
    const selective = hasReference ? undefined : logicalHop(catalog, hop, { node, select: [...needed] });
    if (selective) return planRead(catalog, selective, { off });
  }
  if (gathers !== undefined) for (const query of queries) checkProjected(catalog, { ...query, select: [gathers] }, []);
  return whole;
};
