import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { parseTemplate } from "../../keys/template.ts";
import { attributeNames } from "../attribute-names.ts";
import { fieldNames } from "../build-catalog.ts";
import { endTypes, type GraphDefinition } from "../definition.ts";
import { isSingle } from "../degree-limit.ts";
import type { AnyEdge } from "../edge.ts";
import { DEGREE_TYPE } from "../system-items.ts";
import { each, finding, unknownNames, when, type ModelFinding } from "./finding.ts";

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
