import { type AnyEdge, endTypes, type GraphDefinition } from "../definition.ts";
import { type DerivedAttribute, FRESHNESS, summarized, type SummaryDirection } from "../derived.ts";
import { attributesOf, copiesIn } from "../facts.ts";
import { attributeNames } from "../standard-schema.ts";
import { checkDeclaration, checkNatures, checkWhere } from "./check-facts.ts";
import { each, reportUnknown, type Report } from "./finding.ts";

const DIRECTIONS: readonly SummaryDirection[] = ["along", "against", "between"];

/** One derived attribute of an edge, and where it is declared. */
interface Declared {
  readonly place: string;
  readonly name: string;
  readonly edge: AnyEdge;
  readonly derived: DerivedAttribute;
}

const meets = (one: string | readonly string[], other: string | readonly string[]): boolean =>
  endTypes(one).some((type) => endTypes(other).includes(type));

const checkOver = (definition: GraphDefinition, { place, name, edge, derived }: Declared, report: Report): AnyEdge | undefined => {
  const given = DIRECTIONS.filter((one) => derived.source[one] !== undefined);
  const [direction, over] = summarized(derived.source) ?? [];
  if (given.length !== 1 || direction === undefined || over === undefined) {
    report("name", place, "give one of `along`, `against` and `between`: the edge type between the same two nodes that it ranges over.");
    return undefined;
  }
  reportUnknown(report, place, [over], { rule: "setting", what: "an edge of the model", known: Object.keys(definition.edges ?? {}) });
  const other = definition.edges?.[over];
  if (!other) return undefined;
  const isAlong = meets(edge.from, other.from) && meets(edge.to, other.to);
  const isAgainst = meets(edge.from, other.to) && meets(edge.to, other.from);
  const canLie = (direction !== "against" && isAlong) || (direction !== "along" && isAgainst);
  if (over === name) report("setting", place, `"${name}" cannot summarize itself: name another edge type.`);
  else if (other.symmetric ? !isAlong : !canLie)
    report(
      "setting",
      place,
      `no "${over}" lies ${direction} a "${name}": their ends are of other types. Name an edge type between the same nodes.`,
    );
  if (edge.symmetric && direction !== "between")
    report("setting", place, `"${name}" has no direction (symmetric), and "${over}" is counted from both ends: write \`between\`.`);
  const attributes = attributesOf(other);
  for (const field of edge.key ?? [])
    if (attributes && !attributes.includes(field))
      report(
        "setting",
        place,
        `"${field}" in the key of "${name}" is not an attribute of "${over}", so it is unclear for which of the parallel edges one would count. Leave it out of the key, or add it to "${over}".`,
      );
  return other;
};

/** Derived attributes of edges: whether what they range over can lie between the same nodes, and the stream can keep them. */
export const checkSummaries = (definition: GraphDefinition, report: Report): void => {
  each(definition.edges, (name, edge) =>
    each(edge.derived, (attribute, derived) => {
      const place = `edges.${name}.derived.${attribute}`;
      const copies = [...copiesIn(edge.copies?.from), ...copiesIn(edge.copies?.to)].map(([copy]) => copy);
      const own = (edge.schema && attributeNames(edge.schema)) ?? [];
      const taken = [...own, ...copies, "from", "to", ...(edge.version ? ["version"] : [])];
      if (taken.includes(attribute)) report("reservedName", place, `"${attribute}" is an attribute of "${name}" already. Rename one.`);
      if (edge.stored === "reference")
        report("setting", place, "an edge stored as a reference has no item to keep it in. Store the edge once, or leave it out.");
      if (!checkDeclaration(place, attribute, derived, report)) return;
      const declared: Declared = { place, name, edge, derived };
      const { of, freshness, operation, shards } = derived;
      const other = checkOver(definition, declared, report);
      if (!summarized(derived.source)) return;
      if (freshness === "transaction")
        report(
          "setting",
          place,
          'a transaction cannot keep it: an edge may be linked after those that it summarizes, and its own transaction could not find them all. Set freshness: "stream", or leave it out.',
        );
      else reportUnknown(report, `${place}.freshness`, [freshness], { rule: "setting", what: "a freshness", known: FRESHNESS.slice(1) });
      if (shards !== undefined) report("setting", `${place}.shards`, "shards are for a count, sum or average of a node. Leave them out.");
      if (!other) return;
      const known = attributesOf(other);
      if (of !== undefined) reportUnknown(report, `${place}.of`, [of], { rule: "attribute", what: "an attribute here", known });
      else if (operation !== "count") report("setting", place, `${operation} needs \`of\`: the attribute whose values it takes.`);
      checkWhere(derived, { place, known, ends: ["from", "to"] }, report);
      checkNatures(definition, other, declared, report);
    }),
  );
};
