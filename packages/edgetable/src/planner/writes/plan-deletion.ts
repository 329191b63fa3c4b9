import { EdgetableError } from "../../errors/edgetable-error.ts";
import { TRANSACTION_ITEMS } from "../../ir/capacity.ts";
import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { DeleteWrite, EndId, LogicalWrite } from "../../ir/logical-write.ts";
import type { ReadPlan } from "../../ir/physical-plan.ts";
import { type Images, keyId, type PlannedItem, type Term, type WritePlan } from "../../ir/write-plan.ts";
import { decodeItem } from "../../requests/decode-item.ts";
import { templatesOverlap } from "../../keys/template.ts";
import { underPath } from "../../schema/build-catalog.ts";
import { counterAttributes, counterKeys, counterSetsOf, RISES } from "../../schema/counter-sets.ts";
import type { Catalog, EndEntry, Shape } from "../../schema/catalog.ts";
import { fieldBesidePartition } from "../../schema/guarded-ends.ts";
import { isKeptInNode } from "../../schema/facts.ts";
import { DELETING, HOLDER } from "../../schema/system-items.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import { lowerCollection } from "../lower-collection.ts";
import { planRead } from "../plan.ts";
import { planWrites } from "./plan-write.ts";
import { allEdges, consistentIfPossible, degreeGuards } from "./rules/degree-guards.ts";
import { refuseUnstored } from "./rules/found-nodes.ts";
import { type CascadeEnd, cascadeEnds, cascades, partsOf } from "./rules/required-nodes.ts";
import {
  contribute,
  guardTerms,
  imageOf,
  locate,
  NOT_FOUND,
  openWorkingSet,
  present,
  settle,
  stage,
  STALE,
  stillThere,
  subjectOf,
  type WorkingSet,
} from "./working-set.ts";

/** One read that finds items to delete with a node. */
export interface Sweep {
  readonly plan: ReadPlan;
  /** The row that fills the plan's templates. */
  readonly row: Row;
  /** The shapes that are deleted with the node. Others in the same range stay. */
  readonly shapes: readonly string[];
}

/** The plan to delete a node, or a part at the ends of edges, with its parts and cascading edges. */
export interface CascadePlan {
  readonly kind: "cascade";
  readonly node: string;
  readonly id: Row;
  readonly sweeps: readonly Sweep[];
  /** The node's parts whose own edges are deleted with them, by kind. */
  readonly parts: readonly PartCascade[];
  /** True if the node is marked first, so that no edge or part can be added to it. */
  readonly marks: boolean;
  /** True if only an index, which lags, finds some of the items to delete with the node. */
  readonly lags: boolean;
}

/** Parts of a node whose own edges are deleted with them. */
export interface PartCascade {
  readonly part: string;
  /** Finds those of the node. */
  readonly found: Sweep;
  /** Finds what goes with one of them: for {@link cascadeAt}. */
  readonly sweeps: readonly Sweep[];
  readonly lags: boolean;
}

interface Wanted {
  readonly shape: Shape;
  readonly end: "from" | "to";
  /** The edge that it is of; undefined for a part. */
  readonly cascade: CascadeEnd | undefined;
}

/** The shapes whose items are deleted with a node. For an edge found at its target, the copy in the target's partition if there is one. */
const wantedShapes = (catalog: Catalog, node: string): readonly Wanted[] => {
  const wanted: Wanted[] = [];
  for (const name of partsOf(catalog, node))
    if (!cascades(catalog, name)) wanted.push({ shape: defined(catalog.parts[name], "part").shape, end: "from", cascade: undefined });
  for (const cascade of cascadeEnds(catalog, node)) {
    const { entry, direction } = cascade;
    const end = direction === "out" ? "from" : "to";
    const shapes = direction === "in" && entry.mirrors.length > 0 ? entry.mirrors : entry.shapes;
    for (const shape of shapes) if (shape[end] === node) wanted.push({ shape, end, cascade });
  }
  return wanted;
};

/** The reads that find the items to delete with one part. */
export const cascadeAt = ({ sweeps }: PartCascade, id: Row): readonly Sweep[] =>
  sweeps.map(({ row, ...sweep }) => ({ ...sweep, row: "from" in row ? { from: id, to: id } : id }));

/**
 * Joins the reads of all kinds of edges that an index contains for a node into one Query of the whole partition. If items of other
 * kinds, or edges of other nodes, may also be there, each kind keeps its own Query.
 */
const joinSweeps = (catalog: Catalog, sweeps: readonly Sweep[]): readonly Sweep[] => {
  const groups = new Map<string | number, Sweep[]>();
  for (const [at, sweep] of sweeps.entries()) {
    const { sources } = sweep.plan;
    const [step] = sources;
    const isPlain = sources.length === 1 && step?.kind === "query" && !step.scatter && !step.equal && !step.sort?.template.fields.length;
    const place = isPlain ? `${step.index} ${step.partition.source}` : at;
    groups.set(place, [...(groups.get(place) ?? []), sweep]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    const steps = group.flatMap(({ plan }) => plan.sources.filter((source) => source.kind === "query"));
    const [step] = steps;
    if (group.length === 1 || !first || !step) return group;
    const shapes = steps.flatMap((one) => one.shapes);
    const isOther = ({ id, keys }: Shape): boolean => {
      const template = keys[step.partitionKey];
      return template !== undefined && !shapes.includes(id) && templatesOverlap(template, step.partition);
    };
    if (catalog.shapes.some(isOther)) return group;
    const rows = steps.reduce((sum, { expect }) => sum + expect.rows, 0);
    const bytes = steps.reduce((sum, { expect }) => sum + expect.rows * expect.bytes, 0);
    const joined = { ...step, shapes, sort: undefined, discards: true, expect: { rows, bytes: rows === 0 ? 0 : bytes / rows } };
    return [{ plan: { ...first.plan, sources: [joined] }, row: first.row, shapes }];
  });
};

const findParts = (catalog: Catalog, part: string, id: Row): Sweep => {
  const parts: LogicalPlan = { kind: "parts", part, known: [], range: [], filter: [], forward: true, consistent: true };
  const plan = consistentIfPossible((consistent) => planRead(catalog, { ...parts, consistent }));
  return { plan, row: id, shapes: [part] };
};

/**
 * Plans how a node's parts and cascading edges are found: one strongly consistent Query of its partition, and one more for parts
 * that lie elsewhere and for each edge type that only an index finds, or for all that one partition of an index holds.
 *
 * @throws {plan.noIndex} if no index finds the parts of this node, or its edges of a type that cascades
 * @throws {plan.unsupported} for a node without an item of its own
 */
export const planCascade = (catalog: Catalog, { name, id }: DeleteWrite): CascadePlan => {
  const entry = catalog.nodes[name];
  if (entry) refuseUnstored(entry);
  const wanted = wantedShapes(catalog, name);
  // One Query finds everything in the node's partition.
  const { partitionKey } = catalog.index;
  const node = defined(catalog.ends[name], name);
  // Nodes that share a partition also have their parts and edges there.
  const home = fieldBesidePartition(node) === undefined ? node.partition.source : undefined;
  const near = wanted.filter(
    ({ shape, end, cascade }) => (shape.keys[partitionKey]?.source ?? "") === (cascade && home ? underPath(end, home) : home),
  );
  const far = wanted.filter((one) => !near.includes(one));
  const sweeps: Sweep[] = [];
  if (near.length > 0) {
    const plan = planRead(
      catalog,
      { kind: "collection", node: name, direction: "out", index: undefined, consistent: true },
      { collecting: lowerCollection },
    );
    sweeps.push({ plan, row: id, shapes: near.map(({ shape }) => shape.id) });
  }
  for (const { shape, cascade } of far) {
    if (!cascade) sweeps.push(findParts(catalog, shape.definition, id));
  }
  const edgeSweeps: Sweep[] = [];
  for (const cascade of new Set(far.map((one) => one.cascade))) {
    if (!cascade) continue;
    const edges = { node: name, edge: cascade.entry.name, direction: cascade.direction };
    const plan = consistentIfPossible((consistent) => planRead(catalog, allEdges(catalog, { ...edges, consistent })));
    edgeSweeps.push({ plan, row: { from: id, to: id }, shapes: plan.sources.flatMap((source) => source.shapes) });
  }
  sweeps.push(...joinSweeps(catalog, edgeSweeps));
  const checksOwner = partsOf(catalog, name).some((part) => catalog.parts[part]?.definition.owner === "checked");
  const parts = partsOf(catalog, name)
    .filter((part) => cascades(catalog, part))
    .map((part): PartCascade => {
      const { sweeps: own, lags } = planCascade(catalog, { kind: "delete", of: "part", name: part, id: {}, guards: {} });
      return { part, found: findParts(catalog, part, id), sweeps: own, lags };
    });
  const countsParts = catalog.facts.aggregates.some((fact) => fact.node === name && fact.over.kind === "part" && isKeptInNode(fact));
  return {
    kind: "cascade",
    node: name,
    id,
    sweeps,
    parts,
    marks: checksOwner || countsParts || parts.length > 0 || wanted.some(({ cascade }) => cascade !== undefined),
    lags: parts.some(({ lags }) => lags) || sweeps.some(({ plan }) => plan.consistency === "eventual"),
  };
};

/** The write that removes something found with a node. */
export const removalOf = (shape: Shape, row: Row): LogicalWrite => {
  if (shape.kind === "part") return { kind: "delete", of: "part", name: shape.definition, id: row, guards: {} };
  const { from, to, ...key } = row;
  const endOf = (end: "from" | "to", value: Row): EndId => {
    if (!shape.several) return { type: defined(shape[end], "the type of an edge's end"), id: value };
    const { type: _, ...id } = value;
    return { type: defined(shape[end], "the type of an edge's end"), id };
  };
  return { kind: "unlink", edge: shape.definition, from: endOf("from", from as Row), to: endOf("to", to as Row), key, guards: {} };
};

/** A node's deletion as a job, whose state is in the table from the mark to the end. */
export interface JobMark {
  readonly id: string;
  readonly key: Key;
  /** The process that holds its lease. */
  readonly holder: string;
}

interface Located {
  readonly kind: "located";
  readonly node: EndEntry;
  readonly key: Key;
  readonly image: Item;
  /** The job that is already deleting the node. */
  readonly mark: string | undefined;
}

const locateNode = (working: WorkingSet, write: DeleteWrite): Located | WritePlan => {
  const node = defined(working.catalog.ends[write.name], "node");
  const { shape } = node;
  const key = locate(working, shape, write.id);
  const image = key && imageOf(working, { shape, key }, "it is marked, and goes last");
  if (key === undefined || image === undefined) return { kind: "needs", reads: working.needs };
  if (!key || !image) return { kind: "settled", write: 0, failure: NOT_FOUND };
  const mark = image[DELETING];
  const job = mark && "S" in mark ? mark.S : undefined;
  return { kind: "located", node, key, image, mark: job };
};

/**
 * Marks a node as being deleted and writes the job's state, in one transaction, if its conditions
 * hold and no edge restricts it: from then on nothing can be linked to it.
 */
export const planMark = (
  catalog: Catalog,
  { write, job, state }: { readonly write: DeleteWrite; readonly job: JobMark; readonly state: Item },
  images: Images,
): WritePlan => {
  const working = openWorkingSet(catalog, images);
  const located = locateNode(working, write);
  if (located.kind !== "located") return located;
  const { node, key, mark } = located;
  if (mark !== undefined) return { kind: "settled", write: 0, failure: { reason: "beingDeleted", job: mark } };
  const unmarked: Term = { kind: "equals", attribute: DELETING, value: undefined, failure: STALE };
  const changes = { set: { [DELETING]: { S: job.id } }, remove: [], add: {}, append: {} };
  const there = stillThere(working, [node.shape, key, write.id], present);
  const terms = [there, ...guardTerms(node.shape, write.guards), unmarked];
  stage(working, { kind: "update", key, terms, shape: node.shape, changes });
  stage(working, { kind: "put", key: job.key, item: state, terms: [], shape: undefined });
  // Links check the counters in place of the node, so these are marked as well. Missing counters are created.
  for (const set of write.of === "node" ? counterSetsOf(catalog, defined(catalog.nodes[write.name], "node")) : [])
    for (const counter of counterKeys(catalog, set, write.id)) {
      const marked = { ...counterAttributes(catalog, set, write.id), [DELETING]: { S: job.id } };
      const marks = { set: marked, remove: [], add: RISES, append: {} };
      stage(working, { kind: "update", key: counter, terms: [], shape: undefined, changes: marks });
    }
  const own = working.staged.length;
  // The guards of edges that restrict the deletion are checked now, and deleted with the node.
  const counts = degreeGuards.contributions(catalog, { subject: subjectOf(catalog, write), before: write.id, after: null });
  for (const count of counts) contribute(working, count);
  const items = settle(working);
  if (working.needs.length > 0) return { kind: "needs", reads: working.needs };
  if ("failure" in items) return { kind: "settled", ...items };
  return {
    kind: "ready",
    items: items.map((one, at) => (at < own ? one : { ...one, item: { ...one.item, kind: "check" } })),
    atomic: { kind: "transaction", items: items.length },
    rows: [undefined],
    // A deletion that is called again continues.
    repeatable: true,
  };
};

/** The end of a node's deletion. */
export interface Ending {
  readonly write: DeleteWrite;
  readonly job: JobMark;
  /** The items to delete in the same transaction. */
  readonly along: readonly LogicalWrite[];
  /** The keys of the marked parts among them. A part that was written again since is `notFound`. */
  readonly parts: readonly Key[];
}

/** Steps that delete only what a job has marked, where they are of one of these keys. */
const ofMarked = (items: readonly PlannedItem[], keys: readonly Key[], term: Omit<Term & { kind: "equals" }, "kind" | "attribute">) => {
  const ids = new Set(keys.map(keyId));
  const marked: Term = { kind: "equals", attribute: DELETING, ...term };
  return items.map((one) => (ids.has(keyId(one.item.key)) ? { ...one, item: { ...one.item, terms: [...one.item.terms, marked] } } : one));
};

/** Deletes a part that a job has marked. A part that was written again since is `notFound`. */
export const planPartEnding = (
  catalog: Catalog,
  { write, key, job }: { readonly write: LogicalWrite; readonly key: Key; readonly job: string },
  images: Images,
): WritePlan => {
  const plan = planWrites(catalog, [write], images);
  return plan.kind === "ready" ? { ...plan, items: ofMarked(plan.items, [key], { value: { S: job }, failure: NOT_FOUND }) } : plan;
};

/**
 * Deletes a marked node with its markers and guards, the job's state, and the items to delete with it, in one transaction. A node
 * that does not exist, or was written again since it was marked, is `notFound`; if another process holds its job, it is
 * `beingDeleted`.
 *
 * @throws {request.transactionTooLarge} if it does not fit into one transaction
 */
export const planEnding = (catalog: Catalog, { write, job, along, parts }: Ending, images: Images): WritePlan => {
  const located = locateNode(openWorkingSet(catalog, images), write);
  if (located.kind !== "located") return located;
  if (located.mark !== job.id) return { kind: "settled", write: 0, failure: NOT_FOUND };
  // Edges that restrict the deletion were checked when the node was marked, and cascading ones are gone: the guards just go.
  const plan = planWrites(catalog, [{ ...write, guards: {}, edges: "unchecked" }, ...along], images);
  if (plan.kind !== "ready") return plan;
  const value = { S: job.id };
  const items = ofMarked(ofMarked(plan.items, [located.key], { value, failure: STALE }), parts, { value, failure: NOT_FOUND });
  // All deletions of a node have one name: a second one, begun after the node was written anew, is not this one's to end.
  const hasLease: Term = { kind: "equals", attribute: HOLDER, value: { S: job.holder }, failure: { reason: "beingDeleted", job: job.id } };
  items.push({ item: { kind: "delete", key: job.key, terms: [hasLease], shape: undefined }, writes: [0] });
  if (items.length > TRANSACTION_ITEMS) {
    throw new EdgetableError("request.transactionTooLarge", `This takes ${items.length} items; a transaction holds ${TRANSACTION_ITEMS}.`, {
      details: { items: items.length },
    });
  }
  return {
    ...plan,
    items,
    atomic: { kind: "transaction", items: items.length },
    rows: [decodeItem(catalog, located.node.shape, located.image)],
    repeatable: true,
  };
};
