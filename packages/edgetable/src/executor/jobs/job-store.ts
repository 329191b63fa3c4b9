import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { DeleteStep, UpdateStep } from "../../ir/write-plan.ts";
import { encodePartition } from "../../requests/encode-direct.ts";
import { encodeGet } from "../../requests/encode-read.ts";
import { encodeSingle } from "../../requests/encode-write.ts";
import { hasTextSort, HOLDER, JOB_FACTS, JOB_TYPE, JOBS, KIND, RUNS, UNTIL } from "../../schema/system-items.ts";
import { systemKeyItem, systemType } from "../../schema/system-key-item.ts";
import { jobIdOf, jobState } from "../../schema/system-keys.ts";
import type { AttributeValue, DeleteItemInput, Item, Key, UpdateItemInput } from "../../transport/operations.ts";
import { Meter } from "../call.ts";
import { isFailedCondition } from "../failed-term.ts";
import { newToken } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";

/** What kind of work a job is; `custom` is a program's own, run by `db.jobs.run`. */
export type JobKind = "load" | "delete" | "copy" | "reshard" | "verify" | "migrate" | "stream" | "custom";

/** A job's state, as plain values. */
export type JobFacts = Readonly<Record<string, string | number>>;

/** A job in the table: running, or left behind by a process that ended. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  /** True if a process is running it, according to its lease. */
  readonly running: boolean;
  /**
   * The end of the lease in milliseconds since 1970: the time that its holder wrote or, if earlier, the time at which it has not
   * been renewed for its whole duration since this process first saw it.
   */
  readonly leasedUntil: number;
  /** How many times it was begun or resumed. */
  readonly runs: number;
  readonly facts: JobFacts;
}

/** The exclusive right to run a job for a limited time. */
export interface Lease {
  readonly job: Job;
  readonly key: Key;
  readonly holder: string;
  /** Milliseconds for which each renewal is valid. */
  readonly duration: number;
  /** Time (as `Effects.now` returns it) at which it expires, as of the last renewal; 0 once it is lost. */
  until: number;
}

/** Which lease is to be taken. */
export interface LeaseRequest {
  readonly id: string;
  readonly kind: JobKind;
  readonly duration: number;
  /** Facts of a job that begins; an existing job keeps its own. */
  readonly facts: JobFacts;
  /** True if the job must exist already. */
  readonly resumes: boolean;
}

/**
 * A context for a job's bookkeeping: it is neither aborted with the job nor charged to it. It does not wait for the job's own
 * requests: if hundreds of them were queued for a slow or throttled table, the lease would expire.
 */
export const bookkeeping = (session: Session, milliseconds: number): CallContext => ({
  meter: new Meter(),
  deadline: session.effects.now() + milliseconds,
  urgent: true,
});

const textIn = (value: AttributeValue | undefined): string => (value && "S" in value ? value.S : "");
const numberIn = (value: AttributeValue | undefined): number => (value && "N" in value ? Number(value.N) : 0);

const encodeFacts = (facts: JobFacts): AttributeValue => {
  const values: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(facts)) values[name] = typeof value === "number" ? { N: String(value) } : { S: value };
  return { M: values };
};

/** A lease as a process has seen it, unchanged since. */
interface Sighting {
  readonly holder: string;
  readonly until: number;
  /** When it was seen first, by the clock of this process. */
  readonly since: number;
}

const sightings = new WeakMap<Session["effects"], Map<string, Sighting>>();

/** Leases of ended jobs are removed from time to time. */
const MOST_SIGHTINGS = 1000;

const seenBy = ({ effects }: Session): Map<string, Sighting> => {
  let seen = sightings.get(effects);
  if (!seen) sightings.set(effects, (seen = new Map()));
  return seen;
};

/** The text that identifies a holder ends with the duration of its lease. */
const holderName = (token: string, duration: number): string => `${token} ${duration}`;

/**
 * The time by this process's clock at which a lease expires unless it is renewed; never for a lease of an earlier build, which does
 * not contain its duration.
 */
const outAt = ({ holder, since }: Sighting): number => since + Number(holder.split(" ")[1] ?? Number.POSITIVE_INFINITY);

/** Records a lease and returns until when it is valid. The holder's clock may be ahead. */
const watchLease = (session: Session, item: Item, id: string): number => {
  const [holder, until] = [textIn(item[HOLDER]), numberIn(item[UNTIL])];
  const seen = seenBy(session);
  let known = seen.get(`${session.catalog.table} ${id}`);
  if (known?.holder !== holder || known.until !== until) {
    known = { holder, until, since: session.effects.now() };
    if (seen.size >= MOST_SIGHTINGS) seen.clear();
    seen.set(`${session.catalog.table} ${id}`, known);
  }
  return Math.max(0, Math.min(until, outAt(known)));
};

/** A lease that is valid by its holder's clock but has not been renewed for its whole duration while this process watched it. */
const abandonedLease = (session: Session, id: string): Sighting | undefined => {
  const known = seenBy(session).get(`${session.catalog.table} ${id}`);
  const now = session.effects.now();
  return known && known.until >= now && outAt(known) < now ? known : undefined;
};

const readJob = (session: Session, item: Item, id: string): Job => {
  const leasedUntil = watchLease(session, item, id);
  const stored = item[JOB_FACTS];
  const facts: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(stored && "M" in stored ? stored.M : {}))
    facts[name] = "N" in value ? Number(value.N) : textIn(value);
  return {
    id,
    kind: textIn(item[KIND]) as JobKind,
    running: leasedUntil > session.effects.now(),
    leasedUntil,
    runs: numberIn(item[RUNS]),
    facts,
  };
};

const notFound = (id: string): EdgetableError =>
  new EdgetableError("job.notFound", `There is no job "${id}": it has ended or never began.`, { details: { id } });

/**
 * Finds a job by its id.
 *
 * @throws {job.notFound} if it has ended or never began
 */
export const findJob = async (session: Session, id: string): Promise<Job> => {
  const key = systemKeyItem(session.catalog, jobState(id));
  const { Item: item } = await session.send("GetItem", encodeGet(session.catalog, key, { consistent: true }), bookkeeping(session, 30_000));
  if (!item) throw notFound(id);
  return readJob(session, item, id);
};

/** Lists every job in the table. One Query. */
export const listJobs = async (session: Session, context: CallContext): Promise<readonly Job[]> => {
  const { index, layout, table } = session.catalog;
  if (!hasTextSort(layout) || layout.types?.[index.partitionKey] === "N") {
    throw new EdgetableError(
      "plan.unsupported",
      `The jobs of "${table}" cannot be listed: its key has no text attribute that keeps them together. Resume a job by its name.`,
      { details: { table } },
    );
  }
  const jobs: Job[] = [];
  let start: Key | undefined;
  do {
    const page = encodePartition(table, { index, partition: JOBS, start, consistent: true });
    const { Items = [], LastEvaluatedKey } = await session.send("Query", page, context);
    for (const item of Items) jobs.push(readJob(session, item, jobIdOf(textIn(item[index.sortKey ?? ""]))));
    start = LastEvaluatedKey;
  } while (start);
  return jobs;
};

/** A lease that is not written yet. */
export const newLease = (session: Session, { id, kind, duration, facts }: Omit<LeaseRequest, "resumes">): Lease => {
  const until = session.effects.now() + duration;
  return {
    job: { id, kind, running: true, leasedUntil: until, runs: 1, facts },
    key: systemKeyItem(session.catalog, jobState(id)),
    holder: holderName(newToken(session), duration),
    duration,
    until,
  };
};

/** The item of a job that begins under a lease. */
export const newJobItem = (session: Session, { job, key, holder, until }: Lease): Item => ({
  ...key,
  ...systemType(session.catalog, JOB_TYPE),
  [KIND]: { S: job.kind },
  [HOLDER]: { S: holder },
  [UNTIL]: { N: String(until) },
  [RUNS]: { N: "1" },
  [JOB_FACTS]: encodeFacts(job.facts),
});

const FAILED = { reason: "conditionFailed" } as const;

const encode = (session: Session, step: UpdateStep | DeleteStep): UpdateItemInput & DeleteItemInput => {
  const { table, index } = session.catalog;
  return encodeSingle({ table, partitionKey: index.partitionKey }, step).input as UpdateItemInput & DeleteItemInput;
};

const isOurs = ({ holder }: Lease) => ({ kind: "equals", attribute: HOLDER, value: { S: holder }, failure: FAILED }) as const;

/**
 * Takes a job's lease if no process holds it. A lease is free if it has expired by this process's clock, or if it was not renewed
 * for its whole duration while this process watched it. If the holder's clock is ahead, the second happens earlier.
 *
 * @throws {job.busy} while another process holds it
 * @throws {job.mismatch} if the name belongs to a job of another kind
 * @throws {job.notFound} if the job must exist and does not
 */
export const takeLease = async (session: Session, request: LeaseRequest, context: CallContext): Promise<Lease> => {
  const { id, kind, facts, resumes } = request;
  const lease = newLease(session, request);
  const now = session.effects.now();
  const abandoned = abandonedLease(session, id);
  const taking: UpdateStep = {
    kind: "update",
    key: lease.key,
    shape: undefined,
    terms: [
      ...(abandoned
        ? ([
            { kind: "equals", attribute: HOLDER, value: { S: abandoned.holder }, failure: FAILED },
            { kind: "equals", attribute: UNTIL, value: { N: String(abandoned.until) }, failure: FAILED },
          ] as const)
        : // An absent lease is below no limit of 0, where a virtual clock begins.
          ([{ kind: "below", attribute: UNTIL, limit: Math.max(now, 1), failure: FAILED }] as const)),
      { kind: "equals", attribute: KIND, value: { S: kind }, orAbsent: !resumes, failure: FAILED },
    ],
    changes: {
      set: {
        [KIND]: { S: kind },
        [HOLDER]: { S: lease.holder },
        [UNTIL]: { N: String(lease.until) },
        ...systemType(session.catalog, JOB_TYPE),
      },
      defaults: { [JOB_FACTS]: encodeFacts(facts) },
      remove: [],
      add: { [RUNS]: { N: "1" } },
      append: {},
    },
  };
  try {
    const { Attributes = {} } = await session.send("UpdateItem", encode(session, taking), context);
    return { ...lease, job: readJob(session, Attributes, id) };
  } catch (error) {
    if (!isFailedCondition(error)) {
      // The lease may have been taken nevertheless. Release it, so that the next process need not wait until it expires.
      const mayHaveHappened = !isEdgetableError(error) || error.details["ambiguous"] !== false || error.details["afterAmbiguity"] === true;
      if (mayHaveHappened) await releaseLease(session, lease);
      throw error;
    }
    const found = error.details["item"] as Item | undefined;
    if (!found && resumes) throw notFound(id);
    const job = readJob(session, found ?? {}, id);
    // An earlier attempt, whose response was lost, took it.
    if (textIn(found?.[HOLDER]) === lease.holder) return { ...lease, job };
    if (found && job.kind !== kind)
      throw new EdgetableError("job.mismatch", `"${id}" is a job of another kind (${job.kind}, not ${kind}). Give this one another name.`, {
        details: { id, kind: job.kind, wanted: kind },
      });
    const left = Math.max(0, job.leasedUntil - now);
    throw new EdgetableError(
      "job.busy",
      `The job "${id}" is running elsewhere; its lease is valid for another ${left} ms unless it is renewed. Wait for the job, or try again then.`,
      { retryable: true, details: { id, retryAfter: left } },
    );
  }
};

interface Saved {
  readonly until: number;
  readonly facts: JobFacts | undefined;
}

/** Writes the lease's expiry and, if given, the job's facts. Returns false if another process has taken the lease. */
const saveLease = async (session: Session, lease: Lease, { until, facts }: Saved, context: CallContext): Promise<boolean> => {
  const set: Item = { [UNTIL]: { N: String(until) }, ...(facts && { [JOB_FACTS]: encodeFacts(facts) }) };
  const changes = { set, remove: [], add: {}, append: {} };
  const saving: UpdateStep = { kind: "update", key: lease.key, shape: undefined, terms: [isOurs(lease)], changes };
  try {
    await session.send("UpdateItem", encode(session, saving), context);
    return true;
  } catch (error) {
    if (isFailedCondition(error)) return false;
    throw error;
  }
};

/** Renews a lease and saves the job's facts. Marks the lease as lost if another process has taken it. */
export const renewLease = async (session: Session, lease: Lease, facts: JobFacts, context: CallContext): Promise<void> => {
  const until = session.effects.now() + lease.duration;
  lease.until = (await saveLease(session, lease, { until, facts }, context)) ? until : 0;
};

// Time limit in milliseconds to release the lease of an aborted job, or if the service does not respond.
const RELEASE_LIMIT = 2000;

/**
 * Releases the lease of an interrupted job, for the process that resumes it. Never rejects: the caller reports the error that
 * interrupted the job, and a lease that cannot be released expires.
 *
 * @param facts what to save; without them, the saved facts stay
 */
export const releaseLease = async (session: Session, lease: Lease, facts?: JobFacts): Promise<void> => {
  const context = bookkeeping(session, Math.min(RELEASE_LIMIT, lease.duration));
  // A negative value means that no process holds it; `verify` shows when one last did.
  await saveLease(session, lease, { until: -session.effects.now(), facts }, context).catch(() => undefined);
};

/** Deletes the state of a completed job, unless another process has taken it. */
export const endJob = async (session: Session, lease: Lease, context: CallContext): Promise<void> => {
  const ending: DeleteStep = { kind: "delete", key: lease.key, shape: undefined, terms: [isOurs(lease)] };
  try {
    await session.send("DeleteItem", encode(session, ending), context);
  } catch (error) {
    if (!isFailedCondition(error)) throw error;
  }
};

/** @throws {job.busy} if the lease expired or another process took it */
export const checkLease = (session: Session, lease: Lease): void => {
  if (lease.until > session.effects.now()) return;
  throw new EdgetableError(
    "job.busy",
    `The job "${lease.job.id}" lost its lease: it was not renewed within ${lease.duration} ms, or another process took it. Completed work is kept; resume the job.`,
    { retryable: true, details: { id: lease.job.id } },
  );
};
