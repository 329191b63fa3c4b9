import type { Catalog, EdgeEntry, NodeEntry, PartEntry } from "./catalog.ts";
import { buildShape, expand, underPath, unkeyedPaths, withFieldNames, type Macros } from "./build-shape.ts";
import { defaultLayout } from "./default-layout.ts";
import { endTypes, type GraphDefinition } from "./definition.ts";
import { attributeNames } from "./attribute-names.ts";
import type { AnyEdge } from "./edge.ts";
import type { ItemLayout, Layout } from "./layout.ts";
import type { AnyNode } from "./node.ts";
import type { AnyPart } from "./part.ts";
import { keyAttributes, type Index, type Shape } from "./shape.ts";
import { mapValues } from "../util/row.ts";

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
      holds: mirror ? edge.sides?.to : edge.sides?.from,
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
  const holds = place.edge.schema ? attributeNames(place.edge.schema) : [];
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
    holds,
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

/** A record that holds its names alone: what a caller asks for may be any text, "constructor" as well. */
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
