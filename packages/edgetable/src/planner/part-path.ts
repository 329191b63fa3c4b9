import { EdgetableError } from "../errors/edgetable-error.ts";
import type { Parts } from "../ir/logical-plan.ts";
import type { Catalog, PartEntry } from "../schema/catalog.ts";
import { keyAttributes, type Index } from "../schema/shape.ts";
import { defined } from "../util/invariant.ts";
import { fixedBy, pathOn, type AccessPath } from "./access-path.ts";

/** The way through an index to the parts of a node, where its keys tell these from the parts of all others. */
const through = (catalog: Catalog, { shape }: PartEntry, at: { readonly index: Index; readonly known: readonly string[] }) => {
  const { index, known } = at;
  const ids = defined(catalog.nodes[shape.from ?? ""], "owner").idFields;
  const wanted = { known: new Set([...ids, ...known]), orderBy: undefined, ranges: new Set<string>(), consistent: false, index: undefined };
  const path = pathOn(catalog, { index, shapes: [shape] }, wanted);
  const fixed = path && fixedBy(path);
  return path && ids.every((id) => fixed?.has(id)) ? path : undefined;
};

const refuse = (catalog: Catalog, { name, shape }: PartEntry): never => {
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
  [catalog.index, ...catalog.indexes].find((index) => through(catalog, entry, { index, known: [] })) ?? refuse(catalog, entry);

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
