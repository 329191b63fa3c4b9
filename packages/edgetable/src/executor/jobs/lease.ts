import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { HOLDER, JOB_FACTS as FACTS, KIND, RUNS, systemType, UNTIL } from "../../schema/system-items.ts";
import type { Item, Key, UpdateItemInput } from "../../transport/operations.ts";
import { isFailedCondition } from "../failed-condition.ts";
import { newToken } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import { farewell } from "./bookkeeping.ts";
import { factsValue, type Job, JOB_TYPE, type JobFacts, jobKey, type JobKind, readJob } from "./job-item.ts";

/** The right to do a job, for a while. */
export interface Lease {
  readonly job: Job;
  readonly key: Key;
  readonly holder: string;
  /** Milliseconds for which each renewal holds. */
  readonly duration: number;
  /** Until when it holds, as of the last renewal; 0 once it is lost. */
  until: number;
}

/** A lease that is yet to be written. */
export const newLease = (session: Session, id: string, duration: number): Omit<Lease, "job"> => ({
  key: jobKey(session, id),
  holder: newToken(session),
  duration,
  until: session.effects.now() + duration,
});

/** The item of a job that begins, held by the caller. */
export const firstItem = (session: Session, lease: Omit<Lease, "job">, { kind, facts }: Pick<Job, "kind" | "facts">): Item => ({
  ...lease.key,
  ...systemType(session.catalog, JOB_TYPE),
  [KIND]: { S: kind },
  [HOLDER]: { S: lease.holder },
  [UNTIL]: { N: String(lease.until) },
  [RUNS]: { N: "1" },
  [FACTS]: factsValue(facts),
});

/** What a lease is asked for. */
export interface LeaseRequest {
  readonly id: string;
  readonly kind: JobKind;
  readonly duration: number;
  /** Facts of a job that begins; one that is there keeps its own. */
  readonly facts: JobFacts;
  /** Whether the job must be there already. */
  readonly resumes: boolean;
}

const refuse = (session: Session, { id, kind }: LeaseRequest, found: Item | undefined): never => {
  const job = found && readJob(session, found, id);
  if (job && job.kind !== kind) {
    throw new EdgetableError("job.mismatch", `"${id}" is a job of another kind (${job.kind}, not ${kind}). Give this one another name.`, {
      details: { id, kind: job.kind, wanted: kind },
    });
  }
  const left = Math.max(0, (job?.leasedUntil ?? 0) - session.effects.now());
  throw new EdgetableError(
    "job.busy",
    `The job "${id}" is under way elsewhere; its lease holds for another ${left} ms unless it is renewed. Wait for it, or try again then.`,
    { retryable: true, details: { id, retryAfter: left } },
  );
};

const leaseInput = (session: Session, request: LeaseRequest, lease: Omit<Lease, "job">): UpdateItemInput => {
  const type = Object.entries(systemType(session.catalog, JOB_TYPE));
  const free = "(attribute_not_exists(#u) OR #u < :now OR #h = :h)";
  const kind = request.resumes ? "#k = :k" : "(attribute_not_exists(#k) OR #k = :k)";
  return {
    TableName: session.catalog.table,
    Key: lease.key,
    UpdateExpression: `SET #k = :k, #h = :h, #u = :u, #f = if_not_exists(#f, :f)${type.length > 0 ? ", #t = :t" : ""} ADD #r :one`,
    ConditionExpression: `${free} AND ${kind}`,
    ExpressionAttributeNames: {
      "#k": KIND,
      "#h": HOLDER,
      "#u": UNTIL,
      "#f": FACTS,
      "#r": RUNS,
      ...Object.fromEntries(type.map(([name]) => ["#t", name])),
    },
    ExpressionAttributeValues: {
      ":k": { S: request.kind },
      ":h": { S: lease.holder },
      ":u": { N: String(lease.until) },
      ":now": { N: String(session.effects.now()) },
      ":f": factsValue(request.facts),
      ":one": { N: "1" },
      ...Object.fromEntries(type.map(([, value]) => [":t", value])),
    },
    ReturnValues: "ALL_NEW",
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    ReturnConsumedCapacity: "TOTAL",
  };
};

const mayHaveHappened = (error: unknown): boolean =>
  !isEdgetableError(error) || error.details["ambiguous"] !== false || error.details["afterAmbiguity"] === true;

/**
 * Takes a job's lease, where nobody holds it.
 *
 * @throws {job.busy} while another process holds it
 * @throws {job.mismatch} when the name is that of another kind of job
 * @throws {job.notFound} when it is to be resumed and is not there
 */
export const takeLease = async (session: Session, request: LeaseRequest, context: CallContext): Promise<Lease> => {
  const lease = newLease(session, request.id, request.duration);
  try {
    const { Attributes = {} } = await session.send("UpdateItem", leaseInput(session, request, lease), context);
    return { ...lease, job: readJob(session, Attributes, request.id) };
  } catch (error) {
    if (!isFailedCondition(error)) {
      // Whoever comes next need not wait until it runs out.
      if (mayHaveHappened(error))
        await releaseLease(session, { lease, facts: undefined }, farewell(session, lease.duration)).catch(() => undefined);
      throw error;
    }
    const found = error.details["item"] as Item | undefined;
    if (!found && request.resumes)
      throw new EdgetableError("job.notFound", `There is no job "${request.id}": it ended, or was never begun.`, {
        details: { id: request.id },
      });
    return refuse(session, request, found);
  }
};

const ownsIt = (
  lease: Omit<Lease, "job">,
): { readonly ConditionExpression: string; readonly names: Readonly<Record<string, string>>; readonly values: Item } => ({
  ConditionExpression: "#h = :h",
  names: { "#h": HOLDER },
  values: { ":h": { S: lease.holder } },
});

/** A lease with what is known of its job now; without facts, those that are saved stay. */
export interface Save {
  readonly lease: Omit<Lease, "job">;
  readonly facts: JobFacts | undefined;
}

const saveLease = async (session: Session, { lease, facts }: Save, context: CallContext): Promise<boolean> => {
  const { ConditionExpression, names, values } = ownsIt(lease);
  try {
    await session.send(
      "UpdateItem",
      {
        TableName: session.catalog.table,
        Key: lease.key,
        UpdateExpression: `SET #u = :u${facts ? ", #f = :f" : ""}`,
        ConditionExpression,
        ExpressionAttributeNames: { ...names, "#u": UNTIL, ...(facts && { "#f": FACTS }) },
        ExpressionAttributeValues: { ...values, ":u": { N: String(lease.until) }, ...(facts && { ":f": factsValue(facts) }) },
        ReturnConsumedCapacity: "TOTAL",
      },
      context,
    );
    return true;
  } catch (error) {
    if (isFailedCondition(error)) return false;
    throw error;
  }
};

/** Saves a job's facts and holds the lease on. Where somebody else has taken it, it is lost. */
export const renewLease = async (
  session: Session,
  { lease, facts }: { readonly lease: Lease; readonly facts: JobFacts },
  context: CallContext,
): Promise<void> => {
  const until = session.effects.now() + lease.duration;
  lease.until = (await saveLease(session, { lease: { ...lease, until }, facts }, context)) ? until : 0;
};

/** Saves a job's facts and gives the lease back, for whoever resumes it. */
export const releaseLease = async (session: Session, { lease, facts }: Save, context: CallContext): Promise<void> => {
  await saveLease(session, { lease: { ...lease, until: 0 }, facts }, context);
};

/** Deletes the state of a job that is done. */
export const endJob = async (session: Session, lease: Lease, context: CallContext): Promise<void> => {
  const { ConditionExpression, names, values } = ownsIt(lease);
  try {
    await session.send(
      "DeleteItem",
      {
        TableName: session.catalog.table,
        Key: lease.key,
        ConditionExpression,
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: values,
        ReturnConsumedCapacity: "TOTAL",
      },
      context,
    );
  } catch (error) {
    if (!isFailedCondition(error)) throw error;
  }
};

/**
 * Refuses to go on without the lease.
 *
 * @throws {job.busy} when it ran out or another process took it
 */
export const checkLease = (session: Session, lease: Lease): void => {
  if (lease.until > session.effects.now()) return;
  throw new EdgetableError(
    "job.busy",
    `The job "${lease.job.id}" lost its lease: it was not renewed within ${lease.duration} ms, or another process took it. What was done is kept; resume it.`,
    {
      retryable: true,
      details: { id: lease.job.id },
    },
  );
};
