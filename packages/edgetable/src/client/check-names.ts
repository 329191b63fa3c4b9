import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Direction } from "../query/reads.ts";
import { attributeNames } from "../schema/standard-schema.ts";
import type { EdgeEntry } from "../schema/catalog.ts";
import { refuseStoredNames } from "../schema/check-id.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { defined } from "../util/invariant.ts";
import type { Driver } from "./driver.ts";
import { namesIn } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";

// A list with the right name in it would read as that name.
const nameOf = (given: unknown): string => {
  if (typeof given === "string") return given;
  throw new EdgetableError("plan.invalidOption", `Give names of attributes, each by itself, such as "name": ${jsonText(given)} is none.`);
};

/**
 * Refuses names that are no attributes of what is filtered or selected.
 *
 * @param known the subject's attributes; undefined where its schema does not tell them
 * @throws {schema.unknownAttribute}
 */
export const checkNames = (
  given: readonly string[],
  of: { readonly kind: "edge" | "node" | "part"; readonly name: string },
  known: readonly string[] | undefined,
): void => {
  const at = known ? given.findIndex((field) => !known.includes(field)) : -1;
  if (at < 0 || !known) return;
  const stranger = nameOf(given[at]);
  throw new EdgetableError(
    "schema.unknownAttribute",
    `"${stranger}" is no attribute of the ${of.kind} "${of.name}".${didYouMean(stranger, known)}`,
    { details: { [of.kind]: of.name, attribute: stranger } },
  );
};

/** The names that an edge's filter may have; undefined where its schema does not tell them. */
export const edgeFields = (driver: Pick<Driver, "catalog">, edge: string): readonly string[] | undefined => {
  const { schema } = defined(driver.catalog.edges[edge], "edge").definition;
  const known = schema ? attributeNames(schema) : [];
  return known && [...known, "from", "to"];
};

/**
 * Refuses names that are no attributes of an edge, nor its ends.
 *
 * @throws {schema.unknownAttribute}
 */
export const checkEdgeFields = (driver: Driver, edge: string, given: readonly string[]): void => {
  const { shapes } = defined(driver.catalog.edges[edge], "edge");
  for (const shape of shapes) refuseStoredNames(shape, given);
  checkNames(given, { kind: "edge", name: edge }, edgeFields(driver, edge));
};

/**
 * The same of a filter, and of what it asks of the ends' ids.
 *
 * @throws {schema.unknownAttribute}
 * @throws {plan.invalidOption} when it is no object
 */
export const checkEdgeFilter = (driver: Driver, edge: string, where: Readonly<Record<string, unknown>>): void => {
  checkEdgeFields(driver, edge, namesIn(where));
  const entry = defined(driver.catalog.edges[edge], "edge");
  for (const end of ["from", "to"] as const) {
    const known = ["type", ...entry[end].flatMap((type) => defined(driver.catalog.nodes[type], type).idFields)];
    const of = { kind: "edge", name: edge } as const;
    const within = (names: readonly string[]): readonly string[] => names.map((name) => `${end}.${name}`);
    if (where[end] !== undefined) checkNames(within(namesIn(where[end])), of, within(known));
  }
};

/**
 * The same for nodes of any of several types.
 *
 * @throws {schema.unknownAttribute}
 */
const checkNodeFields = (driver: Driver, types: readonly string[], given: readonly string[]): void => {
  for (const name of types) {
    const { definition, shape } = defined(driver.catalog.nodes[name], name);
    refuseStoredNames(shape, given);
    checkNames(given, { kind: "node", name }, attributeNames(definition.schema));
  }
};

/**
 * The node types that have every one of the given attributes, as far as their schemas tell: a filter of nodes of several
 * types keeps nodes of these alone.
 *
 * @throws {schema.unknownAttribute} where no type has them all
 */
export const typesWith = (driver: Driver, types: readonly string[], given: readonly string[]): readonly string[] => {
  const refusals: unknown[] = [];
  const having = types.filter((type) => {
    try {
      checkNodeFields(driver, [type], given);
      return true;
    } catch (error) {
      refusals.push(error);
      return false;
    }
  });
  if (having.length === 0) throw refusals[0];
  return having;
};

/**
 * Refuses an index that the table does not have.
 *
 * @throws {plan.noIndex}
 */
export const checkIndex = ({ catalog }: Pick<Driver, "catalog">, index: string): void => {
  const known = catalog.indexes.flatMap(({ name }) => name ?? []);
  if (known.includes(index)) return;
  throw new EdgetableError("plan.noIndex", `There is no index "${index}".${didYouMean(index, known)}`, { details: { index } });
};

/**
 * The edge of a name.
 *
 * @throws {schema.unknownEdge} when there is none
 */
export const edgeNamed = ({ catalog }: Pick<Driver, "catalog">, edge: string): EdgeEntry => {
  const known = catalog.edges[edge];
  if (known) return known;
  throw new EdgetableError("schema.unknownEdge", `There is no edge "${edge}".${didYouMean(edge, Object.keys(catalog.edges))}`, {
    details: { edge },
  });
};

/**
 * Refuses an edge that has none of the node types at that end.
 *
 * @throws {schema.unknownEdge}
 */
export const checkEdge = (
  driver: Driver,
  nodes: readonly string[],
  { edge, direction }: { readonly edge: string; readonly direction: Direction },
): void => {
  const known = edgeNamed(driver, edge);
  const ends = direction === "out" ? known.from : direction === "in" ? known.to : known.from.filter((name) => known.to.includes(name));
  if (nodes.some((node) => ends.includes(node))) return;
  throw new EdgetableError(
    "schema.unknownEdge",
    `The edge "${edge}" has no "${nodes.join('" or "')}" at that end; it has ${ends.join(" or ") || "none"}.`,
    { details: { edge, node: nodes.length === 1 ? nodes[0] : nodes, direction } },
  );
};
