import type { Template } from "../keys/template.ts";
import { attributesOf as definedAttributes } from "../schema/facts.ts";
import { definitionOf, keyAttributes, type Catalog, type Index, type Shape } from "../schema/catalog.ts";

/** One kind of item in the table or in one of its indexes; of keys of several attributes, by the first ones. */
export interface IndexPlace {
  readonly index: Index;
  readonly shape: Shape;
  readonly partition: Template;
  /** Undefined for an index without a sort key. */
  readonly sort: Template | undefined;
}

/** Every kind of item in an index, or in the table. */
export const placesIn = (catalog: Catalog, index: Index): readonly IndexPlace[] =>
  catalog.shapes.flatMap((shape) => {
    const [partition, sort] = [shape.keys[index.partitionKey], shape.keys[index.sortKey ?? ""]];
    return partition && keyAttributes(index).every((attribute) => attribute in shape.keys) ? [{ index, shape, partition, sort }] : [];
  });

/** The name of the table or an index in advice. */
export const nameOf = (index: Index): string => (index.name === undefined ? "the table" : `the index "${index.name}"`);

/** Names of a shape's attributes; empty if its schema does not list them. */
export const attributesOf = (catalog: Catalog, shape: Shape): readonly string[] => {
  const definition = definitionOf(catalog, shape);
  return ((definition && definedAttributes(definition)) ?? []).filter((name) => shape.copied?.includes(name) !== false);
};

/** True if the value at a path of the shape's row never changes while the item exists. */
export const isFixed = (catalog: Catalog, shape: Shape, path: string): boolean => {
  const [head = "", next] = path.split(".");
  if (shape.kind === "edge" && next !== undefined && (head === "from" || head === "to")) {
    const node = catalog.ends[shape[head] ?? ""];
    return node === undefined || node.idFields.includes(next) || node.definition.immutable?.includes(next) === true;
  }
  if (definitionOf(catalog, shape)?.immutable?.includes(head)) return true;
  if (shape.kind === "edge") return catalog.edges[shape.definition]?.key.includes(head) === true;
  const own = (shape.kind === "node" ? catalog.nodes : catalog.parts)[shape.definition]?.idFields ?? [];
  return own.includes(head) || catalog.ends[shape.from ?? ""]?.idFields.includes(head) === true;
};

/** The first value for each key. */
export const distinct = <Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] =>
  [...new Map(values.toReversed().map((value) => [keyOf(value), value])).values()].toReversed();
