import { EdgetableError } from "../../errors/edgetable-error.ts";
import type { Session } from "../session.ts";
import { Meter } from "../call.ts";
import { nodeNames } from "./node-names.ts";
import { hopParts } from "./read-edges.ts";
import type { WalkRequest } from "./walk-run.ts";
import { jsonText } from "../../util/json-text.ts";

const makeKeys = (session: Session, request: WalkRequest): void => {
  const { plan, start } = request;
  const [first] = plan.steps;
  const names = nodeNames(session.catalog);
  names.pack(start.type, start.id);
  if (first?.kind !== "hop") return;
  const parts =
    hopParts({ session, context: { meter: new Meter(0), deadline: 0 }, request, names }, first).get(start.type)?.(start.id) ?? [];
  for (const { source, partition = source.query.partitions?.(start.id)[0] } of parts)
    source.query.encode(start.id, { partition, limit: undefined, start: undefined, livingAt: undefined });
};

/**
 * Makes the keys of where a walk starts once beforehand: what is wrong with them is wrong with the walk, and not with a hop of it.
 *
 * @throws {traverse.start}
 */
export const checkStart = (session: Session, request: WalkRequest): void => {
  const { type, id } = request.start;
  try {
    makeKeys(session, request);
  } catch (cause) {
    throw new EdgetableError("traverse.start", `A walk cannot start at ${type} ${jsonText(id)}: ${(cause as Error).message}`, {
      details: { node: { type, id } },
      cause,
    });
  }
};
