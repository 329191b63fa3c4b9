import { EdgetableError } from "../errors/edgetable-error.ts";
import { readWhere } from "../ir/condition.ts";
import type { Changes, DeleteWrite, EndId, Guards, LinkWrite, LogicalWrite, PutEdgeWrite, PutWrite } from "../ir/logical-write.ts";
import { VERSION } from "../requests/encode-item.ts";
import type { Catalog, EdgeEntry, NodeEntry, PartEntry, Shape } from "../schema/catalog.ts";
import { checkAttributes, checkEnd, checkKey, checkNodeId, refuseStoredNames } from "../schema/check-values.ts";
import { attributesOf, derivedNames } from "../schema/facts.ts";
import { checkOptions, listOf, namesIn, type OptionChecks } from "../util/check-options.ts";
import { defined } from "../util/invariant.ts";
import type { Row } from "../util/row.ts";
import { edgeNamed } from "./check-names.ts";
import { deleteCall } from "./delete-call.ts";
import { jobChecks } from "./job-options.ts";
import { writeCall, type WriteDriver } from "./write-call.ts";
import type {
  CheckOptions,
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
  /** Attributes that Edgetable computes from other rows. */
  readonly derived: readonly string[];
  /** Attributes of its key. */
  readonly key: readonly string[];
  /** Attributes that never change: the key's, and those declared immutable. */
  readonly fixed: readonly string[];
  readonly version: boolean;
  /** A shape of its items: it says which attributes are stored under other names. */
  readonly shape: Shape | undefined;
}

type Definition = (NodeEntry | EdgeEntry | PartEntry)["definition"];

/** What a definition says of its attributes. */
const subjectOf = (name: string, definition: Definition, key: readonly string[], shape: Shape | undefined): Subject => ({
  name,
  names: attributesOf(definition),
  derived: derivedNames(definition),
  key,
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

// A row that was read before may be written again: what follows from other rows is computed anew.
const withoutDerived = ({ derived }: Subject, row: Row): Row => {
  if (!derived.some((field) => field in row)) return row;
  const own: Record<string, unknown> = { ...row };
  for (const field of derived) delete own[field];
  return own;
};

const whyFixed = ({ name, shape, key }: Subject, attribute: string): string => {
  const mend = shape?.kind === "edge" ? "Link a new edge and unlink this one." : "Create a new item and delete this one.";
  const which =
    shape?.kind === "edge" && key.includes(attribute)
      ? ` To say which of several edges to change, pass { key: { ${attribute} } } as option.`
      : "";
  return `"${attribute}" of "${name}" cannot change. ${mend}${which}`;
};

const setVersion = ({ name }: Subject, mend: string): EdgetableError =>
  new EdgetableError("schema.immutableAttribute", `"${VERSION}" of "${name}" counts its writes and cannot be set. ${mend}`, {
    details: { attribute: VERSION },
  });

/** Refuses a new row's version; a `put` takes rows as they were read, and counts on from what is stored. */
const refuseVersion = (subject: Subject, input: Row | undefined): void => {
  if (subject.version && input?.[VERSION] !== undefined) throw setVersion(subject, "Leave it out: a new item has version 1.");
};

/**
 * Reads the changes of an update: new values, or `{ set, remove, add, append }`.
 *
 * @throws {schema.unknownAttribute}
 * @throws {schema.immutableAttribute}
 * @throws {schema.derivedAttribute}
 * @throws {plan.invalidOption} when there is nothing to change, or an attribute is changed twice
 */
const readChanges = (subject: Subject, given: Row): Changes => {
  const changes = clausesOf(subject, given);
  const fields = changedFields(changes);
  checkOwnNames(subject, fields);
  const computed = fields.find((field) => subject.derived.includes(field));
  if (computed !== undefined)
    throw new EdgetableError(
      "schema.derivedAttribute",
      `"${computed}" of "${subject.name}" is derived: it follows from other rows and cannot be set. Change those, or leave it out.`,
      { details: { attribute: computed } },
    );
  const fixed = fields.find((field) => subject.fixed.includes(field));
  if (fixed !== undefined) {
    if (subject.version && fixed === VERSION) throw setVersion(subject, "To check it, pass the option `ifVersion`.");
    throw new EdgetableError("schema.immutableAttribute", whyFixed(subject, fixed), { details: { attribute: fixed } });
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

const checkChecks: OptionChecks<CheckOptions<Row>> = { if: writeChecks.if, ifVersion: writeChecks.ifVersion, exists: "boolean" };
const deleteChecks: OptionChecks<DeleteOptions<Row>> = { ...writeChecks, ...jobChecks };

/** The writes of a node or part, from rows and ids that were checked. */
const itemWrites = (of: "node" | "part", subject: Subject) => {
  const { name } = subject;
  return {
    create: (row: Row, options: SendingOptions = {}): LogicalWrite => {
      refuseVersion(subject, row);
      return { kind: "create", of, name, row, ...checkOptions(options, sendingChecks) };
    },
    put: (row: Row, options: Options | undefined): PutWrite => ({
      kind: "put",
      of,
      name,
      row,
      guards: readGuards(subject, options),
      idempotent: options?.idempotent,
    }),
    update: (id: Row, changes: Row, options: Options | undefined): LogicalWrite => ({
      kind: "update",
      of,
      name,
      id,
      changes: readSomeChanges(subject, changes),
      guards: readGuards(subject, options),
      idempotent: options?.idempotent,
    }),
    check: (id: Row, options: CheckOptions<Row> = {}): LogicalWrite => {
      const { exists = true, ...guarding } = options;
      const guards = readGuards(subject, options, { kinds: checkChecks });
      if (exists || namesIn(guarding).length === 0) return { kind: "check", of, name, id, guards, exists };
      return failOption(subject, "A check that there is none takes no `if` or `ifVersion`: leave them out, in a check", { options });
    },
    delete: (id: Row, options: Options | undefined, kinds?: OptionChecks<Options>): DeleteWrite => ({
      kind: "delete",
      of,
      name,
      id,
      guards: readGuards(subject, options, kinds && { kinds }),
      idempotent: options?.idempotent,
    }),
  };
};

const nodeItems = (entry: NodeEntry) => {
  const subject = subjectOf(entry.name, entry.definition, entry.idFields, entry.shape);
  const rowOf = (input: Row): Row => {
    checkOwnNames(subject, namesIn(input));
    return withoutDerived(subject, input);
  };
  return { rowOf, writes: itemWrites("node", subject) };
};

/** Gives the write that puts a node's row, for a call or a bulk load. */
export const nodePut = (entry: NodeEntry): ((input: Row, options?: Options) => PutWrite) => {
  const { rowOf, writes } = nodeItems(entry);
  return (input, options) => writes.put(rowOf(input), options);
};

/** The writing side of `db.<node>`. */
export const nodeWrites = (driver: WriteDriver, entry: NodeEntry): NodeWrites<AnyNode> => {
  const { rowOf, writes } = nodeItems(entry);
  const idOf = (id: Row): Row => checkNodeId(driver.catalog, entry, id);
  return {
    create: (input, options?: SendingOptions) => writeCall(driver, writes.create(rowOf(input), options)),
    put: (input, options?: Options) => writeCall(driver, writes.put(rowOf(input), options)),
    update: (id, changes, options?: Options) => writeCall(driver, writes.update(idOf(id), changes as Row, options)),
    check: (id, options?: CheckOptions<Row>) => writeCall(driver, writes.check(idOf(id), options)),
    delete: (id, options?: DeleteOptions<Row>) => deleteCall(driver, writes.delete(idOf(id), options, deleteChecks), options),
  };
};

const partItems = (catalog: Catalog, entry: PartEntry) => {
  const owner = defined(catalog.nodes[entry.definition.of], `the owner of "${entry.name}"`);
  const subject = subjectOf(entry.name, entry.definition, [...entry.idFields, ...owner.idFields], entry.shape);
  const ownerOf = (id: Row): Row => checkNodeId(catalog, owner, id);
  const rowOf = (node: Row, input: Row): Row => {
    checkOwnNames(
      subject,
      namesIn(input).filter((field) => !owner.idFields.includes(field)),
    );
    return { ...withoutDerived(subject, input), ...ownerOf(node) };
  };
  return { ownerOf, rowOf, writes: itemWrites("part", subject) };
};

/** Gives the write that puts a part's row, for a call or a bulk load. */
export const partPut = (catalog: Catalog, entry: PartEntry): ((node: Row, input: Row, options?: Options) => PutWrite) => {
  const { rowOf, writes } = partItems(catalog, entry);
  return (node, input, options) => writes.put(rowOf(node, input), options);
};

/** The writing side of `db.<part>`. */
export const partWrites = (driver: WriteDriver, entry: PartEntry): PartWrites<Row, AnyNode> => {
  const { ownerOf, rowOf, writes } = partItems(driver.catalog, entry);
  const idOf = (node: Row, id: Row): Row => ({ ...checkKey(entry.name, entry.idFields, id), ...ownerOf(node) });
  return {
    create: (node, input, options?: SendingOptions) => writeCall(driver, writes.create(rowOf(node, input), options)),
    put: (node, input, options?: Options) => writeCall(driver, writes.put(rowOf(node, input), options)),
    update: (node, id, changes, options?: Options) => writeCall(driver, writes.update(idOf(node, id), changes as Row, options)),
    check: (node, id, options?: CheckOptions<Row>) => writeCall(driver, writes.check(idOf(node, id), options)),
    delete: (node, id, options?: Options) => writeCall(driver, writes.delete(idOf(node, id), options)),
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
    return { row: withoutDerived(subject, row), reverse: reverseOf(reverse), idempotent };
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
    link: (from, to, attributes, options) => {
      refuseVersion(subject, attributes as Row | undefined);
      return call({ kind: "link", ...rowsOf(attributes as Row | undefined, options), ...ends(from, to) });
    },
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
