import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { leadOf, type Template } from "../../keys/template.ts";
import { didYouMean } from "../../util/did-you-mean.ts";
import { endKey, expand, fieldNames, parseKey, underPath, withFieldNames, type KeyContext } from "../build-catalog.ts";
import { keyAttributes, nameList } from "../catalog.ts";
import { defaultLayout } from "../default-layout.ts";
import { endTypes, type AnyEdge, type AnyNode, type AnyPart, type GraphDefinition } from "../definition.ts";
import type { EdgeLayout, IndexLayout, Layout } from "../layout.ts";
import { attributesOf } from "../facts.ts";
import { each, reportUnknown, type Report } from "./finding.ts";

// HowItWorks.NamingRulesDataTypes: tables and indexes, and key attributes.
const TABLE_NAME = /^[\w.-]{3,255}$/;
const MAX_ATTRIBUTE_LENGTH = 255;
const MAX_INDEXES = 20; // ServiceQuotas.

const checkTableName = (place: string, name: string, report: Report): void => {
  if (typeof name === "string" && TABLE_NAME.test(name)) return;
  if (name === undefined) return report("table", place, 'the table\'s name is missing: add `table`, such as "Education".');
  report("table", place, `"${name}" is not a valid DynamoDB name: use 3 to 255 of a-z, A-Z, 0-9, "_", "-" and ".".`);
};

const checkKeys = (place: string, keys: Pick<IndexLayout, "partitionKey" | "sortKey">, report: Report): void => {
  const { partitionKey, sortKey } = keys;
  const both = nameList(sortKey).find((name) => nameList(partitionKey).includes(name));
  if (both !== undefined) report("table", place, `"${both}" is both partition and sort key. Name two attributes.`);
  // The rule "name" ends the check: without this key, no item has one.
  if (typeof keys === "object" && partitionKey === undefined)
    report("name", place, 'partitionKey is missing: give the name of the attribute, such as "pk".');
  for (const name of keyAttributes({ partitionKey, sortKey }))
    if (name === "" || name.length > MAX_ATTRIBUTE_LENGTH)
      report("table", place, `"${name}" has ${name.length} characters; a key attribute has 1 to 255.`);
};

/** Names and keys of the table and its indexes, and the definitions that the layout names. */
export const checkTable = (definition: GraphDefinition, report: Report): void => {
  checkTableName("table", definition.table, report);
  const { layout } = definition;
  if (!layout) {
    const names = Object.keys(definition.indexes ?? {});
    for (const name of names) checkTableName(`indexes.${name}`, name, report);
    const count = names.length + 2;
    if (count > MAX_INDEXES)
      report(
        "table",
        "indexes",
        `${count} indexes, "reverse" and "ordered" included, are more than the ${MAX_INDEXES} of a table. Let definitions share some.`,
      );
    return;
  }
  const { typeAttribute, indexes } = layout;
  checkKeys("layout", layout, report);
  const known = new Set([layout, ...Object.values(indexes ?? {})].flatMap(keyAttributes));
  for (const group of [layout.nodes, layout.edges, layout.parts])
    for (const item of Object.values<EdgeLayout>(group ?? {}))
      for (const attribute of Object.keys({ ...item.keys, ...item.mirror?.keys })) known.add(attribute);
  if (typeAttribute !== undefined) known.add(typeAttribute);
  each(layout.types as Readonly<Record<string, string>> | undefined, (attribute, type) => {
    reportUnknown(report, "layout.types", [attribute], { rule: "layout", what: "a computed attribute", known: [...known] });
    if (type === "S" || type === "N" || (type === "SS" && attribute === typeAttribute)) return;
    report(
      "table",
      `layout.types.${attribute}`,
      type === "B"
        ? "a key of type B contains bytes, which no template makes. Edgetable only reads keys of text (S) and numbers (N): leave the index out of the layout, or give the table one of those types."
        : `"${type}" is not a type of a key. Use "S" for text or "N" for a number.`,
    );
  });
  for (const [name, index] of Object.entries(indexes ?? {}))
    if (typeAttribute !== undefined && layout.types?.[typeAttribute] === "SS" && keyAttributes(index).includes(typeAttribute))
      report("table", `layout.indexes.${name}`, `"${typeAttribute}" is a set (layout.types), and no set is a key. Leave the index out.`);
  if (typeAttribute !== undefined && keyAttributes(layout).includes(typeAttribute))
    report("table", "layout.typeAttribute", `"${typeAttribute}" is a key of the table. Leave the type attribute out, or name another.`);
  each(indexes, (name, index) => {
    checkTableName(`layout.indexes.${name}`, name, report);
    checkKeys(`layout.indexes.${name}`, index, report);
  });
  const count = Object.keys(indexes ?? {}).length;
  if (count > MAX_INDEXES)
    report("table", "layout.indexes", `${count} indexes are more than the ${MAX_INDEXES} of a table. Let definitions share some.`);
  for (const group of ["nodes", "edges", "parts"] as const)
    reportUnknown(report, `layout.${group}`, Object.keys(layout[group] ?? {}), {
      rule: "layout",
      what: `among the ${group}`,
      known: Object.keys(definition[group] ?? {}),
    });
};

/** A definition that fills a computed attribute of a node's item: the node, or an edge that lives in the item. */
interface Claim {
  readonly by: string;
  readonly place: string;
  readonly attribute: string;
  readonly source: string;
}

/** Two definitions that fill one computed attribute of one item differently. */
export const checkSlots = (definition: GraphDefinition, report: Report): void => {
  const layout = definition.layout ?? defaultLayout(definition);
  each(definition.nodes, (name, node: AnyNode) => {
    const claims: Claim[] = [];
    const by = node.mirror ? `the mirror of "${name}"` : `"${name}"`;
    each(layout.nodes?.[name]?.keys, (attribute, source) => {
      claims.push({ by, place: `nodes.${name}`, attribute, source: expand(source, { key: node.key }) });
    });
    each(definition.edges, (edgeName, edge) => {
      const target = definition.nodes[endTypes(edge.to)[0] ?? ""];
      if (edge.stored !== "reference" || !target || !endTypes(edge.from).includes(name)) return;
      const macros = { from: node.key, to: withFieldNames(target.key, edge.by ?? {}) };
      each(layout.edges?.[edgeName]?.keys, (attribute, source) => {
        claims.push({ by: `"${edgeName}"`, place: `edges.${edgeName}`, attribute, source: expand(source, macros) });
      });
    });
    const reported = new Set<string>();
    for (const [at, claim] of claims.entries()) {
      const first = claims.slice(0, at).find((one) => one.attribute === claim.attribute && one.source !== claim.source);
      if (!first || reported.has(`${first.by}${claim.by}`)) continue;
      reported.add(`${first.by}${claim.by}`);
      report(
        "slot",
        claim.place,
        `${first.by} and ${claim.by} both fill "${claim.attribute}" of the item of "${name}". Store the edge "once", or give it its own index in a layout.`,
      );
    }
  });
};

type Names = readonly string[] | undefined;

/** One definition's templates, and the names that their fields may have. */
interface Scope extends KeyContext {
  readonly of: string;
  readonly names: Names;
  /** For an edge that is an item: the fields of each end. */
  readonly ends?: Readonly<Record<string, Names>>;
}

interface KeyTemplate {
  readonly place: string;
  readonly attribute: string;
  readonly source: string;
}

/** Checks one template. Returns false if it cannot be parsed or has a reserved beginning. */
const checkTemplate = ({ place, attribute, source }: KeyTemplate, scope: Scope, report: Report): boolean => {
  let template: Template;
  try {
    template = parseKey(attribute, source, scope);
  } catch (error) {
    if (!isEdgetableError(error, "schema.invalidModel")) throw error;
    report("template", place, error.message);
    return false;
  }
  if (leadOf(template).startsWith("~") && keyAttributes(scope.layout).includes(attribute)) {
    report("template", place, `"${source}" begins with "~", which only keys of Edgetable's own items do. Begin it differently.`);
    return false;
  }
  for (const path of template.fields) {
    const [head = "", next] = path.split(".");
    const isOfEnd = next !== undefined && scope.ends !== undefined && head in scope.ends;
    const known = isOfEnd ? scope.ends?.[head] : scope.names;
    const name = isOfEnd ? next : head;
    if (!known || known.includes(name)) continue;
    const macros = isOfEnd || !place.startsWith("layout.") || place.includes(".verbatim.") ? [] : Object.keys(scope.macros);
    const what = isOfEnd ? `a field of the id of ${head} of ${scope.of}` : `an attribute of ${scope.of}`;
    report("attribute", place, `{${path}} is not ${what}.${didYouMean(name, [...known, ...macros])}`);
  }
  return true;
};

const checkItem = (place: string, scope: Scope, report: Report): void => {
  each(scope.item?.keys, (attribute, source) => {
    const isVerbatim = Object.hasOwn(Object(scope.item?.verbatim), attribute);
    checkTemplate({ place: `${place}.${isVerbatim ? "verbatim" : "keys"}.${attribute}`, attribute, source }, scope, report);
  });
  // Which names the sources of a filled field may have, its shape tells.
  const { ends: _ends, ...filling } = { ...scope, item: undefined, names: undefined };
  each(scope.item?.fill, (field, sources) => {
    for (const source of sources)
      checkTemplate(
        { place: `${place}.fill.${field}`, attribute: field, source: typeof source === "string" ? source : source.value },
        filling,
        report,
      );
  });
};

type Base = Pick<Scope, "layout" | "escapes">;

/** Checks a node's or part's key, then its other templates if the key can be parsed. Returns false if it cannot. */
const checkKeyed = (key: KeyTemplate, scope: Scope, report: Report): boolean => {
  const isValid = checkTemplate(key, scope, report);
  if (isValid) checkItem(`layout.${key.place.slice(0, -".key".length)}`, scope, report);
  return isValid;
};

/** Settings of the item, which a reference edge has none of: its index keys are on its source's item. */
const OF_ITEMS = ["type", "attributes", "match", "fill"] as const;

const checkReference = (name: string, { from }: AnyEdge, item: EdgeLayout | undefined, report: Report): void => {
  for (const setting of OF_ITEMS)
    if (item?.[setting] !== undefined) {
      const places = endTypes(from).map((type) => `layout.nodes.${type}.${setting}`);
      report(
        "setting",
        `layout.edges.${name}.${setting}`,
        `"${name}" is stored as a reference and has no item of its own. Declare it for the item of its source: ${places.join(", ")}.`,
      );
    }
};

// Edgetable's own layout is derived from the model and needs no check.
const OWN_LAYOUT: Layout = { partitionKey: "pk", sortKey: "sk" };

/** Templates that cannot be parsed, and unknown attributes in them. Skips definitions that depend on a node with an invalid key. */
export const checkTemplates = (definition: GraphDefinition, report: Report): void => {
  const layout = definition.layout ?? OWN_LAYOUT;
  const base: Base = { layout, escapes: definition.layout === undefined };
  const valid = new Set<string>();
  each(definition.nodes, (name, node: AnyNode) => {
    const { key } = node;
    const scope: Scope = { ...base, item: layout.nodes?.[name], macros: { key }, names: attributesOf(node), of: `"${name}"` };
    if (checkKeyed({ place: `nodes.${name}.key`, attribute: layout.partitionKey, source: key }, scope, report)) valid.add(name);
  });
  each(definition.parts, (name, part: AnyPart) => {
    const { of, key } = part;
    if (!valid.has(of)) return;
    const owner = definition.nodes[of]?.key ?? "";
    const own = attributesOf(part);
    const names = own && [...own, ...fieldNames(owner)];
    const scope: Scope = { ...base, item: layout.parts?.[name], macros: { key, owner }, names, of: `"${name}"` };
    if (checkKeyed({ place: `parts.${name}.key`, attribute: layout.sortKey ?? "", source: key }, scope, report)) valid.add(name);
  });
  // Beside its id, an edge knows the fields of a node's table key.
  const fieldsOf = (type: string): Names =>
    [endKey(definition, type), ...keyAttributes(layout).map((attribute) => layout.nodes?.[type]?.keys?.[attribute] ?? "")].flatMap(
      fieldNames,
    );
  each(definition.edges, (name, edge) => {
    if (![...endTypes(edge.from), ...endTypes(edge.to)].every((type) => valid.has(type))) return;
    const item = layout.edges?.[name];
    if (edge.stored === "reference") checkReference(name, edge, item, report);
    const about = { ...base, item, of: `"${name}"` };
    for (const from of endTypes(edge.from))
      for (const to of endTypes(edge.to)) {
        const [source, target] = [endKey(definition, from), endKey(definition, to)];
        const scope: Scope =
          edge.stored === "reference"
            ? {
                ...about,
                macros: { from: source, to: withFieldNames(target, edge.by ?? {}) },
                names: definition.nodes[from] && attributesOf(definition.nodes[from]),
              }
            : {
                ...about,
                macros: { from: underPath("from", source), to: underPath("to", target) },
                names: attributesOf(edge),
                ends: { from: fieldsOf(from), to: fieldsOf(to) },
              };
        checkItem(`layout.edges.${name}`, scope, report);
        checkItem(`layout.edges.${name}.mirror`, { ...scope, item: item?.mirror }, report);
      }
  });
};
