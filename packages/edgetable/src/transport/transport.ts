import type { Operation, OperationInputs, OperationOutputs } from "./operations.ts";

/** A text that all wanted items have, whatever else they hold. */
export interface TextColumn {
  /** A key attribute of type S, the only one that the request projects. */
  readonly attribute: string;
  /** What the key condition says that every text begins with: it is left out of the texts given. */
  readonly beginning: string;
}

/** Least and most milliseconds that one attempt, or a connection, may take. */
export const TIMEOUTS = [1, 600_000] as const;

/** What a transport needs beside the request itself. */
export interface SendOptions {
  /** Ends the request when it is aborted; the transport rejects with `execute.aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until this one attempt is given up with `execute.timeout`, 1 to 600,000. */
  readonly timeout?: number | undefined;
  /** Of a Query's items the caller needs this text alone: a transport may give `Texts` in place of `Items`. */
  readonly column?: TextColumn | undefined;
  /**
   * Called when the first byte is about to go out, after waiting for a socket: what it throws ends the attempt, and
   * nothing is sent. A transport that cannot tell when that is may leave it out.
   */
  readonly guard?: (() => void) | undefined;
}

/**
 * One attempt of one DynamoDB request. A transport signs, sends and parses; it never retries, never
 * changes a request, and rejects with an `EdgetableError` whose `retryable` says whether the same
 * request may succeed later and whose `details.ambiguous` is true when the request may have taken
 * effect although no answer came.
 */
export interface Transport {
  /**
   * Sends one request, once.
   *
   * @throws {execute.throttled} and others of that stage, by what the service answered or did not
   * @throws {execute.aborted} when the signal was aborted, {execute.timeout} when its time was over
   */
  send<O extends Operation>(operation: O, input: OperationInputs[O], options?: SendOptions): Promise<OperationOutputs[O]>;
  /** Gives back sockets and the like. Sending after closing rejects. */
  close(): void | Promise<void>;
}
