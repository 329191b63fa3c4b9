import { EdgetableError } from "../../errors/edgetable-error.ts";
import { inRange } from "../../util/check-options.ts";
import { attemptError } from "../attempt-error.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../operations.ts";
import { type SendOptions, TIMEOUTS, type Transport } from "../transport.ts";
import { createServiceClock } from "./clock.ts";
import type { ServiceClock } from "./clock.ts";
import type { CredentialCache, Credentials } from "./credentials.ts";
import { createDeadlines } from "./deadlines.ts";
import { createDialer } from "./dialer.ts";
import type { Endpoint } from "./endpoint.ts";
import { Exchange } from "./exchange.ts";
import { mended, readFault, readOutput } from "./fault.ts";
import { createPool } from "./pool.ts";
import type { Pool } from "./pool.ts";
import type { Answer } from "./response-reader.ts";
import { createSigner } from "./signature.ts";

/** What a lean transport is told, each part checked. */
export interface LeanSettings {
  readonly endpoint: Endpoint;
  readonly region: string;
  readonly credentials: CredentialCache;
  readonly ca: string | undefined;
  readonly now: () => number;
  readonly maxSockets: number;
  /** Milliseconds, as the two after it. */
  readonly connectTimeout: number;
  readonly requestTimeout: number;
}

interface Parts {
  readonly pool: Pool;
  readonly clock: ServiceClock;
  readonly cache: CredentialCache;
  readonly requestTimeout: number;
}

const closedError = ({ operation }: Exchange): EdgetableError =>
  new EdgetableError("execute.connection", `${operation}: the transport was closed by close(). Connect anew.`, {
    details: { ambiguous: false },
  });

class LeanTransport implements Transport {
  readonly #pool: Pool;
  readonly #clock: ServiceClock;
  readonly #cache: CredentialCache;
  readonly #requestTimeout: number;
  readonly #deadlines = createDeadlines();
  #closed = false;

  constructor({ pool, clock, cache, requestTimeout }: Parts) {
    this.#pool = pool;
    this.#clock = clock;
    this.#cache = cache;
    this.#requestTimeout = requestTimeout;
  }

  send<O extends Operation>(operation: O, input: OperationInputs[O], options?: SendOptions): Promise<OperationOutputs[O]> {
    return new Promise((resolve, reject) => {
      const answered = (exchange: Exchange, answer: Answer): void => resolve(this.#read(exchange, answer) as OperationOutputs[O]);
      this.#start(new Exchange(operation, input, { answered, failed: reject }), options);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool.close();
  }

  #start(exchange: Exchange, options: SendOptions | undefined): void {
    const timeout = options?.timeout === undefined ? this.#requestTimeout : inRange("timeout", Math.ceil(options.timeout), TIMEOUTS);
    if (this.#closed) throw closedError(exchange);
    const signal = options?.signal;
    if (signal?.aborted)
      throw attemptError(exchange, {
        code: "execute.aborted",
        message: "aborted before it was sent",
        ambiguous: false,
        cause: signal.reason,
      });
    exchange.column = options?.column;
    exchange.guard = options?.guard;
    exchange.limit({ deadlines: this.#deadlines, timeout, signal });
    exchange.credentials = this.#cache.current(this.#clock.now());
    if (exchange.credentials === undefined) this.#await(exchange);
    else this.#pool.run(exchange);
  }

  #await(exchange: Exchange): void {
    const go = (credentials: Credentials): void => {
      if (this.#closed) throw closedError(exchange);
      exchange.credentials = credentials;
      if (!exchange.settled) this.#pool.run(exchange);
    };
    this.#cache
      .refresh()
      .then(go)
      .catch((error: unknown) => exchange.reject(error));
  }

  #read(exchange: Exchange, answer: Answer): unknown {
    if (answer.head.status === 200) {
      this.#clock.glance(answer.head.date);
      return readOutput(answer, exchange, exchange.column);
    }
    const error = readFault(answer, exchange);
    const wrongTime = this.#clock.observe(answer.head.date, exchange.signedAt);
    const refused = error.code === "execute.credentials" || error.code === "execute.expiredCredentials";
    if (wrongTime && refused) throw mended(error, "the clock was off by more than 4 minutes and is corrected for the next attempt");
    const renewable = error.details["fault"] === "ExpiredTokenException" && this.#cache.drop(exchange.credentials as Credentials);
    throw renewable ? mended(error, "the next attempt gets fresh credentials") : error;
  }
}

/** Opens a transport: what it is made of, from the socket to the answer's JSON, is loaded with this file. */
export const openTransport = ({ endpoint, region, credentials, ca, now, requestTimeout, ...limits }: LeanSettings): Transport => {
  const clock = createServiceClock(now);
  const signer = createSigner(endpoint, region);
  const sign = (exchange: Exchange): string => signer(exchange, exchange.credentials as Credentials, (exchange.signedAt = clock.now()));
  const pool = createPool({ dialer: createDialer(endpoint, ca), sign, now, ...limits });
  return new LeanTransport({ pool, clock, cache: credentials, requestTimeout });
};
