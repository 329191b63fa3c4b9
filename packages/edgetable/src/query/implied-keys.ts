import type { Conditions } from "../ir/condition.ts";
import { sameValue, type When } from "../keys/template.ts";
import { type Catalog, keyName, kindShapes, type Shape } from "../schema/catalog.ts";
import type { SearchKind } from "./search.ts";

/** The shapes of all items of a kind: edges stored twice have two. */
export const storedShapes = (catalog: Catalog, kind: SearchKind): readonly Shape[] => {
  const mirrors = kind.of === "edge" ? (catalog.edges[kind.name]?.mirrors ?? []) : [];
  return [...kindShapes(catalog, kind), ...mirrors];
};

/**
 * The index keys of some kinds whose condition a call's own conditions fulfil: all rows that it asks for have them. A plan has
 * no values, so that this is told apart before it is made.
 */
export const impliedKeys = (catalog: Catalog, kinds: readonly SearchKind[], { conditions, values }: Conditions): readonly string[] => {
  const isGiven = ({ path, values: wanted }: When): boolean =>
    conditions.some((condition) => {
      if (condition.path !== path) return false;
      const given = values[condition.slot];
      if (condition.operator === "exists") return given ? !wanted : wanted !== undefined && wanted[0] === undefined;
      // A missing attribute satisfies only `ne` of the other comparisons.
      if (!wanted) return condition.operator !== "ne";
      if (condition.operator !== "eq" && condition.operator !== "in") return false;
      const all: readonly unknown[] = condition.operator === "in" ? (given as readonly unknown[]) : [given];
      return all.every((value) => wanted.some((one) => sameValue(one, value)));
    });
  const names: string[] = [];
  for (const kind of kinds) {
    for (const shape of storedShapes(catalog, kind))
      for (const name in shape.keys) if (shape.keys[name]!.when?.every(isGiven)) names.push(keyName(shape, name));
  }
  return names;
};
