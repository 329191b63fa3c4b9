import { isEdgetableError } from "../errors/edgetable-error.ts";
import type { AccessStep } from "../ir/physical-plan.ts";
import { Meter } from "./call.ts";
import { readRecord } from "./model-record.ts";
import type { Gaps } from "./record-gaps.ts";
import type { CallContext, Session } from "./session.ts";
import { SharedAnswer } from "./shared-answer.ts";

// Keyed by the list of jobs, which tenants' connections share with their original connection.
const sessions = new WeakMap<Session["jobs"], SharedAnswer<Gaps | undefined>>();

/** True if a step reads an index that the model declares in `indexes`. */
export const readsDeclaredIndex = ({ catalog }: Session, steps: readonly AccessStep[]): boolean =>
  catalog.escapes &&
  steps.some((step) => step.kind === "query" && step.index !== undefined && Object.hasOwn(catalog.definition.indexes ?? {}, step.index));

/**
 * The differences between the record and the model; undefined if there are none. One GetItem for each session, and for each call
 * while there are differences.
 *
 * @throws {plan.unreadForm} if the model is older than a renaming
 */
export const findGaps = async (session: Session, steps: readonly AccessStep[], context: CallContext): Promise<Gaps | undefined> => {
  let known = sessions.get(session.jobs);
  if (!known) sessions.set(session.jobs, (known = new SharedAnswer()));
  const answer = known;
  const gaps = await answer
    .get(async () => {
      // The record is read once for all calls, so it does not appear in the call's own report.
      const { deadline, signal } = context;
      const record = await readRecord(session, { meter: new Meter(0), deadline, signal });
      if (!record.current && !record.migration) return undefined;
      return (await import("./record-gaps.ts")).gapsOf(session, record);
    }, context)
    .catch((error: unknown) => {
      // A policy may permit a program to read only one index. That says nothing about the index.
      if (isEdgetableError(error, "execute.accessDenied") && !readsDeclaredIndex(session, steps)) return undefined;
      throw error;
    });
  if (gaps) answer.forget();
  return gaps;
};
