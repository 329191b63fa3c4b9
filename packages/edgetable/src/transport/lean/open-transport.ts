import { EdgetableError, joinDetails } from "../../errors/edgetable-error.ts";
import { inRange } from "../../util/check-options.ts";
import type { StreamTransport } from "../stream-operations.ts";
import { type Attempt, attemptError, serviceError } from "../transport-error.ts";
import { type Answered, oddityOf, type SendOptions, TIMEOUTS, type TextColumn, type Transport } from "../transport.ts";
import { parseAnswer } from "./answer-json.ts";
import { createDeadlines, createDialer, Exchange, Pool } from "./connection.ts";
import type { CredentialProvider, Credentials } from "./credentials.ts";
import type { Answer } from "./response-reader.ts";
import { cacheCredentials, type CredentialCache, createSigner } from "./signing.ts";
import type { Endpoint } from "./surroundings.ts";

/** The service's time: this machine's clock, corrected by the `Date` headers of answers. */
export interface ServiceClock {
  now(): number;
  /** Reads the `Date` header of an answer, at most once a minute. */
  glance(date: string): void;
  /** Reads the `Date` header of an error. Returns true if the request was signed with a wrong time. */
  observe(date: string, signedAt: number): boolean;
}

// Signatures are valid 5 minutes either way. The header is off by up to a second plus the answer's time in transit.
const tolerance = 240_000;
const glanceEvery = 60_000;

export const createServiceClock = (machine: () => number): ServiceClock => {
  let offset = 0;
  let lastGlance = Number.NEGATIVE_INFINITY;
  const correct = (date: string): void => {
    const difference = Date.parse(date) - (machine() + offset);
    if (Math.abs(difference) > tolerance) offset += difference;
  };
  return {
    now: () => machine() + offset,
    glance(date) {
      const now = machine();
      if (Math.abs(now - lastGlance) < glanceEvery) return;
      lastGlance = now;
      correct(date);
    },
    observe(date, signedAt) {
      correct(date);
      return Math.abs(Date.parse(date) - signedAt) > tolerance;
    },
  };
};

interface FaultBody {
  readonly __type?: unknown;
  readonly message?: unknown;
  readonly Message?: unknown;
  readonly Item?: unknown;
  readonly CancellationReasons?: unknown;
}

// Characters of a foreign answer that a message quotes. A message never quotes items.
const LONGEST_QUOTE = 120;
// Characters of DynamoDB's message. Those that quote a request are long.
const LONGEST_MESSAGE = 2000;
const MAY_HOLD_ITEMS = /"(?:Items?|Attributes|Responses|Key)"/;

/** Describes an answer that is not DynamoDB's. */
const describeForeign = ({ head, body }: Answer, oddity?: string): string => {
  const shown = MAY_HOLD_ITEMS.test(body) ? "" : `: "${body.slice(0, LONGEST_QUOTE).replaceAll(/\s+/g, " ")}"`;
  const why = oddity === undefined ? "" : `, ${oddity}`;
  return `HTTP ${head.status} ${head.contentType || "without a content type"}, not DynamoDB's JSON${shown}${why}. Is there a proxy, or another server, at the endpoint?`;
};

/** What tells one service from another at the same kind of endpoint. */
export interface Service {
  /** Its name and version before an operation's name. */
  readonly target: string;
  /** The output in an answer's text. Throws a TypeError that says what is wrong, or what JSON.parse throws. */
  parse(body: string, column?: TextColumn): unknown;
  oddityOf(answered: Answered): string | undefined;
}

const dynamodb: Service = { target: "DynamoDB_20120810.", parse: parseAnswer, oddityOf };

/**
 * The output in a successful answer.
 *
 * @throws {execute.connection} if it is not DynamoDB's; the request may have taken effect
 */
const readOutput = (answer: Answer, attempt: Attempt, service: Service, column?: TextColumn): unknown => {
  let cause: unknown;
  let oddity: string | undefined;
  try {
    const output = service.parse(answer.body, column);
    const { operation, input } = attempt;
    const { crc32, requestId, contentType } = answer.head;
    // DynamoDB and both local engines send all three.
    const signed = requestId !== "" || crc32 !== "" || contentType.startsWith("application/x-amz-json");
    oddity = service.oddityOf({ operation, input, output, signed });
    if (oddity === undefined) return output;
  } catch (error) {
    cause = error;
    oddity = (error as Error).name === "TypeError" ? (error as Error).message : undefined;
  }
  throw attemptError(attempt, { code: "execute.connection", message: describeForeign(answer, oddity), ambiguous: true, cause });
};

/** The error of an answer whose status is not 200. */
const readFault = (answer: Answer, attempt: Attempt): EdgetableError => {
  const { status, errorType, requestId } = answer.head;
  let body: FaultBody | undefined;
  try {
    const parsed: unknown = JSON.parse(answer.body);
    if (typeof parsed === "object" && parsed !== null) body = parsed;
  } catch {
    // Not JSON: not DynamoDB's.
  }
  // `com.amazonaws.dynamodb.v20120810#Name` and `Name:http://…` both mean `Name`.
  const type = typeof body?.__type === "string" ? body.__type : errorType;
  const name = type.slice(type.lastIndexOf("#") + 1).split(":")[0] ?? "";
  const request = { operation: attempt.operation, input: attempt.input };
  if (body === undefined || name === "") {
    if (status >= 500 || (status >= 400 && requestId !== ""))
      return serviceError({ name: `Http${status}`, message: describeForeign(answer), status }, request);
    return attemptError(attempt, { code: "execute.connection", message: describeForeign(answer), ambiguous: true });
  }
  const text = body.message ?? body.Message;
  const message = `${typeof text === "string" && text !== "" ? text.slice(0, LONGEST_MESSAGE) : "(no message)"}${requestId === "" ? "" : ` (request ${requestId})`}`;
  return serviceError({ name, message, status, item: body.Item, reasons: body.CancellationReasons }, request);
};

/** The same error, retryable because its cause has been fixed. */
const retryable = (error: EdgetableError, fix: string): EdgetableError =>
  new EdgetableError(error.code, `${error.message} (${fix})`, {
    details: joinDetails(error.details, { mend: fix }),
    retryable: true,
    ...(error.request && { request: error.request }),
  });

/** Checked settings of a lean transport. */
export interface LeanSettings {
  readonly endpoint: Endpoint;
  readonly region: string;
  /** Fixed ones have been checked. */
  readonly credentials: Credentials | CredentialProvider;
  readonly ca: string | undefined;
  readonly now: () => number;
  readonly maxSockets: number;
  /** Milliseconds, like the next one. */
  readonly connectTimeout: number;
  readonly requestTimeout: number;
}

const closedError = ({ operation }: Exchange): EdgetableError =>
  new EdgetableError("execute.connection", `${operation}: the transport was closed by close(). Connect again.`, {
    details: { ambiguous: false },
  });

class LeanTransport {
  readonly #service: Service;
  readonly #pool: Pool;
  readonly #clock: ServiceClock;
  readonly #credentials: CredentialCache;
  readonly #requestTimeout: number;
  readonly #deadlines = createDeadlines();
  /** Exchanges without credentials. */
  readonly #waiting = new Set<Exchange>();
  #closed = false;

  constructor({ endpoint, region, credentials, ca, now, requestTimeout, ...limits }: LeanSettings, service: Service) {
    const clock = createServiceClock(now);
    const signer = createSigner(endpoint, region, service.target);
    const sign = (exchange: Exchange): string => signer(exchange, exchange.credentials as Credentials, (exchange.signedAt = clock.now()));
    this.#pool = new Pool({ dialer: createDialer(endpoint, ca), sign, now, ...limits });
    this.#service = service;
    this.#clock = clock;
    this.#credentials = cacheCredentials(credentials);
    this.#requestTimeout = requestTimeout;
  }

  send(operation: string, input: unknown, options?: SendOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const answered = (exchange: Exchange, answer: Answer): void => resolve(this.#read(exchange, answer));
      this.#start(new Exchange(operation, input, { answered, failed: reject }), options);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const one of this.#waiting) one.reject(closedError(one));
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
    exchange.credentials = this.#credentials.current(this.#clock.now());
    if (exchange.credentials === undefined) void this.#sendWithFreshCredentials(exchange);
    else this.#pool.run(exchange);
  }

  async #sendWithFreshCredentials(exchange: Exchange): Promise<void> {
    this.#waiting.add(exchange);
    try {
      exchange.credentials = await this.#credentials.refresh();
      if (!exchange.settled) this.#pool.run(exchange);
    } catch (error) {
      exchange.reject(error);
    }
    this.#waiting.delete(exchange);
  }

  #read(exchange: Exchange, answer: Answer): unknown {
    if (answer.head.status === 200) {
      this.#clock.glance(answer.head.date);
      return readOutput(answer, exchange, this.#service, exchange.column);
    }
    const error = readFault(answer, exchange);
    const wrongTime = this.#clock.observe(answer.head.date, exchange.signedAt);
    const unauthorized = error.code === "execute.credentials" || error.code === "execute.expiredCredentials";
    if (wrongTime && unauthorized) throw retryable(error, "the clock was off by more than 4 minutes and is corrected for the next attempt");
    const renewable = error.details["fault"] === "ExpiredTokenException" && this.#credentials.drop(exchange.credentials as Credentials);
    throw renewable ? retryable(error, "the next attempt gets fresh credentials") : error;
  }
}

/** Opens a transport. Everything from the socket to the answer's JSON is loaded with this file. */
export const openTransport = (settings: LeanSettings): Transport => new LeanTransport(settings, dynamodb) as Transport;

/** Opens a transport of DynamoDB Streams: the same sockets, signatures and errors. */
export const openStreamTransport = (settings: LeanSettings, service: Service): StreamTransport =>
  new LeanTransport(settings, service) as StreamTransport;
