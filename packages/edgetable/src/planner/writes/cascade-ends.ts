import type { Catalog, EdgeEntry } from "../../schema/catalog.ts";

/** Edges of a type that go with a node: those that leave it (`out`) or that reach it (`in`). */
export interface CascadeEnd {
  readonly entry: EdgeEntry;
  readonly direction: "out" | "in";
}

/** The edge types whose edges go with a node of the type, by the direction in which they are found. */
export const cascadeEnds = (catalog: Catalog, node: string): readonly CascadeEnd[] =>
  Object.values(catalog.edges).flatMap((entry): readonly CascadeEnd[] => {
    const { onDelete, symmetric, stored } = entry.definition;
    // A reference is an attribute of its source: it goes with the source, and a target cannot take it along.
    if (stored === "reference") return [];
    const out = entry.from.includes(node) && onDelete?.from === "cascade";
    const into = entry.to.includes(node) && onDelete?.to === "cascade";
    if (symmetric) return out || into ? [{ entry, direction: "out" }] : [];
    return [...(out ? [{ entry, direction: "out" as const }] : []), ...(into ? [{ entry, direction: "in" as const }] : [])];
  });

/** The parts of a node type. */
export const partsOf = (catalog: Catalog, node: string): readonly string[] =>
  Object.values(catalog.parts).flatMap((entry) => (entry.definition.of === node ? [entry.name] : []));

// Follows from the model, and every link asks it of both ends: 1 of its 10 µs.
const cascading = new WeakMap<Catalog, Map<string, boolean>>();

/** Whether deleting a node of the type deletes more than its own item, markers and guards. */
export const cascades = (catalog: Catalog, node: string): boolean => {
  let known = cascading.get(catalog);
  if (!known) cascading.set(catalog, (known = new Map()));
  let answer = known.get(node);
  if (answer === undefined) known.set(node, (answer = partsOf(catalog, node).length > 0 || cascadeEnds(catalog, node).length > 0));
  return answer;
};
