import { EdgetableError, isEdgetableError } from "../../../errors/edgetable-error.ts";
import type { LogicalPlan } from "../../../ir/logical-plan.ts";
import type { EndId } from "../../../ir/logical-write.ts";
import type { ReadPlan } from "../../../ir/physical-plan.ts";
import { type Failure, keyId, type ListedItems, sameKey, type Term, type WriteItem } from "../../../ir/write-plan.ts";
import { renderTemplate } from "../../../keys/template.ts";
import type { Catalog, EdgeEntry } from "../../../schema/catalog.ts";
import { type GuardedEnd, guardedEnds } from "../../../schema/guarded-ends.ts";
import { COUNT, DEGREE_TYPE, REVISION } from "../../../schema/system-items.ts";
import { systemKeyItem, systemType } from "../../../schema/system-key-item.ts";
import { degreeGuard } from "../../../schema/system-keys.ts";
import type { Item } from "../../../transport/operations.ts";
import { defined } from "../../../util/invariant.ts";
import type { Row } from "../../../util/row.ts";
import { planRead } from "../../plan.ts";
import {
  type Contribution,
  type EdgeBetween,
  imageOf,
  type ItemRule,
  knownImage,
  readOrNeed,
  STALE,
  type WorkingSet,
} from "../working-set.ts";

/** The effect of one change on the guard of one node and one type of edge. */
export interface Count extends Contribution {
  readonly entry: EdgeEntry;
  readonly at: GuardedEnd;
  readonly node: EndId;
  /** One edge more or less; 0: not known yet; undefined: the node is deleted, and its guard with it. */
  readonly delta: 1 | -1 | 0 | undefined;
  /** For a deletion: the guard is removed, independent of its count. */
  readonly spent: boolean;
}

const countOf = (catalog: Catalog, { entry, at, node, delta, spent, failure }: Omit<Count, "rule" | "key">): Count => {
  const template = catalog.ends[node.type]?.partition;
  const partition = template && renderTemplate(template, node.id);
  if (partition === undefined) {
    throw new EdgetableError(
      "plan.unsupported",
      `The degree of "${entry.name}" cannot be guarded at "${node.type}": its partition does not follow from its id.`,
    );
  }
  const key = systemKeyItem(catalog, degreeGuard(partition, entry.name, at.direction));
  return { rule: degreeGuards, key, entry, at, node, delta, spent, failure };
};

const NONE: readonly Count[] = [];

const countsOfEdge = (catalog: Catalog, { entry, from, to }: EdgeBetween, delta: 1 | -1 | 0): readonly Count[] => {
  const ends = guardedEnds(catalog, entry);
  if (ends.length === 0) return NONE;
  const counts = ends.map((at) => {
    const { end, limit } = at;
    const failure: Failure | undefined =
      delta > 0 && limit !== undefined ? { reason: "degreeExceeded", edge: entry.name, end, limit } : undefined;
    return countOf(catalog, { entry, at, node: end === "from" ? from : to, delta, spent: false, failure });
  });
  const [first, second] = counts;
  // A symmetric edge from a node to itself is one edge at one node.
  return first && second && entry.definition.symmetric && sameKey(first.key, second.key) ? [first] : counts;
};

const countsOfDeletion = (catalog: Catalog, node: EndId, spent: boolean): readonly Count[] => {
  const counts: Count[] = [];
  for (const entry of Object.values(catalog.edges)) {
    for (const at of guardedEnds(catalog, entry)) {
      const goes = at.restricts || (spent && at.cascades);
      if (!goes || !entry[at.end].includes(node.type)) continue;
      const failure: Failure = { reason: "hasEdges", edge: entry.name, end: at.end };
      counts.push(countOf(catalog, { entry, at, node, delta: undefined, spent, failure }));
      if (entry.definition.symmetric) break;
    }
  }
  return counts;
};

/** Which edges of a node. */
export interface EdgesOf {
  readonly node: string;
  readonly edge: string;
  readonly direction: "out" | "in";
  readonly consistent: boolean;
}

/** The read of all edges of a type at a node, in any order. */
export const allEdges = (catalog: Catalog, { node, edge, direction, consistent }: EdgesOf): LogicalPlan & { readonly kind: "expand" } => ({
  kind: "expand",
  node,
  edge,
  direction,
  anchor: defined(catalog.ends[node], "node").idFields,
  known: [],
  range: [],
  filter: [],
  ordered: false,
  forward: true,
  consistent,
  index: undefined,
  select: undefined,
});

/** A strongly consistent plan, or an eventually consistent one if only an index finds what it reads. */
export const consistentIfPossible = (plan: (consistent: boolean) => ReadPlan): ReadPlan => {
  try {
    return plan(true);
  } catch (error) {
    if (isEdgetableError(error, "plan.notConsistent")) return plan(false);
    throw error;
  }
};

/** The read that counts the edges of a type at a node; undefined if nothing finds them from there. */
export const planCount = (
  catalog: Catalog,
  { node, edge, direction }: { readonly node: EndId; readonly edge: string; readonly direction: "out" | "in" },
): ReadPlan | undefined => {
  const input = (consistent: boolean) => allEdges(catalog, { node: node.type, edge, direction, consistent });
  try {
    return consistentIfPossible((consistent) => planRead(catalog, { kind: "count", server: true, input: input(consistent) }));
  } catch (error) {
    if (isEdgetableError(error, "plan.noIndex")) return undefined;
    throw error;
  }
};

/** The read that lists the edges of a type at a node, or its parts of one kind. */
export const planList = (
  catalog: Catalog,
  { of, node }: { readonly of: ListedItems; readonly node: EndId },
): { readonly plan: ReadPlan; readonly binding: { readonly row: Row; readonly values: readonly [] } } => {
  const plan = consistentIfPossible((consistent) =>
    planRead(
      catalog,
      of.kind === "edge"
        ? allEdges(catalog, { node: node.type, edge: of.name, direction: of.direction, consistent })
        : { kind: "parts", part: of.name, known: [], range: [], filter: [], forward: true, consistent },
    ),
  );
  return { plan, binding: { row: of.kind === "edge" ? { from: node.id, to: node.id } : node.id, values: [] } };
};

const storedCount = (guard: Item | null | undefined): number | undefined => {
  const count = guard?.[COUNT];
  return count && "N" in count ? Number(count.N) : undefined;
};

const isThere: Term = { kind: "has", attribute: COUNT, failure: STALE };
const isMissing: Term = { kind: "equals", attribute: COUNT, value: undefined, failure: STALE };

/** The guard as it is: what it counts, or the edges that it has to start with; undefined while something has to be read. */
interface Guard {
  /** Undefined: it was not looked at, and must be there. */
  readonly count: number | undefined;
  readonly isMissing: boolean;
}

const guardAt = (working: WorkingSet, count: Count, mustLook: boolean): Guard | undefined => {
  const { shape } = defined(working.catalog.ends[count.node.type], "node");
  const image = mustLook
    ? imageOf(working, { shape, key: count.key }, "the counter of its edges may not be there yet")
    : knownImage(working, count.key);
  if (image === undefined) return mustLook ? undefined : { count: undefined, isMissing: false };
  if (count.delta === 0) return undefined;
  if (image && COUNT in image) return { count: storedCount(image) ?? 0, isMissing: false };
  // A missing guard starts with the edges that there are. Those that nothing finds from this end cannot be counted: there the guard
  // counts from when it was declared.
  const { key, node, entry, at } = count;
  const edges = { node, edge: entry.name, direction: at.direction };
  if (!planCount(working.catalog, edges)) return { count: 0, isMissing: true };
  const reason = `the edges of "${entry.name}" at a node without a counter are counted`;
  const counted = readOrNeed(working, { kind: "count", id: `count ${keyId(key)}`, ...edges, shape, reason });
  return counted === undefined ? undefined : { count: storedCount(counted) ?? 0, isMissing: true };
};

// The guard counts `net` edges more, of which `removed` are taken away first.
const countStep = (
  { catalog }: WorkingSet,
  counts: readonly [Count, ...Count[]],
  { guard, net, removed }: { readonly guard: Guard; readonly net: number; readonly removed: number },
): WriteItem => {
  const [{ key, at }] = counts;
  const start = guard.isMissing ? (guard.count ?? 0) : 0;
  const terms: Term[] = [];
  if (guard.isMissing) terms.push(isMissing);
  else {
    if (counts.some(({ delta }) => delta === 1)) terms.push(isThere);
    // A program with an older model does not count, so a removed edge may never have been added.
    if (removed > 0) terms.push({ kind: "atLeast", attribute: COUNT, least: removed, failure: STALE });
  }
  const failure = counts.find((one) => one.failure)?.failure;
  const below: Term | undefined =
    failure && at.limit !== undefined && net > 0
      ? { kind: "below", attribute: COUNT, limit: at.limit - start - net + 1, failure }
      : undefined;
  if (!guard.isMissing && guard.count !== undefined && removed > guard.count) {
    // Not every writer has kept the guard, so it is removed, and the next link counts the edges again.
    const unchanged: Term = { kind: "equals", attribute: COUNT, value: { N: String(guard.count) }, failure: STALE };
    return { kind: "delete", key, terms: below ? [unchanged, below] : [unchanged], shape: undefined };
  }
  if (below) terms.push(below);
  const count = guard.isMissing ? Math.max(0, start + net) : net;
  // The revision tells apart what is the same again after two changes: verification reads the guard and its edges one after the other.
  const add = { [COUNT]: { N: String(count) }, [REVISION]: { N: "1" } };
  return { kind: "update", key, terms, shape: undefined, changes: { set: systemType(catalog, DEGREE_TYPE), remove: [], add, append: {} } };
};

/**
 * A counter for each node and type of edge with a limit, or whose edges restrict the node's deletion. A missing counter
 * is older than the rule, or the node has no edge yet: it starts with the edges that there are. The edges of one
 * call are counted together, and a node's deletion takes those into account that the call adds or removes.
 */
export const degreeGuards: ItemRule<Count> = {
  name: "degree guards",
  shared: true,
  looksAt: (catalog, { subject, before, after }) =>
    subject.kind === "edge" && before === undefined && after && guardedEnds(catalog, subject.entry).length > 0
      ? { fields: [], reason: "an edge that is there counts already" }
      : undefined,
  contributions: (catalog, { subject, before, after, changes, related }) => {
    if (subject.kind === "edge") {
      if (changes || !before === !after) return NONE;
      return countsOfEdge(catalog, subject, before === undefined ? 0 : after ? 1 : -1);
    }
    if (after !== null || !before || !catalog.ends[subject.entry.name]) return NONE;
    return countsOfDeletion(catalog, { type: subject.entry.name, id: before }, related === "unchecked");
  },
  settle: (working, counts) => {
    const deletion = counts.find(({ delta }) => delta === undefined);
    const [first] = counts;
    const { key } = first;
    if (deletion?.spent) return { kind: "delete", key, terms: [], shape: undefined };
    let net = 0;
    let removed = 0;
    for (const { delta = 0 } of counts) {
      net += delta;
      if (delta < 0) removed -= delta;
    }
    if (deletion) {
      const guard = guardAt(working, deletion, true);
      if (!guard) return undefined;
      const limit = 1 - (guard.isMissing ? (guard.count ?? 0) : 0) - net;
      const few: Term = { kind: "below", attribute: COUNT, limit, failure: deletion.failure! };
      return { kind: "delete", key, terms: [guard.isMissing ? isMissing : isThere, few], shape: undefined };
    }
    const unknown = counts.find(({ delta }) => delta === 0);
    if (net === 0 && !unknown) return null;
    // With at most one edge, the guard rarely exists, so reading it first costs less than a failed condition.
    const looks = unknown !== undefined || (net > 0 && first.at.limit === 1);
    const guard = guardAt(working, unknown ?? first, looks);
    return guard && countStep(working, counts, { guard, net, removed });
  },
};
