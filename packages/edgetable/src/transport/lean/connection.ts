import { type Socket, connect as connectTcp, isIP } from "node:net";
import { type ConnectionOptions, connect as connectTls, createSecureContext } from "node:tls";
import type { Exchange } from "./exchange.ts";
import { type Answer, ProtocolError, ResponseReader } from "./response-reader.ts";
import type { Endpoint } from "./surroundings.ts";

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

  /** False once the socket has ended, even before the owner is told. */
  get usable(): boolean {
    return !this.#socket.destroyed;
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
