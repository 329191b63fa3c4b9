import { EdgetableError, isEdgetableError, withEffect } from "../errors/edgetable-error.ts";
import { ASSUMED_BYTES, writeUnits as unitsOf } from "../ir/capacity.ts";
import type { Changes, LogicalWrite } from "../ir/logical-write.ts";
import { type Atomic, type Failure, type Images, keyId, type PlannedItem, type ValidRows, type WritePlan } from "../ir/write-plan.ts";
import { exactText } from "../keys/template.ts";
import { loadRareWrites, planWrites } from "../planner/writes/plan-write.ts";
import { loadRules } from "../planner/writes/rules/index.ts";
import { isOfShape } from "../requests/decode-item.ts";
import { VERSION } from "../requests/encode-item.ts";
import { type EncodedWrite, encodeSingle, encodeTransaction, type WriteTarget } from "../requests/encode-write.ts";
import { loadFilters } from "../requests/encode-read.ts";
import type { Filters } from "../requests/expression.ts";
import { type Catalog, definitionOf, ownerFields, type Shape } from "../schema/catalog.ts";
import type { AnySchema } from "../schema/standard-schema.ts";
import { type Maybe, validateChanges, validateRow } from "../schema/check-values.ts";
import type { Item, WriteItemOutput } from "../transport/operations.ts";
import { loadOnce } from "../util/load-once.ts";
import type { Row } from "../util/row.ts";
import { cancellationReasons, failureOf, foundAs, type FoundItem, isFailedCondition, isUncontested, setsBlindly } from "./failed-term.ts";
import { readRow } from "./read-rows.ts";
import { backOff, type CallContext, isAmbiguous, type Session } from "./session.ts";

// Most schemas are synchronous, and a promise for each value would cost more than the rest of the call.
const andThen = <A, B>(value: Maybe<A>, next: (value: A) => Maybe<B>): Maybe<B> =>
  value instanceof Promise ? value.then(next) : next(value);

const VERSIONED: readonly string[] = [VERSION];
const NONE: readonly string[] = [];

const hasFields = (row: Row): boolean => {
  for (const _ in row) return true;
  return false;
};

const without = (row: Row, fields: readonly string[]): Row => {
  if (!fields.some((field) => field in row)) return row;
  const rest: Record<string, unknown> = { ...row };
  for (const field of fields) delete rest[field];
  return rest;
};

// A schema may turn a value into undefined; the field is then removed.
const validateSet = (schema: AnySchema, changes: Changes, what: string, whole: boolean): Maybe<Changes> => {
  let given = changes.set;
  if (changes.remove.length > 0) {
    const removed: Record<string, unknown> = { ...given };
    for (const field of changes.remove) removed[field] = undefined;
    given = removed;
  }
  return andThen(validateChanges(schema, given, what, whole), (values) => {
    if (values === given) return changes;
    const set: Record<string, unknown> = {};
    const remove: string[] = [];
    for (const field of Object.keys(values)) {
      if (values[field] === undefined) remove.push(field);
      else set[field] = values[field];
    }
    return { ...changes, set, remove };
  });
};

const validateReverse = <W extends LogicalWrite & { readonly reverse: Row }>(schema: AnySchema, write: W, what: string): Maybe<W> =>
  hasFields(write.reverse) ? andThen(validateChanges(schema, write.reverse, what), (reverse) => ({ ...write, reverse })) : write;

const loadOperands = loadOnce(async () => import("../schema/check-operands.ts"));

const validateChange = (
  catalog: Catalog,
  write: LogicalWrite & { readonly kind: "update" | "relink" },
  schema: AnySchema,
): Maybe<LogicalWrite> => {
  const { changes: given } = write;
  const [of, name] = write.kind === "update" ? [write.of, write.name] : (["edge", write.edge] as const);
  const what = `"${name}"`;
  const whole = definitionOf(catalog, { kind: of, definition: name })?.validate === "row";
  const operands =
    hasFields(given.add) || hasFields(given.append)
      ? andThen(loadOperands(), ({ validateOperands }) => validateOperands(schema, given, what))
      : given;
  const { paths } = given;
  const within = paths
    ? andThen(operands, (valid) =>
        andThen(loadOperands(), ({ validatePaths }) =>
          andThen(validatePaths(schema, paths, what), (checked) => ({ ...valid, paths: checked })),
        ),
      )
    : operands;
  return andThen(
    andThen(within, (valid) => validateSet(schema, valid, what, whole)),
    (changes): Maybe<LogicalWrite> => {
      const changed = changes === given ? write : { ...write, changes };
      const valid = whole ? { ...changed, checksRow: true } : changed;
      return valid.kind === "update" ? valid : validateReverse(schema, valid, what);
    },
  );
};

/**
 * The write with the values that the schema returns; a promise only if a schema is asynchronous.
 *
 * @throws {schema.invalidValue}
 */
export const validateWrite = (catalog: Catalog, write: LogicalWrite): Maybe<LogicalWrite> => {
  if (write.kind === "create" || write.kind === "put") {
    // The schema sees neither the version nor the fields of a part's owner.
    const entry = write.of === "node" ? catalog.nodes[write.name] : catalog.parts[write.name];
    if (!entry) return write;
    const owner = write.of === "part" ? ownerFields(catalog, write.name) : NONE;
    const given = without(write.row, entry.definition.version ? [...owner, VERSION] : owner);
    return andThen(validateRow(entry.definition.schema, given, `"${write.name}"`), (valid) => {
      if (owner.length === 0) return { ...write, row: valid };
      const row: Record<string, unknown> = { ...valid };
      for (const field of owner) row[field] = write.row[field];
      return { ...write, row };
    });
  }
  if (write.kind === "upsert" || write.kind === "upsertEdge")
    return import("./validate-upsert.ts").then(({ validateUpsert }) => validateUpsert(catalog, write, validateWrite));
  const entry = "edge" in write ? catalog.edges[write.edge] : (write.of === "node" ? catalog.nodes : catalog.parts)[write.name];
  const schema = entry?.definition.schema;
  if (!schema || write.kind === "delete" || write.kind === "check" || write.kind === "unlink") return write;
  if (write.kind === "link" || write.kind === "putEdge") {
    const given = catalog.edges[write.edge]?.definition.version ? without(write.row, VERSIONED) : write.row;
    return andThen(validateRow(schema, given, `"${write.edge}"`), (row): Maybe<LogicalWrite> =>
      validateReverse(schema, { ...write, row }, `the other copy of "${write.edge}"`),
    );
  }
  if (write.kind === "relink" && write.type !== undefined) return write;
  return validateChange(catalog, write, schema);
};

/** Why one of the writes did not happen. */
export interface FailedWrite {
  readonly write: number;
  readonly failure: Failure;
  readonly current: Row | undefined;
}

/** The result of writes that belong together: either all happened, or nothing. */
export type WriteResult =
  | {
      readonly ok: true;
      readonly rows: readonly (Row | undefined)[];
      readonly atomic: Atomic;
      readonly created?: readonly (boolean | undefined)[];
      readonly jobs?: readonly string[];
    }
  | { readonly ok: false; readonly failed: readonly FailedWrite[]; readonly images?: Images };

const isGuess = ({ failure }: FailedWrite): boolean => failure.reason === "staleRead" && failure.guessed === true;

type Failed = WriteResult & { readonly ok: false };
type Ready = WritePlan & { readonly kind: "ready" };
type Needs = WritePlan & { readonly kind: "needs" };

// Racing writers back off. After this many tries, the caller gets an error.
const TRIES = 30;
const PAUSES = { baseDelay: 10, maxDelay: 1000 };

/** A token of 32 hexadecimal digits, from the injected randomness, so that a seed replays a run. */
export const newToken = ({ effects }: Session): string => {
  let token = "";
  while (token.length < 32)
    token += Math.floor(effects.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return token;
};

interface WriteCall {
  readonly session: Session;
  readonly context: CallContext;
}

// The write happened, so a row that cannot be read is omitted instead of throwing an error.
const readableRow = ({ session, context }: WriteCall, shape: Shape, item: Item): Row | undefined =>
  readRow({ session, context: { ...context, reading: { unknown: context.reading?.unknown, onStray: "skip" } } }, [shape, item]);

/** A plan that is being sent. */
interface Sending extends WriteCall {
  readonly plan: Ready;
  readonly encoded: EncodedWrite;
  readonly started: number;
}

/** An item whose condition failed, and the item that DynamoDB found. */
interface Refusal {
  readonly planned: PlannedItem;
  readonly found: Item | undefined;
}

/** The result of a write whose conditions failed. The next plan uses the items that had changed. */
const refused = (sending: Sending, refusals: readonly Refusal[], error: EdgetableError): Failed => {
  const { session, context, plan, encoded, started } = sending;
  const { catalog, effects } = session;
  // DynamoDB charges for a failed condition, but does not report how much.
  let writeUnits = 0;
  for (const { item } of plan.items) writeUnits += unitsOf(item.shape?.bytes ?? ASSUMED_BYTES, plan.atomic.kind === "transaction");
  const attempts = Number(error.details["attempts"] ?? 1);
  session.note(
    { ...encoded, index: undefined, attempts, duration: effects.now() - started, itemsRead: 0, readUnits: 0, writeUnits },
    context,
  );
  const failed: FailedWrite[] = [];
  const images: Record<string, Item | null> = {};
  for (const { planned, found } of refusals) {
    const { key, shape } = planned.item;
    const failure = failureOf(planned.item, found);
    if (failure.reason === "staleRead") images[keyId(key)] = found ?? null;
    const isHidden = failure.reason === "endMissing" || failure.reason === "notFound";
    const isShown = !isHidden && found && shape && isOfShape(catalog, shape, found);
    const current = isShown ? readableRow(sending, shape, found) : undefined;
    // The writes that set the condition have failed. If these are not known, all writes that share the item have.
    const { writes, asked = [] } = planned;
    const text = exactText(failure);
    const setters = asked.filter(({ failures }) => failures.some((one) => exactText(one) === text)).map(({ write }) => write);
    for (const write of setters.length > 0 ? setters : writes) failed.push({ write, failure, current });
  }
  return { ok: false, failed, images };
};

const STATES: Readonly<Record<FoundItem, string>> = {
  asWritten: "The item is as this call would have left it, by this call or by another one that made the same write",
  different: "The item is not as this call would have left it: another call came before it or after it",
  absent: "The item is not there: it never was, or another call deleted it",
};

/** The error after a lost response, if it cannot be determined whether this call or another one made the write. */
const ambiguous = (cause: EdgetableError, found?: FoundItem): EdgetableError =>
  new EdgetableError(
    "execute.ambiguous",
    `The answer to a request was lost, and it may have taken effect. ${found === undefined ? "A second request would add to it" : STATES[found]}. Read the item and decide, or make such calls with { idempotent: true }.`,
    {
      cause,
      details: found === undefined ? cause.details : { ...cause.details, found },
      ...(cause.request ? { request: cause.request } : {}),
    },
  );

/** The error of a write. If an attempt may have taken effect it says so, and is retryable only if a second call does no harm. */
const errorOf = async ({ catalog }: Session, error: unknown, { items, repeatable }: Ready): Promise<unknown> => {
  if (!isEdgetableError(error)) return error;
  if (error.code === "execute.rejected") return (await import("./rejected-operands.ts")).withAttributes(catalog, error, items);
  return withEffect(error, repeatable);
};

const isConditional = ({ items }: Ready): boolean => items.some(({ item }) => item.terms.some(({ kind }) => kind === "where"));

const targetOf = ({ catalog }: Session, filters: Filters | undefined): WriteTarget => ({
  table: catalog.table,
  partitionKey: catalog.index.partitionKey,
  filters,
});

const sendSingle = async (session: Session, plan: Ready, context: CallContext): Promise<WriteResult> => {
  const planned = plan.items[0] as PlannedItem;
  const { item } = planned;
  const filters = isConditional(plan) ? await loadFilters() : undefined;
  const encoded = encodeSingle(targetOf(session, filters), item as Parameters<typeof encodeSingle>[1]);
  const sending: Sending = { session, context, plan, encoded, started: session.effects.now() };
  const done = (attributes: Item | undefined): WriteResult => {
    // The returned item includes changes of other writers since it was read.
    const row = attributes && item.shape ? readableRow(sending, item.shape, attributes) : plan.rows[0];
    const { atomic, created } = plan;
    return created ? { ok: true, rows: [row], atomic, created } : { ok: true, rows: [row], atomic };
  };
  try {
    const asked = plan.once ? { ...context, once: true } : context;
    const output: WriteItemOutput = await session.send(encoded.operation as "PutItem", encoded.input as never, asked, true);
    return done(output.Attributes);
  } catch (error) {
    if (plan.once && isAmbiguous(error) && error.retryable) throw ambiguous(error);
    if (!isFailedCondition(error)) throw await errorOf(session, error, plan);
    const found = error.details["item"] as Item | undefined;
    const result = refused(sending, [{ planned, found }], error);
    if (error.details["afterAmbiguity"] === true) {
      const state = foundAs(item, found);
      if (state === "asWritten" && isUncontested(item)) return done(found);
      const wasGuessed = result.failed.every(isGuess);
      if ((state === "absent" && !wasGuessed) || !setsBlindly(item)) throw ambiguous(error, state);
    }
    return result;
  }
};

const sendTransaction = async (session: Session, plan: Ready, context: CallContext): Promise<WriteResult> => {
  const filters = isConditional(plan) ? await loadFilters() : undefined;
  const encoded = encodeTransaction(
    targetOf(session, filters),
    plan.items.map(({ item }) => item),
    context.token ?? newToken(session),
  );
  const sending: Sending = { session, context, plan, encoded, started: session.effects.now() };
  try {
    await session.send("TransactWriteItems", encoded.input as never, context, true);
    const { rows, atomic, created, jobs } = plan;
    return { ok: true, rows, atomic, ...(created && { created }), ...(jobs && { jobs }) };
  } catch (error) {
    const refusals: Refusal[] = [];
    for (const [at, { Code, Item: found }] of cancellationReasons(error).entries()) {
      const planned = plan.items[at];
      if (planned && Code === "ConditionalCheckFailed") refusals.push({ planned, found });
    }
    if (refusals.length === 0) throw await errorOf(session, error, plan);
    return refused(sending, refusals, error as EdgetableError);
  }
};

/** Plans a write from the items read so far and the rows that a schema has accepted. */
export type WritePlanner = (images: Images, rows?: ValidRows) => WritePlan;

const loadReader = loadOnce(async () => import("./read-images.ts"));

/**
 * Reads and validates what a plan needs, in rounds, because a read may show that another one is needed (an item, then its markers).
 *
 * @throws {schema.invalidValue} for a row that is made from read items and does not fit its schema
 */
const planReading = async (
  { session, context }: WriteCall,
  planner: WritePlanner,
  { needs, known }: { readonly needs: Needs; readonly known: Images },
): Promise<Exclude<WritePlan, Needs>> => {
  let images = known;
  let rows: ValidRows = {};
  let plan: WritePlan = needs;
  const { readImages } = await loadReader();
  while (plan.kind === "needs") {
    images = { ...images, ...(await readImages(session, plan.reads, context)) };
    for (const { id, of, name, row } of plan.rows ?? []) {
      const schema = definitionOf(session.catalog, { kind: of, definition: name })?.schema;
      rows = { ...rows, [id]: schema ? await validateRow(schema, row, `"${name}"`) : row };
    }
    plan = planner(images, rows);
  }
  return plan;
};

const NOTHING: Images = Object.freeze({});

/**
 * Runs the plans of a planner: reads the items that a plan needs, writes on condition that they are unchanged, and otherwise plans
 * again from the changed items.
 *
 * @param read items that the caller has already read, by the needs' ids
 * @throws {execute.conflict} if other writers changed the items in every attempt
 * @throws {execute.ambiguous} if the response to an attempt was lost and it cannot be determined whether it took effect
 */
export const runPlanned = async (
  session: Session,
  planner: WritePlanner,
  context: CallContext,
  read: Images = NOTHING,
): Promise<WriteResult> => {
  let known = read;
  let guessed = false;
  const loading = loadRules(session.catalog);
  if (loading) await loading;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const needs = planner(known);
    const plan = needs.kind === "needs" ? await planReading({ session, context }, planner, { needs, known }) : needs;
    let result: WriteResult;
    if (plan.kind === "settled")
      result = { ok: false, failed: [plan, ...(plan.others ?? [])].map(({ write, failure }) => ({ write, failure, current: undefined })) };
    else result = await (plan.atomic.kind === "item" ? sendSingle : sendTransaction)(session, plan, context);
    if (result.ok) return result;
    const lasting = result.failed.filter(({ failure }) => failure.reason !== "staleRead");
    // If the item does not exist, its other conditions need not be checked again.
    const isFinal = lasting.length === result.failed.length || lasting.some(({ failure }) => failure.reason === "notFound");
    if (isFinal) return { ok: false, failed: lasting };
    // The items that disproved a guess are kept, because otherwise the next plan would guess again.
    guessed ||= result.failed.some(isGuess);
    known = guessed ? { ...known, ...result.images } : (result.images ?? NOTHING);
    // A wrong guess costs a request, but needs no pause.
    if (attempt === 0 && result.failed.every(isGuess)) continue;
    if (!(await backOff(session.effects, PAUSES, attempt, context))) break;
  }
  throw new EdgetableError("execute.conflict", "Other writers changed the item between reading and writing, every time. Try again.", {
    retryable: true,
    details: { tries: TRIES },
  });
};

/** Runs a plan that was made from items that the caller has read. If they have changed since, the write fails. */
export const runOnce = (session: Session, planner: () => WritePlan, context: CallContext): Promise<WriteResult> => {
  let isPlanned = false;
  const once: WritePlanner = () => {
    if (isPlanned) return { kind: "settled", write: 0, failure: { reason: "conditionFailed" } };
    isPlanned = true;
    return planner();
  };
  return runPlanned(session, once, context);
};

/** Makes writes together; see {@link runPlanned}. */
export const runWrites = async (session: Session, writes: readonly LogicalWrite[], context: CallContext): Promise<WriteResult> => {
  const loading = loadRareWrites(writes);
  if (loading) await loading;
  let read: Images = NOTHING;
  const planner: WritePlanner = (images, rows) =>
    planWrites(session.catalog, writes, (read = images), { livingAt: context.livingAt, now: session.effects.now(), rows });
  return runPlanned(session, planner, context).catch(async (error: unknown) =>
    (await import("./unmet-guards.ts")).judgeGuards({ session, context }, { writes, images: read, error }),
  );
};
