import { parseTemplate, type Sharding, type Template } from "../keys/template.ts";
import { mapValues, own } from "../util/row.ts";
import {
  keyAttributes,
  type KeySource,
  type Shape,
  type Catalog,
  type EdgeEntry,
  type NodeEntry,
  type PartEntry,
  type Index,
} from "./catalog.ts";
import { defaultLayout } from "./default-layout.ts";
import { endTypes, type GraphDefinition, type AnyEdge, type AnyNode, type AnyPart } from "./definition.ts";
import { type ItemLayout, type Layout, type ShardingLayout, countList } from "./layout.ts";
import { attributeNames } from "./standard-schema.ts";

/** What a `{macro}` in a layout's key template stands for, such as `from` for the source's key. */
export type Macros = Readonly<Record<string, string>>;

const field = /\{([^{}]*)\}/g;

/** The same template with each field's path under a prefix: `A#{x:6}` under `to` is `A#{to.x:6}`. */
export const underPath = (prefix: string, source: string): string => source.replace(field, (_, path: string) => `{${prefix}.${path}}`);

/** The same template with fields renamed, formats kept. */
export const withFieldNames = (source: string, names: Readonly<Record<string, string>>): string =>
  source.replace(field, (_, text: string) => {
    const [name = "", ...format] = text.split(":");
    return `{${[names[name] ?? name, ...format].join(":")}}`;
  });

// A shard is taken from one field: of a key, from its last, which tells most.
const shardOfKey = (text: string, macros: Macros): string | undefined => {
  const [name = "", ...format] = text.split(":");
  const last = Object.hasOwn(macros, name) ? [...(macros[name] ?? "").matchAll(field)].at(-1)?.[1] : undefined;
  return last !== undefined && format[0]?.startsWith("shard(") ? `{${last.split(":")[0]}:${format.join(":")}}` : undefined;
};

/**
 * The same template with its macros replaced by what they stand for; `{key:shard(8)}` is the shard of
 * the last field of the key.
 */
export const expand = (source: string, macros: Macros): string =>
  source.replace(field, (whole, name: string) => (Object.hasOwn(macros, name) ? macros[name] : shardOfKey(name, macros)) ?? whole);

/** What the template of a computed attribute is read by. */
export interface KeyContext {
  readonly macros: Macros;
  readonly item: ItemLayout | undefined;
  readonly layout: Layout;
  readonly escapes: boolean;
}

/**
 * Parses the template of one computed attribute.
 *
 * @throws {schema.invalidModel} when it is malformed
 */
export const parseKey = (attribute: string, source: string, context: KeyContext): Template => {
  const { macros, item, layout, escapes } = context;
  const delimiter = own(item?.delimiters ?? {}, attribute) ?? layout.delimiter ?? "#";
  const reserves = !escapes && (attribute === layout.partitionKey || attribute === layout.sortKey);
  const type = own(layout.types ?? {}, attribute);
  return parseTemplate(expand(source, macros), { delimiter, escapes, reserves, type, shardings: shardingsOf(layout) });
};

const shardingOf = ({ count, per, hot = {} }: ShardingLayout): Sharding => ({
  counts: countList(count),
  ...(per === undefined ? {} : { per: { path: per, steps: per.split(".") } }),
  hot: mapValues(hot, countList),
});

const shardingsOf = ({ shards }: Layout): Readonly<Record<string, Sharding>> | undefined => shards && mapValues(shards, shardingOf);

/** The paths whose values can be read back from a template's keys: a shard tells nothing. */
export const carriedBy = (template: Template | undefined): readonly string[] =>
  template?.parts.flatMap((part) => (part.kind === "field" && part.format.kind !== "shard" ? [part.path] : [])) ?? [];

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

/** What {@link buildShape} needs beside the layout. */
export interface ShapeSeed extends Pick<
  Shape,
  "id" | "kind" | "definition" | "role" | "from" | "to" | "dates" | "version" | "ttl" | "bytes"
> {
  readonly copied?: readonly string[] | undefined;
  readonly several?: boolean;
  readonly macros: Macros;
  /** Template of the partition key where the item's layout does not give one. */
  readonly partition: string;
  readonly sort?: string;
  readonly item: ItemLayout | undefined;
}

const templatesOf = (seed: ShapeSeed, layout: Layout, escapes: boolean): Record<string, Template> => {
  const sources: Record<string, string> = { [layout.partitionKey]: seed.partition };
  if (seed.sort !== undefined && layout.sortKey !== undefined) sources[layout.sortKey] = seed.sort;
  Object.assign(sources, seed.item?.keys);
  const context: KeyContext = { macros: seed.macros, item: seed.item, layout, escapes };
  // Without a prototype, as attributes may be called: an item's attribute may be "constructor".
  return Object.assign(
    Object.create(null),
    mapValues(sources, (source, attribute) => parseKey(attribute, source, context)),
  ) as Record<string, Template>;
};

// The table's keys come first and are read for whatever they carry; other computed attributes only
// for fields that no earlier one carries. In Edgetable's own layout nothing but the table's keys
// carries a field, so that an index can be dropped or added without touching the rest of the item.
const sourcesOf = (keys: Readonly<Record<string, Template>>, tableKeys: readonly string[], escapes: boolean): readonly KeySource[] => {
  const known = new Set<string>();
  const order = [...tableKeys, ...Object.keys(keys).filter((name) => !tableKeys.includes(name))];
  return order.flatMap((attribute) => {
    const template = keys[attribute];
    if (!template || (escapes && !tableKeys.includes(attribute))) return [];
    const fresh = carriedBy(template).filter((path) => !known.has(path));
    for (const path of fresh) known.add(path);
    return fresh.length > 0 ? [{ attribute, template }] : [];
  });
};

// What an adopted layout keeps in several keys, a projected index may hold in its own alone.
const sparesOf = (keys: Readonly<Record<string, Template>>, sources: readonly KeySource[], layout: Layout): readonly KeySource[] => {
  const carried = new Map(sources.flatMap(({ attribute, template }) => carriedBy(template).map((path) => [path, attribute] as const)));
  const partial = Object.values(layout.indexes ?? {}).filter(({ projection = "ALL" }) => projection !== "ALL");
  const names = unique(partial.flatMap(keyAttributes));
  return names.flatMap((attribute) => {
    const template = keys[attribute];
    const isSpare = carriedBy(template).some((path) => carried.has(path) && carried.get(path) !== attribute);
    return template && isSpare ? [{ attribute, template }] : [];
  });
};

const isOfEnd = (path: string): boolean => path.startsWith("from.") || path.startsWith("to.");

/** Of these paths of an edge's row, those to its ends that no key of the table carries. */
const unkeyedPaths = (paths: readonly string[], keys: readonly (Template | undefined)[]): readonly string[] => {
  const keyed = new Set(keys.flatMap(carriedBy));
  return paths.filter((path) => !keyed.has(path));
};

/** Resolves one kind of item against the layout. */
const buildShape = (seed: ShapeSeed, layout: Layout, escapes: boolean): Shape => {
  const { macros: _macros, partition: _partition, sort: _sort, item, ...identity } = seed;
  const keys = templatesOf(seed, layout, escapes);
  const tableKeys = keyAttributes(layout);
  const sources = sourcesOf(keys, tableKeys, escapes);
  // Without a prototype: an attribute may be called "constructor".
  const stored: Shape["stored"] = Object.assign(Object.create(null), item?.attributes);
  const carried = unique(sources.flatMap(({ template }) => carriedBy(template)));
  return Object.freeze({
    ...identity,
    typeValue: layout.typeAttribute === undefined ? undefined : (item?.type ?? seed.definition),
    keys,
    sparse: item?.sparse ?? [],
    stored,
    fields: Object.fromEntries(Object.entries(stored).map(([name, attribute]) => [attribute, name])),
    carried,
    unkeyed:
      seed.kind === "edge"
        ? unkeyedPaths(
            carried.filter(isOfEnd),
            tableKeys.map((attribute) => keys[attribute]),
          )
        : [],
    sources,
    spares: escapes ? [] : sparesOf(keys, sources, layout),
    several: seed.several ?? false,
    copied: seed.copied,
    alias: undefined,
  });
};

const DEFAULT_BYTES = 200;

interface Context {
  readonly definition: GraphDefinition;
  readonly layout: Layout;
  readonly escapes: boolean;
}

/** Edges lie between nodes, which are resolved before them. */
interface EdgeContext extends Context {
  readonly nodes: Readonly<Record<string, NodeEntry>>;
}

/** Names of the fields in a key template, in order. */
export const fieldNames = (key: string): readonly string[] =>
  [...key.matchAll(/\{([^{}:]+)(?::[^{}]*)?\}/g)].map((match) => match[1] ?? "");

/** The source node's attribute for each id field of a reference edge's target. */
const referenceFields = (edge: AnyEdge, target: AnyNode): Readonly<Record<string, string>> =>
  Object.fromEntries(fieldNames(target.key).map((name) => [name, edge.by?.[name] ?? name]));

// In Edgetable's own layout a reference edge puts its index keys on its source node's item.
const referenceKeys = (context: Context, nodeName: string): Record<string, string> => {
  const keys: Record<string, string> = {};
  for (const [name, edge] of Object.entries(context.definition.edges ?? {})) {
    const target = context.definition.nodes[endTypes(edge.to)[0] ?? ""];
    const source = context.definition.nodes[nodeName];
    if (edge.stored !== "reference" || !target || !source || !endTypes(edge.from).includes(nodeName)) continue;
    const macros: Macros = { from: source.key, to: withFieldNames(target.key, referenceFields(edge, target)) };
    for (const [attribute, template] of Object.entries(context.layout.edges?.[name]?.keys ?? {})) {
      keys[attribute] = expand(template, macros);
    }
  }
  return keys;
};

const nodeEntry = (context: Context, name: string, definition: AnyNode): NodeEntry => {
  const item = context.layout.nodes?.[name];
  const references = referenceKeys(context, name);
  // A node whose reference is missing has no such edge, and no place in the index. An adopted layout says so itself.
  const sparse = context.escapes ? Object.keys(references) : [];
  const own: ItemLayout = { ...item, keys: { ...item?.keys, ...references }, sparse: [...(item?.sparse ?? []), ...sparse] };
  const shape = buildShape(
    {
      id: name,
      kind: "node",
      definition: name,
      role: "own",
      from: undefined,
      to: undefined,
      dates: definition.dates ?? [],
      version: definition.version ?? false,
      ttl: definition.ttl,
      bytes: definition.expect?.bytes ?? DEFAULT_BYTES,
      macros: { key: definition.key },
      partition: definition.key,
      // What has no item has no sort key either; its id need not be a number.
      ...(definition.stored === false && context.layout.types?.[context.layout.sortKey ?? ""] === "N" ? {} : { sort: definition.key }),
      item: own,
    },
    context.layout,
    context.escapes,
  );
  return { name, definition, shape, idFields: fieldNames(definition.key) };
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
      dates: definition.dates ?? [],
      version: definition.version ?? false,
      ttl: definition.ttl,
      bytes: definition.expect?.bytes ?? DEFAULT_BYTES,
      macros: { owner, key: definition.key },
      partition: owner,
      sort: definition.key,
      item: context.layout.parts?.[name],
    },
    context.layout,
    context.escapes,
  );
  return { name, definition, shape, idFields: fieldNames(definition.key) };
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
  const keyOf = (type: string): string => context.definition.nodes[type]?.key ?? "";
  const macros = { from: underPath("from", keyOf(from)), to: underPath("to", keyOf(to)) };
  const mirror = role === "mirror";
  const suffix = `${place.several ? `(${from}>${to})` : ""}${mirror ? ":mirror" : ""}`;
  return buildShape(
    {
      id: name + suffix,
      kind: "edge",
      definition: name,
      role,
      from,
      to,
      dates: edge.dates ?? [],
      version: edge.version ?? false,
      ttl: edge.ttl,
      bytes: edge.expect?.bytes ?? DEFAULT_BYTES,
      several: place.several,
      copied: mirror ? edge.sides?.to : edge.sides?.from,
      macros,
      partition: mirror ? macros.to : macros.from,
      sort: mirror ? macros.from : macros.to,
      item: mirror ? (layout?.mirror ?? {}) : layout,
    },
    context.layout,
    context.escapes,
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
  const tableKeys = keyAttributes(context.layout).map((attribute) => source.shape.keys[attribute]);
  const unkeyed = new Set(unkeyedPaths(Object.values(alias), tableKeys));
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

const indexesOf = (layout: Layout): readonly Index[] =>
  Object.entries(layout.indexes ?? {}).map(([name, index]) => ({
    name,
    partitionKey: index.partitionKey,
    sortKey: index.sortKey,
    projection: index.projection ?? "ALL",
  }));

// A table has one such attribute: checkTtl sees to it.
const ttlAttribute = (shapes: readonly Shape[]): string | undefined => {
  const shape = shapes.find(({ ttl }) => ttl !== undefined);
  return shape?.ttl === undefined ? undefined : (shape.stored[shape.ttl] ?? shape.ttl);
};

/** A record that copied its names alone: what a caller asks for may be any text, "constructor" as well. */
const ownNames = <Entry>(entries: Readonly<Record<string, Entry>>): Readonly<Record<string, Entry>> =>
  Object.assign(Object.create(null) as Record<string, Entry>, entries);

const byId = (shapes: readonly Shape[]): Readonly<Record<string, Shape>> =>
  ownNames(Object.fromEntries(shapes.map((shape) => [shape.id, shape])));

/** Resolves a model and its layout into the catalog. Expects a model in which {@link checkNames} found nothing. */
export const buildCatalog = (definition: GraphDefinition): Catalog => {
  const layout = definition.layout ?? defaultLayout(definition);
  const context: Context = { definition, layout, escapes: definition.layout === undefined };
  const nodes = ownNames(mapValues(definition.nodes, (node, name) => nodeEntry(context, name, node)));
  const parts = ownNames(mapValues(definition.parts ?? {}, (part, name) => partEntry(context, name, part)));
  const edges = ownNames(mapValues(definition.edges ?? {}, (edge, name) => edgeEntry({ ...context, nodes }, name, edge)));
  const nodeShapes = Object.values(nodes)
    .filter((entry) => entry.definition.stored !== false)
    .map((entry) => entry.shape);
  const partShapes = Object.values(parts).map((entry) => entry.shape);
  const edgeShapes = Object.values(edges)
    .flatMap((entry) => [...entry.shapes, ...entry.mirrors])
    .filter((shape) => shape.role !== "reference");
  return Object.freeze({
    table: definition.table,
    index: { name: undefined, partitionKey: layout.partitionKey, sortKey: layout.sortKey, projection: "ALL" as const },
    indexes: indexesOf(layout),
    typeAttribute: layout.typeAttribute,
    ttl: ttlAttribute([...nodeShapes, ...partShapes, ...edgeShapes]),
    layout,
    escapes: context.escapes,
    nodes,
    edges,
    parts,
    shapes: [...nodeShapes, ...partShapes, ...edgeShapes],
    shapesById: byId(
      [...Object.values(nodes), ...Object.values(parts)]
        .map((entry) => entry.shape)
        .concat(Object.values(edges).flatMap((entry) => [...entry.shapes, ...entry.mirrors])),
    ),
    definition,
  });
};
