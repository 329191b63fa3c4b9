import type { Operation, OperationInputs, OperationOutputs } from "./operations.ts";

/** A text attribute that is all a caller needs of each item. */
export interface TextColumn {
  /** A key attribute of type S, and the only one that the request projects. */
  readonly attribute: string;
  /** The prefix that the key condition demands of every text. The transport leaves it out of `Texts`. */
  readonly beginning: string;
}

/** Limits for a timeout of an attempt or a connection, in milliseconds. */
export const TIMEOUTS = [1, 600_000] as const;

/** Options of one attempt. */
export interface SendOptions {
  /** Aborts the attempt, which rejects with `execute.aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until this attempt rejects with `execute.timeout`, 1 to 600,000. */
  readonly timeout?: number | undefined;
  /** The caller needs only this text of each item of a Query: the transport may return `Texts` in place of `Items`. */
  readonly column?: TextColumn | undefined;
  /**
   * Called after the wait for a socket, just before the first byte is sent. If it throws, nothing is sent and the attempt
   * rejects with that error. A transport that cannot tell this moment does not call it.
   */
  readonly guard?: (() => void) | undefined;
}

/**
 * Makes one attempt of one DynamoDB request: signs, sends and parses. It never retries or changes a request. It rejects
 * with an `EdgetableError`: `retryable` says whether the same request may succeed later, `details.ambiguous` whether it may
 * have taken effect although no answer came.
 */
export interface Transport {
  /**
   * Sends one request, once.
   *
   * @throws {execute.throttled} and other `execute` codes, by the service's answer or the lack of one
   * @throws {execute.aborted} if the signal was aborted, {execute.timeout} if its time ran out
   */
  send<O extends Operation>(operation: O, input: OperationInputs[O], options?: SendOptions): Promise<OperationOutputs[O]>;
  /** Releases sockets. Sending afterwards rejects. */
  close(): void | Promise<void>;
}

/**
 * True if a host name or address is this machine's own.
 *
 * @param hostname from a URL or a socket, whose IPv4 addresses are always in full form
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname.endsWith(".localhost") || hostname === "::1" || /^127(?:\.\d+){3}$/.test(hostname);

/**
 * A transport whose code is loaded in the background, from now on. A request sent earlier waits for it. If loading fails,
 * the request rejects and the next one tries again.
 */
export const deferTransport = (load: () => Promise<Transport>): Transport => {
  let opened: Transport | undefined;
  let opening: Promise<Transport> | undefined;
  const open = (): Promise<Transport> => {
    if (opening) return opening;
    opening = load();
    opening.then(
      (transport) => (opened = transport),
      () => (opening = undefined),
    );
    return opening;
  };
  void open();
  return {
    send: (operation, input, options) =>
      opened ? opened.send(operation, input, options) : open().then((transport) => transport.send(operation, input, options)),
    close: async () => (opened ?? (await open())).close(),
  };
};
