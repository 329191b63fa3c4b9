import type { CsvColumn, CsvField, CsvTarget } from "../client/csv-types.ts";
import type { Field, FieldType, NewField } from "../client/field-types.ts";
import { EdgetableError } from "../errors/edgetable-error.ts";
import { attributesOf, derivedNames } from "../schema/facts.ts";
import { declaredNames } from "../schema/standard-schema.ts";
import { namesIn } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { type FieldList, fieldIn, liveFields, type StoredField } from "./field-list.ts";
import { readText, splitChoices } from "./field-value.ts";
import type { GridModel } from "./grid-model.ts";
import { columnNamed } from "./grid-state.ts";

/** Where the cells of a column go. A new field without `given` has the type that its values have. */
export type ColumnTarget =
  | { readonly to: "attribute"; readonly name: string }
  | { readonly to: "field"; readonly field: StoredField }
  | { readonly to: "newField"; readonly name: string; readonly given: CsvField | undefined }
  | { readonly to: "ignored" };

/** A column of a file, and where its cells go. */
export interface TargetedColumn {
  readonly column: string;
  readonly target: ColumnTarget;
}

export const invalidCsv = (message: string, details: Row = {}): EdgetableError =>
  new EdgetableError("grid.invalidCsv", message, { details });

const targetOf = (model: GridModel, list: FieldList, column: string, asked: CsvTarget<string> | undefined): ColumnTarget => {
  const { definition } = model.node;
  if (asked === null) return { to: "ignored" };
  if (typeof asked === "object") {
    // An import that was cut off has defined its fields: the same call finds them.
    const known = liveFields(list).find(({ name }) => name === asked.name.trim());
    if (!known) return { to: "newField", name: asked.name, given: asked };
    if (known.type === asked.type) return { to: "field", field: known };
    throw invalidCsv(
      `The column ${jsonText(column)} asks for a new field ${jsonText(known.name)} of type ${asked.type}, and there is one of type ${known.type}. Leave out its type to use that field, give it the other type first (retype), or name another field.`,
      { column, field: known.fieldId, type: known.type },
    );
  }
  const name = asked ?? column;
  if (derivedNames(definition).includes(name)) return { to: "ignored" };
  // A schema that takes other attributes as well declares some: these are no new fields.
  const attributes = attributesOf(definition) ?? declaredNames(definition.schema);
  if (attributes?.includes(name) || model.node.idFields.includes(name)) return { to: "attribute", name };
  // The name of one field may be the id of another one.
  const fields = liveFields(list);
  const found = fields.find((field) => field.name === name) ?? fields.find(({ fieldId }) => fieldId === name);
  if (found && asked === undefined) return { to: "field", field: found };
  if (asked === undefined && !name.startsWith("field:")) return { to: "newField", name, given: undefined };
  if (name.startsWith("field:")) return { to: "field", field: fieldIn(list, name.slice("field:".length)) };
  const one = columnNamed(model, list, name);
  return one.kind === "field" ? { to: "field", field: one.field } : { to: "attribute", name };
};

const nameOf = (target: ColumnTarget): string | undefined => {
  switch (target.to) {
    case "attribute":
      return target.name;
    case "field":
      return `field:${target.field.fieldId}`;
    case "newField":
      return `field of the name ${target.name}`;
    default:
      return undefined;
  }
};

/** The names of the columns, as the first record has them. */
export const readHeader = (record: readonly string[]): readonly string[] => {
  const header = record.map((name) => name.replace(/^\uFEFF/, "").trim());
  if (header.every((name) => name === "")) throw invalidCsv("The file has no header: its first record must name the columns.");
  const unnamed = header.indexOf("");
  if (unnamed >= 0)
    throw invalidCsv(`Column ${unnamed + 1} has no name in the header. Name it, or remove the column.`, { place: unnamed + 1 });
  const twice = header.find((name, at) => header.indexOf(name) !== at);
  if (twice !== undefined) throw invalidCsv(`The header has two columns ${jsonText(twice)}. Rename one.`, { column: twice });
  const [only = ""] = header;
  const other = [";", "\t", "|"].find((one) => only.includes(one));
  if (header.length === 1 && other !== undefined)
    throw invalidCsv(`The header has one column, ${jsonText(only)}. If ${jsonText(other)} separates the columns, tell the parser so.`, {
      column: only,
    });
  return header;
};

/**
 * Finds where the columns of a file go.
 *
 * @throws {grid.invalidCsv} {grid.unknownField} {grid.unknownColumn}
 */
export const targetColumns = (
  model: GridModel,
  list: FieldList,
  header: readonly string[],
  asked: Readonly<Record<string, CsvTarget<string>>> = {},
): readonly TargetedColumn[] => {
  const missing = namesIn(asked, "columns").find((name) => !header.includes(name));
  if (missing !== undefined)
    throw invalidCsv(`The header has no column ${jsonText(missing)}.${didYouMean(missing, header)}`, { column: missing, header });
  const columns = header.map((column) => ({
    column,
    target: targetOf(model, list, column, Object.hasOwn(asked, column) ? asked[column] : undefined),
  }));
  const names = columns.map(({ target }) => nameOf(target));
  const twice = names.findIndex((name, at) => name !== undefined && names.indexOf(name) !== at);
  if (twice >= 0)
    throw invalidCsv(
      `The columns ${jsonText(header[names.indexOf(names[twice])])} and ${jsonText(header[twice])} both go to the ${names[twice]}. Map one of them to null to ignore it.`,
      {
        column: header[twice],
      },
    );
  const noId = model.node.idFields.find((id) => !names.includes(id) && !model.parent.idFields.includes(id));
  if (noId !== undefined)
    throw invalidCsv(
      `No column gives "${noId}", which names a row of "${model.node.name}".${didYouMean(noId, header)} Name a column so, or map one with columns: { "…": "${noId}" }.`,
      { attribute: noId, header },
    );
  return columns;
};

/** A field as it will be: to check values before it is defined. Undefined as long as its type or choices follow from the file. */
export const fieldOf = (target: ColumnTarget): Field | undefined => {
  if (target.to === "field") return target.field;
  if (target.to !== "newField" || !target.given) return undefined;
  const { given } = target;
  if ((given.type === "choice" || given.type === "choices") && !("choices" in given)) return undefined;
  return { order: "bytes", ...given, fieldId: "new", required: given.required === true, generation: 0 } as Field;
};

/** Few different texts are choices: at most so many of them, and each at least three times on average. */
const MOST_CHOICES = 50;
const TIMES = 3;
/** With so many, a field cannot be defined: the rest is not remembered. */
const REMEMBERED = 1001;
const LONGEST_CHOICE = 100;

const NO_CATALOG = undefined as never;
const probe = (type: "number" | "date" | "boolean"): Field => ({ type, fieldId: "", name: "", required: false, generation: 0 });
const PROBES = (["number", "date", "boolean"] as const).map(probe);

// 007, +4930123456 and 12345678901234567890 are names, not amounts: a number would not give them back.
const isAmount = (text: string): boolean =>
  /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) && text.replace(/\D/g, "").length <= 15;

/** Learns from the cells of a column which type its field should have. */
export interface Inference {
  see(text: string): void;
  readonly values: number;
  readonly example: string | undefined;
  type(): FieldType;
  choices(type: "choice" | "choices"): readonly string[];
}

/** Begins to infer the type of a column. */
export const inferType = (): Inference => {
  let values = 0;
  let example: string | undefined;
  let possible = PROBES;
  let parts = 0;
  let hasSeparator = false;
  let fitsChoices = true;
  const whole = new Set<string>();
  const single = new Set<string>();
  const areFew = (distinct: ReadonlySet<string>, count: number): boolean => distinct.size <= MOST_CHOICES && distinct.size * TIMES <= count;
  return {
    see: (text) => {
      const trimmed = text.trim();
      if (trimmed === "") return;
      values++;
      example ??= text;
      possible = possible.filter(
        (field) => readText(NO_CATALOG, field, trimmed) !== undefined && (field.type !== "number" || isAmount(trimmed)),
      );
      const split = splitChoices(text).map((part) => part.trim());
      parts += split.length;
      if (split.length > 1) hasSeparator = true;
      const tooLong = split.some((part) => part.length > LONGEST_CHOICE);
      if (new Set(split).size < split.length || tooLong || /[\r\n]/.test(trimmed)) fitsChoices = false;
      if (whole.size < REMEMBERED) whole.add(trimmed);
      for (const part of split) if (single.size < REMEMBERED) single.add(part);
    },
    get values() {
      return values;
    },
    get example() {
      return example;
    },
    type: () => {
      const [first] = possible;
      if (values === 0) return "text";
      if (first) return first.type;
      if (!fitsChoices) return "text";
      if (hasSeparator) return areFew(single, parts) ? "choices" : "text";
      return areFew(whole, values) ? "choice" : "text";
    },
    choices: (type) => [...(type === "choice" ? whole : single)],
  };
};

/** The new field of a column, as its values say. */
export const newFieldOf = (target: ColumnTarget, inference: Inference): NewField | undefined => {
  if (target.to !== "newField") return undefined;
  const given = target.given ?? { name: target.name, type: inference.type() };
  const needsChoices = (given.type === "choice" || given.type === "choices") && !("choices" in given);
  return (needsChoices ? { ...given, choices: inference.choices(given.type) } : given) as NewField;
};

/** A column, as the plan shows it. */
export const shownColumn = ({ column, target }: TargetedColumn, inference: Inference): CsvColumn => {
  const { values, example } = inference;
  const cells = { values, ...(example === undefined ? {} : { example }) };
  switch (target.to) {
    case "attribute":
      return { column, to: "attribute", name: target.name, ...cells };
    case "field": {
      const { name, fieldId, type } = target.field;
      return { column, to: "field", name, fieldId, type, ...cells };
    }
    case "newField": {
      const field = newFieldOf(target, inference);
      const choices = field && "choices" in field ? { choices: field.choices } : {};
      return {
        column,
        to: "newField",
        name: target.name,
        type: field?.type ?? "text",
        inferred: target.given === undefined,
        ...choices,
        ...cells,
      };
    }
    default:
      return { column, to: "ignored", ...cells };
  }
};
