import type { Graph } from "../graphs/graph.ts";
import type { LinksDb } from "../store/model.ts";

/** One kind of call in a mix. */
export interface MixCall {
  readonly name: string;
  /** Percent of all calls. */
  readonly share: number;
  /** Makes one such call; resolves with what the library gave. */
  run(): Promise<unknown>;
}

/** What the calls of a mix are made of. */
export interface MixPlace {
  readonly db: LinksDb;
  readonly graph: Graph;
  readonly random: () => number;
}

export type Mix = (place: MixPlace) => readonly MixCall[];

/** Draws calls by their shares. */
export const drawFrom = (calls: readonly MixCall[], random: () => number): (() => MixCall) => {
  const total = calls.reduce((sum, { share }) => sum + share, 0);
  return () => {
    let left = random() * total;
    return calls.find(({ share }) => (left -= share) < 0) ?? (calls[0] as MixCall);
  };
};
