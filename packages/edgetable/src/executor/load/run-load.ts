import { EdgetableError } from "../../errors/edgetable-error.ts";
import { bookkeeping, checkLease, type JobFacts, type Lease, takeLease } from "../jobs/job-store.ts";
import { runJob } from "../jobs/run-job.ts";
import type { Session } from "../session.ts";
import { loadRows } from "./load-rows.ts";
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

const loadAsJob = async (
  session: Session,
  source: LoadSource,
  { job, settings }: { readonly job: LoadJob; readonly settings: Settings },
): Promise<LoadReport> => {
  const first: JobFacts = { position: 0, fingerprint: job.fingerprint, rows: 0, items: 0, failed: 0 };
  const { deadline } = settings;
  const lease = await takeLease(
    session,
    { id: job.id, kind: "load", duration: job.lease, facts: first, resumes: false },
    { ...bookkeeping(session, deadline), signal: settings.signal },
  );
  let facts = (): JobFacts => lease.job.facts;
  const run = async (): Promise<LoadReport> => {
    const from = checkInput(lease, job);
    const loading = loadRows(session, source, { ...settings, from, check: () => checkLease(session, lease) });
    facts = () => {
      const { rows, position, items, failed } = loading.progress();
      // While rows that are done already are read again, the job is no further back than it was.
      return { position: Math.max(from, position), fingerprint: job.fingerprint, rows, items, failed };
    };
    return loading.done;
  };
  return runJob(session, lease, { facts: () => facts(), run, deadline });
};

/** Loads, as a job where it has a name. */
export const runLoad = (
  session: Session,
  source: LoadSource,
  options: { readonly job: LoadJob | undefined; readonly settings: Settings },
): Promise<LoadReport> => {
  const { job, settings } = options;
  return job
    ? loadAsJob(session, source, { job, settings })
    : loadRows(session, source, { ...settings, from: 0, check: () => undefined }).done;
};
