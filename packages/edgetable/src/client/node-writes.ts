import type { PutWrite } from "../ir/logical-write.ts";
import type { Catalog, NodeEntry, PartEntry } from "../schema/catalog.ts";
import { checkKey, checkNodeId } from "../schema/check-id.ts";
import { defined } from "../util/invariant.ts";
import { deleteCall } from "./delete-call.ts";
import { jobKinds } from "./job-options.ts";
import { checkOwnNames, readGuards, readSomeChanges, sendingKinds, subjectOf, writeKinds } from "./read-changes.ts";
import { writeCall, type WriteDriver } from "./write-call.ts";
import type { DeleteOptions, NodeWrites, PartWrites, SendingOptions, WriteOptions } from "./write-types.ts";
import { checkOptions, type OptionChecks, namesIn } from "../util/check-options.ts";
import type { Row } from "../util/row.ts";

interface AnyTypes {
  readonly row: Row;
  readonly input: Row;
  readonly id: Row;
  readonly changes: Row;
}
type Options = WriteOptions<Row>;

const deleteKinds: OptionChecks<DeleteOptions<Row>> = { ...writeKinds, ...jobKinds };

const nodeRows = (entry: NodeEntry) => {
  const subject = subjectOf(entry.name, entry.definition, entry.idFields, entry.shape);
  const rowOf = (input: Row): Row => {
    checkOwnNames(subject, namesIn(input));
    return input;
  };
  return { subject, rowOf };
};

/** Gives the write that puts a node's row, for a call or a bulk load. */
export const nodePut = (entry: NodeEntry): ((input: Row, options?: Options) => PutWrite) => {
  const { name } = entry;
  const { subject, rowOf } = nodeRows(entry);
  return (input, options) => ({
    kind: "put",
    of: "node",
    name,
    row: rowOf(input),
    guards: readGuards(subject, options),
    idempotent: options?.idempotent,
  });
};

/** The writing side of `db.<node>`. */
export const nodeWrites = (driver: WriteDriver, entry: NodeEntry): NodeWrites<AnyTypes> => {
  const { name } = entry;
  const { subject, rowOf } = nodeRows(entry);
  const putOf = nodePut(entry);
  const idOf = (id: Row): Row => checkNodeId(driver.catalog, entry, id);
  return {
    create: (input, options: SendingOptions = {}) =>
      writeCall(driver, { kind: "create", of: "node", name, row: rowOf(input), ...checkOptions(options, sendingKinds) }),
    put: (input, options?: Options) => writeCall(driver, putOf(input, options)),
    update: (id, changes, options?: Options) =>
      writeCall(driver, {
        kind: "update",
        of: "node",
        name,
        id: idOf(id),
        changes: readSomeChanges(subject, changes as Row),
        guards: readGuards(subject, options),
        idempotent: options?.idempotent,
      }),
    delete: (id, options?: DeleteOptions<Row>) =>
      deleteCall(
        driver,
        {
          kind: "delete",
          of: "node",
          name,
          id: idOf(id),
          guards: readGuards(subject, options, { kinds: deleteKinds }),
          idempotent: options?.idempotent,
        },
        options,
      ),
  };
};

const partRows = (catalog: Catalog, entry: PartEntry) => {
  const owner = defined(catalog.nodes[entry.definition.of], `the owner of "${entry.name}"`);
  const subject = subjectOf(entry.name, entry.definition, [...entry.idFields, ...owner.idFields], entry.shape);
  const ownerOf = (id: Row): Row => checkNodeId(catalog, owner, id);
  const rowOf = (node: Row, input: Row): Row => {
    checkOwnNames(
      subject,
      namesIn(input).filter((field) => !owner.idFields.includes(field)),
    );
    return { ...input, ...ownerOf(node) };
  };
  return { subject, ownerOf, rowOf };
};

/** Gives the write that puts a part's row, for a call or a bulk load. */
export const partPut = (catalog: Catalog, entry: PartEntry): ((node: Row, input: Row, options?: Options) => PutWrite) => {
  const { name } = entry;
  const { subject, rowOf } = partRows(catalog, entry);
  return (node, input, options) => ({
    kind: "put",
    of: "part",
    name,
    row: rowOf(node, input),
    guards: readGuards(subject, options),
    idempotent: options?.idempotent,
  });
};

/** The writing side of `db.<part>`. */
export const partWrites = (driver: WriteDriver, entry: PartEntry): PartWrites<Row, AnyTypes> => {
  const { name } = entry;
  const { subject, ownerOf, rowOf } = partRows(driver.catalog, entry);
  const putOf = partPut(driver.catalog, entry);
  const idOf = (node: Row, id: Row): Row => ({ ...checkKey(name, entry.idFields, id), ...ownerOf(node) });
  return {
    create: (node, input, options: SendingOptions = {}) =>
      writeCall(driver, { kind: "create", of: "part", name, row: rowOf(node, input), ...checkOptions(options, sendingKinds) }),
    put: (node, input, options?: Options) => writeCall(driver, putOf(node, input, options)),
    update: (node, id, changes, options?: Options) =>
      writeCall(driver, {
        kind: "update",
        of: "part",
        name,
        id: idOf(node, id),
        changes: readSomeChanges(subject, changes as Row),
        guards: readGuards(subject, options),
        idempotent: options?.idempotent,
      }),
    delete: (node, id, options?: Options) =>
      writeCall(driver, {
        kind: "delete",
        of: "part",
        name,
        id: idOf(node, id),
        guards: readGuards(subject, options),
        idempotent: options?.idempotent,
      }),
  };
};
