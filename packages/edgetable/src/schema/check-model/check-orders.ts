import { fieldNames } from "../build-catalog.ts";
import { type AnyNode, endTypes, type GraphDefinition } from "../definition.ts";
import { type DerivedAttribute, startsAtZero } from "../derived.ts";
import { copiesIn } from "../facts.ts";
import { askSchema, attributeSchemas } from "../standard-schema.ts";
import { own } from "../../util/row.ts";
import { each, type Report } from "./finding.ts";

const startsEmpty = ({ operation, freshness }: DerivedAttribute): boolean => !startsAtZero(operation) || freshness === "batch";

/** True if rows may lack an attribute, so far as the model tells. */
export const mayLack = ({ schema, derived }: AnyNode, field: string): boolean => {
  const aggregate = own(derived ?? {}, field);
  if (aggregate) return startsEmpty(aggregate);
  const attribute = own((schema && attributeSchemas(schema)?.each) ?? {}, field);
  return [undefined, null].some((nothing) => {
    const result = attribute && askSchema(attribute, nothing);
    return result !== undefined && !result.issues && result.value === nothing;
  });
};

/**
 * Edges that the stream orders: whether they have a place in the order at any time. An edge without one is no neighbour, and neither
 * the stream nor a deletion finds it from its other end.
 */
export const checkOrders = (definition: GraphDefinition, report: Report): void => {
  each(definition.edges, (name, edge) => {
    const field = fieldNames(`{${edge.orderBy ?? ""}}`)[0] ?? "";
    const place = `edges.${name}.orderBy`;
    const summary = own(edge.derived ?? {}, field);
    if (summary && startsEmpty(summary))
      report(
        "setting",
        place,
        `an edge has no "${field}" when it is linked (${summary.operation}, by the ${summary.freshness}), and so no place in the order. Order by a count, a sum or a number of different values that the stream keeps, or find the edges by a sparse index of "${field}".`,
      );
    for (const end of ["from", "to"] as const)
      for (const [copy, { of, freshness }] of copiesIn(edge.copies?.[end])) {
        if (copy !== field || freshness !== "stream") continue;
        const type = endTypes(edge[end]).find((one) => definition.nodes[one] && mayLack(definition.nodes[one], of));
        if (type !== undefined)
          report(
            "setting",
            place,
            `"${field}" is a copy of "${of}", which a "${type}" may lack, and an edge without it has no place in the order. Let every "${type}" have "${of}", copy it in transactions, or find the edges by a sparse index of "${field}".`,
          );
      }
  });
};
