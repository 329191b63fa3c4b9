import { EdgetableError } from "../errors/edgetable-error.ts";
import { queryPrice, type Price } from "../ir/capacity.ts";
import type { Condition } from "../ir/condition.ts";
import type { Collection, Expand, Filter, LogicalPlan, Merge, Parts, Search } from "../ir/logical-plan.ts";
import type { QueryStep } from "../ir/physical-plan.ts";
import { type Catalog, type EdgeEntry, keyAttributes, type Shape } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { accessPaths, gapsOf, isOrderedBy, pathOn, rangesOver, takesField, type AccessPath } from "./access-path.ts";
import { assumedEdges, assumedParts, edgeRows, projectedBytes, partitionsOn, type GivenFields } from "./assumed-rows.ts";

/** A path that was chosen, what it is predicted to read, and what it costs. */
export interface Choice extends Price {
  readonly path: AccessPath;
  readonly rows: number;
  /** The bytes of one row. */
  readonly bytes: number;
}

/** One Query for searches of several kinds. */
export interface OneQuery {
  readonly path: AccessPath;
  readonly search: Search;
  readonly rows: number;
  readonly bytes: number;
  /** The conditions that are checked in memory. */
  readonly conditions: readonly Condition[];
}

/** Plans searches. Loaded by the first search, because no other call looks up values in an index. */
export interface Searching {
  /** The paths to the items of a search, the best one first. */
  readonly choices: (catalog: Catalog, search: Search, given: GivenFields) => readonly Choice[];
  /** @throws {plan.noIndex} which says why there is no path */
  readonly refuse: (catalog: Catalog, search: Search) => never;
  /** Makes several searches use one index, so that they share its order. */
  readonly onSharedIndex: (planning: Planning, merge: Merge) => Merge;
  /** The one Query that answers several searches, if they ask for all items of their kinds in one partition. */
  readonly oneQuery: (planning: Planning, merge: Merge) => OneQuery | undefined;
  /** Turns conditions of a search into those of an index's keys. */
  readonly pushConditions: (planning: Planning, filter: Filter, search: Search) => LogicalPlan;
}

/** The parts of the planner that only some kinds of plans need. The first call of each kind loads its part. */
export interface Planners {
  /** For plans with a search. */
  readonly searching?: Searching | undefined;
  /** For plans with conditions: their rules. */
  readonly filtering?: readonly Rule[] | undefined;
  /** For plans of collections. */
  readonly collecting?: ((catalog: Catalog, collection: Collection) => QueryStep) | undefined;
}

/** The state of planning one call. Rules and lowering need the same paths, so each is chosen once. */
export interface Planning extends Planners {
  readonly catalog: Catalog;
  /** The paths of the plan's leaves, the best one first, keyed by what each leaf asks. */
  readonly chosen: Map<string, readonly Choice[]>;
}

/** Rewrites a logical plan to one with the same answer and a lower cost. */
export interface Rule {
  readonly name: string;
  readonly rewrite: (planning: Planning, plan: LogicalPlan) => LogicalPlan;
}

/** Sets of shapes. The items of each set are all edges of an expansion. */
export const shapeSets = (entry: EdgeEntry, expand: Pick<Expand, "node" | "direction">): readonly (readonly Shape[])[] => {
  const end = expand.direction === "out" ? "from" : "to";
  const shapes = entry.shapes.filter((shape) => shape[end] === expand.node);
  return expand.direction === "out" ? [shapes] : [entry.mirrors.filter((shape) => shape[end] === expand.node), shapes];
};

/** Paths of an edge's row that the anchor fixes. */
export const anchorPaths = (expand: Pick<Expand, "direction" | "anchor">): readonly string[] =>
  expand.anchor.map((field) => `${expand.direction === "out" ? "from" : "to"}.${field}`);

/** Prices a path. An index with a partial projection has smaller items. */
export const priced = (catalog: Catalog, path: AccessPath, rows: number): Choice => {
  const bytes = projectedBytes(catalog, path.index, defined(path.shapes[0], "shape"));
  return { path, rows, bytes, ...queryPrice(rows * bytes, partitionsOn(path)) };
};

const scoreOf = (path: AccessPath, { known, ranged }: GivenFields): number =>
  (known.filter((field) => takesField(path, field)).length + (ranged.some((field) => rangesOver(path, field)) ? 1 : 0)) * 1000 +
  (path.scatters ? 0 : 500) +
  (path.index.name === undefined ? 200 : 0) +
  (path.index.projection === "ALL" ? 100 : 0) +
  (path.sharesPrefix ? 0 : 50) +
  (path.prefix?.complete ? 20 : 0);

/**
 * Ranks paths by predicted price and, at the same price, by the number of conditions that their keys use. Indexes with a partial
 * projection return partial rows: the path whose keys use most conditions decides whether paths with whole or partial rows come
 * first.
 *
 * @param byPrice false if every row of the index is read anyway
 */
export const ranked = (choices: readonly Choice[], given: GivenFields, byPrice: boolean): readonly Choice[] => {
  if (choices.length < 2) return choices;
  const scores = new Map(choices.map((choice) => [choice, scoreOf(choice.path, given)]));
  const best = choices.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
  if (!byPrice) return best;
  const isLikeBest = ({ path }: Choice): boolean => (path.index.projection === "ALL") === (best[0]?.path.index.projection === "ALL");
  const cheapest = best.toSorted((a, b) => a.readUnits - b.readUnits);
  return [...cheapest.filter(isLikeBest), ...cheapest.filter((choice) => !isLikeBest(choice))];
};

/** Says why an index is not read although its keys would serve: it lacks some of the requested items. */
const lacks = (catalog: Catalog, { index, shapes }: AccessPath, what: string): EdgetableError => {
  const [gap] = keyAttributes(index).flatMap((key) => shapes.flatMap((shape) => gapsOf(catalog, shape, key, new Set())));
  const because =
    gap === undefined
      ? "its keys have a condition (when). Add an index without one to the layout."
      : `it is sparse and lacks those without "${gap}". Ask for that too, or add an index of all.`;
  return new EdgetableError("plan.noIndex", `${what} is not read by "${index.name}", because ${because}`, {
    details: { index: index.name },
  });
};

const refuseExpand = (catalog: Catalog, expand: Expand, why: "index" | "consistent" | "order", lacking?: AccessPath): never => {
  const what = `${expand.direction}("${expand.edge}") of "${expand.node}"`;
  // If only an index has the order, the edges can be read consistently without the order.
  if (expand.consistent && why !== "index") {
    const instead = why === "order" ? "call unordered()" : "store the edge twice";
    throw new EdgetableError(
      "plan.notConsistent",
      `${what} is answered by an index, and an index cannot be read consistently. Leave out consistent(), or ${instead}.`,
      { details: { edge: expand.edge, direction: expand.direction } },
    );
  }
  if (why === "order") {
    throw new EdgetableError(
      "plan.noIndex",
      `${what} cannot come in the order of "${catalog.edges[expand.edge]?.orderBy}": no key that serves it holds that attribute next. Call unordered(), or add an index.`,
      { details: { edge: expand.edge } },
    );
  }
  if (lacking) throw lacks(catalog, lacking, what);
  const anchor = anchorPaths(expand).join(", ") || "nothing";
  // In Edgetable's own layout, no partition contains all nodes below a level.
  const below = expand.anchor.length < (catalog.ends[expand.node]?.idFields.length ?? 0);
  const mend = below
    ? `Add such an index to your own layout, or find the nodes with db.find("${expand.node}") and start at each of them.`
    : "Add such an index to the layout, or store the edge twice.";
  throw new EdgetableError(
    "plan.noIndex",
    expand.index === undefined
      ? `No table or index key can answer ${what}: none has a partition key made only of ${anchor}. ${mend}`
      : `The index "${expand.index}" cannot answer ${what}: its partition key is not made only of ${anchor}. Leave out using("${expand.index}").`,
    { details: { edge: expand.edge, direction: expand.direction, index: expand.index } },
  );
};

const expandChoices = (catalog: Catalog, expand: Expand, { known, ranged }: GivenFields): readonly Choice[] => {
  const entry = defined(catalog.edges[expand.edge], `edge ${expand.edge}`);
  const { consistent, index, implied } = expand;
  const anchor = anchorPaths(expand);
  // An index that the caller names may lack items.
  const present = index === undefined ? new Set([...known, ...ranged, ...(expand.present ?? [])]) : undefined;
  const asked = { sets: shapeSets(entry, expand), known: new Set([...anchor, ...known]), anchor, consistent, index, present, implied };
  const paths = accessPaths(catalog, asked);
  if (paths.length === 0) {
    const served = consistent && accessPaths(catalog, { ...asked, consistent: false }).length > 0;
    const [lacking] = served ? [] : accessPaths(catalog, { ...asked, consistent: false, implied: "all" });
    return refuseExpand(catalog, expand, served ? "consistent" : "index", lacking);
  }
  const ordered = paths.filter((path) => isOrderedBy(path, expand.ordered ? entry.orderBy : undefined));
  if (ordered.length === 0) return refuseExpand(catalog, expand, "order");
  // An index with a partial projection returns partial edges, so it is only read if no other path finds them.
  const whole = ordered.filter((path) => path.index.projection === "ALL");
  const { rows: degree } = assumedEdges(entry.definition, expand.direction === "out" ? "from" : "to");
  const choices = (whole.length > 0 ? whole : ordered).map((path) =>
    priced(catalog, path, edgeRows(catalog, path, { degree, known, ranged })),
  );
  return ranked(choices, { known, ranged }, true);
};

/** The parts of a node are in the order of the first index that separates them from other nodes' parts, independent of the known fields. */
const partChoices = (catalog: Catalog, parts: Parts, { known, ranged }: GivenFields): readonly Choice[] => {
  const entry = defined(catalog.parts[parts.part], "part");
  const { shape, name } = entry;
  const ids = defined(catalog.nodes[shape.from ?? ""], "owner").idFields;
  const present = new Set([...known, ...ranged, ...(parts.present ?? [])]);
  const { implied } = parts;
  const asked = { sets: [[shape]], known: new Set(ids), anchor: ids, consistent: false, index: undefined, present };
  // An index with a condition may order them in another way, and have fewer attributes, than one of all parts.
  const first = accessPaths(catalog, asked)[0] ?? accessPaths(catalog, { ...asked, implied })[0];
  const what = `parts("${name}") of "${shape.from}"`;
  if (!first) {
    const [lacking] = accessPaths(catalog, { ...asked, implied: "all" });
    if (lacking) throw lacks(catalog, lacking, what);
    const keys = keyAttributes(catalog.index).map((attribute) => shape.keys[attribute]?.source);
    throw new EdgetableError(
      "plan.noIndex",
      `No table or index key can answer ${what}: none begins with ${ids.join(" and ")} alone, and the table's are ${keys.join(" / ")}. Give the layout an index that does, or declare "${name}" as a node.`,
      { details: { part: name, index: undefined } },
    );
  }
  if (parts.consistent && first.index.name !== undefined) {
    throw new EdgetableError(
      "plan.notConsistent",
      `${what} is answered by an index, and an index cannot be read consistently. Leave out consistent().`,
      { details: { part: name } },
    );
  }
  const { index } = first;
  const path = pathOn(catalog, { index, shapes: [shape], known: new Set([...ids, ...known]), implied });
  return [{ ...priced(catalog, defined(path, "path to parts"), assumedParts(entry)), bytes: shape.bytes }];
};

/** The part of the planner for searches. */
export const searchingOf = ({ searching }: Pick<Planning, "searching">): Searching => defined(searching, "the planner of searches");

export type Leaf = Expand | Parts | Search;

/** The fields that a leaf gives to the keys of a path, and a text that identifies everything its paths depend on. */
const askedOf = (leaf: Leaf, ranged: readonly string[]): { readonly given: GivenFields; readonly key: string } => {
  const given = { known: leaf.known.map(({ path }) => path), ranged: [...new Set(ranged)] };
  const known = given.known.join();
  if (leaf.kind === "parts") return { given, key: `parts ${leaf.part} ${known}` };
  const name =
    leaf.kind === "expand" ? `${leaf.direction} ${leaf.edge}` : `${leaf.name} ${leaf.implied.join()} ${leaf.shards?.join() ?? ""}`;
  return { given, key: `${leaf.kind} ${name} ${leaf.index ?? ""} ${known} ${given.ranged.join()}` };
};

const rangedBy = (leaf: Leaf): readonly string[] => (leaf.kind === "search" ? leaf.ranged : leaf.range.map(({ path }) => path));

/** The paths of a leaf of the plan, the best one first; empty only for a search. */
export const choicesFor = (planning: Planning, leaf: Leaf, ranged: readonly string[] = rangedBy(leaf)): readonly Choice[] => {
  const { catalog, chosen } = planning;
  const { given, key } = askedOf(leaf, ranged);
  let choices = chosen.get(key);
  if (!choices) {
    if (leaf.kind === "expand") choices = expandChoices(catalog, leaf, given);
    else choices = leaf.kind === "parts" ? partChoices(catalog, leaf, given) : searchingOf(planning).choices(catalog, leaf, given);
    chosen.set(key, choices);
  }
  return choices;
};

/** Remembers the choice for a leaf after its keys have taken conditions. */
export const rememberChoice = ({ chosen }: Planning, leaf: Leaf, choice: Choice): void => {
  chosen.set(askedOf(leaf, rangedBy(leaf)).key, [choice]);
};

/**
 * The cheapest path to the items of a leaf of a plan.
 *
 * @param ranged the fields that the sort key may take a range of; by default those that already have one
 * @throws {plan.noIndex} if no key serves it, or no key has the requested order
 * @throws {plan.notConsistent} if only an index serves it and the call requires a consistent read
 */
export const choosePath = (planning: Planning, leaf: Leaf, ranged?: readonly string[]): Choice => {
  const [best] = choicesFor(planning, leaf, ranged);
  return best ?? searchingOf(planning).refuse(planning.catalog, leaf as Search);
};

/** The searches at the bottom of a plan. */
export const searchesOf = (plan: LogicalPlan): readonly Search[] => {
  if (plan.kind === "search") return [plan];
  if (plan.kind === "filter") return searchesOf(plan.input);
  return plan.kind === "merge" ? plan.inputs.flatMap(searchesOf) : [];
};

/**
 * Checks that the known fields of a row determine its partition key, so that it can be read in its own partition.
 *
 * @throws {plan.noIndex} if they do not
 */
export const checkOwnPartition = (catalog: Catalog, { kind, definition: name, keys }: Shape, known: readonly string[]): void => {
  const partition = keys[catalog.index.partitionKey];
  const unknown = partition?.fields.filter((field) => !known.includes(field)) ?? [];
  if (unknown.length === 0) return;
  const fields = unknown.map((field) => `{${field}}`).join(" and ");
  const how = kind === "node" ? "Make that part of the node's key, give it to get() by { given }, or find the node" : "Find it";
  throw new EdgetableError(
    "plan.noIndex",
    `The partition of "${name}" (${partition?.source}) does not follow from its id: it takes ${fields} too. ${how} by an index with db.find("${name}").`,
    { details: { node: name, index: undefined } },
  );
};
