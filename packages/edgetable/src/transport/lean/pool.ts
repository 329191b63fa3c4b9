import { Connection } from "./connection.ts";
import type { ConnectionOwner, Dialer } from "./connection.ts";
import type { Exchange } from "./exchange.ts";

export interface PoolOptions {
  readonly dialer: Dialer;
  readonly sign: (exchange: Exchange) => string;
  readonly now: () => number;
  /** Most sockets at one time; further exchanges wait in order. */
  readonly maxSockets: number;
  /** Milliseconds. */
  readonly connectTimeout: number;
}

export interface Pool {
  run(exchange: Exchange): void;
  /** Lets what is under way finish, then resolves. */
  close(): Promise<void>;
}

// A socket that is idle for longer may have been closed by the service, or while the process was
// frozen (Lambda), without our having noticed: the write that finds out would be ambiguous.
const maxIdle = 10_000;

const repeatable: ReadonlySet<string> = new Set([
  "GetItem",
  "Query",
  "Scan",
  "BatchGetItem",
  "TransactGetItems",
  "DescribeTable",
  "ListTables",
  "DescribeTimeToLive",
]);

class SocketPool implements Pool {
  readonly #options: PoolOptions;
  readonly #owner: ConnectionOwner;
  // The most recently used socket goes first, so that those in excess grow old.
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
      // A clock that was set back tells as little of the time that passed as one that was set forward.
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

/** Keeps sockets alive between requests: one exchange a socket at a time. */
export const createPool = (options: PoolOptions): Pool => new SocketPool(options);
