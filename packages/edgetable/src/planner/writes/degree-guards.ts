import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { EndId } from "../../ir/logical-write.ts";
import { sameKey, type Term, type WriteItem } from "../../ir/write-plan.ts";
import { renderTemplate } from "../../keys/template.ts";
import type { Catalog, EdgeEntry } from "../../schema/catalog.ts";
import { degreeLimit } from "../../schema/degree-limit.ts";
import { COUNT, DEGREE_TYPE, degreeGuard, systemKeyItem, systemType } from "../../schema/system-items.ts";
import type { Key } from "../../transport/operations.ts";

type End = "from" | "to";
const ends: readonly End[] = ["from", "to"];

/** An edge between two given nodes. */
export interface EdgeBetween {
  readonly entry: EdgeEntry;
  readonly from: EndId;
  readonly to: EndId;
}

// A key made of one end alone has room for one edge there: nothing is left to count.
const isKeptByKey = ({ index: { partitionKey, sortKey } }: Catalog, entry: EdgeEntry, end: End): boolean => {
  if (entry.definition.symmetric || entry[end === "from" ? "to" : "from"].length > 1) return false;
  return entry.shapes.every(({ role, keys }) => {
    const fields = [partitionKey, sortKey].flatMap((attribute) => keys[attribute]?.fields ?? []);
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

/** The steps that count one edge more or less at each end whose degree is limited or restricts deletion. */
export const countSteps = (catalog: Catalog, edge: EdgeBetween, delta: 1 | -1): readonly WriteItem[] => {
  const { entry } = edge;
  if (!isCounted(catalog, entry)) return [];
  const steps = ends.flatMap((end): readonly WriteItem[] => {
    const limit = limitAt(catalog, entry, end);
    if (limit === undefined && !restrictsAt(entry, end)) return [];
    const failure = { reason: "degreeExceeded", edge: entry.name, end, limit: limit ?? 0 } as const;
    const terms: readonly Term[] = limit === undefined || delta < 0 ? [] : [{ kind: "below", attribute: COUNT, limit, failure }];
    const changes = { set: systemType(catalog, DEGREE_TYPE), remove: [], add: { [COUNT]: { N: String(delta) } }, append: {} };
    return [{ kind: "update", key: guardKey(catalog, entry, { end, node: edge[end] }), terms, shape: undefined, changes }];
  });
  const [first, second] = steps;
  // A symmetric edge from a node to itself is one edge at one node.
  return first && second && entry.definition.symmetric && sameKey(first.key, second.key) ? [first] : steps;
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

/** The steps that refuse a node's deletion while it has edges that restrict it, and take their guards along. */
export const restrictSteps = (catalog: Catalog, node: EndId): readonly WriteItem[] =>
  guardedEnds(catalog, node.type)
    .filter(({ entry, end }) => restrictsAt(entry, end))
    .map(({ entry, end }) => ({
      kind: "delete",
      key: guardKey(catalog, entry, { end, node }),
      terms: [{ kind: "below", attribute: COUNT, limit: 1, failure: { reason: "hasEdges", edge: entry.name, end } }],
      shape: undefined,
    }));
