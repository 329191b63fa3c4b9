import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { DeleteWrite } from "../../ir/logical-write.ts";
import { planCascade } from "../../planner/writes/plan-deletion.ts";
import type { Session } from "../session.ts";
import { deleteNode, resumeDeletion } from "./delete-node.ts";
import { newDeletion, type Deletion, type DeletionResult, type DeletionSettings } from "./deletion.ts";
import { deletionId, deletionOf } from "./deletion-id.ts";
import { bookkeeping } from "./bookkeeping.ts";
import { jobKey, readJob, type Job } from "./job-item.ts";
import { stoppedByClose, type Stopping } from "./stopped-by-close.ts";

/** A deletion that can be run. */
export interface Begun {
  readonly id: string;
  readonly deletion: Deletion;
  run(): Promise<DeletionResult>;
}

interface Prepared {
  readonly deletion: Deletion;
  readonly hold: Stopping["hold"];
}

const prepare = (session: Session, write: DeleteWrite, settings: DeletionSettings): Prepared => {
  const { signal, hold } = stoppedByClose(session, settings.signal);
  return { deletion: newDeletion(session, write, { plan: planCascade(session.catalog, write), settings: { ...settings, signal } }), hold };
};

/** A deletion of a node with all that goes along. */
export const beginDeletion = (session: Session, write: DeleteWrite, settings: DeletionSettings): Begun => {
  const { deletion, hold } = prepare(session, write, settings);
  return { id: deletionId(session.catalog, write), deletion, run: () => hold(deleteNode(deletion)) };
};

/** A deletion that was begun and not ended. */
export const reopenDeletion = (session: Session, job: Job, settings: DeletionSettings): Begun => {
  const { deletion, hold } = prepare(session, deletionOf(session.catalog, job.facts), settings);
  return { id: job.id, deletion, run: () => hold(resumeDeletion(deletion, job.id)) };
};

/**
 * The job of an id.
 *
 * @throws {job.notFound} when it ended, or was never begun
 */
export const findJob = async (session: Session, id: string): Promise<Job> => {
  const input = { TableName: session.catalog.table, Key: jobKey(session, id), ConsistentRead: true } as const;
  const { Item: item } = await session.send("GetItem", { ...input, ReturnConsumedCapacity: "TOTAL" }, bookkeeping(session, 30_000));
  if (item) return readJob(session, item, id);
  throw new EdgetableError("job.notFound", `There is no job "${id}": it ended, or was never begun.`, { details: { id } });
};
