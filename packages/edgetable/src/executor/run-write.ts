import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { stepUnits } from "../ir/capacity.ts";
import type { LogicalWrite } from "../ir/logical-write.ts";
import type { Atomic, Failure, Images, PlannedItem, WritePlan } from "../ir/write-plan.ts";
import { planWrites } from "../planner/writes/plan-write.ts";
import { encodeSingle, encodeTransaction, type EncodedWrite, type WriteTarget } from "../requests/encode-write.ts";
import { decodeItem } from "../requests/decode-item.ts";
import { isOfShape } from "../requests/item-shape.ts";
import type { Catalog } from "../schema/catalog.ts";
import type { CancellationReason, Item, WriteItemOutput } from "../transport/operations.ts";
import { loadOnce } from "../util/load-once.ts";
import { isFailedCondition } from "./failed-condition.ts";
import { failureOf, isAsWritten } from "./failed-term.ts";
import type { CallContext, Session } from "./session.ts";
import { jsonText } from "../util/json-text.ts";
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
  | { readonly ok: false; readonly failed: readonly FailedWrite[] };

type Ready = WritePlan & { readonly kind: "ready" };

// Racing writers back off from each other; past this many tries the caller should know.
const TRIES = 12;
const BASE_DELAY = 10;
const MAX_DELAY = 1000;

const targetOf = (catalog: Catalog): WriteTarget => ({ table: catalog.table, partitionKey: catalog.index.partitionKey });

/** A token of 32 hexadecimal digits, from the injected randomness, so that a seed replays a run. */
export const newToken = (session: Session): string =>
  Array.from({ length: 4 }, () =>
    Math.floor(session.effects.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0"),
  ).join("");

const currentRow = (catalog: Catalog, { item }: PlannedItem, found: Item | undefined): Row | undefined =>
  found && item.shape && isOfShape(catalog, item.shape, found) ? decodeItem(catalog, item.shape, found) : undefined;

const sameFailure = (a: Failure, b: Failure): boolean => jsonText(a) === jsonText(b);

/** The writes that set the condition; all that share the item where none is known to. */
const blamed = ({ writes, asked = [] }: PlannedItem, failure: Failure): readonly number[] => {
  const own = asked.filter(({ failures }) => failures.some((one) => sameFailure(one, failure))).map(({ write }) => write);
  return own.length > 0 ? own : writes;
};

const fail = (catalog: Catalog, planned: PlannedItem, found: Item | undefined): readonly FailedWrite[] => {
  const failure = failureOf(planned.item, found);
  return blamed(planned, failure).map((write) => ({
    write,
    failure,
    current: failure.reason === "endMissing" ? undefined : currentRow(catalog, planned, found),
  }));
};

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

const ambiguous = (cause: EdgetableError): EdgetableError =>
  new EdgetableError(
    "execute.ambiguous",
    "The answer to a first attempt was lost, and the item is now in neither the old nor the new state: another writer came between. Read it, and decide.",
    {
      cause,
      details: cause.details,
      ...(cause.request ? { request: cause.request } : {}),
    },
  );

const rowOf = (catalog: Catalog, plan: Ready, attributes: Item | undefined): Row | undefined => {
  const shape = plan.items[0]?.item.shape;
  return plan.rows[0] ?? (attributes && shape ? decodeItem(catalog, shape, attributes) : undefined);
};

const sendSingle = async (session: Session, plan: Ready, context: CallContext): Promise<WriteResult> => {
  const planned = plan.items[0] as PlannedItem;
  const encoded = encodeSingle(targetOf(session.catalog), planned.item as Parameters<typeof encodeSingle>[1]);
  const done = (attributes: Item | undefined): WriteResult => ({
    ok: true,
    rows: [rowOf(session.catalog, plan, attributes)],
    atomic: plan.atomic,
  });
  const started = session.effects.now();
  try {
    const output: WriteItemOutput = await session.send(encoded.operation as "PutItem", encoded.input as never, context);
    return done(output.Attributes);
  } catch (error) {
    if (!isFailedCondition(error)) throw error;
    const { details } = error;
    const found = details["item"] as Item | undefined;
    noteRefusal(session, context, { plan, encoded, error, started });
    if (details["afterAmbiguity"] === true) {
      if (isAsWritten(planned.item, found)) return done(found);
      if (planned.item.kind !== "delete") throw ambiguous(error);
    }
    return { ok: false, failed: fail(session.catalog, planned, found) };
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
    const failed = (reasons ?? []).flatMap((reason, at) => {
      const planned = plan.items[at];
      return planned && reason.Code === "ConditionalCheckFailed" ? fail(session.catalog, planned, reason.Item) : [];
    });
    if (failed.length === 0) throw error;
    noteRefusal(session, context, { plan, encoded, error: error as EdgetableError, started });
    return { ok: false, failed };
  }
};

/** Plans a write from what was read so far. */
export type WritePlanner = (images: Images) => WritePlan;

type Settled = Exclude<WritePlan, { kind: "needs" }>;

const reading = loadOnce(async () => import("./read-images.ts"));

// Law 2 in rounds: a read may show that another is needed (a found item, then its markers).
const planReading = async (
  session: Session,
  planner: WritePlanner,
  { needs, context }: { readonly needs: WritePlan & { readonly kind: "needs" }; readonly context: CallContext },
): Promise<Settled> => {
  let images: Images = {};
  let plan: WritePlan = needs;
  const { readImages } = await reading();
  while (plan.kind === "needs") {
    images = { ...images, ...(await readImages(session, plan.reads, context)) };
    plan = planner(images);
  }
  return plan;
};

const runOnce = async (session: Session, planner: WritePlanner, context: CallContext): Promise<WriteResult> => {
  const needs = planner({});
  const plan = needs.kind === "needs" ? await planReading(session, planner, { needs, context }) : needs;
  if (plan.kind === "settled") return { ok: false, failed: [{ write: plan.write, failure: plan.failure, current: undefined }] };
  return plan.atomic.kind === "item" ? sendSingle(session, plan, context) : sendTransaction(session, plan, context);
};

const isStale = (result: WriteResult): boolean => !result.ok && result.failed.some(({ failure }) => failure.reason === "staleRead");

/**
 * Makes what a planner plans: reads what the plan needs, writes on condition that it is unchanged, and
 * plans again from a fresh read when it is not.
 *
 * @throws {execute.conflict} when other writers came between every time
 * @throws {execute.ambiguous} when the answer to an attempt was lost and cannot be told from the item
 */
export const runPlanned = async (session: Session, planner: WritePlanner, context: CallContext): Promise<WriteResult> => {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const result = await runOnce(session, planner, context);
    if (!isStale(result)) return result;
    const wait = session.effects.random() * Math.min(MAX_DELAY, BASE_DELAY * 2 ** attempt);
    if (session.effects.now() + wait >= context.deadline) break;
    await session.effects.sleep(wait, context.signal);
  }
  throw new EdgetableError("execute.conflict", "Other writers changed the item between reading and writing, every time. Try again.", {
    retryable: true,
    details: { tries: TRIES },
  });
};

/** Makes writes together; see {@link runPlanned}. */
export const runWrites = (session: Session, writes: readonly LogicalWrite[], context: CallContext): Promise<WriteResult> =>
  runPlanned(session, (images) => planWrites(session.catalog, writes, images), context);
