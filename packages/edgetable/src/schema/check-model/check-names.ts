import { EdgetableError } from "../../errors/edgetable-error.ts";
import { checkOptions, type OptionChecks, type NestedChecks, inRange, listOf, namesIn, oneOf } from "../../util/check-options.ts";
import { endTypes, type GraphDefinition, type AnyEdge, type AnyNode, type AnyPart } from "../definition.ts";
import type {
  EdgeLayout,
  IndexExpectation,
  IndexLayout,
  Layout,
  ShardingLayout,
  EntrySettings,
  ShardSettings,
  ValueIndex,
} from "../layout.ts";
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

type Said<Definition> = OptionChecks<Omit<Definition, `~${string}`>>;

// Undefined is what another check looks at, or what may be anything.
const attributes = (given: readonly string[], name: string): unknown => listOf(given, `attributes for ${name}`);
const projection = (given: string): unknown => Array.isArray(given) || oneOf("projection", given, ["ALL", "KEYS_ONLY"]);

const bytes = [1, 409_600] as const; // An item's limit, ServiceQuotas.
const checks = ["checked", "unchecked"] as const;
const rows = (given: Readonly<Record<string, number>>, name: string): void => {
  for (const attribute of namesIn(given, name)) inRange(`${name}.${attribute}`, given[attribute] as number, [1, Number.MAX_SAFE_INTEGER]);
};
const expected = { bytes, count: [1, Number.MAX_SAFE_INTEGER], rowsPerValue: rows, rowsPerRange: rows } as const;
const item = {
  kind: undefined,
  key: undefined,
  schema: undefined,
  immutable: attributes,
  version: "boolean",
  ttl: "string",
  dates: attributes,
  expect: expected,
} as const;
const node: Said<AnyNode> = { ...item, unique: attributes, stored: "boolean", mirror: "boolean" };
const positive = (given: number, name: string): void => {
  if (typeof given === "number" && given > 0 && given < Number.POSITIVE_INFINITY) return;
  throw new EdgetableError("plan.invalidOption", `${name} is ${String(given)}: give a number above 0.`);
};
const part: Said<AnyPart> = { ...item, expect: { ...expected, perNode: positive }, of: "string", owner: checks };
const ends = { from: undefined, to: undefined };
const degree = [1, 1_000_000] as const;
const deletion = (given: string): unknown => oneOf("choice", given, ["restrict", "cascade", "leave"]);
const edge: Said<AnyEdge> = {
  ...item,
  ...ends,
  multiplicity: ["one-to-one", "one-to-many", "many-to-one", "many-to-many"],
  maxDegree: { from: degree, to: degree },
  onDelete: { from: deletion, to: deletion },
  ends: checks,
  sides: { from: attributes, to: attributes },
  by: undefined,
  expect: { ...ends, ...expected, reached: { from: positive, to: positive } },
  symmetric: "boolean",
  orderBy: undefined,
  stored: ["once", "twice", "reference"],
};
const expectation: OptionChecks<IndexExpectation> = {
  writesPerSecond: undefined,
  readsPerSecond: undefined,
  pageRows: undefined,
  share: undefined,
};
const shards: OptionChecks<ShardSettings> = { count: undefined, by: "string", per: "string", hot: namesIn };
const entry: OptionChecks<EntrySettings> = { by: undefined, split: undefined, sparse: "boolean", shards: undefined, expect: expectation };
const valueIndex: OptionChecks<ValueIndex> = { entries: namesIn, shards: undefined, projection };
const graph: OptionChecks<GraphDefinition> = {
  table: undefined,
  nodes: namesIn,
  edges: namesIn,
  parts: namesIn,
  indexes: namesIn,
  layout: namesIn,
};
const layoutOf: OptionChecks<Layout> = {
  partitionKey: "string",
  sortKey: "string",
  types: namesIn,
  typeAttribute: "string",
  delimiter: "string",
  sharedIds: "boolean",
  indexes: namesIn,
  shards: namesIn,
  nodes: namesIn,
  edges: namesIn,
  parts: namesIn,
};
const indexLayout: OptionChecks<IndexLayout> = { partitionKey: "string", sortKey: "string", projection, expect: expectation };
const sharding: OptionChecks<ShardingLayout> = { count: undefined, per: "string", hot: namesIn };
const itemLayout = { type: "string", attributes: namesIn, keys: namesIn, delimiters: namesIn, sparse: attributes } as const;
const edgeLayout: OptionChecks<EdgeLayout> = { ...itemLayout, mirror: itemLayout };

const isMembers = (given: unknown): given is NestedChecks => typeof given === "object" && given !== null && !Array.isArray(given);

// A call's options end at the first fault; a model's are told all at once.
const inside = (place: string, given: unknown, kinds: NestedChecks): readonly ModelFinding[] => {
  try {
    checkOptions(given, kinds as OptionChecks<unknown>);
    return [];
  } catch (error) {
    const members = Object.entries(given ?? {}) as [string, unknown][];
    const [name = "", value] = members[0] ?? [];
    const kind = kinds[name];
    if (members.length > 1) return members.flatMap(([one, its]) => inside(place, { [one]: its }, kinds));
    if (isMembers(kind) && isMembers(value)) return inside(`${place}.${name}`, value, kind);
    return [finding("setting", place, (error as Error).message)];
  }
};

const ofEach = <Value>(place: string, record: Readonly<Record<string, Value>> | undefined, kinds: NestedChecks): readonly ModelFinding[] =>
  each(record, (name, one) => inside(`${place}.${name}`, one, kinds));

const ofEntries = (place: string, { entries }: ValueIndex): readonly ModelFinding[] =>
  each(entries, (name, one) => {
    if (!isMembers(one)) return [];
    const at = `${place}.entries.${name}`;
    const spread = (one as EntrySettings).shards;
    return [...inside(at, one, entry), ...(isMembers(spread) ? inside(`${at}.shards`, spread, shards) : [])];
  });

/** Settings that there are none of, and values of another kind: what the types refuse, JavaScript may still hand in. */
export const checkMembers = (definition: GraphDefinition): readonly ModelFinding[] => {
  const { nodes, edges, parts, indexes, layout } = definition;
  return [
    ...inside("model", definition, graph),
    ...ofEach("nodes", nodes, node),
    ...ofEach("edges", edges, edge),
    ...ofEach("parts", parts, part),
    ...ofEach("indexes", indexes, valueIndex),
    ...each(indexes, (name, one) => ofEntries(`indexes.${name}`, one)),
    ...(layout ? inside("layout", layout, layoutOf) : []),
    ...ofEach("layout.indexes", layout?.indexes, indexLayout),
    ...ofEach("layout.shards", layout?.shards, sharding),
    ...ofEach("layout.nodes", layout?.nodes, itemLayout),
    ...ofEach("layout.edges", layout?.edges, edgeLayout),
    ...ofEach("layout.parts", layout?.parts, itemLayout),
  ];
};
