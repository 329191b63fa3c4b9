import { EdgetableError } from "../../errors/edgetable-error.ts";
import { inRange } from "../../util/check-range.ts";
import { attemptError } from "../attempt-error.ts";
import type { Operation, OperationInputs, OperationOutputs } from "../operations.ts";
import type { SendOptions, Transport } from "../transport.ts";
import { createServiceClock } from "./clock.ts";
import type { ServiceClock } from "./clock.ts";
import { cacheCredentials } from "./credentials.ts";
import type { CredentialCache, CredentialProvider, Credentials } from "./credentials.ts";
import { createDeadlines } from "./deadlines.ts";
import { defaultCredentials } from "./default-credentials.ts";
import { createDialer } from "./dialer.ts";
import { parseEndpoint, serviceEndpoint } from "./endpoint.ts";
import { Exchange } from "./exchange.ts";
import { mended, readFault, readOutput } from "./fault.ts";
import { createPool } from "./pool.ts";
import type { Pool } from "./pool.ts";
import { resolveRegion } from "./region.ts";
import type { Answer } from "./response-reader.ts";
import { createSigner } from "./signature.ts";

/** How the lean transport reaches DynamoDB. */
export interface LeanTransportOptions {
  /** URL text without path. @default the public endpoint of DynamoDB in the region */
  readonly endpoint?: string | undefined;
  /** @default AWS_REGION, AWS_DEFAULT_REGION, the shared config file, or "us-east-1" on loopback */
  readonly region?: string | undefined;
  /** Profile of the shared config files, for region and credentials. @default AWS_PROFILE */
  readonly profile?: string | undefined;
  /** Fixed credentials or a function that gives fresh ones. @default defaultCredentials(); a dummy pair on loopback */
  readonly credentials?: Credentials | CredentialProvider | undefined;
  /** Most sockets at one time, 1 to 10,000; further requests wait. @default 64 */
  readonly maxSockets?: number | undefined;
  /** Milliseconds until a socket must be connected (and TLS agreed), 1 to 600,000. @default 3000 */
  readonly connectTimeout?: number | undefined;
  /** Milliseconds for one attempt as a whole, 1 to 600,000, unless `send` is given another. @default 10000 */
  readonly requestTimeout?: number | undefined;
  /** Allows plain http to a machine other than this one. @default false */
  readonly allowInsecure?: boolean | undefined;
  /** PEM text of the certificate authorities to trust in place of the usual ones. */
  readonly ca?: string | undefined;
  /** The machine's clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
}

// DynamoDB Local accepts alphanumeric key ids only.
const dummyCredentials: Credentials = { accessKeyId: "local", secretAccessKey: "local" };

const timeouts = [1, 600_000] as const;

interface Parts {
  readonly pool: Pool;
  readonly clock: ServiceClock;
  readonly cache: CredentialCache;
  readonly requestTimeout: number;
}

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
    const timeout = options?.timeout === undefined ? this.#requestTimeout : inRange("timeout", Math.ceil(options.timeout), timeouts);
    if (this.#closed)
      throw new EdgetableError("execute.connection", `${exchange.operation}: the transport was closed by close(). Connect anew.`, {
        details: { ambiguous: false },
      });
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

/**
 * A transport of our own: keep-alive HTTP/1.1 over a bare socket, Signature Version 4 and plain JSON.
 * Nothing is sent until the first request; sockets do not keep the process alive.
 *
 * @throws {plan.invalidOption} when an option is out of range, no region is to be found, or the
 * endpoint is plain http to another machine without `allowInsecure`.
 * @throws {execute.credentials} when fixed credentials are incomplete.
 * @example
 * const transport = createLeanTransport({ endpoint: "http://127.0.0.1:8000" });
 */
export const createLeanTransport = (options: LeanTransportOptions = {}): Transport => {
  const given = options.endpoint === undefined ? undefined : parseEndpoint(options.endpoint, options.allowInsecure ?? false);
  const region = resolveRegion(options, given?.loopback ? "us-east-1" : undefined);
  const endpoint = given ?? parseEndpoint(serviceEndpoint(region), false);
  const clock = createServiceClock(options.now ?? Date.now);
  const signer = createSigner(endpoint, region);
  const sign = (exchange: Exchange): string => signer(exchange, exchange.credentials as Credentials, (exchange.signedAt = clock.now()));
  const pool = createPool({
    dialer: createDialer(endpoint, options.ca),
    sign,
    now: options.now ?? Date.now,
    maxSockets: inRange("maxSockets", options.maxSockets ?? 64, [1, 10_000]),
    connectTimeout: inRange("connectTimeout", options.connectTimeout ?? 3_000, timeouts),
  });
  const cache = cacheCredentials(
    options.credentials ?? (endpoint.loopback ? dummyCredentials : defaultCredentials({ profile: options.profile })),
  );
  return new LeanTransport({ pool, clock, cache, requestTimeout: inRange("requestTimeout", options.requestTimeout ?? 10_000, timeouts) });
};
