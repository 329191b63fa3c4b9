import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Condition } from "../ir/condition.ts";
import type { Collection, Expand, LogicalPlan, Lookup, Parts, Search } from "../ir/logical-plan.ts";
import type { AccessStep, HydrateStep, QueryStep, ReadPlan, SortCondition } from "../ir/physical-plan.ts";
import { templatesOverlap } from "../keys/template.ts";
import { type Catalog, needsIdentity, targetFields, type Index, type Shape } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { type AccessPath, isKeyDetermined, sortPrefix } from "./access-path.ts";
import { assumedEdges, assumedParts, edgeRows, heldBytes } from "./assumed-rows.ts";
import { checkOwnPartition, choosePath, partPath } from "./choose-path.ts";
import { checkHeld } from "./held-attributes.ts";
import { alternativesOf, onSharedIndex, searchesOf, searchPath, searchPrice } from "./search-path.ts";

const rangeOf = (path: AccessPath, bounds: readonly Condition[]): SortCondition | undefined => {
  const { prefix, index } = path;
  const [shape] = path.shapes;
  const template = index.sortKey === undefined ? undefined : shape?.keys[index.sortKey];
  const part = prefix?.next && template?.parts[prefix.next.at];
  if (!prefix?.next || !template || part?.kind !== "field") return undefined;
  return {
    kind: "range",
    template: prefix.template,
    path: part.path,
    whole: template,
    followed: prefix.next.at < template.parts.length - 1,
    bounds,
  };
};

const sortCondition = (path: AccessPath, bounds: readonly Condition[]): SortCondition | undefined => {
  const { prefix } = path;
  if (!prefix) return undefined;
  if (bounds.length > 0) return rangeOf(path, bounds);
  if (prefix.complete) return { kind: "equals", template: prefix.template };
  // A prefix of nothing but literals only keeps strangers out: without strangers it is not needed.
  if (prefix.template.parts.length === 0 || (prefix.fixed === 0 && !path.sharesPartition)) return undefined;
  return { kind: "prefix", template: prefix.template };
};

/** The Query of an access path. */
const queryStep = (
  path: AccessPath,
  bounds: readonly Condition[],
  rest: Pick<QueryStep, "known" | "filter" | "forward" | "consistent" | "select" | "expect">,
): QueryStep => ({
  kind: "query",
  index: path.index.name,
  partitionKey: path.index.partitionKey,
  partition: path.partition,
  ...(path.scatters ? { scatter: { unknown: path.scatters } } : {}),
  sortKey: path.index.sortKey,
  sort: sortCondition(path, bounds),
  shapes: path.shapes.map((shape) => shape.id),
  discards: path.sharesPrefix,
  counts: false,
  ...rest,
});

const mirrored = (catalog: Catalog, collection: Collection): Index => {
  const { shape, definition } = defined(catalog.nodes[collection.node], "node");
  const candidates = catalog.indexes.filter((index) => collection.index === undefined || index.name === collection.index);
  const found = candidates.find((index) => shape.keys[index.partitionKey]?.source === definition.key);
  if (found) return found;
  throw new EdgetableError(
    "plan.noIndex",
    `"${collection.node}" has no item in ${collection.index === undefined ? "any index" : `the index "${collection.index}"`} under its own key. Declare mirror: true, or read its edges by in().`,
    { details: { node: collection.node, index: collection.index } },
  );
};

// The node itself, its parts and its edges.
const expectedOf = (catalog: Catalog, { node, direction }: Collection, shapes: readonly Shape[]): QueryStep["expect"] => {
  const end = direction === "out" ? "from" : "to";
  const each = shapes.map((shape) => {
    if (shape.kind === "part") return { rows: assumedParts(defined(catalog.parts[shape.definition], "part")), bytes: shape.bytes };
    const edge = catalog.edges[shape.definition]?.definition;
    const isNode = shape.kind === "node" || !edge;
    const near = shape.role === "mirror" ? (end === "from" ? "to" : "from") : end;
    return { rows: isNode ? (shape.definition === node ? 1 : 0) : assumedEdges(edge, near).rows, bytes: shape.bytes };
  });
  const rows = each.reduce((sum, one) => sum + one.rows, 0);
  const bytes = each.reduce((sum, one) => sum + one.rows * one.bytes, 0);
  return { rows, bytes: rows === 0 ? 0 : bytes / rows };
};

/** One Query for a node and all that shares its partition, of the table or of the index that mirrors it. */
const lowerCollection = (catalog: Catalog, collection: Collection): QueryStep => {
  const node = defined(catalog.nodes[collection.node], "node");
  if (collection.direction === "out") checkOwnPartition(catalog, node.name, node.idFields);
  const index = collection.direction === "out" ? catalog.index : mirrored(catalog, collection);
  const partition = defined(node.shape.keys[index.partitionKey], "partition key");
  const shapes = catalog.shapes.filter((shape: Shape) => {
    const template = shape.keys[index.partitionKey];
    return (
      template !== undefined &&
      (index.sortKey === undefined || shape.keys[index.sortKey] !== undefined) &&
      templatesOverlap(template, partition)
    );
  });
  return {
    kind: "query",
    index: index.name,
    partitionKey: index.partitionKey,
    partition,
    sortKey: index.sortKey,
    sort: undefined,
    known: [],
    filter: [],
    forward: true,
    consistent: collection.consistent,
    shapes: shapes.map((shape) => shape.id),
    discards: true,
    select: undefined,
    counts: false,
    expect: expectedOf(catalog, collection, shapes),
  };
};

/** The Query of a search, or the Queries of all partitions that its items may be in. */
const lowerSearch = (catalog: Catalog, search: Search): QueryStep => {
  const path = searchPath(catalog, search);
  const { rows, bytes } = searchPrice(catalog, path, search);
  const alternatives = alternativesOf(catalog, search);
  const { known, range, filter, forward, select } = search;
  const step = queryStep(path, range, { known, filter, forward, consistent: false, select, expect: { rows, bytes } });
  return alternatives.length > 0 ? { ...step, alternatives } : step;
};

type Near = "from" | "to";

const lowerExpand = (catalog: Catalog, expand: Expand): QueryStep => {
  const path = choosePath(catalog, expand, new Set(expand.range.map((condition) => condition.path)));
  const edge = defined(catalog.edges[expand.edge], "edge").definition;
  const { rows: degree } = assumedEdges(edge, expand.direction === "out" ? "from" : "to");
  const asked = { known: expand.known.map((field) => field.path), ranged: expand.range.map((condition) => condition.path) };
  const rows = edgeRows(catalog, path, { degree, ...asked });
  const [shape] = path.shapes;
  const bytes = shape ? heldBytes(catalog, path.index, shape) : 0;
  const { known, filter, forward, consistent, select } = expand;
  return queryStep(path, expand.range, { known, filter, forward, consistent, select, expect: { rows, bytes } });
};

/** The way to one shape's items in their partition of the table, by what of their keys is known. */
const inOwnPartition = (catalog: Catalog, shape: Shape, known: readonly string[]): AccessPath => ({
  index: catalog.index,
  shapes: [shape],
  partition: defined(shape.keys[catalog.index.partitionKey], "partition key"),
  prefix: sortPrefix(defined(shape.keys[catalog.index.sortKey ?? ""], "sort key"), new Set(known)),
  scatters: undefined,
  sharesPartition: true,
  sharesPrefix: true,
});

const lowerParts = (catalog: Catalog, parts: Parts): QueryStep => {
  const entry = defined(catalog.parts[parts.part], "part");
  const { filter, forward, consistent } = parts;
  return queryStep(partPath(catalog, parts), parts.range, {
    known: parts.known,
    filter,
    forward,
    consistent,
    select: undefined,
    expect: { rows: assumedParts(entry), bytes: entry.shape.bytes },
  });
};

const shapesOf = (catalog: Catalog, lookup: Lookup): readonly Shape[] => {
  if (lookup.of === "edge") return defined(catalog.edges[lookup.name], "edge").shapes;
  const entry = defined(lookup.of === "node" ? catalog.nodes[lookup.name] : catalog.parts[lookup.name], lookup.of);
  return [entry.shape];
};

// A node whose sort key holds more than its id is found by a Query on its partition.
const findByPartition = (catalog: Catalog, shape: Shape, lookup: Lookup & { readonly given: readonly string[] }): QueryStep => {
  checkOwnPartition(catalog, lookup.name, lookup.given);
  return queryStep(inOwnPartition(catalog, shape, lookup.given), [], {
    known: [],
    filter: [],
    forward: true,
    consistent: lookup.consistent,
    select: undefined,
    expect: { rows: 1, bytes: shape.bytes },
  });
};

const lowerLookup = (catalog: Catalog, lookup: Lookup): AccessStep => {
  const shapes = shapesOf(catalog, lookup);
  const [shape] = shapes;
  if (lookup.of === "node" && shape) {
    const given = defined(catalog.nodes[lookup.name], "node").idFields;
    if (catalog.nodes[lookup.name]?.definition.stored === false) {
      throw new EdgetableError("plan.unsupported", `"${lookup.name}" has no item of its own (stored: false): read its edges instead.`, {
        details: { node: lookup.name },
      });
    }
    if (!isKeyDetermined(catalog, shape, new Set([...given, ...lookup.given])))
      return findByPartition(catalog, shape, { ...lookup, given: [...given, ...lookup.given] });
  }
  return { kind: "get", shapes: shapes.map((one) => one.id), many: lookup.many, consistent: lookup.consistent };
};

interface Base {
  readonly sources: readonly AccessStep[];
  readonly near: readonly Near[];
  readonly conditions: readonly Condition[];
}

const lowerBase = (catalog: Catalog, plan: LogicalPlan): Base => {
  switch (plan.kind) {
    case "lookup":
      return { sources: [lowerLookup(catalog, plan)], near: ["from"], conditions: [] };
    case "expand":
      return { sources: [lowerExpand(catalog, plan)], near: [plan.direction === "out" ? "from" : "to"], conditions: [] };
    case "parts":
      return { sources: [lowerParts(catalog, plan)], near: ["from"], conditions: [] };
    case "collection":
      return { sources: [lowerCollection(catalog, plan)], near: [plan.direction === "out" ? "from" : "to"], conditions: [] };
    case "search":
      return { sources: [lowerSearch(catalog, plan)], near: ["from"], conditions: [] };
    case "merge":
      return together(onSharedIndex(catalog, plan).inputs.map((input) => lowerBase(catalog, input)));
    case "filter": {
      const base = lowerBase(catalog, plan.input);
      return { ...base, conditions: [...base.conditions, ...plan.conditions] };
    }
    case "union":
      return together(plan.inputs.map((input) => lowerBase(catalog, input)));
    default:
      throw new EdgetableError("invariant", `a ${plan.kind} cannot stand below another: a defect of edgetable`);
  }
};

// A condition that one input's keys take may be left to the filter by another's; checked twice it holds twice.
const together = (bases: readonly Base[]): Base => ({
  sources: bases.flatMap((base) => base.sources),
  near: bases.flatMap((base) => base.near),
  conditions: [...new Map(bases.flatMap((base) => base.conditions).map((condition) => [condition.slot, condition])).values()],
});

const expandsOf = (plan: LogicalPlan): readonly Expand[] => {
  if (plan.kind === "expand") return [plan];
  if (plan.kind === "union") return plan.inputs.flatMap(expandsOf);
  return plan.kind === "filter" ? expandsOf(plan.input) : [];
};

type Hydration = Extract<LogicalPlan, { kind: "hydrate" }>;

interface Wanted {
  readonly edge: string;
  readonly end: Near;
}

/** The edges of a hydration, source by source, and which of their ends it wants. */
const wantedOf = ({ input, end }: Hydration): readonly Wanted[] => {
  const expands = expandsOf(input);
  if (expands.length > 0) return expands.map(({ edge, direction }) => ({ edge, end: direction === "out" ? "to" : "from" }));
  return end === undefined ? [] : searchesOf(input).map(({ name }) => ({ edge: name, end }));
};

const distinct = (names: readonly string[]): readonly string[] => [...new Set(names)];

const lowerHydrate = (catalog: Catalog, plan: Hydration): HydrateStep | undefined => {
  const wanted = wantedOf(plan);
  if (wanted.length === 0) return undefined;
  const nodes = distinct(wanted.flatMap(({ edge, end }) => defined(catalog.edges[edge], "edge")[end]));
  const missing = nodes.filter((name) => catalog.nodes[name]?.definition.stored === false);
  if (missing.length === nodes.length && !plan.embedded) {
    const edges = distinct(wanted.map(({ edge }) => edge)).join(" and ");
    throw new EdgetableError(
      "plan.unsupported",
      `"${missing[0]}" has no item of its own (stored: false): ask for edges() or ids() of "${edges}".`,
      { details: { edge: edges } },
    );
  }
  const addressable = nodes.every((name) => {
    const node = defined(catalog.nodes[name], name);
    return isKeyDetermined(catalog, node.shape, new Set([...node.idFields, ...plan.given]));
  });
  const by = plan.embedded ? "none" : addressable ? "batchGet" : "query";
  return { kind: "hydrate", ends: wanted.map(({ end }) => end), nodes, by, consistent: plan.consistent };
};

// What is checked in memory has to be read, though nobody asked for it.
const selecting = (step: AccessStep, conditions: readonly Condition[]): AccessStep => {
  if (step.kind !== "query" || !step.select) return step;
  const checked = conditions.flatMap(({ path }) => (path.includes(".") ? [] : [path]));
  return { ...step, select: [...new Set([...step.select, ...checked])] };
};

// A node's own item counts for an edge only if its reference is there: an index whose keys name it has no other.
// What is told apart here is counted here.
const mayCount = (catalog: Catalog, step: QueryStep): boolean => {
  if (needsIdentity(catalog, step)) return false;
  return step.shapes.every((id) => {
    const shape = defined(catalog.shapesById[id], id);
    const named = new Set([step.partitionKey, step.sortKey ?? ""].flatMap((attribute) => shape.keys[attribute]?.fields ?? []));
    return targetFields(shape).every((field) => step.index !== undefined && named.has(field));
  });
};

/** A step of which the number of rows is wanted alone: DynamoDB counts them, or sends what tells them apart. */
const counting = (catalog: Catalog, step: AccessStep): AccessStep => {
  if (step.kind !== "query") return step;
  return mayCount(catalog, step) ? { ...step, counts: true } : { ...step, select: [] };
};

/** Turns a logical plan into the requests that answer it. */
export const lower = (catalog: Catalog, plan: LogicalPlan): ReadPlan => {
  const counted = plan.kind === "count" ? plan.input : plan;
  const hydrated = counted.kind === "hydrate" ? counted.input : counted;
  const base = lowerBase(catalog, hydrated);
  const server = plan.kind === "count" && plan.server;
  for (const source of base.sources) checkHeld(catalog, source, base.conditions);
  const read = base.sources.map((source) => selecting(source, base.conditions));
  const sources = server ? read.map((source) => counting(catalog, source)) : read;
  return {
    kind: "read",
    sources,
    ...(hydrated.kind === "merge" ? { merged: true } : {}),
    near: base.near,
    filter: base.conditions.length > 0 ? { kind: "filter", conditions: base.conditions } : undefined,
    hydrate: counted.kind === "hydrate" ? lowerHydrate(catalog, counted) : undefined,
    count: plan.kind === "count" ? { kind: "count" } : undefined,
    consistency: sources.every((source) => source.consistent) ? "strong" : "eventual",
  };
};
