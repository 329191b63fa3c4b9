import type { AccessStep } from "../ir/physical-plan.ts";
import { type Catalog, keyAttributes } from "../schema/catalog.ts";
import { loadOnce } from "../util/load-once.ts";
import type { CallContext, Session } from "./session.ts";

/** Sessions that know that every index finds all that their model says. */
const knowing = new WeakSet<Session>();

/** Notes that every index of a session's table is complete. */
export const noteComplete = (session: Session): void => void knowing.add(session);

const shared = new WeakMap<Catalog, ReadonlySet<string>>();

/**
 * Whether a step reads an index that may be older than a kind of items in it. An index of one kind alone does not exist before
 * all of its items have their keys. The edges that `reverse` is made for have been in it since they exist.
 */
const mayLack = ({ catalog }: Session, step: AccessStep): boolean => {
  if (step.kind !== "query" || step.index === undefined) return false;
  if (catalog.escapes && step.index === "reverse") return step.shapes.some((id) => catalog.shapesById[id]?.kind === "node");
  let names = shared.get(catalog);
  if (!names) {
    const declared = catalog.escapes ? Object.keys(catalog.definition.indexes ?? {}) : [];
    const several = catalog.indexes.filter(
      (index) =>
        new Set(catalog.shapes.filter(({ keys }) => keyAttributes(index).every((one) => one in keys)).map((one) => one.definition)).size >
        1,
    );
    shared.set(catalog, (names = new Set([...declared, ...several.map(({ name = "" }) => name)])));
  }
  return names.has(step.index);
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
  steps: readonly AccessStep[],
  context: CallContext,
  read: () => Promise<T>,
): Promise<T> => {
  if (knowing.has(session) || !steps.some((step) => mayLack(session, step))) return read();
  const { checkIndexes, readsDeclaredIndex } = await readiness();
  const checking = checkIndexes(session, steps, context);
  if (readsDeclaredIndex(session, steps)) await checking;
  const [rows, isComplete] = await Promise.all([read(), checking]);
  if (isComplete) noteComplete(session);
  return rows;
};
