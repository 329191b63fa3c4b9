import { attributeNames } from "../attribute-names.ts";
import { fieldNames } from "../build-catalog.ts";
import type { GraphDefinition } from "../definition.ts";
import type { AnyEdge } from "../edge.ts";
import type { EdgeLayout, ItemLayout, Layout } from "../layout.ts";
import type { AnyNode } from "../node.ts";
import type { AnyPart } from "../part.ts";
import { each, unknownNames, when, type ModelFinding } from "./finding.ts";
import { keyAttributes } from "../shape.ts";

/** The settings that name attributes, whatever they are settings of. */
const namedBy = (definition: AnyNode | AnyEdge | AnyPart): Readonly<Record<string, readonly string[] | undefined>> => {
  const { unique, immutable, dates, ttl, key, sides } = definition as Partial<AnyNode> &
    Pick<AnyEdge, "sides"> & { readonly key?: string | readonly string[] };
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

interface Known {
  readonly fields: readonly string[] | undefined;
  readonly layout: Layout;
}

const checkItem = (place: string, item: ItemLayout | undefined, known: Known): readonly ModelFinding[] => {
  if (!item) return [];
  const tableKeys = keyAttributes(known.layout);
  const computed = [...new Set([...tableKeys, ...Object.keys(item.keys ?? {})])];
  const keys = { rule: "layout", what: "computed attribute of this item", known: computed } as const;
  return [
    ...unknownNames(`${place}.attributes`, Object.keys(item.attributes ?? {}), {
      rule: "attribute",
      what: "attribute here",
      known: known.fields,
    }),
    ...unknownNames(`${place}.delimiters`, Object.keys(item.delimiters ?? {}), keys),
    ...unknownNames(`${place}.sparse`, item.sparse ?? [], { ...keys, known: computed.slice(tableKeys.length) }),
  ];
};

type Kind = "nodes" | "edges" | "parts";
type AnyDefinition = AnyNode | AnyEdge | AnyPart;

const namesOf = ({ schema }: AnyDefinition): readonly string[] | undefined => (schema ? attributeNames(schema) : []);

/** What a layout says of one definition, an edge's mirror included. */
const checkLayout = (place: string, item: EdgeLayout | undefined, known: Known): readonly ModelFinding[] => [
  ...checkItem(place, item, known),
  ...checkItem(`${place}.mirror`, item?.mirror, known),
];

const checkDefinition = (kind: Kind, name: string, definition: AnyDefinition): readonly ModelFinding[] => {
  const place = `${kind}.${name}`;
  const names = namesOf(definition);
  return [
    ...each(namedBy(definition), (setting, given) =>
      unknownNames(`${place}.${setting}`, given ?? [], { rule: "attribute", what: "attribute here", known: names }),
    ),
    ...when(
      definition.version === true && names?.includes("version") === true,
      "reservedName",
      place,
      'with version: true, "version" counts the writes. Rename the attribute, or leave the setting out.',
    ),
  ];
};

const checkPartKey = (definition: GraphDefinition, name: string, part: AnyPart): readonly ModelFinding[] => {
  const owner = fieldNames(definition.nodes[part.of]?.key ?? "");
  const shared = fieldNames(part.key).find((field) => owner.includes(field));
  return when(
    shared !== undefined,
    "reservedName",
    `parts.${name}.key`,
    `"${shared}" is already an id field of "${part.of}", whose rows and this part's share it. Rename one.`,
  );
};

const checkEdgeNames = (name: string, names: readonly string[] | undefined): readonly ModelFinding[] =>
  ["from", "to"].flatMap((end) =>
    when(names?.includes(end) === true, "reservedName", `edges.${name}`, `"${end}" is an end of every edge. Rename the attribute.`),
  );

/** The attributes that settings and layouts name, and names that a row has for itself. */
export const checkSettings = (definition: GraphDefinition): readonly ModelFinding[] => [
  ...(["nodes", "parts", "edges"] as const).flatMap((kind) =>
    each<AnyDefinition, ModelFinding>(definition[kind], (name, one) => {
      const { layout } = definition;
      const names = namesOf(one);
      const fields = names && one.version ? [...names, "version"] : names;
      return [
        ...checkDefinition(kind, name, one),
        ...(layout ? checkLayout(`layout.${kind}.${name}`, layout[kind]?.[name], { fields, layout }) : []),
      ];
    }),
  ),
  ...each(definition.parts, (name, part) => checkPartKey(definition, name, part)),
  ...each(definition.edges, (name, edge) => checkEdgeNames(name, namesOf(edge))),
];
