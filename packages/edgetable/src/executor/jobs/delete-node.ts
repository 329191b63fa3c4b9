import { isEdgetableError } from "../../errors/edgetable-error.ts";
import { TRANSACTION_ITEMS } from "../../ir/capacity.ts";
import type { Images, WritePlan } from "../../ir/write-plan.ts";
import type { Position } from "../../requests/cursor.ts";
import { planEnding, planMark, type JobMark, type Sweep } from "../../planner/writes/plan-deletion.ts";
import { planWrites } from "../../planner/writes/plan-write.ts";
import { COUNT, DELETING } from "../../schema/system-items.ts";
import { runPlanned, type WriteResult } from "../run-write.ts";
import { type Deletion, type DeletionResult, progressOf, step } from "./deletion.ts";
import { bookkeeping } from "./bookkeeping.ts";
import { giveBack, startHeartbeat } from "./heartbeat.ts";
import { deletionFacts, deletionId } from "./deletion-id.ts";
import { type JobFacts, jobKey } from "./job-item.ts";
import { checkLease, endJob, firstItem, type Lease, newLease, takeLease } from "./lease.ts";
import { findAll, type Removal, removeAll, sweepPage } from "./sweep.ts";

const PAGE = 500;
const SMALL_TRIES = 3;

const won = (deletion: Deletion, result: WriteResult & { readonly ok: true }): DeletionResult => ({
  ok: true,
  row: result.rows[0],
  atomic: result.atomic,
  cost: deletion.cost,
});
const lost = (deletion: Deletion, result: WriteResult & { readonly ok: false }): DeletionResult => ({
  ok: false,
  failed: result.failed,
  cost: deletion.cost,
});

const isTooLarge = (error: unknown): boolean => isEdgetableError(error, "request.transactionTooLarge");

/** Tries to do it all in one transaction; undefined when it is too much, or keeps changing. */
const together = async (
  deletion: Deletion,
  transact: (removals: readonly Removal[]) => Promise<WriteResult>,
): Promise<WriteResult | undefined> => {
  const { session, plan } = deletion;
  for (let attempt = 0; attempt < SMALL_TRIES; attempt++) {
    deletion.sweeps++;
    const removals = await step(deletion, (context) => findAll(session, plan.sweeps, { context, most: TRANSACTION_ITEMS - 1 }));
    if (!removals) return undefined;
    try {
      const result = await transact(removals);
      if (result.ok) deletion.items += removals.length;
      // Only the node's own failure settles it; something that went meanwhile is looked for again.
      if (result.ok || result.failed.some(({ write }) => write === 0)) return result;
    } catch (error) {
      if (isTooLarge(error)) return undefined;
      throw error;
    }
  }
  return undefined;
};

/** A node with parts alone: nothing is tied to it by others, so that nothing has to be held off. */
const deleteUnmarked = (deletion: Deletion): Promise<WriteResult | undefined> => {
  const { session, write } = deletion;
  return together(deletion, (removals) =>
    step(deletion, (context) =>
      runPlanned(session, (images) => planWrites(session.catalog, [write, ...removals.map((one) => one.write)], images), context),
    ),
  );
};

interface Ended {
  readonly kind: "done";
  readonly result: DeletionResult;
}

interface Marked {
  readonly deletion: Deletion;
  readonly lease: Lease;
  readonly job: JobMark;
  /** The node as this process read it to mark it: it need not be read again to end. */
  readonly images?: Images;
}

const factsOf = ({ lease, deletion }: Marked): JobFacts => ({
  ...lease.job.facts,
  items: Number(lease.job.facts["items"] ?? 0) + deletion.items,
});

// The transaction asks by itself whether the job is held, and ends it: where its answer is lost, a renewal finds no
// job any more, which is no reason not to ask for the answer again.
const end = ({ deletion, job, images }: Marked, along: readonly Removal[]): Promise<WriteResult> => {
  const { session, write } = deletion;
  const ending = { write, job, along: along.map((one) => one.write) };
  return step(deletion, (context) => runPlanned(session, (read) => planEnding(session.catalog, ending, read), context, images), false);
};

const sweepOnce = async (marked: Marked, sweep: Sweep): Promise<number> => {
  const { deletion, lease } = marked;
  const { session, settings } = deletion;
  let found = 0;
  let from: Position | undefined;
  do {
    checkLease(session, lease);
    const page = await step(deletion, (context) => sweepPage(session, sweep, { context, from, limit: PAGE }));
    await step(deletion, (context) => removeAll(session, page.removals, context));
    found += page.removals.length;
    deletion.items += page.removals.length;
    settings.onProgress?.(progressOf(deletion));
    from = page.next;
  } while (from !== undefined);
  return found;
};

const sweepAll = async (marked: Marked): Promise<number> => {
  let found = 0;
  marked.deletion.sweeps++;
  for (const sweep of marked.deletion.plan.sweeps) found += await sweepOnce(marked, sweep);
  return found;
};

const waitForIndex = ({ deletion: { session, plan, settings } }: Marked): Promise<void> =>
  plan.lags && settings.indexLag > 0 ? session.effects.sleep(settings.indexLag, settings.signal) : Promise.resolve();

// The index has shown everything that preceded the mark once a sweep after the pause finds nothing.
const sweepUntilEmpty = async (marked: Marked): Promise<void> => {
  while ((await sweepAll(marked)) > 0) await waitForIndex(marked);
};

const inOneGo = (marked: Marked): Promise<WriteResult | undefined> => together(marked.deletion, (removals) => end(marked, removals));

// Somebody wrote the node anew while it was being deleted: its edges are gone, the node is theirs.
const superseded = async ({ deletion, lease }: Marked): Promise<DeletionResult> => {
  await endJob(deletion.session, lease, bookkeeping(deletion.session, lease.duration));
  return { ok: true, row: undefined, atomic: { kind: "job", id: lease.job.id, items: deletion.items }, cost: deletion.cost };
};

// Whether the node goes is up to who holds its job now.
const checkHeld = ({ deletion, lease }: Marked, result: WriteResult | undefined): void => {
  if (!result || result.ok || result.failed[0]?.failure.reason !== "beingDeleted") return;
  lease.until = 0;
  checkLease(deletion.session, lease);
};

const finish = async (marked: Marked): Promise<DeletionResult> => {
  const { deletion, job } = marked;
  await waitForIndex(marked);
  const atOnce = deletion.items === 0 ? await inOneGo(marked) : undefined;
  if (atOnce?.ok) return won(deletion, atOnce);
  checkHeld(marked, atOnce);
  // Of a node that was written anew meanwhile, too: what was tied to the old one goes.
  await sweepUntilEmpty(marked);
  const last = atOnce ?? (await end(marked, []));
  checkHeld(marked, last);
  if (!last.ok) return superseded(marked);
  return { ok: true, row: last.rows[0], atomic: { kind: "job", id: job.id, items: Number(factsOf(marked)["items"]) }, cost: deletion.cost };
};

/** Does what is left of a marked node's deletion. */
const underLease = async (marked: Marked): Promise<DeletionResult> => {
  const { deletion, lease } = marked;
  const { session } = deletion;
  deletion.lease = lease;
  const heartbeat = startHeartbeat(session, lease, () => factsOf(marked));
  let result: DeletionResult | undefined;
  try {
    result = await finish(marked);
    return result;
  } finally {
    await heartbeat.stop();
    if (!result) await giveBack(session, { lease, facts: factsOf(marked) });
  }
};

const resumeLease = async (deletion: Deletion, id: string, resumes: boolean): Promise<Lease> =>
  step(deletion, (context) =>
    takeLease(
      deletion.session,
      { id, kind: "delete", duration: deletion.settings.lease, facts: deletionFacts(deletion.write), resumes },
      context,
    ),
  );

/**
 * Goes on with a deletion that was begun.
 *
 * @throws {job.busy} while another process is at it
 * @throws {job.notFound} when it ended
 */
export const resumeDeletion = async (deletion: Deletion, id: string): Promise<DeletionResult> => {
  const lease = await resumeLease(deletion, id, true);
  return underLease({ deletion, lease, job: { id, key: lease.key, holder: lease.holder } });
};

// Counters that the mark looked at are no concern of the end.
const markedImages = (read: Images, job: string): Images =>
  Object.fromEntries(
    Object.entries(read).flatMap(([id, image]) =>
      image && !(COUNT in image) ? [[id, { ...image, [DELETING]: { S: job } }] as const] : [],
    ),
  );

const mark = async (deletion: Deletion, id: string): Promise<Marked | Ended> => {
  const { session, write, settings } = deletion;
  const lease = newLease(session, id, settings.lease);
  const facts = deletionFacts(write);
  const job: JobMark = { id, key: jobKey(session, id), holder: lease.holder };
  const state = firstItem(session, lease, { kind: "delete", facts });
  let read: Images = {};
  const planner = (images: Images): WritePlan => planMark(session.catalog, { write, job, state }, (read = images));
  const result = await step(deletion, (context) => runPlanned(session, planner, context)).catch(async (error: unknown) => {
    // The mark may have been made all the same: whoever deletes again need not wait for the lease.
    await giveBack(session, { lease, facts });
    throw error;
  });
  const leased = (one: Omit<Lease, "job">): Marked => ({
    deletion,
    job,
    lease: { ...one, job: { id, kind: "delete", running: true, leasedUntil: one.until, runs: 1, facts } },
  });
  if (result.ok) return { images: markedImages(read, id), ...leased(lease) };
  const failure = result.failed[0]?.failure;
  if (failure?.reason !== "beingDeleted") return { kind: "done", result: lost(deletion, result) };
  const taken = await resumeLease(deletion, failure.job, false);
  return { deletion, job: { id: failure.job, key: taken.key, holder: taken.holder }, lease: taken };
};

/** Deletes a node with all that goes along: in one transaction where it can, else as a job. */
export const deleteNode = async (deletion: Deletion): Promise<DeletionResult> => {
  const { plan, write, session } = deletion;
  const direct = plan.marks ? undefined : await deleteUnmarked(deletion);
  if (direct) return direct.ok ? won(deletion, direct) : lost(deletion, direct);
  const marked = await mark(deletion, deletionId(session.catalog, write));
  return "kind" in marked ? marked.result : underLease(marked);
};
