import { EdgetableError } from "../errors/edgetable-error.ts";
import type { DeleteWrite, EndId, LinkWrite, LogicalWrite, PutEdgeWrite, PutWrite } from "../ir/logical-write.ts";
import { inKeysCase, sameValue } from "../keys/template.ts";
import type { Catalog, EdgeEntry, NodeEntry, PartEntry } from "../schema/catalog.ts";
import { checkEnd, checkKey, checkNodeId, ofTenant } from "../schema/check-values.ts";
import { timesOf } from "../schema/timestamps.ts";
import { checkOptions, namesIn, type OptionChecks, shown } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import { own, type Row } from "../util/row.ts";
import {
  checkOwnNames,
  failOption,
  readChanges,
  readGuards,
  readSomeChanges,
  refuseComputed,
  sendingChecks,
  type WrittenType,
  writtenType,
  withoutComputed,
  writeChecks,
} from "./changes.ts";
import { edgeNamed, type KeyOption, ownKey } from "./check-names.ts";
import { deleteCall } from "./delete-call.ts";
import { jobChecks } from "./job-options.ts";
import { writeCall, type WriteDriver } from "./write-call.ts";
import type {
  BatchableCall,
  CheckOptions,
  DeleteOptions,
  EdgeWrites,
  KeyOptions,
  LinkOptions,
  NodeWrites,
  PartWrites,
  RelinkOptions,
  SendingOptions,
  UpsertCall,
  UpsertOptions,
  WriteCall,
  WriteOptions,
} from "./write-types.ts";

const pick = (row: Row, fields: readonly string[]): Row =>
  Object.fromEntries(fields.filter((field) => row[field] !== undefined).map((field) => [field, row[field]]));

/** The time of creation that a row contains if it was read before. */
const seenIn = ({ definition }: NodeEntry | PartEntry | EdgeEntry, row: Row | undefined): unknown => {
  const created = timesOf(definition)?.created;
  return created === undefined || !row ? undefined : own(row, created);
};

const upsertCall = (driver: WriteDriver, write: LogicalWrite): UpsertCall<Row> =>
  writeCall<Row>(driver, write) as unknown as UpsertCall<Row>;

// Only the type says that a batch accepts the call.
const batchable = (call: WriteCall<Row>): BatchableCall<Row> => call as BatchableCall<Row>;

interface AnyNode {
  readonly row: Row;
  readonly input: Row;
  readonly id: Row;
  readonly changes: Row;
}
type Options = WriteOptions<Row>;

const checkChecks: OptionChecks<CheckOptions<Row>> = { if: writeChecks.if, ifVersion: writeChecks.ifVersion, exists: "boolean" };
const updateChecks: OptionChecks<WriteOptions<Row> & KeyOptions<Row>> = { ...writeChecks, given: namesIn };
const deleteChecks: OptionChecks<DeleteOptions<Row> & KeyOptions<Row>> = { ...updateChecks, ...jobChecks };

const upsertChecks: OptionChecks<UpsertOptions<Row>> = { ...writeChecks, expect: ["new", "existing"] };

/** The writes of a node or part, from checked rows and ids. */
const itemWrites = (of: "node" | "part", written: WrittenType) => {
  const { name } = written;
  return {
    create: (row: Row, options: SendingOptions = {}): LogicalWrite => ({
      kind: "create",
      of,
      name,
      row,
      ...checkOptions(options, sendingChecks),
    }),
    put: (row: Row, options: Options | undefined, seen?: unknown): PutWrite => ({
      kind: "put",
      of,
      name,
      row,
      seen,
      guards: readGuards(written, options),
      idempotent: options?.idempotent,
    }),
    update: (id: Row, changes: Row, options: Options | undefined, kinds?: OptionChecks<Options>): LogicalWrite => ({
      kind: "update",
      of,
      name,
      id,
      changes: readSomeChanges(written, changes),
      guards: readGuards(written, options, kinds && { kinds }),
      idempotent: options?.idempotent,
    }),
    upsert: (id: Row, row: Row, changes: Row, options: UpsertOptions<Row> = {}): LogicalWrite => {
      const { expect = "existing", idempotent } = options;
      const guards = readGuards(written, options, { kinds: upsertChecks });
      const create = { kind: "create", of, name, row } as const;
      const update = { kind: "update", of, name, id, changes: readSomeChanges(written, changes), guards } as const;
      return { kind: "upsert", of, name, create, update, expect, idempotent };
    },
    check: (id: Row, options: CheckOptions<Row> = {}): LogicalWrite => {
      const { exists = true, ...guarding } = options;
      const guards = readGuards(written, options, { kinds: checkChecks });
      if (exists || namesIn(guarding).length === 0) return { kind: "check", of, name, id, guards, exists };
      return failOption(written, "A check that there is none takes no `if` or `ifVersion`: leave them out, in a check", { options });
    },
    delete: (id: Row, options: Options | undefined, kinds?: OptionChecks<Options>): DeleteWrite => ({
      kind: "delete",
      of,
      name,
      id,
      guards: readGuards(written, options, kinds && { kinds }),
      idempotent: options?.idempotent,
    }),
  };
};

const nodeItems = (catalog: Catalog, entry: NodeEntry) => {
  const written = writtenType(entry.name, entry.definition, entry.idFields, entry.shape);
  const rowOf = (input: Row): Row => {
    checkOwnNames(written, namesIn(input));
    return ofTenant(catalog, entry.idFields, withoutComputed(written, input));
  };
  const newRowOf = (input: Row): Row => {
    refuseComputed(written, input);
    return rowOf(input);
  };
  return { rowOf, newRowOf, writes: itemWrites("node", written) };
};

/** Makes the write that puts a node's row, for a call or a bulk load. */
export const nodePut = (catalog: Catalog, entry: NodeEntry): ((input: Row, options?: Options) => PutWrite) => {
  const { rowOf, writes } = nodeItems(catalog, entry);
  return (input, options) => writes.put(rowOf(input), options);
};

/** The writing side of `db.<node>`. */
export const nodeWrites = (driver: WriteDriver, entry: NodeEntry): NodeWrites<AnyNode> => {
  const { rowOf, newRowOf, writes } = nodeItems(driver.catalog, entry);
  const idOf = (id: Row, options?: KeyOptions<Row>): Row =>
    checkNodeId(driver.catalog, entry, options?.given ? { ...options.given, ...id } : id);
  return {
    create: (input, options?: SendingOptions) => writeCall(driver, writes.create(newRowOf(input), options)),
    put: (input, options?: Options) => batchable(writeCall(driver, writes.put(rowOf(input), options, seenIn(entry, input)))),
    update: (id, changes, options?: Options & KeyOptions<Row>) =>
      writeCall(driver, writes.update(idOf(id, options), changes as Row, options, updateChecks)),
    upsert: (input, changes, options?: UpsertOptions<Row>) => {
      const id = idOf(pick(input, entry.idFields));
      return upsertCall(driver, writes.upsert(id, newRowOf(input), changes as Row, options));
    },
    check: (id, options?: CheckOptions<Row>) => writeCall(driver, writes.check(idOf(id), options)),
    delete: (id, options?: DeleteOptions<Row> & KeyOptions<Row>) =>
      deleteCall(driver, writes.delete(idOf(id, options), options, deleteChecks), options),
  };
};

const partItems = (catalog: Catalog, entry: PartEntry) => {
  const owner = defined(catalog.nodes[entry.definition.of], `the owner of "${entry.name}"`);
  const written = writtenType(entry.name, entry.definition, [...entry.idFields, ...owner.idFields], entry.shape);
  const ownerOf = (id: Row): Row => checkNodeId(catalog, owner, id);
  /** A row that was read before names its owner, and may only be written under this owner. */
  const checkOwner = (id: Row, input: Row): void => {
    for (const field of owner.idFields) {
      const [named, stated] = [id[field], own(input, field)];
      const inKey = (value: unknown): unknown => inKeysCase(owner.shape.folded[field], value);
      if (stated === undefined || sameValue(inKey(named), inKey(stated))) continue;
      throw new EdgetableError(
        "schema.invalidValue",
        `"${field}" in the row of "${entry.name}" is ${shown(stated)}, and the call names the "${owner.name}" with ${shown(named)}. Leave "${field}" out of the row.`,
        { details: { attribute: field, value: stated } },
      );
    }
  };
  const rowOf = (node: Row, input: Row): Row => {
    const names = namesIn(input, `the row of "${entry.name}", after the id of its "${owner.name}"`);
    checkOwnNames(
      written,
      names.filter((field) => !owner.idFields.includes(field)),
    );
    const id = ownerOf(node);
    checkOwner(id, input);
    return { ...withoutComputed(written, input), ...id };
  };
  const newRowOf = (node: Row, input: Row): Row => {
    refuseComputed(written, input);
    return rowOf(node, input);
  };
  return { ownerOf, rowOf, newRowOf, writes: itemWrites("part", written) };
};

/** Makes the write that puts a part's row, for a call or a bulk load. */
export const partPut = (catalog: Catalog, entry: PartEntry): ((node: Row, input: Row, options?: Options) => PutWrite) => {
  const { rowOf, writes } = partItems(catalog, entry);
  return (node, input, options) => writes.put(rowOf(node, input), options);
};

/** The writing side of `db.<part>`. */
export const partWrites = (driver: WriteDriver, entry: PartEntry): PartWrites<Row, AnyNode> => {
  const { ownerOf, rowOf, newRowOf, writes } = partItems(driver.catalog, entry);
  const idOf = (node: Row, id: Row): Row => ({ ...checkKey(entry.name, entry.idFields, id), ...ownerOf(node) });
  return {
    create: (node, input, options?: SendingOptions) => writeCall(driver, writes.create(newRowOf(node, input), options)),
    put: (node, input, options?: Options) => batchable(writeCall(driver, writes.put(rowOf(node, input), options, seenIn(entry, input)))),
    update: (node, id, changes, options?: Options) => writeCall(driver, writes.update(idOf(node, id), changes as Row, options)),
    upsert: (node, input, changes, options?: UpsertOptions<Row>) => {
      const id = idOf(node, pick(input, entry.idFields));
      return upsertCall(driver, writes.upsert(id, newRowOf(node, input), changes as Row, options));
    },
    check: (node, id, options?: CheckOptions<Row>) => writeCall(driver, writes.check(idOf(node, id), options)),
    delete: (node, id, options?: DeleteOptions<Row>) => deleteCall(driver, writes.delete(idOf(node, id), options, deleteChecks), options),
  };
};

interface AnyEnds {
  readonly from: Row;
  readonly to: Row;
  readonly edge: Row;
  readonly filter: Row;
}
interface AnyEdge {
  readonly row: Row;
  readonly input: Row;
  readonly key: Row;
  readonly changes: Row;
}

const linkChecks: OptionChecks<LinkOptions<Row>> = { ...sendingChecks, reverse: namesIn };
const nestedEnds = ["from", "to"];
const unlinkChecks: OptionChecks<WriteOptions<Row> & KeyOption> = { ...writeChecks, key: namesIn };
const relinkChecks: OptionChecks<RelinkOptions<Row, Row> & KeyOption> = { ...unlinkChecks, ...linkChecks, type: "string" };

const edgeRows = (catalog: Catalog, entry: EdgeEntry) => {
  const edge = entry.name;
  const written = writtenType(edge, entry.definition, entry.key, entry.shapes[0]);
  const ends = (from: Row, to: Row): { readonly edge: string; readonly from: EndId; readonly to: EndId } => {
    if (entry.definition.stored === "reference") {
      const node = entry.from.join(" or ");
      throw new EdgetableError(
        "plan.unsupported",
        `"${edge}" is stored as attributes of "${node}": set them with an update of that node.`,
        {
          details: { edge },
        },
      );
    }
    return { edge, from: checkEnd(catalog, entry.from, from), to: checkEnd(catalog, entry.to, to) };
  };
  const reverseOf = (reverse: Row | undefined): Row => {
    if (!reverse) return {};
    if (entry.definition.stored === "twice" || entry.definition.symmetric) return readChanges(written, reverse).set;
    throw new EdgetableError(
      "plan.invalidOption",
      `"${edge}" is stored once: there is no other copy for \`reverse\`. Store it twice, or leave that out.`,
      {
        details: { option: "reverse", value: reverse },
      },
    );
  };
  const rowsOf = (row: Row = {}, options: LinkOptions<Row> = {}): Pick<LinkWrite, "row" | "reverse" | "idempotent"> => {
    checkOwnNames(written, namesIn(row));
    const { reverse, idempotent } = checkOptions(options, linkChecks);
    return { row: withoutComputed(written, row), reverse: reverseOf(reverse), idempotent };
  };
  return { written, ends, reverseOf, rowsOf };
};

/** Makes the write that puts an edge, for a call or a bulk load. */
export const edgePut = (
  catalog: Catalog,
  entry: EdgeEntry,
): ((from: Row, to: Row, attributes?: Row, options?: LinkOptions<Row>) => PutEdgeWrite) => {
  const { ends, rowsOf } = edgeRows(catalog, entry);
  return (from, to, attributes, options) => ({ kind: "putEdge", ...rowsOf(attributes, options), ...ends(from, to), ends: "checked" });
};

/** The writing side of `db.<edge>`. */
export const edgeWrites = (driver: WriteDriver, entry: EdgeEntry): EdgeWrites<AnyEnds, AnyEdge> => {
  const edge = entry.name;
  const { written, ends, reverseOf, rowsOf } = edgeRows(driver.catalog, entry);
  const putOf = edgePut(driver.catalog, entry);
  const call = (write: LogicalWrite): ReturnType<typeof writeCall<Row>> => writeCall<Row>(driver, write);
  return {
    link: (from, to, attributes, options) => {
      refuseComputed(written, attributes as Row | undefined);
      return call({ kind: "link", ...rowsOf(attributes as Row | undefined, options), ...ends(from, to) });
    },
    put: (from, to, attributes, options) => {
      const row = attributes as Row | undefined;
      return batchable(call({ ...putOf(from, to, row, options), seen: seenIn(entry, row) }));
    },
    relink: (from, to, given, options: RelinkOptions<Row, Row> & KeyOption = {}) => {
      const guards = readGuards(written, options, { kinds: relinkChecks, nested: nestedEnds });
      const { type } = options;
      const target = type === undefined ? undefined : edgeNamed(driver, type);
      const of = target ? writtenType(target.name, target.definition, [], target.shapes[0]) : written;
      const changes = target ? readChanges(of, given as Row) : readSomeChanges(of, given as Row);
      return call({
        kind: "relink",
        ...ends(from, to),
        key: ownKey(entry, options),
        changes,
        reverse: reverseOf(options.reverse),
        guards,
        idempotent: options.idempotent,
        type,
        validates: driver.validates,
      });
    },
    upsert: (from, to, attributes, ...[given, options = {}]) => {
      refuseComputed(written, attributes);
      const guards = readGuards(written, options, { kinds: { ...upsertChecks, reverse: namesIn }, nested: nestedEnds });
      const { expect = "existing", idempotent, reverse } = options;
      const at = ends(from, to);
      const rows = rowsOf(attributes, reverse && { reverse });
      const change = {
        key: checkKey(edge, entry.key, pick(attributes, entry.key)),
        changes: readSomeChanges(written, given as Row),
        reverse: rows.reverse,
        guards,
        type: undefined,
        validates: driver.validates,
      };
      const create = { kind: "link", ...at, ...rows } as const;
      return upsertCall(driver, { kind: "upsertEdge", ...at, create, update: { kind: "relink", ...at, ...change }, expect, idempotent });
    },
    unlink: (from, to, options: WriteOptions<Row> & KeyOption = {}) => {
      const key = ownKey(entry, options);
      const guards = readGuards(written, options, { kinds: unlinkChecks, nested: nestedEnds });
      return batchable(call({ kind: "unlink", ...ends(from, to), key, guards, idempotent: options.idempotent }));
    },
  };
};
