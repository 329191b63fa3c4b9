import { EdgetableError } from "../errors/edgetable-error.ts";
import { readWhere } from "../ir/condition.ts";
import type { Changes, EndId, Guards, LinkWrite, LogicalWrite, PutEdgeWrite, PutWrite } from "../ir/logical-write.ts";
import { VERSION } from "../requests/encode-item.ts";
import type { Catalog, EdgeEntry, NodeEntry, PartEntry, Shape } from "../schema/catalog.ts";
import { checkAttributes, checkEnd, checkKey, checkNodeId, refuseStoredNames } from "../schema/check-values.ts";
import { type AnySchema, attributeNames } from "../schema/standard-schema.ts";
import { checkOptions, listOf, namesIn, type OptionChecks } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { edgeNamed } from "./check-names.ts";
import { deleteCall } from "./delete-call.ts";
import { jobChecks } from "./job-options.ts";
import { writeCall, type WriteDriver } from "./write-call.ts";
import type {
  DeleteOptions,
  EdgeWrites,
  LinkOptions,
  NodeWrites,
  PartWrites,
  RelinkOptions,
  SendingOptions,
  WriteOptions,
} from "./write-types.ts";

const CLAUSES = ["set", "remove", "add", "append"];

/** What changes and conditions are checked against. */
interface Subject {
  readonly name: string;
  /** Attribute names, undefined where the schema does not tell them. */
  readonly names: readonly string[] | undefined;
  /** Attributes that never change: the key's, and those declared immutable. */
  readonly fixed: readonly string[];
  readonly version: boolean;
  /** A shape of its items: it says which attributes are stored under other names. */
  readonly shape: Shape | undefined;
}

interface Definition {
  readonly schema: AnySchema | undefined;
  readonly immutable?: readonly string[];
  readonly version?: boolean;
}

/** What a definition says of its attributes. */
const subjectOf = (name: string, definition: Definition, key: readonly string[], shape: Shape | undefined): Subject => ({
  name,
  names: definition.schema ? attributeNames(definition.schema) : [],
  fixed: [...key, ...(definition.immutable ?? []), ...(definition.version ? [VERSION] : [])],
  version: definition.version ?? false,
  shape,
});

const failOption = (subject: Subject, message: string, details: Row): never => {
  throw new EdgetableError("plan.invalidOption", `${message} of "${subject.name}".`, { details });
};

const present = (given: Row | undefined): Row => {
  const row: Record<string, unknown> = {};
  for (const name of Object.keys(given ?? {})) if (given?.[name] !== undefined) row[name] = given[name];
  return row;
};

const clausesOf = (subject: Subject, given: Row): Changes => {
  const names = namesIn(given);
  const clauses = names.length > 0 && names.every((name) => CLAUSES.includes(name) && !subject.names?.includes(name));
  if (!clauses) return { set: present(given), remove: [], add: {}, append: {} };
  const { set, remove, add, append } = given as { [Clause in keyof Changes]?: Changes[Clause] };
  return { set: present(set), remove: listOf(remove ?? [], "attributes to remove"), add: present(add), append: present(append) };
};

const checkOperands = (subject: Subject, { add, append }: Changes): void => {
  for (const [field, value] of Object.entries(add)) {
    const isAddend = Number.isFinite(value) || typeof value === "bigint" || value instanceof Set;
    if (!isAddend) failOption(subject, `\`add\` takes a number or a Set for "${field}"`, { field, value });
  }
  for (const [field, value] of Object.entries(append))
    if (!Array.isArray(value)) failOption(subject, `\`append\` takes a list for "${field}"`, { field, value });
};

const changedFields = ({ set, remove, add, append }: Changes): readonly string[] => [
  ...Object.keys(set),
  ...remove,
  ...Object.keys(add),
  ...Object.keys(append),
];

const UNGUARDED: Guards = Object.freeze({ where: undefined, version: undefined });

/** Refuses attributes that are not the subject's. */
const checkOwnNames = (subject: Subject, given: readonly string[]): void => {
  if (subject.shape) refuseStoredNames(subject.shape, given);
  checkAttributes(subject.version && subject.names ? [...subject.names, VERSION] : subject.names, given, `"${subject.name}"`);
};

/**
 * Reads the changes of an update: new values, or `{ set, remove, add, append }`.
 *
 * @throws {schema.unknownAttribute}
 * @throws {schema.immutableAttribute}
 * @throws {plan.invalidOption} when there is nothing to change, or an attribute is changed twice
 */
const readChanges = (subject: Subject, given: Row): Changes => {
  const changes = clausesOf(subject, given);
  const fields = changedFields(changes);
  checkOwnNames(subject, fields);
  const fixed = fields.find((field) => subject.fixed.includes(field));
  if (fixed !== undefined) {
    const why =
      subject.version && fixed === VERSION
        ? "counts its writes and cannot be set. To check it, pass the option `ifVersion`."
        : "cannot change. Create a new item and delete this one.";
    throw new EdgetableError("schema.immutableAttribute", `"${fixed}" of "${subject.name}" ${why}`, { details: { attribute: fixed } });
  }
  const twice = fields.find((field, at) => fields.indexOf(field) !== at);
  if (twice !== undefined) failOption(subject, `"${twice}" is changed twice, in one update`, { field: twice });
  checkOperands(subject, changes);
  return changes;
};

/** The same, refusing to change nothing. */
const readSomeChanges = (subject: Subject, given: Row): Changes => {
  const changes = readChanges(subject, given);
  if (changedFields(changes).length === 0) failOption(subject, "There is nothing to change in this update", { given });
  return changes;
};

/** What the options of a write without conditions may be. */
const sendingChecks: OptionChecks<SendingOptions> = { idempotent: "boolean" };

/** What the options of every conditional write may be. */
const writeChecks: OptionChecks<WriteOptions<Row>> = { idempotent: "boolean", if: namesIn, ifVersion: [0, Number.MAX_SAFE_INTEGER] };

/**
 * Reads `if` and `ifVersion`.
 *
 * @param kinds what the options may be, where there are more than these two
 * @param nested fields of `if` whose objects hold paths
 * @throws {plan.invalidOption} @throws {schema.unknownAttribute}
 */
const readGuards = <Options extends WriteOptions<Row>>(
  subject: Subject,
  options: Options | undefined,
  {
    kinds = writeChecks as OptionChecks<Options>,
    nested = [],
  }: { readonly kinds?: OptionChecks<Options>; readonly nested?: readonly string[] } = {},
): Guards => {
  if (options === undefined) return UNGUARDED;
  checkOptions(options, kinds);
  if (options.if)
    checkOwnNames(
      subject,
      namesIn(options.if).filter((field) => !nested.includes(field)),
    );
  if (!options.if && options.ifVersion === undefined) return UNGUARDED;
  return { where: options.if && readWhere(options.if, nested), version: options.ifVersion };
};

interface AnyNode {
  readonly row: Row;
  readonly input: Row;
  readonly id: Row;
  readonly changes: Row;
}
type Options = WriteOptions<Row>;

const deleteChecks: OptionChecks<DeleteOptions<Row>> = { ...writeChecks, ...jobChecks };

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
export const nodeWrites = (driver: WriteDriver, entry: NodeEntry): NodeWrites<AnyNode> => {
  const { name } = entry;
  const { subject, rowOf } = nodeRows(entry);
  const putOf = nodePut(entry);
  const idOf = (id: Row): Row => checkNodeId(driver.catalog, entry, id);
  return {
    create: (input, options: SendingOptions = {}) =>
      writeCall(driver, { kind: "create", of: "node", name, row: rowOf(input), ...checkOptions(options, sendingChecks) }),
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
          guards: readGuards(subject, options, { kinds: deleteChecks }),
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
export const partWrites = (driver: WriteDriver, entry: PartEntry): PartWrites<Row, AnyNode> => {
  const { name } = entry;
  const { subject, ownerOf, rowOf } = partRows(driver.catalog, entry);
  const putOf = partPut(driver.catalog, entry);
  const idOf = (node: Row, id: Row): Row => ({ ...checkKey(name, entry.idFields, id), ...ownerOf(node) });
  return {
    create: (node, input, options: SendingOptions = {}) =>
      writeCall(driver, { kind: "create", of: "part", name, row: rowOf(node, input), ...checkOptions(options, sendingChecks) }),
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
const relinkChecks: OptionChecks<RelinkOptions<Row, Row, Row>> = { ...writeChecks, ...linkChecks, key: namesIn, type: "string" };

const edgeRows = (catalog: Catalog, entry: EdgeEntry) => {
  const edge = entry.name;
  const subject = subjectOf(edge, entry.definition, entry.key, entry.shapes[0]);
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
    if (entry.definition.stored === "twice" || entry.definition.symmetric) return readChanges(subject, reverse).set;
    throw new EdgetableError(
      "plan.invalidOption",
      `"${edge}" is stored once: there is no other copy for \`reverse\`. Store it twice, or leave that out.`,
      {
        details: { option: "reverse", value: reverse },
      },
    );
  };
  const rowsOf = (row: Row = {}, options: LinkOptions<Row> = {}): Pick<LinkWrite, "row" | "reverse" | "idempotent"> => {
    checkOwnNames(subject, namesIn(row));
    const { reverse, idempotent } = checkOptions(options, linkChecks);
    return { row, reverse: reverseOf(reverse), idempotent };
  };
  return { subject, ends, reverseOf, rowsOf };
};

/** Gives the write that puts an edge, for a call or a bulk load. */
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
  const { subject, ends, reverseOf, rowsOf } = edgeRows(driver.catalog, entry);
  const putOf = edgePut(driver.catalog, entry);
  const keyOf = (key: Row): Row => checkKey(edge, entry.key, key);
  const call = (write: LogicalWrite): ReturnType<typeof writeCall<Row>> => writeCall<Row>(driver, write);
  return {
    link: (from, to, attributes, options) => call({ kind: "link", ...rowsOf(attributes as Row | undefined, options), ...ends(from, to) }),
    put: (from, to, attributes, options) => call(putOf(from, to, attributes as Row | undefined, options)),
    relink: (from, to, given, options: RelinkOptions<Row, Row, Row> = {}) => {
      const guards = readGuards(subject, options, { kinds: relinkChecks, nested: nestedEnds });
      const { type } = options;
      const target = type === undefined ? undefined : edgeNamed(driver, type);
      const of = target ? subjectOf(target.name, target.definition, [], target.shapes[0]) : subject;
      const changes = target ? readChanges(of, given as Row) : readSomeChanges(of, given as Row);
      return call({
        kind: "relink",
        ...ends(from, to),
        key: keyOf(options.key ?? {}),
        changes,
        reverse: reverseOf(options.reverse),
        guards,
        idempotent: options.idempotent,
        type,
        validates: driver.validates,
      });
    },
    unlink: (from, to, key = {}, options: WriteOptions<Row> = {}) => {
      const guards = readGuards(subject, options, { nested: nestedEnds });
      return call({ kind: "unlink", ...ends(from, to), key: keyOf(key), guards, idempotent: options.idempotent });
    },
  };
};
