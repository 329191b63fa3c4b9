import type { AttributeValue } from "edgetable";
import { distinct, keyAttributesOf, type RawItem, type SampledTable, textOf } from "./sample.ts";

/** Items that one definition of the model will describe. */
export interface Kind {
  /** The value of the type attribute; undefined in a table without one. */
  readonly type: string | undefined;
  readonly items: readonly RawItem[];
  /** By attribute, what tells these items from those of other kinds under keys of one form. */
  readonly match?: Readonly<Record<string, { readonly beginsWith: string } | { readonly exists: boolean }>>;
}

/** How the items of a table are told apart. */
export interface Kinds {
  readonly delimiter: string;
  readonly typeAttribute: string | undefined;
  /** True if the type attribute is a set that holds one text. */
  readonly typeIsSet?: boolean;
  readonly kinds: readonly Kind[];
}

const DELIMITERS = ["#", "|", ":", "/", "~", "_", "."];
/** Sort keys that are fixed words in so many tables that one item suffices to tell. */
const FIXED = /^(?:meta(?:data)?|root|info|profile|details?|summary|config|settings|stats|current|latest|count|all|self|data)$/i;
const TYPE_NAMES = /^_*(?:et|edb_e_*|type|kind|entity|entity_?type|item_?type|model|class)_*$/i;

/** True if a text is a fixed word by its looks: `METADATA`, `#PROFILE`, `$user_1`, `root`. */
export const looksFixed = (text: string): boolean => /^[$#@]./.test(text) || /^[A-Z][A-Z_-]+$/.test(text) || FIXED.test(text);

/** The character between the parts of keys: the one that most key values contain; "#" where none does. */
const delimiterOf = (table: SampledTable): string => {
  const values = table.items.flatMap((item) =>
    [table.partitionKey, table.sortKey ?? ""].flatMap((name) => (item[name] && "S" in item[name] ? [item[name].S] : [])),
  );
  let best = "#";
  let most = 0;
  for (const one of DELIMITERS) {
    // The others also occur inside of ids, dates and addresses.
    const count = values.filter((value) =>
      one === "#" ? value.includes(one) : /^[A-Za-z$]+$/.test(value.split(one, 1)[0] ?? "") && value.includes(one),
    ).length;
    if (count > most * 1.5) [best, most] = [one, count];
  }
  return best;
};

const LEADS = 30;

/** The fixed beginnings of an attribute's values. Beginnings that nearly every item has for itself are ids, not words. */
const leadsOf = (texts: readonly string[], delimiter: string): ReadonlySet<string> => {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const lead = leadOf(text, delimiter);
    if (lead !== undefined) counts.set(lead, (counts.get(lead) ?? 0) + 1);
  }
  const most = Math.max(LEADS, texts.length / 50);
  if (counts.size <= most) return new Set(counts.keys());
  return new Set([...counts].filter(([lead, count]) => count > texts.length / 200 || looksFixed(lead)).map(([lead]) => lead));
};

/** The first part of a text of several parts that is a word; undefined if there is none. */
const leadOf = (text: string, delimiter: string): string | undefined => {
  const parts = text.split(delimiter);
  if (parts.length < 2) return undefined;
  const at = parts.findIndex((part) => part !== "");
  const lead = parts.slice(0, at + 1).join(delimiter);
  return at >= 0 && /[A-Za-z]/.test(lead) && !/\s/.test(lead) ? lead : undefined;
};

const attributeNames = (item: RawItem): string => Object.keys(item).toSorted().join("\u0000");

/** Whole sort keys that are fixed words: they occur under several partition keys, and no attribute repeats them. */
const fixedSortKeys = ({ partitionKey, sortKey = "", items }: SampledTable, delimiter: string): ReadonlySet<string> => {
  const under = new Map<string, RawItem[]>();
  for (const item of items) {
    const text = textOf(item[sortKey]);
    if (text !== undefined && !text.includes(delimiter)) under.set(text, [...(under.get(text) ?? []), item]);
  }
  const isFixed = (text: string, group: readonly RawItem[]): boolean => {
    if (looksFixed(text)) return true;
    const partitions = distinct(group.map((item) => textOf(item[partitionKey])));
    if (partitions.length < 2 || /[\s\d]/.test(text)) return false;
    const repeats = Object.keys(group[0] ?? {}).some((name) => name !== sortKey && group.every((item) => textOf(item[name]) === text));
    return !repeats;
  };
  const fixed = [...under].filter(([text, group]) => isFixed(text, group));
  // Words that items of one form share with other values are values too: the title of a game under each player.
  const forms = distinct(fixed.map(([, group]) => attributeNames(group[0] ?? {})));
  const areValues = fixed.length > 8 && forms.length < fixed.length / 2;
  return new Set(areValues ? [] : fixed.map(([text]) => text));
};

const ISO = /^\d{4}-\d\d-\d\d/;

const COUNTED = /^([A-Za-z]{1,3})\d+$/;

/** The letters before the numbers of `c1`, `c2`. One such text, such as `S3`, is a name. */
const countedLeads = (texts: readonly string[]): ReadonlySet<string> => {
  const leads = distinct(texts).flatMap((text) => COUNTED.exec(text)?.[1] ?? []);
  return new Set(leads.filter((lead, at) => leads.indexOf(lead) !== at));
};

interface Forms {
  readonly delimiter: string;
  readonly leads: ReadonlySet<string>;
  readonly fixed: ReadonlySet<string>;
  readonly counted: ReadonlySet<string>;
}

/** The form of a key's text: its fixed beginning and its number of parts. */
const formOf = (text: string, { delimiter, leads, fixed, counted }: Forms): string => {
  if (fixed.has(text)) return `=${text}`;
  if (ISO.test(text)) return "date";
  const parts = text.split(delimiter).length;
  const lead = leadOf(text, delimiter);
  if (lead !== undefined && leads.has(lead)) return `${lead}${delimiter}${parts}`;
  const letters = parts === 1 ? COUNTED.exec(text)?.[1] : undefined;
  return letters === undefined || !counted.has(letters) ? `*${parts}` : `${letters}0`;
};

/** Groups items by the forms of their table keys. */
const groupByForm = (table: SampledTable, delimiter: string, typeOf: (item: RawItem) => string | undefined): readonly Kind[] => {
  const { partitionKey, sortKey, items } = table;
  const names = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
  const fixed = sortKey === undefined ? new Set<string>() : fixedSortKeys(table, delimiter);
  const settings = names.map((name, at) => {
    const texts = items.flatMap((item) => textOf(item[name]) ?? []);
    return { name, delimiter, leads: leadsOf(texts, delimiter), fixed: at === 0 ? new Set<string>() : fixed, counted: countedLeads(texts) };
  });
  const groups = new Map<string, { type: string | undefined; items: RawItem[] }>();
  for (const item of items) {
    const type = typeOf(item);
    const forms = settings.map((one) => ("N" in (item[one.name] ?? {}) ? "N" : formOf(textOf(item[one.name]) ?? "", one)));
    const id = JSON.stringify([type, ...forms]);
    const group = groups.get(id) ?? { type, items: [] };
    group.items.push(item);
    groups.set(id, group);
  }
  return [...groups.values()];
};

/** The type that an attribute says: a text, or a set of one. */
const typeText = (value: AttributeValue | undefined): string | undefined =>
  value === undefined ? undefined : "S" in value ? value.S : "SS" in value && value.SS.length === 1 ? value.SS[0] : undefined;

/**
 * An attribute whose value follows from the form of the item's keys, and of which there are few values. Every item has it; or
 * every item of most kinds, if it is called a type.
 */
const typeAttributeOf = (table: SampledTable, delimiter: string): string | undefined => {
  const keys = keyAttributesOf(table);
  const [first] = table.items;
  if (first === undefined) return undefined;
  const isType = (item: RawItem, name: string): boolean => !Object.hasOwn(item, name) || typeText(item[name]) !== undefined;
  const inOneForm = (name: string): boolean => distinct(table.items.flatMap((item) => Object.keys(item[name] ?? {}))).length === 1;
  const names = distinct(table.items.flatMap((item) => Object.keys(item))).filter(
    (name) => !keys.includes(name) && inOneForm(name) && table.items.every((item) => isType(item, name)),
  );
  const everywhere = names.filter((name) => table.items.every((item) => Object.hasOwn(item, name)));
  const kinds = groupByForm(table, delimiter, () => undefined);
  const values = (name: string, items: readonly RawItem[]): readonly (string | undefined)[] =>
    distinct(items.map((item) => typeText(item[name])));
  const follows = (name: string): boolean => kinds.every(({ items }) => values(name, items).length === 1);
  const named = everywhere.find((name) => TYPE_NAMES.test(name) && values(name, table.items).length <= Math.max(LEADS, kinds.length * 4));
  if (named !== undefined) return named;
  const telling = everywhere.find(
    (name) => kinds.length > 1 && values(name, table.items).length > 1 && table.items.every((item) => "S" in item[name]!) && follows(name),
  );
  if (telling !== undefined) return telling;
  // Items of some kinds have none: each of the others has one of its own.
  return names.find((name) => {
    const types = kinds.flatMap(({ items }) => values(name, items).filter((value) => value !== undefined));
    return (
      TYPE_NAMES.test(name) &&
      follows(name) &&
      types.length > kinds.length / 2 &&
      types.length === distinct(types).length &&
      types.length > 1
    );
  });
};

const WORD = /^[A-Za-z]+[^A-Za-z0-9\s]/;

/**
 * Items under keys of one form that are of several kinds: an attribute begins with one of a few words, and by each word the items
 * have other attributes, some of which no items of another word have.
 */
const splitByWord = (kind: Kind, keys: readonly string[]): readonly Kind[] => {
  const names = distinct(kind.items.flatMap((item) => Object.keys(item))).filter((name) => !keys.includes(name));
  for (const attribute of names) {
    const groups = new Map<string, RawItem[]>();
    for (const item of kind.items) {
      const word = "S" in (item[attribute] ?? {}) ? WORD.exec(textOf(item[attribute]) ?? "")?.[0] : undefined;
      groups.set(word ?? "", [...(groups.get(word ?? "") ?? []), item]);
    }
    const all = [...groups.values()];
    if (groups.has("") || groups.size < 2 || all.some((items) => items.length < 2)) continue;
    const hasOwn = (items: readonly RawItem[]): boolean =>
      names.some(
        (name) => items.every((item) => name in item) && all.every((others) => others === items || others.every((item) => !(name in item))),
      );
    if (all.every(hasOwn)) return [...groups].map(([beginsWith, items]) => ({ ...kind, items, match: { [attribute]: { beginsWith } } }));
  }
  return [kind];
};

/**
 * Tells items under a fixed sort key from items of the same partitions under values, which could be that word: by an attribute that
 * each of the former has and none of the latter.
 */
const tellFixedApart = (kinds: readonly Kind[], table: SampledTable, delimiter: string): readonly Kind[] => {
  const { partitionKey, sortKey = "" } = table;
  const keys = keyAttributesOf(table);
  const partsOf = ({ items }: Kind): readonly (readonly string[])[] => items.map((item) => (textOf(item[sortKey]) ?? "").split(delimiter));
  const haveValues = kinds.map((kind) => distinct(partsOf(kind).map(([first]) => first)).length > 1);
  const partitions = kinds.map(({ items }) => new Set(items.map((item) => textOf(item[partitionKey]))));
  const matches: Record<string, { readonly exists: boolean }>[] = kinds.map(() => ({}));
  for (const [at, kind] of kinds.entries()) {
    const [word, ...others] = distinct(kind.items.map((item) => textOf(item[sortKey])));
    if (word === undefined || others.length > 0) continue;
    const rivals = [...kinds.keys()].filter(
      (other) =>
        other !== at &&
        haveValues[other] &&
        partsOf(kinds[other]!)[0]?.length === word.split(delimiter).length &&
        [...partitions[other]!].some((one) => partitions[at]!.has(one)),
    );
    const name = Object.keys(kind.items[0] ?? {}).find(
      (one) =>
        !keys.includes(one) &&
        kind.items.every((item) => one in item) &&
        rivals.every((rival) => kinds[rival]!.items.every((item) => !(one in item))),
    );
    if (rivals.length === 0 || name === undefined) continue;
    matches[at]![name] = { exists: true };
    for (const rival of rivals) matches[rival]![name] = { exists: false };
  }
  return kinds.map((kind, at) => (Object.keys(matches[at]!).length === 0 ? kind : { ...kind, match: { ...kind.match, ...matches[at] } }));
};

/**
 * Splits the items of a table into kinds: by the type attribute, by each key's fixed beginning and number of parts, and by the words
 * with which an attribute begins.
 *
 * @param way `typed`: by the type attribute too, if there is one; `told`: by attributes that only items under a fixed sort key have
 */
export const splitKinds = (table: SampledTable, { typed, told }: { readonly typed: boolean; readonly told: boolean }): Kinds => {
  const delimiter = delimiterOf(table);
  const typeAttribute = typed ? typeAttributeOf(table, delimiter) : undefined;
  const typeOf = (item: RawItem): string | undefined => (typeAttribute === undefined ? undefined : typeText(item[typeAttribute]));
  const split = groupByForm(table, delimiter, typeOf).flatMap((kind) => splitByWord(kind, keyAttributesOf(table)));
  const kinds = told ? tellFixedApart(split, table, delimiter) : split;
  const typeIsSet = typeAttribute !== undefined && table.items.some((item) => "SS" in (item[typeAttribute] ?? {}));
  return { delimiter, typeAttribute, typeIsSet, kinds };
};
