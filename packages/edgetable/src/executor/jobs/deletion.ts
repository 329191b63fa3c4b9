import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { DeleteWrite } from "../../ir/logical-write.ts";
import type { JobDone } from "../../ir/write-outcome.ts";
import type { Atomic } from "../../ir/write-plan.ts";
import type { CascadePlan } from "../../planner/writes/plan-deletion.ts";
import { addCosts, type Cost, Meter, NO_COST, type SentRequest } from "../call.ts";
import type { FailedWrite } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";
import { checkLease, type Lease } from "./lease.ts";
import type { Row } from "../../util/row.ts";

/** How a deletion with all that goes along is done. */
export interface DeletionSettings {
  /** Milliseconds after which an index is taken to show everything that was written before. */
  readonly indexLag: number;
  /** Milliseconds for which a lease holds. */
  readonly lease: number;
  readonly signal: AbortSignal | undefined;
  /** Time after which nothing more is begun; the job can then be resumed. */
  readonly deadline: number;
  readonly onProgress: ((progress: DeletionProgress) => void) | undefined;
}

/** How far a deletion has come. */
export interface DeletionProgress {
  /** Edges and parts removed in this run. */
  readonly items: number;
  /** Times that everything was looked for. */
  readonly sweeps: number;
  readonly requests: number;
  readonly writeUnits: number;
}

/** How a deletion ended. */
export type DeletionResult =
  | { readonly ok: true; readonly row: Row | undefined; readonly atomic: Atomic | JobDone; readonly cost: Cost }
  | { readonly ok: false; readonly failed: readonly FailedWrite[]; readonly cost: Cost };

// A small deletion's report names its requests; a job's would fill the memory.
const MOST_REQUESTS = 1000;
const REQUEST_DEADLINE = 60_000;

/** One deletion under way. */
export interface Deletion {
  readonly session: Session;
  readonly write: DeleteWrite;
  readonly plan: CascadePlan;
  readonly settings: DeletionSettings;
  readonly requests: SentRequest[];
  /** Of the job, once there is one. */
  lease: Lease | undefined;
  cost: Cost;
  items: number;
  sweeps: number;
}

export const newDeletion = (
  session: Session,
  write: DeleteWrite,
  given: { readonly plan: CascadePlan; readonly settings: DeletionSettings },
): Deletion => ({
  session,
  write,
  ...given,
  requests: [],
  lease: undefined,
  cost: NO_COST,
  items: 0,
  sweeps: 0,
});

export const progressOf = ({ items, sweeps, cost }: Deletion): DeletionProgress => ({
  items,
  sweeps,
  requests: cost.requests,
  writeUnits: cost.writeUnits,
});

const checkTime = ({ session, settings, write }: Deletion): void => {
  if (settings.signal?.aborted) {
    throw new EdgetableError(
      "execute.aborted",
      `The deletion of "${write.name}" was aborted. What was done is kept: resume the job, or delete again.`,
      { cause: settings.signal.reason },
    );
  }
  if (session.effects.now() < settings.deadline) return;
  throw new EdgetableError(
    "execute.timeout",
    `The deletion of "${write.name}" did not end before its deadline. What was done is kept: resume the job, or delete again.`,
    { retryable: true },
  );
};

/** Does one step of a deletion, of a job under its lease unless `guarded` says otherwise, and adds what it consumed. */
export const step = async <T>(deletion: Deletion, work: (context: CallContext) => Promise<T>, guarded = true): Promise<T> => {
  checkTime(deletion);
  const { session, settings } = deletion;
  const lease = guarded ? deletion.lease : undefined;
  const meter = new Meter();
  const deadline = Math.min(settings.deadline, session.effects.now() + REQUEST_DEADLINE);
  try {
    const guard = lease && ((): void => checkLease(session, lease));
    return await work({ meter, signal: settings.signal, deadline, guard });
  } finally {
    deletion.cost = addCosts(deletion.cost, meter.cost);
    deletion.requests.push(...meter.requests.slice(0, MOST_REQUESTS - deletion.requests.length));
  }
};
