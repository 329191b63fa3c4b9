import type { NodeEntry, PartEntry } from "../schema/catalog.ts";
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

/** The writing side of `db.<node>`. */
export const nodeWrites = (driver: WriteDriver, entry: NodeEntry): NodeWrites<AnyTypes> => {
  const { name } = entry;
  const subject = subjectOf(name, entry.definition, entry.idFields, entry.shape);
  const idOf = (id: Row): Row => checkNodeId(driver.catalog, entry, id);
  const rowOf = (input: Row): Row => {
    checkOwnNames(subject, namesIn(input));
    return input;
  };
  return {
    create: (input, options: SendingOptions = {}) =>
      writeCall(driver, { kind: "create", of: "node", name, row: rowOf(input), ...checkOptions(options, sendingKinds) }),
    put: (input, options?: Options) =>
      writeCall(driver, {
        kind: "put",
        of: "node",
        name,
        row: rowOf(input),
        guards: readGuards(subject, options),
        idempotent: options?.idempotent,
      }),
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

/** The writing side of `db.<part>`. */
export const partWrites = (driver: WriteDriver, entry: PartEntry): PartWrites<Row, AnyTypes> => {
  const { name } = entry;
  const owner = defined(driver.catalog.nodes[entry.definition.of], `the owner of "${name}"`);
  const subject = subjectOf(name, entry.definition, [...entry.idFields, ...owner.idFields], entry.shape);
  const ownerOf = (id: Row): Row => checkNodeId(driver.catalog, owner, id);
  const idOf = (node: Row, id: Row): Row => ({ ...checkKey(name, entry.idFields, id), ...ownerOf(node) });
  const rowOf = (node: Row, input: Row): Row => {
    checkOwnNames(
      subject,
      namesIn(input).filter((field) => !owner.idFields.includes(field)),
    );
    return { ...input, ...ownerOf(node) };
  };
  return {
    create: (node, input, options: SendingOptions = {}) =>
      writeCall(driver, { kind: "create", of: "part", name, row: rowOf(node, input), ...checkOptions(options, sendingKinds) }),
    put: (node, input, options?: Options) =>
      writeCall(driver, {
        kind: "put",
        of: "part",
        name,
        row: rowOf(node, input),
        guards: readGuards(subject, options),
        idempotent: options?.idempotent,
      }),
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
