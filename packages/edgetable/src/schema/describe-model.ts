import { createHash } from "node:crypto";
import type { Template } from "../keys/template.ts";
import { mapValues } from "../util/row.ts";
import { type Catalog, hasFacts, type Index, keyAttributes, type KeyNames, type Shape } from "./catalog.ts";
import type { ValueStorage } from "./definition.ts";
import { guardedEnds } from "./guarded-ends.ts";
import type { StoredForm } from "./former.ts";
import type { IndexProjection } from "./layout.ts";
import type { TimeForm } from "./timestamps.ts";

/** The shards of one computed attribute: how many, and for which values otherwise. */
export interface DescribedShards {
  readonly counts: readonly number[];
  readonly per?: string;
  readonly hot?: Readonly<Record<string, readonly number[]>>;
  /** What the model before had, after an undone migration: items may be in the shards of either. */
  readonly either?: DescribedShards | undefined;
}

/** One kind of item, as a model stores it. */
export interface DescribedItem {
  /** The template of each computed attribute, without the numbers of shards. */
  readonly keys: Readonly<Record<string, string>>;
  readonly shards?: Readonly<Record<string, DescribedShards>>;
  /** Stored attribute by name in the model, where they differ. */
  readonly stored?: Readonly<Record<string, string>>;
  /** Attributes that items may hold in an older form, by name in the model. */
  readonly former?: Readonly<Record<string, DescribedFormer>>;
  /** The attributes that this copy of an edge holds, where it does not hold all. */
  readonly copied?: readonly string[];
  /** The value of the type attribute, in a layout. Older records lack it. */
  readonly type?: string;
  /** The times that its rows keep. */
  readonly times?: { readonly created?: string; readonly modified?: string; readonly as: TimeForm };
}

/** An attribute that was renamed or retyped. */
export interface DescribedFormer {
  /** The name before; undefined if it is the same. */
  readonly name?: string;
  readonly retyped?: true;
  /** The form in which items are; `either` after an undone migration from one to the other. */
  readonly stored: StoredForm | "either";
}

/**
 * How edges are stored: an edge without direction (`symmetric`) has an item at either end. `mixed`: twice, and second copies may be
 * missing or old, after a migration to a model that stores them once was undone.
 */
export type DescribedStorage = "once" | "twice" | "mixed" | "symmetric" | "reference";

/** An index, as a model declares it; a key of several attributes is a list. */
export interface DescribedIndex {
  readonly partitionKey: string | readonly string[];
  readonly sortKey?: string | readonly string[];
  readonly projection: IndexProjection;
}

/**
 * What a model stores beside the attributes of its schemas, as plain data: what a table must follow when the model changes.
 * Schemas are not part of it.
 */
export interface ModelDescription {
  readonly key: { readonly partitionKey: string; readonly sortKey?: string };
  readonly typeAttribute?: string;
  /** Its type, where it is a set of texts. */
  readonly typeForm?: "SS";
  readonly indexes: Readonly<Record<string, DescribedIndex>>;
  readonly items: Readonly<Record<string, DescribedItem>>;
  /** The attribute by which items expire. */
  readonly ttl?: string;
  /** Derived attributes and copies, as `course.students`, with what they are computed from. */
  readonly facts?: Readonly<Record<string, string>>;
  /** The degrees that items count, for a limit, a restriction or copies: as `likes.outDegree`. */
  readonly degrees?: readonly string[];
  /** Attributes whose values one node alone may have, as `person.email`. */
  readonly unique?: readonly string[];
  /** How the edges of each type are stored. */
  readonly edges?: Readonly<Record<string, DescribedStorage>>;
  /** The node types whose users' values are stored otherwise than as items. */
  readonly values?: Readonly<Record<string, ValueStorage>>;
}

/** A named sharding stands beside the template; a plain one in it. */
const SHARD_COUNTS = /:shard\([^)]*\)/g;

const describeKey = ({ source, type, when }: Template): string => {
  const conditions = when?.map(({ path, values }) => `${path} ${values?.map(String).join("|") ?? "exists"}`).join(" ");
  return `${type === "N" ? "number " : ""}${source.replaceAll(SHARD_COUNTS, ":shard")}${when ? ` when ${conditions}` : ""}`;
};

const describeShape = (
  { escapes, typeAttribute }: Catalog,
  { keys, stored: places, former, times, copied, typeValue }: Shape,
): DescribedItem => {
  const stored = Object.fromEntries(Object.entries(places).filter(([name]) => !former?.[name]));
  const shards: Record<string, DescribedShards> = {};
  for (const [attribute, { parts }] of Object.entries(keys))
    for (const part of parts) {
      if (part.kind !== "field" || part.format.kind !== "shard") continue;
      const { counts, per, hot = {} } = part.format.sharding;
      shards[attribute] ??= { counts, ...(per && { per: per.path }), ...(Object.keys(hot).length > 0 && { hot }) };
    }
  return {
    keys: mapValues(keys, describeKey),
    ...(Object.keys(shards).length === 0 ? {} : { shards }),
    ...(Object.keys(stored).length === 0 ? {} : { stored }),
    ...(former
      ? {
          former: mapValues(former, ({ old, now, stored: form, retyping }) => ({
            ...(old === now ? {} : { name: old }),
            ...(retyping ? { retyped: true } : {}),
            stored: form,
          })),
        }
      : {}),
    ...(copied ? { copied: copied.toSorted() } : {}),
    ...(!escapes && typeAttribute !== undefined && typeValue !== undefined ? { type: typeValue } : {}),
    ...(times
      ? { times: { as: times.as, ...(times.created && { created: times.created }), ...(times.modified && { modified: times.modified }) } }
      : {}),
  };
};

const describeKeys = ({ partitionKey, sortKey, partitionKeys, sortKeys }: Index): Omit<DescribedIndex, "projection"> => ({
  partitionKey: partitionKeys[1] ? partitionKeys : partitionKey,
  ...(sortKey === undefined ? {} : { sortKey: sortKeys[1] ? sortKeys : sortKey }),
});

// What a condition compares with may be a bigint, which JSON lacks.
const factText = (fact: object): string => JSON.stringify(fact, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));

/** Describes a model: every computed attribute, every index, the shards, the expiry and the facts. */
export const describeModel = (catalog: Catalog): ModelDescription => {
  const { aggregates, summaries, copies } = catalog.facts;
  const facts: Record<string, string> = {};
  // A bound is a promise of the processor, and nothing that a table holds.
  for (const { node, attribute, within: _within, ...fact } of aggregates) facts[`${node}.${attribute}`] = factText(fact);
  for (const { edge, attribute, within: _within, ...fact } of summaries) facts[`${edge}.${attribute}`] = factText(fact);
  for (const { onto, attribute, within: _within, ...fact } of copies) facts[`${onto.name}.${attribute}`] = factText(fact);
  const nodes = Object.values(catalog.nodes);
  const counted = Object.values(catalog.edges).flatMap((entry) =>
    guardedEnds(catalog, entry).map(({ direction }) => `${entry.name}.${direction}Degree`),
  );
  const degrees = [...new Set(counted)].toSorted();
  const unique = nodes.flatMap(({ name, definition }) => (definition.unique ?? []).map((attribute) => `${name}.${attribute}`)).toSorted();
  const edges = mapValues(catalog.edges, ({ definition: { stored, symmetric } }) => (symmetric === true ? "symmetric" : stored));
  const documents = nodes.flatMap(({ name, definition }) => (definition.fields?.storage === "document" ? [name] : []));
  return {
    key: describeKeys(catalog.index) as ModelDescription["key"],
    ...(catalog.typeAttribute === undefined ? {} : { typeAttribute: catalog.typeAttribute }),
    ...(catalog.typeForm === "SS" ? { typeForm: catalog.typeForm } : {}),
    indexes: Object.fromEntries(
      catalog.indexes.map((index) => [index.name ?? "", { ...describeKeys(index), projection: index.projection }] as const),
    ),
    items: Object.fromEntries(catalog.shapes.map((shape) => [shape.id, describeShape(catalog, shape)] as const)),
    ...(catalog.ttl === undefined ? {} : { ttl: catalog.ttl }),
    ...(hasFacts(catalog) ? { facts } : {}),
    ...(degrees.length === 0 ? {} : { degrees }),
    ...(unique.length === 0 ? {} : { unique }),
    ...(Object.keys(edges).length === 0 ? {} : { edges }),
    ...(documents.length === 0 ? {} : { values: Object.fromEntries(documents.map((name) => [name, "document"] as const)) }),
  };
};

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
};

/** A description as text: equal for equal models, in whatever order they name their parts. */
export const descriptionText = (description: ModelDescription): string => JSON.stringify(sorted(description));

/** 16 hexadecimal digits that identify a description. */
export const descriptionHash = (description: ModelDescription): string =>
  createHash("sha256").update(descriptionText(description)).digest("hex").slice(0, 16);

/** The templates by which the items of a kind are in an index; undefined where they are not in it. */
export const describedEntry = ({ items }: ModelDescription, index: KeyNames, shape: string): readonly string[] | undefined => {
  const { keys } = items[shape] ?? { keys: {} };
  const templates = keyAttributes(index).map((attribute) => keys[attribute]);
  return templates.every((template) => template !== undefined) ? templates : undefined;
};

/** The definition in the id of a shape, such as `rated:mirror`, or in the name of a definition's attribute, such as `person.email`. */
export const definitionOf = (id: string): string => id.split(/[(:.]/)[0] ?? "";

/** The shards of a kind's items in an index. */
export const describedShards = ({ items }: ModelDescription, { partitionKeys }: Index, id: string): DescribedShards | undefined => {
  const { shards = {} } = items[id] ?? {};
  const attribute = partitionKeys.find((name) => shards[name]);
  return attribute === undefined ? undefined : shards[attribute];
};

/** What the model leaves to the table's stream: derived attributes and copies, and grids whose values are documents. */
export const keptByStream = ({ facts, nodes }: Catalog): readonly string[] => [
  ...[...facts.aggregates, ...facts.summaries, ...facts.copies].flatMap(({ attribute, freshness }) =>
    freshness === "stream" ? [`"${attribute}"`] : [],
  ),
  ...Object.values(nodes).flatMap(({ name, definition }) => (definition.fields?.storage === "document" ? [`the grid of "${name}"`] : [])),
];
