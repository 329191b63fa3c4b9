import type { Changes, LogicalWrite } from "../ir/logical-write.ts";
import type { RowNeed, ValidRows } from "../ir/write-plan.ts";
import { VERSION } from "../requests/encode-item.ts";
import { type Catalog, ownerFields } from "../schema/catalog.ts";
import type { AnySchema } from "../schema/standard-schema.ts";
import { type Maybe, validateChanges, validateOperands, validateRow } from "../schema/validate-value.ts";
import type { Row } from "../util/row.ts";

const andThen = <A, B>(value: Maybe<A>, next: (value: A) => B): Maybe<B> => (value instanceof Promise ? value.then(next) : next(value));

const VERSIONED: readonly string[] = [VERSION];
const NONE: readonly string[] = [];

const hasFields = (row: Row): boolean => {
  for (const _ in row) return true;
  return false;
};

const without = (row: Row, fields: readonly string[]): Row =>
  fields.some((field) => field in row) ? Object.fromEntries(Object.entries(row).filter(([field]) => !fields.includes(field))) : row;

const validateWhole = (catalog: Catalog, write: LogicalWrite & { readonly kind: "create" | "put" }): Maybe<LogicalWrite> => {
  const entry = write.of === "node" ? catalog.nodes[write.name] : catalog.parts[write.name];
  if (!entry) return write;
  const owner = write.of === "part" ? ownerFields(catalog, write.name) : NONE;
  const given = without(write.row, entry.definition.version ? [...owner, VERSION] : owner);
  return andThen(validateRow(entry.definition.schema, given, `"${write.name}"`), (valid) => {
    const row = owner.length > 0 ? { ...valid, ...Object.fromEntries(owner.map((field) => [field, write.row[field]])) } : valid;
    return { ...write, row };
  });
};

const schemaOf = (catalog: Catalog, write: Exclude<LogicalWrite, { kind: "create" | "put" }>): AnySchema | undefined =>
  "edge" in write
    ? catalog.edges[write.edge]?.definition.schema
    : (write.of === "node" ? catalog.nodes : catalog.parts)[write.name]?.definition.schema;

const removed = (fields: readonly string[]): Row => Object.fromEntries(fields.map((field) => [field, undefined]));

// What a schema makes of a value may be that it is not there.
const validateSet = (schema: AnySchema, changes: Changes, what: string): Maybe<Changes> => {
  const given = changes.remove.length > 0 ? { ...changes.set, ...removed(changes.remove) } : changes.set;
  return andThen(validateChanges(schema, given, what), (values) => {
    if (values === given) return changes;
    const fields = Object.entries(values);
    const set = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
    return { ...changes, set, remove: fields.flatMap(([field, value]) => (value === undefined ? [field] : [])) };
  });
};

const validateNewEdge = (
  catalog: Catalog,
  write: LogicalWrite & { readonly kind: "link" | "putEdge" },
  schema: AnySchema,
): Maybe<LogicalWrite> => {
  const versions = catalog.edges[write.edge]?.definition.version === true;
  const row = validateRow(schema, versions ? without(write.row, VERSIONED) : write.row, `"${write.edge}"`);
  if (!(row instanceof Promise) && !hasFields(write.reverse)) return { ...write, row };
  return andThen(row, (valid) =>
    andThen(validateChanges(schema, write.reverse, `the other copy of "${write.edge}"`), (reverse) => ({ ...write, row: valid, reverse })),
  ) as Maybe<LogicalWrite>;
};

const validateChange = (write: LogicalWrite & { readonly kind: "update" | "relink" }, schema: AnySchema): Maybe<LogicalWrite> => {
  const what = write.kind === "update" ? `"${write.name}"` : `"${write.edge}"`;
  const accumulates = hasFields(write.changes.add) || hasFields(write.changes.append);
  const given = accumulates ? validateOperands(schema, write.changes, what) : write.changes;
  const valid = andThen(given, (operands) =>
    andThen(validateSet(schema, operands, what), (changes) => (changes === write.changes ? write : { ...write, changes })),
  ) as Maybe<LogicalWrite>;
  if (write.kind === "update" || !hasFields(write.reverse)) return valid;
  return andThen(valid, (one) =>
    andThen(validateChanges(schema, write.reverse, what), (reverse) => ({ ...one, reverse })),
  ) as Maybe<LogicalWrite>;
};

/**
 * The rows of edges that take on another type, as that type's schema gives them back.
 *
 * @throws {schema.invalidValue}
 */
export const validateRows = async (catalog: Catalog, needs: readonly RowNeed[]): Promise<ValidRows> => {
  const rows: Record<string, Row> = {};
  for (const { id, edge, row } of needs) {
    const schema = catalog.edges[edge]?.definition.schema;
    rows[id] = schema ? await validateRow(schema, row, `"${edge}"`) : row;
  }
  return rows;
};

/**
 * The write with its values as the schema gives them back, a promise only where a schema is
 * asynchronous.
 *
 * @throws {schema.invalidValue}
 */
export const validateWrite = (catalog: Catalog, write: LogicalWrite): Maybe<LogicalWrite> => {
  if (write.kind === "create" || write.kind === "put") return validateWhole(catalog, write);
  const schema = schemaOf(catalog, write);
  if (!schema || write.kind === "delete" || write.kind === "unlink") return write;
  if (write.kind === "link" || write.kind === "putEdge") return validateNewEdge(catalog, write, schema);
  if (write.kind === "relink" && write.type !== undefined) return write;
  return validateChange(write, schema);
};
