import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalWrite } from "../../ir/logical-write.ts";
import { keyId } from "../../ir/write-plan.ts";
import { exactText } from "../../keys/value-text.ts";
import { derive } from "../../planner/writes/rules/index.ts";
import { subjectOf } from "../../planner/writes/working-set.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { removalOf, type Sweep } from "../../planner/writes/plan-deletion.ts";
import type { Position } from "../../requests/cursor.ts";
import { keyOfItem } from "../../requests/encode-item.ts";
import { type Catalog, kindMark } from "../../schema/catalog.ts";
import type { Key, WriteRequest } from "../../transport/operations.ts";
import { defined } from "../../util/invariant.ts";
import { batchWriteAll } from "../batch.ts";
import type { Found } from "../read-rows.ts";
import type { FindNode } from "../hydrate.ts";
import { runRead } from "../run-read.ts";
import { runWrites } from "../run-write.ts";
import type { CallContext, Session } from "../session.ts";

/** Something that goes with a node: where it was found, and the write that removes it everywhere. */
export interface Removal {
  readonly key: Key;
  readonly write: LogicalWrite;
  /** Whether it is one item that nothing counts: then a batch can delete it. */
  readonly plain: boolean;
  /** Whether an item of another kind may lie under its key by now. */
  readonly isShared: boolean;
}

// Of an edge: two copies, and a count at each end. So many edges fit into a transaction of 100 items.
const EDGES_TOGETHER = 25;

const noNode: FindNode = () => Promise.resolve(undefined);

const isPlain = (catalog: Catalog, write: LogicalWrite): boolean => {
  if (write.kind !== "unlink") return true;
  const subject = subjectOf(catalog, write);
  if (subject.kind !== "edge" || edgeCopies(subject, write.key).length > 1) return false;
  return derive(catalog, { subject, before: write.key, after: null }).length === 0;
};

const removal = (catalog: Catalog, { shape, row, item }: Found): Removal => {
  const write = removalOf(shape, row);
  const isShared = kindMark(catalog, shape) !== undefined;
  return { key: keyOfItem(catalog, item), write, plain: !isShared && isPlain(catalog, write), isShared };
};

// An edge may be found twice: from either end of a loop, in the table and in an index.
const identity = (catalog: Catalog, { key, write }: Removal): string => {
  if (write.kind !== "unlink") return keyId(key);
  const fields = defined(catalog.edges[write.edge], "edge").key.map((field) => write.key[field]);
  return exactText([write.edge, write.from, write.to, fields]);
};

const distinct = (catalog: Catalog, removals: readonly Removal[]): readonly Removal[] => [
  ...new Map(removals.map((one) => [identity(catalog, one), one])).values(),
];

/** A page of what a sweep finds. */
export interface SweptPage {
  readonly removals: readonly Removal[];
  readonly next: Position | undefined;
}

/** Reads a page of what goes with a node. */
export const sweepPage = async (
  session: Session,
  sweep: Sweep,
  { context, from, limit }: { readonly context: CallContext; readonly from: Position | undefined; readonly limit: number },
): Promise<SweptPage> => {
  const request = { plan: sweep.plan, binding: { row: sweep.row, values: [] }, limit, from, findNode: noNode };
  // What has expired and is still there goes with its node too.
  const { found, next } = await runRead(session, request, { ...context, livingAt: undefined });
  const wanted = found.filter(({ shape }) => sweep.shapes.includes(shape.id));
  return {
    removals: distinct(
      session.catalog,
      wanted.map((one) => removal(session.catalog, one)),
    ),
    next,
  };
};

/** Everything that goes with a node, or undefined when it is more than so many. */
export const findAll = async (
  session: Session,
  sweeps: readonly Sweep[],
  { context, most }: { readonly context: CallContext; readonly most: number },
): Promise<readonly Removal[] | undefined> => {
  const pages = await Promise.all(
    sweeps.map(async (sweep) => {
      const all: Removal[] = [];
      let from: Position | undefined;
      do {
        const page = await sweepPage(session, sweep, { context, from, limit: most + 1 });
        all.push(...page.removals);
        from = page.next;
      } while (from !== undefined && all.length <= most);
      return all;
    }),
  );
  const all = distinct(session.catalog, pages.flat());
  return all.length > most ? undefined : all;
};

const deleteItems = async (session: Session, keys: readonly Key[], context: CallContext): Promise<void> => {
  const requests = keys.map((key): WriteRequest => ({ DeleteRequest: { Key: key } }));
  const [first] = await batchWriteAll(session, requests, context);
  if (first) throw first.error;
};

// An edge that is gone from where it counts (an index shows it still, or half of it was left) has only the item that was found.
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
        `Edges could not be removed: ${result.failed[0]?.failure.reason}. What was done is kept: try again.`,
        { retryable: true },
      );
    await deleteItems(
      session,
      left.filter(({ isShared }, at) => missing.has(at) && !isShared).map(({ key }) => key),
      context,
    );
    left = left.filter((_, at) => !missing.has(at));
  }
};

/** Removes what was found: plain items in batches, edges with copies or counts in transactions. Idempotent. */
export const removeAll = async (session: Session, removals: readonly Removal[], context: CallContext): Promise<void> => {
  const plain = removals.filter((one) => one.plain);
  const joint = removals.filter((one) => !one.plain);
  await deleteItems(
    session,
    plain.map(({ key }) => key),
    context,
  );
  // One after the other: they meet in the node's own guard.
  for (let at = 0; at < joint.length; at += EDGES_TOGETHER) await unlinkTogether(session, joint.slice(at, at + EDGES_TOGETHER), context);
};
