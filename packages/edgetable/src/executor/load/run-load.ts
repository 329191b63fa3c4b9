import { EdgetableError } from "../../errors/edgetable-error.ts";
import { bookkeeping } from "../jobs/bookkeeping.ts";
import { giveBack, type Heartbeat, startHeartbeat } from "../jobs/heartbeat.ts";
import type { JobFacts } from "../jobs/job-item.ts";
import { checkLease, endJob, type Lease, takeLease } from "../jobs/lease.ts";
import type { Session } from "../session.ts";
import { type Loading, loadRows } from "./load-rows.ts";
import type { LoadSettings, LoadSource } from "./load-settings.ts";
import type { LoadReport } from "./tally.ts";

/** A load that keeps its position in the table. */
export interface LoadJob {
  readonly id: string;
  /** What says that the input is the same as before. */
  readonly fingerprint: string;
  /** Milliseconds for which a lease holds. */
  readonly lease: number;
}

type Settings = Omit<LoadSettings, "from" | "check">;

const checkInput = (lease: Lease, job: LoadJob): number => {
  const { facts } = lease.job;
  if (facts["fingerprint"] !== job.fingerprint) {
    throw new EdgetableError(
      "job.mismatch",
      `The job "${job.id}" was begun with another input ("${facts["fingerprint"]}", now "${job.fingerprint}"). Give this load another name, or the input that it was begun with.`,
      {
        details: { id: job.id, fingerprint: facts["fingerprint"], given: job.fingerprint },
      },
    );
  }
  return Number(facts["position"] ?? 0);
};

const finished = async (loading: Loading, heartbeat: Heartbeat): Promise<LoadReport> => {
  try {
    return await loading.done;
  } finally {
    await heartbeat.stop();
  }
};

const runJob = async (
  session: Session,
  source: LoadSource,
  { job, settings }: { readonly job: LoadJob; readonly settings: Settings },
): Promise<LoadReport> => {
  const first: JobFacts = { position: 0, fingerprint: job.fingerprint, rows: 0, items: 0, failed: 0 };
  const lease = await takeLease(
    session,
    { id: job.id, kind: "load", duration: job.lease, facts: first, resumes: false },
    { ...bookkeeping(session, settings.deadline), signal: settings.signal },
  );
  let facts = (): JobFacts => lease.job.facts;
  try {
    const from = checkInput(lease, job);
    const loading = loadRows(session, source, { ...settings, from, check: () => checkLease(session, lease) });
    facts = () => {
      const { rows, position, items, failed } = loading.progress();
      // While rows that are done already are read again, the job is no further back than it was.
      return { position: Math.max(from, position), fingerprint: job.fingerprint, rows, items, failed };
    };
    const heartbeat = startHeartbeat(session, lease, () => facts());
    const report = await finished(loading, heartbeat);
    await endJob(session, lease, bookkeeping(session, settings.deadline));
    return report;
  } catch (error) {
    await giveBack(session, { lease, facts: facts() });
    throw error;
  }
};

/** Loads, as a job where it has a name. */
export const runLoad = (
  session: Session,
  source: LoadSource,
  options: { readonly job: LoadJob | undefined; readonly settings: Settings },
): Promise<LoadReport> => {
  const { job, settings } = options;
  return job
    ? runJob(session, source, { job, settings })
    : loadRows(session, source, { ...settings, from: 0, check: () => undefined }).done;
};
