import { keyBytes, type Template } from "../../keys/template.ts";
import { attributeNames } from "../attribute-names.ts";
import { carriedBy } from "../build-shape.ts";
import type { Catalog, EdgeEntry } from "../catalog.ts";
import { degreeLimit } from "../degree-limit.ts";
import { idPaths } from "../id-paths.ts";
import { keyAttributes, type Shape } from "../shape.ts";
import { SYSTEM_ATTRIBUTES, VERSION } from "../system-items.ts";
import { each, finding, when, type ModelFinding } from "./finding.ts";
import { plainAttributes } from "./plain-attributes.ts";

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
