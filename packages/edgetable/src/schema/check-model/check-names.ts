import { EdgetableError } from "../../errors/edgetable-error.ts";
import { checkOptions, type OptionChecks, type NestedChecks, inRange, listOf, namesIn, oneOf, shown } from "../../util/check-options.ts";
import type { Timestamps, TimestampSettings } from "../timestamps.ts";
import { jsonText } from "../../util/json-text.ts";
import { endTypes, type GraphDefinition, type AnyEdge, type AnyNode, type AnyPart, type FieldSettings } from "../definition.ts";
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
import { isFieldPart } from "../grid-parts.ts";
import { each, type Names, reportUnknown, type Report } from "./finding.ts";

/** Members of a connection, such as `find` in `db.find`: no node, edge or part may have one of these names. */
export const RESERVED_NAMES: readonly string[] = [
  "as",
  "batch",
  "catalog",
  "close",
  "explain",
  "find",
  "jobs",
  "load",
  "migrations",
  "reshard",
  "scan",
  "table",
  "tables",
  "then",
  "transact",
];

// Compiling Unicode classes takes half a millisecond, and few names need them.
const PLAIN_IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const IDENTIFIER = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;

const checkEnd = (report: Report, place: string, types: readonly string[], known: Pick<Names, "what" | "known">): void => {
  reportUnknown(report, place, [...new Set(types)], { rule: "nodeType", ...known });
  const repeated = types.find((type, at) => types.indexOf(type) !== at);
  if (types.length === 0) report("nodeType", place, "the list is empty. Name at least one node type.");
  if (repeated !== undefined) report("nodeType", place, `"${repeated}" is named twice. Name it once.`);
};

/** The names of definitions, and the node types that edges and parts name. */
export const checkNames = (definition: GraphDefinition, report: Report): void => {
  const seen = new Map<string, string>();
  for (const group of ["nodes", "edges", "parts"] as const) {
    for (const name of Object.keys(definition[group] ?? {})) {
      const place = `${group}.${name}`;
      if (!PLAIN_IDENTIFIER.test(name) && !IDENTIFIER.test(name))
        report("name", place, `"${name}" cannot follow "db.": use letters, digits and _, with a letter first.`);
      else if (name in Object.prototype) report("name", place, `"${name}" is a member of every object. Choose another name.`);
      else if (RESERVED_NAMES.includes(name))
        report("reservedName", place, `"${name}" is a member of the connection (db.${name}). Choose another name.`);
      const other = seen.get(name);
      if (other !== undefined)
        report("duplicateName", place, `"${name}" is already among the ${other}, and both would be db.${name}. Rename one.`);
      seen.set(name, group);
    }
  }
  const known = Object.keys(definition.nodes);
  const parts = Object.entries(definition.parts ?? {}).flatMap(([name, one]) => (isFieldPart(one) ? [] : [name]));
  const ends = { what: parts.length > 0 ? "a node type or part" : "a node type", known: [...known, ...parts] };
  each(definition.edges, (name, edge) => {
    checkEnd(report, `edges.${name}.from`, endTypes(edge.from), ends);
    checkEnd(report, `edges.${name}.to`, endTypes(edge.to), ends);
  });
  each(definition.parts, (name, part) => {
    reportUnknown(report, `parts.${name}.of`, [part.of], { rule: "nodeType", what: "a node type", known });
  });
};

type MemberChecks<Definition> = OptionChecks<Omit<Definition, `~${string}`>>;

// Undefined stands for members that another check covers, and for those that take any value.
const attributes = (given: readonly string[], name: string): unknown => listOf(given, `attributes for ${name}`);
const refuse = (given: unknown, name: string, takes: string): never => {
  throw new EdgetableError("plan.invalidOption", `${name} is ${shown(given)}: give ${takes}.`);
};
const isObject = (given: unknown): given is NestedChecks =>
  typeof given === "object" && given !== null && !Array.isArray(given) && !(given instanceof Date);
const copied = (given: unknown, name: string): void => {
  const isName = (one: unknown): boolean => typeof one === "string";
  const isCopy = (one: unknown): boolean => isName(one) || (isObject(one) && isName(one["of"]));
  if (Array.isArray(given) ? given.every(isName) : isObject(given) && Object.values(given).every(isCopy)) return;
  refuse(given, name, 'a list of attributes, or by the name of each copy an attribute or { of: "…", … }');
};
const projection = (given: string): unknown => Array.isArray(given) || oneOf("projection", given, ["ALL", "KEYS_ONLY"]);

const bytes = [1, 409_600] as const; // An item's limit, ServiceQuotas.
const checks = ["checked", "unchecked"] as const;
const rows = (given: Readonly<Record<string, number>>, name: string): void => {
  for (const attribute of namesIn(given, name)) inRange(`${name}.${attribute}`, given[attribute] as number, [1, Number.MAX_SAFE_INTEGER]);
};
const expected = { bytes, count: [1, Number.MAX_SAFE_INTEGER], rowsPerValue: rows, rowsPerRange: rows } as const;
const timeName = (given: unknown, name: string): void => {
  if (given === false || (typeof given === "string" && given !== "")) return;
  refuse(given, name, "the name of an attribute, or false");
};
const times: OptionChecks<TimestampSettings> = {
  created: timeName,
  modified: timeName,
  as: ["text", "seconds", "milliseconds", "date"],
  optional: "boolean",
};
const timestamps = (given: Timestamps, name: string): unknown => typeof given === "boolean" || checkOptions(given, times, name);
const item = {
  kind: undefined,
  key: undefined,
  schema: undefined,
  immutable: attributes,
  version: "boolean",
  validate: ["attributes", "row"],
  reads: ["stored", "parsed"],
  timestamps,
  ttl: "string",
  dates: attributes,
  renamed: namesIn,
  retyped: namesIn,
  expect: expected,
} as const;
const fields: OptionChecks<FieldSettings> = {
  of: "string",
  orderBy: "string",
  sortable: attributes,
  most: [1, 400],
  shards: undefined,
  storage: ["items", "document"],
};
const node: MemberChecks<AnyNode> = { ...item, unique: attributes, stored: "boolean", mirror: "boolean", derived: namesIn, fields };
const positive = (given: number, name: string): void => {
  if (typeof given === "number" && given > 0 && given < Number.POSITIVE_INFINITY) return;
  refuse(given, name, "a number above 0");
};
const part: MemberChecks<AnyPart> = { ...item, expect: { ...expected, perNode: positive }, of: "string", owner: checks, copies: copied };
const ends = { from: undefined, to: undefined };
const types = (given: unknown, name: string): void => {
  if ([given].flat().some((one) => typeof one !== "string")) refuse(given, name, "a node type, or a list of node types");
};
const degree = [1, 1_000_000] as const;
const deletion = (given: string): unknown => oneOf("choice", given, ["restrict", "cascade", "leave"]);
const sides = (given: Readonly<Record<string, unknown>>, name: string): void => {
  checkOptions(given, { from: attributes, to: attributes }, name);
  if (!given["from"] || !given["to"]) refuse(given, name, "the attributes of both copies, { from: […], to: […] }");
};
const edge: MemberChecks<AnyEdge> = {
  ...item,
  from: types,
  to: types,
  multiplicity: ["one-to-one", "one-to-many", "many-to-one", "many-to-many"],
  maxDegree: { from: degree, to: degree },
  onDelete: { from: deletion, to: deletion },
  ends: checks,
  sides,
  by: undefined,
  expect: { ...ends, ...expected, reached: { from: positive, to: positive } },
  symmetric: "boolean",
  orderBy: "string",
  copies: { from: copied, to: copied },
  key: attributes,
  derived: namesIn,
  stored: ["once", "twice", "reference"],
};
const expectation: OptionChecks<IndexExpectation> = {
  writesPerSecond: undefined,
  readsPerSecond: undefined,
  pageRows: undefined,
  share: undefined,
};
const counts = (given: unknown, name: string): void => {
  if ([given].flat().some((one) => typeof one !== "number")) refuse(given, name, "a number of shards, or a list of them");
};
const hot = (given: unknown, name: string): void => {
  for (const value of namesIn(given, name)) counts((given as Readonly<Record<string, unknown>>)[value], `${name}.${value}`);
};
const shards: OptionChecks<ShardSettings> = { count: counts, by: "string", per: "string", hot };
// Those of an entry are checked in their own place.
const spread = (given: unknown, name: string): unknown => isObject(given) || counts(given, name);
const levels = (given: unknown, name: string): void => {
  if ([given].flat().some((one) => typeof one !== "string")) refuse(given, name, "an attribute, or a list of attributes");
};
const split = (given: unknown, name: string): void => {
  if (typeof given !== "number") refuse(given, name, "a number of its levels");
};
const entry: OptionChecks<EntrySettings> = { by: levels, split, sparse: "boolean", shards: spread, expect: expectation };
const valueIndex: OptionChecks<ValueIndex> = { entries: namesIn, shards: spread, projection };
const graph: OptionChecks<GraphDefinition> = {
  table: "string",
  nodes: namesIn,
  edges: namesIn,
  parts: namesIn,
  indexes: namesIn,
  layout: namesIn,
  settings: { stream: "boolean", deletionProtection: "boolean", pointInTimeRecovery: "boolean" },
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
const MAX_KEY_ATTRIBUTES = 4; // GSI.DesignPattern.MultiAttributeKeys.
const keyNames = (given: string | readonly string[], name: string): void => {
  if (typeof given === "string") return;
  listOf(given, `key attributes for ${name}`);
  if (given.length === 0 || given.length > MAX_KEY_ATTRIBUTES || new Set(given).size < given.length)
    throw new EdgetableError(
      "plan.invalidOption",
      `${name} is ${jsonText(given)}: a key has 1 to ${MAX_KEY_ATTRIBUTES} attributes, each named once.`,
    );
};
const indexLayout: OptionChecks<IndexLayout> = { partitionKey: keyNames, sortKey: keyNames, projection, expect: expectation };
const sharding: OptionChecks<ShardingLayout> = { count: counts, per: "string", hot };
const verbatim = (given: readonly string[] | Readonly<Record<string, string>>, name: string): unknown =>
  Array.isArray(given) ? attributes(given as readonly string[], name) : namesIn(given, name);
const templates = (given: Readonly<Record<string, unknown>>, name: string): void => {
  for (const attribute of namesIn(given, name))
    if (typeof given[attribute] !== "string") refuse(given[attribute], `${name}.${attribute}`, 'a template, such as "USER#{userId}"');
};
const itemLayout = {
  type: (given: unknown, name: string): void => {
    if (given === false || typeof given === "string") return;
    refuse(given, name, "the value of the type attribute, or false for none");
  },
  match: namesIn,
  fill: namesIn,
  attributes: namesIn,
  keys: templates,
  delimiters: namesIn,
  sparse: attributes,
  when: namesIn,
  halves: "boolean",
  verbatim,
} as const;
const edgeLayout: OptionChecks<EdgeLayout> = { ...itemLayout, mirror: itemLayout };

// checkOptions throws at the first fault. A model's faults are all reported, so each member is checked alone.
const checkMember = (report: Report, place: string, given: unknown, checks: NestedChecks): void => {
  try {
    checkOptions(given, checks as OptionChecks<unknown>);
  } catch (error) {
    const members = isObject(given) ? Object.entries(given) : [];
    const [name = "", value] = members[0] ?? [];
    const nested = checks[name];
    if (members.length > 1) for (const [one, its] of members) checkMember(report, place, { [one]: its }, checks);
    else if (isObject(nested) && isObject(value)) checkMember(report, `${place}.${name}`, value, nested);
    else report("setting", place, (error as Error).message);
  }
};

/** Unknown settings and values of the wrong type: callers in JavaScript may pass what the types refuse. */
export const checkMembers = (definition: GraphDefinition, report: Report): void => {
  const { nodes, edges, parts, indexes, layout } = definition;
  checkMember(report, "model", definition, graph);
  const groups: readonly (readonly [place: string, group: Readonly<Record<string, unknown>> | undefined, checks: NestedChecks])[] = [
    ["nodes", nodes, node],
    ["edges", edges, edge],
    ["parts", parts, part],
    ["indexes", indexes, valueIndex],
    ["layout.indexes", layout?.indexes, indexLayout],
    ["layout.shards", layout?.shards, sharding],
    ["layout.nodes", layout?.nodes, itemLayout],
    ["layout.edges", layout?.edges, edgeLayout],
    ["layout.parts", layout?.parts, itemLayout],
  ];
  for (const [place, group, checks] of groups) each(group, (name, one) => checkMember(report, `${place}.${name}`, one, checks));
  const checkSpread = (place: string, given: unknown): void => {
    if (isObject(given)) checkMember(report, `${place}.shards`, { count: null, ...given }, shards);
  };
  each(indexes, (name, index) => {
    checkSpread(`indexes.${name}`, index.shards);
    if (isObject(index) && index.entries === undefined)
      report("setting", `indexes.${name}`, 'entries is missing: name what the index holds, such as { student: "name" }.');
    each<unknown>(index.entries, (entryName, one) => {
      const place = `indexes.${name}.entries`;
      if (!isObject(one)) return checkMember(report, place, { [entryName]: one }, { [entryName]: levels });
      checkMember(report, `${place}.${entryName}`, { by: null, ...one }, entry);
      checkSpread(`${place}.${entryName}`, one["shards"]);
    });
  });
  if (layout) checkMember(report, "layout", layout, layoutOf);
};
