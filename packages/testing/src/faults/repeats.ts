import type { Call } from "./kinds.ts";

/** Counts what befell each identical request in a row, so that progress stays possible. */
export interface Repeats {
  /** Whether the request may be hit once more; counts it when it is. */
  hit(call: Call, wanted: boolean): boolean;
}

// A retry may carry a token of its own and is the same request all the same.
const identity = ({ operation, input }: Call): string =>
  operation + JSON.stringify(input, (name, value: unknown) => (name === "ClientRequestToken" ? undefined : value));

/** At most `most` hits in a row. */
export const countRepeats = (most: number): Repeats => {
  const rows = new Map<string, number>();
  return {
    hit: (call, wanted) => {
      const key = identity(call);
      const before = rows.get(key) ?? 0;
      const hit = wanted && before < most;
      if (hit) rows.set(key, before + 1);
      else rows.delete(key);
      return hit;
    },
  };
};
