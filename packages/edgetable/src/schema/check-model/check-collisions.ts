import { leadOf, templatesOverlap, type Template } from "../../keys/template.ts";
import type { Catalog } from "../catalog.ts";
import { endPaths } from "../id-paths.ts";
import type { Shape } from "../shape.ts";
import { finding, type ModelFinding } from "./finding.ts";

/** Cheaper than `templatesOverlap`, and settles nearly every pair. */
const apart = (a: string, b: string): boolean => !a.startsWith(b) && !b.startsWith(a);

/** The node type whose whole id, and nothing else, makes a shape's partition key. */
const partitionOwner = (catalog: Catalog, shape: Shape, partition: Template): string | undefined => {
  const end = shape.role === "mirror" ? "to" : "from";
  const owner = shape.kind === "node" ? shape.definition : shape[end];
  const ids = shape.kind === "edge" ? endPaths(catalog, shape, end) : (catalog.nodes[owner ?? ""]?.idFields ?? []);
  return ids.length === partition.fields.length && ids.every((id) => partition.fields.includes(id)) ? owner : undefined;
};

const formOf = (template: Template): string =>
  JSON.stringify(template.parts.map((part) => (part.kind === "literal" ? part.text : part.format)));

interface Keyed {
  readonly shape: Shape;
  readonly partition: Template;
  /** Undefined in a table that has no sort key. */
  readonly sort: Template | undefined;
  readonly leads: readonly [string, string];
  readonly owner: string | undefined;
}

const keyed = (catalog: Catalog): readonly Keyed[] =>
  catalog.shapes.flatMap((shape) => {
    const partition = shape.keys[catalog.index.partitionKey];
    const sort = shape.keys[catalog.index.sortKey ?? ""];
    if (!partition) return [];
    return [
      { shape, partition, sort, leads: [leadOf(partition), leadOf(sort)] as const, owner: partitionOwner(catalog, shape, partition) },
    ];
  });

// Where ids are unique over all node types, partitions of two types that are made alike never meet.
const neverMeet = (catalog: Catalog, a: Keyed, b: Keyed): boolean =>
  catalog.layout.sharedIds === true &&
  a.owner !== undefined &&
  b.owner !== undefined &&
  a.owner !== b.owner &&
  formOf(a.partition) === formOf(b.partition);

const collide = (catalog: Catalog, a: Keyed, b: Keyed): boolean =>
  !apart(a.leads[0], b.leads[0]) &&
  !apart(a.leads[1], b.leads[1]) &&
  templatesOverlap(a.partition, b.partition) &&
  (!a.sort || !b.sort || templatesOverlap(a.sort, b.sort)) &&
  !neverMeet(catalog, a, b);

const mendOf = (catalog: Catalog, a: Keyed, b: Keyed): string => {
  const shared = !catalog.escapes && a.owner !== b.owner ? ", or say layout.sharedIds if ids are unique over all node types" : "";
  return `Begin one of them differently${shared}.`;
};

const show = (one: Keyed): string =>
  [one.partition, one.sort]
    .map((key) => key?.source)
    .filter((source) => source !== undefined)
    .join(" / ");

/** Every two kinds of items that can come to have one and the same table key. */
export const checkCollisions = (catalog: Catalog): readonly ModelFinding[] => {
  const all = keyed(catalog);
  return all.flatMap((b, at) =>
    all
      .slice(0, at)
      .filter((a) => collide(catalog, a, b))
      .map((a) =>
        finding(
          "collision",
          `${b.shape.kind}s.${b.shape.definition}`,
          `"${a.shape.id}" (${show(a)}) and "${b.shape.id}" (${show(b)}) can have the same key, so that one overwrites the other. ${mendOf(catalog, a, b)}`,
        ),
      ),
  );
};
