import { foldedField, type WalkHop } from "../../../ir/walk-plan.ts";
import { isKeyDetermined } from "../../access-path.ts";
import { type Catalog, idPaths } from "../../../schema/catalog.ts";
import { mapHops, type WalkRule } from "./rule.ts";

// One edge between two known nodes is one item with a key of its own, unless something tells parallel edges apart.
const isAddressable = (catalog: Catalog, hop: WalkHop): boolean => {
  const entry = catalog.edges[hop.edge];
  return (entry?.shapes ?? []).every(
    (shape) => shape.role !== "reference" && !entry?.key.length && isKeyDetermined(catalog, shape, new Set(idPaths(catalog, shape))),
  );
};

const isPlain = (catalog: Catalog, hop: WalkHop): boolean =>
  hop.rounds === 1 &&
  (hop.direction !== "both" || catalog.edges[hop.edge]?.definition.symmetric === true) &&
  hop.limit === undefined &&
  hop.index === undefined &&
  hop.anchor === undefined;

/**
 * Edges that lead to a few known nodes are asked for by their keys, 100 a request, rather than picked
 * out of all edges of every node. Where listing is expected to be cheaper the executor lists all the same.
 */
export const checkEndsByGet: WalkRule = {
  name: "check-ends-by-get",
  rewrite: (catalog, walk) =>
    mapHops(walk, (hop, at) => {
      if (walk.steps[at + 1]?.kind !== "keep" || !isPlain(catalog, hop) || foldedField(walk.collect) !== undefined) return hop;
      return isAddressable(catalog, hop) ? { ...hop, by: "get" } : hop;
    }),
};
