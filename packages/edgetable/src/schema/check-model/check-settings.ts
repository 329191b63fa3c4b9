import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { parseTemplate } from "../../keys/template.ts";
import { fieldNames } from "../build-catalog.ts";
import { keyAttributes, definitionOf, type Catalog, type Shape } from "../catalog.ts";
import { type GraphDefinition, type AnyEdge, type AnyNode, type AnyPart, degreeLimit, endTypes, isSingle } from "../definition.ts";
import type { EdgeLayout, ItemLayout, Layout } from "../layout.ts";
import { attributeNames, attributeSchemas, type AnySchema } from "../standard-schema.ts";
import { DEGREE_TYPE } from "../system-items.ts";
import { each, unknownNames, when, type ModelFinding, finding } from "./finding.ts";

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

// Times that lie ahead, in every form in which one may be given, and what such a schema would refuse.
const TIMES: readonly unknown[] = [4_102_444_800, 1_893_456_000, 4_102_444_800n, new Date("2100-01-01")];
const TEXTS = ["2100-01-01T00:00:00Z", "4102444800", "x"];

const passes = (schema: AnySchema, value: unknown): boolean => {
  try {
    const result = schema["~standard"].validate(value);
    return "then" in result || !result.issues;
  } catch {
    // A schema that fails says nothing of what it takes.
    return true;
  }
};

/** Whether the schema takes texts and no time: all others may be right. */
const isText = (schema: AnySchema | undefined): boolean =>
  schema !== undefined && TEXTS.some((text) => passes(schema, text)) && !TIMES.some((time) => passes(schema, time));

/** What would be left behind when DynamoDB removes the item by itself. */
const leftBehind = (catalog: Catalog, shape: Shape): readonly string[] => {
  const edge = catalog.edges[shape.definition]?.definition;
  const unique = catalog.nodes[shape.definition]?.definition.unique ?? [];
  if (shape.kind === "node") return unique.length > 0 ? ["the marker of its unique value, which nobody could use again"] : [];
  if (!edge) return [];
  const isCounted = (limit: number | undefined): boolean => limit !== undefined && (catalog.escapes || limit > 1);
  const counts = (["from", "to"] as const).some((end) => isCounted(degreeLimit(edge, end)) || edge.onDelete?.[end] === "restrict");
  if (shape.holds?.includes(shape.ttl ?? "") === false) return ["the edge's other copy, which does not hold this attribute"];
  return counts ? ["the count of the edges at its ends"] : [];
};

/** The attribute by which items expire: one in a table, a time, and in items that leave nothing behind. */
export const checkTtl = (catalog: Catalog): readonly ModelFinding[] => {
  const storedOf = ({ ttl = "", stored }: Shape): string => stored[ttl] ?? ttl;
  const expiring = catalog.shapes.filter(({ ttl }) => ttl !== undefined);
  return expiring.flatMap((shape) => {
    const { ttl = "" } = shape;
    const place = `${shape.kind}s.${shape.definition}.ttl`;
    const definition = definitionOf(catalog, shape);
    return [
      ...when(
        storedOf(shape) !== catalog.ttl,
        "setting",
        place,
        `a table has one such attribute, and another definition stores it as "${catalog.ttl}". Name one attribute in all of them.`,
      ),
      ...when(
        shape.carried.includes(ttl),
        "setting",
        place,
        `"${ttl}" is in a key and has no attribute of its own. Leave it out of the key.`,
      ),
      ...when(
        isText(definition?.schema && attributeSchemas(definition.schema)?.each[ttl]),
        "setting",
        place,
        `the schema of "${ttl}" takes text. Declare a number: whole seconds since 1970; or a Date, and name it in \`dates\`.`,
      ),
      ...leftBehind(catalog, shape).map((what) =>
        finding(
          "setting",
          place,
          `DynamoDB removes an expired item by itself and would leave ${what}. Leave out ttl, or what depends on it.`,
        ),
      ),
    ];
  });
};

const bothEnds = ["from", "to"] as const;

const checkDegrees = (place: string, edge: AnyEdge): readonly ModelFinding[] =>
  bothEnds.flatMap((end) => {
    const degree = edge.maxDegree?.[end];
    return when(
      degree !== undefined && degree > 1 && isSingle(edge, end),
      "setting",
      `${place}.maxDegree.${end}`,
      `${degree} contradicts multiplicity "${edge.multiplicity}", which allows 1. Leave one of them out.`,
    );
  });

const sorted = (end: string | readonly string[]): string => endTypes(end).toSorted().join();

const checkSymmetric = (place: string, edge: AnyEdge): readonly ModelFinding[] => {
  if (!edge.symmetric) return [];
  const { from, to } = edge.maxDegree ?? {};
  const oneWay = edge.multiplicity === "one-to-many" || edge.multiplicity === "many-to-one";
  return [
    ...when(
      sorted(edge.from) !== sorted(edge.to),
      "setting",
      `${place}.symmetric`,
      `a symmetric edge has the same node types at both ends, but from is ${sorted(edge.from)} and to is ${sorted(edge.to)}. Leave symmetric out, or name the same.`,
    ),
    ...when(
      oneWay,
      "setting",
      `${place}.multiplicity`,
      `"${edge.multiplicity}" tells the ends of a symmetric edge apart. Say "one-to-one" or "many-to-many".`,
    ),
    ...when(
      from !== undefined && to !== undefined && from !== to,
      "setting",
      `${place}.maxDegree`,
      `${from} and ${to} differ, but the ends of a symmetric edge are alike. Give one.`,
    ),
    ...when(
      edge.stored === "reference",
      "setting",
      `${place}.stored`,
      '"reference" keeps the edge in one node, and a symmetric edge is in both. Leave one of them out.',
    ),
  ];
};

const checkOrder = (place: string, edge: AnyEdge, names: readonly string[] | undefined): readonly ModelFinding[] => {
  if (edge.orderBy === undefined) return [];
  const at = `${place}.orderBy`;
  try {
    const { fields } = parseTemplate(`{${edge.orderBy}}`, { delimiter: "#", escapes: true });
    return unknownNames(at, fields, {
      rule: "attribute",
      what: edge.stored === "reference" ? "attribute of the source" : "attribute here",
      known: names,
    });
  } catch (error) {
    if (isEdgetableError(error, "schema.invalidModel")) return [finding("template", at, error.message)];
    throw error;
  }
};

/** What a write of a reference cannot keep: it is an update of its source, which looks at no other node and counts nothing. */
const unkept = (edge: AnyEdge): readonly (readonly [setting: string, value: unknown])[] =>
  (
    [
      ["onDelete.to", edge.onDelete?.to === "leave" ? undefined : edge.onDelete?.to],
      ["onDelete.from", edge.onDelete?.from === "restrict" ? "restrict" : undefined],
      ["maxDegree.to", edge.maxDegree?.to],
      ["multiplicity", edge.multiplicity === "one-to-one" ? edge.multiplicity : undefined],
    ] as const
  ).filter(([, value]) => value !== undefined);

/** An edge that lives in its source's item: that item has to hold the target's id, and one target. */
const checkReference = (definition: GraphDefinition, place: string, edge: AnyEdge): readonly ModelFinding[] => {
  const several = edge.multiplicity === "one-to-many" || edge.multiplicity === "many-to-many" || (edge.maxDegree?.from ?? 1) > 1;
  const unusable = (["key", "version", "ttl", "sides"] as const).filter((setting) => edge[setting] !== undefined);
  const targets = endTypes(edge.to);
  const ids = fieldNames(definition.nodes[targets[0] ?? ""]?.key ?? "");
  const held = ids.map((id) => edge.by?.[id] ?? id);
  return [
    ...unusable.map((setting) =>
      finding(
        "setting",
        `${place}.${setting}`,
        `an edge stored as a reference is no item of its own, so that ${setting} has no effect. Leave it out.`,
      ),
    ),
    ...unkept(edge).map(([setting, value]) =>
      finding(
        "setting",
        `${place}.${setting}`,
        `${JSON.stringify(value)} would not be kept: a reference is written with its source, and nothing is counted at either end. Store the edge "once", or leave it out.`,
      ),
    ),
    ...when(
      several,
      "setting",
      `${place}.stored`,
      'a reference has room for one target. Say multiplicity "many-to-one", or store the edge "once".',
    ),
    ...when(targets.length > 1, "setting", `${place}.to`, `a reference cannot tell ${targets.join(" from ")}. Declare an edge for each.`),
    ...unknownNames(`${place}.by`, Object.keys(edge.by ?? {}), { rule: "attribute", what: `id field of "${targets[0]}"`, known: ids }),
    ...endTypes(edge.from).flatMap((source) => {
      const node = definition.nodes[source];
      return unknownNames(`${place}.by`, held, {
        rule: "attribute",
        what: `attribute of "${source}", which has to hold the id of "${targets[0]}"`,
        known: node && attributeNames(node.schema),
      });
    }),
  ];
};

const checkSides = (place: string, edge: AnyEdge): readonly ModelFinding[] =>
  when(
    edge.sides !== undefined && (edge.symmetric === true || edge.stored === "once"),
    "setting",
    `${place}.sides`,
    'only an edge with stored: "twice" has two sides of its own. Store it twice, or leave sides out.',
  );

const checkTypeField = (definition: GraphDefinition, place: string, edge: AnyEdge): readonly ModelFinding[] =>
  bothEnds.flatMap((end) => {
    const types = endTypes(edge[end]);
    const typed = types.length > 1 ? types.find((type) => fieldNames(definition.nodes[type]?.key ?? "").includes("type")) : undefined;
    return when(
      typed !== undefined,
      "reservedName",
      `${place}.${end}`,
      `"type" tells the node types of this end apart, and is an id field of "${typed}". Rename the field.`,
    );
  });

const orderNames = (definition: GraphDefinition, edge: AnyEdge): readonly string[] | undefined => {
  if (edge.stored !== "reference") return edge.schema ? attributeNames(edge.schema) : [];
  const source = definition.nodes[endTypes(edge.from)[0] ?? ""];
  return source && attributeNames(source.schema);
};

/** Settings of edges that are out of range, contradict one another or have no effect. */
export const checkEdges = (definition: GraphDefinition): readonly ModelFinding[] =>
  each(definition.edges, (name, edge) => {
    const place = `edges.${name}`;
    const reference = edge.stored === "reference";
    return [
      ...checkDegrees(place, edge),
      ...checkSymmetric(place, edge),
      ...checkSides(place, edge),
      ...checkOrder(place, edge, orderNames(definition, edge)),
      ...checkTypeField(definition, place, edge),
      ...(reference
        ? checkReference(definition, place, edge)
        : when(edge.by !== undefined, "setting", `${place}.by`, 'by is for stored: "reference". Leave it out.')),
      ...when(
        definition.layout === undefined && edge.stored === "twice" && !edge.symmetric && `~${name}` === DEGREE_TYPE,
        "reservedName",
        place,
        `"${name}" cannot be stored twice under this name: its second copies would have the keys of Edgetable's counts. Rename it.`,
      ),
      ...when(
        definition.layout?.edges?.[name]?.mirror !== undefined && edge.stored !== "twice" && !edge.symmetric,
        "layout",
        `layout.edges.${name}.mirror`,
        'the edge is stored once and has no mirror. Say stored: "twice", or leave it out.',
      ),
    ];
  });
