import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Condition, pathsOf } from "../ir/condition.ts";
import type { Expand, Hydrate, LogicalPlan, Lookup, Parts, Search } from "../ir/logical-plan.ts";
import type { AccessStep, HydrateStep, QueryStep, ReadPlan, SortCondition } from "../ir/physical-plan.ts";
import { growthOf } from "../keys/template.ts";
import { type Catalog, idPaths, keyAttributes, needsIdentity, type Shape, targetFields } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { inShape, isKeyDetermined, sortPrefix, type AccessPath } from "./access-path.ts";
import { checkOwnPartition, choicesFor, choosePath, searchesOf, searchingOf, type Planning } from "./choose-path.ts";
import { checkProjected } from "./projected-attributes.ts";

const sortCondition = (
  { prefix, index, shapes }: Pick<AccessPath, "prefix" | "index" | "shapes">,
  bounds: readonly Condition[],
): SortCondition | undefined => {
  if (!prefix) return undefined;
  const { template, complete, next } = prefix;
  if (bounds.length > 0) {
    const whole = shapes[0]?.keys[index.sortKey ?? ""];
    if (!next || !whole) return undefined;
    return { kind: "range", template, path: next.path, whole, followed: next.at < whole.parts.length - 1, bounds };
  }
  if (complete) return { kind: "equals", template };
  // Literals in the key exclude items of other shapes, including shapes that only other programs know.
  return template.parts.length === 0 ? undefined : { kind: "prefix", template };
};

/** The parts of a path that a Query uses. */
interface QueryPath extends Pick<AccessPath, "index" | "shapes" | "partition" | "equal" | "prefix" | "sharesPrefix" | "only"> {
  readonly scatters?: AccessPath["scatters"];
}

/** The Query of an access path. */
const queryStep = (
  path: QueryPath,
  bounds: readonly Condition[],
  rest: Pick<QueryStep, "known" | "filter" | "forward" | "consistent" | "select" | "expect">,
): QueryStep => ({
  kind: "query",
  index: path.index.name,
  partitionKey: path.index.partitionKey,
  partition: path.partition,
  ...(path.equal.length > 0 ? { equal: path.equal } : {}),
  ...(path.scatters ? { scatter: { unknown: path.scatters, ...(path.only ? { only: path.only } : {}) } } : {}),
  sortKey: path.index.sortKey,
  sort: sortCondition(path, bounds),
  shapes: path.shapes.map((shape) => shape.id),
  discards: path.sharesPrefix,
  counts: false,
  ...rest,
});

/** The Query of a node's edges, its parts, or a search. */
const lowerLeaf = (planning: Planning, leaf: Expand | Parts | Search): QueryStep => {
  const { path, rows, bytes } = choosePath(planning, leaf);
  const { known, range, filter, forward } = leaf;
  const consistent = leaf.kind !== "search" && leaf.consistent;
  const { select } = leaf;
  const step = queryStep(path, range, { known, filter, forward, consistent, select, expect: { rows, bytes } });
  const others = leaf.kind === "search" ? choicesFor(planning, leaf).slice(1) : [];
  if (others.length === 0) return step;
  const alternatives = others.map((other) => ({ index: other.path.index.name, requests: other.requests, readUnits: other.readUnits }));
  return { ...step, alternatives };
};

const lowerLookup = (catalog: Catalog, lookup: Lookup): readonly AccessStep[] => {
  const { name, of, many, consistent, select } = lookup;
  const shapes =
    of === "edge" ? defined(catalog.edges[name], "edge").shapes : [defined(catalog.ends[name] ?? catalog.parts[name], of).shape];
  if (of === "node" && catalog.nodes[name]?.definition.stored === false) {
    throw new EdgetableError("plan.unsupported", `"${name}" has no item of its own (stored: false): read its edges instead.`, {
      details: { node: name },
    });
  }
  // A reference is stored in its source's item, so the source's id determines its key.
  const knownOf = (shape: Shape) => new Set([...idPaths(catalog, shape).map((path) => inShape(shape, path)), ...lookup.given]);
  if (shapes.every((shape) => isKeyDetermined(catalog, shape, knownOf(shape))))
    return [{ kind: "get", shapes: shapes.map(({ id }) => id), many, consistent, ...(select ? { select } : {}) }];
  // A row whose sort key holds more than its id is found by a Query of its partition.
  return shapes.map((shape) => {
    const known = knownOf(shape);
    checkOwnPartition(catalog, shape, [...known]);
    const path: QueryPath = {
      index: catalog.index,
      shapes: [shape],
      partition: shape.keys[catalog.index.partitionKey]!,
      equal: [],
      prefix: sortPrefix(shape.keys[catalog.index.sortKey!]!, known),
      sharesPrefix: true,
    };
    const identity = idPaths(catalog, shape);
    const asked = select && [...new Set([...select, ...identity.map((id) => id.split(".")[0]!)])];
    const expect = { rows: 1, bytes: shape.bytes };
    return { ...queryStep(path, [], { known: [], filter: [], forward: true, consistent, select: asked, expect }), identity };
  });
};

/** The sources and conditions of a plan, before its result is chosen. */
interface Base {
  readonly sources: readonly AccessStep[];
  /** For each source, the end of its edges at which the call started. */
  readonly near: readonly ("from" | "to")[];
  readonly conditions: readonly Condition[];
}

const together = (bases: readonly Base[]): Base => {
  // One input's keys may decide a condition that another input leaves to the filter. Checking it twice is harmless.
  const bySlot = new Map<number, Condition>();
  for (const { conditions } of bases) for (const condition of conditions) bySlot.set(condition.slot, condition);
  return {
    sources: bases.flatMap(({ sources }) => sources),
    near: bases.flatMap(({ near }) => near),
    conditions: [...bySlot.values()],
  };
};

const lowerBase = (planning: Planning, plan: LogicalPlan): Base => {
  const { catalog } = planning;
  switch (plan.kind) {
    case "lookup":
      return { sources: lowerLookup(catalog, plan), near: ["from"], conditions: [] };
    case "collection":
      return {
        sources: [defined(planning.collecting, "the planner of collections")(catalog, plan)],
        near: [plan.direction === "out" ? "from" : "to"],
        conditions: [],
      };
    case "expand":
      return { sources: [lowerLeaf(planning, plan)], near: [plan.direction === "out" ? "from" : "to"], conditions: [] };
    case "parts":
    case "search":
      return { sources: [lowerLeaf(planning, plan)], near: ["from"], conditions: [] };
    case "filter": {
      defined(planning.filtering, "the planner of filters");
      const base = lowerBase(planning, plan.input);
      return { ...base, conditions: [...base.conditions, ...plan.conditions] };
    }
    case "union":
      return together(plan.inputs.map((input) => lowerBase(planning, input)));
    case "merge": {
      const shared = searchingOf(planning).onSharedIndex(planning, plan);
      const one = searchingOf(planning).oneQuery(planning, shared);
      if (!one) {
        const base = together(shared.inputs.map((input) => lowerBase(planning, input)));
        if (new Set(base.sources.map((step) => step.kind === "query" && step.sortKey)).size < 2) return base;
        throw new EdgetableError("plan.unsupported", "The index orders these kinds by different attributes. Ask for each alone.");
      }
      const { path, search, rows, bytes, conditions } = one;
      const { known, range, filter, forward, select } = search;
      const step = queryStep(path, range, { known, filter, forward, consistent: false, select, expect: { rows, bytes } });
      return { sources: [step], near: ["from"], conditions };
    }
    default:
      throw new EdgetableError("invariant", `a ${plan.kind} cannot stand below another: a defect of edgetable`);
  }
};

const expandsOf = (plan: LogicalPlan): readonly Expand[] => {
  if (plan.kind === "expand") return [plan];
  if (plan.kind === "union") return plan.inputs.flatMap(expandsOf);
  return plan.kind === "filter" ? expandsOf(plan.input) : [];
};

const lowerHydrate = (catalog: Catalog, plan: Hydrate): HydrateStep | undefined => {
  const wanted: { readonly edge: string; readonly end: "from" | "to" }[] = [];
  for (const { edge, direction } of expandsOf(plan.input)) wanted.push({ edge, end: direction === "out" ? "to" : "from" });
  if (wanted.length === 0 && plan.end) for (const { name } of searchesOf(plan.input)) wanted.push({ edge: name, end: plan.end });
  if (wanted.length === 0) return undefined;
  const nodes = [...new Set(wanted.flatMap(({ edge, end }) => defined(catalog.edges[edge], "edge")[end]))];
  const missing = nodes.filter((name) => catalog.ends[name]?.definition.stored === false);
  if (missing.length === nodes.length && !plan.embedded) {
    const edges = [...new Set(wanted.map(({ edge }) => edge))].join(" and ");
    throw new EdgetableError(
      "plan.unsupported",
      `"${missing[0]}" has no item of its own (stored: false): ask for edges() or ids() of "${edges}".`,
      { details: { edge: edges } },
    );
  }
  const isAddressable = nodes.every((name) => {
    const node = defined(catalog.ends[name], name);
    return isKeyDetermined(catalog, node.shape, new Set([...node.idFields, ...plan.given]));
  });
  const by = plan.embedded ? "none" : isAddressable ? "batchGet" : "query";
  const step = { kind: "hydrate", ends: wanted.map(({ end }) => end), nodes, by, consistent: plan.consistent } as const;
  return plan.select && by === "batchGet" ? { ...step, select: plan.select } : step;
};

/**
 * A step that only counts rows. If every item in the range is a row, DynamoDB counts them; else it sends the attributes that
 * identify rows.
 */
const counting = (catalog: Catalog, step: AccessStep): AccessStep => {
  if (step.kind !== "query") return step;
  // A node's item is an edge only if it contains the reference. An index whose keys name the reference contains no other items.
  // While shards grow, an item may move from a counted shard to another one; its key identifies it.
  const counts =
    !needsIdentity(catalog, step) &&
    !growthOf(step.partition) &&
    step.shapes.every((id) => {
      const shape = defined(catalog.shapesById[id], id);
      const index = catalog.indexes.find(({ name }) => name === step.index);
      const named = new Set((index ? keyAttributes(index) : []).flatMap((attribute) => shape.keys[attribute]?.fields ?? []));
      return targetFields(shape).every((field) => named.has(field));
    });
  return counts ? { ...step, counts: true } : { ...step, select: [] };
};

/** Turns a logical plan into the requests that answer it. */
export const lower = (planning: Planning, plan: LogicalPlan): ReadPlan => {
  const { catalog } = planning;
  const counted = plan.kind === "count" ? plan.input : plan;
  const hydrated = counted.kind === "hydrate" ? counted.input : counted;
  const base = lowerBase(planning, hydrated);
  const isCounting = plan.kind === "count" && plan.server;
  const sources = base.sources.map((source) => {
    checkProjected(catalog, source, base.conditions);
    if (source.kind !== "query" || !source.select) return isCounting ? counting(catalog, source) : source;
    // Attributes that are checked in memory have to be read.
    const checked = pathsOf(base.conditions).filter((path) => !path.includes("."));
    const step = { ...source, select: [...new Set([...source.select, ...checked])] };
    return isCounting ? counting(catalog, step) : step;
  });
  return {
    kind: "read",
    ...(plan.kind === "lookup" && plan.by !== undefined
      ? { marker: { kind: "marker", node: plan.name, attribute: plan.by, consistent: plan.consistent } }
      : {}),
    sources,
    ...(hydrated.kind === "merge" && sources.length > 1 ? { merged: true } : {}),
    near: base.near,
    filter: base.conditions.length > 0 ? { kind: "filter", conditions: base.conditions } : undefined,
    hydrate: counted.kind === "hydrate" ? lowerHydrate(catalog, counted) : undefined,
    count: plan.kind === "count" ? { kind: "count" } : undefined,
    consistency: sources.every((source) => source.consistent) ? "strong" : "eventual",
  };
};
