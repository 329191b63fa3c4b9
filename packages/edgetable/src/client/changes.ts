import { EdgetableError } from "../errors/edgetable-error.ts";
import { isPath, stepsOf } from "../schema/attribute-path.ts";
import { fieldsIn, readWhere } from "../ir/condition.ts";
import type { Changes, Guards } from "../ir/logical-write.ts";
import { VERSION } from "../requests/encode-item.ts";
import type { EdgeEntry, NodeEntry, PartEntry, Shape } from "../schema/catalog.ts";
import type { PathChange } from "../schema/check-operands.ts";
import { checkAttributes, refuseStoredNames } from "../schema/check-values.ts";
import { attributesOf, derivedNames } from "../schema/facts.ts";
import { timeNames } from "../schema/timestamps.ts";
import { checkOptions, listOf, namesIn, type OptionChecks } from "../util/check-options.ts";
import { own, type Row } from "../util/row.ts";
import type { SendingOptions, WriteOptions } from "./write-types.ts";

const CLAUSES = ["set", "remove", "add", "append", "delete"];

/** What the changes and conditions of a write are checked against: the type of the written item. */
export interface WrittenType {
  readonly name: string;
  /** Attribute names; undefined if the schema does not list them. */
  readonly names: readonly string[] | undefined;
  /** Attributes that Edgetable computes from other rows. */
  readonly derived: readonly string[];
  /** Times that Edgetable keeps. */
  readonly times: readonly string[];
  /** Attributes of its key. */
  readonly key: readonly string[];
  /** Attributes that never change: the key's, and those declared immutable. */
  readonly fixed: readonly string[];
  readonly version: boolean;
  /** A shape of its items: it says which attributes are stored under other names. */
  readonly shape: Shape | undefined;
}

type Definition = (NodeEntry | EdgeEntry | PartEntry)["definition"];

/** The attributes of a definition, as writes are checked against them. */
export const writtenType = (name: string, definition: Definition, key: readonly string[], shape: Shape | undefined): WrittenType => ({
  name,
  names: attributesOf(definition),
  derived: derivedNames(definition),
  times: timeNames(definition),
  key,
  fixed: [...key, ...(definition.immutable ?? []), ...(definition.version ? [VERSION] : [])],
  version: definition.version ?? false,
  shape,
});

/** @throws {plan.invalidOption} always, with a message that names the type */
export const failOption = (written: WrittenType, message: string, details: Row): never => {
  throw new EdgetableError("plan.invalidOption", `${message} of "${written.name}".`, { details });
};

const present = (given: Row | undefined): Row => {
  const row: Record<string, unknown> = {};
  for (const name of Object.keys(given ?? {})) if (given?.[name] !== undefined) row[name] = given[name];
  return row;
};

const clausesOf = (written: WrittenType, given: Row): Changes => {
  const names = namesIn(given);
  const isClause = (name: string): boolean => CLAUSES.includes(name) && !written.names?.includes(name);
  const attribute = names.find((name) => !isClause(name));
  if (attribute !== undefined || names.length === 0) {
    const clause = written.names && names.find(isClause);
    if (clause) failOption(written, `"${attribute}" stands beside \`${clause}\`: put it into \`set\`, in this update`, { attribute });
    return { set: present(given), remove: [], add: {}, append: {} };
  }
  const { set, remove, add, append, delete: members } = given as Partial<Changes> & { readonly delete?: Row };
  const paths: PathChange[] = [];
  const isWithin = (name: string): boolean => isPath(name) && !written.names?.includes(name);
  const take = (verb: PathChange["verb"], row: Row | undefined, isTaken = isWithin): Row => {
    const rest: Record<string, unknown> = present(row);
    for (const name of Object.keys(rest).filter(isTaken)) {
      paths.push({ verb, path: name, steps: isWithin(name) ? stepsOf(name) : [name], value: rest[name] });
      delete rest[name];
    }
    return rest;
  };
  const removed = listOf(remove ?? [], "attributes to remove");
  for (const path of removed) if (isWithin(path)) paths.push({ verb: "remove", path, steps: stepsOf(path) });
  const whole = {
    set: take("set", set),
    remove: paths.length > 0 ? removed.filter((name) => !isWithin(name)) : removed,
    add: take("add", add),
    append: take("append", append),
  };
  if (members) take("delete", members, () => true);
  return paths.length > 0 ? { ...whole, paths } : whole;
};

// "Two document paths overlap with each other" is what DynamoDB says of these.
const checkOverlap = (written: WrittenType, { paths = [] }: Changes, fields: readonly string[]): void => {
  const all = [...fields.map((path) => ({ path, steps: [path] as readonly (string | number)[] })), ...paths];
  for (const [at, { path, steps }] of all.entries()) {
    const other = all.slice(0, at).find((one) => one.steps.slice(0, steps.length).every((step, depth) => step === (steps[depth] ?? step)));
    if (other)
      failOption(
        written,
        other.path === path
          ? `One update cannot change "${path}" twice; make two updates`
          : `"${other.path}" and "${path}" are changed in one update, and one holds the other: make it two, or set the outer one whole,`,
        { paths: [other.path, path] },
      );
  }
};

const checkOperands = (written: WrittenType, { add, append, paths = [] }: Changes): void => {
  const given = (verb: PathChange["verb"]) => paths.flatMap((one) => (one.verb === verb ? [[one.path, one.value] as const] : []));
  for (const [field, value] of given("delete"))
    if (!(value instanceof Set)) failOption(written, `\`delete\` takes a Set of members for "${field}"`, { field, value });
  for (const [field, value] of [...Object.entries(add), ...given("add")]) {
    const isAddend = Number.isFinite(value) || typeof value === "bigint" || value instanceof Set;
    if (!isAddend) failOption(written, `\`add\` takes a finite number or a Set for "${field}"`, { field, value });
  }
  for (const [field, value] of [...Object.entries(append), ...given("append")])
    if (!Array.isArray(value)) {
      const takes = value instanceof Set ? "takes a list, and `add` puts members into a set:" : "takes a list for";
      failOption(written, `\`append\` ${takes} "${field}"`, { field, value });
    }
};

const changedFields = ({ set, remove, add, append }: Changes): readonly string[] => [
  ...Object.keys(set),
  ...remove,
  ...Object.keys(add),
  ...Object.keys(append),
];

const UNGUARDED: Guards = Object.freeze({ where: undefined, version: undefined });

/** Refuses attributes that the type does not have. */
export const checkOwnNames = (written: WrittenType, given: readonly string[]): void => {
  if (written.shape) refuseStoredNames(written.shape, given);
  checkAttributes(written.version && written.names ? [...written.names, VERSION] : written.names, given, `"${written.name}"`);
};

/** Removes the attributes that Edgetable computes from a row, so that a row can be written again as it was read. */
export const withoutComputed = ({ derived, times }: WrittenType, row: Row): Row => {
  const isComputed = (field: string): boolean => Object.hasOwn(row, field);
  if (!derived.some(isComputed) && !times.some(isComputed)) return row;
  const rest: Record<string, unknown> = { ...row };
  for (const field of derived) delete rest[field];
  for (const field of times) delete rest[field];
  return rest;
};

const setVersion = ({ name }: WrittenType, mend: string): EdgetableError =>
  new EdgetableError("schema.immutableAttribute", `"${VERSION}" of "${name}" counts its writes and cannot be set. ${mend}`, {
    details: { attribute: VERSION },
  });

/** The error of a call that sets a time which Edgetable keeps. */
export const setTime = ({ name }: Pick<WrittenType, "name">, attribute: string, mend = "Leave it out."): EdgetableError =>
  new EdgetableError("schema.immutableAttribute", `"${attribute}" of "${name}" is a time that Edgetable keeps and cannot be set. ${mend}`, {
    details: { attribute },
  });

const setDerived = ({ name }: WrittenType, attribute: string): EdgetableError =>
  new EdgetableError(
    "schema.derivedAttribute",
    `"${attribute}" of "${name}" is derived: it follows from other rows and cannot be set. Change those, or leave it out.`,
    { details: { attribute } },
  );

/**
 * Refuses attributes that a new row may not set: its version, its times, and derived attributes. A `put` accepts rows as they were
 * read: it increments the stored version, keeps the stored time of creation and ignores the rest.
 */
export const refuseComputed = (written: WrittenType, input: Row | undefined): void => {
  if (written.version && input?.[VERSION] !== undefined) throw setVersion(written, "Leave it out: a new item has version 1.");
  const computed = written.derived.find((field) => input && own(input, field) !== undefined);
  if (computed !== undefined) throw setDerived(written, computed);
  const time = written.times.find((field) => input && own(input, field) !== undefined);
  if (time !== undefined) throw setTime(written, time);
};

/**
 * Reads the changes of an update: new values, or `{ set, remove, add, append }`.
 *
 * @throws {schema.unknownAttribute}
 * @throws {schema.immutableAttribute}
 * @throws {schema.derivedAttribute}
 * @throws {plan.invalidOption} when there is nothing to change, or an attribute is changed twice
 */
export const readChanges = (written: WrittenType, given: Row): Changes => {
  const changes = clausesOf(written, given);
  const whole = changedFields(changes);
  const fields = changes.paths ? [...whole, ...changes.paths.map(({ steps }) => steps[0])] : whole;
  checkOwnNames(written, fields);
  const computed = fields.find((field) => written.derived.includes(field));
  if (computed !== undefined) throw setDerived(written, computed);
  const time = fields.find((field) => written.times.includes(field));
  if (time !== undefined) throw setTime(written, time);
  const fixed = fields.find((field) => written.fixed.includes(field));
  if (fixed !== undefined) {
    if (written.version && fixed === VERSION) throw setVersion(written, "To check it, pass the option `ifVersion`.");
    const { name, shape, key } = written;
    const isEdge = shape?.kind === "edge";
    const mend = isEdge ? "Link a new edge and unlink this one." : "Create a new item and delete this one.";
    const which = isEdge && key.includes(fixed) ? ` To say which of several edges to change, pass { key: { ${fixed} } } as option.` : "";
    throw new EdgetableError("schema.immutableAttribute", `"${fixed}" of "${name}" cannot change. ${mend}${which}`, {
      details: { attribute: fixed },
    });
  }
  if (changes.paths) checkOverlap(written, changes, whole);
  const twice = whole.find((field, at) => whole.indexOf(field) !== at);
  if (twice !== undefined) failOption(written, `"${twice}" is changed twice, in one update`, { field: twice });
  checkOperands(written, changes);
  return changes;
};

/** Reads the changes of an update as {@link readChanges} does, and refuses changes that change nothing. */
export const readSomeChanges = (written: WrittenType, given: Row): Changes => {
  const changes = readChanges(written, given);
  if (changedFields(changes).length === 0 && !changes.paths) failOption(written, "There is nothing to change in this update", { given });
  return changes;
};

/** The valid options of a write without conditions. */
export const sendingChecks: OptionChecks<SendingOptions> = { idempotent: "boolean" };

/** The valid options of every conditional write. */
export const writeChecks: OptionChecks<WriteOptions<Row>> = { idempotent: "boolean", if: namesIn, ifVersion: [0, Number.MAX_SAFE_INTEGER] };

/**
 * Reads `if` and `ifVersion`.
 *
 * @param kinds the valid options, if there are more than these two
 * @param nested fields of `if` whose values are objects with fields of their own
 * @throws {plan.invalidOption} @throws {schema.unknownAttribute}
 */
export const readGuards = <Options extends WriteOptions<Row>>(
  written: WrittenType,
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
      written,
      fieldsIn(options.if, "if").filter((field) => !nested.includes(field)),
    );
  if (!options.if && options.ifVersion === undefined) return UNGUARDED;
  return { where: options.if && readWhere(options.if, nested, 0, written.shape ? [written.shape] : []), version: options.ifVersion };
};
