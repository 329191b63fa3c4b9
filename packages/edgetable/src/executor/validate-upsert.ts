import type { LogicalWrite, UpsertEdgeWrite, UpsertWrite } from "../ir/logical-write.ts";
import { type Catalog, ownerFields } from "../schema/catalog.ts";
import { checkKey, checkNodeId, type Maybe } from "../schema/check-values.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";

const picked = (row: Row, fields: readonly string[]): Row => Object.fromEntries(fields.map((field) => [field, row[field]]));

/** The id in a row that passed its schema. */
const idIn = (catalog: Catalog, { of, name }: UpsertWrite, row: Row): Row => {
  if (of === "node") {
    const entry = defined(catalog.nodes[name], `the node "${name}"`);
    return checkNodeId(catalog, entry, picked(row, entry.idFields));
  }
  const own = defined(catalog.parts[name], `the part "${name}"`).idFields;
  return { ...checkKey(name, own, picked(row, own)), ...picked(row, ownerFields(catalog, name)) };
};

/**
 * An upsert with its values as the schema gives them back. What it changes has the id that the schema made of the given one.
 *
 * @throws {schema.invalidValue}
 */
export const validateUpsert = async (
  catalog: Catalog,
  write: UpsertWrite | UpsertEdgeWrite,
  validate: (catalog: Catalog, write: LogicalWrite) => Maybe<LogicalWrite>,
): Promise<LogicalWrite> => {
  if (write.kind === "upsert") {
    const create = (await validate(catalog, write.create)) as typeof write.create;
    const update = (await validate(catalog, write.update)) as typeof write.update;
    return { ...write, create, update: { ...update, id: idIn(catalog, write, create.row) } };
  }
  const create = (await validate(catalog, write.create)) as typeof write.create;
  const update = (await validate(catalog, write.update)) as typeof write.update;
  const { key } = defined(catalog.edges[write.edge], `the edge "${write.edge}"`);
  return { ...write, create, update: { ...update, key: checkKey(write.edge, key, picked(create.row, key)) } };
};
