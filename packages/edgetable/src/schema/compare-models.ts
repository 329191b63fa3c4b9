import { own } from "../util/row.ts";
import { type Catalog, type EdgeEntry, keyAttributes, type KeyNames, type Shape } from "./catalog.ts";
import {
  definitionOf,
  type DescribedItem,
  describedEntry,
  type DescribedShards,
  type DescribedStorage,
  type ModelDescription,
} from "./describe-model.ts";
import { attributesOf } from "./facts.ts";

const STORAGE = {
  once: "once",
  twice: "twice",
  mixed: "once or twice",
  symmetric: "without direction, with an item at either end",
  reference: "in the items of their sources",
} as const;

/** Says of edge types, by name, that their second copies cannot be relied on. */
export const mixedText = (edges: readonly string[]): string =>
  `Second copies of ${edges.map((name) => `"${name}"`).join(", ")} may be missing or outdated`;

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
  if (was === "mixed") return { was, is, says: `${mixedText([name])}: a migration to a model that stores such edges once was undone` };
  return { was, is, says: `Edges of "${name}" are stored ${STORAGE[was]}, and the model stores them ${STORAGE[is]}` };
};

/**
 * A recorded model in which kinds go by the names that they have in a model: the items of an edge type are called by its ends
 * (`likes(person>post)`) only where there are several types at one.
 */
export const underOurNames = (recorded: ModelDescription, ours: ModelDescription, { index, shapes }: Catalog): ModelDescription => {
  const keysOf = (item: DescribedItem | undefined): string =>
    keyAttributes(index)
      .map((name) => item?.keys[name])
      .join("\n");
  const items: Record<string, DescribedItem> = { ...recorded.items };
  for (const { id, kind, definition, role, from, to } of shapes) {
    if (kind !== "edge" || own(recorded.items, id)) continue;
    const copy = role === "mirror" ? ":mirror" : "";
    const alone = `${definition}${copy}`;
    const before = id === alone ? `${definition}(${from}>${to})${copy}` : alone;
    const item = own(recorded.items, before);
    if (!item) continue;
    // Of several kinds, the one with the keys that there were; all of them where none has: their keys have changed.
    const alike = shapes.filter((one) => one.definition === definition && one.role === role && keysOf(ours.items[one.id]) === keysOf(item));
    if (alike.length > 0 && !alike.some((one) => one.id === id)) continue;
    items[id] = item;
    delete items[before];
  }
  return { ...recorded, items };
};

/** What an edge's copy holds alone, as a sentence, where a model reads more from it than a recorded model stores there. */
export const lackingCopy = ({ items }: ModelDescription, { id, copied }: Pick<Shape, "id" | "copied">): string | undefined => {
  const held = items[id]?.copied;
  if (!held || copied?.every((attribute) => held.includes(attribute))) return undefined;
  return `"${id}" holds ${held.map((attribute) => `"${attribute}"`).join(", ")} and nothing else, and the model reads more from it`;
};

/** Whether a model reads the values of an attribute in another type than a recorded one, because it was retyped. */
const isRetyped = (recorded: ModelDescription, ours: ModelDescription, definition: string, attribute: string): boolean =>
  Object.keys(ours.items).some((id) => {
    if (definitionOf(id) !== definition || !recorded.items[id]) return false;
    const [was, is] = [recorded.items[id].former?.[attribute], ours.items[id]?.former?.[attribute]];
    // Once items hold the new type, a model no longer says that they were retyped.
    return (is?.retyped ?? false) !== (was?.retyped ?? false) && (is?.retyped === true || was?.stored !== "new");
  });

/** The derived attributes and copies that a model has otherwise than a recorded one, or of values that it reads in another type. */
export const changedFacts = (recorded: ModelDescription, ours: ModelDescription, { edges, facts, parts }: Catalog): readonly string[] => {
  const { aggregates, summaries, copies } = facts;
  const names = new Set(Object.keys(ours.facts ?? {}).filter((name) => recorded.facts?.[name] !== ours.facts?.[name]));
  for (const { onto, attribute, end, of } of copies) {
    const nodes = onto.kind === "part" ? [own(parts, onto.name)?.definition.of ?? ""] : (own(edges, onto.name)?.[end] ?? []);
    if (nodes.some((node) => isRetyped(recorded, ours, node, of))) names.add(`${onto.name}.${attribute}`);
  }
  for (const fact of [...aggregates, ...summaries]) {
    const used = [...(fact.of === undefined ? [] : [fact.of]), ...Object.keys(fact.where ?? {})];
    if (used.some((attribute) => isRetyped(recorded, ours, fact.over.name, attribute)))
      names.add(`${"node" in fact ? fact.node : fact.edge}.${fact.attribute}`);
  }
  return [...names];
};

/** Attributes of definitions that items hold under a new name alone, with their names before: `{ person: { fullName: "name" } }`. */
export type EndedRenamings = Readonly<Record<string, Readonly<Record<string, string>>>>;

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
  for (const [id, { former = {} }] of Object.entries(underOurNames(recorded.model, ours, catalog).items))
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
  const changed = [...values].flatMap((value) => {
    const [written = 1] = countsOf(old, value);
    const counts = countsOf(now, value);
    return counts[0] === written ? [] : [{ value, written, counts }];
  });
  return old.either ? [...changed, ...changedCounts(old.either, now)] : changed;
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
