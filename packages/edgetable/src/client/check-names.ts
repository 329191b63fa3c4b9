import { attributesIn } from "../schema/attribute-path.ts";
import { filtersIn } from "../ir/condition.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Direction } from "../query/reads.ts";
import { attributesOf } from "../schema/facts.ts";
import type { EdgeEntry, EndEntry, Shape } from "../schema/catalog.ts";
import type { AnyEdge, AnyNode, AnyPart } from "../schema/definition.ts";
import { VERSION } from "../schema/system-items.ts";
import { checkKey, refuseStoredNames } from "../schema/check-values.ts";
import type { Row } from "../util/row.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { defined } from "../util/invariant.ts";
import type { Driver } from "./driver.ts";
import { listOf, namesIn } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";

type AnyDefinition = AnyNode | AnyEdge | AnyPart;

/**
 * Checks that names are attributes of the filtered or selected definition.
 *
 * @param known the attributes; undefined if the schema does not list them
 * @throws {schema.unknownAttribute}
 */
export const checkNames = (
  given: readonly string[],
  of: { readonly kind: "edge" | "node" | "part"; readonly name: string },
  known: readonly string[] | undefined,
): void => {
  const at = known ? given.findIndex((field) => !known.includes(field)) : -1;
  if (at < 0 || !known) return;
  const unknown: unknown = given[at];
  // A nested array with a right name would otherwise show as that name.
  if (typeof unknown !== "string")
    throw new EdgetableError("plan.invalidOption", `Expected attribute names, such as "name", got ${jsonText(unknown)}.`);
  throw new EdgetableError(
    "schema.unknownAttribute",
    `"${unknown}" is not an attribute of the ${of.kind} "${of.name}".${didYouMean(unknown, known)}`,
    { details: { [of.kind]: of.name, attribute: unknown } },
  );
};

/**
 * Returns the names of a selection as they were given.
 *
 * @throws {plan.invalidOption} if there is no name
 */
export const someNames = (fields: readonly string[], of: string): readonly string[] => {
  if (fields.length > 0) return fields;
  throw new EdgetableError("plan.invalidOption", `Name at least one attribute of "${of}" in select, or leave it out.`);
};

/** The names that reads of a definition's rows may use: its attributes and its version. Undefined if its schema does not list them. */
export const readNames = (definition: AnyDefinition): readonly string[] | undefined => {
  const own = attributesOf(definition);
  return own && definition.version ? [...own, VERSION] : own;
};

/** The names that an edge's filter may have; undefined if its schema does not list them. */
export const edgeFields = (driver: Pick<Driver, "catalog">, edge: string): readonly string[] | undefined => {
  const known = readNames(defined(driver.catalog.edges[edge], "edge").definition);
  return known && [...known, "from", "to"];
};

/**
 * Checks that names are attributes of an edge, or its ends.
 *
 * @throws {schema.unknownAttribute}
 */
export const checkEdgeFields = (driver: Driver, edge: string, given: readonly string[]): void => {
  const { shapes } = defined(driver.catalog.edges[edge], "edge");
  for (const shape of shapes) refuseStoredNames(shape, given);
  checkNames(given, { kind: "edge", name: edge }, edgeFields(driver, edge));
};

/**
 * Checks the names in an edge's filter, including those of the ends' ids.
 *
 * @throws {schema.unknownAttribute}
 * @throws {plan.invalidOption} when the filter is not an object
 */
export const checkEdgeFilter = (driver: Driver, edge: string, filter: Readonly<Record<string, unknown>>): void => {
  const entry = defined(driver.catalog.edges[edge], "edge");
  for (const where of filtersIn(filter, "where")) {
    checkEdgeFields(driver, edge, attributesIn(Object.keys(where)));
    for (const end of ["from", "to"] as const) {
      if (where[end] === undefined) continue;
      const known = ["type", ...entry[end].flatMap((type) => defined(driver.catalog.ends[type], type).idFields)];
      const within = (names: readonly string[]): readonly string[] => names.map((name) => `${end}.${name}`);
      checkNames(within(namesIn(where[end], `where.${end}`)), { kind: "edge", name: edge }, within(known));
    }
  }
};

/** The names of the attributes of a node's or part's rows; undefined if its schema does not list them. */
const namesOf = ({ definition, shape, idFields }: EndEntry): readonly string[] | undefined => {
  const own = readNames(definition);
  return own && shape.kind === "part" ? [...own, ...idFields] : own;
};

/**
 * The node types that have all the given attributes, as far as their schemas list them. A filter of nodes of several types
 * only keeps nodes of these types.
 *
 * @throws {schema.unknownAttribute} when no type has them all
 */
export const typesWith = (driver: Driver, types: readonly string[], given: readonly string[]): readonly string[] => {
  const having: string[] = [];
  let refusal: unknown;
  for (const name of types) {
    const entry = defined(driver.catalog.ends[name], name);
    try {
      refuseStoredNames(entry.shape, given);
      checkNames(given, { kind: entry.shape.kind, name }, namesOf(entry));
      having.push(name);
    } catch (error) {
      refusal ??= error;
    }
  }
  if (having.length === 0) throw refusal;
  return having;
};

/**
 * Checks that the table has an index.
 *
 * @throws {plan.noIndex}
 */
export const checkIndex = ({ catalog }: Pick<Driver, "catalog">, index: string): void => {
  const known = catalog.indexes.flatMap(({ name }) => name ?? []);
  if (known.includes(index)) return;
  throw new EdgetableError("plan.noIndex", `There is no index "${index}".${didYouMean(index, known)}`, { details: { index } });
};

/**
 * The edge with a name.
 *
 * @throws {schema.unknownEdge} for an unknown name
 */
export const edgeNamed = ({ catalog }: Pick<Driver, "catalog">, edge: string): EdgeEntry => {
  const known = catalog.edges[edge];
  if (known) return known;
  throw new EdgetableError("schema.unknownEdge", `There is no edge "${edge}".${didYouMean(edge, Object.keys(catalog.edges))}`, {
    details: { edge },
  });
};

interface EdgeStep {
  readonly edge: string;
  readonly direction: Direction;
}

/** Says why no node of these types has the edge in this direction, and what to do. */
const showWrongEnd = (driver: Driver, nodes: readonly string[], { edge, direction }: EdgeStep): string => {
  const { from, to } = edgeNamed(driver, edge);
  const named = `"${nodes.join('" or "')}"`;
  const has = (types: readonly string[]): boolean => nodes.some((node) => types.includes(node));
  if (direction === "both") {
    const oneWay = has(from) ? " Use `out`." : has(to) ? " Use `in`." : "";
    return `\`both\` needs ${named} at both ends of the edge, but "${edge}" leads from ${from.join(" or ")} to ${to.join(" or ")}.${oneWay}`;
  }
  const [end, name] = direction === "out" ? (["from", "source"] as const) : (["to", "target"] as const);
  const others = Object.values(driver.catalog.edges).filter((one) => has(one[end]));
  const known =
    others.length > 0 ? `Edges with ${named} as ${name}: ${others.map((one) => one.name).join(", ")}.` : `No edge has it as ${name}.`;
  return `The ${name} of the edge "${edge}" is ${(direction === "out" ? from : to).join(" or ")}, not ${named}. ${known}`;
};

/**
 * Checks that an edge has one of the node types at an end.
 *
 * @throws {schema.unknownEdge}
 */
export const checkEdge = (driver: Driver, nodes: readonly string[], step: EdgeStep): void => {
  const { edge, direction } = step;
  const { from, to } = edgeNamed(driver, edge);
  const isAtEnd = nodes.some((node) => (direction === "in" || from.includes(node)) && (direction === "out" || to.includes(node)));
  if (isAtEnd) return;
  throw new EdgetableError("schema.unknownEdge", showWrongEnd(driver, nodes, step), {
    details: { edge, node: nodes.length === 1 ? nodes[0] : nodes, direction },
  });
};

/**
 * The fields that a point read selects: those that the call names and the version, because a later write may be conditional on it.
 * Undefined for all.
 *
 * @throws {plan.invalidOption} if there is no field
 * @throws {schema.unknownAttribute}
 */
export const selectedFields = (
  {
    kind,
    name,
    definition,
    shape,
    further = [],
  }: {
    readonly kind: "node" | "edge" | "part";
    readonly name: string;
    readonly definition: AnyDefinition;
    readonly shape: Shape;
    /** Of a part: the id fields of its node. */
    readonly further?: readonly string[];
  },
  select: readonly string[] | undefined,
): readonly string[] | undefined => {
  if (select === undefined) return undefined;
  const fields = someNames(listOf(select, 'attribute names, such as ["name"]'), name);
  refuseStoredNames(shape, fields);
  const version = shape.version ? [VERSION] : [];
  const ends = kind === "edge" ? ["from", "to"] : [];
  const beside = kind === "part" ? further : ends;
  const known = attributesOf(definition);
  checkNames(fields, { kind, name }, known && [...known, ...beside, ...version]);
  return [...new Set([...fields, ...version])];
};

/**
 * The selected fields of nodes of the given types. Each field must exist in at least one of the types.
 *
 * @throws {plan.invalidOption} if there is no field
 * @throws {schema.unknownAttribute}
 */
export const nodeFields = ({ catalog }: Driver, types: readonly string[], select: readonly string[]): readonly string[] => {
  const named = listOf(select, 'attribute names, such as ["name"]');
  const entries = types.map((type) => defined(catalog.ends[type], type));
  const has = (entry: EndEntry, field: string): boolean => namesOf(entry)?.includes(field) ?? true;
  const fields = entries.flatMap((entry) => {
    const own = named.filter((field) => has(entry, field) || !entries.some((other) => has(other, field)));
    return own.length > 0 || named.length === 0
      ? (selectedFields({ ...entry, kind: entry.shape.kind, further: entry.idFields }, own) ?? [])
      : [];
  });
  return [...new Set(fields)];
};

/** The selected fields of a row, as far as it has them. */
export const onlySelected = (select: readonly string[] | undefined, row: Row): Row =>
  select ? Object.fromEntries(select.filter((field) => Object.hasOwn(row, field)).map((field) => [field, row[field]])) : row;

/** The option with an edge's own key. */
export interface KeyOption {
  readonly key?: Row | undefined;
}

/**
 * The own key of an edge that a call addresses, from its options.
 *
 * @throws {schema.invalidValue} {schema.unknownAttribute} for a key with missing or unknown fields
 * @throws {plan.invalidOption} if the key is passed in place of the options
 */
export const ownKey = ({ name, key: fields }: EdgeEntry, options: KeyOption): Row => {
  const given = namesIn(options);
  const stray = given.includes("key") ? undefined : fields.find((field) => given.includes(field));
  if (stray !== undefined)
    throw new EdgetableError(
      "plan.invalidOption",
      `"${stray}" belongs to the key of "${name}": give it as the option { key: { ${fields.join(", ")} } }.`,
      {
        details: { option: stray },
      },
    );
  return checkKey(name, fields, options.key ?? {});
};
