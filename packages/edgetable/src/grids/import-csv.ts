import type { CsvImport, CsvSource } from "../client/csv-types.ts";
import type { OwnJob } from "../client/job-options.ts";
import { runOwnJob } from "../client/run-jobs.ts";
import { nodeWrites } from "../client/writes.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, NO_COST, type RunOptions } from "../executor/call.ts";
import { backOff, type CallContext } from "../executor/session.ts";
import { exactText } from "../keys/template.ts";
import { checkOptions } from "../util/check-options.ts";
import { hexHashOf } from "../util/hash-text.ts";
import type { Row } from "../util/row.ts";
import { inferType, shownColumn, type TargetedColumn } from "./csv-columns.ts";
import { defineAll } from "./define-fields.ts";
import { changeList, type FieldList, fieldIn, liveFields, readList } from "./field-list.ts";
import { type GridModel, readItems, rowIn } from "./grid-model.ts";
import { isSameValue } from "./json-cells.ts";
import {
  beginPass,
  checkStep,
  type FittingRow,
  noteMisfits,
  type Numbered,
  optionChecks,
  type Options,
  type Pass,
  type Plan,
  planImport,
  readSteps,
  refuseUnfit,
} from "./plan-csv.ts";
import { usesDocuments } from "./row-document.ts";
import { checkGiven, completed, isStill, nodeItem, type Values, writeValues, type WrittenValues } from "./row-values.ts";

/** The ids of the fields that an import has defined, by their names in the file: they may have other names when it is resumed. */
type Defined = Readonly<Record<string, string>>;

/** Defines the new fields that are not defined yet in one write, and gives the columns with the ids of all fields. */
const defineFields = async (pass: Pass, plan: Plan, defined: Defined, run: RunOptions): Promise<readonly TargetedColumn[]> => {
  const { model, parent } = pass;
  if (plan.newFields.length === 0) return plan.columns;
  const missing = plan.newFields.filter(({ name }) => !Object.hasOwn(defined, name.trim()));
  const { result, cost } = await changeList(model, parent, run, (list) => {
    if (missing.length === 0) return { result: list };
    const { fields, next } = defineAll(model, list, missing);
    return { fields, next, result: { ...list, fields, next } };
  });
  pass.cost = addCosts(pass.cost, cost);
  return plan.columns.map(({ column, target }): TargetedColumn => {
    if (target.to !== "newField") return { column, target };
    const name = target.name.trim();
    const id = Object.hasOwn(defined, name) ? defined[name] : undefined;
    const field = id === undefined ? liveFields(result).find((one) => one.name === name) : fieldIn(result, id);
    return field ? { column, target: { to: "field", field } } : { column, target };
  });
};

/** Where the import stands while a step is written. */
interface Writing {
  readonly pass: Pass;
  readonly job: OwnJob;
  readonly run: RunOptions;
}

interface WrittenRow {
  readonly values: Values;
  /** Undefined where others changed what was read. */
  readonly written: WrittenValues | undefined;
}

/** Writes a row and its values; undefined where the row has to be read again. */
const writeRow = async ({ pass, job, run }: Writing, row: FittingRow, list: FieldList): Promise<WrittenRow | undefined> => {
  const { model } = pass;
  const { id, existing, attributes, made, removed, given, document } = row;
  const writes = nodeWrites(model.driver, model.node);
  let seen = { row: existing ?? { ...attributes, ...id }, list, document };
  let asked = given;
  if (!existing) {
    // A new row has the defaults, and no values that could be removed; that a required one is missing is found.
    const required = new Set(liveFields(list).flatMap((field) => (field.required ? [field.fieldId] : [])));
    const values = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    const all = Object.entries(completed(seen, values));
    asked = Object.fromEntries(all.filter(([fieldId, value]) => value !== null || required.has(fieldId)));
  }
  const values = checkGiven(model, seen, asked);
  job.check();
  const set = Object.fromEntries(
    Object.entries(attributes).filter(([name]) => !Object.hasOwn(id, name) && !isSameValue(made[name], existing?.[name])),
  );
  const gone = removed.filter((name) => existing?.[name] !== undefined);
  if (!existing || Object.keys(set).length + gone.length > 0) {
    const call = existing
      ? writes.update(id, gone.length > 0 ? { set, remove: gone } : set)
      : writes.create(attributes, { idempotent: true });
    const outcome = await call.run(run);
    pass.cost = addCosts(pass.cost, outcome.cost);
    if (!outcome.ok && (outcome.reason === "exists" || outcome.reason === "notFound")) return undefined;
    if (!outcome.ok)
      throw new EdgetableError("execute.notWritten", `the row was not written: ${outcome.reason}`, { details: { ...outcome } });
    // The values follow the row as it is stored: its schema may have made something else of the cells.
    if (!existing && outcome.row) seen = { ...seen, row: outcome.row };
  }
  if (values.size === 0) return { values, written: { atomic: undefined, cost: NO_COST, withdraw: async () => NO_COST } };
  const written = await writeValues(model, seen, { values, run, context: model.driver.context(run) });
  if (written) pass.cost = addCosts(pass.cost, written.cost);
  return { values, written };
};

/** Writes rows, a few at a time. Gives what was written of each; a row that cannot be written is noted. */
const writeRows = async (
  writing: Writing,
  rows: readonly FittingRow[],
  list: FieldList,
): Promise<ReadonlyMap<FittingRow, WrittenRow | undefined>> => {
  const { pass } = writing;
  const { concurrency = 16 } = pass.options;
  const written = new Map<FittingRow, WrittenRow | undefined>();
  const left = rows.values();
  const work = async (): Promise<void> => {
    for (const row of left) {
      try {
        written.set(row, await writeRow(writing, row, list));
      } catch (error) {
        const isOfRow = isEdgetableError(error) && /^(?:grid[.]invalidValue|execute[.]notWritten|schema[.]|keys[.])/.test(error.code);
        if (!isOfRow) throw error;
        noteMisfits(pass, row.record, [{ row: row.id, problem: "notWritten", message: error.message }]);
      }
    }
  };
  const all = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const failed = all.find((one) => one.status === "rejected");
  if (failed) throw failed.reason;
  return written;
};

const PAUSES = { baseDelay: 10, maxDelay: 500 };

/** The first record of each row, and those that write a row again: several texts may name one row, such as 1 and 01. */
const splitRepeats = async (
  { model, readCell }: Pass,
  records: readonly Numbered[],
  place: number,
): Promise<{ readonly now: readonly Numbered[]; readonly later: readonly Numbered[] }> => {
  const name = model.node.idFields.at(-1) ?? "";
  const seen = new Set<string>();
  const now: Numbered[] = [];
  const later: Numbered[] = [];
  for (const one of records) {
    const text = one.cells[place] ?? "";
    const read = await readCell(name, text);
    const id = exactText("made" in read ? read.made : text);
    if (seen.has(id)) later.push(one);
    else now.push(one);
    seen.add(id);
  }
  return { now, later };
};

/**
 * Writes a step: as `setValues`, it reads the fields and rows, writes, and reads both again, once for all rows. Rows whose
 * fields changed meanwhile are written anew.
 */
const writeStep = async (writing: Writing, records: readonly Numbered[], bound: readonly TargetedColumn[]): Promise<void> => {
  const { pass, job } = writing;
  const { model, parent, options } = pass;
  const { session } = model.driver;
  let left = records;
  const made = new Set<number>();
  let limit: CallContext | undefined;
  for (let attempt = 0; left.length > 0; attempt++) {
    job.check();
    const context = model.driver.context({ signal: job.signal });
    const list = await readList(model, parent, context);
    const columns = bound.map(({ column, target }): TargetedColumn =>
      target.to === "field" ? { column, target: { to: "field", field: fieldIn(list, target.field.fieldId) } } : { column, target },
    );
    const { unfit } = pass;
    const named = pass.misfits.length;
    const rows = await checkStep(pass, { records: left, list, columns, consistent: true }, job.signal);
    if (pass.unfit > unfit && options.unfit !== "skip") throw refuseUnfit(pass, true);
    // A document that was read after the fields may hold values of newer ones.
    if (usesDocuments(list.storage) && (await readList(model, parent, context)).version !== list.version) {
      pass.unfit = unfit;
      pass.misfits.length = named;
      continue;
    }
    const written = await writeRows(writing, rows, list);
    if (pass.unfit > unfit && options.unfit !== "skip") throw refuseUnfit(pass, true);
    const asked = new Map([...written.keys()].map((row) => [row, nodeItem(model, row.id)]));
    const find = await readItems(model, { asked: [...asked.values()], consistent: true }, context);
    const now = await readList(model, parent, context);
    pass.cost = addCosts(pass.cost, context.meter.cost);
    const again = new Set<number>();
    for (const [row, done] of written) {
      const item = asked.get(row);
      const there = item && rowIn(model, item, find(item));
      const after = there && { row: there, list: now, document: undefined };
      if (done?.written && isStill(list, done.values, after)) {
        if (row.existing && !made.has(row.record)) pass.changed++;
        else pass.created++;
        continue;
      }
      if (done?.written) pass.cost = addCosts(pass.cost, await done.written.withdraw(after));
      if (done && !row.existing) made.add(row.record);
      again.add(row.record);
    }
    left = left.filter(({ record }) => again.has(record));
    limit ??= model.driver.context({ signal: job.signal });
    if (left.length > 0 && !(await backOff(session.effects, PAUSES, attempt, limit)))
      throw new EdgetableError(
        "execute.conflict",
        "Others kept changing the rows or their fields until the deadline. Call again to resume.",
        { retryable: true },
      );
  }
};

const resultOf = (plan: Plan, pass: Pass, written: boolean, columns = plan.columns): CsvImport => ({
  columns: columns.map((one, at) => shownColumn(one, plan.inferences[at] ?? inferType())),
  rows: plan.pass.rows,
  created: pass.created,
  changed: pass.changed,
  unfit: pass.unfit,
  misfits: pass.misfits,
  written,
  cost: pass === plan.pass ? pass.cost : addCosts(plan.pass.cost, pass.cost),
});

/** Reads CSV into a grid: plans, and then writes as a job, which the same call resumes. */
export const importCsv = async (
  model: GridModel,
  parent: Row,
  { source, options: given, run }: { readonly source: CsvSource; readonly options: Options; readonly run: RunOptions },
): Promise<CsvImport> => {
  const options = checkOptions(given, optionChecks);
  const plan = await planImport(beginPass(model, parent, options), source, run.signal);
  if (options.dryRun) return resultOf(plan, plan.pass, false);
  if (plan.pass.unfit > 0 && options.unfit !== "skip") throw refuseUnfit(plan.pass, false);
  const name = `import ${model.node.name} ${hexHashOf(exactText(parent))}`;
  const { fingerprint } = plan;
  const { lease } = options;
  return runOwnJob(model.driver, name, {
    options: { fingerprint, ...(lease === undefined ? {} : { lease }), ...(run.signal ? { signal: run.signal } : {}) },
    work: async (job) => {
      const pass = beginPass(model, parent, options);
      const { position = 0, created = 0, changed = 0, unfit = 0 } = job.saved as Readonly<Record<string, number>>;
      const { fields = "{}" } = job.saved as Readonly<Record<string, string>>;
      Object.assign(pass, { created, changed, unfit });
      const writing: Writing = { pass, job, run: { signal: job.signal } };
      const defined = JSON.parse(fields) as Record<string, string>;
      const bound = await defineFields(pass, plan, defined, writing.run);
      for (const [at, { target }] of plan.columns.entries()) {
        const now = bound[at]?.target;
        if (target.to === "newField" && now?.to === "field") defined[target.name.trim()] = now.field.fieldId;
      }
      const save = (): void =>
        job.save({
          position: Math.max(position, pass.rows),
          created: pass.created,
          changed: pass.changed,
          unfit: pass.unfit,
          fields: JSON.stringify(defined),
        });
      save();
      const idPlace = bound.findIndex(({ target }) => target.to === "attribute" && target.name === model.node.idFields.at(-1));
      for await (const { records } of readSteps(source)) {
        let rest: readonly Numbered[] = records.filter(({ record }) => record > position);
        while (rest.length > 0) {
          const { now, later } = await splitRepeats(pass, rest, idPlace);
          await writeStep(writing, now, bound);
          rest = later;
        }
        pass.rows += records.length;
        if (pass.rows > position) save();
        options.onProgress?.({ step: "write", rows: pass.rows, requests: plan.pass.cost.requests + pass.cost.requests });
      }
      return resultOf(plan, pass, true, bound);
    },
  });
};
