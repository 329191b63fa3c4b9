import type { FollowedRow } from "../schema/grid-parts.ts";
import type { EndId } from "../ir/logical-write.ts";
import type { WriteItem } from "../ir/write-plan.ts";
import type { Item, Key } from "../transport/operations.ts";

/** The kinds of findings, in the order of reports. */
export const findingKinds = {
  storedKey: "an item whose table key is not the one that its values make",
  indexKey: "an index key that differs from what the model computes, is missing, or lacks its counterpart",
  wrongShard: "an item in a shard that readers do not read",
  drift: "an attribute that repeats a value of the key and differs from it",
  otherForm: "a renamed or retyped attribute in a form that items no longer have",
  typeAttribute: "an item without the attribute that names its type",
  unreadable: "an attribute of Edgetable's own that should be a number or JSON and is not",
  invalid: "a row that its schema refuses",
  oneSided: "an edge with only one of its two copies",
  differing: "an edge whose copies differ",
  dangling: "an edge to or from a node that does not exist",
  leftEdge: "an edge whose node was deleted, in a model that leaves such edges",
  orphanedPart: "a part whose node does not exist",
  missingMarker: "a unique value without its marker",
  foreignMarker: "a unique value whose marker names another node",
  duplicate: "a unique value that two nodes have",
  orphanedMarker: "a marker of a value that its node does not have",
  wrongCount: "a degree guard whose count differs from the number of edges",
  wrongAggregate: "a count, sum or average that differs from its edges or parts",
  staleFact: "a derived attribute that the stream maintains and that differs from its edges or parts",
  staleValue: "an item of a grid's index that differs from its row's document",
  staleCopy: "a copy of a node's attribute that differs from the node",
  idleGuard: "a degree guard or counter that nothing maintains, or that counts nothing for a node that does not exist",
  idleMarker: "a marker of an attribute that is not unique in the model",
  deletionMark: "a node marked by a deletion whose job is gone",
  abandonedJob: "a job that no process has run for a day",
  expiredCursor: "a stored cursor that expired at least a day ago",
  unclaimed: "an item that the model does not describe",
} as const;

/** The name of a kind of finding. */
export type FindingKind = keyof typeof findingKinds;

/** Harmless kinds, which normal use leaves behind. A table with only these is clean. */
export const harmless: ReadonlySet<FindingKind> = new Set(["leftEdge", "idleGuard", "idleMarker", "abandonedJob", "expiredCursor"]);

/** One problem in the table. */
export interface Finding {
  readonly kind: FindingKind;
  /** The item where it was found. */
  readonly key: Key;
  /** The node, edge or part; for an unclaimed item, the most similar one. */
  readonly definition?: string | undefined;
  readonly attribute?: string | undefined;
  /** The stored value; absent if there is none. */
  readonly stored?: unknown;
  /** The value that the model computes; absent if there should be none. */
  readonly expected?: unknown;
  /** A related item: the other copy, the missing node, the marker, or the other node with the value. */
  readonly other?: Key | undefined;
  /**
   * For an edge or part without its node: the counts, sums and averages of the missing node, as `post.likes`. If the node were
   * created, they would not include this edge or part.
   */
  readonly uncounted?: readonly string[] | undefined;
  /** A sentence about it. */
  readonly reason: string;
}

/** A node or edge whose attributes maintained by stream are computed again. */
export interface Rebuild {
  readonly kind: "rebuild";
  readonly holder: EndId;
  readonly before?: WriteItem;
  /** What was read of it: see `readStreamed`. @default it is read again */
  readonly read?: Item | undefined;
}

/** The repair of a finding. */
export type Mend =
  /** Writes of one transaction, on condition that everything is as it was read. */
  | { readonly kind: "writes"; readonly steps: readonly WriteItem[] }
  /** The same, but they delete data: only if the caller asks for it. */
  | { readonly kind: "orphan"; readonly steps: readonly WriteItem[] }
  /** The attributes of a node that the stream maintains are computed again, after items that prevent this are deleted. */
  | Rebuild
  /** The items of a grid's index follow their row's document again. */
  | { readonly kind: "follow"; readonly row: FollowedRow }
  /** No automatic repair: a person has to decide. */
  | { readonly kind: "none"; readonly advice: string };

/** Findings about one item that are repaired together. */
export interface Problem {
  readonly findings: readonly [Finding, ...Finding[]];
  readonly mend: Mend;
}
