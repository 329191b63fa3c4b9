import { EdgetableError, isEdgetableError, joinDetails } from "../errors/edgetable-error.ts";
import { stepUnits } from "../ir/capacity.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import { type Atomic, type Failure, type Images, keyId, type PlannedItem, type ValidRows, type WritePlan } from "../ir/write-plan.ts";
import { planWrites } from "../planner/writes/plan-write.ts";
import { type EncodedWrite, encodeSingle, encodeTransaction, type WriteTarget } from "../requests/encode-write.ts";
import { isOfShape } from "../requests/decode-item.ts";
import type { Catalog, Shape } from "../schema/catalog.ts";
import type { CancellationReason, Item, WriteItemOutput } from "../transport/operations.ts";
import { loadOnce } from "../util/load-once.ts";
import { isFailedCondition } from "./failed-condition.ts";
import { failureOf, foundAs, type FoundItem, isRepeatable, isUncontested } from "./failed-term.ts";
import { backOff, type CallContext, isAmbiguous, type Session } from "./session.ts";
import { type Reading, readRow } from "./read-rows.ts";
import { validateRows } from "./validate-write.ts";
import { exactText } from "../keys/value-text.ts";
import type { Row } from "../util/row.ts";

/** Why one of the writes did not happen. */
export interface FailedWrite {
  readonly write: number;
  readonly failure: Failure;
  readonly current: Row | undefined;
}

/** How writes that belong together ended: all happened, or none. */
export type WriteResult =
  | { readonly ok: true; readonly rows: readonly (Row | undefined)[]; readonly atomic: Atomic }
  | { readonly ok: false; readonly failed: readonly FailedWrite[]; readonly images?: Images };

type Ready = WritePlan & { readonly kind: "ready" };

// Racing writers back off from each other; past this many tries the caller should know.
const TRIES = 12;
const PAUSES = { baseDelay: 10, maxDelay: 1000 };

const targetOf = (catalog: Catalog): WriteTarget => ({ table: catalog.table, partitionKey: catalog.index.partitionKey });

/** A token of 32 hexadecimal digits, from the injected randomness, so that a seed replays a run. */
export const newToken = (session: Session): string =>
  Array.from({ length: 4 }, () =>
    Math.floor(session.effects.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0"),
  ).join("");

// What was written is written: a row that cannot be read is not told.
const toldRow = ({ session, context }: Reading, shape: Shape, item: Item): Row | undefined =>
  readRow({ session, context: { ...context, reading: { unknown: context.reading?.unknown, onStray: "skip" } } }, [shape, item]);

const currentRow = (reading: Reading, { item }: PlannedItem, found: Item | undefined): Row | undefined =>
  found && item.shape && isOfShape(reading.session.catalog, item.shape, found) ? toldRow(reading, item.shape, found) : undefined;

const sameFailure = (a: Failure, b: Failure): boolean => exactText(a) === exactText(b);

/** The writes that set the condition; all that share the item where none is known to. */
const blamed = ({ writes, asked = [] }: PlannedItem, failure: Failure): readonly number[] => {
  const own = asked.filter(({ failures }) => failures.some((one) => sameFailure(one, failure))).map(({ write }) => write);
  return own.length > 0 ? own : writes;
};

const fail = (reading: Reading, planned: PlannedItem, found: Item | undefined): readonly FailedWrite[] => {
  const failure = failureOf(planned.item, found);
  return blamed(planned, failure).map((write) => ({
    write,
    failure,
    current: failure.reason === "endMissing" ? undefined : currentRow(reading, planned, found),
  }));
};

/** The items that the write was refused for because they are not as they were taken to be: the next plan goes by them. */
const imagesOf = (refusals: readonly { readonly planned: PlannedItem; readonly found: Item | undefined }[]): Images =>
  Object.fromEntries(
    refusals.flatMap(({ planned: { item }, found }) =>
      failureOf(item, found).reason === "staleRead" ? [[keyId(item.key), found ?? null] as const] : [],
    ),
  );

/** A write that a condition refused. */
interface Refused {
  readonly plan: Ready;
  readonly encoded: EncodedWrite;
  readonly error: EdgetableError;
  /** When it was begun. */
  readonly started: number;
}

// DynamoDB charges a failed condition and does not say how much.
const noteRefusal = (session: Session, context: CallContext, { plan, encoded, error, started }: Refused): void => {
  const transaction = plan.atomic.kind === "transaction";
  const writeUnits = plan.items.reduce((sum, { item }) => sum + stepUnits(session.catalog, { ...item, kind: "check" }, transaction), 0);
  const attempts = Number(error.details["attempts"] ?? 1);
  const duration = session.effects.now() - started;
  session.note({ ...encoded, index: undefined, attempts, duration, itemsRead: 0, readUnits: 0, writeUnits }, context);
};

const faultOf = (error: unknown): string | undefined =>
  isEdgetableError(error) ? (error.details["fault"] as string | undefined) : undefined;

const states: Readonly<Record<FoundItem, string>> = {
  asWritten: "The item is as this call would have left it, by this call or by another one that made the same write",
  different: "The item is not as this call would have left it: another call came before it or after it",
  absent: "The item is not there: it never was, or another call deleted it",
};

/** A lost answer after which nothing tells whether this call or another one made the write. */
const ambiguous = (cause: EdgetableError, found?: FoundItem): EdgetableError =>
  new EdgetableError(
    "execute.ambiguous",
    `The answer to a request was lost, and it may have taken effect. ${found === undefined ? "A second request would add to it" : states[found]}. Read the item and decide, or make such calls with { idempotent: true }.`,
    {
      cause,
      details: found === undefined ? cause.details : { ...cause.details, found },
      ...(cause.request ? { request: cause.request } : {}),
    },
  );

/** The error of a write. If an attempt may have taken effect it says so, and is retryable only if a second call does no harm. */
const withEffect = (error: unknown, { repeatable }: Ready): unknown => {
  if (!isEdgetableError(error)) return error;
  if (error.details["ambiguous"] !== true && error.details["afterAmbiguity"] !== true) return error;
  const { code, message, details, cause, retryable, request } = error;
  const text = `${message}${/[.?!]$/.test(message) ? "" : "."} The write may have taken effect.`;
  return new EdgetableError(code, text, {
    details: joinDetails(details, {}),
    cause: cause ?? error,
    retryable: retryable && repeatable,
    ...(request && { request }),
  });
};

const rowOf = (reading: Reading, plan: Ready, attributes: Item | undefined): Row | undefined => {
  const shape = plan.items[0]?.item.shape;
  return plan.rows[0] ?? (attributes && shape ? toldRow(reading, shape, attributes) : undefined);
};

const sendSingle = async (session: Session, plan: Ready, context: CallContext): Promise<WriteResult> => {
  const planned = plan.items[0] as PlannedItem;
  const encoded = encodeSingle(targetOf(session.catalog), planned.item as Parameters<typeof encodeSingle>[1]);
  const done = (attributes: Item | undefined): WriteResult => ({
    ok: true,
    rows: [rowOf({ session, context }, plan, attributes)],
    atomic: plan.atomic,
  });
  const started = session.effects.now();
  try {
    const asked = plan.once ? { ...context, once: true } : context;
    const output: WriteItemOutput = await session.send(encoded.operation as "PutItem", encoded.input as never, asked);
    return done(output.Attributes);
  } catch (error) {
    if (plan.once && isAmbiguous(error) && error.retryable) throw ambiguous(error);
    if (!isFailedCondition(error)) throw withEffect(error, plan);
    const { details } = error;
    const found = details["item"] as Item | undefined;
    noteRefusal(session, context, { plan, encoded, error, started });
    if (details["afterAmbiguity"] === true) {
      const state = foundAs(planned.item, found);
      if (state === "asWritten" && isUncontested(planned.item)) return done(found);
      if (state === "absent" || !isRepeatable(planned.item)) throw ambiguous(error, state);
    }
    return { ok: false, failed: fail({ session, context }, planned, found), images: imagesOf([{ planned, found }]) };
  }
};

const sendTransaction = async (session: Session, plan: Ready, context: CallContext): Promise<WriteResult> => {
  const encoded = encodeTransaction(
    targetOf(session.catalog),
    plan.items.map(({ item }) => item),
    newToken(session),
  );
  const started = session.effects.now();
  try {
    await session.send("TransactWriteItems", encoded.input as never, context);
    return { ok: true, rows: plan.rows, atomic: plan.atomic };
  } catch (error) {
    const reasons =
      faultOf(error) === "TransactionCanceledException"
        ? ((error as EdgetableError).details["reasons"] as readonly CancellationReason[] | undefined)
        : undefined;
    const refusals = (reasons ?? []).flatMap((reason, at) => {
      const planned = plan.items[at];
      return planned && reason.Code === "ConditionalCheckFailed" ? [{ planned, found: reason.Item }] : [];
    });
    if (refusals.length === 0) throw withEffect(error, plan);
    const failed = refusals.flatMap(({ planned, found }) => fail({ session, context }, planned, found));
    noteRefusal(session, context, { plan, encoded, error: error as EdgetableError, started });
    return { ok: false, failed, images: imagesOf(refusals) };
  }
};

/** Plans a write from what was read so far, and from the rows that a schema has passed. */
export type WritePlanner = (images: Images, rows?: ValidRows) => WritePlan;

type Settled = Exclude<WritePlan, { kind: "needs" }>;

const reading = loadOnce(async () => import("./read-images.ts"));

// Law 2 in rounds: a read may show that another is needed (a found item, then its markers).
const planReading = async (
  session: Session,
  planner: WritePlanner,
  {
    needs,
    known,
    context,
  }: { readonly needs: WritePlan & { readonly kind: "needs" }; readonly known: Images; readonly context: CallContext },
): Promise<Settled> => {
  let images = known;
  let rows: ValidRows = {};
  let plan: WritePlan = needs;
  const { readImages } = await reading();
  while (plan.kind === "needs") {
    images = { ...images, ...(await readImages(session, plan.reads, context)) };
    if (plan.rows) rows = { ...rows, ...(await validateRows(session.catalog, plan.rows)) };
    plan = planner(images, rows);
  }
  return plan;
};

const NOTHING: Images = Object.freeze({});

const runOnce = async (session: Session, planner: WritePlanner, known: Images, context: CallContext): Promise<WriteResult> => {
  const needs = planner(known);
  const plan = needs.kind === "needs" ? await planReading(session, planner, { needs, known, context }) : needs;
  if (plan.kind === "settled") return { ok: false, failed: [{ write: plan.write, failure: plan.failure, current: undefined }] };
  return plan.atomic.kind === "item" ? sendSingle(session, plan, context) : sendTransaction(session, plan, context);
};

const failedFor = ({ failed }: WriteResult & { readonly ok: false }, reason: Failure["reason"]): boolean =>
  failed.some(({ failure }) => failure.reason === reason);

// What is not there needs no second look at what goes with it.
const isStale = (result: WriteResult & { readonly ok: false }): boolean => failedFor(result, "staleRead") && !failedFor(result, "notFound");

/**
 * Makes what a planner plans: reads what the plan needs, writes on condition that it is unchanged, and
 * plans again from the items that refused the write when it is not.
 *
 * @param read what the caller has read already, by the needs' ids
 * @throws {execute.conflict} when other writers came between every time
 * @throws {execute.ambiguous} when the answer to an attempt was lost and nothing tells whether it took effect
 */
export const runPlanned = async (
  session: Session,
  planner: WritePlanner,
  context: CallContext,
  read: Images = NOTHING,
): Promise<WriteResult> => {
  let known = read;
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const result = await runOnce(session, planner, known, context);
    if (result.ok) return result;
    if (!isStale(result)) return { ok: false, failed: result.failed.filter(({ failure }) => failure.reason !== "staleRead") };
    known = result.images ?? NOTHING;
    if (!(await backOff(session.effects, PAUSES, attempt, context))) break;
  }
  throw new EdgetableError("execute.conflict", "Other writers changed the item between reading and writing, every time. Try again.", {
    retryable: true,
    details: { tries: TRIES },
  });
};

/** Makes writes together; see {@link runPlanned}. */
export const runWrites = (session: Session, writes: readonly LogicalWrite[], context: CallContext): Promise<WriteResult> =>
  runPlanned(session, (images, rows) => planWrites(session.catalog, writes, images, { livingAt: context.livingAt, rows }), context);
