import { below, seededRandom } from "../random.ts";
import type { Call, FaultKind, LagKind } from "./kinds.ts";
import type { LagBound } from "./options.ts";

// Of pages without a Limit: few enough that a test's small partitions are cut.
const largestShortPage = 10;

const share = (draw: number, whole: number): number => {
  const random = seededRandom(draw);
  return random() < whole ? 1 : random();
};

const pageLength = (call: Call, draw: number): number => {
  const limit = "Limit" in call.input ? call.input.Limit : undefined;
  return 1 + below(seededRandom(draw), Math.max(1, (limit ?? largestShortPage + 1) - 1));
};

/** How much of a fault befalls a request, for those that come in amounts. */
export const faultAmount = (fault: FaultKind, call: Call, draw: number): number | undefined => {
  if (fault === "unprocessed") return share(draw, 0.25);
  if (fault === "shortPage") return pageLength(call, draw);
  // A batch is not atomic: when its answer is lost, a part of it may have taken effect.
  if (fault.endsWith("After") && call.operation === "BatchWriteItem") return share(draw, 0.5);
  return undefined;
};

/** How far back a lagging read looks, in its bound's unit. */
export const lagAmount = (bound: LagBound, draw: number): number => {
  const random = seededRandom(draw);
  return bound.writes === undefined ? random() * (bound.milliseconds ?? 0) : 1 + below(random, bound.writes);
};

/** Which bound a lagging read is under. */
export const boundOf = (kind: LagKind, options: { readonly lag?: LagBound; readonly staleReads?: LagBound }): LagBound | undefined =>
  kind === "lag" ? options.lag : options.staleReads;
