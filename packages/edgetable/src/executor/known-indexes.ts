import type { AccessStep } from "../ir/physical-plan.ts";
import { loadOnce } from "../util/load-once.ts";
import type { CallContext, Session } from "./session.ts";

/** Sessions that know that every index finds all that their model says. */
const knowing = new WeakSet<Session>();

/** Notes that every index of a session's table is complete. */
export const noteComplete = (session: Session): void => void knowing.add(session);

/** What is read. */
interface Reading {
  readonly steps: readonly AccessStep[];
  /** True if the rows are wanted in any order, such as to count or delete them. */
  readonly anyOrder?: boolean | undefined;
}

/**
 * Whether a step depends on keys that the table's model may compute otherwise, or not at all. A plain list of in-edges depends
 * on them for its order alone: the edges that `reverse` is made for have been in it since they exist.
 */
const mayLack = ({ catalog }: Session, step: AccessStep, anyOrder: boolean): boolean => {
  if (step.kind !== "query" || step.index === undefined) return false;
  if (!catalog.escapes || step.index !== "reverse" || step.sort?.kind === "range") return true;
  if (step.sort?.template.parts.some(({ kind }) => kind === "field")) return true;
  return step.shapes.some((id) => {
    const shape = catalog.shapesById[id];
    return shape?.kind === "node" || (!anyOrder && catalog.edges[shape?.definition ?? ""]?.orderBy !== undefined);
  });
};

const readiness = loadOnce(async () => import("./index-readiness.ts"));

/**
 * Reads, once it is known that the indexes find everything. The record of the table's model is read beside the first read of
 * an index, and before the first one of an index that the model declares: those are more likely to be new.
 *
 * @throws {plan.indexIncomplete} when old items may lack the keys of an index
 */
export const readComplete = async <T>(
  session: Session,
  { steps, anyOrder = false }: Reading,
  context: CallContext,
  read: () => Promise<T>,
): Promise<T> => {
  if (knowing.has(session) || !steps.some((step) => mayLack(session, step, anyOrder))) return read();
  const { checkIndexes, readsDeclaredIndex } = await readiness();
  const checking = checkIndexes(session, steps, context);
  if (readsDeclaredIndex(session, steps)) await checking;
  const [rows, isComplete] = await Promise.all([read(), checking]);
  if (isComplete) noteComplete(session);
  return rows;
};
