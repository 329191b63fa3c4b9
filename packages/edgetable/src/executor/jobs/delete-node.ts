import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import { TRANSACTION_ITEMS } from "../../ir/capacity.ts";
import type { DeleteWrite, LogicalWrite } from "../../ir/logical-write.ts";
import type { JobDone } from "../../ir/write-outcome.ts";
import type { Atomic, Images, Term, WritePlan } from "../../ir/write-plan.ts";
import {
  cascadeAt,
  type CascadePlan,
  type PartCascade,
  planCascade,
  planEnding,
  planMark,
  planPartEnding,
  type Sweep,
} from "../../planner/writes/plan-deletion.ts";
import { planWrites } from "../../planner/writes/plan-write.ts";
import { decodeValue, encodeValue } from "../../requests/attribute-value.ts";
import type { Position } from "../../requests/cursor.ts";
import type { Catalog } from "../../schema/catalog.ts";
import { counterKeys, counterSetsOf, RISES } from "../../schema/counter-sets.ts";
import { COUNT, DELETING } from "../../schema/system-items.ts";
import { jobIdFrom } from "../../schema/stored-id.ts";
import { ownerText } from "../../schema/system-keys.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import type { Row } from "../../util/row.ts";
import type { Cost } from "../call.ts";
import { readComplete } from "../run-read.ts";
import { type FailedWrite, runPlanned, type WriteResult } from "../run-write.ts";
import type { CallContext, Crossing, Session } from "../session.ts";
import {
  bookkeeping,
  checkLease,
  endJob,
  type Job,
  type JobFacts,
  type Lease,
  newJobItem,
  newLease,
  releaseLease,
  takeLease,
} from "./job-store.ts";
import { newRun, type Run, runJob, step, waitIn } from "./run-job.ts";
import { findAll, passesOver, readsCrossing, type Removal, removeAll, removeCrossing, sweepPage } from "./sweep.ts";

/** Options of deleting a node with its parts and cascading edges. */
export interface DeletionSettings {
  /** Milliseconds until an index is assumed to show all earlier writes. */
  readonly indexLag: number;
  /** Milliseconds for which a lease is valid. */
  readonly lease: number;
  readonly signal: AbortSignal | undefined;
  /** Time (as `Effects.now` returns it) after which no step begins; the job can then be resumed. */
  readonly deadline: number;
  readonly onProgress: ((progress: DeletionProgress) => void) | undefined;
}

/** The progress of a deletion. */
export interface DeletionProgress {
  /** Number of edges and parts removed in this run. */
  readonly items: number;
  /** Number of sweeps over everything that belongs to the node. */
  readonly sweeps: number;
  readonly requests: number;
  readonly writeUnits: number;
}

/** How a deletion ended. */
export type DeletionResult =
  | { readonly ok: true; readonly row: Row | undefined; readonly atomic: Atomic | JobDone; readonly cost: Cost }
  | { readonly ok: false; readonly failed: readonly FailedWrite[]; readonly cost: Cost };

/** One run of a node's deletion. */
export interface Deletion extends Run {
  readonly id: string;
  readonly write: DeleteWrite;
  readonly plan: CascadePlan;
  readonly settings: DeletionSettings;
  /** Edges and parts that earlier runs of the job removed. */
  removedBefore: number;
  items: number;
  sweeps: number;
  /** True if edges to other tenants' nodes stay, because this connection may not write the items that change with them. */
  leavesCrossing: boolean;
}

// All deletions of the node have the same id.
const deletionId = (catalog: Catalog, { name, id }: DeleteWrite): string =>
  jobIdFrom(`delete ${name} ${ownerText(defined(catalog.ends[name], "node"), id)}`);

/** Opens the deletion of a node with its parts and cascading edges. */
export const openDeletion = (
  session: Session,
  write: DeleteWrite,
  settings: DeletionSettings,
  id: string = deletionId(session.catalog, write),
): Deletion => ({
  ...newRun(session, {
    what: `The deletion of "${write.name}"`,
    advice: "Removed items stay removed; resume the job, or delete again.",
    signal: settings.signal,
    deadline: settings.deadline,
  }),
  id,
  write,
  plan: planCascade(session.catalog, write),
  settings,
  removedBefore: 0,
  items: 0,
  sweeps: 0,
  leavesCrossing: false,
});

// The format in a key shows that a field is a date, so the option `dates` need not name it.
type IdValue = AttributeValue | { readonly D: number };

/**
 * Opens the deletion that a job in the table has begun.
 *
 * @throws {job.mismatch} if the model has no such node
 */
export const reopenDeletion = (session: Session, { id: job, facts }: Job, settings: DeletionSettings): Deletion => {
  const name = String(facts["node"]);
  const { ends, parts } = session.catalog;
  if (!ends[name])
    throw new EdgetableError(
      "job.mismatch",
      `The job deletes a "${name}", which this model does not have. Resume it with the model that began it.`,
      { details: { node: name } },
    );
  const id: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(JSON.parse(String(facts["of"])) as Readonly<Record<string, IdValue>>))
    id[field] = "D" in value ? new Date(value.D) : decodeValue(value);
  return openDeletion(session, { kind: "delete", of: parts[name] ? "part" : "node", name, id, guards: {} }, settings, job);
};

const newFacts = ({ write: { name, id } }: Deletion): JobFacts => {
  const values: Record<string, IdValue> = {};
  for (const [field, value] of Object.entries(id))
    values[field] = value instanceof Date ? { D: value.getTime() } : encodeValue(value, field);
  return { node: name, of: JSON.stringify(values), items: 0 };
};

export const progressOf = ({ items, sweeps, cost }: Deletion): DeletionProgress => ({
  items,
  sweeps,
  requests: cost.requests,
  writeUnits: cost.writeUnits,
});

const resultOf = ({ cost }: Deletion, result: WriteResult): DeletionResult =>
  result.ok ? { ok: true, row: result.rows[0], atomic: result.atomic, cost } : { ok: false, failed: result.failed, cost };

/** Writes that begin with the node. If several items have its id, the one that has not expired is used. */
const planOfNode = (
  { session }: Deletion,
  plan: (images: Images) => WritePlan,
  context: CallContext,
  images?: Images,
): Promise<WriteResult> => runPlanned(session, plan, { ...context, livingAt: Math.floor(session.effects.now() / 1000) }, images);

const TRIES_AT_ONCE = 3;

/** A part whose edges are deleted with it, as a sweep finds it. */
interface FoundPart {
  readonly kind: PartCascade;
  readonly key: Key;
  readonly write: DeleteWrite;
}

const foundParts = (kind: PartCascade, removals: readonly Removal[]): readonly FoundPart[] =>
  removals.map(({ key, write }) => ({ kind, key, write: { ...(write as DeleteWrite), edges: "unchecked" } }));

/** Marks a part like the node, so that nothing more is linked to it. A part that was removed is not created again. */
const markPart = async ({ session }: Deletion, job: string, { key }: FoundPart, context: CallContext): Promise<void> => {
  const changes = { set: { [DELETING]: { S: job } }, remove: [], add: {}, append: {} };
  const item = { kind: "update", key, terms: [{ kind: "present", failure: { reason: "notFound" } }], shape: undefined, changes } as const;
  const plan = { kind: "ready", items: [{ item, writes: [0] }], rows: [undefined], atomic: { kind: "item" }, repeatable: true } as const;
  await runPlanned(session, () => plan, context);
};

/** Visits what a sweep finds, page by page. */
const eachPage = async (
  deletion: Deletion,
  sweep: Sweep,
  visit: (removals: readonly Removal[]) => Promise<void>,
  crossing?: Crossing,
): Promise<void> => {
  let from: Position | undefined;
  do {
    const page = await step(deletion, (context) => sweepPage(deletion.session, sweep, { context: { ...context, crossing }, from }));
    await visit(page.removals);
    from = page.next;
  } while (from !== undefined);
};

/** Visits the node's parts whose edges are deleted with them. */
const eachPart = async (deletion: Deletion, visit: (parts: readonly FoundPart[]) => Promise<void>): Promise<void> => {
  for (const kind of deletion.plan.parts) await eachPage(deletion, kind.found, (removals) => visit(foundParts(kind, removals)));
};

/**
 * For a tenant's connection: removes the edges to other tenants' nodes that sweeps have skipped. Only programs without a tenant
 * create such edges.
 */
const removePassedOver = async (deletion: Deletion, sweeps: readonly Sweep[], { met }: Crossing): Promise<number> => {
  let found = 0;
  if (met === 0) return found;
  for (const sweep of sweeps) {
    const remove = async (removals: readonly Removal[]): Promise<void> => {
      const removed = deletion.leavesCrossing
        ? undefined
        : await removeCrossing(deletion.session, removals, (work) => step(deletion, work));
      deletion.leavesCrossing ||= removed === undefined;
      deletion.items += removed ?? 0;
      found += removed ?? 0;
    };
    if (!deletion.leavesCrossing) await eachPage(deletion, sweep, remove, readsCrossing());
  }
  return found;
};

/** Removes what sweeps find, edges to other tenants' nodes last. Returns the number of items. */
const removeFound = async (deletion: Deletion, sweeps: readonly Sweep[]): Promise<number> => {
  let found = 0;
  const crossing = passesOver();
  const remove = async (removals: readonly Removal[]): Promise<void> => {
    const told = (removed: number): void => {
      deletion.items += removed;
      deletion.settings.onProgress?.(progressOf(deletion));
    };
    await removeAll(deletion.session, removals, (work) => step(deletion, work), told);
    found += removals.length;
  };
  for (const sweep of sweeps) await eachPage(deletion, sweep, remove, crossing);
  return found + (await removePassedOver(deletion, sweeps, crossing));
};

/** Removes the edges of a marked part, and the part itself once it has no edges. Returns the number of items found. */
const removePart = async (deletion: Deletion, job: string, part: FoundPart): Promise<number> => {
  const found = await removeFound(deletion, cascadeAt(part.kind, part.write.id));
  if (found > 0) return found;
  const { session } = deletion;
  const ending = { ...part, job };
  const result = await step(deletion, (context) =>
    runPlanned(session, (images) => planPartEnding(session.catalog, ending, images), context),
  ).catch((error: unknown) => {
    // A response was lost. If the part is gone, it does not matter which attempt or process removed it.
    if (isEdgetableError(error, "execute.ambiguous") && error.details["found"] !== undefined)
      return { ok: error.details["found"] === "asWritten" };
    throw error;
  });
  if (result.ok) deletion.items++;
  // The part was written again after it was marked, so edges may lead to it again.
  else await step(deletion, (context) => markPart(deletion, job, part, context));
  return 1;
};

/** Finds everything that is deleted with the node; undefined if it does not fit into one transaction with it. */
const findEverything = async (deletion: Deletion, given: CallContext): Promise<readonly Removal[] | undefined> => {
  const { session, plan } = deletion;
  const atMost = TRANSACTION_ITEMS - 1;
  const crossing = passesOver();
  const context = { ...given, crossing };
  const own = await findAll(session, plan.sweeps, { context, atMost });
  await removePassedOver(deletion, plan.sweeps, crossing);
  if (!own || plan.parts.length === 0) return own;
  const all = new Map(own.map((one) => [one.id, one]));
  for (const kind of plan.parts) {
    const parts = await findAll(session, [kind.found], { context, atMost });
    if (!parts) return undefined;
    const found = foundParts(kind, parts);
    for (const [at, one] of parts.entries()) all.set(one.id, { ...one, write: found[at]!.write });
    const sweeps = found.flatMap(({ write }) => cascadeAt(kind, write.id));
    crossing.met = 0;
    const edges = await findAll(session, sweeps, { context, atMost });
    if (!edges) return undefined;
    await removePassedOver(deletion, sweeps, crossing);
    for (const one of edges) all.set(one.id, one);
  }
  return all.size > atMost ? undefined : [...all.values()];
};

/** Deletes everything in one transaction. Returns undefined if it does not fit into one, or keeps changing. */
const deleteAtOnce = async (
  deletion: Deletion,
  transact: (removals: readonly Removal[]) => Promise<WriteResult>,
): Promise<WriteResult | undefined> => {
  for (let attempt = 0; attempt < TRIES_AT_ONCE; attempt++) {
    deletion.sweeps++;
    const removals = await step(deletion, (context) => findEverything(deletion, context));
    if (!removals) return undefined;
    try {
      const result = await transact(removals);
      if (result.ok) deletion.items += removals.length;
      // Only a failure of the node itself is final. Any other failure means that an item was removed in between, so everything is
      // read again.
      if (result.ok || result.failed.some(({ write }) => write === 0)) return result;
    } catch (error) {
      if (isEdgetableError(error, "request.transactionTooLarge")) return undefined;
      throw error;
    }
  }
  return undefined;
};

const PARTS_AT_ONCE = 16;

/**
 * Removes the node's parts and edges, page by page, until a sweep finds nothing. Then the indexes show everything that was written
 * before the mark.
 */
const sweepUntilEmpty = async (deletion: Deletion, job: string): Promise<void> => {
  for (;;) {
    deletion.sweeps++;
    let found = await removeFound(deletion, deletion.plan.sweeps);
    await eachPart(deletion, async (parts) => {
      for (let at = 0; at < parts.length; at += PARTS_AT_ONCE) {
        const some = await Promise.all(parts.slice(at, at + PARTS_AT_ONCE).map((part) => removePart(deletion, job, part)));
        for (const one of some) found += one;
      }
    });
    if (found === 0) return;
    await waitForIndex(deletion);
  }
};

/** Removes the mark of a deletion from the counters of a node that stays. */
const unmarkCounters = async (
  session: Session,
  { write, job }: { readonly write: DeleteWrite; readonly job: string },
  context: CallContext,
): Promise<void> => {
  const { catalog } = session;
  const terms: readonly Term[] = [{ kind: "equals", attribute: DELETING, value: { S: job }, failure: { reason: "notFound" } }];
  const changes = { set: {}, remove: [DELETING], add: RISES, append: {} };
  const node = catalog.nodes[write.name];
  for (const set of node ? counterSetsOf(catalog, node) : [])
    for (const key of counterKeys(catalog, set, write.id)) {
      const item = { kind: "update", key, terms, shape: undefined, changes } as const;
      const plan = {
        kind: "ready",
        items: [{ item, writes: [0] }],
        rows: [undefined],
        atomic: { kind: "item" },
        repeatable: true,
      } as const;
      await runPlanned(session, () => plan, context);
    }
};

const waitForIndex = async (deletion: Deletion): Promise<void> => {
  const { plan, settings } = deletion;
  if (plan.lags && settings.indexLag > 0) await waitIn(deletion, settings.indexLag);
};

/**
 * Completes the deletion of a marked node.
 *
 * @param images the node as read before marking it, so that it is not read again
 */
const deleteMarked = async (deletion: Deletion, lease: Lease, images?: Images): Promise<DeletionResult> => {
  const { session, write } = deletion;
  const job = { id: lease.job.id, key: lease.key, holder: lease.holder };
  // The transaction checks and deletes the job's item itself. The request does not require a valid lease: if its response is lost,
  // a renewal no longer finds the job, but the request must still be repeated to find out its outcome.
  const end = async (along: readonly Removal[]): Promise<WriteResult> => {
    const isMarked = (one: LogicalWrite): boolean => one.kind === "delete" && deletion.plan.parts.some(({ part }) => part === one.name);
    const parts = along.flatMap((one) => (isMarked(one.write) ? [one.key] : []));
    const ending = { write, job, along: along.map((one) => one.write), parts };
    const result = await step(
      deletion,
      (context) => planOfNode(deletion, (read) => planEnding(session.catalog, ending, read), context, images),
      false,
    );
    if (!result.ok && result.failed[0]?.failure.reason === "beingDeleted") {
      // Another process holds the job now.
      lease.until = 0;
      checkLease(session, lease);
    }
    return result;
  };
  await eachPart(deletion, async (parts) => {
    await step(deletion, (context) => Promise.all(parts.map((part) => markPart(deletion, job.id, part, context))));
  });
  await waitForIndex(deletion);
  const atOnce = deletion.items === 0 ? await deleteAtOnce(deletion, end) : undefined;
  if (atOnce?.ok) return resultOf(deletion, atOnce);
  // Also if the node was written again in the meantime, because the edges of the old one are removed.
  await sweepUntilEmpty(deletion, job.id);
  const last = atOnce ?? (await end([]));
  const items = deletion.items + (last.ok ? deletion.removedBefore : 0);
  // A node that was written again while it was deleted stays.
  if (!last.ok) {
    await step(deletion, (context) => unmarkCounters(session, { write, job: job.id }, context));
    await endJob(session, lease, bookkeeping(session, lease.duration));
  }
  return { ok: true, row: last.ok ? last.rows[0] : undefined, atomic: { kind: "job", id: job.id, items }, cost: deletion.cost };
};

const runMarked = async (deletion: Deletion, lease: Lease, images?: Images): Promise<DeletionResult> => {
  deletion.lease = lease;
  deletion.removedBefore = Number(lease.job.facts["items"] ?? 0);
  return runJob(deletion.session, lease, {
    facts: () => ({ ...lease.job.facts, items: deletion.removedBefore + deletion.items }),
    run: () => deleteMarked(deletion, lease, images),
    endsItself: true,
  });
};

const resume = async (deletion: Deletion, id: string, resumes: boolean): Promise<DeletionResult> => {
  const request = { id, kind: "delete", duration: deletion.settings.lease, facts: newFacts(deletion), resumes } as const;
  return runMarked(deletion, await step(deletion, (context) => takeLease(deletion.session, request, context)));
};

/** Marks the node and begins the job in one transaction. */
const markNode = async (deletion: Deletion): Promise<{ readonly marked: WriteResult; readonly lease: Lease; readonly read: Images }> => {
  const { session, write, settings, id } = deletion;
  const lease = newLease(session, { id, kind: "delete", duration: settings.lease, facts: newFacts(deletion) });
  const job = { id, key: lease.key, holder: lease.holder };
  let read: Images = {};
  const plan = (images: Images): WritePlan => {
    read = images;
    // The lease runs from the transaction, not from the reads before it.
    lease.until = session.effects.now() + lease.duration;
    return planMark(session.catalog, { write, job, state: newJobItem(session, lease) }, images);
  };
  try {
    return { marked: await step(deletion, (context) => planOfNode(deletion, plan, context)), lease, read };
  } catch (error) {
    // The mark may have been made nevertheless. Release the lease, so that another deletion need not wait for it.
    await releaseLease(session, lease, lease.job.facts);
    throw error;
  }
};

/** A mark whose job has ended normally belongs to a deleted node. A mark that is found this many times has lost its job. */
const MARKS_WITHOUT_JOB = 3;

/**
 * Refuses a deletion that may not read the node's parts and edges, before anything is written. Otherwise a mark and a job would
 * remain.
 */
const checkReads = async (deletion: Deletion): Promise<void> => {
  const { sweeps, parts } = deletion.plan;
  const all = [...sweeps, ...parts.flatMap((one) => [one.found, ...one.sweeps])];
  const reading = { steps: all.flatMap(({ plan }) => plan.sources), anyOrder: true };
  await step(deletion, (context) => readComplete(deletion.session, reading, context, () => Promise.resolve()));
};

const deleteNode = async (deletion: Deletion): Promise<DeletionResult> => {
  const { session, write, plan, id } = deletion;
  const { catalog } = session;
  if (!plan.marks) {
    // If the node's parts neither check nor change it, no write depends on the node, so it needs no mark.
    const result = await deleteAtOnce(deletion, (removals) =>
      step(deletion, (context) =>
        planOfNode(deletion, (images) => planWrites(catalog, [write, ...removals.map((one) => one.write)], images), context),
      ),
    );
    if (result) return resultOf(deletion, result);
  }
  await checkReads(deletion);
  for (let attempt = 1; ; attempt++) {
    const { marked, lease, read } = await markNode(deletion);
    if (marked.ok) {
      // The counters that the mark checked do not matter at the end.
      const images: Record<string, Item> = {};
      for (const [key, image] of Object.entries(read)) if (image && !(COUNT in image)) images[key] = { ...image, [DELETING]: { S: id } };
      return runMarked(deletion, lease, images);
    }
    const failure = marked.failed[0]?.failure;
    if (failure?.reason !== "beingDeleted") return resultOf(deletion, marked);
    if (write.of === "part" && failure.job !== id)
      throw new EdgetableError("job.busy", `This "${write.name}" is being deleted with its node, by the job "${failure.job}".`, {
        details: { job: failure.job },
      });
    try {
      // If the deletion ended after its mark was read, a new job would remove the edges of a new node with the same id.
      return await resume(deletion, failure.job, attempt < MARKS_WITHOUT_JOB);
    } catch (error) {
      if (attempt >= MARKS_WITHOUT_JOB || !isEdgetableError(error, "job.notFound")) throw error;
    }
  }
};

/**
 * Runs a deletion, in one transaction if everything fits, else as a job.
 *
 * @param resumes true if the job must exist already
 * @throws {job.busy} while another process runs it
 * @throws {job.notFound} if a job to resume has ended
 */
export const runDeletion = (deletion: Deletion, resumes: boolean): Promise<DeletionResult> =>
  deletion.track(resumes ? resume(deletion, deletion.id, true) : deleteNode(deletion));
