import type { Layout } from "edgetable";
import { RESERVED_NAMES } from "edgetable/check";
import { camel, fieldsOf, type KeyTemplate, type KindKeys, type Piece, templateSource } from "./infer-keys.ts";
import { distinct, indexKeysOf, type RawItem, type SampledTable, textOf } from "./sample.ts";
import { looksFixed, type Kind } from "./split-kinds.ts";
import { typeText, zodOfField } from "./value-types.ts";

/** The attributes of a schema, each with its type as zod writes it. */
export type DraftSchema = Readonly<Record<string, string>>;

interface DraftItem {
  readonly schema: DraftSchema;
  readonly ttl?: string;
  readonly dates?: readonly string[];
  /** What the sample does not decide. */
  readonly doubts: readonly string[];
  /** Items of the sample. */
  readonly count: number;
}

export interface DraftNode extends DraftItem {
  readonly key: string;
  readonly stored?: false;
}

export interface DraftPart extends DraftItem {
  readonly of: string;
  readonly key: string;
}

export interface DraftEdge extends DraftItem {
  readonly from: string;
  readonly to: string;
  readonly ends?: "unchecked";
}

/** A model as data, drafted for a table that exists. */
export interface Draft {
  readonly table: string;
  readonly nodes: Readonly<Record<string, DraftNode>>;
  readonly parts: Readonly<Record<string, DraftPart>>;
  readonly edges: Readonly<Record<string, DraftEdge>>;
  readonly layout: Layout;
  readonly settings: SampledTable["settings"];
}

/** A delimiter that no value contains: the attribute is one value, whatever it contains. */
export const WHOLE = "\u0001";

export interface Keyed extends KindKeys {
  readonly kind: Kind;
  readonly partition: KeyTemplate;
  readonly sort: KeyTemplate | undefined;
}

// A template without the names of its fields.
const patternOf = ({ parts, whole }: KeyTemplate): string =>
  JSON.stringify([whole, parts.map((pieces) => pieces.map((piece) => ("text" in piece ? piece.text : [piece.format ?? ""])))]);

const hasText = ({ parts }: KeyTemplate): boolean => parts.flat().some((piece) => "text" in piece && /[A-Za-z]/.test(piece.text));

const literalsOf = (template: KeyTemplate | undefined): readonly string[] =>
  template?.parts.flat().flatMap((piece) => ("text" in piece && /[A-Za-z]/.test(piece.text) ? [piece.text] : [])) ?? [];

const rename = (template: KeyTemplate, names: ReadonlyMap<string, string>): KeyTemplate => ({
  ...template,
  parts: template.parts.map((pieces) =>
    pieces.map((piece): Piece => ("text" in piece ? piece : { ...piece, field: names.get(piece.field) ?? piece.field })),
  ),
});

/** The node whose own item has such a partition key: the one whose sort key is the same, or a fixed word. */
const isOwnItem = ({ partition, sort }: Keyed): number => {
  if (sort === undefined || patternOf(sort) === patternOf(partition)) return 3;
  const [word, ...more] = literalsOf(sort);
  return fieldsOf(sort).length === 0 && word !== undefined && more.length === 0 && looksFixed(word) ? 2 : 1;
};

const isSubset = (some: readonly string[], all: readonly string[]): boolean => some.every((one) => all.includes(one));

interface Owner {
  readonly name: string;
  readonly pattern: string;
  readonly fields: readonly string[];
}

/** What a draft is made of, and what it has so far. */
interface Drafting {
  readonly table: SampledTable;
  readonly keyed: readonly Keyed[];
  readonly delimiter: string;
  readonly typeAttribute: string | undefined;
  readonly sharedIds: boolean;
  readonly nodes: Record<string, DraftNode>;
  readonly parts: Record<string, DraftPart>;
  readonly edges: Record<string, DraftEdge>;
  readonly layouts: Readonly<Record<"nodes" | "parts" | "edges", Record<string, object>>>;
  readonly types: Record<string, "N" | "SS">;
  readonly owners: Owner[];
}

const source = ({ delimiter }: Drafting, template: KeyTemplate): string => templateSource(template, delimiter);

/** The table's keys, then attributes that repeat a field, then index keys: a field is read from the first that has it. */
const rankOf = (table: SampledTable, { attribute, whole }: KeyTemplate): number =>
  attribute === table.partitionKey ? 0 : attribute === table.sortKey ? 1 : whole ? 2 : 3;

const freeName = (d: Drafting, wanted: string): string => {
  const base = RESERVED_NAMES.includes(wanted) || wanted in Object.prototype ? `${wanted}Item` : wanted;
  let name = base;
  for (let number = 2; name in d.nodes || name in d.parts || name in d.edges; number++) name = `${base}${number}`;
  return name;
};

const nameOf = (d: Drafting, { kind, partition, sort }: Keyed, role: "node" | "part"): string => {
  const [fromPartition, fromSort] = [literalsOf(partition), literalsOf(sort)];
  // The last word of a node's key says what it is: a course of `TENANT#{tenant}#COURSE#{course}`.
  const words = role === "node" ? [...fromPartition.toReversed(), ...fromSort] : [...fromSort, ...fromPartition];
  const byKey = role === "part" && fromSort.length === 0 ? undefined : camel(words[0] ?? "");
  const byField =
    role === "node" && d.table.sortKey !== undefined ? camel(fieldsOf(partition)[0]?.replace(/_?[iI]d$/, "") ?? "") : undefined;
  const word = Object.values(kind.match ?? {}).flatMap((one) => ("beginsWith" in one ? [one.beginsWith] : []))[0];
  const wanted = camel(kind.type ?? word ?? "") ?? byKey ?? byField;
  return freeName(
    d,
    wanted ?? (role === "node" ? (camel(d.table.name) ?? "item") : (camel(`${fromPartition[0] ?? d.table.name} item`) ?? "item")),
  );
};

/** The schema of a kind: its own fields, then the attributes that no template fills. */
const itemOf = (
  d: Drafting,
  { kind, templates, fields, doubts }: Keyed,
  skipped: readonly string[],
): DraftItem & { readonly stored: Record<string, string> } => {
  const computed = new Set(templates.map(({ attribute }) => attribute));
  const schema: Record<string, string> = {};
  const stored: Record<string, string> = {};
  for (const [name, { type, optional }] of fields) {
    if (skipped.includes(name)) continue;
    schema[name] = `${zodOfField[type]}${optional ? ".optional()" : ""}`;
  }
  // What the items lack, and others under the same keys have, is an attribute too: `match` names it.
  for (const attribute of distinct([...kind.items.flatMap((item) => Object.keys(item)), ...Object.keys(kind.match ?? {})])) {
    if (computed.has(attribute) || attribute === d.typeAttribute) continue;
    const isName = /^[A-Za-z_$][\w$-]*$/.test(attribute) && !(attribute in Object.prototype) && !(attribute in schema);
    const base = isName ? attribute : (camel(attribute) ?? "attribute");
    let name = base;
    for (let number = 2; name in schema; number++) name = `${base}${number}`;
    const isThere = kind.items.some((item) => Object.hasOwn(item, attribute));
    schema[name] = typeText((isThere ? kind.items : d.table.items).map((item) => item[attribute]));
    if (name !== attribute) stored[name] = attribute;
  }
  const expiry = Object.keys(schema).find((name) => (stored[name] ?? name) === d.table.ttl && schema[name]?.startsWith("z.number()"));
  const isTime = kind.items.every(
    (item) => item[d.table.ttl ?? ""] === undefined || /^\d{1,12}$/.test(textOf(item[d.table.ttl ?? ""]) ?? ""),
  );
  const dates = Object.keys(schema).filter((name) => schema[name]?.startsWith("z.date()"));
  return {
    schema,
    stored,
    doubts,
    count: kind.items.length,
    ...(expiry === undefined || !isTime ? {} : { ttl: expiry }),
    ...(dates.length > 0 ? { dates } : {}),
  };
};

const layoutOf = (
  d: Drafting,
  name: string,
  one: Keyed,
  { defaults, macros }: { readonly defaults: Readonly<Record<string, string>>; readonly macros: Readonly<Record<string, string>> },
): object => {
  const keys: Record<string, string> = {};
  const delimiters: Record<string, string> = {};
  const order = [...one.templates].sort((a, b) => rankOf(d.table, a) - rankOf(d.table, b));
  for (const template of order) {
    const text = source(d, template);
    const macro = Object.entries(macros).find(([, value]) => value === text)?.[0];
    if (defaults[template.attribute] !== text) keys[template.attribute] = macro === undefined ? text : `{${macro}}`;
    if (template.parts.flat().some((piece) => "format" in piece && piece.format === "number")) d.types[template.attribute] = "N";
    else if (template.whole) delimiters[template.attribute] = WHOLE;
  }
  const sparse = order.filter((template) => template.sparse).map(({ attribute }) => attribute);
  const when = Object.fromEntries(order.flatMap((template) => (template.when ? [[template.attribute, template.when] as const] : [])));
  return {
    ...(one.kind.type === undefined
      ? d.typeAttribute === undefined
        ? {}
        : { type: false }
      : one.kind.type === name
        ? {}
        : { type: one.kind.type }),
    ...(Object.keys(keys).length > 0 ? { keys } : {}),
    ...(Object.keys(delimiters).length > 0 ? { delimiters } : {}),
    ...(sparse.length > 0 ? { sparse } : {}),
    ...(Object.keys(when).length > 0 ? { when } : {}),
  };
};

const withStored = (layout: object, stored: Readonly<Record<string, string>>, { match }: Kind): object => {
  const fieldOf = (attribute: string): string => Object.keys(stored).find((name) => stored[name] === attribute) ?? attribute;
  return {
    ...layout,
    ...(Object.keys(stored).length > 0 ? { attributes: stored } : {}),
    ...(match === undefined ? {} : { match: Object.fromEntries(Object.entries(match).map(([name, one]) => [fieldOf(name), one])) }),
  };
};

const addNode = (d: Drafting, one: Keyed): void => {
  const { partition, sort } = one;
  const isOwn = sort === undefined || isSubset(fieldsOf(sort), fieldsOf(partition));
  const key = isOwn ? source(d, partition) : `${source(d, partition)}${d.delimiter}${source(d, sort)}`;
  const name = nameOf(d, one, "node");
  const { stored, ...item } = itemOf(d, one, []);
  d.nodes[name] = { key, ...item };
  const defaults = { [d.table.partitionKey]: key, [d.table.sortKey ?? ""]: key };
  d.layouts.nodes[name] = withStored(layoutOf(d, name, one, { defaults, macros: { key } }), stored, one.kind);
  if (isOwn) d.owners.push({ name, pattern: patternOf(partition), fields: fieldsOf(partition) });
};

/** The node in whose partition an item lies. One without an item of its own is added. */
const ownerOf = (d: Drafting, one: Keyed): Owner => {
  const pattern = patternOf(one.partition);
  const isFree = (name: string): boolean =>
    fieldsOf(one.partition).includes(name) || !one.kind.items.some((item) => Object.hasOwn(item, name));
  // Bare ids of two types: each type has its own d.nodes, unless items of both lie in one partition.
  const partitionOf = (item: RawItem): string | undefined => textOf(item[d.table.partitionKey]);
  const partitions = new Set(one.kind.items.map(partitionOf));
  const meets = d.keyed.some(({ kind }) => kind !== one.kind && kind.items.some((item) => partitions.has(partitionOf(item))));
  const isBare = d.sharedIds && !hasText(one.partition) && !hasText(one.sort!) && !meets;
  const found = isBare ? undefined : d.owners.find((owner) => owner.pattern === pattern && owner.fields.every(isFree));
  if (found) return found;
  const fields = fieldsOf(one.partition);
  const base = camel(literalsOf(one.partition).at(-1) ?? "") ?? camel(fields[0]?.replace(/_?[iI]d$/, "") ?? "") ?? "owner";
  const name = freeName(d, base);
  const schema = Object.fromEntries(fields.map((field) => [field, zodOfField[one.fields.get(field)?.type ?? "text"]]));
  const dates = fields.filter((field) => one.fields.get(field)?.type === "date");
  d.nodes[name] = { key: source(d, one.partition), schema, stored: false, doubts: [], count: 0, ...(dates.length > 0 ? { dates } : {}) };
  if (one.partition.whole) d.layouts.nodes[name] = { delimiters: { [d.table.partitionKey]: WHOLE } };
  const owner = { name, pattern, fields };
  if (!isBare) d.owners.push(owner);
  return owner;
};

const renamed = (one: Keyed, names: ReadonlyMap<string, string>): Keyed => ({
  ...one,
  partition: rename(one.partition, names),
  sort: one.sort && rename(one.sort, names),
  templates: one.templates.map((template) => rename(template, names)),
  fields: new Map([...one.fields].map(([name, field]) => [names.get(name) ?? name, field])),
});
const namesBetween = (from: readonly string[], to: readonly string[]): ReadonlyMap<string, string> =>
  new Map(from.map((name, at) => [name, to[at] ?? name]));

const endsOf = (d: Drafting, one: Keyed): { readonly owner: Owner; readonly target: Owner } | undefined => {
  const { sort, partition, kind } = one;
  if (sort === undefined || !hasText(sort)) return undefined;
  const target = d.owners.find(({ pattern, name }) => pattern === patternOf(sort) && d.nodes[name]?.stored !== false);
  const shared = fieldsOf(sort).some((field) => fieldsOf(partition).includes(field));
  if (!target || shared || kind.items.some((item) => "from" in item || "to" in item)) return undefined;
  const owner = d.owners.find(({ pattern }) => pattern === patternOf(partition)) ?? ownerOf(d, one);
  return { owner, target };
};

const addEdge = (d: Drafting, one: Keyed, { owner, target }: { readonly owner: Owner; readonly target: Owner }): void => {
  const { partition, sort, kind } = one;
  const [from, to] = [fieldsOf(partition), fieldsOf(sort!)];
  const names = new Map([
    ...namesBetween(
      from,
      owner.fields.map((field) => `from.${field}`),
    ),
    ...namesBetween(
      to,
      target.fields.map((field) => `to.${field}`),
    ),
  ]);
  const own = renamed(one, names);
  const name = freeName(d, camel(kind.type ?? "") ?? `${owner.name}${target.name.charAt(0).toUpperCase()}${target.name.slice(1)}`);
  const { stored, ...item } = itemOf(d, own, [...names.values()]);
  const known = new Set(
    d.keyed
      .filter((other) => other !== one)
      .flatMap(({ kind: { items } }) => items)
      .map((other) => textOf(other[d.table.partitionKey])),
  );
  const isChecked = kind.items.every((raw) => known.has(textOf(raw[d.table.sortKey ?? ""])) && d.nodes[owner.name]?.stored !== false);
  d.edges[name] = { from: owner.name, to: target.name, ...(isChecked ? {} : { ends: "unchecked" as const }), ...item };
  const [source0, source1] = [source(d, own.partition), source(d, own.sort!)];
  d.layouts.edges[name] = withStored(
    layoutOf(d, name, own, {
      defaults: { [d.table.partitionKey]: source0, [d.table.sortKey ?? ""]: source1 },
      macros: { from: source0, to: source1 },
    }),
    stored,
    kind,
  );
};

const addPart = (d: Drafting, one: Keyed): void => {
  const owner = ownerOf(d, one);
  const names = namesBetween(fieldsOf(one.partition), owner.fields);
  // `taskId2` is `taskId` where the owner has another name for the partition's field.
  const isFree = (name: string): boolean =>
    names.has(name) && ![...names.values()].includes(name) && !one.kind.items.some((item) => Object.hasOwn(item, name));
  const bare = [...one.fields.keys()].map((name) => [name, name.replace(/2$/, "")] as const).filter(([, name]) => isFree(name));
  const own = renamed(one, new Map([...bare, ...names]));
  const { partition, sort } = own;
  const ofOwner = fieldsOf(partition);
  const isOwn = (pieces: readonly Piece[]): boolean => pieces.every((piece) => !("field" in piece) || !ofOwner.includes(piece.field));
  // The words before a field of the owner belong to it.
  const shared = sort!.parts.findLastIndex((pieces) => !isOwn(pieces));
  const key = source(d, { ...sort!, parts: sort!.parts.slice(shared + 1) });
  const name = nameOf(d, one, "part");
  const { stored, ...item } = itemOf(d, own, ofOwner);
  d.parts[name] = { of: owner.name, key, ...item };
  const defaults = { [d.table.partitionKey]: source(d, partition), [d.table.sortKey ?? ""]: key };
  d.layouts.parts[name] = withStored(layoutOf(d, name, own, { defaults, macros: { key } }), stored, one.kind);
};

// A part whose sort key has fields between the owner's cannot be told from its own fields: a node with a key of both.
const isPart = ({ partition, sort }: Keyed): boolean => {
  const ofOwner = fieldsOf(partition);
  const ownAt = sort!.parts.findIndex((pieces) => pieces.some((piece) => "field" in piece && !ofOwner.includes(piece.field)));
  const ownersAt = sort!.parts.findLastIndex((pieces) => pieces.some((piece) => "field" in piece && ofOwner.includes(piece.field)));
  return ownAt < 0 ? ownersAt < 0 : ownAt > ownersAt;
};

/** How items of one table are told apart. */
export interface DraftOptions {
  readonly delimiter: string;
  readonly typeAttribute: string | undefined;
  readonly typeIsSet?: boolean | undefined;
  readonly sharedIds: boolean;
}

const layoutOfTable = ({ table, delimiter, typeAttribute, sharedIds, types, layouts }: Drafting): Layout => {
  const indexes = Object.fromEntries(
    Object.entries(table.indexes).filter(([, index]) => indexKeysOf(index).every((name) => table.types[name] !== "B")),
  );
  const filled = (items: Readonly<Record<string, object>>): object =>
    Object.fromEntries(Object.entries(items).filter(([, item]) => Object.keys(item).length > 0));
  const groups = Object.entries(layouts).map(([group, items]) => [group, filled(items)] as const);
  return {
    partitionKey: table.partitionKey,
    ...(table.sortKey === undefined ? {} : { sortKey: table.sortKey }),
    ...(delimiter === "#" ? {} : { delimiter }),
    ...(typeAttribute === undefined ? {} : { typeAttribute }),
    ...(Object.keys(types).length > 0 ? { types } : {}),
    ...(sharedIds ? { sharedIds } : {}),
    ...(Object.keys(indexes).length > 0 ? { indexes } : {}),
    ...Object.fromEntries(groups.filter(([, items]) => Object.keys(items).length > 0)),
  };
};

/** Gives each kind its role and name, and writes the layout that follows. */
export const draftOf = (table: SampledTable, keyed: readonly Keyed[], options: DraftOptions): Draft => {
  const numbers = Object.entries(table.types).filter(([, type]) => type === "N");
  const d: Drafting = {
    table,
    keyed,
    ...options,
    nodes: {},
    parts: {},
    edges: {},
    layouts: { nodes: {}, parts: {}, edges: {} },
    types: {
      ...Object.fromEntries(numbers.map(([name]) => [name, "N" as const])),
      ...(options.typeIsSet ? { [options.typeAttribute ?? ""]: "SS" as const } : {}),
    },
    owners: [],
  };
  // Nodes first: what lies in the partition of a node is its part or its edge.
  const ranked = [...keyed].sort((a, b) => isOwnItem(b) - isOwnItem(a) || fieldsOf(a.partition).length - fieldsOf(b.partition).length);
  const rest: Keyed[] = [];
  for (const one of ranked) {
    const { partition, sort } = one;
    const isOwn = sort === undefined || isSubset(fieldsOf(sort), fieldsOf(partition));
    const hasOwner = d.owners.some(({ pattern }) => pattern === patternOf(partition));
    if (isOwn && (!hasOwner || sort === undefined || patternOf(sort) === patternOf(partition))) addNode(d, one);
    else rest.push(one);
  }

  // Kinds with more fixed text come first: an item is of the first kind that its keys fit.
  const fixedText = ({ sort }: Keyed): number => literalsOf(sort).join("").length;
  for (const one of rest.toSorted((a, b) => fixedText(b) - fixedText(a))) {
    const ends = endsOf(d, one);
    if (ends) addEdge(d, one, ends);
    else if (isPart(one)) addPart(d, one);
    else addNode(d, one);
  }
  const { nodes, parts, edges } = d;
  return { table: table.name, nodes, parts, edges, settings: table.settings, layout: layoutOfTable(d) };
};
