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

/** Milliseconds for which what the table's record said is taken to hold. */
const KNOWN_FOR = 60_000;

interface Knowledge {
  readonly until: number;
  readonly complete: SharedAnswer<ReadonlySet<string>>;
}

// By the list of jobs, which the connections of tenants share with the one that they were made from.
const sessions = new WeakMap<Session["jobs"], Knowledge>();

/** The derived attributes that the table's record has as the model does, and that no migration under way changes. */
const readComplete = async (session: Session, context: CallContext): Promise<ReadonlySet<string>> => {
  const { facts: ours = {} } = describeModel(session.catalog);
  // The call's own report names what the call asks for: the record is read for all calls.
  const record = await readRecord(session, { meter: new Meter(0), deadline: context.deadline, signal: context.signal });
  checkForms(session, record);
  const { current, migration } = record;
  const hasOurs = (name: string): boolean =>
    current?.model.facts?.[name] === ours[name] && (!migration || migration.model.facts?.[name] === ours[name]);
  return new Set(Object.keys(ours).filter(hasOurs));
};

/**
 * True if kept counts count everything: the table's record says that a migration has computed them, and every writer keeps
 * them. One GetItem a minute. A record that cannot be read says nothing.
 *
 * @throws {plan.unreadForm} when the model is older than a renaming
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
 * The sum of some derived attributes that a node's item holds; undefined if it lacks one: a node that is not there, or older than
 * the attribute.
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

/** Reads the kept count of a node. One GetItem; undefined if its item holds none. */
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
