import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { LogicalPlan } from "../../ir/logical-plan.ts";
import type { ReadPlan } from "../../ir/physical-plan.ts";
import { keyId, type Term, type WriteItem, type WritePlan } from "../../ir/write-plan.ts";
import { planRead } from "../../planner/plan.ts";
import { changeItem } from "../../planner/writes/rules/computed-attributes.ts";
import { allEdges, consistentIfPossible } from "../../planner/writes/rules/degree-guards.ts";
import { isRefreshed } from "../../planner/writes/rules/copied-attributes.ts";
import { edgeCopies } from "../../planner/writes/rules/edge-copies.ts";
import { withDigits } from "../../planner/writes/rules/stored-digits.ts";
import { type Digits, openWorkingSet, present, settle, stage } from "../../planner/writes/working-set.ts";
import type { Position } from "../../requests/cursor.ts";
import { decodeItem, shapeOf } from "../../requests/decode-item.ts";
import { digitsIn, keyIfComplete, keyOfItem } from "../../requests/encode-item.ts";
import { type Catalog, endPaths, type NodeEntry, type Shape } from "../../schema/catalog.ts";
import { COPY_REVISION, type CopyFact } from "../../schema/facts.ts";
import { isSystemItem } from "../../schema/system-kinds.ts";
import type { AttributeValue, Item, Key } from "../../transport/operations.ts";
import { own, type Row } from "../../util/row.ts";
import { readableValue } from "../../util/time.ts";
import { batchGet } from "../batch.ts";
import { byIdentity, identity } from "../read-rows.ts";
import { runRead } from "../run-read.ts";
import { runOnce } from "../run-write.ts";
import { backOff, type CallContext, type Session } from "../session.ts";
import { endOf } from "./contributions.ts";
import { isWrittenOrGone } from "./refresh-aggregates.ts";
import { unchangedFields } from "../../planner/writes/unchanged-terms.ts";

const TRIES = 30;
const PAUSES = { baseDelay: 10, maxDelay: 1000 };
/** Edges and parts that are refreshed together: as many as one BatchGetItem reads. */
const PAGE = 100;
/** Refreshed items that are remembered until a second look, at about 100 bytes each. That look writes those beyond again. */
const REMEMBERED = 100_000;

const refreshed = new WeakMap<Shape, readonly CopyFact[]>();

/** The copies on a shape's items that the stream or a job brings up to date. */
const refreshedCopies = ({ facts }: Catalog, shape: Shape): readonly CopyFact[] => {
  let known = refreshed.get(shape);
  if (!known) {
    const { kind, definition, copied } = shape;
    known = facts.copies.filter(
      (copy) =>
        isRefreshed(copy) && copy.onto.kind === kind && copy.onto.name === definition && (!copied || copied.includes(copy.attribute)),
    );
    refreshed.set(shape, known);
  }
  return known;
};

/** The copies on a shape's items that the stream keeps. */
export const streamedCopies = (catalog: Catalog, shape: Shape): readonly CopyFact[] =>
  refreshedCopies(catalog, shape).filter(({ freshness }) => freshness === "stream");

/** The shape of a row's item; undefined for Edgetable's own items. */
export const itemShape = (catalog: Catalog, item: Item | undefined): Shape | undefined =>
  !item || isSystemItem(catalog, item) ? undefined : shapeOf(catalog, catalog.shapes, item);

/** The shape of an item with copies that the stream keeps; undefined for other items. */
export const copyShape = (catalog: Catalog, item: Item | undefined): Shape | undefined => {
  const shape = itemShape(catalog, item);
  return shape && shape.kind !== "node" && streamedCopies(catalog, shape).length > 0 ? shape : undefined;
};

/** The node that the copies of one end come from. */
const sourceOf = (
  catalog: Catalog,
  shape: Shape,
  row: Row,
  end: "from" | "to",
): { readonly entry: NodeEntry; readonly key: Key } | undefined => {
  const { type, id } = shape.kind === "part" ? { type: shape.from ?? "", id: row } : endOf(shape, end, (row[end] ?? {}) as Row);
  const entry = catalog.nodes[type];
  const key = entry && keyIfComplete(catalog, entry.shape, id);
  return entry && key && { entry, key };
};

/** An edge or part with copies, as it was read. */
interface Copying {
  readonly item: Item;
  readonly shape: Shape;
  readonly row: Row;
}

/** The revision of an item's copies as the stream counts it: negative, so that no writer of the item gives it the same. */
export const nextRevision = (revision: AttributeValue | undefined, now: number): number =>
  -(Math.abs(revision && "N" in revision ? Number(revision.N) : Math.floor(now)) + 1);

const withRevision = (step: WriteItem, revision: AttributeValue): WriteItem => {
  if (step.kind === "update") return { ...step, changes: { ...step.changes, set: { ...step.changes.set, [COPY_REVISION]: revision } } };
  return step.kind === "put" ? { ...step, item: { ...step.item, [COPY_REVISION]: revision } } : step;
};

/**
 * Writes the copies, the index keys that hold them and the next revision, if the item leads to the same nodes and has not
 * been refreshed since it was read. Also writes where the copies are right: a slower refresh must find another revision.
 */
const planCopies = (
  { catalog, effects }: Session,
  copying: Copying,
  { set, remove, digits }: { readonly set: Row; readonly remove: readonly string[]; readonly digits: Digits },
): WritePlan => {
  const { item, shape, row } = copying;
  const key = keyOfItem(catalog, item);
  const working = openWorkingSet(catalog, { [keyId(key)]: item });
  const changes = { set, remove, add: {}, append: {} };
  const ends = shape.kind === "edge" ? [...endPaths(catalog, shape, "from"), ...endPaths(catalog, shape, "to")] : [];
  const terms: Term[] = [
    { kind: "equals", attribute: COPY_REVISION, value: item[COPY_REVISION], failure: { reason: "conditionFailed" } },
    ...unchangedFields(catalog, { shape, image: item }, ends),
  ];
  const changed = changeItem(working, { shape, key, known: row, changes, guards: {}, there: present, terms, keepsVersion: true });
  const revision = { N: String(nextRevision(item[COPY_REVISION], effects.now())) };
  for (const step of changed?.items ?? []) stage(working, withRevision(withDigits(step, shape, digits, Object.keys(set)), revision));
  const items = settle(working);
  if ("failure" in items) return { kind: "settled", ...items };
  const atomic = items.length > 1 ? ({ kind: "transaction", items: items.length } as const) : ({ kind: "item" } as const);
  return { kind: "ready", items, rows: [undefined], atomic, repeatable: true };
};

/** Refreshes one item as it was read. Returns false if it changed since: read it again, before its sources. */
const writeCopies = async (
  session: Session,
  copying: Copying,
  sources: ReadonlyMap<string, Item>,
  context: CallContext,
): Promise<boolean> => {
  const { catalog } = session;
  const { shape, row } = copying;
  // Copies of a source that is missing stay as they are.
  const set: Record<string, unknown> = {};
  const digits = new Map<string, AttributeValue | undefined>();
  const remove: string[] = [];
  for (const { attribute, of, end } of refreshedCopies(catalog, shape)) {
    const source = sourceOf(catalog, shape, row, end);
    const item = source && sources.get(identity(catalog, source.key));
    if (!item) continue;
    const value = readableValue(own(decodeItem(catalog, source.entry.shape, item), of));
    digits.set(attribute, digitsIn(source.entry.shape, item)(of));
    if (value !== undefined) set[attribute] = value;
    else if (own(row, attribute) !== undefined) remove.push(attribute);
  }
  const plan = () => planCopies(session, copying, { set, remove, digits: (field) => digits.get(field) });
  return isWrittenOrGone(runOnce(session, plan, context));
};

const readSources = async (session: Session, all: readonly Copying[], context: CallContext): Promise<ReadonlyMap<string, Item>> => {
  const { catalog } = session;
  const keys = new Map<string, Key>();
  for (const { shape, row } of all)
    for (const end of new Set(refreshedCopies(catalog, shape).map((copy) => copy.end))) {
      const source = sourceOf(catalog, shape, row, end);
      if (source) keys.set(identity(catalog, source.key), source.key);
    }
  return byIdentity(catalog, await batchGet(session, { keys: [...keys.values()], consistent: true }, context));
};

/** An edge or part whose copies could not be refreshed, and why. */
export interface FailedCopies {
  readonly key: Key;
  readonly error: Error;
}

const refreshPage = async (session: Session, keys: readonly Key[], context: CallContext): Promise<readonly FailedCopies[]> => {
  const { catalog } = session;
  const failed: FailedCopies[] = [];
  let left = keys;
  for (let attempt = 0; left.length > 0; attempt++) {
    const items = await batchGet(session, { keys: left, consistent: true }, context);
    const copying = items.flatMap((item): readonly Copying[] => {
      const shape = itemShape(catalog, item);
      if (!shape || shape.kind === "node" || refreshedCopies(catalog, shape).length === 0) return [];
      return [{ item, shape, row: decodeItem(catalog, shape, item) }];
    });
    const sources = await readSources(session, copying, context);
    const again: Key[] = [];
    await Promise.all(
      copying.map(async (one) => {
        const key = keyOfItem(session.catalog, one.item);
        try {
          if (!(await writeCopies(session, one, sources, context))) again.push(key);
        } catch (error) {
          failed.push({ key, error: error as Error });
        }
      }),
    );
    left = again;
    if (left.length === 0 || (attempt + 1 < TRIES && (await backOff(session.effects, PAUSES, attempt, context)))) continue;
    const error = new EdgetableError("execute.conflict", "Others changed the item between reading and writing, every time. Try again.", {
      retryable: true,
      details: { tries: attempt + 1 },
    });
    return [...failed, ...left.map((key) => ({ key, error }))];
  }
  return failed;
};

/**
 * Brings the copies on edges and parts up to date: reads each item, then the nodes that it copies from, and writes the copies
 * on condition of the item's revision. Exact however often, late or in whatever order it is asked for.
 *
 * @param keys the table keys of edges and parts
 */
export const refreshCopies = async (session: Session, keys: readonly Key[], context: CallContext): Promise<readonly FailedCopies[]> => {
  const { catalog } = session;
  const distinct = [...new Map(keys.map((key) => [identity(catalog, key), key])).values()];
  const failed: FailedCopies[] = [];
  for (let at = 0; at < distinct.length; at += PAGE) failed.push(...(await refreshPage(session, distinct.slice(at, at + PAGE), context)));
  return failed;
};

/** A node whose copies are to be refreshed on all its edges of a type, or its parts of one kind. */
export interface FanOut {
  readonly entry: NodeEntry;
  readonly id: Row;
  readonly onto: CopyFact["onto"];
  readonly end: "from" | "to";
  /**
   * Items that were refreshed since the source changed. A second look at the index leaves them out, because what changes the
   * source again refreshes them again. Up to `REMEMBERED` are added. Without it, every look writes all items.
   */
  readonly done?: Set<string> | undefined;
}

const plans = new WeakMap<Catalog, Map<string, ReadPlan>>();

const fanOutPlan = (catalog: Catalog, { entry, onto, end }: FanOut): ReadPlan => {
  let known = plans.get(catalog);
  if (!known) plans.set(catalog, (known = new Map()));
  const text = JSON.stringify([entry.name, onto.kind, onto.name, end]);
  let plan = known.get(text);
  if (plan) return plan;
  const logical = (consistent: boolean): LogicalPlan =>
    onto.kind === "part"
      ? { kind: "parts", part: onto.name, known: [], range: [], filter: [], forward: true, consistent }
      : allEdges(catalog, { node: entry.name, edge: onto.name, direction: end === "from" ? "out" : "in", consistent });
  known.set(text, (plan = consistentIfPossible((consistent) => planRead(catalog, logical(consistent)))));
  return plan;
};

/** True if only an index finds the edges of a node, so that one that was linked a moment ago may be missed. */
export const lagsBehind = (catalog: Catalog, fanOut: FanOut): boolean => fanOutPlan(catalog, fanOut).consistency === "eventual";

/** The keys of all items of an edge or part that was found. */
const allKeys = (catalog: Catalog, shape: Shape, row: Row, item: Item): readonly Key[] => {
  const found = keyOfItem(catalog, item);
  const entry = shape.kind === "edge" ? catalog.edges[shape.definition] : undefined;
  if (!entry || (entry.mirrors.length === 0 && !entry.definition.symmetric)) return [found];
  const { from, to, ...attributes } = row;
  const ends = { from: endOf(shape, "from", from as Row), to: endOf(shape, "to", to as Row) };
  const all = edgeCopies({ entry, ...ends }, attributes).map((copy) => keyIfComplete(catalog, copy.shape, copy.row));
  return [found, ...all.filter((key) => key !== undefined)];
};

/** A page of a node's edges or parts whose copies were refreshed. */
interface RefreshedPage {
  /** Edges or parts, without those of which every item was done before. */
  readonly items: number;
  readonly failed: readonly FailedCopies[];
  readonly next: Position | undefined;
}

/** Refreshes a node's copies on a page of its edges or parts. */
export const refreshFanOutPage = async (
  session: Session,
  { fanOut, from }: { readonly fanOut: FanOut; readonly from: Position | undefined },
  context: CallContext,
): Promise<RefreshedPage> => {
  const { catalog } = session;
  const plan = fanOutPlan(catalog, fanOut);
  const { id, onto, done } = fanOut;
  const row: Row = onto.kind === "part" ? id : { from: id, to: id };
  const request = { plan, binding: { row, values: [] }, limit: PAGE, from, anyOrder: true };
  const { found, next } = await runRead(session, request, context);
  const left = found.map((one) => allKeys(catalog, one.shape, one.row, one.item).filter((key) => !done?.has(identity(catalog, key))));
  const keys = left.flat();
  const failed = await refreshCopies(session, keys, context);
  if (done && failed.length === 0) for (const key of keys) if (done.size < REMEMBERED) done.add(identity(catalog, key));
  return { items: left.filter((one) => one.length > 0).length, failed, next };
};

/** Refreshes a node's copies on its edges or parts, a page at a time. */
export const refreshFanOut = async (session: Session, fanOut: FanOut, context: CallContext): Promise<readonly FailedCopies[]> => {
  const failed: FailedCopies[] = [];
  let from: Position | undefined;
  do {
    const page = await refreshFanOutPage(session, { fanOut, from }, context);
    failed.push(...page.failed);
    from = page.next;
  } while (from !== undefined);
  return failed;
};
