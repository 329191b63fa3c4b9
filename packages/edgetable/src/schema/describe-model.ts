import { createHash } from "node:crypto";
import type { Template } from "../keys/template.ts";
import { mapValues, own } from "../util/row.ts";
import { type Catalog, type EdgeEntry, hasFacts, type Index, keyAttributes, type KeyNames, type Shape } from "./catalog.ts";
import type { ValueStorage } from "./definition.ts";
import { attributesOf } from "./facts.ts";
import { guardedEnds } from "./guarded-ends.ts";
import type { StoredForm } from "./former.ts";
import type { IndexProjection } from "./layout.ts";
import type { TimeForm } from "./timestamps.ts";

/** The shards of one computed attribute: how many, and for which values otherwise. */
export interface DescribedShards {
  readonly counts: readonly number[];
  readonly per?: string;
  readonly hot?: Readonly<Record<string, readonly number[]>>;
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

/** How edges are stored: an edge without direction (`symmetric`) has an item at either end. */
export type DescribedStorage = "once" | "twice" | "symmetric" | "reference";

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

const describeShape = ({ keys, stored: places, former, times, copied }: Shape): DescribedItem => {
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
    items: Object.fromEntries(catalog.shapes.map((shape) => [shape.id, describeShape(shape)] as const)),
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

/**
 * What a table holds after the migration from one model to another was undone: attributes that one of them stores under a new
 * name or in a new type, and the other does not, may be in either form.
 *
 * @returns the description, and the attributes, as `person.fullName`
 */
export const withEitherForm = (
  current: ModelDescription,
  undone: ModelDescription,
): { readonly model: ModelDescription; readonly attributes: readonly string[] } => {
  const attributes = new Set<string>();
  const items = Object.fromEntries(
    Object.entries(current.items).map(([id, item]): [string, DescribedItem] => {
      const former = { ...item.former };
      for (const [name, one] of Object.entries(undone.items[id]?.former ?? {})) {
        const before = former[name]?.stored;
        if (one.stored === before || (before === undefined && one.stored === "old")) continue;
        former[name] = { ...one, stored: "either" };
        attributes.add(`${definitionOf(id)}.${name}`);
      }
      return [id, Object.keys(former).length === 0 ? item : { ...item, former }];
    }),
  );
  return { model: { ...current, items }, attributes: [...attributes] };
};

/** The templates by which the items of a kind are in an index; undefined where they are not in it. */
export const describedEntry = ({ items }: ModelDescription, index: KeyNames, shape: string): readonly string[] | undefined => {
  const { keys } = items[shape] ?? { keys: {} };
  const templates = keyAttributes(index).map((attribute) => keys[attribute]);
  return templates.every((template) => template !== undefined) ? templates : undefined;
};

const STORAGE = {
  once: "once",
  twice: "twice",
  symmetric: "without direction, with an item at either end",
  reference: "in the items of their sources",
} as const;

/** How a recorded model stores the edges of a type, and how a model does, where they differ. Undefined for a type that it lacks. */
export const changedEdges = (
  { edges: recorded, items }: ModelDescription,
  ours: ModelDescription,
  { name, shapes }: EdgeEntry,
): { readonly was: DescribedStorage; readonly is: DescribedStorage; readonly says: string } | undefined => {
  const is = ours.edges?.[name] ?? "once";
  // An older record does not name the storage. Its items tell whether there are second copies.
  const isMirrored = Object.keys(items).some((id) => id.endsWith(":mirror") && id.split(/[(:]/)[0] === name);
  const isInferred = recorded === undefined && (is === "once" || is === "twice") && shapes.some(({ id }) => items[id]);
  const was = isInferred ? (isMirrored ? "twice" : "once") : own(recorded ?? {}, name);
  if (was === undefined || was === is) return undefined;
  return { was, is, says: `Edges of "${name}" are stored ${STORAGE[was]}, and the model stores them ${STORAGE[is]}` };
};

/** What an edge's copy holds alone, as a sentence, where a model reads more from it than a recorded model stores there. */
export const lackingCopy = ({ items }: ModelDescription, { id, copied }: Pick<Shape, "id" | "copied">): string | undefined => {
  const held = items[id]?.copied;
  if (!held || copied?.every((attribute) => held.includes(attribute))) return undefined;
  return `"${id}" holds ${held.map((attribute) => `"${attribute}"`).join(", ")} alone, and the model reads more from it`;
};

/** Attributes of definitions that items hold under a new name alone, with their names before: `{ person: { fullName: "name" } }`. */
export type EndedRenamings = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The definition in the id of a shape, such as `rated:mirror`, or in the name of a definition's attribute, such as `person.email`. */
export const definitionOf = (id: string): string => id.split(/[(:.]/)[0] ?? "";

/** Which of an attribute's two names a model has. */
const namesIn = (
  { nodes, edges, parts }: Catalog,
  definition: string,
  { to, from }: { readonly to: string; readonly from: string },
): "both" | "new" | "old" | "neither" => {
  const known = (own(nodes, definition) ?? own(edges, definition) ?? own(parts, definition))?.definition;
  const names = (known && attributesOf(known)) ?? [];
  if (names.includes(to)) return names.includes(from) ? "both" : "new";
  return names.includes(from) ? "old" : "neither";
};

/** True if a model is one from before a renaming: it has the attribute under its old name, where items of that time hold it. */
export const goesBack = (catalog: Catalog, definition: string, renaming: { readonly to: string; readonly from: string }): boolean =>
  namesIn(catalog, definition, renaming) === "old";

/** The renamings that have ended once the table follows a model: items hold the new names, and the model says nothing of the old ones. */
export const endedRenamings = (
  catalog: Catalog,
  { model: { items }, renamed = {} }: { readonly model: ModelDescription; readonly renamed?: EndedRenamings | undefined },
): EndedRenamings | undefined => {
  const all: Record<string, Record<string, string>> = {};
  const add = (definition: string, to: string, from: string): void => {
    const isKnown = catalog.shapes.some((shape) => shape.definition === definition && shape.former?.[to]);
    if (!isKnown && !goesBack(catalog, definition, { to, from })) (all[definition] ??= {})[to] = from;
  };
  for (const [definition, names] of Object.entries(renamed)) for (const [to, from] of Object.entries(names)) add(definition, to, from);
  for (const [id, { former = {} }] of Object.entries(items))
    for (const [to, { name: from, stored }] of Object.entries(former))
      if (from !== undefined && stored === "new") add(definitionOf(id), to, from);
  return Object.keys(all).length === 0 ? undefined : all;
};

/** An attribute of which a model does not read the form that a table holds: before a renaming, or after one that has not ended. */
export interface UnreadForm {
  readonly definition: string;
  readonly attribute: string;
  readonly says: string;
}

/** The first attribute whose stored form a model does not read, by what a table records; undefined if there is none. */
export const unreadForm = (
  catalog: Catalog,
  ours: ModelDescription,
  recorded: { readonly model: ModelDescription; readonly renamed?: EndedRenamings | undefined },
): UnreadForm | undefined => {
  for (const [id, { former = {} }] of Object.entries(recorded.model.items))
    for (const [to, { name, stored }] of Object.entries(former)) {
      const definition = definitionOf(id);
      const from = name ?? to;
      const names = namesIn(catalog, definition, { to, from });
      if (!ours.items[id] || ours.items[id].former?.[to] || names === "neither") continue;
      if (name === undefined && stored === "either")
        return { definition, attribute: to, says: `Items of "${definition}" may hold "${to}" in its old type or its new one` };
      if (name === undefined) continue;
      if (names === "old" && stored !== "old")
        return { definition, attribute: from, says: `Items of "${definition}" hold "${from}" as "${to}": it was renamed` };
      if (names !== "old" && stored !== "new")
        return {
          definition,
          attribute: to,
          says: `Items of "${definition}" ${stored === "old" ? "" : "may "}hold "${to}" as "${from}", its name before`,
        };
    }
  for (const [definition, names] of Object.entries(recorded.renamed ?? {}))
    for (const [to, from] of Object.entries(names))
      if (goesBack(catalog, definition, { to, from }))
        return { definition, attribute: from, says: `Items of "${definition}" hold "${from}" as "${to}": it was renamed` };
  return undefined;
};

/** A kind's keys without those of declared indexes, and in whichever form its attributes may be. */
const asFound = (item: DescribedItem, declared: ReadonlySet<string>): DescribedItem => {
  const undeclared = <T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(values).filter(([attribute]) => !declared.has(attribute)));
  const { shards, former } = item;
  const isEither = (one: DescribedFormer): DescribedFormer => (one.stored === "new" ? { ...one, stored: "either" } : one);
  return {
    ...item,
    keys: undeclared(item.keys),
    ...(shards ? { shards: undeclared(shards) } : {}),
    ...(former ? { former: mapValues(former, isEither) } : {}),
  };
};

/**
 * A recorded model, and the kinds of items of a connection's model that it has by no name. Such items are younger than the
 * record and have had the keys of their layout since the first. An index that the model declares may be younger than the kind:
 * its keys are left out. Gives the recorded model itself if there is no such kind.
 */
export const withNewKinds = (recorded: ModelDescription, ours: ModelDescription, catalog: Catalog): ModelDescription => {
  const { partitionKey, sortKey } = catalog.index;
  const keyOf = (item: DescribedItem | undefined): string => JSON.stringify([item?.keys[partitionKey], item?.keys[sortKey ?? ""]]);
  const taken = new Set(Object.values(recorded.items).map(keyOf));
  const isNew = (id: string): boolean => !recorded.items[id] && !taken.has(keyOf(ours.items[id]));
  const declared = new Set(
    catalog.indexes.filter(({ name }) => Object.hasOwn(catalog.definition.indexes ?? {}, name ?? "")).flatMap(keyAttributes),
  );
  // A record that is older than the storage of edges names that of no edge type; so does one of a model without edges.
  const namesStorage = recorded.edges !== undefined || Object.keys(recorded.items).every((id) => catalog.nodes[id] ?? catalog.parts[id]);
  const items: Record<string, DescribedItem> = {};
  const edges: Record<string, DescribedStorage> = {};
  // The values of such nodes have been reserved since the first.
  const unique = [...(recorded.unique ?? []), ...(ours.unique ?? []).filter((name) => isNew(definitionOf(name)))];
  for (const { id, role, definition } of catalog.shapes) {
    const item = ours.items[id];
    // The second copies of an edge are as old as the edge.
    if (!item || recorded.items[id] || !isNew(role === "mirror" ? id.replace(/:mirror$/, "") : id)) continue;
    items[id] = asFound(item, declared);
    const storage = own(ours.edges ?? {}, definition);
    if (storage && namesStorage && !Object.hasOwn(recorded.edges ?? {}, definition)) edges[definition] = storage;
  }
  if (Object.keys(items).length === 0) return recorded;
  return {
    ...recorded,
    items: { ...recorded.items, ...items },
    ...(unique.length === 0 ? {} : { unique: unique.toSorted() }),
    ...(Object.keys(edges).length === 0 ? {} : { edges: { ...recorded.edges, ...edges } }),
  };
};

/** A count of shards that a model changes, of all items or of those with one value. */
interface ChangedShards {
  readonly value: string;
  /** The count by which items were written last. */
  readonly written: number;
  /** The counts of the model; readers look in the shards of all of them. */
  readonly counts: readonly number[];
}

/** The counts by which a model finds or writes items otherwise than a table was written. */
export const changedCounts = (old: DescribedShards, now: DescribedShards): readonly ChangedShards[] => {
  const countsOf = ({ counts, hot = {} }: DescribedShards, value: string): readonly number[] => own(hot, value) ?? counts;
  const values = new Set(["", ...Object.keys(old.hot ?? {}), ...Object.keys(now.hot ?? {})]);
  return [...values].flatMap((value) => {
    const [written = 1] = countsOf(old, value);
    const counts = countsOf(now, value);
    return counts[0] === written ? [] : [{ value, written, counts }];
  });
};

/** The shards of a kind's items in an index. */
export const describedShards = ({ items }: ModelDescription, { partitionKeys }: Index, id: string): DescribedShards | undefined => {
  const { shards = {} } = items[id] ?? {};
  const attribute = partitionKeys.find((name) => shards[name]);
  return attribute === undefined ? undefined : shards[attribute];
};

/**
 * What a table holds once programs of another model, or a resharding, have put items into its shards.
 *
 * @param isWanted which attributes with a shard are meant; all by default
 * @returns the description, and the kinds whose shards differ
 */
export const withShards = (
  current: ModelDescription,
  { items: others }: ModelDescription,
  isWanted: (attribute: string) => boolean = () => true,
): { readonly model: ModelDescription; readonly kinds: readonly string[] } => {
  const kinds = new Set<string>();
  const items = mapValues(current.items, (item, id): DescribedItem => {
    const moved = Object.entries(others[id]?.shards ?? {}).filter(([attribute, now]) => {
      const old = item.shards?.[attribute];
      return old !== undefined && isWanted(attribute) && changedCounts(old, now).length > 0;
    });
    if (moved.length === 0) return item;
    kinds.add(id);
    return { ...item, shards: { ...item.shards, ...Object.fromEntries(moved) } };
  });
  return { model: { ...current, items }, kinds: [...kinds] };
};

const EITHER = "either ";

/** True if items may have keys of two models in an index, after a migration from one to the other was undone. */
export const isEither = (entry: readonly string[]): boolean => entry.some((template) => template.startsWith(EITHER));

/** The templates that one of the two models has. */
export const ofEither = (entry: readonly string[]): readonly string[] =>
  entry.map((template) => (template.startsWith(EITHER) ? template.slice(EITHER.length) : template));

/**
 * What a table holds after the migration from one model to another was undone: kinds of items whose keys in an index differ may
 * have either. The description then has the entry of no model, so that none takes the index for complete.
 *
 * @returns the description, and the indexes
 */
export const withEitherKeys = (
  current: ModelDescription,
  undone: ModelDescription,
): { readonly model: ModelDescription; readonly indexes: readonly string[] } => {
  const { partitionKey, sortKey } = current.key;
  const indexes = new Set<string>();
  const items = mapValues(current.items, (item, id): DescribedItem => {
    const mixed = new Set<string>();
    for (const [name, index] of Object.entries(current.indexes)) {
      if (!undone.items[id] || !describedEntry(current, index, id) || sameEntry(current, undone, [index, id])) continue;
      indexes.add(name);
      for (const attribute of keyAttributes(index)) if (attribute !== partitionKey && attribute !== sortKey) mixed.add(attribute);
    }
    const marked = (template: string, name: string): string =>
      mixed.has(name) && !template.startsWith(EITHER) ? `${EITHER}${template}` : template;
    return mixed.size === 0 ? item : { ...item, keys: mapValues(item.keys, marked) };
  });
  return { model: { ...current, items }, indexes: [...indexes] };
};

/**
 * What a table holds after the migration from one model to another was undone: values of unique attributes may have no marker,
 * and facts and degrees may be wrong, where the second model does not keep them as the first one does.
 * @returns the description, the unique attributes (`person.email`), and the facts and degrees (`person.posts`, `likes.outDegree`)
 */
export const withUnkept = (
  { unique = [], degrees = [], facts = {}, ...rest }: ModelDescription,
  undone: ModelDescription,
): { readonly model: ModelDescription; readonly attributes: readonly string[]; readonly facts: readonly string[] } => {
  const known = new Set(Object.keys(undone.items).map(definitionOf));
  const kept = (names: readonly string[], isSame: (name: string) => boolean | undefined): readonly string[] =>
    names.filter((name) => isSame(name) === true || !known.has(definitionOf(name)));
  const reserved = kept(unique, (name) => undone.unique?.includes(name));
  const counted = kept(degrees, (name) => undone.degrees?.includes(name));
  const right = kept(Object.keys(facts), (name) => undone.facts?.[name] === facts[name]);
  const there = (key: "unique" | "degrees", names: readonly string[]) => names.length > 0 && { [key]: names };
  const computed = Object.keys(facts).length > 0 && { facts: Object.fromEntries(right.map((name) => [name, facts[name] ?? ""])) };
  const model: ModelDescription = { ...rest, ...computed, ...there("degrees", counted), ...there("unique", reserved) };
  const lost = (all: readonly string[], left: readonly string[]): readonly string[] => all.filter((name) => !left.includes(name));
  return { model, attributes: lost(unique, reserved), facts: [...lost(Object.keys(facts), right), ...lost(degrees, counted)] };
};

const FIELD_NAME = /\{([^{}:]+)/g;

// A field goes by its name before, so that a renaming changes no template.
const underOldNames = (template: string, { former = {} }: Partial<DescribedItem>): string =>
  template.replaceAll(FIELD_NAME, (_, name: string) => `{${former[name]?.name ?? name}`);

const fieldsIn = (templates: readonly string[]): readonly string[] =>
  templates.flatMap((template) => [...template.matchAll(FIELD_NAME)].map(([, name = ""]) => name));

/**
 * True if two models give the items of a kind the same keys in an index: by templates that differ in names alone, from values
 * of the same types.
 */
export const sameEntry = (
  before: ModelDescription,
  now: ModelDescription,
  [index, shape]: readonly [index: KeyNames, shape: string],
): boolean => {
  const [old, ours] = [describedEntry(before, index, shape), describedEntry(now, index, shape)];
  if (!old || !ours) return old === ours;
  const theirItem: Partial<DescribedItem> = before.items[shape] ?? {};
  const ourItem: Partial<DescribedItem> = now.items[shape] ?? {};
  const isSame = old.every((text, at) => text === ours[at] || underOldNames(text, theirItem) === underOldNames(ours[at] ?? "", ourItem));
  if (!isSame) return false;
  const retyped = (fields: readonly string[], mine: Partial<DescribedItem>, other: Partial<DescribedItem>): boolean =>
    fields.some((name) => mine.former?.[name]?.retyped && !other.former?.[name]?.retyped);
  // Once every value is in its new form, a model no longer needs to say that it was retyped.
  const isEnded = Object.values(theirItem.former ?? {}).every(({ stored }) => stored === "new");
  return !retyped(fieldsIn(ours), ourItem, theirItem) && (isEnded || !retyped(fieldsIn(old), theirItem, ourItem));
};
