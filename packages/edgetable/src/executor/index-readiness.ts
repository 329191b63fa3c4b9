import { EdgetableError, isEdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep } from "../ir/physical-plan.ts";
import { keyAttributes } from "../schema/catalog.ts";
import { describeModel, type ModelDescription, sameEntry, withNewKinds } from "../schema/describe-model.ts";
import { Meter } from "./call.ts";
import { readRecord } from "./model-record.ts";
import type { CallContext, Session } from "./session.ts";

/** What a session knows of the table's record: nothing once every declared index is complete. */
interface Knowledge {
  readonly model: ModelDescription;
  reading: Promise<ReadonlySet<string>> | undefined;
}

// By the list of jobs, which the connections of tenants share with the one that they were made from.
const sessions = new WeakMap<Session["jobs"], Knowledge>();

const NONE: ReadonlySet<string> = new Set();

/** Entries of indexes that the recorded model lacks or has otherwise, as `index shape`. */
const incompleteEntries = ({ catalog }: Session, ours: ModelDescription, recorded: ModelDescription): ReadonlySet<string> => {
  const known = withNewKinds(recorded, ours, catalog);
  const incomplete = new Set<string>();
  for (const index of catalog.indexes) {
    for (const { id, keys } of catalog.shapes) {
      if (!keyAttributes(index).every((attribute) => attribute in keys)) continue;
      if (!sameEntry(known, ours, [index, id])) incomplete.add(`${index.name} ${id}`);
    }
  }
  return incomplete;
};

const readIncomplete = async (session: Session, { model }: Knowledge, context: CallContext): Promise<ReadonlySet<string>> => {
  // The call's own report names what the call asks for: the record is read once for all calls.
  const { current } = await readRecord(session, { meter: new Meter(0), deadline: context.deadline, signal: context.signal });
  return current ? incompleteEntries(session, model, current.model) : NONE;
};

/** True if an index is read that the model declares by value. */
export const readsDeclaredIndex = ({ catalog }: Session, steps: readonly AccessStep[]): boolean =>
  catalog.escapes &&
  steps.some((step) => step.kind === "query" && step.index !== undefined && Object.hasOwn(catalog.definition.indexes ?? {}, step.index));

/**
 * Checks that the table's record has the entries of the indexes that are read. Gives true if it has all of the model, so that
 * nothing needs to be checked. One GetItem for each session, and one for each call while an entry is incomplete.
 *
 * @throws {plan.indexIncomplete} when old items may lack the keys of the index
 */
export const checkIndexes = async (session: Session, steps: readonly AccessStep[], context: CallContext): Promise<boolean> => {
  let known = sessions.get(session.jobs);
  if (!known) sessions.set(session.jobs, (known = { model: describeModel(session.catalog), reading: undefined }));
  const knowledge = known;
  const reading = (knowledge.reading ??= readIncomplete(session, knowledge, context));
  const forget = (): void => {
    if (knowledge.reading === reading) knowledge.reading = undefined;
  };
  const incomplete = await reading.catch((error: unknown) => {
    forget();
    // A policy may allow a program to read one index and nothing else, which says nothing of the index.
    if (isEdgetableError(error, "execute.accessDenied") && !readsDeclaredIndex(session, steps)) return NONE;
    throw error;
  });
  if (incomplete.size === 0) return true;
  forget();
  for (const step of steps) {
    if (step.kind !== "query" || step.index === undefined) continue;
    const shape = step.shapes.find((id) => incomplete.has(`${step.index} ${id}`));
    if (shape === undefined) continue;
    throw new EdgetableError(
      "plan.indexIncomplete",
      `The index "${step.index}" does not find every "${shape}" yet: the table has not been migrated to this model. Finish the migration: db.migrations.run({ finish: true }) or edgetable migrate run --finish.`,
      { details: { index: step.index, shape } },
    );
  }
  return false;
};
