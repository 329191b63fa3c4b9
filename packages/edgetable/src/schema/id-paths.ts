import type { Catalog } from "./catalog.ts";
import type { Shape } from "./shape.ts";

type End = "from" | "to";

const BOTH: readonly End[] = ["from", "to"];

const idFields = (catalog: Catalog, type: string | undefined): readonly string[] => catalog.nodes[type ?? ""]?.idFields ?? [];

/** The paths of an edge's row to the id of one of its ends: `to.courseId`. */
export const endPaths = (catalog: Catalog, shape: Shape, end: End): readonly string[] =>
  idFields(catalog, shape[end]).map((field) => `${end}.${field}`);

/**
 * The paths of a row that tell it from others of its kind.
 *
 * @param ends of an edge, the ends that do
 */
export const idPaths = (catalog: Catalog, shape: Shape, ends: readonly End[] = BOTH): readonly string[] => {
  if (shape.kind === "node") return idFields(catalog, shape.definition);
  if (shape.kind === "part") return [...idFields(catalog, shape.from), ...(catalog.parts[shape.definition]?.idFields ?? [])];
  return [...ends.flatMap((end) => endPaths(catalog, shape, end)), ...(catalog.edges[shape.definition]?.key ?? [])];
};
