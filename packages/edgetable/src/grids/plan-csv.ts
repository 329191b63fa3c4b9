import { createHash } from "node:crypto";
import type { CsvImportOptions, CsvMisfit, CsvSource } from "../client/csv-types.ts";
import type { FieldInput, NewField } from "../client/field-types.ts";
import { jobChecks } from "../client/job-options.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, type Cost, NO_COST } from "../executor/call.ts";
import { exactText } from "../keys/template.ts";
import { isExpired } from "../requests/decode-item.ts";
import { keyOf } from "../requests/encode-item.ts";
import type { OptionChecks } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { attributeReader, cellText, faultsIn, isNullIfEmpty } from "./csv-cells.ts";
import {
  fieldOf,
  inferType,
  type Inference,
  invalidCsv,
  newFieldOf,
  readHeader,
  targetColumns,
  type TargetedColumn,
} from "./csv-columns.ts";
import { defineAll } from "./define-fields.ts";
import { type FieldList, liveFields, readList } from "./field-list.ts";
import { readText, unfitText } from "./field-value.ts";
import { type GridModel, parentOf, readItems, rowIn } from "./grid-model.ts";
import { isSameValue } from "./json-cells.ts";
import { documentIn, documentItem, type RowDocument, usesDocuments } from "./row-document.ts";
import { nodeItem } from "./row-values.ts";

/** Records that are read, checked and written together: BatchGetItem takes 100 keys (ServiceQuotas). */
const STEP = 100;
/** Misfits that are named; all unfit rows are counted. */
const NAMED = 100;

export type Options = CsvImportOptions<string>;

export const optionChecks: OptionChecks<Options> = {
  columns: undefined,
  dryRun: "boolean",
  unfit: ["refuse", "skip"],
  empty: ["keep", "remove"],
  concurrency: [1, 100],
  onProgress: "function",
  lease: jobChecks.lease,
};

export interface Numbered {
  readonly record: number;
  readonly cells: readonly string[];
}

/** The records of a file behind its header, in steps. An empty line is none. */
export async function* readSteps(
  source: CsvSource,
): AsyncGenerator<{ readonly header: readonly string[]; readonly records: readonly Numbered[] }> {
  const given: unknown = typeof source === "function" ? source() : source;
  if (typeof given !== "object" || given === null || !(Symbol.asyncIterator in given || Symbol.iterator in given))
    throw new EdgetableError(
      "plan.invalidOption",
      `Expected records, or a function that begins to read them, got ${jsonText(given)}: such as () => createReadStream(file).pipe(parse()).`,
    );
  let header: readonly string[] | undefined;
  let records: Numbered[] = [];
  let record = 0;
  for await (const cells of given as AsyncIterable<unknown>) {
    if (!Array.isArray(cells) || !cells.every((cell) => typeof cell === "string"))
      throw invalidCsv(`Record ${record + 1} is ${jsonText(cells).slice(0, 80)}: have the parser give each record as a list of texts.`, {
        record: record + 1,
      });
    if (!header) {
      header = readHeader(cells);
      continue;
    }
    if (cells.length === 0 || (cells.length === 1 && cells[0] === "" && header.length > 1)) continue;
    records.push({ record: ++record, cells });
    if (records.length < STEP) continue;
    yield { header, records };
    records = [];
  }
  if (!header) throw invalidCsv("The file is empty: its first record must name the columns.");
  yield { header, records };
}

/** A record that fits, as what is to be written. */
export interface FittingRow {
  readonly record: number;
  readonly id: Row;
  /** Attributes of the row, with its parent's id. */
  readonly attributes: Row;
  /** The attributes as the schema makes them: what is stored is compared with these. */
  readonly made: Row;
  /** Optional attributes that are to be removed. */
  readonly removed: readonly string[];
  /** Attributes that are null for an empty cell. */
  readonly emptied: readonly string[];
  /** By the ids of fields that exist. */
  readonly given: Readonly<Record<string, FieldInput>>;
  readonly existing: Row | undefined;
  /** All its values, where its parent keeps them in documents. */
  readonly document: RowDocument | undefined;
}

/** One pass over the file. */
export interface Pass {
  readonly model: GridModel;
  readonly parent: Row;
  readonly options: Options;
  readonly readCell: ReturnType<typeof attributeReader>;
  readonly misfits: CsvMisfit[];
  unfit: number;
  rows: number;
  created: number;
  changed: number;
  cost: Cost;
}

export const beginPass = (model: GridModel, parent: Row, options: Options): Pass => ({
  model,
  parent,
  options,
  readCell: attributeReader(model.node.definition),
  misfits: [],
  unfit: 0,
  rows: 0,
  created: 0,
  changed: 0,
  cost: NO_COST,
});

type Note = Omit<CsvMisfit, "record">;

export const noteMisfits = (pass: Pass, record: number, notes: readonly Note[]): void => {
  if (notes.length > 0) pass.unfit++;
  for (const note of notes) if (pass.misfits.length < NAMED) pass.misfits.push({ record, ...note });
};

const LONGEST_SHOWN = 80;

const shown = (text: string): string => jsonText(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text);

/** Reads the cells of a record by themselves. */
const readRecord = async (
  { model, parent, options, readCell }: Pass,
  columns: readonly TargetedColumn[],
  { record, cells }: Numbered,
): Promise<{ readonly row: FittingRow; readonly notes: readonly Note[] }> => {
  const { driver, node } = model;
  const notes: Note[] = [];
  const attributes: Record<string, unknown> = { ...parent };
  const removed: string[] = [];
  const emptied: string[] = [];
  const given: Record<string, FieldInput> = {};
  // A row is named by what its schema makes of the id, and holds what it makes of the others.
  const made: Record<string, unknown> = { ...parent };
  const row = (): FittingRow => {
    const id = Object.fromEntries(node.idFields.map((field) => [field, made[field]]));
    return { record, id, attributes, made, removed, emptied, given, existing: undefined, document: undefined };
  };
  if (cells.length !== columns.length) {
    const message = `it has ${cells.length} ${cells.length === 1 ? "cell" : "cells"}, the header has ${columns.length}`;
    return { row: row(), notes: [{ problem: "cells", message }] };
  }
  for (const [at, { column, target }] of columns.entries()) {
    const text = cells[at] ?? "";
    if (target.to === "attribute") {
      const { name } = target;
      const misfit = (problem: Note["problem"], message: string): void =>
        void notes.push({ column, field: name, value: text, problem, message });
      if (Object.hasOwn(parent, name)) {
        if (text.trim() !== String(parent[name]) && text !== "")
          misfit("parent", `${name} is ${shown(text)}, and the parent's is ${jsonText(parent[name])}`);
      } else if (text === "") {
        if (node.idFields.includes(name)) misfit("id", `it has no ${name}, which names the row`);
        else if (await isNullIfEmpty(node.definition, name)) {
          attributes[name] = null;
          made[name] = null;
          emptied.push(name);
        } else if (options.empty === "remove") removed.push(name);
      } else {
        const read = await readCell(name, text);
        if ("value" in read) {
          attributes[name] = read.value;
          made[name] = read.made;
        } else misfit("value", `${shown(text)} is not a valid ${name}: ${read.fault}`);
      }
      continue;
    }
    const field = fieldOf(target);
    if (!field) continue;
    const { type, fieldId } = field;
    if (text === "") {
      if (options.empty === "remove" && target.to === "field") given[fieldId] = null;
      continue;
    }
    const value = readText(driver.catalog, field, text);
    if (value === undefined)
      notes.push({
        column,
        field: fieldId,
        type,
        value: text,
        problem: "value",
        message: `${shown(text)} ${unfitText(field, text)}`,
      });
    else if (target.to === "field") given[fieldId] = value;
  }
  const read = row();
  if (notes.some(({ problem }) => problem === "id")) return { row: read, notes };
  try {
    keyOf(driver.catalog, node.shape, read.id);
  } catch (error) {
    if (!isEdgetableError(error)) throw error;
    notes.push({ row: read.id, problem: "id", message: error.message });
  }
  return { row: read, notes: notes.map((note) => ({ row: read.id, ...note })) };
};

/** What is wrong with a row beside its cells: with what there is of it, or what it lacks. */
const checkWhole = async (
  { model, parent }: Pass,
  { row, list, columns }: { readonly row: FittingRow; readonly list: FieldList; readonly columns: readonly TargetedColumn[] },
): Promise<readonly Note[]> => {
  const { definition } = model.node;
  const { id, existing, attributes, made, given } = row;
  const columnOf = (attribute: string): string | undefined =>
    columns.find(({ target }) => target.to === "attribute" && target.name === attribute)?.column;
  const note = (problem: Note["problem"], attribute: string, message: string): Note => {
    const column = columnOf(attribute);
    return { row: id, field: attribute, problem, message, ...(column === undefined ? {} : { column }) };
  };
  if (existing) {
    if (exactText(parentOf(model, existing)) !== exactText(parent))
      return [{ row: id, problem: "parent", message: `the row is one of ${jsonText(parentOf(model, existing))}` }];
    return (definition.immutable ?? [])
      .filter((name) => Object.hasOwn(made, name) && !isSameValue(made[name], existing[name]))
      .map((name) =>
        note("value", name, `${name} cannot change: it is ${jsonText(existing[name])}, and the file has ${jsonText(made[name])}`),
      );
  }
  const faults = await faultsIn(definition, attributes);
  const notes = faults.map(({ attribute, message }) =>
    note(Object.hasOwn(attributes, attribute) ? "value" : "missing", attribute, `${attribute}: ${message}`),
  );
  const lacking = liveFields(list).filter(
    (field) =>
      field.required && field.default === undefined && (Object.hasOwn(given, field.fieldId) ? given[field.fieldId] : null) === null,
  );
  for (const { fieldId, type, name } of lacking)
    notes.push({
      row: id,
      field: fieldId,
      type,
      problem: "missing",
      message: `the field "${name}" is required, and a new row has no value of it`,
    });
  return notes;
};

/** The attributes of a row whose cells say what it holds: as a text, a cell may fit a value of another type. */
const keptBy = (columns: readonly TargetedColumn[], cells: readonly string[], existing: Row | undefined): Row =>
  Object.fromEntries(
    columns.flatMap(({ target }, at) => {
      const value = target.to === "attribute" ? existing?.[target.name] : undefined;
      return target.to === "attribute" && value !== undefined && cellText(value) === cells[at] ? [[target.name, value]] : [];
    }),
  );

/** Checks records against what there is. Gives those that fit, and notes the others. */
export const checkStep = async (
  pass: Pass,
  {
    records,
    list,
    columns,
    consistent,
  }: {
    readonly records: readonly Numbered[];
    readonly list: FieldList;
    readonly columns: readonly TargetedColumn[];
    readonly consistent: boolean;
  },
  signal: AbortSignal | undefined,
): Promise<readonly FittingRow[]> => {
  const { model } = pass;
  const read = [];
  for (const record of records) read.push(await readRecord(pass, columns, record));
  const readable = read.filter(({ notes }) => !notes.some(({ problem }) => problem === "id" || problem === "cells"));
  // A write to a document adds to its values.
  const readsDocuments = consistent && usesDocuments(list.storage);
  const asked = new Map(readable.map(({ row }) => [row, { node: nodeItem(model, row.id), document: documentItem(model, row.id) }]));
  const context = model.driver.context(signal ? { signal } : {});
  const find = await readItems(
    model,
    { asked: [...asked.values()].flatMap(({ node, document }) => (readsDocuments ? [node, document] : [node])), consistent },
    context,
  );
  pass.cost = addCosts(pass.cost, context.meter.cost);
  const fitting: FittingRow[] = [];
  for (const [at, { row, notes: found }] of read.entries()) {
    const items = asked.get(row);
    if (!items) {
      noteMisfits(pass, row.record, found);
      continue;
    }
    const document = readsDocuments ? documentIn(rowIn(model, items.document, find(items.document))) : undefined;
    const item = find(items.node);
    const existing = item && !isExpired(model.driver.catalog, item, context.livingAt) ? rowIn(model, items.node, item) : undefined;
    const kept = keptBy(columns, records[at]?.cells ?? [], existing);
    // An empty cell leaves an existing row as it is.
    const passed = existing && pass.options.empty !== "remove" ? row.emptied : [];
    const without = (given: Row): Row => ({
      ...Object.fromEntries(Object.entries(given).filter(([name]) => !passed.includes(name))),
      ...kept,
    });
    const whole = { ...row, attributes: without(row.attributes), made: without(row.made), document, existing };
    const notes = found.filter(({ field }) => field === undefined || !Object.hasOwn(kept, field));
    const others = (await checkWhole(pass, { row: whole, list, columns })).filter(
      (one) => !notes.some(({ field }) => field !== undefined && field === one.field),
    );
    noteMisfits(pass, row.record, [...notes, ...others]);
    if (notes.length + others.length === 0) fitting.push(whole);
  }
  return fitting;
};

export const refuseUnfit = (pass: Pass, written: boolean): EdgetableError => {
  const { unfit, rows, misfits } = pass;
  const named = misfits
    .slice(0, 3)
    .map(({ record, column, message }) => `record ${record}${column === undefined ? "" : `, ${jsonText(column)}`}: ${message}`);
  const end = written
    ? "Something changed since the file was checked: rows before these are written. Correct these, and call again."
    : 'Correct them, or leave them out with { unfit: "skip" }. Nothing was written.';
  return new EdgetableError(
    "grid.unfitRows",
    `${unfit} of ${rows} rows do not fit: ${named.join("; ")}${misfits.length > named.length ? " and others" : ""}. ${end}`,
    {
      details: { unfit, rows, misfits },
    },
  );
};

/** The plan of an import: what a pass without writing found. */
export interface Plan {
  readonly pass: Pass;
  readonly columns: readonly TargetedColumn[];
  readonly inferences: readonly Inference[];
  readonly newFields: readonly NewField[];
  readonly fingerprint: string;
}

export const planImport = async (pass: Pass, source: CsvSource, signal: AbortSignal | undefined): Promise<Plan> => {
  const { model, parent, options } = pass;
  const context = model.driver.context(signal ? { signal } : {});
  const list = await readList(model, parent, context);
  pass.cost = addCosts(pass.cost, context.meter.cost);
  const hash = createHash("sha256").update(exactText(options.columns ?? {}));
  let columns: readonly TargetedColumn[] = [];
  let inferences: readonly Inference[] = [];
  const created = new Set<string>();
  for await (const { header, records } of readSteps(source)) {
    if (columns.length === 0) {
      columns = targetColumns(model, list, header, options.columns);
      inferences = columns.map(inferType);
      hash.update(JSON.stringify(header));
    }
    for (const { cells } of records) {
      hash.update(JSON.stringify(cells));
      if (cells.length === columns.length) for (const [at, text] of cells.entries()) inferences[at]?.see(text);
    }
    const fitting = await checkStep(pass, { records, list, columns, consistent: false }, signal);
    for (const { existing, id } of fitting) {
      const isChanged = existing !== undefined || created.has(exactText(id));
      if (isChanged) pass.changed++;
      else pass.created++;
      // A later record of a row changes it. An import counts what it finds when it writes.
      if (!isChanged && options.dryRun) created.add(exactText(id));
    }
    pass.rows += records.length;
    options.onProgress?.({ step: "plan", rows: pass.rows, requests: pass.cost.requests });
  }
  const newFields = columns.flatMap(({ target }, at) => {
    const inference = inferences[at];
    const field = inference && newFieldOf(target, inference);
    return field ? [field] : [];
  });
  defineAll(model, list, newFields);
  return { pass, columns, inferences, newFields, fingerprint: hash.digest("hex") };
};
