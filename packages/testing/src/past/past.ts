import type { SendOptions, Transport } from "edgetable";
import { hashText, mixSeeds, seededRandom } from "../random.ts";
import type { Injection, LagBound } from "../faults/options.ts";
import type { TableShapes } from "./table-shape.ts";
import type { Unseen, WriteHistory } from "./write-history.ts";

/** What reading the past takes. */
export interface Past {
  readonly inner: Transport;
  readonly shapes: TableShapes;
  readonly history: WriteHistory;
  readonly now: () => number;
}

/** One read's look into the past. */
export interface Look {
  readonly unseen: Unseen;
  readonly options: SendOptions;
}

/** What a read under an injected lag does not see yet. */
export const unseenBy = (lag: Injection & { readonly amount: number }, bound: LagBound | undefined, now: number): Unseen => {
  const amountFor = (key: string): number => {
    if (bound?.torn !== true) return lag.amount;
    const share = seededRandom(mixSeeds(lag.draw, hashText(key)))();
    return bound.milliseconds === undefined ? Math.floor(share * (lag.amount + 1)) : share * lag.amount;
  };
  if (bound?.milliseconds !== undefined) return ({ at }, key) => at > now - amountFor(key);
  return ({ ordinal }, key, newest) => ordinal > newest - amountFor(key);
};
