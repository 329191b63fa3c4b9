import { mapValues, own } from "../util/row.ts";
import { type Catalog, keyAttributes } from "./catalog.ts";
import { changedCounts, sameEntry } from "./compare-models.ts";
import {
  definitionOf,
  describedEntry,
  type DescribedFormer,
  type DescribedItem,
  type DescribedShards,
  type DescribedStorage,
  type ModelDescription,
} from "./describe-model.ts";

/**
 * The model of an undone migration, in which kinds go by the names that the model in use has for items under the same keys: those
 * of edges depend on the number of types at their ends.
 */
export const underNamesOf = (undone: ModelDescription, { items, key }: ModelDescription): ModelDescription => {
  const keysOf = (item: DescribedItem | undefined): string => `${item?.keys[key.partitionKey]}\n${item?.keys[key.sortKey ?? ""]}`;
  const isMirror = (id: string): boolean => id.endsWith(":mirror");
  const named = { ...undone.items };
  for (const [id, item] of Object.entries(items)) {
    const isSame = ([other, theirs]: readonly [string, DescribedItem]): boolean =>
      definitionOf(other) === definitionOf(id) && isMirror(other) === isMirror(id) && keysOf(theirs) === keysOf(item);
    const found = own(undone.items, id) ?? Object.entries(undone.items).find(isSame)?.[1];
    if (found) named[id] = found;
  }
  return { ...undone, items: named };
};

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

/**
 * What a table holds once programs of another model, or a resharding, have put items into its shards.
 *
 * @param moved the attributes with a shard by which a resharding has moved all items; without it, items may be in the shards of either model
 * @returns the description, and the kinds whose shards differ
 */
export const withShards = (
  current: ModelDescription,
  { items: others }: ModelDescription,
  moved?: (attribute: string) => boolean,
): { readonly model: ModelDescription; readonly kinds: readonly string[] } => {
  const kinds = new Set<string>();
  const items = mapValues(current.items, (item, id): DescribedItem => {
    const changed = Object.entries(others[id]?.shards ?? {}).flatMap(([attribute, now]): [string, DescribedShards][] => {
      const old = item.shards?.[attribute];
      if (old === undefined) return [];
      if (!moved) return changedCounts({ ...old, either: undefined }, now).length === 0 ? [] : [[attribute, { ...now, either: old }]];
      const counts = moved(attribute) ? changedCounts(old, now) : [];
      // In shards that the model does not list, nothing was looked for.
      return counts.length > 0 && counts.every((one) => one.counts.includes(one.written)) ? [[attribute, now]] : [];
    });
    if (changed.length === 0) return item;
    kinds.add(id);
    return { ...item, shards: { ...item.shards, ...Object.fromEntries(changed) } };
  });
  return { model: { ...current, items }, kinds: [...kinds] };
};

const EITHER = "either ";
const LEFT = "left ";

/** True if items of a kind may be in an index by keys that an undone migration gave them, though their model has none there. */
export const isLeft = (entry: readonly string[]): boolean => entry.some((template) => template.startsWith(LEFT));

/** True if items may have keys of two models in an index, after a migration from one to the other was undone. */
export const isEither = (entry: readonly string[]): boolean => isLeft(entry) || entry.some((template) => template.startsWith(EITHER));

/** The templates that one of the two models has. Those of keys that are left are no model's. */
export const ofEither = (entry: readonly string[]): readonly string[] =>
  entry.map((template) => (template.startsWith(EITHER) ? template.slice(EITHER.length) : template));

/**
 * What a table holds after the migration from one model to another was undone: kinds of items whose keys in an index differ may
 * have either, and those that only the second model has there may have kept them. The description then has the entry of no model, so
 * that none takes the index for complete.
 *
 * @param isOwn whether the table has Edgetable's own layout, whose index keys are no attributes of rows
 * @returns the description, the indexes in which keys differ, and those in which keys are left
 */
export const withEitherKeys = (
  current: ModelDescription,
  undone: ModelDescription,
  isOwn: boolean,
): { readonly model: ModelDescription; readonly indexes: readonly string[]; readonly left: readonly string[] } => {
  const { partitionKey, sortKey } = current.key;
  const indexes = new Set<string>();
  const leftIn = new Set<string>();
  const items = mapValues(current.items, (item, id): DescribedItem => {
    const mixed = new Set<string>();
    const keys: Record<string, string> = { ...item.keys };
    for (const [name, index] of Object.entries(current.indexes)) {
      const [entry, other] = [describedEntry(current, index, id), describedEntry(undone, index, id)];
      if ((entry && isLeft(entry)) || !undone.items[id] || sameEntry(current, undone, [index, id])) continue;
      const filled = keyAttributes(index).filter((attribute) => attribute !== partitionKey && attribute !== sortKey);
      if (entry) {
        indexes.add(name);
        for (const attribute of filled) mixed.add(attribute);
      } else if (other && isOwn) {
        leftIn.add(name);
        for (const attribute of filled) keys[attribute] ??= `${LEFT}${undone.items[id].keys[attribute]}`;
      }
    }
    const marked = (template: string, name: string): string =>
      mixed.has(name) && !isEither([template]) ? `${EITHER}${template}` : template;
    return { ...item, keys: mapValues(keys, marked) };
  });
  return { model: { ...current, items }, indexes: [...indexes], left: [...leftIn] };
};

/**
 * What a table holds after the migration from one model to another was undone: programs that store edges once have neither written
 * nor deleted their second copies.
 *
 * @returns the description, and the edge types
 */
export const withMixedCopies = (
  current: ModelDescription,
  { edges: others = {} }: ModelDescription,
): { readonly model: ModelDescription; readonly edges: readonly string[] } => {
  const { edges = {} } = current;
  const mixed = Object.keys(edges).filter((name) => edges[name] === "twice" && own(others, name) === "once");
  const storage = Object.fromEntries(mixed.map((name) => [name, "mixed"] as const));
  return { model: mixed.length === 0 ? current : { ...current, edges: { ...edges, ...storage } }, edges: mixed };
};

/**
 * What a table holds after the migration from one model to another was undone: values of unique attributes may have no marker,
 * and facts and degrees may be wrong, where the second model does not keep them as the first one does.
 *
 * @param changed facts that the second model keeps of values of another type
 * @returns the description, the unique attributes (`person.email`), and the facts and degrees (`person.posts`, `likes.outDegree`)
 */
export const withUnkept = (
  { unique = [], degrees = [], facts = {}, ...rest }: ModelDescription,
  undone: ModelDescription,
  changed: readonly string[],
): { readonly model: ModelDescription; readonly attributes: readonly string[]; readonly facts: readonly string[] } => {
  const known = new Set(Object.keys(undone.items).map(definitionOf));
  const kept = (names: readonly string[], isSame: (name: string) => boolean | undefined): readonly string[] =>
    names.filter((name) => isSame(name) === true || !known.has(definitionOf(name)));
  const reserved = kept(unique, (name) => undone.unique?.includes(name));
  const counted = kept(degrees, (name) => undone.degrees?.includes(name));
  const right = kept(Object.keys(facts), (name) => undone.facts?.[name] === facts[name] && !changed.includes(name));
  const there = (key: "unique" | "degrees", names: readonly string[]) => names.length > 0 && { [key]: names };
  const computed = Object.keys(facts).length > 0 && { facts: Object.fromEntries(right.map((name) => [name, facts[name] ?? ""])) };
  const model: ModelDescription = { ...rest, ...computed, ...there("degrees", counted), ...there("unique", reserved) };
  const lost = (all: readonly string[], left: readonly string[]): readonly string[] => all.filter((name) => !left.includes(name));
  return { model, attributes: lost(unique, reserved), facts: [...lost(Object.keys(facts), right), ...lost(degrees, counted)] };
};
