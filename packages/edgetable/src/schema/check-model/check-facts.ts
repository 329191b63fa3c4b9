import { fieldNames } from "../build-catalog.ts";
import { isMap, isPath, stepsOf } from "../attribute-path.ts";
import { comparisonsOf } from "../comparisons.ts";
import { type AnyEdge, type AnyNode, type AnyPart, degreeLimit, endTypes, type GraphDefinition } from "../definition.ts";
import {
  type AggregateSource,
  type CopyList,
  type CopySettings,
  type DerivedAttribute,
  FRESHNESS,
  isAdditive,
  OPERATIONS,
  summarized,
} from "../derived.ts";
import { attributesOf, copiesIn, factsOf } from "../facts.ts";
import { attributeNames } from "../standard-schema.ts";
import { unstorable } from "../../keys/template.ts";
import { valueType } from "../value-types.ts";
import { hasTextSort } from "../system-items.ts";
import { shown } from "../../util/check-options.ts";
import { each, reportUnknown, type Report } from "./finding.ts";

const COPY_FRESHNESS = ["immutable", "transaction", "stream"];
// A stream keeps records for a day.
const LONGEST_STALENESS = 86_400;

/** One derived attribute of a node, and where it is declared. */
interface Declared {
  readonly place: string;
  readonly node: string;
  readonly definition: AnyNode;
  readonly derived: DerivedAttribute;
}

/** The attributes with what is asked of them, those within `or` and `not` included. */
const comparisonsIn = (where: unknown): readonly (readonly [name: string, condition: unknown])[] =>
  Object.entries(isMap(where) ? where : {}).flatMap(([name, condition]): (readonly [string, unknown])[] => {
    if (name !== "or" && name !== "not") return [[name, condition]];
    return groupIn(name, condition)?.flatMap(comparisonsIn) ?? [];
  });

/** The conditions in an `or` or `not`; undefined for a value that is none. */
const groupIn = (name: "or" | "not", value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined => {
  const members: unknown = name === "not" ? [value] : value;
  const isWhere = (one: unknown): boolean => typeof one === "object" && one !== null && !Array.isArray(one) && Object.keys(one).length > 0;
  const isGroup = Array.isArray(members) && members.length > 0 && members.length <= 100 && members.every(isWhere);
  return isGroup ? (members as readonly Readonly<Record<string, unknown>>[]) : undefined;
};

/** The attribute that a name is about: of a path, the one that it leads into. Undefined for a text that is no path. */
const attributeIn = (name: string): string | undefined => {
  if (!isPath(name)) return name;
  try {
    return stepsOf(name)[0];
  } catch {
    return undefined;
  }
};

/** The attributes that the conditions of a derived attribute compare, those within `or` and `not` included. */
export const comparedAttributes = ({ where = {} }: Pick<DerivedAttribute, "where">): readonly string[] =>
  comparisonsIn(where).flatMap(([name]) => attributeIn(name) ?? []);

/** Conditions that cannot be read, and attributes that the edges or parts do not have. */
export const checkWhere = (
  derived: Pick<DerivedAttribute, "where">,
  { place, known, ends }: { readonly place: string; readonly known: readonly string[] | undefined; readonly ends: readonly string[] },
  report: Report,
): void => {
  const at = `${place}.where`;
  const checkComparisons = (name: string, value: unknown): void => {
    try {
      comparisonsOf(name, value);
    } catch (error) {
      report("setting", at, (error as Error).message);
    }
  };
  const checkGroups = (where: Readonly<Record<string, unknown>>): void => {
    for (const name of ["or", "not"] as const) {
      if (!Object.hasOwn(where, name)) continue;
      const group = groupIn(name, where[name]);
      const takes = name === "or" ? "a list of 1 to 100 conditions, such as [{ name: … }, { … }]" : "conditions, such as { name: … }";
      if (!group) report("setting", at, `\`${name}\` takes ${takes}, got ${shown(where[name])}.`);
      else for (const one of group) checkGroups(one);
    }
  };
  if (derived.where !== undefined && !isMap(derived.where))
    report("setting", at, `it takes conditions on attributes, such as { name: "x" }, got ${shown(derived.where)}.`);
  else checkGroups(derived.where ?? {});
  for (const [name, condition] of comparisonsIn(derived.where ?? {})) {
    if (attributeIn(name) === undefined)
      report("setting", at, `"${name}" is not a path within an attribute. Write "address.city", "tags[0]" or settings["a.b"].`);
    if (!ends.includes(name) || !isMap(condition)) checkComparisons(name, condition);
    else for (const [field, value] of Object.entries(condition)) checkComparisons(`${name}.${field}`, value);
  }
  const all = known && [...known, ...ends];
  reportUnknown(report, at, [...new Set(comparedAttributes(derived))], { rule: "attribute", what: "an attribute here", known: all });
};

/** The attributes of the edges or parts that the stream or a job writes into them. */
const lateAttributes = ({ edges, parts }: GraphDefinition, { in: into, out, parts: part }: AggregateSource): readonly string[] => {
  const edge = edges?.[into ?? out ?? ""];
  const lists = part === undefined ? [edge?.copies?.from, edge?.copies?.to] : [parts?.[part]?.copies];
  const copied = lists.flatMap((list) =>
    copiesIn(list).flatMap(([name, { freshness, beyond }]) => (freshness === "stream" || beyond === "job" ? [name] : [])),
  );
  return part === undefined ? [...copied, ...Object.keys(edge?.derived ?? {})] : copied;
};

/** What a transaction cannot see or keep of the edges or parts that an aggregate ranges over. */
const beyondTransactions = (definition: GraphDefinition, { node, definition: owner, derived }: Declared): string | undefined => {
  const { source, operation, of } = derived;
  const compared = comparedAttributes(derived);
  const late = lateAttributes(definition, source).find((one) => one === of || compared.includes(one));
  if (late !== undefined) return `"${late}" is written by the stream or a job, after the transaction`;
  if (!isAdditive(operation))
    return `when the row with the ${operation} is removed, the next one has to be found among all others, which a transaction cannot do`;
  if (owner.ttl !== undefined) return `"${node}" expires (ttl), and its edges and parts are not counted when it is created again`;
  if (source.parts !== undefined)
    return definition.parts?.[source.parts]?.ttl === undefined ? undefined : `"${source.parts}" expires (ttl), which no transaction sees`;
  const name = source.in ?? source.out ?? "";
  const edge = definition.edges?.[name];
  if (!edge) return undefined;
  // A node that is created would have to find the references to it at once, and only an index finds them, a moment late.
  if (edge.stored === "reference")
    return `"${name}" is stored in its source, so it may lead to a "${node}" that does not exist, and stays when that is deleted: nothing would count it when the node is created`;
  if (edge.ttl !== undefined) return `"${name}" expires (ttl), which no transaction sees`;
  if (edge.ends === "unchecked") return `"${name}" may be linked to a node that does not exist (ends: "unchecked")`;
  return undefined;
};

/** Why a transaction cannot keep an aggregate unless its edges are deleted with their node, and how to delete them. */
const leftEdges = (definition: GraphDefinition, { node, derived: { source } }: Declared): string | undefined => {
  const name = source.in ?? source.out ?? "";
  const edge = definition.edges?.[name];
  if (!edge) return undefined;
  const ends = edge.symmetric ? (["from", "to"] as const) : ([source.in === undefined ? "from" : "to"] as const);
  const isLeft = ends.every((end) => (edge.onDelete?.[end] ?? "leave") === "leave");
  return isLeft
    ? `edges of "${name}" stay when "${node}" is deleted, and no node counts them: set onDelete.${ends[0]} to "cascade" or "restrict"`
    : undefined;
};

const FEWEST = 2;
const MOST = 64;
// A deletion marks all counters of a node with it, in one transaction of 100 items.
const MOST_OF_NODE = 90;

/** Why an aggregate cannot be spread over counters, or would gain nothing. */
const beyondShards = (definition: GraphDefinition, { node, definition: owner, derived }: Declared): string | undefined => {
  const { source, shards, freshness, operation } = derived;
  if (shards === undefined) return undefined;
  if (!Number.isInteger(shards) || shards < FEWEST || shards > MOST)
    return `shards must be a whole number from ${FEWEST} to ${MOST}, not ${shown(shards)}.`;
  if (freshness !== "transaction" || !isAdditive(operation))
    return `shards are for a count, sum or average of freshness "transaction": the stream and batch jobs do not need them. Leave shards out.`;
  if (source.parts !== undefined)
    return "parts are in their node's own partition, whose 1,000 write units a second they share: counters elsewhere would not help. Leave shards out.";
  const name = source.in ?? source.out ?? "";
  const edge = definition.edges?.[name];
  if (!edge) return undefined;
  const others = Object.entries(owner.derived ?? {}).filter(
    ([, one]) => one?.freshness === "transaction" && one.source.in === source.in && one.source.out === source.out,
  );
  const different = others.find(([, one]) => one.shards !== shards);
  if (different)
    return `"${different[0]}" of "${node}" ranges over the same edges with ${different[1].shards ?? "no"} shards, and every link would still meet there. Give both the same number of shards.`;
  const ends = edge.symmetric ? (["from", "to"] as const) : ([source.in === undefined ? "from" : "to"] as const);
  for (const end of ends) {
    const gain = "every link would still meet in one item, and the shards would gain nothing";
    if (edge.onDelete?.[end] === "restrict")
      return `onDelete.${end} of "${name}" is "restrict", for which one item counts the edges: ${gain}. Set it to "cascade".`;
    if (degreeLimit(edge, end) !== undefined)
      return `"${name}" has a limit at "${end}", for which one item counts the edges: ${gain}. Leave shards or the limit out.`;
    if (copiesIn(edge.copies?.[end]).some(([, { freshness: fresh = "transaction" }]) => fresh !== "immutable"))
      return `"${name}" copies attributes of "${node}", which each link checks: ${gain}. Copy immutable attributes, or leave shards out.`;
  }
  const sets = new Map(Object.values(owner.derived ?? {}).map((one) => [JSON.stringify(one?.source), one?.shards ?? 0]));
  const all = [...sets.values()].reduce((sum, one) => sum + one, 0);
  return all > MOST_OF_NODE ? `"${node}" would have ${all} counters, and its deletion marks at most ${MOST_OF_NODE} at once.` : undefined;
};

const checkWithin = (
  place: string,
  { freshness, within }: Pick<CopySettings | DerivedAttribute, "freshness" | "within">,
  report: Report,
): void => {
  if (within === undefined) return;
  if (freshness !== "stream")
    report("setting", `${place}.within`, `only the stream keeps a bound of staleness: set freshness: "stream", or leave it out.`);
  else if (typeof within !== "number" || !(within >= 1 && within <= LONGEST_STALENESS))
    report("setting", `${place}.within`, `${String(within)} is not a number of seconds from 1 to 86,400.`);
};

const checkSource = (definition: GraphDefinition, { place, node, derived }: Declared, report: Report): boolean => {
  const { in: into, out, parts } = derived.source;
  const given = [into, out, parts].filter((one) => one !== undefined);
  const [direction] = summarized(derived.source) ?? [];
  if (direction) {
    report(
      "name",
      place,
      `\`${direction}\` is for derived attributes of an edge: it finds edges between two nodes. Give \`in\`, \`out\` or \`parts\`.`,
    );
    return false;
  }
  if (given.length !== 1) {
    report("name", place, "give one of `in`, `out` and `parts`: the edges or parts that it ranges over.");
    return false;
  }
  if (parts !== undefined) {
    const known = Object.entries(definition.parts ?? {}).flatMap(([name, part]) => (part.of === node ? [name] : []));
    reportUnknown(report, place, [parts], { rule: "setting", what: `a part of "${node}"`, known });
    return known.includes(parts);
  }
  const isAt = ([, edge]: readonly [string, AnyEdge]): boolean =>
    endTypes(into === undefined || edge.symmetric ? edge.from : edge.to).includes(node);
  const known = Object.entries(definition.edges ?? {}).flatMap((entry) => (isAt(entry) ? [entry[0]] : []));
  const what = `an edge that ${into === undefined ? "leaves" : "reaches"} "${node}"`;
  reportUnknown(report, place, [into ?? out ?? ""], { rule: "setting", what, known });
  return known.includes(into ?? out ?? "");
};

/** What values of a type are in JavaScript; those of any other type are not judged. */
const NATURES: Readonly<Record<string, string>> = { string: "text", number: "number", bigint: "number", boolean: "boolean", date: "Date" };
const SINGLE = ["eq", "ne", "lt", "lte", "gt", "gte", "beginsWith"];
const SEVERAL = ["in", "between"];

/** What the values of an attribute of edges or parts are; undefined if the schemas do not tell. */
const natureIn = (definition: GraphDefinition, ranged: AnyEdge | AnyPart, name: string): string | undefined =>
  NATURES[valueType(definition, ranged, name) ?? ""];

/** The values that a condition compares an attribute with. */
const comparedWith = (condition: unknown): readonly unknown[] => {
  if (typeof condition !== "object" || condition === null || condition instanceof Date) return [condition];
  const given = condition as Readonly<Record<string, unknown>>;
  return [
    ...SINGLE.flatMap((operator) => (operator in given ? [given[operator]] : [])),
    ...SEVERAL.flatMap((operator) => (Array.isArray(given[operator]) ? (given[operator] as readonly unknown[]) : [])),
  ];
};

/** Values that do not fit: a sum of texts, and a condition that no edge or part can meet. */
export const checkNatures = (
  definition: GraphDefinition,
  ranged: AnyEdge | AnyPart,
  { place, derived }: Pick<Declared, "place" | "derived">,
  report: Report,
): void => {
  const { of, where = {}, operation } = derived;
  const added = of !== undefined && (operation === "sum" || operation === "average") ? natureIn(definition, ranged, of) : undefined;
  if (added !== undefined && added !== "number")
    report(
      "setting",
      `${place}.of`,
      `"${of}" is ${added} by its schema, and a ${operation} takes numbers. Name an attribute that is a number.`,
    );
  for (const [name, condition] of comparisonsIn(where)) {
    const stored = comparedWith(condition)
      .map(unstorable)
      .find((what) => what !== undefined);
    if (stored !== undefined) report("setting", `${place}.where`, `"${name}" is compared with ${stored}, which DynamoDB cannot store.`);
    const nature = natureIn(definition, ranged, name);
    const wrong =
      nature && comparedWith(condition).find((value) => ((value instanceof Date ? "Date" : NATURES[typeof value]) ?? nature) !== nature);
    if (wrong !== undefined)
      report("setting", `${place}.where`, `"${name}" is ${nature} by its schema, and never ${shown(wrong)}: no row would meet this.`);
  }
};

const SOURCES = ["in", "out", "parts", "along", "against", "between"];

const checkInherited = (place: string, name: string, report: Report): void => {
  if (name in Object.prototype) report("name", place, `"${name}" is a member of every object. Choose another name.`);
};

/** Checks what any derived attribute needs. Returns false if the declaration was not made by one of the functions for it. */
export const checkDeclaration = (place: string, name: string, derived: DerivedAttribute, report: Report): boolean => {
  checkInherited(place, name, report);
  if (derived?.kind !== "derived" || !OPERATIONS.includes(derived.operation)) {
    report("name", place, "this is not a derived attribute: make it with count, sum, average, min, max or distinct.");
    return false;
  }
  checkWithin(place, derived, report);
  const unknown = Object.keys(derived.source).filter((one) => !SOURCES.includes(one));
  const known = [...SOURCES, "of", "where", "freshness", "within", "shards"];
  reportUnknown(report, place, unknown, { rule: "setting", what: `an option of ${derived.operation}`, known });
  return true;
};

interface CopyPlace {
  readonly place: string;
  readonly name: string;
  readonly copy: CopySettings;
  readonly types: readonly string[];
}

const checkCopy = (definition: GraphDefinition, { place, name, copy, types }: CopyPlace, report: Report): void => {
  const { of, freshness = "transaction", beyond = "refuse" } = copy;
  reportUnknown(report, `${place}.${name}.beyond`, [beyond], { rule: "setting", what: "a way", known: ["refuse", "job"] });
  if (beyond === "job" && freshness !== "transaction")
    report("setting", `${place}.${name}.beyond`, `it is for copies of freshness "transaction", not "${freshness}". Leave it out.`);
  reportUnknown(report, `${place}.${name}.freshness`, [freshness], { rule: "setting", what: "a freshness", known: COPY_FRESHNESS });
  checkWithin(`${place}.${name}`, copy, report);
  for (const type of types) {
    const node = definition.nodes[type];
    if (!node) continue;
    reportUnknown(report, place, [of], { rule: "attribute", what: `an attribute of "${type}"`, known: attributesOf(node) });
    const isFixed = node.immutable?.includes(of) === true || fieldNames(node.key).includes(of);
    if (node.stored === false) report("setting", place, `"${type}" has no item to copy from (stored: false). Leave the copy out.`);
    else if (freshness === "immutable" && !isFixed)
      report(
        "setting",
        `${place}.${name}`,
        `"${of}" of "${type}" may change, and an immutable copy would not. Name it in \`immutable\` of "${type}", or set another freshness.`,
      );
    else if (freshness === "transaction" && Object.hasOwn(node.derived ?? {}, of))
      report(
        "setting",
        `${place}.${name}`,
        `"${of}" of "${type}" is derived itself, and changes with many writes. Set freshness: "stream".`,
      );
  }
};

export const checkCopies = (definition: GraphDefinition, report: Report): void => {
  const check = (
    place: string,
    own: readonly string[] | undefined,
    lists: readonly (readonly [CopyList | undefined, readonly string[]])[],
  ) => {
    const seen = new Set<string>();
    for (const [list, types] of lists) {
      for (const [name, copy] of copiesIn(list)) {
        checkInherited(place, name, report);
        if (own?.includes(name) || name === "from" || name === "to" || name === "version")
          report(
            "reservedName",
            place,
            `"${name}" is an attribute here already. Give the copy another name: { ${name}Copy: "${copy.of}" }.`,
          );
        if (seen.has(name)) report("reservedName", place, `"${name}" is copied from both ends. Give one of the copies another name.`);
        seen.add(name);
        checkCopy(definition, { place, name, copy, types }, report);
      }
    }
  };
  each(definition.edges, (name, edge) => {
    if (!edge.copies) return;
    const place = `edges.${name}.copies`;
    if (edge.stored === "reference")
      report("setting", place, "an edge stored as a reference has no item to copy onto. Store the edge once, or leave copies out.");
    if (edge.symmetric) report("setting", place, "a symmetric edge has no source and no target to copy from. Leave copies out.");
    check(place, edge.schema && attributeNames(edge.schema), [
      [edge.copies.from, endTypes(edge.from)],
      [edge.copies.to, endTypes(edge.to)],
    ]);
  });
  each(definition.parts, (name, part) => {
    const own = [...(attributeNames(part.schema) ?? []), ...fieldNames(definition.nodes[part.of]?.key ?? "")];
    check(`parts.${name}.copies`, own, [[part.copies, [part.of]]]);
  });
};

/** A cycle of facts: each change would cause the next one, without end. */
export const checkCycles = (definition: GraphDefinition, report: Report): void => {
  const declared = [...Object.values(definition.nodes), ...Object.values(definition.edges ?? {})].flatMap(({ derived = {} }) =>
    Object.values(derived),
  );
  // A declaration that cannot be read is reported already.
  if (!declared.every((one) => one?.kind === "derived")) return;
  const { copies, aggregates, summaries } = factsOf(definition);
  const derived = [
    ...aggregates.map((fact) => ({ ...fact, owner: fact.node })),
    ...summaries.map((fact) => ({ ...fact, owner: fact.edge })),
  ];
  /** What is aggregated over an attribute of an edge or part. */
  const over = (name: string, attribute: string): readonly (readonly [string, string])[] =>
    derived.flatMap((fact): (readonly [string, string])[] =>
      fact.over.name === name && (fact.of === attribute || comparedAttributes(fact).includes(attribute))
        ? [[fact.owner, fact.attribute]]
        : [],
    );
  const next = (owner: string, attribute: string): readonly (readonly [string, string])[] => [
    ...over(owner, attribute),
    ...copies.flatMap((copy) => {
      const types =
        copy.onto.kind === "part"
          ? [definition.parts?.[copy.onto.name]?.of]
          : endTypes(definition.edges?.[copy.onto.name]?.[copy.end] ?? []);
      return copy.of === attribute && types.includes(owner) ? over(copy.onto.name, copy.attribute) : [];
    }),
  ];
  for (const { owner, attribute } of derived) {
    const seen = new Set<string>();
    const waiting = [...next(owner, attribute)];
    for (let one = waiting.pop(); one; one = waiting.pop()) {
      const text = one.join(".");
      if (seen.has(text)) continue;
      seen.add(text);
      waiting.push(...next(...one));
    }
    const place = `${Object.hasOwn(definition.nodes, owner) ? "nodes" : "edges"}.${owner}.derived.${attribute}`;
    if (seen.has(`${owner}.${attribute}`)) report("setting", place, "it depends on itself through a copy or an edge. Break the cycle.");
  }
};

/** Aggregates and copies: what they range over, and whether their freshness can be kept. */
export const checkFacts = (definition: GraphDefinition, report: Report): void => {
  each(definition.nodes, (node, one) =>
    each(one.derived, (name, derived) => {
      const place = `nodes.${node}.derived.${name}`;
      const taken = [...(attributeNames(one.schema) ?? []), ...fieldNames(one.key), ...(one.version ? ["version"] : [])];
      if (taken.includes(name)) report("reservedName", place, `"${name}" is an attribute of the schema already. Rename one.`);
      if (one.stored === false) report("setting", place, `"${node}" has no item to keep it in (stored: false). Leave it out.`);
      if (!checkDeclaration(place, name, derived, report)) return;
      const declared: Declared = { place, node, definition: one, derived };
      const { source, of, freshness, operation } = derived;
      reportUnknown(report, `${place}.freshness`, [freshness], { rule: "setting", what: "a freshness", known: FRESHNESS });
      if (!checkSource(definition, declared, report)) return;
      const ranged = source.parts === undefined ? definition.edges?.[source.in ?? source.out ?? ""] : definition.parts?.[source.parts];
      const known = ranged && attributesOf(ranged);
      const ends = source.parts === undefined ? ["from", "to"] : [];
      if (of !== undefined) reportUnknown(report, `${place}.of`, [of], { rule: "attribute", what: "an attribute here", known });
      else if (operation !== "count" && operation !== "distinct")
        report("setting", place, `${operation} needs \`of\`: the attribute whose values it takes.`);
      checkWhere(derived, { place, known, ends }, report);
      if (ranged) checkNatures(definition, ranged, declared, report);
      const { layout } = definition;
      if (freshness === "stream" && !isAdditive(operation) && layout && !hasTextSort(layout))
        report(
          "setting",
          place,
          `the stream finds the ${operation} among the values of one partition, and this table has no sort key of text to tell them apart. Set freshness: "batch".`,
        );
      const unfit = beyondShards(definition, declared);
      if (unfit !== undefined) report("setting", `${place}.shards`, unfit);
      if (freshness !== "transaction") return;
      const never = beyondTransactions(definition, declared);
      const reason = never ?? leftEdges(definition, declared);
      const remedy = never === undefined ? "Or set" : "Set";
      if (reason !== undefined) report("setting", place, `a transaction cannot keep it: ${reason}. ${remedy} freshness: "stream".`);
    }),
  );
};
