import { EdgetableError } from "../errors/edgetable-error.ts";
import { type Call, createCall, reportOf, type Report, type RunOptions, wasAwaited } from "../executor/call.ts";
import { type FailedWrite, runWrites, validateWrite, type WriteResult } from "../executor/run-write.ts";
import type { CallContext } from "../executor/session.ts";
import { type LogicalWrite, verbOf } from "../ir/logical-write.ts";
import { type Catalog, idPaths } from "../schema/catalog.ts";
import { showReason, type NotWritten, type WriteOutcome, type Written } from "../ir/write-outcome.ts";
import { loadRareWrites } from "../planner/writes/plan-write.ts";
import { loadRules } from "../planner/writes/rules/index.ts";
import { cascades } from "../planner/writes/rules/required-nodes.ts";
import type { Driver } from "./driver.ts";
import type * as Explanation from "./explain-write.ts";
import type { FinishedJobs } from "./finish-jobs.ts";
import type { Transact, TransactOptions, TransactOutcome, WriteCall, WriteExplanation } from "./write-types.ts";
import { briefly, checkOptions, listOf, type OptionChecks } from "../util/check-options.ts";
import { jsonText } from "../util/json-text.ts";
import { loadOnce } from "../util/load-once.ts";

/** The parts of the driver that writes need. */
export type WriteDriver = Pick<Driver, "session" | "catalog" | "validates" | "context"> & Partial<Pick<Driver, "idempotent">>;

// The members by which a transaction finds the write in a call. (A WeakMap costs the collector 1 to 2 µs for each call.)
const WRITE = Symbol("write");

const CATALOG = Symbol("catalog");

interface Made {
  [WRITE]?: LogicalWrite;
  [CATALOG]?: Catalog;
}

/** The outcome of a write that did not happen. */
export const outcomeOfFailure = (failed: FailedWrite | undefined, cost: NotWritten<unknown>["cost"]): NotWritten<unknown> => {
  if (!failed) return { ok: false, reason: "rolledBack", cost };
  const { failure, current } = failed;
  if (failure.reason === "staleRead" || failure.reason === "beingDeleted")
    throw new EdgetableError("invariant", `${failure.reason} is not an outcome: a defect of edgetable`);
  return { ok: false, ...failure, ...(current ? { current } : {}), cost };
};

const outcomeOf = (result: WriteResult, at: number, context: CallContext): WriteOutcome<unknown> => {
  const { cost } = context.meter;
  if (result.ok) {
    const created = result.created?.[at];
    return { ok: true, row: result.rows[at], cost, atomic: result.atomic, ...(created !== undefined && { created }) };
  }
  return outcomeOfFailure(
    result.failed.find(({ write }) => write === at),
    cost,
  );
};

const validated = async (driver: WriteDriver, writes: readonly LogicalWrite[]): Promise<readonly LogicalWrite[]> =>
  driver.validates ? Promise.all(writes.map(async (write) => validateWrite(driver.catalog, write))) : writes;

const loadExplanation = loadOnce(async () => import("./explain-write.ts"));

/** Loads the explanation of writes, with the rules of the model. */
export const loadWriteExplanation = async ({ catalog }: WriteDriver): Promise<typeof Explanation> => {
  await loadRules(catalog);
  return loadExplanation();
};

const explain = async (driver: WriteDriver, writes: readonly LogicalWrite[], token?: string): Promise<WriteExplanation> => {
  const valid = await validated(driver, writes);
  const { explainWrites } = await loadWriteExplanation(driver);
  await loadRareWrites(valid);
  return explainWrites(driver.catalog, valid, { livingAt: driver.context({}).livingAt, now: driver.session.effects.now(), token });
};

/** Describes a write, such as `the create of "student" {"studentId":"S1"}`. */
const whatOf = ({ catalog }: WriteDriver, write: LogicalWrite): string => {
  const isEdge = "edge" in write;
  const name = isEdge ? write.edge : write.name;
  const row = "create" in write ? write.create.row : "row" in write ? write.row : "id" in write ? write.id : write.key;
  const shape = catalog.nodes[name]?.shape ?? catalog.parts[name]?.shape;
  const fields = (isEdge ? catalog.edges[name]?.key : shape && idPaths(catalog, shape)) ?? [];
  const key = Object.fromEntries(fields.map((field) => [field, row[field]]));
  return `the ${verbOf(write)} of "${name}" ${jsonText(isEdge ? { from: write.from.id, to: write.to.id, ...key } : key)}`;
};

const finishJobs = async (
  driver: WriteDriver,
  ids: readonly string[],
  of: { readonly run: RunOptions; readonly context: CallContext },
): Promise<FinishedJobs> => (await import("./finish-jobs.ts")).finishCopyJobs(driver, ids, of);

/** Adds the members that only calls of writes have. */
export const asWriteCall = <Row>(
  driver: WriteDriver,
  call: Call<WriteOutcome<Row>, WriteExplanation>,
  write: LogicalWrite,
): WriteCall<Row> => {
  const orThrow = async (options?: RunOptions): Promise<Written<Row>> => {
    const outcome = options === undefined ? await call : await call.run(options);
    if (outcome.ok) return outcome;
    const message = `T${whatOf(driver, write).slice(1)} did not happen: ${showReason(outcome)}.`;
    throw new EdgetableError("execute.notWritten", message, { details: { ...outcome } });
  };
  const made = call as WriteCall<Row> & Made;
  made.orThrow = orThrow;
  made[WRITE] = write;
  made[CATALOG] = driver.catalog;
  return made;
};

/** A call that makes one write. */
export const writeCall = <Row>(driver: WriteDriver, given: LogicalWrite): WriteCall<Row> => {
  const write = driver.idempotent === true && given.idempotent === undefined ? { ...given, idempotent: true } : given;
  const make = async (options: RunOptions): Promise<Report<WriteOutcome<Row>>> => {
    const context = driver.context(options);
    const valid = driver.validates ? validateWrite(driver.catalog, write) : write;
    const result = await runWrites(driver.session, [valid instanceof Promise ? await valid : valid], context);
    if (result.ok && result.jobs) {
      const finished = await finishJobs(driver, result.jobs, { run: options, context });
      const { atomic, cost, requests } = finished;
      return reportOf({ ...outcomeOf(result, 0, context), cost, atomic } as WriteOutcome<Row>, { cost, requests });
    }
    return reportOf(outcomeOf(result, 0, context) as WriteOutcome<Row>, context.meter);
  };
  return asWriteCall(
    driver,
    createCall<WriteOutcome<Row>, WriteExplanation>(() => explain(driver, [write]), make),
    write,
  );
};

/**
 * The write that a call has not made yet.
 *
 * @param at the call's position, from 0
 */
export const writeOf = (call: object, at: number = 0): LogicalWrite => {
  const write = (call as Made | null)?.[WRITE];
  if (write && !wasAwaited(call)) return write;
  const advice = "Pass write calls that were not awaited, such as db.student.put({ ... }).";
  const isCall = typeof (call as Partial<Call<unknown>> | null)?.explain === "function";
  const message = write
    ? `Call ${at + 1} was already awaited, and would be sent again. ${advice}`
    : isCall
      ? `Call ${at + 1} is not a single write. Reads, batches and other transactions cannot be part of a transaction or batch.`
      : advice;
  throw new EdgetableError("plan.invalidOption", message);
};

/**
 * The writes of calls that one request makes together.
 *
 * @throws {plan.invalidOption} for a call that was awaited, or is not a single write
 * @throws {plan.unsupported} for a call of another graph: it would be written into this one's table
 */
export const writesOf = ({ catalog }: WriteDriver, calls: readonly WriteCall<unknown>[]): readonly LogicalWrite[] =>
  listOf(calls, "calls").map((call, at) => {
    const write = writeOf(call, at);
    const made = (call as Made)[CATALOG];
    if (made === catalog) return write;
    throw new EdgetableError("plan.unsupported", `Call ${at + 1} belongs to another tenant, model or table. Use its own connection.`, {
      details: { call: at },
    });
  });

// "ClientRequestToken: 1 to 36 characters" (API_TransactWriteItems).
const transactOptions: OptionChecks<TransactOptions> = {
  token: (given: unknown) => {
    if (typeof given === "string" && given.length > 0 && given.length <= 36) return;
    throw new EdgetableError("plan.invalidOption", `token is ${briefly(given)}: give a text of 1 to 36 characters.`, {
      details: { option: "token", value: given },
    });
  },
};

/** Makes several writes together. */
export const transactOf =
  (driver: WriteDriver): Transact =>
  (calls, options = {}) => {
    const { token } = checkOptions(options, transactOptions);
    const given = writesOf(driver, calls);
    const writes = token === undefined ? given : given.map((write) => ({ ...write, idempotent: true }));
    for (const write of writes) {
      // How many items are deleted with the node is known only after reading, and may be more than a transaction can contain.
      if (write.kind !== "delete" || !cascades(driver.catalog, write.name)) continue;
      throw new EdgetableError(
        "plan.unsupported",
        `Deleting "${write.name}" also deletes its parts or edges, which a transaction of several calls cannot do. Delete it in a separate call.`,
        { details: { node: write.name } },
      );
    }
    if (writes.length === 0) throw new EdgetableError("plan.invalidOption", "A transaction needs at least one write.");
    type Outcome = TransactOutcome<readonly WriteOutcome<unknown>[]>;
    const make = async (run: RunOptions): Promise<Report<Outcome>> => {
      const context = { ...driver.context(run), token };
      const result = await runWrites(driver.session, await validated(driver, writes), context);
      if (!result.ok) (await import("../planner/writes/written-twice.ts")).refuseWrittenTwice(driver.catalog, writes, result.failed);
      const finished = result.ok && result.jobs ? await finishJobs(driver, result.jobs, { run, context }) : undefined;
      const outcomes = writes.map((_, at) => outcomeOf(result, at, context));
      const { cost } = finished ?? context.meter;
      const value = { ok: result.ok, outcomes, cost, atomic: result.ok ? result.atomic : undefined };
      return reportOf(value, finished ? { cost, requests: finished.requests } : context.meter);
    };
    const call = createCall<Outcome, WriteExplanation>(() => explain(driver, writes, token), make);
    const orThrow = async (run?: RunOptions): Promise<Outcome> => {
      const outcome = run === undefined ? await call : await call.run(run);
      if (outcome.ok) return outcome;
      const failed: string[] = [];
      for (const [at, one] of outcome.outcomes.entries())
        if (!one.ok && one.reason !== "rolledBack") failed.push(`call ${at + 1}, ${whatOf(driver, writes[at]!)}: ${showReason(one)}`);
      const message = `The transaction did not happen: ${failed.join("; ")}.`;
      throw new EdgetableError("execute.notWritten", message, { details: { ...outcome } });
    };
    return Object.assign(call, { orThrow }) as never;
  };
