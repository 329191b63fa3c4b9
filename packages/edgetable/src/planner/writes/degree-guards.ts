import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { EndId } from "../../ir/logical-write.ts";
import { keyId, sameKey, type Term, type WriteItem } from "../../ir/write-plan.ts";
import { renderTemplate } from "../../keys/template.ts";
import { type Catalog, type EdgeEntry, keyAttributes, type Shape } from "../../schema/catalog.ts";
import { degreeLimit } from "../../schema/definition.ts";
import { COUNT, DEGREE_TYPE, degreeGuard, systemKeyItem, systemType } from "../../schema/system-items.ts";
import type { Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { planCount } from "./all-edges.ts";
import { imageOf, look, type Planning, seen, STALE } from "./planning.ts";

type End = "from" | "to";
const GUARD = "the counter of its edges may not be there yet";
const ends: readonly End[] = ["from", "to"];

/** An edge between two given nodes. */
export interface EdgeBetween {
  readonly entry: EdgeEntry;
  readonly from: EndId;
  readonly to: EndId;
}

// A key made of one end alone has room for one edge there: nothing is left to count.
const isKeptByKey = ({ index }: Catalog, entry: EdgeEntry, end: End): boolean => {
  if (entry.definition.symmetric || entry[end === "from" ? "to" : "from"].length > 1) return false;
  return entry.shapes.every(({ role, keys }) => {
    const fields = keyAttributes(index).flatMap((attribute) => keys[attribute]?.fields ?? []);
    return role === "own" && fields.every((field) => field.startsWith(`${end}.`));
  });
};

const restricts = ({ definition }: EdgeEntry, end: End): boolean => definition.onDelete?.[end] === "restrict";

// A symmetric edge has no direction: both its ends count it alike, under the rules of either.
const limitAt = (catalog: Catalog, entry: EdgeEntry, end: End): number | undefined => {
  if (!entry.definition.symmetric) {
    const limit = degreeLimit(entry.definition, end);
    return limit === 1 && isKeptByKey(catalog, entry, end) ? undefined : limit;
  }
  const limits = ends.map((one) => degreeLimit(entry.definition, one)).filter((limit) => limit !== undefined);
  return limits.length > 0 ? Math.min(...limits) : undefined;
};
const restrictsAt = (entry: EdgeEntry, end: End): boolean =>
  entry.definition.symmetric ? ends.some((one) => restricts(entry, one)) : restricts(entry, end);

const guardKey = (catalog: Catalog, entry: EdgeEntry, { end, node }: { readonly end: End; readonly node: EndId }): Key => {
  const template = catalog.nodes[node.type]?.shape.keys[catalog.index.partitionKey];
  const partition = template && renderTemplate(template, node.id);
  if (partition === undefined) {
    throw new EdgetableError(
      "plan.unsupported",
      `The degree of "${entry.name}" cannot be guarded at "${node.type}": its partition does not follow from its id.`,
    );
  }
  const direction = entry.definition.symmetric || end === "from" ? "out" : "in";
  return systemKeyItem(catalog, degreeGuard(partition, entry.name, direction));
};

// Whether a type of edge is counted at all follows from the model: asked once, not with every edge.
const counted = new WeakMap<EdgeEntry, boolean>();

const isCounted = (catalog: Catalog, entry: EdgeEntry): boolean => {
  let known = counted.get(entry);
  if (known === undefined)
    counted.set(entry, (known = ends.some((end) => limitAt(catalog, entry, end) !== undefined || restrictsAt(entry, end))));
  return known;
};

const countedEnds = (catalog: Catalog, entry: EdgeEntry): readonly End[] =>
  isCounted(catalog, entry) ? ends.filter((end) => limitAt(catalog, entry, end) !== undefined || restrictsAt(entry, end)) : [];

/** The keys of the guards that count an edge. */
export const guardKeys = (catalog: Catalog, edge: EdgeBetween): readonly Key[] =>
  countedEnds(catalog, edge.entry).map((end) => guardKey(catalog, edge.entry, { end, node: edge[end] }));

/** One node's end of an edge type, and the guard that counts there. */
interface Guarded {
  readonly entry: EdgeEntry;
  readonly end: End;
  readonly node: EndId;
  readonly key: Key;
}

const guardedAt = (catalog: Catalog, entry: EdgeEntry, end: End, node: EndId): Guarded => ({
  entry,
  end,
  node,
  key: guardKey(catalog, entry, { end, node }),
});

const shapeAt = ({ catalog }: Planning, { node }: Guarded): Shape => defined(catalog.nodes[node.type], "node").shape;

const countIn = (guard: Item | null): number => Number((guard?.[COUNT] as { readonly N?: string } | undefined)?.N ?? 0);

/** The edges that a guard which is not there yet has to begin with; undefined while they have to be counted. */
const edgesThere = (planning: Planning, guarded: Guarded): number | undefined => {
  const { key, node, entry, end } = guarded;
  const asked = { node, edge: entry.name, direction: entry.definition.symmetric || end === "from" ? "out" : "in" } as const;
  // Edges that nothing finds from this end cannot be counted: there the guard counts from when it was declared.
  if (!planCount(planning.catalog, asked)) return 0;
  const reason = `the edges of "${entry.name}" at a node without a counter are counted`;
  const counted = look(planning, { kind: "count", id: `count ${keyId(key)}`, ...asked, shape: shapeAt(planning, guarded), reason });
  return counted === undefined ? undefined : countIn(counted);
};

const isThere: Term = { kind: "has", attribute: COUNT, failure: STALE };
// A deployment of an older model does not count: what is taken away may never have been added.
const oneAtLeast: Term = { kind: "atLeast", attribute: COUNT, least: 1, failure: STALE };
const isAbsent: Term = { kind: "equals", attribute: COUNT, value: undefined, failure: STALE };

/**
 * The step that counts at one end. A guard that is not there is older than the rule, or the node has no edge yet: it
 * begins with the edges that there are, so that neither the first count is too low nor the last one below zero.
 */
const countStep = (planning: Planning, guarded: Guarded, delta: 1 | -1): WriteItem | undefined => {
  const { catalog } = planning;
  const { entry, end, key } = guarded;
  const limit = delta > 0 ? limitAt(catalog, entry, end) : undefined;
  // Where one edge is all that a node may have, its guard is rarely there: to look first costs less than a refusal.
  const guard = limit === 1 ? imageOf(planning, { shape: shapeAt(planning, guarded), key }, GUARD) : seen(planning, key);
  if (limit === 1 && guard === undefined) return undefined;
  const edges = guard === undefined || (guard && COUNT in guard) ? undefined : edgesThere(planning, guarded);
  const begins = guard !== undefined && !(guard && COUNT in guard);
  if (begins && edges === undefined) return undefined;
  const failure = { reason: "degreeExceeded", edge: entry.name, end, limit: limit ?? 0 } as const;
  const below: readonly Term[] = limit === undefined ? [] : [{ kind: "below", attribute: COUNT, limit: limit - (edges ?? 0), failure }];
  const count = Math.max(0, (edges ?? 0) + delta);
  const changes = {
    set: systemType(catalog, DEGREE_TYPE),
    remove: [],
    add: { [COUNT]: { N: String(begins ? count : delta) } },
    append: {},
  };
  const terms = [begins ? isAbsent : delta < 0 ? oneAtLeast : isThere, ...below];
  const known = begins ? { begins: count - delta } : guard ? { counted: countIn(guard) } : {};
  return { kind: "update", key, terms, shape: undefined, changes, ...known };
};

/** The steps that count one edge more or less at each end whose degree is limited or restricts deletion; undefined while something has to be read. */
export const countSteps = (planning: Planning, edge: EdgeBetween, delta: 1 | -1): readonly WriteItem[] | undefined => {
  const { entry } = edge;
  const counted = countedEnds(planning.catalog, entry);
  if (counted.length === 0) return [];
  const steps = counted.map((end) => countStep(planning, guardedAt(planning.catalog, entry, end, edge[end]), delta));
  if (!steps.every((step) => step !== undefined)) return undefined;
  const [first, second] = steps;
  // A symmetric edge from a node to itself is one edge at one node.
  return first && second && entry.definition.symmetric && sameKey(first.key, second.key) ? [first] : steps;
};

/** Asks for the guards of an edge, where they are not read yet: with something else that is read, this costs no request. */
export const readGuards = (planning: Planning, edge: EdgeBetween): void => {
  for (const end of countedEnds(planning.catalog, edge.entry)) {
    const guarded = guardedAt(planning.catalog, edge.entry, end, edge[end]);
    imageOf(planning, { shape: shapeAt(planning, guarded), key: guarded.key }, GUARD);
  }
};

/** The edge types, with the end, at which a node's own degree guards may stand. */
const guardedEnds = (catalog: Catalog, node: string): readonly { readonly entry: EdgeEntry; readonly end: End }[] =>
  Object.values(catalog.edges).flatMap((entry) => {
    const mine = ends.filter((end) => entry[end].includes(node) && (limitAt(catalog, entry, end) !== undefined || restrictsAt(entry, end)));
    return (entry.definition.symmetric ? mine.slice(0, 1) : mine).map((end) => ({ entry, end }));
  });

const cascadesAt = ({ definition }: EdgeEntry, end: End): boolean =>
  definition.symmetric ? ends.some((one) => definition.onDelete?.[one] === "cascade") : definition.onDelete?.[end] === "cascade";

/** The keys of those of a node's degree guards that are of no use once it is deleted: the edges that they count are gone too. */
export const spentGuardKeys = (catalog: Catalog, node: EndId): readonly Key[] =>
  guardedEnds(catalog, node.type)
    .filter(({ entry, end }) => cascadesAt(entry, end) || restrictsAt(entry, end))
    .map(({ entry, end }) => guardKey(catalog, entry, { end, node }));

/** The steps that refuse a node's deletion while it has edges that restrict it, and take their guards along; undefined while something has to be read. */
export const restrictSteps = (planning: Planning, node: EndId): readonly WriteItem[] | undefined => {
  const { catalog } = planning;
  const restricted = guardedEnds(catalog, node.type).filter(({ entry, end }) => restrictsAt(entry, end));
  const steps = restricted.map(({ entry, end }): WriteItem | undefined => {
    const guarded = guardedAt(catalog, entry, end, node);
    const guard = imageOf(planning, { shape: shapeAt(planning, guarded), key: guarded.key }, GUARD);
    if (guard === undefined) return undefined;
    const begins = !(guard && COUNT in guard);
    const edges = begins ? edgesThere(planning, guarded) : 0;
    if (edges === undefined) return undefined;
    const few: Term = { kind: "below", attribute: COUNT, limit: 1 - edges, failure: { reason: "hasEdges", edge: entry.name, end } };
    return { kind: "delete", key: guarded.key, terms: [begins ? isAbsent : isThere, few], shape: undefined };
  });
  return steps.every((step) => step !== undefined) ? steps : undefined;
};
