import { attributeNames } from "../attribute-names.ts";
import { fieldNames } from "../build-catalog.ts";
import type { GraphDefinition } from "../definition.ts";
import type { AnyEdge } from "../edge.ts";
import type { ItemLayout, Layout } from "../layout.ts";
import type { AnyNode } from "../node.ts";
import type { AnyPart } from "../part.ts";
import { each, unknownNames, when, type ModelFinding } from "./finding.ts";

const mostBytes = 409_600; // An item's limit, ServiceQuotas.

/** The settings that name attributes, whatever they are settings of. */
const namedBy = (definition: AnyNode | AnyEdge | AnyPart): Readonly<Record<string, readonly string[] | undefined>> => {
  const { unique, immutable, dates, ttl, key, sides } = definition as Partial<AnyNode> & Pick<AnyEdge, "sides"> & { readonly key?: string | readonly string[] };
  return {
    unique,
    immutable,
    dates,
    ttl: ttl === undefined ? undefined : [ttl],
    key: typeof key === "string" ? undefined : key,
    "sides.from": sides?.from,
    "sides.to": sides?.to,
  };
};

const checkBytes = (place: string, bytes: number | undefined): readonly ModelFinding[] =>
  when(bytes !== undefined && !(bytes >= 1 && bytes <= mostBytes), "setting", `${place}.expect.bytes`, `${bytes} is not between 1 and ${mostBytes}, the most of an item.`);

const checkItem = (place: string, item: ItemLayout | undefined, known: { readonly fields: readonly string[] | undefined; readonly layout: Layout }): readonly ModelFinding[] => {
  if (!item) return [];
  const computed = [...new Set([known.layout.partitionKey, known.layout.sortKey, ...Object.keys(item.keys ?? {})])];
  const keys = { rule: "layout", what: "computed attribute of this item", known: computed } as const;
  return [
    ...unknownNames(`${place}.attributes`, Object.keys(item.attributes ?? {}), { rule: "attribute", what: "attribute here", known: known.fields }),
    ...unknownNames(`${place}.delimiters`, Object.keys(item.delimiters ?? {}), keys),
    ...unknownNames(`${place}.sparse`, item.sparse ?? [], { ...keys, known: computed.slice(2) }),
  ];
};

interface Subject {
  readonly place: string;
  readonly layoutPlace: string;
  readonly items: Readonly<Record<string, ItemLayout | undefined>>;
  readonly names: readonly string[] | undefined;
}

const checkSubject = (definition: AnyNode | AnyEdge | AnyPart, subject: Subject, layout: Layout | undefined): readonly ModelFinding[] => {
  const { place, names } = subject;
  const versioned = definition.version === true;
  const fields = names && (versioned ? [...names, "version"] : names);
  return [
    ...each(namedBy(definition), (setting, given) => unknownNames(`${place}.${setting}`, given ?? [], { rule: "attribute", what: "attribute here", known: names })),
    ...when(versioned && names?.includes("version") === true, "reservedName", place, 'with version: true, "version" counts the writes. Rename the attribute, or leave the setting out.'),
    ...checkBytes(place, definition.expect?.bytes),
    ...(layout ? each(subject.items, (path, item) => checkItem(subject.layoutPlace + path, item, { fields, layout })) : []),
  ];
};

const checkPartKey = (definition: GraphDefinition, name: string, part: AnyPart): readonly ModelFinding[] => {
  const owner = fieldNames(definition.nodes[part.of]?.key ?? "");
  const shared = fieldNames(part.key).find((field) => owner.includes(field));
  return when(shared !== undefined, "reservedName", `parts.${name}.key`, `"${shared}" is already an id field of "${part.of}", whose rows and this part's share it. Rename one.`);
};

const checkEdgeNames = (name: string, names: readonly string[] | undefined): readonly ModelFinding[] =>
  ["from", "to"].flatMap((end) =>
    when(names?.includes(end) === true, "reservedName", `edges.${name}`, `"${end}" is an end of every edge. Rename the attribute.`),
  );

/** The attributes that settings and layouts name, and names that a row has for itself. */
export const checkSettings = (definition: GraphDefinition): readonly ModelFinding[] => {
  const { layout } = definition;
  const nodes = each(definition.nodes, (name, node) =>
    checkSubject(node, { place: `nodes.${name}`, layoutPlace: `layout.nodes.${name}`, items: { "": layout?.nodes?.[name] }, names: attributeNames(node.schema) }, layout),
  );
  const parts = each(definition.parts, (name, part) => [
    ...checkSubject(part, { place: `parts.${name}`, layoutPlace: `layout.parts.${name}`, items: { "": layout?.parts?.[name] }, names: attributeNames(part.schema) }, layout),
    ...checkPartKey(definition, name, part),
  ]);
  const edges = each(definition.edges, (name, edge) => {
    const names = edge.schema ? attributeNames(edge.schema) : [];
    const item = layout?.edges?.[name];
    return [
      ...checkSubject(edge, { place: `edges.${name}`, layoutPlace: `layout.edges.${name}`, items: { "": item, ".mirror": item?.mirror }, names }, layout),
      ...checkEdgeNames(name, names),
    ];
  });
  return [...nodes, ...parts, ...edges];
};
