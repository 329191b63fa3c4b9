import { driverOf } from "../client/driver.ts";
import { checkJobName, LEASE } from "../client/job-options.ts";
import { addCosts, type Cost, Meter } from "../executor/call.ts";
import { bookkeeping, takeLease } from "../executor/jobs/job-store.ts";
import { newRun, REQUEST_DEADLINE, type Run, runJob } from "../executor/jobs/run-job.ts";
import { isEdgetableError } from "../errors/edgetable-error.ts";
import { readRecord, refuseOtherKeys } from "../executor/model-record.ts";
import { newToken } from "../executor/run-write.ts";
import type { Session } from "../executor/session.ts";
import { compareRow, followDocuments } from "../grids/keep-values.ts";
import { loadRules } from "../planner/writes/rules/index.ts";
import { checkOptions, checkSignal, type OptionChecks } from "../util/check-options.ts";
import { mayLeadOn } from "./chain.ts";
import { convertedField, type Converted } from "./check-row.ts";
import { type KindReport, openCollector } from "./collect.ts";
import type { Finding, Problem } from "./finding.ts";
import { aloneJudge } from "./judge-alone.ts";
import { rebuildStreamed } from "./read-streamed.ts";
import { type RepairWrite, shownWrites } from "./shown-writes.ts";
import { checkStateFile, fingerprintOf, readState, removeState, type SavedState, saveState, stateFileOf } from "./state-file.ts";
import { costOf, progressOf, runVerification, type Verification, type VerifyProgress, type VerifySettings } from "./run-verify.ts";
import { bitsFor, openTallies } from "./tallies.ts";

/** How a table is verified. */
export interface VerifyOptions {
  /** Parts into which the table is divided, 1 to 1,000,000. @default 8 */
  readonly segments?: number;
  /** Segments that are read at the same time, 1 to 1,000. @default 8 */
  readonly concurrency?: number;
  /** The most read units a second that the scan takes, 1 to 10,000,000. @default as fast as it goes */
  readonly units?: number;
  /**
   * Stops after about so many items, 1 to 10^12, and says nothing about facts that several items tell: a quick look.
   * @default none
   */
  readonly limit?: number;
  /** Mends what was found. `"dryRun"` tells `onWrite` what it would write, and writes nothing. @default false */
  readonly repair?: boolean | "dryRun";
  /**
   * Lets `repair` delete data that nothing refers to any more: dangling edges, parts without their node, items that nothing
   * claims, abandoned jobs. @default false
   */
  readonly deleteOrphans?: boolean;
  /**
   * What it means that the two copies of an edge differ in an attribute: an application may write them so on purpose
   * (`reverse`). `report` tells them and mends nothing, `keep` finds nothing wrong in it, `mend` lets the second copy follow
   * the first one. @default "report"
   */
  readonly differing?: "report" | "keep" | "mend";
  /** Findings of each kind that the report holds, 0 to 100,000; it counts all. @default 10 */
  readonly examples?: number;
  /** Items that the table holds, roughly: sizes the memory. 1 to 10^12. @default what DescribeTable tells */
  readonly expectedItems?: number;
  /**
   * Milliseconds between the two readings in which a problem of several items must be the same, 0 to 600,000: longer than
   * a batch takes to write both copies of an edge. @default 1,000
   */
  readonly settle?: number;
  /**
   * Milliseconds for which an attribute that the stream maintains must stay wrong to be a finding, 0 to 600,000: longer than your stream
   * processor lags. @default 10,000
   */
  readonly staleAfter?: number;
  /**
   * Name of a job, 1 to 200 characters: the same call resumes one that was cut off, on the machine that has its `state`.
   * No other process can run a job of that name at the same time. Writes an item to the table and removes it at the end. @default no job
   */
  readonly job?: string;
  /** Of a job: the file in which its state is kept, some 8 MB and 16 bytes for each item. @default one in the folder of temporary files */
  readonly state?: string;
  /** Of a job: milliseconds between two savings, 0 to 3,600,000. @default 30,000 */
  readonly saveEvery?: number;
  /** Of a job: milliseconds after which one whose process died may be resumed, 100 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Ends the verification with `execute.aborted`; a job can then be resumed. */
  readonly signal?: AbortSignal;
  /** Milliseconds for all of it, 1 to 2,147,483,647. @default none */
  readonly deadline?: number;
  /** Called with every finding, as it is found. */
  readonly onFinding?: (finding: Finding) => void;
  /** Called with every write of a repair before it is sent, or in place of it (`"dryRun"`). */
  readonly onWrite?: (write: RepairWrite) => void;
  /** Called with how far it has come. */
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number;
}

/** What a verification has found. */
export interface VerifyReport {
  /** True if nothing is wrong, or everything was mended. What is harmless does not count. */
  readonly clean: boolean;
  /** Whether it went on from where an earlier run of the job was cut off. */
  readonly resumed: boolean;
  /** Items of the table, Edgetable's own included. */
  readonly items: number;
  /** What was found, by kind; kinds of which nothing was found are left out. */
  readonly kinds: readonly KindReport[];
  /** Items that writers kept changing while they were looked at: nothing is said about these. */
  readonly unsettled: number;
  /** The probability, 0 to 1, with which a single edge or part without its node was overlooked. */
  readonly overlooked: number;
  readonly cost: Cost;
}

const EXAMPLES = 10;
const SAVE_EVERY = 30_000;

const verifyChecks: OptionChecks<VerifyOptions> = {
  segments: [1, 1_000_000],
  concurrency: [1, 1000],
  units: [1, 10_000_000],
  limit: [1, 1e12],
  repair: (given: unknown) => given === "dryRun" || checkOptions({ repair: given }, { repair: "boolean" }),
  deleteOrphans: "boolean",
  differing: ["report", "keep", "mend"],
  examples: [0, 100_000],
  expectedItems: [1, 1e12],
  settle: [0, 600_000],
  staleAfter: [0, 600_000],
  job: checkJobName,
  state: "string",
  saveEvery: [0, 3_600_000],
  lease: [100, 600_000],
  signal: checkSignal,
  deadline: [1, 2_147_483_647],
  onFinding: "function",
  onWrite: "function",
  onProgress: "function",
  progressEvery: [1, 600_000],
};

/** The renamed and retyped attributes of which the table's record says that items have the form which the model writes. */
const convertedFields = async (session: Session, run: Run): Promise<Converted | undefined> => {
  const { catalog, effects } = session;
  const shapes = catalog.shapes.filter(({ former }) => former);
  if (shapes.length === 0) return undefined;
  const deadline = Math.min(run.deadline, effects.now() + REQUEST_DEADLINE);
  const meter = new Meter(0);
  try {
    const { current } = await readRecord(session, { meter, signal: run.signal, deadline });
    run.cost = addCosts(run.cost, meter.cost);
    return new Set(
      shapes.flatMap((shape) =>
        Object.entries(shape.former ?? {})
          .filter(([field, { stored }]) => current?.model.items[shape.id]?.former?.[field]?.stored === stored)
          .map(([field]) => convertedField(shape, field)),
      ),
    );
  } catch (error) {
    // The verification names a record that does not read.
    if (!isEdgetableError(error, "migrate.brokenRecord")) throw error;
    return undefined;
  }
};

/** One call of `verify`. */
interface VerifyCall {
  readonly session: Session;
  readonly run: Run;
  readonly settings: VerifySettings;
  readonly given: VerifyOptions;
}

/** Where a job keeps its state, and under which names. */
interface Keeping extends Pick<SavedState, "run" | "fingerprint"> {
  readonly path: string;
}

const openVerification = async (call: VerifyCall, keeping: Keeping | undefined) => {
  const { session, run, settings, given } = call;
  const meter = new Meter(0);
  const saved = keeping && (await readState(keeping.path, keeping));
  let tallies = saved?.tallies;
  if (!tallies) {
    const { effects, catalog } = session;
    const context = { meter, signal: run.signal, deadline: Math.min(run.deadline, effects.now() + REQUEST_DEADLINE) };
    const { Table } = await session.send("DescribeTable", { TableName: catalog.table }, context);
    const bits = bitsFor(given.expectedItems ?? Table?.ItemCount ?? 0);
    tallies = openTallies({ seed: Math.floor(effects.random() * 2 ** 32), bits });
  }
  const collector = openCollector(given.examples ?? EXAMPLES, saved?.state.kinds);
  const { pass = 1, position, items = 0, unsettled = 0, again = 0 } = saved?.state ?? {};
  const save = async (): Promise<void> => {
    if (!keeping) return;
    const { run: name, fingerprint, path } = keeping;
    const reached = { pass: verification.pass, position: verification.position, items: verification.items, again: verification.again };
    await saveState(
      path,
      { run: name, fingerprint, ...reached, unsettled: verification.unsettled, kinds: collector.kinds },
      verification.tallies,
    );
  };
  const verification: Verification = {
    run,
    settings,
    tallies,
    collector,
    pass,
    scans: pass - 1,
    position,
    items,
    seen: 0,
    unsettled,
    again,
    // Nobody knows what the run before mended after it was saved: the sums of what was read still hold the wrong values.
    leadsOn: saved !== undefined && settings.repair?.mode === "repair" && settings.limit === undefined && mayLeadOn(session.catalog),
    meter,
    reported: session.effects.now(),
    save: keeping && save,
    saveEvery: given.saveEvery ?? SAVE_EVERY,
  };
  return { verification, resumed: saved !== undefined };
};

const runAndReport = async (opened: Awaited<ReturnType<typeof openVerification>>): Promise<VerifyReport> => {
  const { verification, resumed } = opened;
  await runVerification(verification);
  const { collector, items, unsettled, tallies } = verification;
  const { kinds } = collector;
  // What follows from the last repairs has not been looked at.
  const isPending = verification.leadsOn === true;
  const clean = !isPending && kinds.every(({ isHarmless, count, repaired }) => isHarmless || count === repaired);
  return { clean, resumed, items, kinds, unsettled, overlooked: tallies.overlooked(), cost: costOf(verification) };
};

/** Runs a verification as a job, whose state is in a file beside the lease in the table. */
const runAsJob = async (call: VerifyCall, job: string): Promise<VerifyReport> => {
  const { session, run, settings, given } = call;
  const { table } = session.catalog;
  const path = given.state ?? stateFileOf(table, job);
  // Told before the job is begun, not after half of the work.
  await checkStateFile(path);
  const begun = { run: newToken(session), pass: 1, items: 0, findings: 0 };
  const request = { id: job, kind: "verify", duration: given.lease ?? LEASE, facts: begun, resumes: false } as const;
  run.lease = await takeLease(session, request, { ...bookkeeping(session, REQUEST_DEADLINE), signal: run.signal });
  const facts = { ...begun, ...run.lease.job.facts };
  const keeping = { run: facts.run, fingerprint: fingerprintOf(session.catalog, settings.differing), path };
  let opened: Awaited<ReturnType<typeof openVerification>> | undefined;
  return runJob(session, run.lease, {
    facts: () => {
      if (!opened) return facts;
      const { pass, items, findings } = progressOf(opened.verification);
      return { run: keeping.run, pass, items, findings };
    },
    run: async () => {
      opened = await openVerification(call, keeping);
      if (!opened.resumed) await opened.verification.save?.();
      const report = await runAndReport(opened);
      await removeState(keeping.path);
      return report;
    },
  });
};

/**
 * Verifies a whole table against its model: every item by itself, and every fact that two items tell by both of them. Reads
 * the table once by an eventually consistent, parallel Scan, at half a read unit for each 4 KB, and once more if items
 * disagree. Whatever looks wrong is judged by strongly consistent reads of everything that it depends on, so that concurrent
 * writers cause no false finding. Takes 8 MB, and 16 bytes for each item of the table up to 128 MB, however much is wrong.
 *
 * @param db the connection of the model
 * @throws {plan.invalidOption} when `db` is no connection, or an option is out of its range
 * @throws {execute.tableNotFound} when there is no such table
 * @throws {job.busy} while another process runs the job
 * @example
 * const { clean, kinds } = await verify(db, { units: 500 });
 * for (const { kind, count, examples } of kinds) console.log(kind, count, examples[0]?.reason);
 */
export const verify = async (db: object, options: VerifyOptions = {}): Promise<VerifyReport> => {
  const { session } = driverOf(db);
  const given = checkOptions(options, verifyChecks);
  const { segments = 8, concurrency = 8, units, limit, differing = "report", settle = 1000, staleAfter = 10_000, job } = given;
  const { repair = false, onWrite, deleteOrphans = false, onFinding, onProgress, progressEvery = 1000 } = given;
  const mode = repair === "dryRun" ? repair : "repair";
  const tellWrites = (by: Run, problem: Problem): void => {
    for (const write of shownWrites(by, problem)) onWrite?.(write);
  };
  const settings: VerifySettings = {
    segments,
    concurrency,
    units,
    differing,
    streamed: true,
    alone: aloneJudge,
    documents: { compareRow, followDocuments },
    rebuild: rebuildStreamed,
    settle,
    staleAfter,
    limit,
    repair: repair === false ? undefined : { mode, deletesOrphans: deleteOrphans, onMend: onWrite && tellWrites },
    onFinding,
    onProgress,
    progressEvery,
  };
  const again = job === undefined ? "call again" : "call again to resume";
  const run = newRun(session, {
    what: "The verification",
    advice: settings.repair?.mode === "repair" ? `Completed repairs are kept; ${again}.` : `Nothing was changed; ${again}.`,
    signal: given.signal,
    deadline: given.deadline === undefined ? Number.POSITIVE_INFINITY : session.effects.now() + given.deadline,
  });
  const call: VerifyCall = { session, run, settings, given };
  const work = async (): Promise<VerifyReport> => {
    await loadRules(session.catalog);
    try {
      const told: VerifyCall = { ...call, settings: { ...settings, converted: await convertedFields(session, run) } };
      return job === undefined ? await runAndReport(await openVerification(told, undefined)) : await runAsJob(told, job);
    } catch (error) {
      if (isEdgetableError(error, "execute.rejected"))
        await refuseOtherKeys(session, { meter: new Meter(0), signal: run.signal, deadline: session.effects.now() + REQUEST_DEADLINE });
      throw error;
    }
  };
  return run.track(work());
};
