import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Direction } from "../query/neighbours.ts";
import { attributeNames } from "../schema/attribute-names.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { defined } from "../util/invariant.ts";
import type { Driver } from "./driver.ts";

type Row = Readonly<Record<string, unknown>>;

const refuseAttribute = (field: string, of: { readonly kind: "edge" | "node"; readonly name: string }, known: readonly string[]): never => {
  throw new EdgetableError(
    "schema.unknownAttribute",
    `"${field}" is no attribute of the ${of.kind} "${of.name}".${didYouMean(field, known)}`,
    { details: { [of.kind]: of.name, attribute: field } },
  );
};

/**
 * Refuses a filter that names an attribute which the edge does not have.
 *
 * @throws {schema.unknownAttribute}
 */
export const checkFields = (driver: Driver, edge: string, where: Row): void => {
  const { schema } = defined(driver.catalog.edges[edge], "edge").definition;
  const known = schema ? attributeNames(schema) : [];
  if (!known) return;
  const stranger = Object.keys(where).find((field) => field !== "from" && field !== "to" && !known.includes(field));
  if (stranger !== undefined) refuseAttribute(stranger, { kind: "edge", name: edge }, known);
};

/**
 * The same for nodes of any of several types.
 *
 * @throws {schema.unknownAttribute}
 */
export const checkNodeFields = (driver: Driver, types: readonly string[], where: Row): void => {
  for (const name of types) {
    const known = attributeNames(defined(driver.catalog.nodes[name], name).definition.schema);
    const stranger = known && Object.keys(where).find((field) => !known.includes(field));
    if (known && stranger !== undefined) refuseAttribute(stranger, { kind: "node", name }, known);
  }
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
  const known = driver.catalog.edges[edge];
  if (!known) {
    throw new EdgetableError("schema.unknownEdge", `There is no edge "${edge}".${didYouMean(edge, Object.keys(driver.catalog.edges))}`, {
      details: { edge },
    });
  }
  const ends = direction === "out" ? known.from : direction === "in" ? known.to : known.from.filter((name) => known.to.includes(name));
  if (nodes.some((node) => ends.includes(node))) return;
  throw new EdgetableError(
    "schema.unknownEdge",
    `The edge "${edge}" has no "${nodes.join('" or "')}" at that end; it has ${ends.join(" or ") || "none"}.`,
    { details: { edge, node: nodes.length === 1 ? nodes[0] : nodes, direction } },
  );
};
