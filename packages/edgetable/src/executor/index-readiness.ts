import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep } from "../ir/physical-plan.ts";
import { Meter } from "./call.ts";
import { readRecord } from "./model-record.ts";
import type { Gaps } from "./record-gaps.ts";
import type { CallContext, Session } from "./session.ts";
import { SharedAnswer } from "./shared-answer.ts";

// By the list of jobs, which the connections of tenants share with the one that they were made from.
const sessions = new WeakMap<Session["jobs"], SharedAnswer<Gaps | undefined>>();

/** True if an index is read that the model declares by value. */
export const readsDeclaredIndex = ({ catalog }: Session, steps: readonly AccessStep[]): boolean =>
  catalog.escapes &&
  steps.some((step) => step.kind === "query" && step.index !== undefined && Object.hasOwn(catalog.definition.indexes ?? {}, step.index));

/**
 * What the record has otherwise than the model; undefined if nothing. One GetItem for each session, and for each call while there
 * are gaps.
 *
 * @throws {plan.unreadForm} when the model is older than a renaming
 */
export const findGaps = async (session: Session, steps: readonly AccessStep[], context: CallContext): Promise<Gaps | undefined> => {
  let known = sessions.get(session.jobs);
  if (!known) sessions.set(session.jobs, (known = new SharedAnswer()));
  const answer = known;
  const gaps = await answer
    .get(async () => {
      // The call's own report names what the call asks for: the record is read once for all calls.
      const { deadline, signal } = context;
      const record = await readRecord(session, { meter: new Meter(0), deadline, signal });
      if (!record.current && !record.migration) return undefined;
      return (await import("./record-gaps.ts")).gapsOf(session, record);
    }, context)
    .catch((error: unknown) => {
      // A policy may allow a program to read one index and nothing else, which says nothing of the index.
      if (isEdgetableError(error, "execute.accessDenied") && !readsDeclaredIndex(session, steps)) return undefined;
      throw error;
    });
  if (gaps) answer.forget();
  return gaps;
};
