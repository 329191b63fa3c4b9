import { endTypes, type GraphDefinition } from "../definition.ts";
import { each, finding, unknownNames, when, type ModelFinding } from "./finding.ts";

/** Members of a connection, which no node, edge or part may be called. */
export const RESERVED_NAMES: readonly string[] = [
  "batch",
  "catalog",
  "close",
  "explain",
  "find",
  "jobs",
  "load",
  "reshard",
  "scan",
  "table",
  "tables",
  "then",
  "transact",
];

// Unicode's classes take half a millisecond to compile, and few names need them.
const plainIdentifier = /^[A-Za-z_$][\w$]*$/;
const identifier = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
const kinds = ["nodes", "edges", "parts"] as const;

const checkName = (place: string, name: string): readonly ModelFinding[] => {
  if (!plainIdentifier.test(name) && !identifier.test(name))
    return [finding("name", place, `"${name}" cannot follow "db.": use letters, digits and _, with a letter first.`)];
  if (name in Object.prototype) return [finding("name", place, `"${name}" is a member of every object. Choose another name.`)];
  return when(
    RESERVED_NAMES.includes(name),
    "reservedName",
    place,
    `"${name}" is a member of the connection (db.${name}). Choose another name.`,
  );
};

const duplicates = (definition: GraphDefinition): readonly ModelFinding[] => {
  const seen = new Map<string, string>();
  return kinds.flatMap((kind) =>
    each<unknown, ModelFinding>(definition[kind], (name) => {
      const other = seen.get(name);
      seen.set(name, kind);
      return when(
        other !== undefined,
        "duplicateName",
        `${kind}.${name}`,
        `"${name}" is already among the ${other}, and both would be db.${name}. Rename one.`,
      );
    }),
  );
};

const checkEnds = (definition: GraphDefinition): readonly ModelFinding[] => {
  const names = { rule: "nodeType", what: "node type", known: Object.keys(definition.nodes) } as const;
  const ends = each(definition.edges, (name, edge) =>
    (["from", "to"] as const).flatMap((end) => {
      const types = endTypes(edge[end]);
      const place = `edges.${name}.${end}`;
      const repeated = types.find((type, at) => types.indexOf(type) !== at);
      return [
        ...unknownNames(place, [...new Set(types)], names),
        ...when(types.length === 0, "nodeType", place, "the list is empty. Name at least one node type."),
        ...when(repeated !== undefined, "nodeType", place, `"${repeated}" is named twice. Name it once.`),
      ];
    }),
  );
  return [...ends, ...each(definition.parts, (name, part) => unknownNames(`parts.${name}.of`, [part.of], names))];
};

/** Names of definitions, and the node types that edges and parts name. */
export const checkNames = (definition: GraphDefinition): readonly ModelFinding[] => [
  ...kinds.flatMap((kind) => each<unknown, ModelFinding>(definition[kind], (name) => checkName(`${kind}.${name}`, name))),
  ...duplicates(definition),
  ...checkEnds(definition),
];
