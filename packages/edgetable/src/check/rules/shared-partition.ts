import { templatesOverlap } from "../../keys/template.ts";
import { CONCERNS, type AdviceRule } from "../advice.ts";
import { placesIn } from "../index-places.ts";

/** Two node types whose partitions may be one: a collection of either holds the other's items. */
export const sharedPartition: AdviceRule = (catalog) => {
  if (catalog.layout.sharedIds) return [];
  const nodes = placesIn(catalog, catalog.index).filter(({ shape }) => shape.kind === "node");
  return nodes.flatMap((b, at) =>
    nodes
      .slice(0, at)
      .filter((a) => templatesOverlap(a.partition, b.partition))
      .map((a) => ({
        rule: "sharedPartition",
        concern: CONCERNS.keys,
        definition: b.shape.definition,
        severity: "warning" as const,
        message: `"${a.shape.definition}" (${a.partition.source}) and "${b.shape.definition}" (${b.partition.source}) can share a partition: collection() of one reads the other's edges and parts.`,
        mend: "Begin their keys differently, or say layout.sharedIds if ids are unique over all node types.",
      })),
  );
};
