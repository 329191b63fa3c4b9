import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import { checkRun, reportOf, runChecks, type Report, type RunOptions } from "../executor/call.ts";
import {
  openDeletion,
  progressOf,
  reopenDeletion,
  runDeletion,
  type Deletion,
  type DeletionProgress,
  type DeletionResult,
  type DeletionSettings,
} from "../executor/jobs/delete-node.ts";
import { openCopyJob, runCopyJob } from "../executor/jobs/copy-job.ts";
import {
  bookkeeping,
  checkLease,
  endJob,
  findJob,
  type Job,
  type JobFacts,
  listJobs as list,
  takeLease,
} from "../executor/jobs/job-store.ts";
import { abortedByClose, abortedWork, REQUEST_DEADLINE, runJob } from "../executor/jobs/run-job.ts";
import { runReshard, type ReshardReport } from "../executor/reshard/run-reshard.ts";
import type { DeleteWrite } from "../ir/logical-write.ts";
import { readWhere } from "../ir/condition.ts";
import type { WriteOutcome } from "../ir/write-outcome.ts";
import { jobNameOf } from "../schema/tenant-keys.ts";
import { checkEnd, checkKey, checkNodeId } from "../schema/check-values.ts";
import { briefly, checkOptions, checkSignal, type OptionChecks } from "../util/check-options.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import { jsonText } from "../util/json-text.ts";
import type { Row } from "../util/row.ts";
import { checkIndex } from "./check-names.ts";
import type { Driver } from "./driver.ts";
import {
  checkJobName,
  INDEX_LAG,
  jobChecks,
  LEASE,
  type OwnJob,
  type OwnJobOptions,
  type RefusedJob,
  type ReshardOptions,
  type ResumedJobs,
  type ResumeOptions,
} from "./job-options.ts";
import { outcomeOfFailure, writeCall, type WriteDriver } from "./write-call.ts";
import type { JobHandle, JobOptions } from "./write-types.ts";

type Outcome = WriteOutcome<unknown>;

/** A requested deletion. */
export interface AskedDeletion {
  readonly write: DeleteWrite;
  readonly options: JobOptions;
}

// Without a deadline, a job has no time limit.
const deletionSettings = (driver: WriteDriver, options: JobOptions, run: RunOptions): DeletionSettings => ({
  indexLag: options.indexLag ?? INDEX_LAG,
  lease: options.lease ?? LEASE,
  signal: run.signal,
  deadline: run.deadline === undefined ? Number.POSITIVE_INFINITY : driver.context(run).deadline,
  onProgress: options.onProgress,
});

const outcomeOf = (result: DeletionResult): Outcome =>
  result.ok ? { ok: true, row: result.row, cost: result.cost, atomic: result.atomic } : outcomeOfFailure(result.failed[0], result.cost);

const startJob = (deletion: Deletion, resumes: boolean): JobHandle<Outcome> => {
  const done = runDeletion(deletion, resumes).then(outcomeOf);
  // Only `done` reports a failure, and callers need not await it.
  done.catch(() => undefined);
  return { id: deletion.id, progress: () => progressOf(deletion), done };
};

const openAsked = (driver: WriteDriver, { write, options }: AskedDeletion, run: RunOptions): Deletion => {
  const idempotent = write.idempotent ?? driver.idempotent;
  return openDeletion(driver.session, { ...write, idempotent }, deletionSettings(driver, options, run));
};

/** Deletes a node with its parts and cascading edges. */
export const makeDeletion = async (driver: WriteDriver, asked: AskedDeletion, run: RunOptions): Promise<Report<Outcome>> => {
  const deletion = openAsked(driver, asked, run);
  const outcome = outcomeOf(await runDeletion(deletion, false));
  return reportOf(outcome, { cost: deletion.cost, requests: deletion.requests });
};

/** Begins to delete a node with its parts and cascading edges. */
export const startDeletion = (driver: WriteDriver, asked: AskedDeletion, run: RunOptions): JobHandle<Outcome> =>
  startJob(openAsked(driver, asked, run), false);

const resumeDeletion = (driver: WriteDriver, job: Job, options: ResumeOptions): JobHandle<Outcome> =>
  startJob(reopenDeletion(driver.session, job, deletionSettings(driver, options, options)), true);

const resumeCopies = (driver: WriteDriver, { id }: Job, options: ResumeOptions): JobHandle<Outcome> => {
  const { onProgress: _onProgress, ...settings } = deletionSettings(driver, options, options);
  const job = openCopyJob(driver.session, id, settings);
  const done = runCopyJob(job).then(({ items, cost }): Outcome => ({ ok: true, row: undefined, cost, atomic: { kind: "job", id, items } }));
  done.catch(() => undefined);
  const progress = (): DeletionProgress => ({
    items: job.items,
    sweeps: job.pass,
    requests: job.cost.requests,
    writeUnits: job.cost.writeUnits,
  });
  return { id, progress, done };
};

export const listJobs = (driver: WriteDriver, options?: RunOptions): Promise<readonly Job[]> =>
  list(driver.session, driver.context(checkRun(options)));

/** The id of a job, from the name that the program gave it or from its id in the list. */
const knownIdOf = (driver: WriteDriver, id: string): string =>
  /^(?:delete|copy) |^\{.*\} /s.test(id) ? id : jobNameOf(driver.catalog, id);

const resumeChecks: OptionChecks<ResumeOptions> = { ...jobChecks, ...runChecks };

const mismatch = (id: string, message: string): EdgetableError =>
  new EdgetableError("job.mismatch", `"${id}" ${message}`, { details: { id } });

export const resumeJob = async (driver: WriteDriver, id: string, options: ResumeOptions): Promise<JobHandle<Outcome>> => {
  checkOptions(options, resumeChecks);
  const job = await findJob(driver.session, knownIdOf(driver, id));
  if (job.kind === "load") throw mismatch(id, "is a load: resume it by the same db.load(source, { job }).");
  if (job.kind === "reshard") throw mismatch(id, "moves items to their shards: resume it by the same db.reshard({ job }).");
  if (job.kind === "custom") throw mismatch(id, "is a job of your own: resume it by the same db.jobs.run(id, options, work).");
  if (job.kind === "verify") throw mismatch(id, "verifies the table: resume it by the same verify(db, { job }).");
  if (job.kind === "migrate") throw mismatch(id, "migrates the table: resume it by db.migrations.run().");
  if (job.kind === "stream") throw mismatch(id, "is a stream consumer's position: any consumer of that name continues from it.");
  return job.kind === "copy" ? resumeCopies(driver, job, options) : resumeDeletion(driver, job, options);
};

export const resumeAllJobs = async (driver: WriteDriver, options: ResumeOptions): Promise<ResumedJobs> => {
  checkOptions(options, resumeChecks);
  const jobs = (await listJobs(driver)).filter(({ kind }) => kind === "delete" || kind === "copy");
  const resumed: JobHandle<Outcome>[] = [];
  const refused: RefusedJob[] = [];
  for (const job of jobs.filter(({ running }) => !running)) {
    try {
      resumed.push((job.kind === "copy" ? resumeCopies : resumeDeletion)(driver, job, options));
    } catch (error) {
      // A job that another model began does not keep the others from being resumed.
      if (!isEdgetableError(error, "job.mismatch")) throw error;
      refused.push({ id: job.id, error });
    }
  }
  return { resumed, leased: jobs.filter(({ running }) => running), refused };
};

export const forgetJob = async (driver: WriteDriver, given: string): Promise<void> => {
  const { session } = driver;
  const id = knownIdOf(driver, given);
  const { kind, facts } = await findJob(session, id);
  if (kind === "delete") throw mismatch(id, "deletes a node that is marked for it: resume the job, it cannot be forgotten.");
  if (kind === "copy") throw mismatch(id, "changes copies that are old until it ends: resume the job, it cannot be forgotten.");
  if (kind === "migrate") throw mismatch(id, "migrates the table: run it to its end, or undo it by db.migrations.undo().");
  const context = driver.context({});
  const lease = await takeLease(session, { id, kind, duration: 1000, facts, resumes: true }, context);
  await endJob(session, lease, context);
};

const ownJobChecks: OptionChecks<OwnJobOptions> = {
  fingerprint: (text: string) => {
    if (typeof text === "string" && text.length <= 1000) return;
    throw new EdgetableError("plan.invalidOption", `fingerprint is ${briefly(text)}: give a text of at most 1,000 characters.`, {
      details: { option: "fingerprint", value: text },
    });
  },
  lease: [100, 600_000],
  signal: checkSignal,
};

const FINGERPRINT = "fingerprint";

const checkFacts = (facts: JobFacts): void => {
  for (const [name, value] of Object.entries(facts)) {
    if (name !== FINGERPRINT && (typeof value === "string" || Number.isFinite(value))) continue;
    throw new EdgetableError(
      "plan.invalidOption",
      `A job cannot save "${name}" as ${typeof value === "number" ? value : jsonText(value)}: give text and finite numbers, under names other than "${FINGERPRINT}".`,
      { details: { option: name, value } },
    );
  }
};

/** Writes derived attributes of freshness `batch`. Nothing else sets them. */
const setDerived = async (
  driver: WriteDriver,
  { name, id, values }: { readonly name: string; readonly id: Row; readonly values: Row },
  condition: Row = {},
): Promise<Outcome> => {
  const { catalog } = driver;
  const { nodes, edges, facts } = catalog;
  const [node, edge] = [nodes[name], edges[name]];
  if (!node && !edge) {
    const known = [...Object.keys(nodes), ...Object.keys(edges)];
    throw new EdgetableError("schema.unknownNode", `There is no node or edge "${name}".${didYouMean(name, known)}`, {
      details: { node: name },
    });
  }
  const declared = node ? facts.aggregates.filter((fact) => fact.node === name) : facts.summaries.filter((fact) => fact.edge === name);
  const kept = declared.filter(({ freshness }) => freshness === "batch").map(({ attribute }) => attribute);
  const other = Object.keys(values).find((name) => !kept.includes(name));
  if (other !== undefined)
    throw new EdgetableError(
      "plan.invalidOption",
      `"${other}" of "${name}" is not kept in batch. ${kept.length === 0 ? "No attribute of it is" : `These are: ${kept.join(", ")}`}.`,
      { details: { attribute: other, known: kept } },
    );
  const set: Record<string, unknown> = {};
  const remove: string[] = [];
  for (const [attribute, value] of Object.entries(values)) {
    if (value === undefined) remove.push(attribute);
    else set[attribute] = value;
  }
  const how = {
    changes: { set, remove, add: {}, append: {} },
    guards: { where: readWhere(condition), version: undefined },
    idempotent: undefined,
    keepsVersion: true,
  } as const;
  // The schema does not know derived attributes.
  const unchecked = { ...driver, validates: false };
  if (node) return writeCall(unchecked, { kind: "update", of: "node", name, id: checkNodeId(catalog, node, id), ...how });
  const { from, to, ...key } = id;
  const ends = { from: checkEnd(catalog, edge!.from, from), to: checkEnd(catalog, edge!.to, to) };
  const own = { key: checkKey(name, edge!.key, key), reverse: {}, type: undefined, validates: false };
  return writeCall(unchecked, { kind: "relink", edge: name, ...ends, ...own, ...how });
};

/** A job of the program's own, and its options. */
interface OwnWork<Result> {
  readonly options: OwnJobOptions;
  readonly work: (job: OwnJob) => Promise<Result>;
}

/** Runs a program's own job; see `Jobs`. */
export const runOwnJob = async <Result>(driver: WriteDriver, name: string, { options, work }: OwnWork<Result>): Promise<Result> => {
  checkJobName(name);
  const id = jobNameOf(driver.catalog, name);
  checkOptions(options, ownJobChecks);
  if (typeof work !== "function")
    throw new EdgetableError("plan.invalidOption", `The work of a job is a function (job) => …, got ${jsonText(work)}.`, {
      details: { option: "work", value: work },
    });
  const { session } = driver;
  const { fingerprint = "", lease: duration = LEASE } = options;
  const named = { what: `The job "${id}"`, advice: "Completed work is kept; call again to resume." };
  const { signal, track } = abortedByClose(session, options.signal, named);
  const run = async (): Promise<Result> => {
    const request = { id, kind: "custom", duration, facts: { [FINGERPRINT]: fingerprint }, resumes: false } as const;
    const lease = await takeLease(session, request, { ...bookkeeping(session, REQUEST_DEADLINE), signal });
    const { [FINGERPRINT]: begunWith = "", ...saved } = lease.job.facts;
    let facts: JobFacts = saved;
    const job: OwnJob = {
      saved,
      save: (given) => {
        checkFacts(given);
        facts = { ...given };
      },
      check: () => {
        checkLease(session, lease);
        if (signal.aborted) throw abortedWork(named, signal);
      },
      setDerived: async (definition, of, values, condition) => {
        job.check();
        return setDerived(driver, { name: definition, id: of, values }, condition);
      },
      signal,
    };
    return runJob(session, lease, {
      facts: () => ({ ...facts, [FINGERPRINT]: begunWith }),
      run: async () => {
        if (begunWith === fingerprint) return work(job);
        throw mismatch(
          id,
          `was begun with another input (${jsonText(begunWith)}, now ${jsonText(fingerprint)}). Give this job another name, or forget that one.`,
        );
      },
    });
  };
  return track(run());
};

const reshardChecks: OptionChecks<ReshardOptions> = {
  index: "string",
  rate: [1, 100_000],
  job: checkJobName,
  ...jobChecks,
  signal: checkSignal,
  deadline: [1, Number.MAX_SAFE_INTEGER],
};

/** Moves items; see `Reshard`. */
export const reshardItems = async (driver: Driver, options: ReshardOptions): Promise<ReshardReport> => {
  checkOptions(options, reshardChecks);
  if (options.index !== undefined) checkIndex(driver, options.index);
  const { index, rate = 100, job = "reshard", lease = LEASE, indexLag = INDEX_LAG, signal, deadline, onProgress } = options;
  const { session } = driver;
  const end = deadline === undefined ? Number.POSITIVE_INFINITY : session.effects.now() + deadline;
  return runReshard(session, { index, rate, job, lease, indexLag, signal, deadline: end, onProgress, records: true });
};
