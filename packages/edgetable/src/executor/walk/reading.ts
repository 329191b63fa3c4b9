import type { QueryStep } from "../../ir/physical-plan.ts";
import type { PlannedHop } from "../../ir/walk-plan.ts";
import type { HopQuery } from "../../requests/encode-scatter.ts";
import type { Key, QueryOutput } from "../../transport/operations.ts";
import type { TextColumn } from "../../transport/transport.ts";
import { pageOf, type Reached } from "../page-of.ts";
import type { NodeKey } from "./node-names.ts";
import type { WalkRun } from "./walk-run.ts";
import type { Merge } from "./walk-state.ts";

/** Where a node's edges lead; `values` are those of the folded attribute, where there is one. */
export interface Ends {
  readonly keys: NodeKey[];
  readonly values: unknown[] | undefined;
}

/** One of a hop's Queries, and how its items are read. */
export interface Source {
  readonly step: QueryStep;
  readonly query: HopQuery;
  /** Of its items only this is needed. */
  readonly column: TextColumn | undefined;
  readonly take: (output: QueryOutput, ends: Ends) => void;
}

/** A source, or one of its partitions, or all of them where only the first edges are wanted. */
export interface Part {
  readonly source: Source;
  /** Which of the plan's. */
  readonly at: number;
  readonly partition: string | undefined;
  readonly merges?: boolean;
}

/** How far a node's edges were read. */
export interface Reading {
  readonly parts: readonly Part[];
  readonly ends: Ends;
  /** The part that is read. */
  part: number;
  start: Key | undefined;
  merge: Merge | undefined;
  /** Items that DynamoDB read for this node. */
  read: number;
}

// One more than allowed tells a supernode from a node that just fits; a page leaves the rest where it is.
export const pageLimit = (run: WalkRun, hop: PlannedHop, { read, found }: Pick<Reached, "read" | "found">): number => {
  const { budget, supernode } = run.request;
  const left = budget.breadth - read + (supernode === "page" ? 0 : 1);
  if (hop.limit === undefined) return left;
  if (hop.conditions.length === 0) return Math.min(left, hop.limit);
  return Math.min(left, pageOf({ wanted: hop.limit, found, read }, false) ?? left);
};

/** Takes the edges that several partitions have shown to be the first. */
export const takeFirst = (reading: Reading): void => {
  for (const { end, value } of reading.merge?.first ?? []) {
    reading.ends.keys.push(end);
    reading.ends.values?.push(value);
  }
  reading.merge = undefined;
};
