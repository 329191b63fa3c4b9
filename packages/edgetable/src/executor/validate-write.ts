import type { Changes, LogicalWrite } from "../ir/logical-write.ts";
import type { RowNeed, ValidRows } from "../ir/write-plan.ts";
import { VERSION } from "../requests/encode-item.ts";
import { type Catalog, ownerFields } from "../schema/catalog.ts";
import type { AnySchema } from "../schema/standard-schema.ts";
import { type Maybe, validateChanges, validateOperands, validateRow } from "../schema/validate-value.ts";
import type { Row } from "../util/row.ts";

// Most schemas are synchronous, and a promise for each value would cost more than the rest of the call.
const andThen = <A, B>(value: Maybe<A>, next: (value: A) => B): Maybe<B> => (value instanceof Promise ? value.then(next) : next(value));

const VERSIONED: readonly string[] = [VERSION];
const NONE: readonly string[] = [];

const hasFields = (row: Row): boolean => {
  for (const _ in row) return true;
  return false;
};

const without = (row: Row, fields: readonly string[]): Row => {
  if (!fields.some((field) => field in row)) return row;
  const rest: Record<string, unknown> = { ...row };
  for (const field of fields) delete rest[field];
  return rest;
};

// The schema sees neither the version nor the fields of a part's owner.
const validateWhole = (catalog: Catalog, write: LogicalWrite & { readonly kind: "create" | "put" }): Maybe<LogicalWrite> => {
  const entry = write.of === "node" ? catalog.nodes[write.name] : catalog.parts[write.name];
  if (!entry) return write;
  const owner = write.of === "part" ? ownerFields(catalog, write.name) : NONE;
  const given = without(write.row, entry.definition.version ? [...owner, VERSION] : owner);
  return andThen(validateRow(entry.definition.schema, given, `"${write.name}"`), (valid) => {
    if (owner.length === 0) return { ...write, row: valid };
    const row: Record<string, unknown> = { ...valid };
    for (const field of owner) row[field] = write.row[field];
    return { ...write, row };
  });
};

// A schema may turn a value into none: the field is removed then.
const validateSet = (schema: AnySchema, changes: Changes, what: string): Maybe<Changes> => {
  let given = changes.set;
  if (changes.remove.length > 0) {
    const removed: Record<string, unknown> = { ...given };
    for (const field of changes.remove) removed[field] = undefined;
    given = removed;
  }
  return andThen(validateChanges(schema, given, what), (values) => {
    if (values === given) return changes;
    const set: Record<string, unknown> = {};
    const remove: string[] = [];
    for (const field of Object.keys(values)) {
      if (values[field] === undefined) remove.push(field);
      else set[field] = values[field];
    }
    return { ...changes, set, remove };
  });
};

const validateReverse = <W extends LogicalWrite & { readonly reverse: Row }>(schema: AnySchema, write: W, what: string): Maybe<W> =>
  hasFields(write.reverse) ? andThen(validateChanges(schema, write.reverse, what), (reverse) => ({ ...write, reverse })) : write;

const validateNewEdge = (
  catalog: Catalog,
  write: LogicalWrite & { readonly kind: "link" | "putEdge" },
  schema: AnySchema,
): Maybe<LogicalWrite> => {
  const given = catalog.edges[write.edge]?.definition.version ? without(write.row, VERSIONED) : write.row;
  return andThen(validateRow(schema, given, `"${write.edge}"`), (row) =>
    validateReverse(schema, { ...write, row }, `the other copy of "${write.edge}"`),
  ) as Maybe<LogicalWrite>;
};

const validateChange = (write: LogicalWrite & { readonly kind: "update" | "relink" }, schema: AnySchema): Maybe<LogicalWrite> => {
  const { changes: given } = write;
  const what = write.kind === "update" ? `"${write.name}"` : `"${write.edge}"`;
  const operands = hasFields(given.add) || hasFields(given.append) ? validateOperands(schema, given, what) : given;
  return andThen(andThen(operands, (valid) => validateSet(schema, valid, what)) as Maybe<Changes>, (changes) => {
    const valid = changes === given ? write : { ...write, changes };
    return valid.kind === "update" ? valid : validateReverse(schema, valid, what);
  }) as Maybe<LogicalWrite>;
};

const schemaOf = (catalog: Catalog, write: Exclude<LogicalWrite, { kind: "create" | "put" }>): AnySchema | undefined => {
  if ("edge" in write) return catalog.edges[write.edge]?.definition.schema;
  return (write.of === "node" ? catalog.nodes : catalog.parts)[write.name]?.definition.schema;
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
