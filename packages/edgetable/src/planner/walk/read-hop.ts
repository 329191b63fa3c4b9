import { queryPrice } from "../../ir/capacity.ts";
import { pathsOf } from "../../ir/condition.ts";
import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { QueryStep, ReadPlan } from "../../ir/physical-plan.ts";
import type { WalkHop } from "../../ir/walk-plan.ts";
import { comparePrimary, leadOf, templatesOverlap, type Template } from "../../keys/template.ts";
import { type Catalog, endPaths, type KeySource, needsIdentity, projectedAttributes, type Shape, sourcesOf } from "../../schema/catalog.ts";
import { attributesOf } from "../../schema/facts.ts";
import { defined } from "../../util/invariant.ts";
import { assumedEdges } from "../assumed-rows.ts";
import { filterRules } from "../filter-rules.ts";
import { expectedItems } from "../lower-collection.ts";
import { checkProjected } from "../projected-attributes.ts";
import { planRead } from "../plan.ts";

/**
 * True if the model says how many items of a shape are at one node.
 *
 * @param near the end of the edges at which the node is, by their keys
 */
const isBounded = ({ edges, parts }: Catalog, { kind, definition, role }: Shape, near: "from" | "to"): boolean => {
  if (kind === "node") return true;
  if (kind === "part") return parts[definition]?.definition.expect?.perNode !== undefined;
  const end = role === "mirror" ? (near === "from" ? "to" : "from") : near;
  const edge = edges[definition]?.definition;
  return edge !== undefined && assumedEdges(edge, end).by !== undefined;
};

/** What planning a walk needs in addition to the walk. */
export interface WalkPlanning {
  readonly catalog: Catalog;
  /** The names of the rules that are switched off. */
  readonly off: ReadonlySet<string>;
}

/** True if an edge type has an attribute, as far as its schema lists them. */
export const hasAttribute = (catalog: Catalog, edge: string, field: string): boolean =>
  attributesOf(defined(catalog.edges[edge], edge).definition)?.includes(field) ?? true;

/** A hop at one node: the union of its edge types and directions, with its conditions. */
const logicalHop = (
  catalog: Catalog,
  hop: WalkHop,
  at: { readonly node: string; readonly needed: readonly string[] | undefined },
): LogicalPlan | undefined => {
  const { node, needed } = at;
  const { ordered, forward, consistent, index, conditions } = hop;
  const anchor = hop.anchor ?? defined(catalog.ends[node], "node").idFields;
  const inputs: LogicalPlan[] = [];
  for (const edge of hop.edges) {
    const { definition, from, to } = defined(catalog.edges[edge], "edge");
    const both = hop.direction === "both" && !definition.symmetric;
    const wanted = both ? (["out", "in"] as const) : ([definition.symmetric ? "out" : hop.direction] as ("out" | "in")[]);
    const select = needed?.filter((field) => hasAttribute(catalog, edge, field));
    for (const direction of wanted) {
      if (!(direction === "out" ? from : to).includes(node)) continue;
      const rest = { anchor, known: [], range: [], filter: [], ordered, forward, consistent, index, select };
      const input: LogicalPlan = { kind: "expand", node, direction, edge, ...rest };
      inputs.push(conditions.length === 0 ? input : { kind: "filter", input, conditions });
    }
  }
  return inputs.length > 1 ? { kind: "union", inputs } : inputs[0];
};

interface Source {
  readonly step: QueryStep;
  readonly near: "from" | "to";
}

/**
 * One Query for the edges of several types at one node. Undefined unless they are in one partition under keys that begin with
 * literals, the Query is expected to cost no more than one for each type, and the model says how many other items are between them,
 * because a node may have any number of these.
 */
const joinedSource = (catalog: Catalog, node: string, sources: readonly Source[]): Source | undefined => {
  const [first] = sources;
  if (!first) return undefined;
  const { step, near } = first;
  const templates = sources.flatMap((one) => (one.step.sort?.kind === "prefix" ? [one.step.sort.template] : []));
  const isLiteral = ({ fields }: Template): boolean => fields.length === 0;
  const isReference = (id: string): boolean => catalog.shapesById[id]?.role === "reference";
  const isAlike = (one: Source): boolean =>
    one.near === near &&
    one.step.index === step.index &&
    one.step.partition.source === step.partition.source &&
    one.step.scatter === undefined &&
    one.step.equal === undefined &&
    one.step.known.length === 0 &&
    one.step.filter.length === 0 &&
    !one.step.shapes.some(isReference);
  if (step.sortKey === undefined || templates.length < sources.length || !templates.every(isLiteral) || !sources.every(isAlike)) {
    return undefined;
  }
  const inOrder = templates.toSorted((a, b) => comparePrimary(leadOf(a), leadOf(b)));
  const [low, high] = [defined(inOrder[0], "first key"), defined(inOrder.at(-1), "last key")];
  const between = catalog.shapes.filter(({ keys }) => {
    const [partition, sort] = [keys[step.partitionKey], keys[step.sortKey ?? ""]];
    if (!partition || !sort || !templatesOverlap(partition, step.partition)) return false;
    const lead = leadOf(sort);
    const isBelow = comparePrimary(lead, leadOf(low)) < 0 && !leadOf(low).startsWith(lead);
    const isAbove = comparePrimary(lead, leadOf(high)) > 0 && !lead.startsWith(leadOf(high));
    return !isBelow && !isAbove;
  });
  // In the order in which the Query gives their edges.
  const inKeyOrder = sources.toSorted((a, b) => comparePrimary(leadOf(a.step.sort?.template), leadOf(b.step.sort?.template)));
  const shapes = inKeyOrder.flatMap((one) => one.step.shapes);
  const others = between.filter(({ id }) => !shapes.includes(id));
  if (!others.every((shape) => isBounded(catalog, shape, near))) return undefined;
  const foreign = expectedItems(catalog, { node, direction: near === "from" ? "out" : "in" }, others);
  let [rows, bytes, requests, units] = [foreign.rows, foreign.rows * foreign.bytes, 0, 0];
  for (const one of sources) {
    const all = one.step.expect.rows * one.step.expect.bytes;
    const price = queryPrice(all, 1, one.step);
    rows += one.step.expect.rows;
    bytes += all;
    requests += price.requests;
    units += price.readUnits;
  }
  const price = queryPrice(bytes, 1, step);
  if (price.requests > requests || price.readUnits > units) return undefined;
  const select = sources.every((one) => one.step.select) ? [...new Set(sources.flatMap((one) => one.step.select ?? []))] : undefined;
  const expect = { rows, bytes: rows === 0 ? 0 : bytes / rows };
  return { near, step: { ...step, shapes, sort: { kind: "span", template: low, last: high }, discards: true, select, expect } };
};

/** A plan of several edge types in which Queries are joined if possible. */
const joinTypes = (catalog: Catalog, node: string, plan: ReadPlan): ReadPlan => {
  const groups = new Map<string, Source[]>();
  for (const [at, step] of plan.sources.entries()) {
    if (step.kind !== "query") return plan;
    const near = plan.near[at] ?? "from";
    const name = `${near} ${step.index ?? ""}`;
    groups.set(name, [...(groups.get(name) ?? []), { step, near }]);
  }
  const sources = [...groups.values()].flatMap((group) => {
    const one = group.length > 1 ? joinedSource(catalog, node, group) : undefined;
    return one ? [one] : group;
  });
  if (sources.length === plan.sources.length) return plan;
  return { ...plan, sources: sources.map(({ step }) => step), near: sources.map(({ near }) => near) };
};

/** The computed attributes that suffice to read the id of an edge's end; undefined if that needs more of the item. */
export const endSources = (catalog: Catalog, shape: Shape, end: "from" | "to"): readonly KeySource[] | undefined => {
  if (shape.role === "reference") return undefined;
  const fields = endPaths(catalog, shape, end);
  const each = fields.map((field) => sourcesOf(shape, field));
  return each.every((sources) => sources.length > 0) ? [...new Set(each.flat())] : undefined;
};

/** The same Query, reading only the key attributes that contain the far ends of its edges; unchanged if they do not. */
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
    const shape = defined(catalog.shapesById[id], id);
    const sources = endSources(catalog, shape, far);
    if (!sources || sources.some(({ attribute }) => projected && !projected.has(attribute))) return step;
    for (const { attribute } of [...sources, ...shape.match]) attributes.add(attribute);
  }
  return { ...step, attributes: [...attributes].filter((name) => name !== undefined) };
};

/**
 * Plans how the edges of one node are read; undefined if no edge of the type can be at it.
 *
 * @param at `gathers` is the attribute that the walk gathers along these edges
 * @throws {plan.noIndex} if no index finds the edges, or if the index lacks a needed attribute
 */
export const readHop = (
  { catalog, off }: WalkPlanning,
  hop: WalkHop,
  { node, gathers }: { readonly node: string; readonly gathers: string | undefined },
): ReadPlan | undefined => {
  const logical = logicalHop(catalog, hop, { node, needed: undefined });
  if (!logical) return undefined;
  const joins = hop.joins === true && hop.conditions.length === 0;
  const planned = (one: LogicalPlan): ReadPlan => {
    const plan = planRead(catalog, one, { off, filtering: filterRules });
    return joins ? joinTypes(catalog, node, plan) : plan;
  };
  const whole = planned(logical);
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
    const selective = hasReference ? undefined : logicalHop(catalog, hop, { node, needed: [...needed] });
    if (selective) return planned(selective);
  }
  for (const query of gathers === undefined ? [] : queries) {
    const having = query.shapes.filter((id) => hasAttribute(catalog, defined(catalog.shapesById[id], id).definition, gathers as string));
    if (having.length > 0) checkProjected(catalog, { ...query, shapes: having, select: [gathers as string] }, []);
  }
  return whole;
};
