import { keyBytes, type Template, leadOf, templatesOverlap } from "../../keys/template.ts";
import { carriedBy } from "../build-catalog.ts";
import { type Catalog, type EdgeEntry, idPaths, keyAttributes, type Shape, endPaths } from "../catalog.ts";
import { degreeLimit } from "../definition.ts";
import { attributeNames } from "../standard-schema.ts";
import { SYSTEM_ATTRIBUTES, VERSION } from "../system-items.ts";
import { each, finding, when, type ModelFinding, plainAttributes } from "./finding.ts";

const placeOf = (shape: Shape): string => `${shape.kind}s.${shape.definition}`;

// "Partition key length 1 to 2048 bytes, sort key 1 to 1024 bytes", ServiceQuotas.
const limitOf = (catalog: Catalog, attribute: string): number | undefined => {
  const indexes = [catalog.index, ...catalog.indexes];
  if (indexes.some((index) => index.sortKey === attribute)) return 1024;
  return indexes.some((index) => index.partitionKey === attribute) ? 2048 : undefined;
};

const literalBytes = (template: Template): number =>
  template.parts.reduce((sum, part) => sum + (part.kind === "literal" ? keyBytes(part.text) : 1), 0);

const checkLength = (catalog: Catalog, shape: Shape): readonly ModelFinding[] =>
  each(shape.keys, (attribute, template) => {
    const limit = limitOf(catalog, attribute);
    const bytes = literalBytes(template);
    return when(
      limit !== undefined && bytes > limit,
      "keyLength",
      `${placeOf(shape)}.${attribute}`,
      `its fixed text alone takes ${bytes} bytes, and DynamoDB allows ${limit}. Shorten it.`,
    );
  });

const identityOf = (catalog: Catalog, shape: Shape): readonly string[] => {
  const edge = shape.kind === "edge" ? catalog.edges[shape.definition] : undefined;
  if (!edge) return idPaths(catalog, shape);
  const [near, far] = shape.role === "mirror" ? (["to", "from"] as const) : (["from", "to"] as const);
  // Where a node has at most one edge of the type, its own end tells that edge.
  return idPaths(catalog, shape, degreeLimit(edge.definition, near) === 1 ? [near] : [near, far]);
};

// Where an item's own partition tells it from nothing, what it belongs to lies there.
const ownPlace = (catalog: Catalog, shape: Shape, missing: readonly string[]): string => {
  const without = "the table has no sort key, so that";
  const { definition: name, from } = shape;
  if (shape.kind === "part")
    return `${without} "${name}" would take the place of its "${from}". Give the layout a sortKey, or declare "${name}" as a node with a reference to "${from}".`;
  const fields = missing.map((path) => `{${path}}`).join(" and ");
  const side = shape.role === "mirror" ? `${name}.mirror` : name;
  return `${without} an edge needs a partition key of its own, which names both its ends: ${fields} ${missing.length === 1 ? "is" : "are"} not in it. Give layout.edges.${side}.keys.${catalog.index.partitionKey} a template such as "${name}#{from}#{to}", store the edge as a "reference", or give the layout a sortKey.`;
};

const checkIdentity = (catalog: Catalog, shape: Shape): readonly ModelFinding[] => {
  const keys = keyAttributes(catalog.index).map((attribute) => shape.keys[attribute]);
  const held = new Set(keys.flatMap(carriedBy));
  const missing = identityOf(catalog, shape).filter((path) => !held.has(path));
  if (missing.length > 0 && shape.kind !== "node" && catalog.index.sortKey === undefined)
    return [finding("identity", placeOf(shape), ownPlace(catalog, shape, missing))];
  const shown = keys.map((key) => key?.source).join(" / ");
  return missing.map((path) =>
    finding(
      "identity",
      placeOf(shape),
      `two of "${shape.id}" that differ in {${path}} alone would be one item: ${shown} does not hold it. Add it to ${catalog.index.sortKey === undefined ? "that key" : "the sort key"}.`,
    ),
  );
};

const takenNames = (catalog: Catalog, shape: Shape): Map<string, string> => {
  const { index, typeAttribute } = catalog;
  const taken = new Map(Object.keys(shape.keys).map((attribute) => [attribute, "a computed attribute"]));
  for (const key of keyAttributes(index)) taken.set(key, "a key of the table");
  for (const name of SYSTEM_ATTRIBUTES) taken.set(name, "Edgetable's own");
  taken.set("__proto__", "no name in JavaScript");
  return typeAttribute === undefined ? taken : taken.set(typeAttribute, "the type attribute");
};

const checkStoredNames = (catalog: Catalog, shape: Shape): readonly ModelFinding[] => {
  const mend = catalog.escapes ? "Rename the attribute." : "Store it under another name: layout attributes.";
  const taken = takenNames(catalog, shape);
  return plainAttributes(catalog, shape).flatMap(([name, stored]) => {
    const other = taken.get(stored);
    taken.set(stored, `"${name}"`);
    return when(
      other !== undefined,
      "storedName",
      `${placeOf(shape)}.${name}`,
      `"${name}" would be stored as "${stored}", which is ${other}. ${mend}`,
    );
  });
};

// Edgetable's own items would stand in such an index, or be taken for something else by it.
const checkSystemNames = ({ index, indexes, typeAttribute }: Catalog): readonly ModelFinding[] =>
  [index, ...indexes]
    .flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey])
    .concat(typeAttribute)
    .filter((attribute) => attribute !== undefined && SYSTEM_ATTRIBUTES.includes(attribute))
    .map((attribute) => finding("storedName", "layout", `"${attribute}" is an attribute of Edgetable's own items. Choose another name.`));

const checkVersion = (shape: Shape): readonly ModelFinding[] =>
  when(
    shape.version && (Object.hasOwn(shape.fields, VERSION) || VERSION in shape.stored),
    "storedName",
    placeOf(shape),
    `"${VERSION}" is the number that counts the item's writes, and is stored under that name. Store the other attribute elsewhere.`,
  );

const checkType = ({ typeAttribute, index }: Catalog, shape: Shape): readonly ModelFinding[] =>
  when(
    typeAttribute !== undefined && typeAttribute in shape.keys && !keyAttributes(index).includes(typeAttribute),
    "storedName",
    placeOf(shape),
    `"${typeAttribute}" is the type attribute and cannot be a template too. Leave one of them out.`,
  );

/** An attribute that neither copy of an edge would hold. */
const checkSides = (entry: EdgeEntry): readonly ModelFinding[] => {
  const { sides, schema } = entry.definition;
  if (!sides || !schema) return [];
  const held = new Set([...sides.from, ...sides.to, ...[...entry.shapes, ...entry.mirrors].flatMap((shape) => shape.carried)]);
  return (attributeNames(schema) ?? [])
    .filter((name) => !held.has(name))
    .map((name) => finding("setting", `edges.${entry.name}.sides`, `neither side holds "${name}", which would be lost. Add it to one.`));
};

/** What only the resolved items show: their identity, names and fixed lengths. */
export const checkItems = (catalog: Catalog): readonly ModelFinding[] => [
  ...checkSystemNames(catalog),
  ...catalog.shapes.flatMap((shape) => [
    ...checkIdentity(catalog, shape),
    ...checkLength(catalog, shape),
    ...checkStoredNames(catalog, shape),
    ...checkType(catalog, shape),
    ...checkVersion(shape),
  ]),
  ...each(catalog.edges, (_, entry) => checkSides(entry)),
];

/** Cheaper than `templatesOverlap`, and settles nearly every pair. */
const apart = (a: string, b: string): boolean => !a.startsWith(b) && !b.startsWith(a);

/** The node type whose whole id, and nothing else, makes a shape's partition key. */
const partitionOwner = (catalog: Catalog, shape: Shape, partition: Template): string | undefined => {
  const end = shape.role === "mirror" ? "to" : "from";
  const owner = shape.kind === "node" ? shape.definition : shape[end];
  const ids = shape.kind === "edge" ? endPaths(catalog, shape, end) : (catalog.nodes[owner ?? ""]?.idFields ?? []);
  return ids.length === partition.fields.length && ids.every((id) => partition.fields.includes(id)) ? owner : undefined;
};

const formOf = (template: Template): string =>
  JSON.stringify(template.parts.map((part) => (part.kind === "literal" ? part.text : part.format)));

interface Keyed {
  readonly shape: Shape;
  readonly partition: Template;
  /** Undefined in a table that has no sort key. */
  readonly sort: Template | undefined;
  readonly leads: readonly [string, string];
  readonly owner: string | undefined;
}

const keyed = (catalog: Catalog): readonly Keyed[] =>
  catalog.shapes.flatMap((shape) => {
    const partition = shape.keys[catalog.index.partitionKey];
    const sort = shape.keys[catalog.index.sortKey ?? ""];
    if (!partition) return [];
    return [
      { shape, partition, sort, leads: [leadOf(partition), leadOf(sort)] as const, owner: partitionOwner(catalog, shape, partition) },
    ];
  });

// Where ids are unique over all node types, partitions of two types that are made alike never meet.
const neverMeet = (catalog: Catalog, a: Keyed, b: Keyed): boolean =>
  catalog.layout.sharedIds === true &&
  a.owner !== undefined &&
  b.owner !== undefined &&
  a.owner !== b.owner &&
  formOf(a.partition) === formOf(b.partition);

const collide = (catalog: Catalog, a: Keyed, b: Keyed): boolean =>
  !apart(a.leads[0], b.leads[0]) &&
  !apart(a.leads[1], b.leads[1]) &&
  templatesOverlap(a.partition, b.partition) &&
  (!a.sort || !b.sort || templatesOverlap(a.sort, b.sort)) &&
  !neverMeet(catalog, a, b);

const mendOf = (catalog: Catalog, a: Keyed, b: Keyed): string => {
  const shared = !catalog.escapes && a.owner !== b.owner ? ", or say layout.sharedIds if ids are unique over all node types" : "";
  return `Begin one of them differently${shared}.`;
};

const show = (one: Keyed): string =>
  [one.partition, one.sort]
    .map((key) => key?.source)
    .filter((source) => source !== undefined)
    .join(" / ");

/** Every two kinds of items that can come to have one and the same table key. */
export const checkCollisions = (catalog: Catalog): readonly ModelFinding[] => {
  const all = keyed(catalog);
  return all.flatMap((b, at) =>
    all
      .slice(0, at)
      .filter((a) => collide(catalog, a, b))
      .map((a) =>
        finding(
          "collision",
          `${b.shape.kind}s.${b.shape.definition}`,
          `"${a.shape.id}" (${show(a)}) and "${b.shape.id}" (${show(b)}) can have the same key, so that one overwrites the other. ${mendOf(catalog, a, b)}`,
        ),
      ),
  );
};

// One index may hold many kinds of values, each by a template of its own: that is what overloading is.
// Refused is only what makes two definitions disagree on one attribute:
// - one computes it and another stores a schema's attribute under its name, which puts that one's
//   items into the index unasked, under keys that no template reads;
// - both divide it by delimiters, by different ones, and no fixed beginning tells the two apart.

const divided = (template: Template): boolean =>
  template.fields.length > 0 && template.parts.some((part) => part.kind === "literal" && part.text.includes(template.delimiter));

const storesPlainly = (catalog: Catalog, shape: Shape, attribute: string): boolean =>
  !(attribute in shape.keys) && plainAttributes(catalog, shape).some(([, stored]) => stored === attribute);

const clash = (attribute: string, a: Shape, b: Shape): string | undefined => {
  const [left, right] = [a.keys[attribute], b.keys[attribute]];
  if (!left || !right || left.delimiter === right.delimiter || !divided(left) || !divided(right) || !templatesOverlap(left, right))
    return undefined;
  return `"${a.id}" divides it by "${left.delimiter}" (${left.source}) and "${b.id}" by "${right.delimiter}" (${right.source}). Use one delimiter, or begin each with a text of its own.`;
};

const checkAttribute = (catalog: Catalog, attribute: string): readonly ModelFinding[] => {
  const computing = catalog.shapes.filter((shape) => attribute in shape.keys);
  const [first] = computing;
  if (!first) return [];
  const plain = catalog.shapes
    .filter((shape) => storesPlainly(catalog, shape, attribute))
    .map(
      (shape) =>
        `"${first.id}" computes it (${first.keys[attribute]?.source}) and "${shape.id}" stores an attribute of its schema there. Compute it in both, or store that under another name.`,
    );
  const rival = computing.flatMap((b, at) => computing.slice(0, at).flatMap((a) => clash(attribute, a, b) ?? []))[0];
  return [...plain, ...(rival === undefined ? [] : [rival])].map((message) =>
    finding("indexAttribute", `index attribute "${attribute}"`, message),
  );
};

/** Key attributes of indexes that two definitions fill in ways that do not go together. */
export const checkIndexAttributes = (catalog: Catalog): readonly ModelFinding[] => {
  const attributes = catalog.indexes.flatMap(keyAttributes);
  return [...new Set(attributes)].flatMap((attribute) => checkAttribute(catalog, attribute));
};
