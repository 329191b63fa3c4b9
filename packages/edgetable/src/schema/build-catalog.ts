import { type OneWayText, parseTemplate, type Sharding, type Template } from "../keys/template.ts";
import { mapValues, own } from "../util/row.ts";
import {
  carries,
  type Fill,
  type FormerField,
  holdsAlways,
  indexNamed,
  keyAttributes,
  type KeySource,
  type KindMatch,
  type Shape,
  type Catalog,
  type EdgeEntry,
  type EndEntry,
  type NodeEntry,
  type PartEntry,
} from "./catalog.ts";
import { defaultLayout } from "./default-layout.ts";
import { endTypes, type GraphDefinition, type AnyEdge, type AnyNode, type AnyPart } from "./definition.ts";
import type { FormerSettings } from "./former.ts";
import { datesOf, derivedNames, factsOf } from "./facts.ts";
import { type ItemLayout, type KeyCondition, type Layout, type ShardingLayout, countList, keyType } from "./layout.ts";
import { attributeNames, requiresValue } from "./standard-schema.ts";
import { timeNames, timesOf } from "./timestamps.ts";

/** Texts for the macros in a layout's key templates, such as `from` for the source's key. */
export type Macros = Readonly<Record<string, string>>;

const FIELD = /\{([^{}]*)\}/g;

/** A template with each field's path under a prefix: `A#{x:6}` under `to` is `A#{to.x:6}`. */
export const underPath = (prefix: string, source: string): string => source.replace(FIELD, (_, path: string) => `{${prefix}.${path}}`);

/** A template with renamed fields; formats stay. */
export const withFieldNames = (source: string, names: Readonly<Record<string, string>>): string =>
  source.replace(FIELD, (_, text: string) => {
    const [given = "", ...format] = text.split(":");
    const name = given.replace(/\?$/, "");
    return `{${[(names[name] ?? name) + given.slice(name.length), ...format].join(":")}}`;
  });

/** A template with expanded macros. `{key:shard(8)}` becomes the shard of the key's last field, which distinguishes most. */
export const expand = (source: string, macros: Macros): string =>
  source.replace(FIELD, (whole, text: string) => {
    if (Object.hasOwn(macros, text)) return macros[text] ?? whole;
    const [name = "", ...format] = text.split(":");
    if (!Object.hasOwn(macros, name) || !format[0]?.startsWith("shard(")) return whole;
    const last = [...(macros[name] ?? "").matchAll(FIELD)].at(-1)?.[1];
    return last === undefined ? whole : `{${last.split(":")[0]}:${format.join(":")}}`;
  });

/** The context in which the template of a computed attribute is parsed. */
export interface KeyContext {
  readonly macros: Macros;
  readonly item: ItemLayout | undefined;
  readonly layout: Layout;
  readonly escapes: boolean;
}

const toSharding = ({ count, per, hot = {} }: ShardingLayout): Sharding => ({
  counts: countList(count),
  ...(per === undefined ? {} : { per: { path: per, steps: per.split(".") } }),
  hot: mapValues(hot, countList),
});

/**
 * Parses the template of one computed attribute.
 *
 * @throws {schema.invalidModel} when it is malformed
 */
export const parseKey = (attribute: string, source: string, { macros, item, layout, escapes }: KeyContext): Template => {
  const condition = own(item?.when ?? {}, attribute);
  return parseTemplate(expand(source, macros), {
    delimiter: own(item?.delimiters ?? {}, attribute) ?? layout.delimiter ?? "#",
    escapes,
    beside: !escapes && ![layout, ...Object.values(layout.indexes ?? {})].some((key) => keyAttributes(key).includes(attribute)),
    reserves: !escapes && (attribute === layout.partitionKey || attribute === layout.sortKey),
    type: keyType(layout, attribute),
    shardings: layout.shards && mapValues(layout.shards, toSharding),
    ends: Object.hasOwn(macros, "from") ? ["from", "to"] : [],
    when:
      condition &&
      Object.entries(condition).map(([path, given]) => {
        const { exists } = Object(given) as { readonly exists?: boolean };
        return { path, values: exists === undefined ? [given].flat() : exists ? undefined : [undefined] };
      }),
  });
};

/** What distinguishes one kind of item: the rest follows from its definition and the layout. */
interface ShapeSeed extends Pick<Shape, "id" | "kind" | "definition" | "role" | "from" | "to"> {
  readonly copied?: readonly string[] | undefined;
  readonly several?: boolean;
  readonly macros: Macros;
  /** Template of the partition key, unless the item's layout gives one. A macro where it may be one: an id field may be called as a macro is. */
  readonly partition: string;
  readonly sort?: string;
  readonly item: ItemLayout | undefined;
  readonly settings: AnyNode | AnyEdge | AnyPart;
}

type Templates = Readonly<Record<string, Template>>;

/**
 * Conditions of index keys, with those of another key of the index where one has none: an item has all keys or none. An attribute
 * of the row is there in any case.
 */
const wholeConditions = ({ when = {}, keys = {}, attributes = {} }: ItemLayout, layout: Layout): Readonly<Record<string, KeyCondition>> => {
  const whole: Record<string, KeyCondition> = { ...when };
  if (Object.keys(when).length === 0) return whole;
  const others = Object.values(layout.indexes ?? {});
  const isOfRow = (name: string): boolean => fieldNames(own(keys, name) ?? "").some((field) => (own(attributes, field) ?? field) === name);
  for (const names of others.map(keyAttributes)) {
    const condition = names.map((name) => own(when, name)).find((one) => one !== undefined);
    for (const name of condition ? names : []) {
      const isShared = others.filter((index) => keyAttributes(index).includes(name)).length > 1;
      if (!isShared && !isOfRow(name) && !keyAttributes(layout).includes(name)) whole[name] ??= condition!;
    }
  }
  return whole;
};

/**
 * The computed attributes that a row's fields are read from: the table's keys, then others for fields that no earlier one
 * carries. In Edgetable's own layout only the table's keys carry fields, so that indexes can come and go.
 */
const findSources = (keys: Templates, tableKeys: readonly string[], escapes: boolean): readonly KeySource[] => {
  const known = new Set<string>();
  const sources: KeySource[] = [];
  for (const attribute of escapes ? tableKeys : new Set([...tableKeys, ...Object.keys(keys)])) {
    const template = keys[attribute];
    const fresh = (template?.carried ?? []).filter((path) => !known.has(path));
    if (template && fresh.length > 0) sources.push({ attribute, template });
    for (const path of fresh) known.add(path);
  }
  return sources;
};

/** Further keys that carry a field whose source an item may lack, because it is sparse, or an index, because it projects a part. */
const findSpares = (keys: Templates, read: Pick<Shape, "sources" | "sparse">, { indexes = {} }: Layout): readonly KeySource[] => {
  const partial = Object.values(indexes).flatMap((index) => ((index.projection ?? "ALL") === "ALL" ? [] : keyAttributes(index)));
  const all = Object.entries(keys).map(([attribute, template]): KeySource => ({ attribute, template }));
  const isRead = (spare: KeySource): boolean => read.sources.some(({ attribute }) => attribute === spare.attribute);
  const mayServe = ({ attribute, template }: KeySource): boolean =>
    template.carried.some((path) => partial.includes(attribute) || !holdsAlways(read, read.sources.find(carries(path))!));
  return all.filter((spare) => !isRead(spare) && mayServe(spare));
};

/** What the table's keys say of a row's fields. */
interface KeyedFields {
  /** Fields that can be read from them. */
  readonly carried: ReadonlySet<string>;
  /** Fields that they hold in lower or upper case only. */
  readonly folded: Readonly<Record<string, OneWayText>>;
}

const keyedFields = (tableKeys: readonly string[], keys: Templates): KeyedFields => {
  const templates = tableKeys.map((attribute) => keys[attribute]).filter((template) => template !== undefined);
  const carried = new Set(templates.flatMap((template) => template.carried));
  const folded: Record<string, OneWayText> = {};
  for (const { parts } of templates)
    for (const part of parts) {
      if (part.kind === "literal" || carried.has(part.path)) continue;
      const { kind } = part.format;
      if (kind === "lower" || kind === "upper" || kind === "written") folded[part.path] = kind;
    }
  return { carried, folded };
};

/** The paths, of the given ones, that no key of the table holds. */
const unkeyedPaths = (paths: readonly string[], { carried, folded }: KeyedFields): readonly string[] =>
  paths.filter((path) => !carried.has(path) && !Object.hasOwn(folded, path));

/** A key as it is read. A derived attribute, to which other writes add, is stored beside an index key that holds it. */
const withoutDerived = (template: Template, attribute: string, { settings, item }: ShapeSeed): Template => {
  const derived = "derived" in settings && settings.derived;
  if (!derived) return template;
  const isBeside = (field: string): boolean => field in derived && (item?.attributes?.[field] ?? field) !== attribute;
  return { ...template, carried: template.carried.filter((field) => !isBeside(field)) };
};

type Names = Readonly<Record<string, string>>;

const formerFields = ({ renamed = {}, retyped = {} }: FormerSettings, stored: Names): Readonly<Record<string, FormerField>> | undefined => {
  const names = Object.keys({ ...renamed, ...retyped });
  const former: Record<string, FormerField> = {};
  for (const name of names) {
    const [renaming, retyping, now] = [renamed[name], retyped[name], stored[name] ?? name];
    const { from, stored: form } = typeof renaming === "string" ? { from: renaming } : (renaming ?? { from: now });
    former[name] = { old: from, now, stored: form ?? retyping?.stored ?? "old", retyping };
  }
  return names.length === 0 ? undefined : withoutPrototype(former);
};

const DEFAULT_BYTES = 200;

interface Context {
  readonly definition: GraphDefinition;
  readonly layout: Layout;
  readonly escapes: boolean;
}

const headOf = (path: string): string => path.split(".")[0] ?? path;

/** A key with a filled field changes with what fills it, which may be missing. */
const withFills = (template: Template, fills: readonly Fill[]): Template => {
  const filled = fills.filter(({ field }) => template.within.includes(field));
  if (filled.length === 0) return template;
  const sources = filled.flatMap((fill) => fill.sources);
  const heads = sources.flatMap((source) => [...source.template.fields, ...(source.with === undefined ? [] : [source.with])].map(headOf));
  const within = template.within.filter((path) => !filled.some(({ field }) => field === path));
  const optional = [...template.optional, ...heads.filter((path) => !template.fields.includes(path))];
  return Object.freeze({ ...template, within: [...new Set([...within, ...heads])], optional });
};

/** Sparse keys all of whose fields may be missing: an item has both keys of the index if its row has one of the fields. */
const withEither = (keys: Templates, sparse: readonly string[], { indexes = {} }: Layout): Templates => {
  const whole: Record<string, Template> = { ...keys };
  for (const names of Object.values(indexes).map(keyAttributes)) {
    const any = [...new Set(names.flatMap((name) => own(keys, name)?.fields ?? []))];
    const mayEnd = (name: string): boolean | undefined =>
      sparse.includes(name) && own(keys, name)?.parts.every((part) => part.kind === "literal" || part.mayEnd);
    if (any.length === 0 || !names.every(mayEnd)) continue;
    for (const name of names) whole[name] = Object.freeze({ ...keys[name]!, any, within: [...new Set([...keys[name]!.within, ...any])] });
  }
  return whole;
};

/** Resolves one kind of item against the layout. */
const buildShape = (seed: ShapeSeed, { definition, layout, escapes }: Context): Shape => {
  const { macros, partition, sort, item: given, settings, ...identity } = seed;
  const item = given && { ...given, when: wholeConditions(given, layout) };
  const templates: Record<string, string> = { [layout.partitionKey]: partition };
  if (sort !== undefined && layout.sortKey !== undefined) templates[layout.sortKey] = sort;
  Object.assign(templates, item?.keys);
  // Records by attribute have no prototype: an attribute may be called "constructor".
  const context = { macros, item, layout, escapes };
  const fills = Object.entries(item?.fill ?? {}).map(([field, filling]): Fill => {
    const each = filling.map((source) => (typeof source === "string" ? { with: undefined, value: source } : source));
    const parse = (source: string): Template => parseKey(field, source, { ...context, item: undefined });
    return { field, sources: each.map((source) => ({ with: source.with, template: parse(source.value) })) };
  });
  const parsed = mapValues(templates, (source, attribute) => withFills(parseKey(attribute, source, context), fills));
  const sparse = item?.sparse ?? [];
  const told = mapValues(parsed, (template, attribute) => withoutDerived(template, attribute, seed));
  const keys = withoutPrototype(escapes ? parsed : withEither(told, sparse, layout));
  const tableKeys = keyAttributes(layout);
  const keyed = keyedFields(tableKeys, keys);
  const sources = findSources(keys, tableKeys, escapes);
  const named = item?.attributes ?? {};
  const former = formerFields(settings, named);
  const all = Object.entries(former ?? {});
  const olds = all.flatMap(([name, { old, stored: form }]) => (form === "old" && old !== name ? [[name, old] as const] : []));
  const stored = withoutPrototype({ ...named, ...Object.fromEntries(olds) });
  const both = all.flatMap(([name, { old, now }]) => [[old, name] as const, [now, name] as const]);
  const carried = [...new Set(sources.flatMap(({ template }) => template.carried))];
  const endPaths = carried.filter((path) => path.startsWith("from.") || path.startsWith("to."));
  return Object.freeze({
    ...identity,
    dates: datesOf(definition, settings),
    version: settings.version ?? false,
    times: timesOf(settings),
    ttl: settings.ttl,
    bytes: settings.expect?.bytes ?? DEFAULT_BYTES,
    typeValue: layout.typeAttribute === undefined || item?.type === false ? undefined : (item?.type ?? seed.definition),
    match: Object.entries(item?.match ?? {}).map(([field, condition]): KindMatch => {
      const one = { field, attribute: named[field] ?? field };
      if (typeof condition !== "object") return { ...one, values: [condition] };
      return "length" in condition ? { ...one, values: condition } : { ...one, ...condition };
    }),
    fills,
    keys,
    sparse,
    required: sparse.flatMap((attribute) => own(keys, attribute)?.fields ?? []).filter((field) => requiresValue(settings.schema, field)),
    halves: item?.halves ?? false,
    stored,
    fields: Object.fromEntries([...both, ...Object.entries(stored).map(([name, attribute]) => [attribute, name] as const)]),
    former,
    carried,
    unkeyed: seed.kind === "edge" ? unkeyedPaths(endPaths, keyed) : [],
    folded: withoutPrototype(keyed.folded),
    sources,
    spares: escapes ? [] : findSpares(keys, { sources, sparse }, layout),
    several: seed.several ?? false,
    copied: seed.copied,
    alias: undefined,
  });
};

/** Edges are resolved after the nodes that they connect. */
interface EdgeContext extends Context {
  readonly nodes: Readonly<Record<string, NodeEntry>>;
}

/** Names of the fields in a key template, in order. */
export const fieldNames = (key: string): readonly string[] =>
  [...key.matchAll(/\{([^{}:]+)(?::[^{}]*)?\}/g)].map((match) => match[1] ?? "");

/** The source node's attribute for each id field of a reference edge's target. */
const referenceFields = (edge: AnyEdge, target: AnyNode): Readonly<Record<string, string>> =>
  Object.fromEntries(fieldNames(target.key).map((name) => [name, edge.by?.[name] ?? name]));

const nodeEntry = (context: Context, name: string, definition: AnyNode): NodeEntry => {
  let item: ItemLayout = context.layout.nodes?.[name] ?? {};
  // A reference edge puts its index keys on its source node's item, with what its layout says of them.
  for (const [edgeName, edge] of Object.entries(context.definition.edges ?? {})) {
    const target = context.definition.nodes[endTypes(edge.to)[0] ?? ""];
    if (edge.stored !== "reference" || !target || !endTypes(edge.from).includes(name)) continue;
    const macros: Macros = { from: definition.key, to: withFieldNames(target.key, referenceFields(edge, target)) };
    const { keys = {}, delimiters, when, ...given } = context.layout.edges?.[edgeName] ?? {};
    // A node without the reference has no such edge and is not in its index. An adopted layout declares this itself.
    const sparse = [...(item.sparse ?? []), ...(context.escapes ? Object.keys(keys) : (given.sparse ?? []))];
    const own = { ...item.keys, ...mapValues(keys, (template) => expand(template, macros)) };
    item = { ...item, keys: own, sparse, delimiters: { ...delimiters, ...item.delimiters }, when: { ...when, ...item.when } };
    if (given.halves) item = { ...item, halves: true };
  }
  const shape = buildShape(
    {
      id: name,
      kind: "node",
      definition: name,
      role: "own",
      from: undefined,
      to: undefined,
      macros: { key: definition.key },
      partition: "{key}",
      // A node without an item has no sort key, so its id need not be a number.
      ...(definition.stored === false && context.layout.types?.[context.layout.sortKey ?? ""] === "N" ? {} : { sort: "{key}" }),
      item,
      settings: definition,
    },
    context,
  );
  return { name, definition, shape, idFields: fieldNames(definition.key), partition: shape.keys[context.layout.partitionKey]! };
};

const partEntry = (context: Context, name: string, definition: AnyPart): PartEntry => {
  const owner = context.definition.nodes[definition.of]?.key ?? "";
  const shape = buildShape(
    {
      id: name,
      kind: "part",
      definition: name,
      role: "own",
      from: definition.of,
      to: undefined,
      macros: { owner, key: definition.key },
      partition: "{owner}",
      sort: "{key}",
      item: context.layout.parts?.[name],
      settings: definition,
    },
    context,
  );
  return { name, definition, shape, idFields: fieldNames(definition.key) };
};

/**
 * The key template of what edges lead to: a node's, or a part's after its node's. It names it in the keys of its edges, and is
 * the partition of those that leave it.
 */
export const endKey = ({ nodes, parts, layout }: GraphDefinition, type: string): string => {
  const part = parts?.[type];
  return nodes[type]?.key ?? (part ? `${nodes[part.of]?.key ?? ""}${layout?.delimiter ?? "#"}${part.key}` : "");
};

interface EdgePlace {
  readonly name: string;
  readonly edge: AnyEdge;
  readonly from: string;
  readonly to: string;
  readonly several: boolean;
}

const edgeShape = (context: Context, place: EdgePlace, role: "own" | "mirror"): Shape => {
  const { name, edge, from, to } = place;
  const layout = context.layout.edges?.[name];
  const keyOf = (type: string): string => endKey(context.definition, type);
  const macros = { from: underPath("from", keyOf(from)), to: underPath("to", keyOf(to)) };
  const mirror = role === "mirror";
  const side = mirror ? edge.sides?.to : edge.sides?.from;
  const suffix = `${place.several ? `(${from}>${to})` : ""}${mirror ? ":mirror" : ""}`;
  return buildShape(
    {
      id: name + suffix,
      kind: "edge",
      definition: name,
      role,
      from,
      to,
      several: place.several,
      // Both sides of an edge carry its times and what is copied onto it.
      copied: side && [...side, ...derivedNames(edge), ...timeNames(edge)],
      macros,
      partition: mirror ? macros.to : macros.from,
      sort: mirror ? macros.from : macros.to,
      item: mirror ? (layout?.mirror ?? {}) : layout,
      settings: edge,
    },
    context,
  );
};

const referenceShape = (context: EdgeContext, place: EdgePlace): Shape | undefined => {
  const source = context.nodes[place.from];
  const target = context.definition.nodes[place.to];
  if (!source || !target) return undefined;
  const alias: Record<string, string> = {};
  for (const field of source.idFields) alias[`from.${field}`] = field;
  for (const [field, attribute] of Object.entries(referenceFields(place.edge, target))) alias[`to.${field}`] = attribute;
  const copied = place.edge.schema ? attributeNames(place.edge.schema) : [];
  const unkeyed = new Set(unkeyedPaths(Object.values(alias), keyedFields(keyAttributes(context.layout), source.shape.keys)));
  return {
    ...source.shape,
    id: `${place.name}${place.several ? `(${place.from}>${place.to})` : ""}`,
    kind: "edge",
    several: place.several,
    definition: place.name,
    role: "reference",
    from: place.from,
    to: place.to,
    copied,
    alias,
    unkeyed: Object.keys(alias).filter((path) => unkeyed.has(alias[path] ?? "")),
  };
};

const edgeEntry = (context: EdgeContext, name: string, edge: AnyEdge): EdgeEntry => {
  const from = endTypes(edge.from);
  const to = endTypes(edge.to);
  const several = from.length * to.length > 1;
  const places = from.flatMap((source) => to.map((target): EdgePlace => ({ name, edge, from: source, to: target, several })));
  const reference = edge.stored === "reference";
  const shapes = places.flatMap((place) => (reference ? (referenceShape(context, place) ?? []) : edgeShape(context, place, "own")));
  const twice = edge.stored === "twice" && !edge.symmetric;
  const mirrors = twice ? places.map((place) => edgeShape(context, place, "mirror")) : [];
  return { name, definition: edge, from, to, shapes, mirrors, orderBy: edge.orderBy?.split(":")[0], key: edge.key ?? [] };
};

/** A copy without a prototype: a name may be any text, such as "constructor". */
const withoutPrototype = <Entry>(entries: Readonly<Record<string, Entry>>): Readonly<Record<string, Entry>> =>
  Object.assign(Object.create(null) as Record<string, Entry>, entries);

/** Resolves a model and its layout into the catalog. Expects a model without findings of `checkModel`. */
export const buildCatalog = (definition: GraphDefinition): Catalog => {
  const layout = definition.layout ?? defaultLayout(definition);
  const context: Context = { definition, layout, escapes: definition.layout === undefined };
  const nodes = withoutPrototype(mapValues(definition.nodes, (node, name) => nodeEntry(context, name, node)));
  const parts = withoutPrototype(mapValues(definition.parts ?? {}, (part, name) => partEntry(context, name, part)));
  const edges = withoutPrototype(mapValues(definition.edges ?? {}, (edge, name) => edgeEntry({ ...context, nodes }, name, edge)));
  const shapes: Shape[] = [];
  const byId: Record<string, Shape> = {};
  for (const { definition: node, shape } of Object.values(nodes)) {
    if (node.stored !== false) shapes.push(shape);
    byId[shape.id] = shape;
  }
  for (const { shape } of Object.values(parts)) {
    shapes.push(shape);
    byId[shape.id] = shape;
  }
  for (const entry of Object.values(edges)) {
    for (const shape of [...entry.shapes, ...entry.mirrors]) {
      if (shape.role !== "reference") shapes.push(shape);
      byId[shape.id] = shape;
    }
  }
  // Edges lead to nodes, and to parts.
  const ends: Record<string, EndEntry> = { ...nodes };
  for (const name of new Set(Object.values(edges).flatMap(({ from, to }) => [...from, ...to]))) {
    const part = parts[name];
    if (!part) continue;
    const partition = parseKey(layout.partitionKey, endKey(definition, name), { ...context, macros: {}, item: undefined });
    ends[name] = { ...part, idFields: [...(nodes[part.definition.of]?.idFields ?? []), ...part.idFields], partition };
  }
  const { partitionKey, sortKey, typeAttribute } = layout;
  // A table has one such attribute, which checkTtl ensures.
  const { ttl, stored } = shapes.find((shape) => shape.ttl !== undefined) ?? {};
  return Object.freeze({
    table: definition.table,
    index: indexNamed(undefined, { partitionKey, ...(sortKey === undefined ? {} : { sortKey }) }),
    indexes: Object.entries(layout.indexes ?? {}).map(([name, index]) => indexNamed(name, index)),
    typeAttribute,
    typeForm: own(layout.types ?? {}, typeAttribute ?? "") === "SS" ? "SS" : "S",
    ttl: ttl === undefined ? undefined : (stored?.[ttl] ?? ttl),
    layout,
    escapes: context.escapes,
    nodes,
    edges,
    parts,
    ends: withoutPrototype(ends),
    shapes,
    shapesById: withoutPrototype(byId),
    facts: factsOf(definition),
    definition,
  });
};
