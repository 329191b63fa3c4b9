import { EdgetableError } from "../errors/edgetable-error.ts";
import { queryPrice, type Price } from "../ir/capacity.ts";
import type { LogicalPlan, Merge, Search } from "../ir/logical-plan.ts";
import type { Alternative } from "../ir/physical-plan.ts";
import { type Catalog, heldBy, idPaths, type Index, type Shape } from "../schema/catalog.ts";
import { fixedBy, inShape, pathOn, type AccessPath } from "./access-path.ts";
import { heldBytes, partitionsOn, searchRows, type GivenFields } from "./assumed-rows.ts";
import { tellsEnds } from "./held-attributes.ts";

/** The shapes whose items a search asks for: of an edge that is stored twice, the source's copy. */
export const searchShapes = (catalog: Catalog, { of, name }: Pick<Search, "of" | "name">): readonly Shape[] => {
  if (of === "edge") return catalog.edges[name]?.shapes ?? [];
  const entry = of === "node" ? catalog.nodes[name] : catalog.parts[name];
  return entry ? [entry.shape] : [];
};

const idFields = (catalog: Catalog, shape: Shape): readonly string[] => idPaths(catalog, shape).map((path) => inShape(shape, path));

// An index may leave items out that lack an attribute of its key. It holds every item that a search
// asks for where the search itself asks for that attribute: these are the attributes that it does not ask for.
const unasked = (catalog: Catalog, index: Index, search: Search): readonly string[] =>
  searchShapes(catalog, search).flatMap((shape) => {
    const asked = new Set([...idFields(catalog, shape), ...search.present.map((path) => inShape(shape, path))]);
    return [index.partitionKey, index.sortKey ?? ""].flatMap((attribute) => {
      const template = shape.sparse.includes(attribute) ? shape.keys[attribute] : undefined;
      return template?.fields.filter((field) => !asked.has(field) && !template.optional.includes(field)) ?? [];
    });
  });

/** How many of the search's conditions the path's keys take. */
const used = (path: AccessPath, search: Search): number => {
  const fixed = fixedBy(path);
  const equal = search.known.filter((field) => path.shapes.every((shape) => fixed.has(inShape(shape, field.path))));
  const ranged = search.ranged.some((field) => path.shapes.every((shape) => inShape(shape, field) === path.prefix?.next?.path));
  return equal.length + (ranged ? 1 : 0);
};

// The most conditions in keys, then one partition rather than many, the table, everything projected.
const score = (path: AccessPath, search: Search): number =>
  used(path, search) * 1000 +
  (path.scatters ? 0 : 500) +
  (path.index.name === undefined ? 200 : 0) +
  (path.index.projection === "ALL" ? 100 : 0) +
  (path.sharesPrefix ? 0 : 50) +
  (path.prefix?.complete ? 20 : 0);

const quoted = (names: readonly string[]): string => [...new Set(names)].map((name) => `"${name}"`).join(" and ");

const inOrder = (paths: readonly string[]): string => paths.map((path) => `"${path}"`).join(", then ");

// What the keys of an index find a search's items by, in order: nothing where they begin with an id.
const foundBy = (catalog: Catalog, index: Index, shape: Shape): readonly string[] => {
  const ids = new Set(idFields(catalog, shape));
  const divided = (shape.keys[index.partitionKey]?.parts ?? []).flatMap((part) =>
    part.kind === "field" && part.format.kind !== "shard" ? part.path : [],
  );
  const sorted = shape.keys[index.sortKey ?? ""]?.fields ?? [];
  return divided.some((path) => ids.has(path)) ? [] : [...new Set([...divided, ...sorted])].filter((path) => !ids.has(path));
};

/** The indexes that do find what a search asks for, by something else. */
const others = (catalog: Catalog, search: Search): ReadonlyMap<string, readonly string[]> => {
  const [shape] = searchShapes(catalog, search);
  const found = catalog.indexes.map((index) => [index.name ?? "", shape ? foundBy(catalog, index, shape) : []] as const);
  return new Map(found.filter(([, by]) => by.length > 0));
};

const askedBy = ({ known, ranged }: Search): readonly string[] => [...known.map(({ path }) => path), ...ranged];

const declaration = (catalog: Catalog, search: Search, taken: ReadonlyMap<string, unknown>): string => {
  const by = askedBy(search).filter((path) => !path.includes("."));
  const [only] = by;
  const value = by.length > 1 ? JSON.stringify([...new Set(by)]) : `"${only ?? "…"}"`;
  const index = taken.has("byValue") ? `by${(only ?? "other").replace(/^./, (first) => first.toUpperCase())}` : "byValue";
  return catalog.escapes
    ? `Declare what it is found by: indexes: { ${index}: { entries: { ${search.name}: ${value} } } }.`
    : `Give the layout an index whose keys begin with ${only === undefined ? "what it is found by" : `{${only}}`}.`;
};

const noIndex = (search: Search, message: string): EdgetableError =>
  new EdgetableError("plan.noIndex", message, { details: { definition: search.name, asked: askedBy(search), index: search.index } });

const findsEdges = (catalog: Catalog, { index, shapes }: AccessPath): boolean => {
  const held = index.name === undefined ? undefined : heldBy(catalog, index);
  return !held || shapes.every((shape) => tellsEnds(shape, held));
};

/** Every way to items of a search, to some of them through a sparse index, best first. */
const candidates = (catalog: Catalog, search: Search): readonly AccessPath[] => {
  const shapes = searchShapes(catalog, search);
  const wanted = {
    known: new Set(search.known.map(({ path }) => path)),
    orderBy: undefined,
    ranges: new Set(search.ranged),
    consistent: false,
    index: search.index,
  };
  return [catalog.index, ...catalog.indexes]
    .filter((index) => search.index === undefined || index.name === search.index)
    .flatMap((index) => pathOn(catalog, { index, shapes }, wanted) ?? [])
    .filter((path) => search.index !== undefined || ((search.asked.length === 0 || used(path, search) > 0) && findsEdges(catalog, path)))
    .toSorted((a, b) => score(b, search) - score(a, search));
};

const refuse = (catalog: Catalog, search: Search): never => {
  const asked = askedBy(search);
  const by = asked.length === 0 ? "" : ` by ${quoted(asked)}`;
  const [sparse] = candidates(catalog, search);
  if (sparse) {
    const name = sparse.index.name ?? "";
    const held = quoted(unasked(catalog, sparse.index, search));
    throw noIndex(
      search,
      `"${name}" is sparse: it finds "${search.name}"${by} only with ${held}. Ask for that too, or name the index: using("${name}").`,
    );
  }
  const where = search.index === undefined ? "No index finds" : `The index "${search.index}" does not find`;
  const taken = others(catalog, search);
  const found = (by: string): string => [...taken].map(([index, paths]) => `; "${index}" does by ${by}${inOrder(paths)}`).join("");
  const whole = asked.length === 0 && [...taken.keys()].find((index) => candidates(catalog, { ...search, index }).length > 0);
  if (whole) {
    const instead = `${found("a value, a range or a prefix of ")}. Ask by that, or for all that it holds: using("${whole}").`;
    throw noIndex(search, `${where} "${search.name}" by what is asked${instead}`);
  }
  throw noIndex(search, `${where} "${search.name}"${by}${found("")}. ${declaration(catalog, search, taken)}`);
};

const fieldsOf = ({ known, ranged }: Search): GivenFields => ({ known: known.map(({ path }) => path), ranged });

/** What a search is expected to find and to cost on a path. */
export const searchPrice = (
  catalog: Catalog,
  path: AccessPath,
  search: Search,
): Price & { readonly rows: number; readonly bytes: number } => {
  const rows = searchRows(catalog, path, fieldsOf(search));
  const [shape] = path.shapes;
  const bytes = shape ? heldBytes(catalog, path.index, shape) : 0;
  return { rows, bytes, ...queryPrice(rows * bytes, partitionsOn(path)) };
};

/**
 * Every way to the items of a search, the cheapest first. Rows of an index that holds a part of its items lack the
 * rest: a lower price alone does not choose such an index. A search without conditions reads all rows of any index,
 * so that the price of empty shards does not decide the order of its rows.
 */
const searchPaths = (catalog: Catalog, search: Search): readonly AccessPath[] => {
  const paths = candidates(catalog, search).filter(
    ({ index }) => search.index !== undefined || unasked(catalog, index, search).length === 0,
  );
  if (search.asked.length === 0) return paths;
  const units = new Map(paths.map((path) => [path, searchPrice(catalog, path, search).readUnits]));
  const cheapest = paths.toSorted((a, b) => (units.get(a) ?? 0) - (units.get(b) ?? 0));
  const isWhole = ({ index }: AccessPath): boolean => index.projection === "ALL";
  const whole = cheapest.filter(isWhole);
  const rest = cheapest.filter((path) => !isWhole(path));
  return paths[0] && isWhole(paths[0]) ? [...whole, ...rest] : [...rest, ...whole];
};

/**
 * The cheapest way to the items of a search.
 *
 * @throws {plan.noIndex} when no key serves it
 */
export const searchPath = (catalog: Catalog, search: Search): AccessPath => {
  const [best] = searchPaths(catalog, search);
  return best ?? refuse(catalog, search);
};

/** The ways to the items of a search that are not taken, and what each would cost. */
export const alternativesOf = (catalog: Catalog, search: Search): readonly Alternative[] =>
  searchPaths(catalog, search)
    .slice(1)
    .map((path) => {
      const { requests, readUnits } = searchPrice(catalog, path, search);
      return { index: path.index.name, requests, readUnits };
    });

/** The searches at the bottom of a plan. */
export const searchesOf = (plan: LogicalPlan): readonly Search[] => {
  if (plan.kind === "search") return [plan];
  if (plan.kind === "filter") return searchesOf(plan.input);
  return plan.kind === "merge" ? plan.inputs.flatMap(searchesOf) : [];
};

// The index that serves every one of several searches at the lowest price; they then share its order.
const sharedIndex = (catalog: Catalog, searches: readonly Search[]): string => {
  const ways = searches.map((search) => ({ search, paths: searchPaths(catalog, search) }));
  const names = (ways[0]?.paths ?? []).map(({ index }) => index.name).filter((name) => name !== undefined);
  const priced = names.flatMap((name) => {
    const each = ways.map(({ search, paths }) => ({ search, path: paths.find(({ index }) => index.name === name) }));
    if (!each.every(({ path }) => path)) return [];
    return [{ name, units: each.reduce((sum, { search, path }) => sum + (path ? searchPrice(catalog, path, search).readUnits : 0), 0) }];
  });
  const [shared] = priced.toSorted((a, b) => a.units - b.units);
  if (shared) return shared.name;
  for (const search of searches) searchPath(catalog, search);
  const kinds = searches.map(({ name }) => name);
  const mend = catalog.escapes ? "Declare them as entries of one index" : "Give the layout an index that answers for all of them";
  throw new EdgetableError(
    "plan.noIndex",
    `No one index holds ${quoted(kinds)}, so that they have no common order. ${mend}, or ask for each alone.`,
    { details: { kinds } },
  );
};

const onIndex = (plan: LogicalPlan, index: string): LogicalPlan => {
  if (plan.kind === "filter") return { ...plan, input: onIndex(plan.input, index) };
  return plan.kind === "search" ? { ...plan, index } : plan;
};

/**
 * Several searches, each told to use the one index that gives all of them one order.
 *
 * @throws {plan.noIndex} when there is none
 */
export const onSharedIndex = (catalog: Catalog, merge: Merge): Merge => {
  const index = sharedIndex(catalog, searchesOf(merge));
  return { kind: "merge", inputs: merge.inputs.map((input) => onIndex(input, index)) };
};
