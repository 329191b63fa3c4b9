import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { leadOf, type Template } from "../../keys/template.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { expand, withFieldNames, type Macros, fieldNames, parseKey, underPath } from "../build-catalog.ts";
import { keyAttributes } from "../catalog.ts";
import { defaultLayout } from "../default-layout.ts";
import { type GraphDefinition, endTypes, type AnyNode, type AnyEdge, type AnyPart } from "../definition.ts";
import type { EdgeLayout, IndexLayout, Layout, ItemLayout } from "../layout.ts";
import { attributeNames } from "../standard-schema.ts";
import { each, unknownNames, when, type ModelFinding, finding } from "./finding.ts";

// HowItWorks.NamingRulesDataTypes: tables and indexes, and key attributes.
const tableName = /^[\w.-]{3,255}$/;
const longestAttribute = 255;
const mostIndexes = 20; // ServiceQuotas.

const checkTableName = (place: string, name: string): readonly ModelFinding[] =>
  when(
    typeof name !== "string" || !tableName.test(name),
    "table",
    place,
    `"${name}" is no name that DynamoDB takes: use 3 to 255 of a-z, A-Z, 0-9, "_", "-" and ".".`,
  );

const checkKeys = (place: string, keys: Pick<IndexLayout, "partitionKey" | "sortKey">): readonly ModelFinding[] => [
  ...when(keys.partitionKey === keys.sortKey, "table", place, `"${keys.sortKey}" is both partition and sort key. Name two attributes.`),
  ...[keys.partitionKey, keys.sortKey].flatMap((name) =>
    when(
      name !== undefined && (name === "" || name.length > longestAttribute),
      "table",
      place,
      `"${name}" has ${name?.length} characters; a key attribute has 1 to 255.`,
    ),
  ),
];

const checkLayout = (definition: GraphDefinition, layout: Layout): readonly ModelFinding[] => {
  const { typeAttribute, indexes } = layout;
  const count = Object.keys(indexes ?? {}).length;
  return [
    ...checkKeys("layout", layout),
    ...checkTypes(layout),
    ...when(
      typeAttribute !== undefined && keyAttributes(layout).includes(typeAttribute),
      "table",
      "layout.typeAttribute",
      `"${typeAttribute}" is a key of the table. Leave the type attribute out, or name another.`,
    ),
    ...each(indexes, (name, index) => [...checkTableName(`layout.indexes.${name}`, name), ...checkKeys(`layout.indexes.${name}`, index)]),
    ...when(
      count > mostIndexes,
      "table",
      "layout.indexes",
      `${count} indexes are more than the ${mostIndexes} of a table. Let definitions share some.`,
    ),
    ...(["nodes", "edges", "parts"] as const).flatMap((kind) =>
      unknownNames(`layout.${kind}`, Object.keys(layout[kind] ?? {}), {
        rule: "layout",
        what: `name of the ${kind}`,
        known: Object.keys(definition[kind] ?? {}),
      }),
    ),
  ];
};

const checkTypes = ({
  partitionKey,
  sortKey,
  types,
  indexes = {},
  nodes = {},
  edges = {},
  parts = {},
}: Layout): readonly ModelFinding[] => {
  const keys = [{ partitionKey, sortKey }, ...Object.values(indexes)].flatMap(keyAttributes);
  const items = [nodes, edges, parts].flatMap((kind) => Object.values(kind));
  const computed = items.flatMap((item) => [...Object.keys(item.keys ?? {}), ...Object.keys((item as EdgeLayout).mirror?.keys ?? {})]);
  return each(types as Readonly<Record<string, string>> | undefined, (attribute, type) => [
    ...unknownNames("layout.types", [attribute], {
      rule: "layout",
      what: "computed attribute",
      known: [...new Set([...keys, ...computed])],
    }),
    ...when(
      type !== "S" && type !== "N",
      "table",
      `layout.types.${attribute}`,
      type === "B"
        ? `a key of type B holds bytes, which no template makes. Edgetable finds items by text (S) and numbers (N) alone: leave the index out of the layout, or give the table one of those types.`
        : `"${type}" is no type of a key. Say "S" for text or "N" for a number.`,
    ),
  ]);
};

/** The indexes of Edgetable's own layout, those that the model declares among them. */
const checkDeclared = (definition: GraphDefinition): readonly ModelFinding[] => {
  const names = Object.keys(definition.indexes ?? {});
  const count = names.length + 2;
  return [
    ...names.flatMap((name) => checkTableName(`indexes.${name}`, name)),
    ...when(
      count > mostIndexes,
      "table",
      "indexes",
      `${count} indexes, "reverse" and "ordered" included, are more than the ${mostIndexes} of a table. Let definitions share some.`,
    ),
  ];
};

/** The table's and indexes' names and keys, and for whom the layout speaks. */
export const checkTable = (definition: GraphDefinition): readonly ModelFinding[] => [
  ...checkTableName("table", definition.table),
  ...(definition.layout ? checkLayout(definition, definition.layout) : checkDeclared(definition)),
];

interface Claim {
  readonly by: string;
  readonly place: string;
  readonly attribute: string;
  readonly source: string;
}

const claimsOf = (who: Pick<Claim, "by" | "place">, keys: Readonly<Record<string, string>> | undefined, macros: Macros): readonly Claim[] =>
  each(keys, (attribute, source) => [{ ...who, attribute, source: expand(source, macros) }]);

/** Who fills which computed attribute of a node's item: the node, and each edge that lives in it. */
const claimsOn = (definition: GraphDefinition, layout: Layout, name: string): readonly Claim[] => {
  const node = definition.nodes[name] as AnyNode;
  const own = claimsOf({ place: `nodes.${name}`, by: node.mirror ? `the mirror of "${name}"` : `"${name}"` }, layout.nodes?.[name]?.keys, {
    key: node.key,
  });
  const edges = each(definition.edges, (edgeName, edge) => {
    const target = definition.nodes[endTypes(edge.to)[0] ?? ""];
    if (edge.stored !== "reference" || !target || !endTypes(edge.from).includes(name)) return [];
    const macros = { from: node.key, to: withFieldNames(target.key, edge.by ?? {}) };
    return claimsOf({ place: `edges.${edgeName}`, by: `"${edgeName}"` }, layout.edges?.[edgeName]?.keys, macros);
  });
  return [...own, ...edges];
};

/** Two definitions that would fill one computed attribute of one item differently. */
export const checkSlots = (definition: GraphDefinition): readonly ModelFinding[] => {
  const layout = definition.layout ?? defaultLayout(definition);
  return each(definition.nodes, (name) => {
    const claims = claimsOn(definition, layout, name);
    const rivals = new Map<string, ModelFinding>();
    for (const [at, claim] of claims.entries()) {
      const first = claims.slice(0, at).find((one) => one.attribute === claim.attribute && one.source !== claim.source);
      if (!first || rivals.has(`${first.by}${claim.by}`)) continue;
      const message = `${first.by} and ${claim.by} both fill "${claim.attribute}" of the one item of "${name}". Store the edge "once", or give it an index of its own in a layout.`;
      rivals.set(`${first.by}${claim.by}`, finding("slot", claim.place, message));
    }
    return [...rivals.values()];
  });
};

type Known = readonly string[] | undefined;

interface Base {
  readonly layout: Layout;
  readonly escapes: boolean;
}

/** One definition's templates, and the names that their fields may have. */
interface Scope extends Base {
  readonly item: ItemLayout | undefined;
  readonly macros: Macros;
  readonly names: Known;
  /** For an edge: what is known of each end. */
  readonly ends?: Readonly<Record<string, Known>>;
  readonly of: string;
}

// Edgetable's own layout is made from the model and needs no check of its own.
const ownLayout: Layout = { partitionKey: "pk", sortKey: "sk" };

const parse = (attribute: string, source: string, scope: Scope): Template | string => {
  try {
    return parseKey(attribute, source, scope);
  } catch (error) {
    if (isEdgetableError(error, "schema.invalidModel")) return error.message;
    throw error;
  }
};

const checkField = (place: string, path: string, scope: Scope): readonly ModelFinding[] => {
  const [head = "", next] = path.split(".");
  const ofEnd = next !== undefined && scope.ends && head in scope.ends;
  const known = ofEnd ? scope.ends?.[head] : scope.names;
  const name = ofEnd ? next : head;
  if (!known || known.includes(name)) return [];
  const macros = ofEnd || !place.startsWith("layout.") ? [] : Object.keys(scope.macros);
  const what = ofEnd ? `part of the id of ${head} of ${scope.of}` : `attribute of ${scope.of}`;
  return [finding("attribute", place, `{${path}} names no ${what}.${didYouMean(name, [...known, ...macros])}`)];
};

interface NamedSource {
  readonly place: string;
  readonly attribute: string;
  readonly source: string;
}

const isTableKey = (attribute: string, { layout }: Scope): boolean => attribute === layout.partitionKey || attribute === layout.sortKey;

const checkTemplate = ({ place, attribute, source }: NamedSource, scope: Scope): readonly ModelFinding[] => {
  const template = parse(attribute, source, scope);
  if (typeof template === "string") return [finding("template", place, template)];
  if (leadOf(template).startsWith("~") && isTableKey(attribute, scope))
    return [
      finding(
        "template",
        place,
        `"${source}" begins with "~", as only the keys of Edgetable's own items do. Begin it with something else.`,
      ),
    ];
  return template.fields.flatMap((path) => checkField(place, path, scope));
};

const checkItem = (place: string, scope: Scope): readonly ModelFinding[] =>
  each(scope.item?.keys, (attribute, source) => checkTemplate({ place: `${place}.keys.${attribute}`, attribute, source }, scope));

/** Names of an edge's attributes: of its schema, or of its source where it lives inside that. */
const edgeNames = (definition: GraphDefinition, edge: AnyEdge, source: string): Known => {
  const node = definition.nodes[source];
  if (edge.stored === "reference") return node && attributeNames(node.schema);
  return edge.schema ? attributeNames(edge.schema) : [];
};

/** What an edge knows of a node: its id, and what else is in its table key. */
const endFields = (layout: Layout, definition: GraphDefinition, type: string): Known => {
  const keys = keyAttributes(layout).map((attribute) => layout.nodes?.[type]?.keys?.[attribute] ?? "");
  return [definition.nodes[type]?.key ?? "", ...keys].flatMap(fieldNames);
};

const edgeMacros = (definition: GraphDefinition, edge: AnyEdge, ends: readonly [string, string]): Macros => {
  const [from = "", to = ""] = ends.map((type) => definition.nodes[type]?.key);
  if (edge.stored === "reference") return { from, to: withFieldNames(to, edge.by ?? {}) };
  return { from: underPath("from", from), to: underPath("to", to) };
};

const firstOfEach = (findings: readonly ModelFinding[]): readonly ModelFinding[] =>
  findings.filter((one, at) => findings.findIndex((other) => other.place === one.place && other.message === one.message) === at);

const checkEdge = (definition: GraphDefinition, name: string, base: Base): readonly ModelFinding[] => {
  const edge = definition.edges?.[name] as AnyEdge;
  const item = base.layout.edges?.[name];
  const pairs = endTypes(edge.from).flatMap((from) => endTypes(edge.to).map((to) => [from, to] as const));
  const findings = pairs.flatMap(([from, to]) => {
    const names = edgeNames(definition, edge, from);
    const ends = { from: endFields(base.layout, definition, from), to: endFields(base.layout, definition, to) };
    const scope: Scope = {
      ...base,
      item,
      macros: edgeMacros(definition, edge, [from, to]),
      names,
      of: `"${name}"`,
      ...(edge.stored === "reference" ? {} : { ends }),
    };
    return [...checkItem(`layout.edges.${name}`, scope), ...checkItem(`layout.edges.${name}.mirror`, { ...scope, item: item?.mirror })];
  });
  return firstOfEach(findings);
};

/** A node's or part's key, then its other templates where that can be read. */
const checkKeyed = (key: NamedSource, place: string, scope: Scope): readonly ModelFinding[] => {
  const found = checkTemplate(key, scope);
  return found.some((one) => one.rule === "template") ? found : [...found, ...checkItem(place, scope)];
};

const checkNode = (definition: GraphDefinition, name: string, base: Base): readonly ModelFinding[] => {
  const { key, schema } = definition.nodes[name] as AnyNode;
  const scope: Scope = { ...base, item: base.layout.nodes?.[name], macros: { key }, names: attributeNames(schema), of: `"${name}"` };
  return checkKeyed({ place: `nodes.${name}.key`, attribute: base.layout.partitionKey, source: key }, `layout.nodes.${name}`, scope);
};

const checkPart = (definition: GraphDefinition, name: string, base: Base): readonly ModelFinding[] => {
  const { of, key, schema } = (definition.parts ?? {})[name] as AnyPart;
  const owner = definition.nodes[of]?.key ?? "";
  const own = attributeNames(schema);
  const scope: Scope = {
    ...base,
    item: base.layout.parts?.[name],
    macros: { key, owner },
    names: own && [...own, ...fieldNames(owner)],
    of: `"${name}"`,
  };
  return checkKeyed({ place: `parts.${name}.key`, attribute: base.layout.sortKey ?? "", source: key }, `layout.parts.${name}`, scope);
};

/**
 * Whether every template of a model can be read and names only attributes that there are. What
 * depends on a node whose own key cannot be read is left for when that is mended.
 */
export const checkTemplates = (definition: GraphDefinition): readonly ModelFinding[] => {
  const base: Base = { layout: definition.layout ?? ownLayout, escapes: definition.layout === undefined };
  const nodes = each(definition.nodes, (name) => checkNode(definition, name, base));
  const broken = new Set(nodes.flatMap(({ rule, place }) => (rule === "template" ? [place] : [])));
  const usable = (types: readonly string[]): boolean =>
    types.every((type) => Object.hasOwn(definition.nodes, type) && !broken.has(`nodes.${type}.key`));
  return [
    ...nodes,
    ...each(definition.parts, (name, part) => (usable([part.of]) ? checkPart(definition, name, base) : [])),
    ...each(definition.edges, (name, edge) =>
      usable([...endTypes(edge.from), ...endTypes(edge.to)]) ? checkEdge(definition, name, base) : [],
    ),
  ];
};
