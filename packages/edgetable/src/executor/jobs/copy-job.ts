import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { Position } from "../../requests/cursor.ts";
import { type FanOut, lagsBehind, refreshFanOutPage } from "../facts/refresh-copies.ts";
import { readPlace } from "../../schema/stored-id.ts";
import type { Catalog } from "../../schema/catalog.ts";
import type { Cost } from "../call.ts";
import type { Session } from "../session.ts";
import { type Job, type JobFacts, type Lease, takeLease } from "./job-store.ts";
import { newRun, type Run, runJob, step, waitIn } from "./run-job.ts";
import { defined } from "../../util/invariant.ts";

/** Options of a job that changes copies. */
export interface CopySettings {
  /** Milliseconds until an index is assumed to show all earlier writes. */
  readonly indexLag: number;
  /** Milliseconds for which a lease is valid. */
  readonly lease: number;
  readonly signal: AbortSignal | undefined;
  /** Time (as `Effects.now` returns it) after which no step begins; the job can then be resumed. */
  readonly deadline: number;
}

/** A job that changes the copies of a node's attributes, and its progress. */
export interface CopyJob extends Run {
  readonly id: string;
  readonly settings: CopySettings;
  /** Refreshed edges and parts, including those of earlier runs. An edge refreshed in two passes counts twice. */
  items: number;
  /** Items that this process has refreshed for the job, which its second pass leaves out. */
  readonly done: Set<string>;
  pass: number;
}

/** Opens the job that a change of a node has begun. */
export const openCopyJob = (session: Session, id: string, settings: CopySettings): CopyJob => ({
  ...newRun(session, {
    what: "The change of copies",
    advice: "The source has changed, and so have the copies before this point; resume the job.",
    signal: settings.signal,
    deadline: settings.deadline,
  }),
  id,
  settings,
  items: 0,
  done: new Set(),
  pass: 1,
});

const fanOutOf = (catalog: Catalog, { facts }: Job): FanOut => {
  const { node, over, id } = defined(readPlace(String(facts["place"])), "the place of a copy job");
  const [kind, name, end] = JSON.parse(over) as ["edge" | "part", string, "from" | "to"];
  const entry = catalog.nodes[node];
  const isKnown = catalog.facts.copies.some((copy) => copy.onto.kind === kind && copy.onto.name === name && copy.end === end);
  if (entry && isKnown) return { entry, id, onto: { kind, name }, end };
  throw new EdgetableError(
    "job.mismatch",
    `The job changes copies of "${node}" on "${name}", which this model does not have. Resume it with the model that began it.`,
    { details: { node, name } },
  );
};

const changeCopies = async (job: CopyJob, lease: Lease, position: { value: Position | undefined }): Promise<void> => {
  const { session, settings } = job;
  const found = fanOutOf(session.catalog, lease.job);
  // An index may not show an edge yet that was linked before the source changed, so it is read once more after its lag.
  const passes = lagsBehind(session.catalog, found) ? 2 : 1;
  const fanOut = passes > 1 ? { ...found, done: job.done } : found;
  for (; job.pass <= passes; job.pass++) {
    if (job.pass > 1 && position.value === undefined && settings.indexLag > 0) await waitIn(job, settings.indexLag);
    do {
      const from = position.value;
      const page = await step(job, (context) => refreshFanOutPage(session, { fanOut, from }, context));
      const [failed] = page.failed;
      if (failed) throw failed.error;
      job.items += page.items;
      position.value = page.next;
    } while (position.value !== undefined);
  }
};

/** How a job of copies ended. */
export interface CopiesChanged {
  readonly items: number;
  readonly cost: Cost;
}

/** Runs the job from its saved position. */
const runOnce = async (job: CopyJob): Promise<CopiesChanged> => {
  const { session, id, settings } = job;
  const request = { id, kind: "copy", duration: settings.lease, facts: {}, resumes: true } as const;
  job.lease = undefined;
  const lease = await step(job, (context) => takeLease(session, request, context));
  job.lease = lease;
  const { facts } = lease.job;
  job.items = Number(facts["items"] ?? 0);
  job.pass = Number(facts["pass"] ?? 1);
  const position = { value: facts["position"] ? (JSON.parse(String(facts["position"])) as Position) : undefined };
  await runJob(session, lease, {
    facts: (): JobFacts => ({
      place: String(facts["place"]),
      items: job.items,
      pass: job.pass,
      ...(position.value && { position: JSON.stringify(position.value) }),
    }),
    run: () => changeCopies(job, lease, position),
  });
  return { items: job.items, cost: job.cost };
};

/**
 * Changes the copies of a node's attributes on all its edges of a type, or its parts of one kind: each is read, then its source,
 * and written on condition that it has not been refreshed since it was read. Late and repeated runs do not overwrite newer values.
 *
 * @throws {job.busy} while another process runs it
 * @throws {job.notFound} if it has ended
 */
export const runCopyJob = (job: CopyJob): Promise<CopiesChanged> => job.track(runOnce(job));

/** Milliseconds between two checks of a job that another process runs. */
const LOOK = 500;

/**
 * Waits until a job that a write has just begun has ended. This process runs it, and takes it again if it lost its lease. While
 * another process runs it, this one checks repeatedly.
 *
 * @throws {execute.aborted} {execute.timeout}
 */
export const finishCopyJob = (job: CopyJob): Promise<CopiesChanged> => {
  const finish = async (): Promise<CopiesChanged> => {
    for (;;)
      try {
        return await runOnce(job);
      } catch (error) {
        if (isEdgetableError(error, "job.notFound")) return { items: job.items, cost: job.cost };
        if (!isEdgetableError(error, "job.busy")) throw error;
        await waitIn(job, Math.min(LOOK, Number(error.details["retryAfter"] ?? LOOK)));
      }
  };
  return job.track(finish());
};
