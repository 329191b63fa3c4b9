import { EdgetableError, isEdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { keyId } from "../../ir/write-plan.ts";
import { exactText } from "../../keys/template.ts";
import { removalOf, type Sweep } from "../../planner/writes/plan-deletion.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { derive, loadRules } from "../../planner/writes/rules/index.ts";
import { subjectOf } from "../../planner/writes/working-set.ts";
import type { Position } from "../../requests/cursor.ts";
import { keyIfComplete, keyOfItem } from "../../requests/encode-item.ts";
import { kindMarks } from "../../schema/catalog.ts";
import { textAt } from "../../schema/system-items.ts";
import { counterOf, countersOf, ownerText } from "../../schema/system-keys.ts";
import type { Key } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { batchWriteAll } from "../batch-write.ts";
import { foreignField } from "../read-rows.ts";
import { runRead } from "../run-read.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Crossing, Session } from "../session.ts";

/** Something that is deleted with a node: where it was found, and the write that removes all its items. */
export interface Removal {
  /** Identifies it independent of where it was found: from either end of a loop, in the table or in an index. */
  readonly id: string;
  readonly key: Key;
  readonly write: LogicalWrite;
  /** True if it is a single item that nothing counts, so that a batch can delete it. */
  readonly plain: boolean;
  /** True if an item of another kind, or an edge to another node, may have taken its key. */
  readonly isShared: boolean;
}

const PAGE = 500;

/** A page of what a sweep finds. */
export interface SweptPage {
  readonly removals: readonly Removal[];
  readonly next: Position | undefined;
}

/** Reads a page of what is deleted with a node. */
export const sweepPage = async (
  session: Session,
  sweep: Sweep,
  { context, from, limit = PAGE }: { readonly context: CallContext; readonly from: Position | undefined; readonly limit?: number },
): Promise<SweptPage> => {
  const { catalog } = session;
  const request = { plan: sweep.plan, binding: { row: sweep.row, values: [] }, limit, from, anyOrder: true };
  // Expired items that still exist are deleted with their node, too.
  const { found, next } = await runRead(session, request, { ...context, livingAt: undefined });
  await loadRules(catalog);
  const removals = new Map<string, Removal>();
  for (const { shape, row, item } of found) {
    if (!sweep.shapes.includes(shape.id)) continue;
    const key = keyOfItem(catalog, item);
    const write = removalOf(shape, row);
    const isShared = kindMarks(catalog, shape).length > 0 || shape.unkeyed.length > 0;
    const subject = subjectOf(catalog, write);
    if (write.kind !== "unlink") {
      const id = keyId(key);
      const counts = derive(catalog, { subject, before: row, after: null }).length > 0;
      removals.set(id, { id, key, write, plain: !isShared && !counts, isShared });
      continue;
    }
    const isAlone = subject.kind === "edge" && edgeCopies(subject, write.key).length === 1;
    const plain = !isShared && isAlone && derive(catalog, { subject, before: write.key, after: null }).length === 0;
    const { key: own, definition } = defined(catalog.edges[write.edge], "edge");
    const ends = [exactText(write.from), exactText(write.to)];
    const id = exactText([write.edge, definition.symmetric ? ends.toSorted() : ends, own.map((field) => write.key[field])]);
    removals.set(id, { id, key, write, plain, isShared });
  }
  return { removals: [...removals.values()], next };
};

/** Finds everything that is deleted with a node; undefined if it is more than `atMost`. */
export const findAll = async (
  session: Session,
  sweeps: readonly Sweep[],
  { context, atMost }: { readonly context: CallContext; readonly atMost: number },
): Promise<readonly Removal[] | undefined> => {
  const all = new Map<string, Removal>();
  const readAll = async (sweep: Sweep): Promise<void> => {
    let from: Position | undefined;
    let count = 0;
    do {
      const page = await sweepPage(session, sweep, { context, from, limit: atMost + 1 });
      for (const one of page.removals) all.set(one.id, one);
      count += page.removals.length;
      from = page.next;
    } while (from !== undefined && count <= atMost);
  };
  await Promise.all(sweeps.map(readAll));
  return all.size > atMost ? undefined : [...all.values()];
};

const deleteItems = async (session: Session, keys: readonly Key[], context: CallContext): Promise<void> => {
  const [first] = await batchWriteAll(
    session,
    keys.map((key) => ({ DeleteRequest: { Key: key } })),
    context,
  );
  if (first) throw first.error;
};

// An edge takes up to five items: its two copies, two at its other end (the node, and a guard or a counter), and a counter of the node
// that is deleted. All of them share that node's item and its guard: 5 × 19 + 2 of the 100 items of a transaction.
const EDGES_AT_ONCE = 19;

const unlinkTogether = async (session: Session, removals: readonly Removal[], context: CallContext): Promise<void> => {
  let left = removals;
  while (left.length > 0) {
    const result = await runWrites(
      session,
      left.map(({ write }) => write),
      context,
    );
    if (result.ok) return;
    const missing = new Set(result.failed.filter(({ failure }) => failure.reason === "notFound").map(({ write }) => write));
    if (missing.size === 0)
      throw new EdgetableError(
        "execute.conflict",
        `Edges could not be removed: ${result.failed[0]?.failure.reason}. Removed items stay removed; try again.`,
        { retryable: true },
      );
    // Such an edge consists of only the item that was found: an index still shows it, or its other half was removed before.
    const strays = left.filter(({ isShared }, at) => missing.has(at) && !isShared);
    await deleteItems(
      session,
      strays.map(({ key }) => key),
      context,
    );
    left = left.filter((_, at) => !missing.has(at));
  }
};

/** Runs work with its own time limit. */
type Step = <Result>(work: (context: CallContext) => Promise<Result>) => Promise<Result>;

/**
 * Removes what was found: plain items in batches, edges with copies or counts in transactions, each in a separate step. Idempotent.
 *
 * @param told called with the number of items that each step has removed
 */
export const removeAll = async (
  session: Session,
  removals: readonly Removal[],
  inStep: Step,
  told: (removed: number) => void = () => undefined,
): Promise<void> => {
  const plain = removals.filter((one) => one.plain).map(({ key }) => key);
  await inStep((context) => deleteItems(session, plain, context));
  told(plain.length);
  const joint = removals.filter((one) => !one.plain);
  // One transaction after the other: all of them change the node's own guard.
  for (let at = 0; at < joint.length; at += EDGES_AT_ONCE) {
    const some = joint.slice(at, at + EDGES_AT_ONCE);
    await inStep((context) => unlinkTogether(session, some, context));
    told(some.length);
  }
};

/** A read that skips edges to other tenants' nodes and counts them. */
export const passesOver = (): Crossing => ({ met: 0, reach: undefined });

/** A read that returns these edges as well. */
export const readsCrossing = (): Crossing => ({ met: 0, reach: new Set() });

/**
 * Removes those of the edges found that lead to other tenants' nodes.
 *
 * @returns their number; undefined if this connection may not write the items that change with them
 */
export const removeCrossing = async (session: Session, removals: readonly Removal[], inStep: Step): Promise<number | undefined> => {
  const { catalog, tenant = {} } = session;
  const { partitionKey } = catalog.index;
  const crossing = removals.filter(
    ({ write }) => write.kind === "unlink" && [write.from, write.to].some(({ id }) => foreignField(tenant, id) !== undefined),
  );
  const reach = new Set<string>();
  for (const { key, write } of crossing) {
    reach.add(textAt(key, partitionKey));
    for (const { type, id } of write.kind === "unlink" ? [write.from, write.to] : []) {
      const entry = defined(catalog.ends[type], type);
      const node = keyIfComplete(catalog, entry.shape, id);
      if (node) reach.add(textAt(node, partitionKey));
      reach.add(countersOf(counterOf(type, ownerText(entry, id), "-", 0).partition));
    }
  }
  try {
    await removeAll(session, crossing, (work) => inStep((context) => work({ ...context, crossing: { met: 0, reach } })));
    return crossing.length;
  } catch (error) {
    if (isEdgetableError(error, "request.otherTenant") || isEdgetableError(error, "execute.accessDenied")) return undefined;
    throw error;
  }
};
