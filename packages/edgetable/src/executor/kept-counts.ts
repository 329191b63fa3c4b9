import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { KeptStep } from "../ir/physical-plan.ts";
import { decodeValue } from "../requests/attribute-value.ts";
import { isExpired, isOfShape } from "../requests/decode-item.ts";
import { keyIfComplete } from "../requests/encode-item.ts";
import { encodeGet } from "../requests/encode-read.ts";
import { describeModel } from "../schema/describe-model.ts";
import type { Item } from "../transport/operations.ts";
import { isNumber, type Row } from "../util/row.ts";
import { add, type Amount } from "./amount.ts";
import { Meter } from "./call.ts";
import { readRecord } from "./model-record.ts";
import { checkedItem } from "./read-rows.ts";
import { checkForms } from "./record-gaps.ts";
import type { CallContext, Session } from "./session.ts";
import { SharedAnswer } from "./shared-answer.ts";

/** Milliseconds for which the table's record is assumed not to change. */
const KNOWN_FOR = 60_000;

interface Knowledge {
  readonly until: number;
  readonly complete: SharedAnswer<ReadonlySet<string>>;
}

// Keyed by the list of jobs, which tenants' connections share with their original connection.
const sessions = new WeakMap<Session["jobs"], Knowledge>();

/** The derived attributes that the table's record and the model define in the same way, and that no running migration changes. */
const readComplete = async (session: Session, context: CallContext): Promise<ReadonlySet<string>> => {
  const { facts: ours = {} } = describeModel(session.catalog);
  // The record is read for all calls, so it does not appear in the call's own report.
  const record = await readRecord(session, { meter: new Meter(0), deadline: context.deadline, signal: context.signal });
  checkForms(session, record);
  const { current, migration } = record;
  const hasOurs = (name: string): boolean =>
    current?.model.facts?.[name] === ours[name] && (!migration || migration.model.facts?.[name] === ours[name]);
  return new Set(Object.keys(ours).filter(hasOurs));
};

/**
 * True if kept counts are complete: the table's record says that a migration has computed them and every writer keeps them. One
 * GetItem a minute. If the record cannot be read, they are not assumed to be complete.
 *
 * @throws {plan.unreadForm} if the model is older than a renaming
 */
export const isComplete = async (session: Session, kept: readonly KeptStep[], context: CallContext): Promise<boolean> => {
  const now = session.effects.now();
  let known = sessions.get(session.jobs);
  if (!known || known.until <= now) {
    known = { until: now + KNOWN_FOR, complete: new SharedAnswer() };
    sessions.set(session.jobs, known);
  }
  try {
    const complete = await known.complete.get(() => readComplete(session, context), context);
    return kept.every(({ node, attributes, sums = [] }) =>
      [...attributes, ...sums].every((attribute) => complete.has(`${node}.${attribute}`)),
    );
  } catch (error) {
    if (isEdgetableError(error, "plan.unreadForm")) throw error;
    return false;
  }
};

/**
 * The sum of some derived attributes of a node's item; undefined if one is missing, because the node does not exist or is older
 * than the attribute.
 */
export const keptIn = (
  { catalog }: Session,
  { node, attributes }: Pick<KeptStep, "node" | "attributes">,
  item: Item | undefined,
  context: CallContext,
): Amount | undefined => {
  const shape = catalog.nodes[node]?.shape;
  if (!shape || !item || isExpired(catalog, item, context.livingAt) || !isOfShape(catalog, shape, item)) return undefined;
  let sum: Amount = 0;
  for (const attribute of attributes) {
    const stored = item[shape.stored[attribute] ?? attribute];
    const value = stored && decodeValue(stored);
    if (!isNumber(value)) return undefined;
    sum = add(sum, value);
  }
  return sum;
};

/** Reads the kept count of a node; undefined if its item has none. One GetItem. */
export const readKept = async (
  session: Session,
  { kept, id, consistent }: { readonly kept: KeptStep; readonly id: Row; readonly consistent: boolean },
  context: CallContext,
): Promise<Amount | undefined> => {
  const { catalog } = session;
  const shape = catalog.nodes[kept.node]?.shape;
  const key = shape && keyIfComplete(catalog, shape, id);
  if (!key) return undefined;
  const { Item } = await session.send("GetItem", encodeGet(catalog, key, { consistent }), context);
  return keptIn(session, kept, checkedItem(catalog, key, Item), context);
};
