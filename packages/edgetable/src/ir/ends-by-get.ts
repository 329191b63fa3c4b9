import { BATCH_GET_KEYS, readUnits } from "./capacity.ts";
import type { Expected, PlannedHop } from "./walk-plan.ts";

type Price = Pick<Expected, "requests" | "readUnits">;

/** How many nodes of a layer there are, and to how many known ones their edges are asked for. */
export interface EndsAsked {
  readonly nodes: number;
  readonly known: number;
}

const listedPrice = ({ from, requests, readUnits: units }: Expected, nodes: number): Price => {
  const each = Math.max(1, from);
  return { requests: nodes * Math.max(1, requests / each), readUnits: (nodes * units) / each };
};

/**
 * The price of asking for edges to known nodes by their keys; undefined where listing is expected to be cheaper: by
 * fewer requests, and of as many by fewer units.
 */
export const endsByGet = (
  { by, expect, consistent }: Pick<PlannedHop, "by" | "expect" | "consistent">,
  { nodes, known }: EndsAsked,
): Price | undefined => {
  if (by !== "get" || nodes < 1 || known < 1 || known > BATCH_GET_KEYS) return undefined;
  const listed = listedPrice(expect, nodes);
  const requests = Math.ceil(nodes / Math.floor(BATCH_GET_KEYS / known));
  const got = { requests, readUnits: nodes * known * readUnits(0, { consistent }) };
  const isCheaper = requests < listed.requests || (requests === listed.requests && got.readUnits <= listed.readUnits);
  return isCheaper ? got : undefined;
};
