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

/** Options of a verification. */
export interface VerifyOptions {
  /** Number of segments into which the table is divided, 1 to 1,000,000. @default 8 */
  readonly segments?: number;
  /** Number of segments read in parallel, 1 to 1,000. @default 8 */
  readonly concurrency?: number;
  /** Maximum read units per second of the scan, 1 to 10,000,000. @default no limit */
  readonly units?: number;
  /**
   * Stops after about this many items, 1 to 10^12, and does not check facts that concern several items: a quick check.
   * @default none
   */
  readonly limit?: number;
  /** True to repair findings. `"dryRun"` calls `onWrite` with each write instead of sending it. @default false */
  readonly repair?: boolean | "dryRun";
  /**
   * Allows `repair` to delete data without references: dangling edges, parts without their node, unclaimed items, abandoned jobs.
   * @default false
   */
  readonly deleteOrphans?: boolean;
  /**
   * What to do if the two copies of an edge differ in an attribute, which an application may intend (`reverse`). `report` reports
   * them without a repair, `keep` accepts them, `mend` changes the second copy to match the first one. @default "report"
   */
  readonly differing?: "report" | "keep" | "mend";
  /** Maximum number of findings of each kind that the report lists, 0 to 100,000; it counts all. @default 10 */
  readonly examples?: number;
  /** Approximate number of items in the table, which determines the memory used, 1 to 10^12. @default the number of DescribeTable */
  readonly expectedItems?: number;
  /**
   * Milliseconds between two readings that must show the same problem of several items, 0 to 600,000. It should be longer than a
   * batch takes to write both copies of an edge. @default 1,000
   */
  readonly settle?: number;
  /**
   * Milliseconds for which an attribute maintained by stream must stay wrong to be a finding, 0 to 600,000. It should be longer
   * than the lag of your stream processor. @default 10,000
   */
  readonly staleAfter?: number;
  /**
   * Name of a job, 1 to 200 characters: the same call resumes an interrupted job, on the machine that has its `state`. No other
   * process can run a job of that name at the same time. Writes an item to the table and removes it at the end. @default no job
   */
  readonly job?: string;
  /** For a job: the file with its state, some 8 MB plus 16 bytes for each item. @default one in the folder of temporary files */
  readonly state?: string;
  /** For a job: milliseconds between two saves of the state, 0 to 3,600,000. @default 30,000 */
  readonly saveEvery?: number;
  /** For a job: milliseconds until another process may resume it if its process died, 100 to 600,000. @default 10,000 */
  readonly lease?: number;
  /** Ends the verification with `execute.aborted`; a job can then be resumed. */
  readonly signal?: AbortSignal;
  /** Time limit of the whole verification in milliseconds, 1 to 2,147,483,647. @default none */
  readonly deadline?: number;
  /** Called with every finding, as it is found. */
  readonly onFinding?: (finding: Finding) => void;
  /** Called with every write of a repair before it is sent, or in place of it (`"dryRun"`). */
  readonly onWrite?: (write: RepairWrite) => void;
  /** Called with the progress. */
  readonly onProgress?: (progress: VerifyProgress) => void;
  /** Milliseconds between two calls of `onProgress`, 1 to 600,000. @default 1,000 */
  readonly progressEvery?: number;
}

/** The report of a verification. */
export interface VerifyReport {
  /** True if nothing is wrong, or everything was repaired. Harmless findings do not count. */
  readonly clean: boolean;
  /** True if it continued an interrupted job. */
  readonly resumed: boolean;
  /** Number of items in the table, including Edgetable's own. */
  readonly items: number;
  /** The findings by kind, without kinds that have no findings. */
  readonly kinds: readonly KindReport[];
  /** Items that writers kept changing during the check. The report does not cover them. */
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

/** The renamed and retyped attributes that, according to the table's record, all items have in the form that the model writes. */
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

/** The places and names of a job's state. */
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
    // The repairs of the earlier run after its last save are not known, so the sums still include the wrong values.
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
  // The effects of the last repairs have not been checked.
  const isPending = verification.leadsOn === true;
  const clean = !isPending && kinds.every(({ isHarmless, count, repaired }) => isHarmless || count === repaired);
  return { clean, resumed, items, kinds, unsettled, overlooked: tallies.overlooked(), cost: costOf(verification) };
};

/** Runs a verification as a job, whose state is in a file beside the lease in the table. */
const runAsJob = async (call: VerifyCall, job: string): Promise<VerifyReport> => {
  const { session, run, settings, given } = call;
  const { table } = session.catalog;
  const path = given.state ?? stateFileOf(table, job);
  // Thrown before the job begins, not after half of the work.
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
 * Verifies a whole table against its model: every item by itself, and every fact that concerns two items by both. Reads the table
 * once by an eventually consistent, parallel Scan, at half a read unit for each 4 KB, and once more if items disagree. Everything
 * that looks wrong is checked by strongly consistent reads of all items that it depends on, so concurrent writers do not cause
 * false findings. Takes 8 MB of memory plus 16 bytes for each item of the table, up to 128 MB, independent of the number of
 * findings.
 *
 * @param db the connection of the model
 * @throws {plan.invalidOption} if `db` is not a connection, or an option is out of range
 * @throws {execute.tableNotFound} if there is no such table
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
