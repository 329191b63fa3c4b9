import { hasShard, keyBytes, leadOf, templatesOverlap, type Template } from "../../keys/template.ts";
import {
  definitionOf,
  endPaths,
  idPaths,
  keyAttributes,
  matchesDiffer,
  type Catalog,
  type EdgeEntry,
  type Shape,
  typesDiffer,
} from "../catalog.ts";
import { degreeLimit, isSingle } from "../definition.ts";
import type { CopyFact, DerivedFact } from "../facts.ts";
import { fieldBesidePartition, guardedEnds } from "../guarded-ends.ts";
import { attributeNames } from "../standard-schema.ts";
import { SYSTEM_ATTRIBUTES, VERSION } from "../system-items.ts";
import { comparedAttributes } from "./check-facts.ts";
import { plainAttributes, reportUnknown, type Report } from "./finding.ts";

const placeOf = (shape: Shape): string => `${shape.kind}s.${shape.definition}`;

/** The fixed text of keys must leave room: "Partition key length 1 to 2048 bytes, sort key 1 to 1024 bytes", ServiceQuotas. */
const checkLength = (catalog: Catalog, shape: Shape, report: Report): void => {
  const indexes = [catalog.index, ...catalog.indexes];
  for (const [attribute, template] of Object.entries(shape.keys)) {
    const isSortKey = indexes.some(({ sortKeys }) => sortKeys.includes(attribute));
    if (!isSortKey && !indexes.some(({ partitionKeys }) => partitionKeys.includes(attribute))) continue;
    let bytes = 0;
    for (const part of template.parts) bytes += part.kind === "literal" ? keyBytes(part.text) : 1;
    const limit = isSortKey ? 1024 : 2048;
    if (bytes > limit)
      report(
        "keyLength",
        `${placeOf(shape)}.${attribute}`,
        `its fixed text alone takes ${bytes} bytes, and DynamoDB allows ${limit}. Shorten it.`,
      );
  }
};

/** What identifies an item among its kind has to be in its table key, and readable. */
const checkIdentity = (catalog: Catalog, shape: Shape, report: Report): void => {
  const { definition: name, from, role } = shape;
  const [near, far] = role === "mirror" ? (["to", "from"] as const) : (["from", "to"] as const);
  const edge = shape.kind === "edge" ? catalog.edges[name] : undefined;
  // If a node has at most one edge of the type, the node's id identifies the edge.
  const ends = edge && degreeLimit(edge.definition, near) === 1 ? ([near] as const) : ([near, far] as const);
  const keys = keyAttributes(catalog.index).map((attribute) => shape.keys[attribute]);
  const held = new Set([...keys.flatMap((template) => template?.carried ?? []), ...Object.keys(shape.folded)]);
  const missing = idPaths(catalog, shape, ends).filter((path) => !held.has(path));
  const hasSortKey = catalog.index.sortKey !== undefined;
  if (missing.length > 0 && shape.kind !== "node" && !hasSortKey) {
    const fields = missing.map((path) => `{${path}}`).join(" and ");
    const side = role === "mirror" ? `${name}.mirror` : name;
    report(
      "identity",
      placeOf(shape),
      shape.kind === "part"
        ? `the table has no sort key, so "${name}" would replace its "${from}". Give the layout a sortKey, or declare "${name}" as a node with a reference to "${from}".`
        : `the table has no sort key, so an edge needs its own partition key with both its ends: ${fields} ${missing.length === 1 ? "is" : "are"} not in it. Give layout.edges.${side}.keys.${catalog.index.partitionKey} a template such as "${name}#{from}#{to}", store the edge as a "reference", or give the layout a sortKey.`,
    );
  } else {
    const sources = keys.map((key) => key?.source).join(" / ");
    for (const path of missing)
      report(
        "identity",
        placeOf(shape),
        `two of "${shape.id}" that differ only in {${path}} would be one item: ${sources} does not contain it. Add it to ${hasSortKey ? "the sort key" : "that key"}.`,
      );
  }
  if (shape.kind === "node") return;
  // Ids of an edge's ends, and of a part's node, that keys hold in one case only: nothing else of the item would say them.
  const schema = definitionOf(catalog, shape)?.schema;
  const own = new Set(schema && attributeNames(schema));
  for (const path of idPaths(catalog, shape)) {
    const form = shape.folded[path];
    if (form === undefined || shape.carried.includes(path) || own.has(path)) continue;
    report(
      "identity",
      placeOf(shape),
      `{${path}} is in the table's keys as {${path}:${form}} alone, which cannot be read back. Store it beside them: verbatim: { ${path.split(".").at(-1)}: "${path}" }.`,
    );
  }
};

/** Names under which attributes are stored: each once, and each of an attribute that is stored. */
const checkStoredNames = (catalog: Catalog, shape: Shape, report: Report): void => {
  const { index, typeAttribute } = catalog;
  const taken = new Map<string, string>();
  for (const attribute of Object.keys(shape.keys)) taken.set(attribute, "a computed attribute");
  for (const key of keyAttributes(index)) taken.set(key, "a key of the table");
  for (const name of SYSTEM_ATTRIBUTES) taken.set(name, "Edgetable's own");
  taken.set("__proto__", "not usable in JavaScript");
  if (typeAttribute !== undefined) taken.set(typeAttribute, "the type attribute");
  const mend = catalog.escapes ? "Rename the attribute." : "Store it under another name: layout attributes.";
  for (const [name, stored] of plainAttributes(catalog, shape)) {
    const other = taken.get(stored);
    taken.set(stored, `"${name}"`);
    if (other !== undefined)
      report("storedName", `${placeOf(shape)}.${name}`, `"${name}" would be stored as "${stored}", which is ${other}. ${mend}`);
  }
  if (typeAttribute !== undefined && typeAttribute in shape.keys && !keyAttributes(index).includes(typeAttribute))
    report("storedName", placeOf(shape), `"${typeAttribute}" is the type attribute and cannot be a template too. Leave one of them out.`);
  if (shape.version && (Object.hasOwn(shape.fields, VERSION) || VERSION in shape.stored))
    report(
      "storedName",
      placeOf(shape),
      `"${VERSION}" is the number that counts the item's writes, and is stored under that name. Store the other attribute under another name.`,
    );
  // No item would have an attribute whose field is read from a key.
  for (const [name, stored] of Object.entries(shape.stored)) {
    const source = shape.sources.find(({ template }) => template.carried.includes(name));
    if (!source || shape.former?.[name] || shape.keys[stored]?.carried.includes(name)) continue;
    const { attribute, template } = source;
    const fields = [...template.source.matchAll(/[{]([^}]*)/g)].map(([, field = ""]) => field);
    const field = fields.find((one) => one.split(":")[0]?.trim() === name) ?? name;
    report(
      "storedName",
      `${placeOf(shape)}.${name}`,
      `"${name}" is read from "${attribute}" (${template.source}), so "${stored}" would not be stored. To store it too, compute it: keys: { ${JSON.stringify(stored)}: "{${field}}" } in place of attributes.`,
    );
  }
};

/** What tells the items of a kind from others: attributes of the schema that are stored as they are. */
const checkMatches = (catalog: Catalog, shape: Shape, report: Report): void => {
  if (shape.role === "reference") return;
  const known = new Map(plainAttributes(catalog, shape));
  const names = definitionOf(catalog, shape)?.schema && attributeNames(definitionOf(catalog, shape)!.schema!);
  for (const { field, attribute, values, beginsWith, exists } of shape.match) {
    const place = `layout.${placeOf(shape)}.match.${field}`;
    if (names && !names.includes(field) && !known.has(field)) {
      reportUnknown(report, `layout.${placeOf(shape)}.match`, [field], {
        rule: "attribute",
        what: `an attribute of "${shape.definition}"`,
        known: names,
      });
      continue;
    }
    const template = shape.keys[attribute];
    const [only, ...others] = template?.parts ?? [];
    const isPlain = template ? only?.kind === "field" && only.path === field && others.length === 0 : !shape.carried.includes(field);
    if (!isPlain || shape.former?.[field])
      report(
        "attribute",
        place,
        shape.former?.[field]
          ? `"${field}" is renamed or retyped, so items hold it in two forms. Name an attribute that has one.`
          : `"${field}" is read from a key. Say its form there, such as {${field}:digits}, or store it beside the key: verbatim.`,
      );
    const forms = [
      values !== undefined &&
        values.length > 0 &&
        values.every((value) => ["string", "number", "bigint", "boolean"].includes(typeof value)),
      typeof beginsWith === "string" && beginsWith !== "",
      typeof exists === "boolean",
    ];
    if (forms.filter(Boolean).length !== 1)
      report("setting", place, "give a value, a list of values, { beginsWith: TEXT } or { exists: true or false }.");
  }
};

/** What transactions keep by the values of an attribute: it follows changes of that attribute alone. */
const keptBy = ({ facts, nodes, edges, parts }: Catalog, { kind, definition: name }: Shape, field: string): string | undefined => {
  if (kind === "node" && nodes[name]?.definition.unique?.includes(field)) return "unique";
  const isOver = ({ over, of, where, freshness }: DerivedFact): boolean =>
    freshness === "transaction" &&
    over.kind === kind &&
    over.name === name &&
    (of === field || comparedAttributes({ where }).includes(field));
  const isOf = ({ onto, end, of, freshness }: CopyFact): boolean => {
    const types = onto.kind === "edge" ? (edges[onto.name]?.[end] ?? []) : [parts[onto.name]?.definition.of];
    return freshness !== "stream" && kind === "node" && of === field && types.includes(name);
  };
  const fact = [...facts.aggregates, ...facts.summaries].find(isOver) ?? facts.copies.find(isOf);
  return fact && `"${fact.attribute}"`;
};

/** Fields that a layout fills: index keys hold them, and nothing else does. */
const checkFills = (catalog: Catalog, shape: Shape, report: Report): void => {
  const definition = definitionOf(catalog, shape);
  const names = definition?.schema && attributeNames(definition.schema);
  const tableKeys = keyAttributes(catalog.index);
  for (const { field, sources } of shape.role === "reference" ? [] : shape.fills) {
    const place = `layout.${placeOf(shape)}.fill.${field}`;
    const heads = sources.flatMap((source) => [...source.template.fields, ...(source.with === undefined ? [] : [source.with])]);
    const known = names && [
      ...names,
      ...(shape.kind === "node" ? [] : ["from", "to", ...(catalog.nodes[shape.from ?? ""]?.idFields ?? [])]),
    ];
    reportUnknown(report, place, [field, ...heads.map((path) => path.split(".")[0] ?? path)], {
      rule: "attribute",
      what: `an attribute of "${shape.definition}"`,
      known,
    });
    const keys = Object.entries(shape.keys).flatMap(([attribute, { fields }]) => (fields.includes(field) ? [attribute] : []));
    if (sources.length === 0) report("setting", place, 'nothing fills it. Give a template, such as "{owner}".');
    else if (heads.includes(field)) report("setting", place, "it would be filled from itself. Name other attributes.");
    else if (keys.length === 0 || keys.some((attribute) => tableKeys.includes(attribute)) || !shape.carried.includes(field))
      report("setting", place, `"${field}" has to be in a key of an index from which it is read, and in no key of the table.`);
    const kept = keptBy(catalog, shape, field);
    if (kept !== undefined)
      report(
        "setting",
        place,
        `${kept} uses "${field}", but does not notice changes of the attributes that fill it. Name these attributes there${kept === "unique" ? "" : ', or let the stream maintain it (freshness: "stream")'}.`,
      );
  }
};

/** The fields that the table key of a shape's items takes beside what identifies them: an id alone does not tell the key. */
const fieldsBesideId = (catalog: Catalog, shape: Shape): readonly string[] => {
  const ids = idPaths(catalog, shape);
  return keyAttributes(catalog.index).flatMap((attribute) => shape.keys[attribute]?.fields.filter((path) => !ids.includes(path)) ?? []);
};

/** Facts that writes of other rows keep in a node, or take from it: they know its id, and have to know its key. */
const checkFactsByKey = (catalog: Catalog, shape: Shape, report: Report): void => {
  const { nodes, edges, parts, facts } = catalog;
  const [field] = shape.kind === "node" || shape.kind === "edge" ? fieldsBesideId(catalog, shape) : [];
  if (field === undefined || shape.role === "mirror" || shape.role === "reference") return;
  const say = `the table key of "${shape.definition}" holds "${field}" too, which its id does not tell. Put "${field}" into the key of an index instead`;
  const owner = shape.kind === "node" ? nodes[shape.definition] : edges[shape.definition];
  for (const [name, { freshness }] of Object.entries(owner?.definition.derived ?? {}))
    if (freshness !== "batch")
      report(
        "setting",
        `${placeOf(shape)}.derived.${name}`,
        `a write of another row cannot find where to store it: ${say}, or leave it out.`,
      );
  for (const { onto, end, attribute } of shape.kind === "node" ? facts.copies : []) {
    const types = onto.kind === "edge" ? edges[onto.name]?.[end] : [parts[onto.name]?.definition.of];
    if (types?.includes(shape.definition))
      report(
        "setting",
        `${onto.kind}s.${onto.name}.copies.${attribute}`,
        `a write cannot find what to copy: ${say}, or leave the copy out.`,
      );
  }
};

/** The counter of a node's edges lies in the node's partition: nodes that share one would share the counter. */
const checkGuards = (catalog: Catalog, entry: EdgeEntry, report: Report): void => {
  // References lie in their sources, and are not counted.
  const { definition } = entry;
  if (definition.stored === "reference") return;
  for (const { end, limit, restricts } of guardedEnds(catalog, entry)) {
    // The ends of an edge without direction are alike.
    if (definition.symmetric && end === "to") continue;
    const limiting = isSingle(definition, end) ? "multiplicity" : "maxDegree";
    for (const type of entry[end]) {
      const node = catalog.ends[type];
      const lacking = node && fieldBesidePartition(node);
      if (lacking === undefined) continue;
      const setting = limit !== undefined ? limiting : restricts ? "onDelete" : "copies";
      report(
        "setting",
        `edges.${entry.name}.${setting}`,
        `it takes a counter in the partition of each "${type}" (${node?.partition.source}), which does not distinguish every "${lacking}": nodes with one partition would share it. Put "${lacking}" into the partition key, or leave it out.`,
      );
    }
  }
};

/** What is checked of each kind of items. */
const shapeChecks: readonly ((catalog: Catalog, shape: Shape, report: Report) => void)[] = [
  checkIdentity,
  checkLength,
  checkStoredNames,
  checkMatches,
  checkFills,
  checkFactsByKey,
];

/** Checks each kind of item by itself: identity, length of keys, stored names. */
export const checkItems = (catalog: Catalog, report: Report): void => {
  const { index, indexes, typeAttribute } = catalog;
  // Such an index would contain Edgetable's own items, or the attribute would take them for something else.
  const reserved = [...[index, ...indexes].flatMap(keyAttributes), typeAttribute];
  for (const attribute of reserved)
    if (attribute !== undefined && SYSTEM_ATTRIBUTES.includes(attribute))
      report("storedName", "layout", `"${attribute}" is an attribute of Edgetable's own items. Choose another name.`);
  for (const shape of catalog.shapes) {
    for (const check of shapeChecks) check(catalog, shape, report);
  }
  for (const entry of Object.values(catalog.edges)) {
    const { name: edge, definition, shapes, mirrors } = entry;
    checkGuards(catalog, entry, report);
    const { sides, schema } = definition;
    if (!sides || !schema) continue;
    const stored = new Set([...sides.from, ...sides.to, ...[...shapes, ...mirrors].flatMap(({ carried }) => carried)]);
    for (const name of attributeNames(schema) ?? [])
      if (!stored.has(name)) report("setting", `edges.${edge}.sides`, `neither side has "${name}", which would be lost. Add it to one.`);
  }
};

interface TableKey {
  readonly shape: Shape;
  readonly partition: Template;
  /** Undefined in a table without a sort key. */
  readonly sort: Template | undefined;
  /** The node type whose whole id, and nothing else, makes the partition key. */
  readonly owner: string | undefined;
}

/** True if the fixed beginnings of two templates differ: cheaper than `templatesOverlap`, and settles nearly every pair. */
const leadsDiffer = (a: Template | undefined, b: Template | undefined): boolean =>
  !leadOf(a).startsWith(leadOf(b)) && !leadOf(b).startsWith(leadOf(a));

const canCollide = (catalog: Catalog, a: TableKey, b: TableKey): boolean => {
  if (leadsDiffer(a.partition, b.partition) || leadsDiffer(a.sort, b.sort) || !templatesOverlap(a.partition, b.partition)) return false;
  if (a.sort && b.sort && !templatesOverlap(a.sort, b.sort)) return false;
  // If ids are unique across all node types, partitions of two types with the same form never meet.
  const haveOwners = a.owner !== undefined && b.owner !== undefined && a.owner !== b.owner;
  // Each write then asks for what tells them apart (`kindMarks`).
  if (matchesDiffer(a.shape, b.shape)) return false;
  const form = ({ parts }: Template): string => JSON.stringify(parts.map((part) => (part.kind === "literal" ? part.text : part.format)));
  const areApart = typesDiffer(catalog, a.shape, b.shape) || (haveOwners && form(a.partition) === form(b.partition));
  return !(catalog.layout.sharedIds === true && areApart);
};

/** Pairs of item kinds that can have the same table key, and parts whose edges could be taken for those of something else. */
export const checkCollisions = (catalog: Catalog, report: Report): void => {
  const ends = Object.values(catalog.ends);
  for (const [at, b] of ends.entries())
    for (const a of ends.slice(0, at)) {
      if (b.shape.kind !== "part" || leadsDiffer(a.partition, b.partition) || !templatesOverlap(a.partition, b.partition)) continue;
      report(
        "collision",
        placeOf(b.shape),
        `edges name "${a.name}" by ${a.partition.source} and "${b.name}" by ${b.partition.source}, and can take one for the other. Begin one of the keys differently.`,
      );
    }
  const keys: TableKey[] = [];
  for (const shape of catalog.shapes) {
    const partition = shape.keys[catalog.index.partitionKey];
    if (!partition) continue;
    const end = shape.role === "mirror" ? "to" : "from";
    const owner = shape.kind === "node" ? shape.definition : shape[end];
    const ids = shape.kind === "edge" ? endPaths(catalog, shape, end) : (catalog.nodes[owner ?? ""]?.idFields ?? []);
    const isOwner = ids.length === partition.fields.length && ids.every((id) => partition.fields.includes(id));
    keys.push({ shape, partition, sort: shape.keys[catalog.index.sortKey ?? ""], owner: isOwner ? owner : undefined });
  }
  const source = ({ partition, sort }: TableKey): string => (sort ? `${partition.source} / ${sort.source}` : partition.source);
  for (const [at, b] of keys.entries()) {
    for (const a of keys.slice(0, at)) {
      if (!canCollide(catalog, a, b)) continue;
      const mayShare = catalog.escapes
        ? undefined
        : typesDiffer(catalog, a.shape, b.shape)
          ? `as "${catalog.typeAttribute}" tells them apart`
          : a.owner === b.owner
            ? undefined
            : "if ids are unique across all node types";
      const unique = mayShare === undefined ? "" : `, or set layout.sharedIds ${mayShare}`;
      report(
        "collision",
        placeOf(b.shape),
        `"${a.shape.id}" (${source(a)}) and "${b.shape.id}" (${source(b)}) can have the same key, so one would overwrite the other. Begin one of them differently${unique}.`,
      );
    }
  }
};

const hasDividedFields = ({ fields, parts, delimiter }: Template): boolean =>
  fields.length > 0 && parts.some((part) => part.kind === "literal" && part.text.includes(delimiter));

/** The first two shapes that divide an attribute by different delimiters, where no fixed beginning distinguishes their texts. */
const delimiterClash = (attribute: string, shapes: readonly Shape[]): string | undefined => {
  for (const [at, b] of shapes.entries()) {
    for (const a of shapes.slice(0, at)) {
      const [left, right] = [a.keys[attribute], b.keys[attribute]];
      if (!left || !right || left.delimiter === right.delimiter) continue;
      if (!hasDividedFields(left) || !hasDividedFields(right) || !templatesOverlap(left, right)) continue;
      return `"${a.id}" divides it by "${left.delimiter}" (${left.source}) and "${b.id}" by "${right.delimiter}" (${right.source}). Use one delimiter, or begin each with a different text.`;
    }
  }
  return undefined;
};

/**
 * Index keys that two definitions fill in conflicting ways. An index may contain many kinds of values, each by its own
 * template (overloading). Only two cases conflict: different delimiters, and a schema's attribute stored under the name of a
 * key that another definition computes, which puts items into the index under keys that no template reads.
 */
export const checkIndexAttributes = (catalog: Catalog, report: Report): void => {
  for (const { name, partitionKeys } of catalog.indexes)
    for (const { definition, keys } of partitionKeys.length > 1 ? catalog.shapes : []) {
      const sharded = partitionKeys.filter((attribute) => hasShard(keys[attribute]));
      if (sharded.length > 1)
        report(
          "indexAttribute",
          `layout.indexes.${name}`,
          `${sharded.map((attribute) => `"${attribute}"`).join(" and ")} of "${definition}" have a shard each. Put it into one attribute of a partition key.`,
        );
    }
  for (const attribute of new Set(catalog.indexes.flatMap(keyAttributes))) {
    const computing = catalog.shapes.filter((shape) => attribute in shape.keys);
    const [first] = computing;
    if (!first) continue;
    const place = `index attribute "${attribute}"`;
    for (const shape of catalog.shapes) {
      if (attribute in shape.keys || plainAttributes(catalog, shape).every(([, stored]) => stored !== attribute)) continue;
      report(
        "indexAttribute",
        place,
        `"${first.id}" computes it (${first.keys[attribute]?.source}) and "${shape.id}" stores an attribute of its schema there. Compute it in both, or store the attribute under another name.`,
      );
    }
    const clash = delimiterClash(attribute, computing);
    if (clash !== undefined) report("indexAttribute", place, clash);
  }
};
