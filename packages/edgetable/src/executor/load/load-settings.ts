import type { LogicalWrite } from "../../ir/logical-write.ts";
import type { CollisionSettings } from "./collisions.ts";
import type { FailedRow, LoadProgress } from "./tally.ts";

/** Where the rows come from, and what each of them means. */
export interface LoadSource {
  readonly rows: Iterable<unknown> | AsyncIterable<unknown>;
  /** The write of a row: `put` or `putEdge`. Throws for a row that is none. */
  toWrite(row: unknown): LogicalWrite;
}

export interface LoadSettings extends CollisionSettings {
  readonly order: "any" | "kept";
  readonly strict: boolean;
  readonly validates: boolean;
  /** Requests under way at the same time. */
  readonly concurrency: number;
  /** Milliseconds that one request is tried for. */
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  readonly onFailure?: ((failure: FailedRow) => void) | undefined;
  readonly onProgress: ((progress: LoadProgress) => void) | undefined;
  /** Milliseconds between two calls of `onProgress`. */
  readonly progressEvery: number;
  /** Rows before this one are read but not written. */
  readonly from: number;
  /** Called before each row and each attempt of a request; throws to stop the load. */
  readonly check: () => void;
}
