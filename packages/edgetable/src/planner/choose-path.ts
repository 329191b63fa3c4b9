import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Expand, Parts } from "../ir/logical-plan.ts";
import { type Catalog, type EdgeEntry, type PartEntry, type Index, keyAttributes, type Shape } from "../schema/catalog.ts";
import { defined } from "../util/invariant.ts";
import { type AccessPath, accessPaths, fixedBy, inShape, isOrderedBy, pathOn, type Wanted } from "./access-path.ts";

/** The sets of shapes that each hold all the edges an expansion asks for. */
export const shapeSets = (entry: EdgeEntry, expand: Pick<Expand, "node" | "direction">): readonly (readonly Shape[])[] => {
  const end = expand.direction === "out" ? "from" : "to";
  const ofNode = (shapes: readonly Shape[]): readonly Shape[] => shapes.filter((shape) => shape[end] === expand.node);
  return expand.direction === "out" ? [ofNode(entry.shapes)] : [ofNode(entry.mirrors), ofNode(entry.shapes)];
};

/** Paths of an edge's row that the anchor fixes. */
export const anchorPaths = (expand: Pick<Expand, "direction" | "anchor">): readonly string[] => {
  const end = expand.direction === "out" ? "from" : "to";
  return expand.anchor.map((field) => `${end}.${field}`);
};

const refuse = (catalog: Catalog, expand: Expand, why: "index" | "consistent" | "order"): never => {
  const what = `${expand.direction}("${expand.edge}") of "${expand.node}"`;
  // What has an order of its own by an index alone can be read consistently without that order.
  if (expand.consistent && why !== "index") {
    const instead = why === "order" ? "call unordered()" : "store the edge twice";
    throw new EdgetableError(
      "plan.notConsistent",
      `${what} is answered by an index, and an index cannot be read consistently. Leave out consistent(), or ${instead}.`,
      { details: { edge: expand.edge, direction: expand.direction } },
    );
  }
  if (why === "order") {
    throw new EdgetableError(
      "plan.noIndex",
      `${what} cannot come in the order of "${catalog.edges[expand.edge]?.orderBy}": no key that serves it holds that attribute next. Call unordered(), or add an index.`,
      { details: { edge: expand.edge } },
    );
  }
  const anchor = anchorPaths(expand).join(", ") || "nothing";
  // From all nodes below a level: no mirror has such a partition by itself, nor has Edgetable's own layout.
  const below = expand.anchor.length < (catalog.nodes[expand.node]?.idFields.length ?? 0);
  const mend = below
    ? `Give an index of your own layout one, or find the nodes with db.find("${expand.node}") and begin at each of them.`
    : "Give the layout one, or store the edge twice.";
  throw new EdgetableError(
    "plan.noIndex",
    expand.index === undefined
      ? `No table or index key can answer ${what}: none has a partition key made only of ${anchor}. ${mend}`
      : `The index "${expand.index}" cannot answer ${what}: its partition key is not made only of ${anchor}. Leave out using("${expand.index}").`,
    { details: { edge: expand.edge, direction: expand.direction, index: expand.index } },
  );
};

// What is known of the far end may lead to an index that does not say whose edges these are.
const pathsFrom = (catalog: Catalog, expand: Expand, wanted: Wanted): readonly AccessPath[] =>
  accessPaths(catalog, shapeSets(defined(catalog.edges[expand.edge], `edge ${expand.edge}`), expand), wanted).filter((path) => {
    const told = fixedBy(path);
    return path.shapes.every((shape) => anchorPaths(expand).every((anchor) => told.has(inShape(shape, anchor))));
  });

/**
 * The cheapest way to the edges of an expansion.
 *
 * @throws {plan.noIndex} when no key serves it, or none in the order asked for.
 * @throws {plan.notConsistent} when only an index serves it and the call wants a consistent read.
 */
export const choosePath = (catalog: Catalog, expand: Expand, ranges: ReadonlySet<string>): AccessPath => {
  const known = new Set([...anchorPaths(expand), ...expand.known.map((field) => field.path)]);
  const orderBy = expand.ordered ? catalog.edges[expand.edge]?.orderBy : undefined;
  const wanted = { known, orderBy, ranges, consistent: expand.consistent, index: expand.index };
  const [best] = pathsFrom(catalog, expand, wanted);
  if (!best) {
    const served = expand.consistent && pathsFrom(catalog, expand, { ...wanted, consistent: false }).length > 0;
    return refuse(catalog, expand, served ? "consistent" : "index");
  }
  if (!isOrderedBy(best, orderBy)) return refuse(catalog, expand, "order");
  return best;
};

/**
 * A node is read in its own partition where that follows from what is known of it.
 *
 * @throws {plan.noIndex} when it does not
 */
export const checkOwnPartition = (catalog: Catalog, name: string, known: readonly string[]): void => {
  const partition = catalog.nodes[name]?.shape.keys[catalog.index.partitionKey];
  const unknown = partition?.fields.filter((field) => !known.includes(field)) ?? [];
  if (unknown.length === 0) return;
  const fields = unknown.map((field) => `{${field}}`).join(" and ");
  throw new EdgetableError(
    "plan.noIndex",
    `The partition of "${name}" (${partition?.source}) does not follow from its id: it takes ${fields} too. Make that part of the node's key, give it to get() by { given }, or find the node by an index with db.find("${name}").`,
    { details: { node: name, index: undefined } },
  );
};

/** The way through an index to the parts of a node, where its keys tell these from the parts of all others. */
const through = (catalog: Catalog, { shape }: PartEntry, at: { readonly index: Index; readonly known: readonly string[] }) => {
  const { index, known } = at;
  const ids = defined(catalog.nodes[shape.from ?? ""], "owner").idFields;
  const wanted = { known: new Set([...ids, ...known]), orderBy: undefined, ranges: new Set<string>(), consistent: false, index: undefined };
  const path = pathOn(catalog, { index, shapes: [shape] }, wanted);
  const fixed = path && fixedBy(path);
  return path && ids.every((id) => fixed?.has(id)) ? path : undefined;
};

const noPartIndex = (catalog: Catalog, { name, shape }: PartEntry): never => {
  const ids = defined(catalog.nodes[shape.from ?? ""], "owner").idFields.join(" and ");
  const keys = keyAttributes(catalog.index).map((attribute) => shape.keys[attribute]?.source);
  throw new EdgetableError(
    "plan.noIndex",
    `No table or index key can answer parts("${name}") of "${shape.from}": none begins with ${ids} alone, and the table's are ${keys.join(" / ")}. Give the layout an index that does, or declare "${name}" as a node.`,
    { details: { part: name, index: undefined } },
  );
};

/**
 * Where the parts of a node are found: in the table where its keys tell whose they are, else in an index that does.
 *
 * @throws {plan.noIndex} when there is none
 */
export const partIndex = (catalog: Catalog, entry: PartEntry): Index =>
  [catalog.index, ...catalog.indexes].find((index) => through(catalog, entry, { index, known: [] })) ?? noPartIndex(catalog, entry);

/**
 * The way to a node's parts, by what of their keys is known.
 *
 * @throws {plan.noIndex} when no key finds them
 * @throws {plan.notConsistent} when only an index does, and the call wants a consistent read
 */
export const partPath = (catalog: Catalog, { part, known, consistent }: Parts): AccessPath => {
  const entry = defined(catalog.parts[part], "part");
  const index = partIndex(catalog, entry);
  if (consistent && index.name !== undefined) {
    throw new EdgetableError(
      "plan.notConsistent",
      `parts("${part}") of "${entry.shape.from}" is answered by an index, and an index cannot be read consistently. Leave out consistent().`,
      { details: { part } },
    );
  }
  const path = defined(through(catalog, entry, { index, known: known.map((field) => field.path) }), "the way to parts");
  return { ...path, sharesPartition: true, sharesPrefix: true };
};
