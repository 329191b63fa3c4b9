import type { ColumnPlace, FieldChanges } from "../client/grid-types.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, NO_COST, type RunOptions } from "../executor/call.ts";
import { type FieldFormat, isWellFormed } from "../keys/template.ts";
import { inRange, listOf as asList, namesIn, oneOf } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import type { Field, FieldType, NewField, NewFieldType } from "../client/field-types.ts";
import { type Changed, changeList, type FieldList, fieldIn, liveFields, readList, type StoredField } from "./field-list.ts";
import { checkValue, isEmpty } from "./field-value.ts";
import type { GridModel } from "./grid-model.ts";

/** The most fields of one parent: all of their definitions are in one item of at most 400 KB. */
const MOST_FIELDS = 400;
const MOST_CHOICES = 1000;
const LONGEST_NAME = 200;

const TYPES: readonly FieldType[] = ["text", "number", "date", "boolean", "choice", "choices", "reference"];
const MEMBERS: readonly string[] = ["fieldId", "name", "type", "required", "default"];
const OWN_MEMBERS: Readonly<Record<FieldType, readonly string[]>> = {
  text: ["order"],
  number: [],
  date: [],
  boolean: [],
  choice: ["choices"],
  choices: ["choices"],
  reference: ["node"],
};

const invalid = (message: string, details: Row): EdgetableError => new EdgetableError("grid.invalidField", message, { details });

const isName = (text: unknown): text is string =>
  typeof text === "string" && text.trim() !== "" && text.length <= LONGEST_NAME && isWellFormed(text);

const checkChoices = (name: string, choices: unknown): readonly string[] => {
  const list = asList(choices as readonly unknown[], `choices for "${name}"`);
  const wrong = list.find((choice) => !isName(choice));
  if (wrong !== undefined)
    throw invalid(`${jsonText(wrong)} is not a choice for "${name}": give texts of 1 to ${LONGEST_NAME} characters.`, {
      field: name,
      value: wrong,
    });
  const twice = list.find((choice, at) => list.indexOf(choice) !== at);
  if (twice !== undefined)
    throw invalid(`The choice ${jsonText(twice)} of "${name}" is given twice. Give each once.`, { field: name, value: twice });
  if (list.length === 0 || list.length > MOST_CHOICES)
    throw invalid(`"${name}" has ${list.length} choices: give 1 to ${MOST_CHOICES}.`, { field: name, choices: list.length });
  return list as readonly string[];
};

const isDate = (format: FieldFormat): boolean =>
  format.kind === "date" || (format.kind === "either" && format.formats.some((one) => isDate(one)));

/** The field of a node's id that is a Date, which no member of a stored value can be; undefined if none is. */
const dateInId = ({ driver: { catalog } }: GridModel, node: string): string | undefined => {
  const { idFields = [], shape } = catalog.nodes[node] ?? {};
  const parts = Object.values(shape?.keys ?? {}).flatMap((template) => template.parts);
  const isOfDates = (field: string): boolean =>
    shape?.dates.includes(field) === true || parts.some((part) => part.kind === "field" && part.path === field && isDate(part.format));
  return idFields.find(isOfDates);
};

/** What a type says beside itself, checked. */
const typeOf = (model: GridModel, name: string, given: Row): Row => {
  const type = given["type"] as FieldType;
  oneOf("type of field", type, TYPES);
  const { nodes } = model.driver.catalog;
  switch (type) {
    case "text": {
      const { order = "bytes" } = given;
      oneOf("order", order as string, ["bytes", "letters"]);
      return { type, order };
    }
    case "choice":
    case "choices":
      return { type, choices: checkChoices(name, given["choices"]) };
    case "reference": {
      const node = String(given["node"]);
      if (!Object.hasOwn(nodes, node))
        throw invalid(`"${name}" refers to "${node}", and there is no such node type.${didYouMean(node, Object.keys(nodes))}`, {
          field: name,
          node,
        });
      const date = dateInId(model, node);
      if (date !== undefined)
        throw invalid(
          `"${name}" refers to "${node}", whose id holds the date "${date}": references take ids of texts and numbers. Give the id as a text field instead.`,
          { field: name, node, attribute: date },
        );
      return { type, node };
    }
    default:
      return { type };
  }
};

const checkName = (name: unknown, others: readonly StoredField[]): string => {
  const text = typeof name === "string" ? name.trim() : "";
  if (!isName(text)) throw invalid(`${jsonText(name)} is not a name: give a text of 1 to ${LONGEST_NAME} characters.`, { name });
  const taken = others.find((field) => field.name === text);
  if (taken)
    throw invalid(`There is a field "${text}" already (${taken.fieldId}). Give this one another name.`, {
      name: text,
      field: taken.fieldId,
    });
  return text;
};

const FIELD_ID = /^[\w-]{1,64}$/;

const newId = ({ fields, next }: FieldList, given: unknown): { readonly fieldId: string; readonly next: number } => {
  if (given === undefined) {
    let number = next;
    while (fields.some(({ fieldId }) => fieldId === `f${number}`)) number++;
    return { fieldId: `f${number}`, next: number + 1 };
  }
  // A document holds values by their fields' ids, and an object cannot hold one by this name.
  if (typeof given !== "string" || !FIELD_ID.test(given) || given === "__proto__")
    throw invalid(`${jsonText(given)} is not an id of a field: give 1 to 64 letters, digits, - and _, but not __proto__.`, {
      field: given,
    });
  if (fields.some(({ fieldId }) => fieldId === given))
    throw invalid(`There is a field with the id ${jsonText(given)} already. Give another one, or none.`, { field: given });
  return { fieldId: given, next };
};

const checkMembers = (given: Row, known: readonly string[]): void => {
  for (const member of namesIn(given, "the field")) oneOf("setting of a field", member, known);
};

const withDefault = (model: GridModel, field: Field, given: unknown): StoredField => {
  const { default: _default, ...bare } = field;
  if (isEmpty(given)) return bare;
  return { ...bare, default: checkValue(model.driver.catalog, field, given) } as StoredField;
};

/** Adds a field behind the others. */
const defineIn = (model: GridModel, list: FieldList, given: NewField): { readonly field: StoredField; readonly next: number } => {
  const { most = MOST_FIELDS } = model.settings;
  const name = checkName(given.name, list.fields);
  const settings = typeOf(model, name, given);
  checkMembers(given, [...MEMBERS, ...OWN_MEMBERS[settings["type"] as FieldType]]);
  if (list.fields.length >= most)
    throw new EdgetableError(
      "grid.tooManyFields",
      `"${name}" would be field ${list.fields.length + 1} of ${jsonText(list.parent)}, and ${most} is the limit. Delete a field first.`,
      {
        details: { parent: list.parent, fields: list.fields.length, most },
      },
    );
  const { fieldId, next } = newId(list, given.fieldId);
  // An id may have been used before by a field that was deleted: its values, if any are left, are of an earlier generation.
  const field = { fieldId, name, ...settings, required: given.required === true, generation: list.next } as StoredField;
  return { field: withDefault(model, field, given.default), next: Math.max(next, list.next + 1) };
};

/**
 * Adds several fields behind the others, in one change.
 *
 * @throws {grid.invalidField} {grid.tooManyFields}
 */
export const defineAll = (model: GridModel, list: FieldList, given: readonly NewField[]): FieldList => {
  let all = list;
  for (const one of given) {
    const { field, next } = defineIn(model, all, one);
    all = { ...all, fields: [...all.fields, field], next };
  }
  return all;
};

/** A field, as callers see it. */
const shownField = ({ other: _other, ...field }: StoredField): Field => field;

/** The changes of fields that touch their one item alone. Each reads it and writes it: two requests. */
interface Definitions {
  list(run: RunOptions): Promise<Changed<readonly Field[]>>;
  define(run: RunOptions, given: NewField): Promise<Changed<Field>>;
  change(run: RunOptions, fieldId: string, changes: FieldChanges): Promise<Changed<Field>>;
  move(run: RunOptions, fieldId: string, place: ColumnPlace): Promise<Changed<readonly Field[]>>;
}

/** The changes of a parent's fields. */
export const definitions = (model: GridModel, parent: Row): Definitions => {
  return {
    list: async (run) => {
      const context = model.driver.context(run);
      const list = await readList(model, parent, context);
      return { result: liveFields(list).map(shownField), cost: addCosts(NO_COST, context.meter.cost) };
    },
    define: (run, given) =>
      changeList(model, parent, run, (list) => {
        const { field, next } = defineIn(model, list, given);
        return { fields: [...list.fields, field], next, result: shownField(field) };
      }),
    change: (run, fieldId, changes) =>
      changeList(model, parent, run, (list) => {
        const before = fieldIn(list, fieldId);
        checkMembers({ ...changes }, ["name", "required", "default"]);
        const others = list.fields.filter((one) => one.fieldId !== before.fieldId);
        const name = changes.name === undefined ? before.name : checkName(changes.name, others);
        const changed: StoredField = { ...before, name, required: changes.required ?? before.required };
        const field = "default" in changes ? withDefault(model, changed, changes.default) : changed;
        return { fields: list.fields.map((one) => (one === before ? field : one)), result: shownField(field) };
      }),
    move: (run, fieldId, place) =>
      changeList(model, parent, run, (list) => {
        const moved = fieldIn(list, fieldId);
        const others = list.fields.filter((field) => field !== moved);
        let at: number;
        if (typeof place === "number") at = inRange("place", place, [0, list.fields.length - 1]);
        else {
          const beside = fieldIn(list, "before" in place ? place.before : place.after);
          // Beside itself, it stays where it is.
          at = beside === moved ? list.fields.indexOf(moved) : others.indexOf(beside) + ("before" in place ? 0 : 1);
        }
        const fields = others.toSpliced(at, 0, moved);
        return { fields, result: liveFields({ ...list, fields }).map(shownField) };
      }),
  };
};

/** A field with another type, before its values are converted. */
export const retyped = (model: GridModel, field: StoredField, given: NewFieldType): Field => {
  const settings = typeOf(model, field.name, given);
  checkMembers(given, ["type", ...OWN_MEMBERS[settings["type"] as FieldType]]);
  const { fieldId, name, required, generation } = field;
  return { fieldId, name, required, ...settings, generation } as Field;
};
