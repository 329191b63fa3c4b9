import type { Operation, OperationInputs, OperationOutputs } from "./operations.ts";

/** What a transport needs beside the request itself. */
export interface SendOptions {
  /** Ends the request when it is aborted; the transport rejects with `execute.aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until this one attempt is given up with `execute.timeout`, 1 to 600,000. */
  readonly timeout?: number | undefined;
}

/**
 * One attempt of one DynamoDB request. A transport signs, sends and parses; it never retries, never
 * changes a request, and rejects with an `EdgetableError` whose `retryable` says whether the same
 * request may succeed later and whose `details.ambiguous` is true when the request may have taken
 * effect although no answer came.
 */
export interface Transport {
  send<O extends Operation>(operation: O, input: OperationInputs[O], options?: SendOptions): Promise<OperationOutputs[O]>;
  /** Gives back sockets and the like. Sending after closing rejects. */
  close(): void | Promise<void>;
}
