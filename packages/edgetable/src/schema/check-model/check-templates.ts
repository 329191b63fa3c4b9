import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { leadOf, type Template } from "../../keys/template.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { attributeNames } from "../attribute-names.ts";
import { fieldNames } from "../build-catalog.ts";
import { parseKey, underPath, withFieldNames, type Macros } from "../build-shape.ts";
import { endTypes, type GraphDefinition } from "../definition.ts";
import type { AnyEdge } from "../edge.ts";
import type { ItemLayout, Layout } from "../layout.ts";
import type { AnyNode } from "../node.ts";
import type { AnyPart } from "../part.ts";
import { each, finding, type ModelFinding } from "./finding.ts";
import { keyAttributes } from "../shape.ts";

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
