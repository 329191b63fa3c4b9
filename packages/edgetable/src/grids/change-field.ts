import { runOwnJob } from "../client/run-jobs.ts";
import { INDEX_LAG } from "../client/job-options.ts";
import type { OwnJob } from "../client/job-options.ts";
import type { FieldLoss, FieldProgress, RetypeOptions, RetypeResult } from "../client/grid-types.ts";
import type { Field, FieldValue, NewFieldType } from "../client/field-types.ts";
import { partWrites } from "../client/writes.ts";
import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { addCosts, type Cost, NO_COST, type RunOptions } from "../executor/call.ts";
import { exactText } from "../keys/template.ts";
import type { ValueStorage } from "../schema/definition.ts";
import type { Key } from "../transport/operations.ts";
import { hexHashOf } from "../util/hash-text.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { retyped } from "./define-fields.ts";
import { changeList, type FieldList, fieldIn, readList, type StoredField } from "./field-list.ts";
import { convert, isEmpty, placeIn, sortText } from "./field-value.ts";
import { columnOf, type GridModel, readItems, rowIn } from "./grid-model.ts";
import { isSameValue } from "./json-cells.ts";
import {
  costOfWrite,
  documentIn,
  documentItem,
  type RowDocument,
  type Stored,
  storedIn,
  type StoredValue,
  valueItem,
  writeDocument,
} from "./row-document.ts";
import { byField, ownOrder, readStream } from "./row-streams.ts";

/** Values that one step of a job reads and writes. */
const STEP = 100;
/** Losses that are named; all are counted. */
const NAMED = 100;

/** One change of a field that touches its values, under way. */
interface Change {
  readonly model: GridModel;
  readonly parent: Row;
  readonly fieldId: string;
  readonly job: OwnJob;
  readonly indexLag: number;
  readonly onProgress: ((progress: FieldProgress) => void) | undefined;
  cost: Cost;
  values: number;
  /** Where the parent's values are. */
  at: ValueStorage;
}

/** A value with its place in its column, or the document that holds it. */
interface PlacedValue extends Stored {
  readonly id: Row;
  readonly in: StoredValue | RowDocument;
}

/**
 * Reads the values of a field, in steps: those that the index finds or, where rows have documents, those of all rows of the
 * parent, for the index follows documents late. A value is what its item holds now.
 */
async function* valuesOf(change: Change, field: StoredField): AsyncGenerator<readonly PlacedValue[]> {
  const { model, parent, job } = change;
  const inDocuments = change.at === "document";
  const stream = inDocuments
    ? ownOrder(model, parent, { forward: true, rows: "all", where: {} })
    : byField(model, parent, { field, bounds: {}, forward: true });
  let after: Key | undefined;
  do {
    job.check();
    // Each step is a call with the connection's own deadline.
    const context = change.model.driver.context({ signal: change.job.signal });
    const { candidates, next } = await readStream(model, stream, { limit: STEP, after }, context);
    const asked = candidates.map(({ id }) => (inDocuments ? documentItem(model, id) : valueItem(model, id, field.fieldId)));
    const find = await readItems(model, { asked, consistent: true }, context);
    change.cost = addCosts(change.cost, context.meter.cost);
    yield asked.flatMap((one, at): readonly PlacedValue[] => {
      const row = rowIn(model, one, find(one));
      const place = inDocuments ? documentIn(row) : storedIn(row);
      const stored = place && ("values" in place ? place.values.get(field.fieldId) : place);
      const id = candidates[at]?.id;
      return place && stored?.generation === field.generation && id ? [{ ...stored, id, in: place }] : [];
    });
    after = next;
  } while (after !== undefined);
}

/** @throws {execute.aborted} {job.busy} which say how to resume */
const waitForIndex = async ({ model, indexLag, job }: Change): Promise<void> => {
  await model.driver.session.effects.sleep(indexLag, job.signal).catch(() => undefined);
  job.check();
};

/** Works on the values of a field until none is found: the index then shows everything that was written before. */
const untilNone = async (change: Change, field: StoredField, work: (one: PlacedValue) => Promise<Cost>): Promise<void> => {
  for (;;) {
    let found = 0;
    await waitForIndex(change);
    for await (const values of valuesOf(change, field)) {
      change.job.check();
      found += values.length;
      for (const cost of await Promise.all(values.map(work))) change.cost = addCosts(change.cost, cost);
      change.values += values.length;
      change.onProgress?.({ values: change.values, requests: change.cost.requests });
    }
    if (found === 0) return;
  }
};

/** @throws {grid.retyping} while a migration moves the values, or where it has moved them since the job began */
const checkStorage = ({ at, fieldId }: Change, { storage, parent }: FieldList): void => {
  if (storage.to === undefined && storage.at === at) return;
  throw new EdgetableError(
    "grid.retyping",
    `The values of ${exactText(parent)} are being moved to another storage. Try again when the migration is done.`,
    { retryable: true, details: { field: fieldId, parent } },
  );
};

const changeField = async (
  change: Change,
  next: (field: StoredField, list: FieldList) => StoredField | undefined,
): Promise<StoredField | undefined> => {
  const { model, parent, fieldId, job } = change;
  job.check();
  const { result, cost } = await changeList(model, parent, { signal: job.signal }, (list) => {
    checkStorage(change, list);
    const field = list.fields.find((one) => one.fieldId === fieldId);
    const changed = field && next(field, list);
    const fields = list.fields.flatMap((one) => (one === field ? (changed ?? []) : one));
    const most = Math.max(list.next, ...fields.flatMap((one) => [one.generation + 1, (one.other?.generation ?? 0) + 1]));
    return { fields, next: most, result: changed };
  });
  change.cost = addCosts(change.cost, cost);
  return result;
};

const bare = ({ state: _state, other: _other, ...field }: StoredField): StoredField => field;

/** What a value becomes; undefined where it does not survive. */
const survivor = ({ model }: Change, from: Field, to: Field, value: FieldValue["value"]): FieldValue["value"] | undefined => {
  const made = convert(model.driver.catalog, from, to, value);
  return made === undefined || isEmpty(made) ? undefined : (made as FieldValue["value"]);
};

const lossesOf = async (
  change: Change,
  from: StoredField,
  to: Field,
): Promise<{ readonly losses: readonly FieldLoss[]; readonly lost: number; readonly values: number }> => {
  const losses: FieldLoss[] = [];
  let [lost, values] = [0, 0];
  for await (const some of valuesOf(change, from))
    for (const { id, value } of some) {
      values++;
      if (survivor(change, from, to, value) !== undefined) continue;
      lost++;
      if (losses.length < NAMED) losses.push({ row: id, value });
    }
  return { losses, lost, values };
};

const isSameType = (a: Field, b: Field): boolean => {
  const typeOf = ({
    fieldId: _id,
    name: _name,
    required: _required,
    generation: _generation,
    default: _default,
    ...type
  }: Field): unknown => type;
  return isSameValue(typeOf(bare(a)), typeOf(bare(b)));
};

/** Checks that all values survive, while writers make sure that new ones do too. */
const checkAll = async (change: Change, to: Field): Promise<void> => {
  const field = await changeField(change, (one, list) => ({ ...one, state: "checking", other: { ...to, generation: list.next } }));
  if (!field) return;
  await waitForIndex(change);
  const found = await lossesOf(change, field, to);
  if (found.lost === 0) return;
  await changeField(change, bare);
  const { losses, lost, values } = found;
  const shown = losses.slice(0, 3).map(({ row, value }) => `${jsonText(value)} of ${jsonText(row)}`);
  throw new EdgetableError(
    "grid.lostValues",
    `${lost} of ${values} values of the ${field.type} field "${field.name}" (${field.fieldId}) do not fit the type ${to.type}: ${shown.join(", ")}${lost > shown.length ? " and others" : ""}. Correct them, or remove them with { losing: "remove" }. Nothing was changed.`,
    { details: { field: field.fieldId, from: field.type, to: to.type, lost, values, losses } },
  );
};

/** Gives the values of the type before the new type. */
const convertAll = async (change: Change, field: StoredField, from: StoredField): Promise<void> => {
  const { model, parent } = change;
  const { driver } = model;
  const writes = partWrites(driver, model.value);
  const column = columnOf(model, parent, field);
  await untilNone(change, from, async ({ id, value, in: place }) => {
    const to = survivor(change, from, field, value);
    if ("values" in place) return replaceIn(change, id, place, to === undefined ? undefined : { generation: field.generation, value: to });
    const guard = { if: { generation: from.generation, value: { eq: value } } };
    const run = { signal: change.job.signal };
    if (to === undefined) return costOfWrite(writes.delete(id, { fieldId: field.fieldId }, guard).run(run));
    const row = {
      fieldId: field.fieldId,
      generation: field.generation,
      value: to,
      column,
      sort: sortText(driver.catalog, field, to, placeIn(from, place.sort)),
    };
    return costOfWrite(writes.put(id, row, guard).run(run));
  });
};

/** Replaces the value of the field in a document, or takes it away. A document that others changed is left to the next pass. */
const replaceIn = async ({ model, fieldId, job }: Change, id: Row, document: RowDocument, to: Stored | undefined): Promise<Cost> => {
  const values = new Map(document.values);
  if (to) values.set(fieldId, to);
  else values.delete(fieldId);
  const written = await writeDocument(model, id, { before: document, epoch: document.epoch, values }, { signal: job.signal });
  return written?.cost ?? NO_COST;
};

interface Ask {
  readonly run: RunOptions;
  readonly fieldId: string;
  readonly indexLag: number | undefined;
  readonly onProgress: Change["onProgress"];
}

/** Errors of a change that was not made. A field that is between two types says so itself. */
const REFUSALS: readonly string[] = ["grid.lostValues", "grid.retyping", "grid.unknownField"];

const runFieldChange = async <Result>(
  model: GridModel,
  parent: Row,
  { ask, what, fingerprint, at }: Pick<Change, "at"> & { readonly ask: Ask; readonly what: string; readonly fingerprint: string },
  work: (change: Change) => Promise<Result>,
): Promise<Result> => {
  const { run, fieldId, indexLag = INDEX_LAG, onProgress } = ask;
  const options = { fingerprint, ...(run.signal ? { signal: run.signal } : {}) };
  const name = `${what} ${model.node.name} ${fieldId} ${hexHashOf(exactText(parent)).slice(0, 32)}`;
  const ended = await runOwnJob<{ readonly result: Result } | EdgetableError>(model.driver, name, {
    options,
    work: async (job) => {
      try {
        return { result: await work({ model, parent, fieldId, job, indexLag, onProgress, cost: NO_COST, values: 0, at }) };
      } catch (error) {
        // An error that the work throws keeps the job, to be resumed. After a refusal there is nothing to resume.
        if (isEdgetableError(error) && REFUSALS.includes(error.code)) return error;
        throw error;
      }
    },
  });
  if (ended instanceof EdgetableError) throw ended;
  return ended.result;
};

/**
 * Gives a field another type. All values are checked first, and then converted. Concurrent writers may only write values that survive.
 * The same call resumes one that was cut off.
 */
export const retypeField = async (
  model: GridModel,
  parent: Row,
  ask: Ask & { readonly to: NewFieldType; readonly options: RetypeOptions },
): Promise<RetypeResult> => {
  const { to: given, options } = ask;
  const list = await readList(model, parent, model.driver.context(ask.run));
  const field = fieldIn(list, ask.fieldId);
  const to = retyped(model, field, given);
  const wanted = field.state === "converting" ? field : field.state === "checking" ? field.other : undefined;
  if (wanted && !isSameType(wanted, to))
    throw new EdgetableError(
      "grid.retyping",
      `"${field.name}" (${field.fieldId}) is being changed to ${wanted.type}. First resume that change with the same call.`,
      { retryable: true, details: { field: field.fieldId } },
    );
  const what = { ask, what: "retype", fingerprint: exactText(given).slice(0, 1000), at: list.storage.at };
  return runFieldChange(model, parent, what, async (change) => {
    checkStorage(change, list);
    if (options.dryRun) return { ...(await lossesOf(change, field, to)), field: bare(field), cost: change.cost };
    if (field.state !== "converting") {
      if (isSameType(field, to)) return { losses: [], lost: 0, values: 0, field: bare(field), cost: change.cost };
      if (options.losing !== "remove") await checkAll(change, to);
    }
    const converting = await changeField(change, (one, list) => {
      if (one.state === "converting") return one;
      const { default: value, ...settings } = one;
      const kept = value === undefined ? undefined : survivor(change, one, to, value);
      const { fieldId, name, required } = settings;
      return {
        ...to,
        fieldId,
        name,
        required,
        generation: list.next,
        ...(kept === undefined ? {} : { default: kept }),
        state: "converting",
        other: bare(one),
      } as StoredField;
    });
    if (!converting?.other)
      throw new EdgetableError("grid.unknownField", `The field ${jsonText(ask.fieldId)} was deleted meanwhile.`, {
        details: { field: ask.fieldId },
      });
    await convertAll(change, converting, converting.other);
    const done = await changeField(change, bare);
    return { losses: [], lost: 0, values: change.values, field: done ?? bare(converting), cost: change.cost };
  });
};

/** Deletes a field and its values. The same call resumes one that was cut off. */
export const deleteField = async (model: GridModel, parent: Row, ask: Ask): Promise<{ readonly values: number; readonly cost: Cost }> => {
  const list = await readList(model, parent, model.driver.context(ask.run));
  // One that is being deleted is hidden from everyone else.
  if (!list.fields.some(({ fieldId, state }) => fieldId === ask.fieldId && state === "deleting")) fieldIn(list, ask.fieldId);
  return runFieldChange(model, parent, { ask, what: "delete-field", fingerprint: "", at: list.storage.at }, async (change) => {
    const field = await changeField(change, (one) => ({ ...one, state: "deleting" }));
    if (!field) return { values: 0, cost: change.cost };
    const writes = partWrites(model.driver, model.value);
    for (const one of [...(field.other ? [field.other as StoredField] : []), field])
      await untilNone(change, one, async ({ id, in: place }) => {
        if ("values" in place) return replaceIn(change, id, place, undefined);
        const guard = { if: { generation: one.generation } };
        return costOfWrite(writes.delete(id, { fieldId: one.fieldId }, guard).run({ signal: change.job.signal }));
      });
    await changeField(change, () => undefined);
    return { values: change.values, cost: change.cost };
  });
};
