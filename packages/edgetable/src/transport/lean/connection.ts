// An exchange is one request until its answer. It has a deadline, and one of a pool's sockets carries it.
import { type Socket, connect as connectTcp, isIP } from "node:net";
import { type ConnectionOptions, connect as connectTls, createSecureContext } from "node:tls";
import { onAbort } from "../../util/time.ts";
import { type AttemptFailure, attemptError } from "../transport-error.ts";
import type { TextColumn } from "../transport.ts";
import type { Credentials } from "./credentials.ts";
import { type Answer, ProtocolError, ResponseReader } from "./response-reader.ts";
import type { Endpoint } from "./surroundings.ts";

/** Something that expires. */
export interface Limited {
  /** When it expires, in `performance.now` time, and its index among the others: both set by {@link Deadlines}. */
  due: number;
  place: number;
  expire(): void;
}

/**
 * Expires what takes too long, with one timer for all: setting and clearing a timer for each exchange takes 3 to 4 µs of a
 * single request's 90. The timer also keeps the process alive; the sockets do not.
 */
export interface Deadlines {
  /** Expires it after so many milliseconds, unless it is removed first. */
  add(limited: Limited, timeout: number): void;
  remove(limited: Limited): void;
}

export const createDeadlines = (): Deadlines => {
  // Not a Set: the tables it discards as it changes would carry finished exchanges and their rows into the old generation,
  // 35 µs more for each list at 32 in flight.
  const inFlight: (Limited | undefined)[] = [];
  const free: number[] = [];
  let timer: NodeJS.Timeout | undefined;
  let next = Number.POSITIVE_INFINITY;

  const isIdle = (): boolean => free.length === inFlight.length;
  const remove = (limited: Limited): void => {
    if (inFlight[limited.place] !== limited) return;
    inFlight[limited.place] = undefined;
    free.push(limited.place);
    // The timer stays: it will probably be needed before it fires. In jsdom it is a number.
    if (isIdle()) timer?.unref?.();
  };
  const fireAt = (due: number, now: number): void => {
    clearTimeout(timer);
    next = due;
    timer = setTimeout(expireDue, Math.max(1, Math.ceil(due - now)));
  };
  const expireDue = (): void => {
    const now = performance.now();
    let due = Number.POSITIVE_INFINITY;
    timer = undefined;
    next = due;
    for (const limited of inFlight) {
      if (limited && limited.due > now) due = Math.min(due, limited.due);
      else if (limited) {
        remove(limited);
        limited.expire();
      }
    }
    // Expiring one may have added others and set the timer for them.
    if (due < next) fireAt(due, now);
  };
  return {
    add(limited, timeout) {
      const now = performance.now();
      limited.due = now + timeout;
      if (isIdle()) timer?.ref?.();
      limited.place = free.pop() ?? inFlight.length;
      inFlight[limited.place] = limited;
      if (limited.due < next) fireAt(limited.due, now);
    },
    remove,
  };
};

/** Receives the result of an exchange. */
export interface Outcome {
  answered(exchange: Exchange, answer: Answer): void;
  failed(error: unknown): void;
}

/** Limits of an exchange. */
export interface Limits {
  readonly deadlines: Deadlines;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
}

/** One request until its answer. It settles once; until then it has a deadline and an abort listener. */
export class Exchange implements Limited {
  readonly operation: string;
  readonly input: unknown;
  readonly body: string;
  credentials: Credentials | undefined;
  column: TextColumn | undefined;
  guard: (() => void) | undefined;
  /** The connection that carries it. It is destroyed if the exchange fails. */
  connection: Connection | undefined;
  /** The time in its signature. */
  signedAt = 0;
  /** True once bytes were given to a socket. */
  written = false;
  /** True once it was sent again, on a fresh socket. */
  resent = false;
  settled = false;
  due = 0;
  place = 0;
  readonly #outcome: Outcome;
  #deadlines: Deadlines | undefined;
  #timeout = 0;
  #signal: AbortSignal | undefined;
  #unwatch: (() => void) | undefined;

  constructor(operation: string, input: unknown, outcome: Outcome) {
    this.operation = operation;
    this.input = input;
    this.body = JSON.stringify(input);
    this.#outcome = outcome;
  }

  /** Sets the timeout and, if there is one, the abort signal. */
  limit({ deadlines, timeout, signal }: Limits): void {
    this.#deadlines = deadlines;
    this.#timeout = timeout;
    deadlines.add(this, timeout);
    this.#signal = signal;
    if (signal) this.#unwatch = onAbort(signal, () => this.#abort());
  }

  expire(): void {
    this.fail({ code: "execute.timeout", message: `no answer within ${this.#timeout} ms`, ambiguous: this.written });
  }

  /** Settles with an answer. */
  answer(answer: Answer): void {
    if (!this.#settle()) return;
    try {
      this.#outcome.answered(this, answer);
    } catch (error) {
      this.#outcome.failed(error);
    }
  }

  /** Settles without an answer and destroys the connection. */
  fail(failure: AttemptFailure): void {
    this.reject(attemptError(this, failure));
  }

  reject(error: unknown): void {
    if (!this.#settle()) return;
    this.connection?.destroy();
    this.#outcome.failed(error);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#deadlines?.remove(this);
    this.#unwatch?.();
    return true;
  }

  #abort(): void {
    this.fail({ code: "execute.aborted", message: "aborted by the caller's signal", ambiguous: this.written, cause: this.#signal?.reason });
  }
}

// Bytes of one read: several packets of a long page, and little enough for 64 sockets.
const packetBytes = 65_536;

// Milliseconds without traffic until the kernel probes the other side.
const probeAfter = 30_000;

/** Opens sockets, each of which reads into its own buffer. */
export interface Dialer {
  /** The event after which requests may be sent. */
  readonly readyEvent: "connect" | "secureConnect";
  dial(onRead: (count: number, packet: Uint8Array) => boolean): Socket;
}

/** Opens sockets to an endpoint. Over TLS, the certificate is always verified. */
export const createDialer = (endpoint: Endpoint, ca?: string): Dialer => {
  const { hostname, port, tls } = endpoint;
  const options = { host: hostname, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: probeAfter };
  if (!tls) {
    return {
      readyEvent: "connect",
      dial: (callback) => connectTcp({ ...options, onread: { buffer: Buffer.allocUnsafeSlow(packetBytes), callback } }),
    };
  }
  // Made once: reading the root certificates takes milliseconds. A session saves later sockets the full handshake.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  let session: Buffer | undefined;
  return {
    readyEvent: "secureConnect",
    dial(callback) {
      const onread = { buffer: Buffer.allocUnsafeSlow(packetBytes), callback };
      const secure: ConnectionOptions & { onread: typeof onread } = {
        ...options,
        secureContext,
        ALPNProtocols: ["http/1.1"],
        rejectUnauthorized: true,
        onread,
      };
      if (isIP(hostname) === 0) secure.servername = hostname;
      if (session !== undefined) secure.session = session;
      const socket = connectTls(secure);
      socket.on("session", (fresh) => (session = fresh));
      socket.on("error", () => (session = undefined));
      return socket;
    },
  };
};

/** Receives a connection's events. */
export interface ConnectionOwner {
  /** Returns the head of the request, signed now. */
  readonly sign: (exchange: Exchange) => string;
  /** The connection can carry another request. */
  readonly idle: (connection: Connection) => void;
  /** The connection is closed. An unanswered exchange may be sent again on another. */
  readonly closed: (connection: Connection, unanswered: Exchange | undefined) => void;
}

/** One socket. It carries one exchange at a time. */
export class Connection {
  /** When it last became idle, in the pool's time. */
  idleSince = 0;
  readonly #socket: Socket;
  readonly #owner: ConnectionOwner;
  readonly #reader = new ResponseReader();
  #exchange: Exchange | undefined;
  #ready = false;
  #served = 0;
  #cause: unknown;

  constructor(dialer: Dialer, owner: ConnectionOwner, connectTimeout: number) {
    this.#owner = owner;
    this.#socket = dialer.dial((count, packet) => this.#read(count, packet as Buffer));
    const timer = setTimeout(
      () => this.#fail(Object.assign(new Error(`not connected within ${connectTimeout} ms`), { code: "CONNECT_TIMEOUT" })),
      connectTimeout,
    );
    this.#socket.once(dialer.readyEvent, () => {
      clearTimeout(timer);
      this.#ready = true;
      // An idle pool must not keep the process alive. The timer of an exchange does.
      this.#socket.unref();
      if (this.#exchange !== undefined) this.#write(this.#exchange);
    });
    this.#socket.on("error", (error) => (this.#cause ??= error));
    this.#socket.on("end", () => {
      try {
        const answer = this.#reader.end();
        if (answer !== undefined) this.#answered(answer);
      } catch (error) {
        this.#cause ??= error;
      }
      this.#socket.destroy();
    });
    this.#socket.on("close", () => {
      clearTimeout(timer);
      this.#close();
    });
  }

  /** False once the socket has ended, even before the owner is told, and where part of an answer to nothing has come. */
  get usable(): boolean {
    return !this.#socket.destroyed && !this.#reader.partial;
  }

  /** Sends an exchange as soon as the socket is ready. */
  carry(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.connection = this;
    if (this.#ready) this.#write(exchange);
  }

  destroy(): void {
    this.#exchange = undefined;
    this.#socket.destroy();
  }

  #write(exchange: Exchange): void {
    let text: string;
    try {
      exchange.guard?.();
      text = this.#owner.sign(exchange) + exchange.body;
    } catch (error) {
      exchange.reject(error);
      return;
    }
    exchange.written = true;
    this.#socket.write(text, "utf8");
  }

  #read(count: number, packet: Buffer): boolean {
    try {
      const answer = this.#reader.take(packet, count);
      if (answer !== undefined) this.#answered(answer);
    } catch (error) {
      this.#fail(error);
    }
    return true;
  }

  #answered(answer: Answer): void {
    const exchange = this.#exchange;
    // Unsolicited bytes must not be taken for the next answer.
    if (exchange === undefined) return this.destroy();
    this.#exchange = undefined;
    exchange.connection = undefined;
    this.#served++;
    if (answer.head.keepAlive && this.#socket.writableLength === 0) this.#owner.idle(this);
    else this.#socket.destroy();
    exchange.answer(answer);
  }

  #fail(cause: unknown): void {
    this.#cause ??= cause;
    this.#socket.destroy();
  }

  #close(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    // A reused socket that ends without a byte was probably closed while the request was in transit.
    const stale =
      exchange !== undefined && exchange.written && this.#served > 0 && !this.#reader.partial && !(this.#cause instanceof ProtocolError);
    this.#owner.closed(this, stale ? exchange : undefined);
    if (exchange?.connection !== this) return;
    exchange.connection = undefined;
    const cause = this.#cause as { readonly code?: string; readonly message?: string; readonly errors?: readonly Error[] } | undefined;
    exchange.fail({
      code: cause?.code === "CONNECT_TIMEOUT" ? "execute.timeout" : "execute.connection",
      message: cause?.message || cause?.errors?.[0]?.message || cause?.code || "the connection was closed before the answer was complete",
      ambiguous: exchange.written,
      cause,
    });
  }
}

export interface PoolOptions {
  readonly dialer: Dialer;
  readonly sign: (exchange: Exchange) => string;
  readonly now: () => number;
  /** Upper bound of open sockets; further exchanges wait in order. */
  readonly maxSockets: number;
  /** Milliseconds. */
  readonly connectTimeout: number;
}

// The service, or a frozen process (Lambda), may have closed a socket that was idle for longer. A write that discovers this
// would be ambiguous.
const maxIdle = 10_000;

// Reads, which may be sent twice.
const repeatable: ReadonlySet<string> = new Set([
  "GetItem",
  "Query",
  "Scan",
  "BatchGetItem",
  "TransactGetItems",
  "DescribeTable",
  "ListTables",
  "DescribeTimeToLive",
  "ListStreams",
  "DescribeStream",
  "GetShardIterator",
  "GetRecords",
  "DescribeContinuousBackups",
]);

/** Keeps sockets open between requests. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #owner: ConnectionOwner;
  // A stack: surplus sockets stay at the bottom and age.
  readonly #idle: Connection[] = [];
  readonly #all = new Set<Connection>();
  #waiting: Exchange[] = [];
  #closed: Promise<void> | undefined;
  #allClosed: (() => void) | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#owner = {
      sign: options.sign,
      idle: (connection) => this.#release(connection),
      closed: (connection, unanswered) => this.#forget(connection, unanswered),
    };
  }

  run(exchange: Exchange): void {
    const connection = this.#takeIdle();
    if (connection !== undefined) connection.carry(exchange);
    else if (this.#all.size < this.#options.maxSockets) this.#open(exchange);
    else this.#waiting.push(exchange);
  }

  /** Resolves when the exchanges in flight have finished. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#allClosed = resolve;
      if (this.#all.size === 0) resolve();
    });
    for (const connection of this.#idle.splice(0)) connection.destroy();
    return this.#closed;
  }

  #takeIdle(): Connection | undefined {
    const now = this.#options.now();
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      // A clock that was set back does not tell how long the socket was idle.
      if (connection.usable && Math.abs(now - connection.idleSince) < maxIdle) return connection;
      this.#all.delete(connection);
      connection.destroy();
    }
    return undefined;
  }

  #open(exchange: Exchange): void {
    const connection = new Connection(this.#options.dialer, this.#owner, this.#options.connectTimeout);
    this.#all.add(connection);
    connection.carry(exchange);
  }

  #nextWaiting(): Exchange | undefined {
    let next = this.#waiting.shift();
    while (next?.settled) next = this.#waiting.shift();
    return next;
  }

  #release(connection: Connection): void {
    const next = this.#nextWaiting();
    if (next !== undefined) return connection.carry(next);
    if (this.#closed !== undefined) return connection.destroy();
    connection.idleSince = this.#options.now();
    this.#idle.push(connection);
  }

  #forget(connection: Connection, unanswered: Exchange | undefined): void {
    this.#all.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    if (unanswered !== undefined && !unanswered.resent && repeatable.has(unanswered.operation)) {
      unanswered.resent = true;
      this.#open(unanswered);
    }
    const next = this.#all.size < this.#options.maxSockets ? this.#nextWaiting() : undefined;
    if (next !== undefined) this.#open(next);
    if (this.#all.size === 0) this.#allClosed?.();
  }
}
