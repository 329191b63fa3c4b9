import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Condition, pathsOf } from "../ir/condition.ts";
import type { Filter, LogicalPlan, Merge, Search } from "../ir/logical-plan.ts";
import {
  type Catalog,
  definitionOf,
  projectedAttributes,
  idPaths,
  type Index,
  keyAttributes,
  kindShapes,
  type Shape,
} from "../schema/catalog.ts";
import { accessPaths, fixesField, gapsOf, TABLE_ITSELF, inShape, pathOn, rangesOver, takesField, type AccessPath } from "./access-path.ts";
import type { Template } from "../keys/template.ts";
import { jsonText } from "../util/json-text.ts";
import { KEY_FORMATS } from "../schema/attribute-kind.ts";
import { valueType } from "../schema/value-types.ts";
import { own } from "../util/row.ts";
import { startsAtZero } from "../schema/derived.ts";
import { attributesOf } from "../schema/facts.ts";
import { partitionsOn } from "./assumed-rows.ts";
import { searchRows } from "./assumed-searches.ts";
import { type Choice, choicesFor, choosePath, priced, ranked, searchesOf, type Planning, type Searching } from "./choose-path.ts";
import { tellsIds } from "./projected-attributes.ts";
import { canRange, exactRanges, filtered } from "./filter-rules.ts";

const idFields = (catalog: Catalog, shape: Shape): readonly string[] => idPaths(catalog, shape).map((path) => inShape(shape, path));

/**
 * The attributes of an index's key that items may lack and that the search does not compare. An index leaves out items without
 * them, so if there are any, it may lack items of the search.
 */
const unaskedAttributes = (catalog: Catalog, index: Index, search: Search): readonly string[] => {
  const unasked: string[] = [];
  const { aggregates, summaries } = catalog.facts;
  for (const shape of kindShapes(catalog, search)) {
    if (shape.sparse.length === 0) continue;
    // Edgetable keeps counts and sums from the first row on, so every item has them once its table is migrated.
    const kept = [...aggregates, ...summaries].filter(
      (fact) => ("node" in fact ? fact.node : fact.edge) === shape.definition && fact.freshness !== "batch" && startsAtZero(fact.operation),
    );
    const asked = new Set(search.present.map((path) => inShape(shape, path)));
    for (const attribute of keyAttributes(index)) {
      for (const field of gapsOf(catalog, shape, attribute, asked)) {
        if (kept.some((fact) => fact.attribute === field)) continue;
        unasked.push(field);
      }
    }
  }
  return unasked;
};

/** The path with keys that may contain an empty text. Only keys of derived values do. */
const withEmpty = (path: AccessPath): AccessPath => {
  const { index, partition, prefix } = path;
  if (index.name === undefined) return path;
  const loose = (template: Template): Template => ({ ...template, loose: true });
  return { ...path, partition: loose(partition), prefix: prefix && { ...prefix, template: loose(prefix.template) } };
};

/** All paths to items of a search, including sparse indexes, which may find only some of the items. */
const allCandidates = (catalog: Catalog, search: Search, anyway = false): readonly AccessPath[] => {
  const known = new Set(search.known.map(({ path }) => path));
  const sets = [kindShapes(catalog, search)];
  const implied = anyway || search.index !== undefined ? "all" : search.implied;
  const found = accessPaths(catalog, { sets, known, anchor: [], consistent: false, index: search.index, implied });
  const paths = catalog.escapes ? found.map(withEmpty) : found;
  if (search.index !== undefined) return paths;
  return paths.filter((path) => {
    const projected = projectedAttributes(catalog, path.index);
    if (projected && !path.shapes.every((shape) => tellsIds(catalog, shape, projected))) return false;
    if (search.asked.length === 0) return true;
    return search.known.some((field) => takesField(path, field.path)) || search.ranged.some((field) => rangesOver(path, field));
  });
};

const quoted = (names: readonly string[]): string => [...new Set(names)].map((name) => `"${name}"`).join(" and ");

/** The leading levels of an index that are in its partition key. A search has to give a value for each. */
const leadingOf = (index: Index, shape: Shape): readonly string[] =>
  index.partitionKeys
    .flatMap((attribute) => shape.keys[attribute]?.parts ?? [])
    .flatMap((part) => (part.kind === "field" && part.format.kind !== "shard" ? [part.path] : []));

/**
 * The fields by which an index's keys find a shape's items, in order; an empty list if the keys begin with a whole id or with that
 * of an end.
 */
const foundBy = (catalog: Catalog, index: Index, shape: Shape): readonly string[] => {
  const ids = new Set(idFields(catalog, shape));
  const divided = leadingOf(index, shape);
  const sorted = index.sortKeys.flatMap((attribute) => shape.keys[attribute]?.fields ?? []);
  const named = divided.filter((path) => ids.has(path)).length;
  if (named > 0 && (named === ids.size || shape.kind === "edge")) return [];
  return [...new Set([...divided, ...sorted.filter((path) => !ids.has(path))])];
};

/** The compared fields of a search, which an index would need to have in its key. */
const askedBy = ({ known, ranged }: Search): readonly string[] => [...known.map(({ path }) => path), ...ranged];

const noIndex = (search: Search, message: string): EdgetableError =>
  new EdgetableError("plan.noIndex", message, { details: { definition: search.name, asked: askedBy(search), index: search.index } });

/** What to declare so that an index serves the search. */
const declaration = (catalog: Catalog, search: Search, takenNames: ReadonlyMap<string, unknown>): string => {
  const asked = askedBy(search).filter((path) => !path.includes("."));
  const [only] = asked;
  // A tenant's connection reads only partitions of that tenant.
  const tenant = Object.keys(catalog.tenant ?? {}).filter((field) => askedBy(search).some((path) => path.split(".").at(-1) === field));
  const by = [...new Set([...tenant, ...asked])];
  const [shape] = kindShapes(catalog, search);
  const definition = shape && definitionOf(catalog, shape);
  const types = new Map(by.map((path) => [path, definition && valueType(catalog.definition, definition, path)]));
  const levels = [...types].map(([path, type]) => {
    const format = type && own(KEY_FORMATS, type);
    return JSON.stringify(format ? `${path}:${format}` : path);
  });
  const list = levels.length > 1 ? `[${levels.join(",")}]` : (levels[0] ?? '"…"');
  const value = tenant.length > 0 ? `{ by: ${list}, split: ${tenant.length} }` : list;
  const name = takenNames.has("byValue") ? `by${(only ?? "other").replace(/^./, (first) => first.toUpperCase())}` : "byValue";
  if (catalog.escapes) {
    const untold = types.size === 0 ? "age" : [...types].find(([path, type]) => type === undefined && !tenant.includes(path))?.[0];
    const hint = untold === undefined ? "" : ` Add the format of an attribute that is not text, such as "${untold}:number".`;
    const names = definition && attributesOf(definition);
    const lacking = search.of === "edge" ? tenant.filter((field) => names?.includes(field) === false) : [];
    const copied =
      lacking.length === 0 ? "" : ` "${search.name}" needs ${quoted(lacking)} for it: copies: { from: ${JSON.stringify(lacking)} }.`;
    return `Declare an index: indexes: { ${name}: { entries: { ${search.name}: ${value} } } }.${hint}${copied}`;
  }
  // If the attribute has the name of an index key, the template of that key is missing.
  const stored = only === undefined ? undefined : (shape?.stored[only] ?? only);
  const plain = catalog.indexes.find(({ partitionKeys }) => stored && partitionKeys.includes(stored) && !(stored in (shape?.keys ?? {})));
  const key = plain && `; for "${plain.name}" compute its key: keys: { ${JSON.stringify(stored)}: "{${only}}" } in place of attributes`;
  return `Give the layout an index whose keys begin with ${only === undefined ? "what it is found by" : `{${only}}`}${key ?? ""}.`;
};

/** Describes which items of a path have the index's keys. */
const conditionOf = ({ index, shapes }: AccessPath): string => {
  const whens = shapes.flatMap(({ keys }) => keyAttributes(index).flatMap((attribute) => keys[attribute]?.when ?? []));
  const each = whens.map(({ path, values }) => {
    const texts = values?.map((value) => (value === undefined ? "missing" : jsonText(value)));
    return `"${path}" is ${texts?.join(" or ") ?? "there"}`;
  });
  return [...new Set(each)].join(" and ");
};

/** @throws {plan.noIndex} always, with a message that says what is missing, and which indexes find such items by other fields */
const refuse = (catalog: Catalog, search: Search): never => {
  const asked = askedBy(search);
  const by = asked.length === 0 ? "" : ` by ${quoted(asked)}`;
  const [sparse] = allCandidates(catalog, search);
  if (sparse) {
    const name = sparse.index.name ?? "";
    const needed = quoted(unaskedAttributes(catalog, sparse.index, search));
    throw noIndex(
      search,
      `"${name}" is sparse: it finds "${search.name}"${by} only with ${needed}. Ask for that too, or name the index: using("${name}").`,
    );
  }
  const [conditional] = allCandidates(catalog, search, true);
  if (conditional) {
    const name = conditional.index.name ?? "";
    throw noIndex(
      search,
      `"${name}" holds "${search.name}" only while ${conditionOf(conditional)}. Ask for that too, or name the index: using("${name}").`,
    );
  }
  const where = search.index === undefined ? "No index finds" : `The index "${search.index}" does not find`;
  const [shape] = kindShapes(catalog, search);
  const ids = shape ? idFields(catalog, shape) : [];
  if (search.index !== undefined && ids.length > 0 && ids.every((path) => search.known.some((one) => one.path === path)))
    throw noIndex(search, `${where} "${search.name}"${by}. Leave out using("${search.index}"): an id needs no index.`);
  const others = new Map(shape && catalog.indexes.map((index) => [index.name ?? "", foundBy(catalog, index, shape)] as const));
  for (const [index, fields] of others) if (fields.length === 0) others.delete(index);
  const found = (how: string): string =>
    [...others].map(([index, paths]) => `; "${index}" does by ${how}${paths.map((path) => `"${path}"`).join(", then ")}`).join("");
  const named = asked.length === 0 && shape ? catalog.indexes.find(({ name }) => name === search.index) : undefined;
  const leading = named && shape ? leadingOf(named, shape) : [];
  if (leading.length === ids.length && leading.every((path) => ids.includes(path)) && ids.length > 0)
    throw noIndex(search, `${where} "${search.name}" but by its id, ${quoted(leading)}. Get it by its id, or scan() the table for all.`);
  if (leading.length > 0)
    throw noIndex(search, `${where} "${search.name}" without ${quoted(leading)}, with which its keys begin. Give that in where().`);
  const whole = asked.length === 0 && [...others.keys()].find((index) => allCandidates(catalog, { ...search, index }).length > 0);
  if (whole) {
    const instead = `${found("a value other than null, a range or a prefix of ")}. Ask by that, or for all that it holds: using("${whole}").`;
    throw noIndex(search, `${where} "${search.name}" by what is asked${instead}`);
  }
  const known = new Set(search.known.map(({ path }) => path));
  for (const index of asked.length > 0 && shape && search.index === undefined ? catalog.indexes : []) {
    const paths = others.get(index.name ?? "") ?? [];
    const lacking = leadingOf(index, shape!).filter((path) => !known.has(path));
    if (lacking.length === 0 || lacking.length === paths.length || !asked.every((path) => paths.includes(path))) continue;
    const missing = lacking.length === 1 ? `its leading level ${quoted(lacking)}` : `its leading levels ${quoted(lacking)}`;
    throw noIndex(
      search,
      `${where} "${search.name}"${by} alone: "${index.name}" needs ${missing} too. Give it in where(), or declare an index that begins with ${quoted(asked.slice(0, 1))}.`,
    );
  }
  throw noIndex(search, `${where} "${search.name}"${by}${found("")}. ${declaration(catalog, search, others)}`);
};

/** @throws {plan.unsupported} if no path is spread over shards, @throws {plan.invalidOption} for a shard that does not exist */
const listedShards = (paths: readonly AccessPath[], { name, shards = [] }: Search): readonly AccessPath[] => {
  const isShard = (part: Template["parts"][number]): boolean => part.kind === "field" && part.format.kind === "shard";
  const spread = paths.filter(({ scatters, partition }) => scatters && partition.parts.filter(isShard).length === 1);
  const [first] = spread;
  if (!first) {
    const read = paths[0]?.index.name;
    throw new EdgetableError(
      "plan.unsupported",
      `shards(${shards.join(", ")}): what is asked of "${name}" lies in one partition${read === undefined ? "" : ` of "${read}"`}, or no one number names its shard. Leave shards() out.`,
      { details: { definition: name, shards } },
    );
  }
  const most = Math.max(...spread.map((path) => partitionsOn(path)));
  const beyond = shards.find((shard) => shard >= most);
  if (beyond !== undefined)
    throw new EdgetableError("plan.invalidOption", `shards: there is no shard ${beyond} of "${name}": they are 0 to ${most - 1}.`, {
      details: { definition: name, shards },
    });
  return spread.map((path) => ({ ...path, only: shards }));
};

const choices: Searching["choices"] = (catalog, search, given) => {
  // Paths to all items of the search; with `using`, to all items that the index contains.
  const holding = allCandidates(catalog, search);
  const all = search.index === undefined ? holding.filter(({ index }) => unaskedAttributes(catalog, index, search).length === 0) : holding;
  const paths = search.shards && all.length > 0 ? listedShards(all, search) : all;
  // The rows of an index are assumed to be spread evenly over its shards.
  const part = (path: AccessPath): number => (path.only ? path.only.length / partitionsOn({ ...path, only: undefined }) : 1);
  // A search without conditions reads all rows in every index. The price of empty shards must not decide the order of its rows.
  return ranked(
    paths.map((path) => priced(catalog, path, Math.ceil(searchRows(catalog, path, given) * part(path)))),
    given,
    search.asked.length > 0,
  );
};

const onIndex = (plan: LogicalPlan, index: string): LogicalPlan => {
  if (plan.kind === "filter") return { ...plan, input: onIndex(plan.input, index) };
  return plan.kind === "search" ? { ...plan, index } : plan;
};

/**
 * Makes several searches use the index, or the table, that serves all of them at the lowest price, so that they share its order.
 *
 * @throws {plan.noIndex} if no index serves all of them
 */
const onSharedIndex = (planning: Planning, merge: Merge): Merge => {
  const searches = searchesOf(merge);
  if (searches.every(({ index }) => index !== undefined && index === searches[0]?.index)) return merge;
  const units = new Map<string, number>();
  for (const [at, search] of searches.entries()) {
    const ways = choicesFor(planning, search).map(({ path, readUnits }) => ({ name: path.index.name ?? TABLE_ITSELF, readUnits }));
    for (const { name, readUnits } of ways) {
      const before = at === 0 ? 0 : units.get(name);
      if (before !== undefined) units.set(name, before + readUnits);
    }
    const names = new Set(ways.map(({ name }) => name));
    for (const name of units.keys()) if (!names.has(name)) units.delete(name);
  }
  const [shared] = [...units].toSorted(([, a], [, b]) => a - b);
  if (shared) return { kind: "merge", inputs: merge.inputs.map((input) => onIndex(input, shared[0])) };
  // If no index serves one of the searches by itself, its own error is thrown.
  for (const search of searches) choosePath(planning, search);
  const kinds = [...new Set(searches.map(({ name }) => name))];
  const mend = planning.catalog.escapes ? "Declare them as entries of one index" : "Give the layout an index that answers for all of them";
  throw new EdgetableError(
    "plan.noIndex",
    `No single index holds ${kinds.map((kind) => `"${kind}"`).join(" and ")}, so they have no common order. ${mend}, or ask for each alone.`,
    { details: { kinds: searches.map(({ name }) => name) } },
  );
};

/**
 * True if one key condition expresses the range of every search: all compare the same field in the same way, and it comes next in
 * all their keys in the same form.
 */
const takesRanges = ({ index, prefix, shapes }: AccessPath, searches: readonly Search[]): boolean => {
  const slotsOf = ({ range }: Search): string => range.map(({ slot }) => slot).join();
  const [first] = searches;
  if (!first || searches.some((search) => slotsOf(search) !== slotsOf(first))) return false;
  if (first.range.length === 0) return true;
  const at = prefix?.next?.at;
  if (at === undefined) return false;
  // The field, the text that ends it in the key, and its format.
  const formOf = ({ keys }: Shape): string => {
    const template = keys[index.sortKey ?? ""];
    const [field, end] = template?.parts.slice(at, at + 2) ?? [];
    const { type, delimiter, escapes, loose, joined } = template ?? {};
    return JSON.stringify([field, end?.kind === "literal" ? end.text[0] : end, type, delimiter, escapes, loose, joined]);
  };
  const fits = ({ path }: Condition): boolean => rangesOver({ prefix, shapes } as AccessPath, path);
  return first.range.every(fits) && new Set(shapes.map(formOf)).size === 1;
};

/**
 * Several kinds in one partition of the table or of an index: one Query reads what a Query for each would. A kind keeps its own
 * Query if its sort key is more specific than the common one, or if items of other kinds may be between its items and the others.
 */
const oneQuery: Searching["oneQuery"] = (planning, { inputs }) => {
  const { catalog } = planning;
  const leaves = inputs.map((input) =>
    input.kind === "filter" ? { search: input.input, conditions: input.conditions } : { search: input, conditions: [] },
  );
  const searches = leaves.flatMap(({ search }) => (search.kind === "search" ? [search] : []));
  const [first] = searches;
  if (!first || searches.length < leaves.length) return undefined;
  const knownOf = ({ known }: Search): string => JSON.stringify(known);
  if (new Set(searches.map(({ name }) => name)).size < searches.length || searches.some((one) => knownOf(one) !== knownOf(first)))
    return undefined;
  const chosen = searches.map((search) => choosePath(planning, search));
  const isBeside = ({ path: { index, scatters } }: Choice): boolean => index.name === chosen[0]?.path.index.name && !scatters;
  if (!chosen.every(isBeside) || searches.some(({ select }) => select !== undefined)) return undefined;
  const shapes = chosen.flatMap(({ path }) => path.shapes);
  // A node's item is also the row of each reference that it contains.
  if (new Set(shapes.map(({ keys }) => keys)).size < shapes.length) return undefined;
  const known = new Set(first.known.map(({ path }) => path));
  const path = pathOn(catalog, { index: chosen[0]!.path.index, shapes, known, implied: "all" });
  if (!path || path.sharesPrefix || !takesRanges(path, searches)) return undefined;
  const isTaken = (field: string): boolean => path.fixes.has(field) || path.folds.has(field);
  const isExact = ({ path: { index, fixes, prefix } }: Choice): boolean =>
    index.sortKey === path.index.sortKey &&
    [...fixes].every((field) => path.fixes.has(field)) &&
    (prefix?.template.fields.every(isTaken) ?? true);
  if (!chosen.every(isExact)) return undefined;
  const isOnServer = (condition: Condition): boolean =>
    searches.every(({ filter }) => filter.some(({ slot }) => slot === condition.slot)) &&
    pathsOf([condition]).every((name) => shapes.every(({ stored }) => (stored[name] ?? name) === (shapes[0]!.stored[name] ?? name)));
  const filters = new Map(searches.flatMap(({ filter }) => filter).map((condition) => [condition.slot, condition]));
  const filter = [...filters.values()].filter(isOnServer);
  const inMemory = new Map(leaves.flatMap(({ conditions }) => conditions).map((condition) => [condition.slot, condition]));
  for (const condition of filters.values()) if (!filter.includes(condition)) inMemory.set(condition.slot, condition);
  const rows = chosen.reduce((sum, one) => sum + one.rows, 0);
  const bytes = chosen.reduce((sum, one) => sum + one.rows * one.bytes, 0) / Math.max(1, rows);
  return { path, search: { ...first, filter }, rows, bytes, conditions: [...inMemory.values()] };
};

const pushConditions = (planning: Planning, { conditions }: Filter, search: Search): LogicalPlan => {
  const { path } = choosePath(planning, search);
  const known = new Set(search.known.flatMap(({ slot, of }) => [slot, of ?? slot]));
  const range = conditions.filter((condition) => rangesOver(path, condition.path) && canRange(path.shapes, condition, path.index.sortKey));
  const taken = new Set(exactRanges(path.shapes, range, path.index.sortKey));
  for (const condition of conditions) if (known.has(condition.slot) && fixesField(path, condition.path)) taken.add(condition);
  return filtered(
    { ...search, range: [...search.range, ...range] },
    conditions.filter((condition) => !taken.has(condition)),
  );
};

/** Plans searches. */
export const searching: Searching = { choices, refuse, onSharedIndex, oneQuery, pushConditions };
