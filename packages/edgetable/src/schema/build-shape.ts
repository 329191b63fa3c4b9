import { parseTemplate, type Sharding, type Template } from "../keys/template.ts";
import { mapValues, own } from "../util/row.ts";
import type { ItemLayout, Layout, ShardingLayout } from "./layout.ts";
import { countList } from "./shard-counts.ts";
import { keyAttributes, type KeySource, type Shape } from "./shape.ts";

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
  readonly holds?: readonly string[] | undefined;
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
export const unkeyedPaths = (paths: readonly string[], keys: readonly (Template | undefined)[]): readonly string[] => {
  const keyed = new Set(keys.flatMap(carriedBy));
  return paths.filter((path) => !keyed.has(path));
};

/** Resolves one kind of item against the layout. */
export const buildShape = (seed: ShapeSeed, layout: Layout, escapes: boolean): Shape => {
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
    holds: seed.holds,
    alias: undefined,
  });
};
